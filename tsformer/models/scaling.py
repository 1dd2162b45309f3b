"""Scaling by window: each window is standardised by what is observed in its own context."""

from torch import Tensor

from tsformer.nn.scaling import Scaling, standardise, window_statistics
from tsformer.windows import Batch

__all__ = ["WindowScaling"]


class WindowScaling:
    """Standardise the targets of a batch; ``"none"`` leaves them in the panel's units.

    The statistics come from the context alone, so the future moves nothing.
    """

    def __init__(self, kind: Scaling = "window") -> None:
        self.kind = kind

    def __call__(self, batch: Batch) -> tuple[Batch, Tensor, Tensor]:
        """The standardised batch, its location and its scale, each (batch, 1, target)."""
        location, scale = window_statistics(
            batch.past_target, batch.past_observed, scaling=self.kind
        )
        standardised = batch._replace(
            past_target=standardise(
                batch.past_target, batch.past_observed, location=location, scale=scale
            ),
            future_target=standardise(
                batch.future_target, batch.future_observed, location=location, scale=scale
            ),
        )
        return standardised, location, scale
