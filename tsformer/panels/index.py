"""Which series, which row, which moment: all arithmetic of series that stand end to end."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tsformer.arrays import Flags, Floats, Ints
from tsformer.errors import ParameterError
from tsformer.time.freq import Freq, advance
from tsformer.time.stamps import as_moment, elapsed

__all__ = ["Grown", "PanelIndex", "Piece", "row_within_series", "shown", "starts_of"]


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of some series: their index, and where series and rows stood before."""

    index: "PanelIndex"
    series: Ints
    rows: Ints | slice


@dataclass(frozen=True, eq=False)
class Grown:
    """More rows: their index, and where each row stands among the old rows and then the new."""

    index: "PanelIndex"
    order: Ints


@dataclass(frozen=True, eq=False)
class PanelIndex:
    """Series and stamp of every row of a panel, sorted by series and time.

    Attributes
    ----------
    ids
        ``(series,)`` sorted names of the series.
    starts
        ``(series + 1,)`` first row of each series, and the number of rows.
    stamps
        ``(rows,)`` in the caller's unit and zone, or whole numbers.
    freq
        The step between rows; their median gap where they are irregular.
    irregular
        Whether rows follow one another at uneven steps.
    named
        Whether the caller gave the series names; one alone may have none.

    Examples
    --------
    >>> days = pd.date_range("2024-01-01", periods=3).append(pd.DatetimeIndex(["2024-01-03"]))
    >>> index = PanelIndex(pd.Index(["a", "b"]), np.array([0, 3, 4]), days, pd.offsets.Day())
    >>> index.lengths.tolist(), index.within.tolist(), index.owner.tolist()
    ([3, 1], [0, 1, 2, 0], [0, 0, 0, 1])
    >>> index.where(3)
    " of series 'b' at 2024-01-03 00:00:00"
    """

    ids: pd.Index
    starts: Ints
    stamps: pd.Index
    freq: Freq
    irregular: bool = False
    named: bool = True

    @cached_property
    def lengths(self) -> Ints:
        """``(series,)`` number of rows of each."""
        return np.diff(self.starts)

    @property
    def owner(self) -> Ints:
        """``(rows,)`` position of the series of each row."""
        owner: Ints = np.arange(len(self.ids), dtype=np.int64).repeat(self.lengths)
        return owner

    @property
    def within(self) -> Ints:
        """``(rows,)`` how many rows of its own series stand before each row."""
        return row_within_series(self.lengths)

    @property
    def times(self) -> Floats:
        """``(rows,)`` steps since the first row of the series; fractions where irregular.

        >>> from tsformer.panels import Schema
        >>> from tsformer.reading import read_panel
        >>> days = pd.DatetimeIndex(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-07"])
        >>> frame = pd.DataFrame({"y": [1.0, 2.0, 3.0, 4.0]}, index=days)
        >>> read_panel(frame, Schema(freq="irregular")).index.times.tolist()
        [0.0, 1.0, 2.0, 6.0]
        """
        if not self.irregular:
            return self.within.astype(np.float64)
        return elapsed(self.stamps, self.starts[:-1].repeat(self.lengths), self.freq)

    def before(self, ends: ArrayLike) -> Flags:
        """``(rows,)`` which rows are among the first ``ends``, for all series or ``(series,)``."""
        last = np.broadcast_to(np.asarray(ends), self.lengths.shape)
        return self.within < last.repeat(self.lengths)

    def row_of(self, stamp: Any) -> Ints:
        """``(series,)`` row number of a stamp within each series, -1 where it has none."""
        row = self.count_before(stamp)
        return np.where(self.count_through(stamp) > row, row, np.int64(-1))

    def count_before(self, stamp: Any) -> Ints:
        """``(series,)`` number of rows with an earlier stamp: where to cut all series at once."""
        return self._count(np.asarray(self.stamps < as_moment(stamp, self.stamps)))

    def count_through(self, stamp: Any) -> Ints:
        """``(series,)`` number of rows with this stamp or an earlier one."""
        return self._count(np.asarray(self.stamps <= as_moment(stamp, self.stamps)))

    def take(self, begin: ArrayLike, end: ArrayLike | None = None) -> Piece:
        """Rows ``begin`` to ``end`` of each series; a series left empty is dropped.

        Parameters
        ----------
        begin, end
            Row numbers from the start of each series, ``end`` excluded: one number for all, where
            a negative one counts from the end as in a slice, or ``(series,)`` numbers.
        """
        low = _clipped(begin, self.lengths)
        high = self.lengths if end is None else _clipped(end, self.lengths)
        kept = np.maximum(high - low, 0)
        series = np.flatnonzero(kept > 0)
        return self._cut(series, low[series], kept[series])

    def select(self, series: ArrayLike) -> Piece:
        """These series, by position and in this order, or by a flag for each."""
        chosen = np.atleast_1d(np.asarray(series))
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        return self._cut(chosen, np.zeros(len(chosen), np.int64), self.lengths[chosen])

    def future_stamps(self, horizon: int) -> pd.Index:
        """``(series * horizon,)`` the stamps that follow each series."""
        last = self.stamps[self.starts[1:] - 1].repeat(horizon)
        steps = np.tile(np.arange(1, horizon + 1, dtype=np.int64), len(self.ids))
        return advance(last, steps, self.freq)

    def extend(self, horizon: int) -> Grown:
        """So many rows behind each series."""
        counts = np.full(len(self.ids), horizon, np.int64)
        return self._grown(counts, self.future_stamps(horizon), before=False)

    def pad(self, rows: ArrayLike) -> Grown:
        """Rows before each series, one number for all or ``(series,)``; see ``Panel.pad``."""
        given = np.asarray(rows)
        if given.dtype.kind not in "iu" or given.ndim > 1 or (given < 0).any():
            raise ParameterError(
                f"rows={rows!r}: must be a whole number of at least 0, or one a series"
            )
        if given.ndim and len(given) != len(self.ids):
            raise ParameterError(f"rows has {len(given)} numbers for {len(self.ids)} series")
        counts = np.broadcast_to(given.astype(np.int64), (len(self.ids),))
        first = self.stamps[self.starts[:-1]].repeat(counts)
        back = row_within_series(counts) - counts.repeat(counts)
        return self._grown(counts, advance(first, back, self.freq), before=True)

    def of(self, series: int) -> str:
        """Name a series by its position in a message, or nothing where it has no name."""
        return f" of series {shown(self.ids[series])}" if self.named else ""

    def where(self, row: int) -> str:
        """Name series and stamp of a row in a message."""
        series = int(np.searchsorted(self.starts, row, side="right")) - 1
        return f"{self.of(series)} at {self.stamps[row]}"

    def _count(self, rows: Flags) -> Ints:
        totals = np.concatenate([[0], np.cumsum(rows, dtype=np.int64)])
        counted: Ints = totals[self.starts[1:]] - totals[self.starts[:-1]]
        return counted

    def _cut(self, series: Ints, begin: Ints, counts: Ints) -> Piece:
        """So many rows of each chosen series, from ``begin`` on."""
        first, starts = self.starts[:-1][series] + begin, starts_of(counts)
        rows: Ints | slice
        if len(series) == 1:  # a view is enough
            rows = slice(int(first[0]), int(first[0] + counts[0]))
        else:
            rows = np.arange(starts[-1]) + np.repeat(first - starts[:-1], counts)
        index = replace(self, ids=self.ids[series], starts=starts, stamps=self.stamps[rows])
        return Piece(index, series, rows)

    def _grown(self, counts: Ints, stamps: pd.Index, *, before: bool) -> Grown:
        new = np.arange(len(self.ids), dtype=np.int64).repeat(counts)
        place = np.concatenate([2 * self.owner + before, 2 * new + (not before)])
        order = np.argsort(place, kind="stable")
        starts, joined = starts_of(self.lengths + counts), self.stamps.append(stamps)[order]
        return Grown(replace(self, starts=starts, stamps=joined), order)


def row_within_series(lengths: Ints) -> Ints:
    """``(rows,)`` how many rows of its own series stand before each row.

    Examples
    --------
    >>> row_within_series(np.array([3, 0, 2]))
    array([0, 1, 2, 0, 1])
    """
    starts = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum(), dtype=np.int64) - np.repeat(starts, lengths)


def shown(name: Any) -> str:
    """Write the name of a series as the caller would."""
    return repr(name.item() if isinstance(name, np.generic) else name)


def starts_of(lengths: Ints) -> Ints:
    """``(series + 1,)`` first row of each series, and the number of rows."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _clipped(rows: ArrayLike, lengths: Ints) -> Ints:
    """Row numbers as a slice would read them, between 0 and the length of each series."""
    given = np.asarray(rows, np.int64)
    if given.ndim == 0:
        given = np.where(given < 0, lengths + given, given)
    return np.clip(given, 0, lengths)
