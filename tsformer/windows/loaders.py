"""Loaders whose order is a function of (seed, epoch) and of nothing else."""

from collections.abc import Iterator
from typing import Any, Literal

import torch
from torch.utils.data import BatchSampler, DataLoader, Sampler, SequentialSampler

from tsformer.windows.batch import Batch
from tsformer.windows.dataset import WindowDataset
from tsformer.windows.index import WindowIndex

__all__ = ["SeededSampler", "SeriesSampler", "window_loader"]


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
    >>> import numpy as np
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


def window_loader(
    windows: WindowDataset,
    *,
    batch_size: int,
    shuffle: bool = False,
    seed: int = 0,
    sampling: Literal["windows", "series"] = "windows",
) -> "DataLoader[Batch]":
    """A loader of whole batches; the last, smaller one is kept.

    Shuffled windows are for training: there a single last one joins the batch before, since
    statistics over a batch of one are none.

    Parameters
    ----------
    windows
        The windows to load.
    batch_size
        Windows a batch.
    shuffle
        True draws a new order each epoch, from ``seed``.
    sampling
        What an epoch of shuffled windows is: every window exactly once, or every series equally
        often (see :class:`SeriesSampler`).
    """
    sampler: Sampler[int] = SequentialSampler(windows)
    if shuffle and sampling == "series":
        sampler = SeriesSampler(windows.index, seed=seed)
    elif shuffle:
        sampler = SeededSampler(len(windows), seed=seed)
    # a private generator: the loader would otherwise draw its base seed from the global one
    return DataLoader(
        windows,
        batch_sampler=_NoneAlone(sampler, batch_size, drop_last=False)
        if shuffle
        else BatchSampler(sampler, batch_size, drop_last=False),
        collate_fn=_identity,
        generator=torch.Generator().manual_seed(int(seed) % 2**63),
    )


class _NoneAlone(BatchSampler):
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


def _identity(batch: Any) -> Any:
    return batch
