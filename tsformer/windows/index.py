"""Window number to (series, origin) by arithmetic: memory grows with series, not with windows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tsformer.arrays import Ints

__all__ = ["WindowIndex"]


@dataclass(frozen=True, eq=False)
class WindowIndex:
    """The origins ``first <= origin < last`` of each series, numbered in order.

    An origin is the row, counted within its series, of the first forecast step. A series whose
    ``last`` is not above its ``first`` has no window.

    Parameters
    ----------
    first, last
        (series,) first origin and one past the last.
    step
        Distance between the origins of one series.

    Examples
    --------
    Two series of 5 and 4 rows, context 2 and horizon 2: origins 2, 3 and 2.

    >>> index = WindowIndex.of_rows(np.array([0, 5, 9]), context=2, horizon=2)
    >>> len(index)
    3
    >>> index.locate(np.arange(3))
    (array([0, 0, 1]), array([2, 3, 2]))
    """

    first: Ints
    last: Ints
    step: int = 1

    @classmethod
    def of_rows(
        cls,
        starts: Ints,
        *,
        context: int,
        horizon: int,
        begin: Ints | int = 0,
        end: Ints | None = None,
        step: int = 1,
        gap: int = 0,
        anchor: Ints | None = None,
    ) -> "WindowIndex":
        """Every origin whose forecast lies in rows ``begin <= row < end`` of its series.

        The context may reach before ``begin`` (those inputs were known) but not before the
        series: all windows are full.

        Parameters
        ----------
        starts
            (series + 1,) first row of each series, and the number of rows.
        begin, end
            Rows within each series in which the forecast must lie; all of them by default.
        gap
            Rows between the context and the forecast.
        anchor
            (series,) rows, inside or outside, that origins lie a whole number of steps away from;
            None is the first possible origin of each series.
        """
        lengths = np.diff(starts)
        stop = lengths if end is None else np.minimum(end, lengths)
        first = np.maximum(np.broadcast_to(begin, lengths.shape), context + gap)
        if anchor is not None:
            first = first + (anchor - first) % step
        return cls(first.astype(np.int64), (stop - horizon + 1).astype(np.int64), step)

    @property
    def counts(self) -> Ints:
        """(series,) number of windows of each."""
        rounded_up: Ints = -((self.first - self.last) // self.step)
        return np.maximum(rounded_up, 0)

    @cached_property
    def _ends(self) -> Ints:
        return np.cumsum(self.counts)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def locate(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Series and origin of each window number."""
        series = np.searchsorted(self._ends, numbers, side="right")
        before = np.concatenate(([0], self._ends[:-1]))
        return series, self.first[series] + (numbers - before[series]) * self.step

    def thinned(self, most: int) -> "WindowIndex":
        """At most so many of the windows, spread evenly; itself where there are no more.

        One of each of ``most`` equal stretches is kept, now an early one and now a late one, so
        that a season is not always met at the same phase. Nothing is drawn.

        Examples
        --------
        >>> index = WindowIndex(first=np.array([0]), last=np.array([100])).thinned(5)
        >>> index.locate(np.arange(5))[1]
        array([ 0, 32, 44, 77, 89])
        """
        return self if len(self) <= most else _Thinned(self.first, self.last, self.step, most)


@dataclass(frozen=True, eq=False)
class _Thinned(WindowIndex):
    """Some of the windows of an index."""

    most: int = 1

    def __len__(self) -> int:
        return self.most

    @property
    def counts(self) -> Ints:
        """(series,) number of windows of each."""
        series, _ = self.locate(np.arange(self.most))
        return np.bincount(series, minlength=len(self.first)).astype(np.int64)

    def locate(self, numbers: Ints) -> tuple[Ints, Ints]:
        """Series and origin of each window number."""
        windows = int(self._ends[-1])
        begin, end = numbers * windows // self.most, (numbers + 1) * windows // self.most
        # the golden ratio: parts of it fall evenly, and never into step with a season
        phase = numbers * 0.618_033_988_749_895 % 1
        return super().locate(begin + (phase * (end - begin)).astype(np.int64))

    @cached_property
    def _ends(self) -> Ints:
        return np.cumsum(super().counts)

    def thinned(self, most: int) -> WindowIndex:
        """At most so many of the windows, spread evenly over all of them."""
        return self if self.most <= most else _Thinned(self.first, self.last, self.step, most)
