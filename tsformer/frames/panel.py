"""The one form in which data travels: ragged series laid end to end, in the caller's units."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from tsformer.errors import WrongTime
from tsformer.frames.calendar import calendar_features
from tsformer.frames.clock import Freq, advance
from tsformer.frames.future import read_future
from tsformer.frames.layout import Layout
from tsformer.frames.policy import Policy
from tsformer.frames.reader import read
from tsformer.frames.schema import Schema

__all__ = ["Panel"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Panel:
    """Ragged series laid end to end, sorted by series and time, in the caller's units.

    Made by :meth:`from_frame`. Values are float64 and NaN where missing; nothing shares memory
    with the caller's frame.

    Attributes
    ----------
    schema
        The roles of all columns, fully resolved: tuples of names, and the frequency.
    layout
        How the caller's frame was laid out.
    ids
        ``(series,)`` sorted names of the series.
    starts
        ``(series + 1,)`` first row of each series, and the number of rows.
    stamps
        ``(rows,)`` in the caller's unit and zone, or whole numbers.
    freq
        The step between rows.
    target, past, known
        ``(rows, columns)`` numbers, in the order of the schema; the calendar is not in ``known``.
    static
        ``(series, columns)``.
    past_codes, known_codes, static_codes
        Categorical covariates as whole numbers; 0 is unknown or missing.
    levels
        Categorical column to its words; the code of a word is its position, from 1.

    Examples
    --------
    >>> frame = pd.DataFrame({"ds": pd.date_range("2024-01-01", periods=4), "y": [1, 2, 3, 4]})
    >>> panel = Panel.from_frame(frame)
    >>> panel
    Panel(1 series, 4 rows, freq='D', target=('y',))
    >>> panel.tail(2).to_frame()
              ds    y
    0 2024-01-03  3.0
    1 2024-01-04  4.0
    """

    schema: Schema
    layout: Layout
    ids: pd.Index
    starts: Ints
    stamps: pd.Index
    freq: Freq
    target: Floats
    past: Floats
    known: Floats
    static: Floats
    past_codes: Ints
    known_codes: Ints
    static_codes: Ints
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_frame(
        cls,
        data: Any,
        schema: Schema | None = None,
        policy: Policy | None = None,
        *,
        like: "Panel | None" = None,
    ) -> "Panel":
        """Check a frame and read it.

        Parameters
        ----------
        data
            A wide frame with a time index or column, a long frame, a frame with (series, time)
            rows, a ``Series``, or an array whose rows are time.
        schema
            Roles; what it leaves open is inferred and logged.
        policy
            What to do with missing values and rows; refused by default.
        like
            A panel that was read before: schema, frequency and vocabularies are taken from it,
            columns are matched by name, and further columns are ignored with a warning.

        Raises
        ------
        FrameError
            One of its kinds; the message names series, column, first bad row and a cure.
        """
        return cls(**read(data, schema, policy, like=like))

    def __repr__(self) -> str:
        freq = self.freq if isinstance(self.freq, int) else self.freq.freqstr
        return (
            f"Panel({self.n_series} series, {self.n_rows} rows, freq={freq!r},"
            f" target={self.target_names})"
        )

    @property
    def n_series(self) -> int:
        """How many series there are."""
        return len(self.starts) - 1

    @property
    def n_rows(self) -> int:
        """How many rows all series have together."""
        return len(self.stamps)

    @property
    def lengths(self) -> Ints:
        """``(series,)`` number of rows of each."""
        return np.diff(self.starts)

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the columns of ``target``."""
        return self.names("target")

    def names(self, role: str) -> tuple[str, ...]:
        """Names of the columns of ``target``, ``past``, ``known`` or ``static``."""
        return tuple(name for name in getattr(self.schema, role) if name not in self.levels)

    def code_names(self, role: str) -> tuple[str, ...]:
        """Names of the columns of ``past_codes``, ``known_codes`` or ``static_codes``."""
        return tuple(name for name in getattr(self.schema, role) if name in self.levels)

    @cached_property
    def _calendar(self) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        return calendar_features(self.stamps, self.freq)

    @property
    def calendar(self) -> NDArray[np.float32]:
        """``(rows, features)`` what the stamps alone say; see :func:`calendar_features`."""
        return self._calendar[1]

    @property
    def calendar_names(self) -> tuple[str, ...]:
        """Names of the columns of ``calendar``."""
        return self._calendar[0]

    def take(self, begin: ArrayLike, end: ArrayLike | None = None) -> "Panel":
        """Keep rows ``begin`` to ``end`` of each series; a series left empty is dropped.

        Parameters
        ----------
        begin, end
            Row numbers from the start of each series, ``end`` excluded: one number for all, where
            a negative one counts from the end as in a slice, or ``(series,)`` numbers.
        """
        lengths = self.lengths
        low = _clipped(begin, lengths)
        high = lengths if end is None else _clipped(end, lengths)
        kept = np.maximum(high - low, 0)
        series = np.flatnonzero(kept > 0)
        return self._pick(series, self.starts[:-1][series] + low[series], kept[series])

    def head_until(self, ends: ArrayLike) -> "Panel":
        """Keep the first ``ends`` rows of each series."""
        return self.take(0, ends)

    def tail(self, rows: int) -> "Panel":
        """Keep the last rows of each series, or all it has."""
        return self.take(np.maximum(self.lengths - rows, 0))

    def select(self, series: ArrayLike) -> "Panel":
        """Keep these series, by position and in this order."""
        chosen = np.atleast_1d(np.asarray(series))
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)
        chosen = chosen.astype(np.int64)
        return self._pick(chosen, self.starts[:-1][chosen], self.lengths[chosen])

    def row_of(self, stamp: Any) -> Ints:
        """``(series,)`` row number of a stamp within each series, -1 where it has none."""
        row = self.count_before(stamp)
        return np.where(self.count_through(stamp) > row, row, np.int64(-1))

    def count_before(self, stamp: Any) -> Ints:
        """``(series,)`` number of rows with an earlier stamp: where to cut all series at once."""
        return self._count(self.stamps < self._stamp(stamp))

    def count_through(self, stamp: Any) -> Ints:
        """``(series,)`` number of rows with this stamp or an earlier one."""
        return self._count(self.stamps <= self._stamp(stamp))

    def future_stamps(self, horizon: int) -> pd.Index:
        """``(series * horizon,)`` the stamps that follow each series."""
        last = self.stamps[self.starts[1:] - 1].repeat(horizon)
        steps = np.tile(np.arange(1, horizon + 1, dtype=np.int64), self.n_series)
        return advance(last, steps, self.freq)

    def extend(self, horizon: int, future: Any = None, *, blank: bool = False) -> "Panel":
        """Append the rows to forecast to each series.

        Parameters
        ----------
        horizon
            How many rows.
        future
            A frame with the known covariates of those rows, matched by series, stamp and name;
            further rows and columns are ignored.
        blank
            Leave the known covariates of the new rows missing instead of asking for them.

        Returns
        -------
        Panel
            Target and past covariates are NaN in the new rows.

        Raises
        ------
        MissingFuture
            If a known covariate lacks a row or a value.
        """
        stamps = self.future_stamps(horizon)
        added = np.arange(self.n_series, dtype=np.int64).repeat(horizon)
        order = np.argsort(np.concatenate([self._series_of_rows(), added]), kind="stable")
        rows = self.n_series * horizon
        if blank:
            known = np.full((rows, self.known.shape[1]), np.nan)
            known_codes = np.zeros((rows, self.known_codes.shape[1]), np.int64)
        else:
            known, known_codes = read_future(self, stamps, horizon, future)

        def longer(values: NDArray[Any], fill: Any) -> NDArray[Any]:
            extra = np.full((rows, values.shape[1]), fill, values.dtype)
            return np.concatenate([values, extra])[order]

        return replace(
            self,
            starts=self.starts + horizon * np.arange(self.n_series + 1, dtype=np.int64),
            stamps=self.stamps.append(stamps)[order],
            target=longer(self.target, np.nan),
            past=longer(self.past, np.nan),
            past_codes=longer(self.past_codes, 0),
            known=np.concatenate([self.known, known])[order],
            known_codes=np.concatenate([self.known_codes, known_codes])[order],
        )

    def to_frame(self) -> pd.DataFrame:
        """Everything with a role, in the caller's layout; numbers are float64."""
        columns: dict[str, Any] = {}
        lengths = self.lengths
        for role in ("target", "past", "known", "static"):
            values: Any = getattr(self, role)
            codes: Any = getattr(self, f"{role}_codes", None)
            if role == "static":
                values, codes = values.repeat(lengths, axis=0), codes.repeat(lengths, axis=0)
            for position, name in enumerate(self.names(role)):
                columns[name] = values[:, position]
            for position, name in enumerate(self.code_names(role)):
                words = np.array([None, *self.levels[name]], dtype=object)
                columns[name] = pd.Series(words[codes[:, position]], dtype="str").array
        ordered = {name: columns[name] for name in self.layout.columns if name in columns}
        return self.layout.build(ordered, stamps=self.stamps, ids=self.ids, counts=lengths)

    def frame_of(self, values: Floats, names: list[str], *, stamps: pd.Index) -> pd.DataFrame:
        """Lay forecasts out as the caller's frame was.

        Parameters
        ----------
        values
            ``(series, horizon, columns)``.
        names
            One per column.
        stamps
            ``(series * horizon,)``, such as :meth:`future_stamps`.
        """
        series, horizon, _ = values.shape
        flat = values.reshape(series * horizon, -1)
        columns: dict[str, Any] = {name: flat[:, place] for place, name in enumerate(names)}
        counts = np.full(series, horizon, np.int64)
        return self.layout.build(columns, stamps=stamps, ids=self.ids, counts=counts)

    def _series_of_rows(self) -> Ints:
        return np.arange(self.n_series, dtype=np.int64).repeat(self.lengths)

    def _count(self, rows: NDArray[np.bool_]) -> Ints:
        totals = np.concatenate([[0], np.cumsum(rows, dtype=np.int64)])
        counted: Ints = totals[self.starts[1:]] - totals[self.starts[:-1]]
        return counted

    def _stamp(self, stamp: Any) -> Any:
        if not isinstance(self.stamps, pd.DatetimeIndex):
            return stamp
        if isinstance(stamp, (int, float, np.number)):
            raise WrongTime(f"{stamp!r} is a number, but the time of this panel is dates")
        if isinstance(stamp, pd.Period):
            stamp = stamp.to_timestamp()
        made = pd.Timestamp(stamp)
        if made.tzinfo is None and self.stamps.tz is not None:
            made = made.tz_localize(self.stamps.tz)
        if made.tzinfo is not None and self.stamps.tz is None:
            raise WrongTime(f"{made} has a zone, but the stamps of this panel have none")
        return made

    def _pick(self, series: Ints, first: Ints, counts: Ints) -> "Panel":
        """Rows ``first`` to ``first + counts`` of the chosen series."""
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        rows: Any
        if len(series) == 1:  # a view is enough
            rows = slice(int(first[0]), int(first[0] + counts[0]))
        else:
            rows = np.arange(starts[-1]) + np.repeat(first - starts[:-1], counts)
        return replace(
            self,
            ids=self.ids[series],
            starts=starts,
            stamps=self.stamps[rows],
            target=self.target[rows],
            past=self.past[rows],
            known=self.known[rows],
            past_codes=self.past_codes[rows],
            known_codes=self.known_codes[rows],
            static=self.static[series],
            static_codes=self.static_codes[series],
        )


def _clipped(rows: ArrayLike, lengths: Ints) -> Ints:
    given = np.asarray(rows, np.int64)
    if given.ndim == 0:
        given = np.where(given < 0, lengths + given, given)
    return np.clip(given, 0, lengths)
