"""The time a fit may take: a clock, and passes over batches that end in time."""

import logging
import math
import time
from collections.abc import Iterable, Iterator

from tsformer.windows import Batch

__all__ = ["Budget", "InTime"]

log = logging.getLogger("tsformer")

_BEFORE_REFIT = 0.4

_PASS = 1 / 20
"""Part of the time that one pass over windows without a training step may take. The closed form
makes two passes over the training windows, nine where values are missing."""


class Budget:
    """Seconds that run from the moment a fit begins; without a number there is no limit.

    Parameters
    ----------
    seconds
        How many; None is without limit.

    Attributes
    ----------
    notes : list of str
        What was cut short, in words; empty while nothing is.

    Examples
    --------
    >>> Budget(60).left <= 60, Budget().left
    (True, inf)
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = math.inf if seconds is None else float(seconds)
        self.notes: list[str] = []
        self._end = time.monotonic() + self.seconds

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return self.seconds < math.inf

    @property
    def left(self) -> float:
        """Seconds that are left; negative once they are used up."""
        return self._end - time.monotonic()

    @property
    def a_pass(self) -> float:
        """Seconds that one pass over windows may take without a training step."""
        return self.seconds * _PASS

    def waited(self, seconds: float) -> None:
        """Time in which another thread had its turn does not count."""
        self._end += seconds

    def before_refit(self) -> "Budget":
        """The time of a fit that chooses a number of epochs for another one that follows it."""
        part = Budget(max(0.0, self.left) * _BEFORE_REFIT if self.limited else None)
        part.notes = self.notes
        return part

    def rest(self) -> "Budget":
        """What is left, with notes of its own."""
        return Budget(max(0.0, self.left) if self.limited else None)

    def said(self) -> str:
        """What was cut short, which is logged; empty if nothing was."""
        notes = "; ".join(self.notes)
        if notes:
            log.warning(
                "max_time=%g seconds were not enough: %s; the next run may come out otherwise",
                self.seconds,
                notes,
            )
        return notes


class InTime:
    """Batches that may be iterated again, as many as there is time for: at least one.

    A pass that takes too long ends early, and later ones see no more than it did. The batches
    should come in a random order, so that those that are seen stand for the others.

    Parameters
    ----------
    batches
        May be iterated more than once, in the same order.
    seconds
        Of one pass, what is done with the batches included.
    """

    def __init__(self, batches: Iterable[Batch], seconds: float) -> None:
        self.batches = batches
        self.seconds = seconds
        self.most = math.inf

    @property
    def cut(self) -> bool:
        """Whether a pass ended early."""
        return self.most < math.inf

    def __iter__(self) -> Iterator[Batch]:
        began = time.monotonic()
        for number, batch in enumerate(self.batches):
            if number and time.monotonic() - began > self.seconds:
                self.most = min(self.most, number)
            if number >= self.most:
                return
            yield batch
