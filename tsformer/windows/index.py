"""Which windows, and in which order: both by arithmetic, so memory grows with series alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch.utils.data import BatchSampler, Sampler

from tsformer.arrays import Ints

__all__ = ["NoneAlone", "SeededSampler", "SeriesSampler", "WindowIndex"]


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


class SeededSampler(Sampler[int]):
    """Every number below ``size`` once, shuffled anew each epoch from ``seed`` and the epoch.

    The order does not touch, nor depend on, the global generators. Lightning calls ``set_epoch``.

    Examples
    --------
    >>> sampler = SeededSampler(5, seed=0)
    >>> first = list(sampler)
    >>> sampler.set_epoch(1)
    >>> sorted(sampler) == sorted(first), list(sampler) == first
    (True, False)
    """

    def __init__(self, size: int, *, seed: int) -> None:
        self.size = size
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of this epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.size

    def generator(self) -> torch.Generator:
        """The noise of this epoch."""
        return torch.Generator().manual_seed((int(self.seed) * 1_000_003 + self.epoch) % 2**63)

    def __iter__(self) -> Iterator[int]:
        yield from torch.randperm(self.size, generator=self.generator()).tolist()


class SeriesSampler(SeededSampler):
    """As many numbers as there are windows, drawn so that every series comes up equally often.

    A long series of a panel otherwise decides what a network learns. Windows of a long series are
    left out in an epoch, those of a short one come up again.

    Parameters
    ----------
    index
        The windows.

    Examples
    --------
    >>> index = WindowIndex(first=np.array([0, 0]), last=np.array([98, 2]))
    >>> series, _ = index.locate(np.array(list(SeriesSampler(index, seed=0))))
    >>> np.bincount(series).tolist()
    [50, 50]
    """

    def __init__(self, index: WindowIndex, *, seed: int) -> None:
        super().__init__(len(index), seed=seed)
        counts = torch.from_numpy(index.counts)
        self._before = (torch.cumsum(counts, 0) - counts)[counts > 0]
        self._counts = counts[counts > 0]

    def __iter__(self) -> Iterator[int]:
        generator = self.generator()
        filled = len(self._counts)
        # whole rounds through the series, and a part of one
        rounds = -(-self.size // max(1, filled))
        order = torch.rand(rounds, filled, generator=generator).argsort(dim=1)
        series = order.flatten()[: self.size]
        share = torch.rand(self.size, generator=generator, dtype=torch.float64)
        place = (share * self._counts[series]).long()
        yield from (self._before[series] + place).tolist()


class NoneAlone(BatchSampler):
    """Batches of which the last has more than one number, unless there is but one in all."""

    def __iter__(self) -> Iterator[list[int]]:
        before: list[int] = []
        for batch in super().__iter__():
            if len(batch) == 1 and self.batch_size > 1:
                before = before + batch
            else:
                if before:
                    yield before
                before = batch
        if before:
            yield before

    def __len__(self) -> int:
        batches, rest = super().__len__(), len(self.sampler) % self.batch_size  # type: ignore
        return batches - 1 if rest == 1 and self.batch_size > 1 and batches > 1 else batches
