"""Passes over windows without a training step, and who is shown their forecasts."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import torch

from tsformer.arrays import Floats, Ints
from tsformer.windows import Batch

__all__ = ["Converted", "Judge", "Moved"]


class Judge(Protocol):
    """Is shown the forecasts of all validation windows as the loss is taken of them.

    So nothing needs to be forecast again once the best epoch is known.
    """

    def begin(self) -> None:
        """A pass begins; what an unfinished one has shown does not count."""

    def add(self, series: Ints, origins: Ints, point: Floats) -> None:
        """Point forecasts (window, horizon, target) in the units of the windows' panel, scaled."""

    def finish(self, epoch: int) -> None:
        """All windows have been shown, as the weights after this epoch forecast them."""


class Converted:
    """Batches of which each is converted; may be iterated more than once."""

    def __init__(self, batches: Iterable[Batch], convert: Callable[[Batch], Batch]) -> None:
        self.batches, self.convert = batches, convert

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.batches:
            yield self.convert(batch)


class Moved:
    """Batches on a device; may be iterated more than once."""

    def __init__(self, batches: Iterable[Batch], device: torch.device) -> None:
        self.batches, self.device = batches, device

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.batches:
            yield Batch(*(field.to(self.device) for field in batch))
