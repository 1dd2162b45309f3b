"""Scaling by window: each window is standardised by what is observed in its own context."""

import torch
from torch import Tensor

from tsformer.nn.scaling import Scaling, standardise, window_statistics
from tsformer.windows import Batch

__all__ = ["WindowScaling"]


class WindowScaling:
    """Standardise the targets of a batch by the context alone, so the future moves nothing.

    Parameters
    ----------
    kind
        ``"window"`` takes off the mean and divides by the standard deviation of what is observed;
        ``"last"`` takes off the last observed value instead, which suits series whose level
        drifts; ``"none"`` leaves the panel's units. See ``tsformer.nn.window_statistics``.
    lagged
        How many of the last known covariates are targets of earlier rows, which are standardised
        as the targets are: ``lags * target``, all targets of one lag side by side.
    """

    def __init__(self, kind: Scaling = "window", *, lagged: int = 0) -> None:
        self.kind = kind
        self.lagged = lagged

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
            location=location,
            scale=scale,
        )
        if self.lagged:
            own, earlier = batch.known.split([batch.known.shape[-1] - self.lagged, self.lagged], -1)
            repeats = (1, 1, self.lagged // location.shape[-1])
            earlier = standardise(
                earlier,
                batch.known_present[..., -self.lagged :],
                location=location.repeat(repeats),
                scale=scale.repeat(repeats),
            )
            standardised = standardised._replace(known=torch.cat([own, earlier], dim=-1))
        return standardised, location, scale
