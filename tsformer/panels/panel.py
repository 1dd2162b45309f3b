"""The one form in which data travels: ragged series laid end to end, in the caller's units."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from tsformer.panels.cutting import clipped, picked
from tsformer.panels.layout import Layout
from tsformer.panels.policy import Policy
from tsformer.panels.room import blank_known, earlier_stamps, rows_before, with_rows
from tsformer.panels.schema import Schema
from tsformer.time.calendar import calendar_features
from tsformer.time.freq import Freq, advance, label_of
from tsformer.time.stamps import as_moment, elapsed

__all__ = ["Panel"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Panel:
    """Ragged series laid end to end, sorted by series and time, in the caller's units.

    Made by ``tsformer.reading.read_panel``. Values are float64 and NaN where missing; nothing
    shares memory
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
    weight
        ``(rows,)`` how much each row counts in training.
    masked
        ``(rows,)`` which rows were put back or are ignored: never filled, whatever the policy.
    policy
        What was done about missing values and rows, and what windows are to do.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> frame = pd.DataFrame({"ds": pd.date_range("2024-01-01", periods=4), "y": [1, 2, 3, 4]})
    >>> panel = read_panel(frame)
    >>> panel
    Panel(1 series, 4 rows, freq='D', target=('y',))
    >>> panel.tail(2).target[:, 0].tolist()
    [3.0, 4.0]
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
    levels: dict[str, tuple[str, ...]]
    weight: Floats
    masked: NDArray[np.bool_]
    policy: Policy = field(default_factory=Policy)

    def __repr__(self) -> str:
        freq = "irregular" if self.irregular else label_of(self.freq)
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

    @property
    def irregular(self) -> bool:
        """Whether the stamps have no beat; ``freq`` is then their median gap."""
        return self.schema.freq == "irregular"

    @cached_property
    def _calendar(self) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        days_off: Any = self.schema.holidays
        periods = self.layout.period is not None
        return calendar_features(self.stamps, self.freq, days_off, periods=periods)

    @property
    def calendar(self) -> NDArray[np.float32]:
        """``(rows, features)`` what the stamps alone say; see :func:`calendar_features`."""
        return self._calendar[1]

    @property
    def times(self) -> Floats:
        """``(rows,)`` steps since the first row of the series; fractions where irregular.

        >>> from tsformer.reading import read_panel
        >>> days = pd.DatetimeIndex(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-07"])
        >>> frame = pd.DataFrame({"y": [1.0, 2.0, 3.0, 4.0]}, index=days)
        >>> read_panel(frame, Schema(freq="irregular")).times.tolist()
        [0.0, 1.0, 2.0, 6.0]
        """
        first = self.starts[:-1].repeat(self.lengths)
        if not self.irregular:
            return (np.arange(self.n_rows) - first).astype(np.float64)
        return elapsed(self.stamps, first, self.freq)

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
        low = clipped(begin, lengths)
        high = lengths if end is None else clipped(end, lengths)
        kept = np.maximum(high - low, 0)
        series = np.flatnonzero(kept > 0)
        first = self.starts[:-1][series] + low[series]
        return replace(self, **picked(self, series, first, kept[series]))

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
        first = self.starts[:-1][chosen]
        return replace(self, **picked(self, chosen, first, self.lengths[chosen]))

    def row_of(self, stamp: Any) -> Ints:
        """``(series,)`` row number of a stamp within each series, -1 where it has none."""
        row = self.count_before(stamp)
        return np.where(self.count_through(stamp) > row, row, np.int64(-1))

    def count_before(self, stamp: Any) -> Ints:
        """``(series,)`` number of rows with an earlier stamp: where to cut all series at once."""
        return self._count(self.stamps < as_moment(stamp, self.stamps))

    def count_through(self, stamp: Any) -> Ints:
        """``(series,)`` number of rows with this stamp or an earlier one."""
        return self._count(self.stamps <= as_moment(stamp, self.stamps))

    def future_stamps(self, horizon: int) -> pd.Index:
        """``(series * horizon,)`` the stamps that follow each series."""
        last = self.stamps[self.starts[1:] - 1].repeat(horizon)
        steps = np.tile(np.arange(1, horizon + 1, dtype=np.int64), self.n_series)
        return advance(last, steps, self.freq)

    def extend(self, horizon: int, known: tuple[Floats, Ints] | None = None) -> "Panel":
        """Append the rows to forecast to each series.

        Parameters
        ----------
        horizon
            How many rows.
        known
            The known covariates of those rows, as numbers and as codes; missing by default. See
            ``tsformer.reading.extended`` for those of a frame.

        Returns
        -------
        Panel
            Target and past covariates are NaN in the new rows.
        """
        stamps = self.future_stamps(horizon)
        counts = np.full(self.n_series, horizon, np.int64)
        known = blank_known(self, len(stamps)) if known is None else known
        return replace(self, **with_rows(self, counts, stamps, known))

    def pad(self, rows: ArrayLike) -> "Panel":
        """Put rows before each series: nothing is known of them but their stamps.

        Parameters
        ----------
        rows
            How many: one number for all, or ``(series,)`` numbers.

        Returns
        -------
        Panel
            The stamps count back along the frequency. Targets and covariates are NaN in the new
            rows, codes 0 and weights 1.

        Examples
        --------
        >>> from tsformer.reading import read_panel
        >>> days = pd.date_range("2024-03-04", periods=3, freq="B")  # from a Monday on
        >>> frame = pd.DataFrame({"y": [1, 2, 3]}, index=days)
        >>> panel = read_panel(frame, Schema(freq="B")).pad(2)
        >>> [str(day.date()) for day in panel.stamps[:2]], panel.target[:3, 0].tolist()
        (['2024-02-29', '2024-03-01'], [nan, nan, 1.0])
        """
        counts = rows_before(self, rows)
        if not counts.any():
            return self
        stamps = earlier_stamps(self, counts)
        known = blank_known(self, len(stamps))
        return replace(self, **with_rows(self, counts, stamps, known, before=True))

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

    def _count(self, rows: NDArray[np.bool_]) -> Ints:
        totals = np.concatenate([[0], np.cumsum(rows, dtype=np.int64)])
        counted: Ints = totals[self.starts[1:]] - totals[self.starts[:-1]]
        return counted
