"""Loaders whose order is a function of (seed, epoch) and of nothing else."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, Sampler, SequentialSampler

from tsformer.windows.batch import Batch
from tsformer.windows.dataset import WindowDataset

__all__ = ["SeededSampler", "window_loader"]


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

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
        yield from torch.randperm(self.size, generator=generator).tolist()


def window_loader(
    windows: WindowDataset, *, batch_size: int, shuffle: bool = False, seed: int = 0
) -> "DataLoader[Batch]":
    """A loader of whole batches: every window exactly once an epoch, the last batch kept.

    Parameters
    ----------
    windows
        The windows to load.
    batch_size
        Windows a batch.
    shuffle
        True draws a new order each epoch, from ``seed``.
    """
    sampler: Sampler[int] = (
        SeededSampler(len(windows), seed=seed) if shuffle else SequentialSampler(windows)
    )
    # a private generator: the loader would otherwise draw its base seed from the global one
    return DataLoader(
        windows,
        batch_sampler=BatchSampler(sampler, batch_size, drop_last=False),
        collate_fn=_identity,
        generator=torch.Generator().manual_seed(seed),
    )


def _identity(batch: Any) -> Any:
    return batch
