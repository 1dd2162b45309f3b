"""Errors of a point forecast, around which the bands of a network that is not trained yet lie."""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor

from tsformer.models.scaling import Normaliser
from tsformer.windows import Batch

__all__ = ["held_out_residuals", "residuals"]

_ENOUGH_PER_STEP = 20
"""Validation windows for each step of the horizon: fewer are too much alike for tail quantiles."""
_MOST = 2048
"""Windows that are enough for stable tail quantiles, and a bound on memory."""

Errors = Callable[[Batch], Tensor]
"""From normalised windows to truth less forecast, (batch, horizon, target), or several of them."""


def held_out_residuals(
    errors: Errors,
    train: Iterable[Batch],
    validation: Iterable[Batch],
    normaliser: Normaliser,
) -> Float[Tensor, "window horizon target *number"]:
    """Those of validation windows if they are enough: errors on fitted rows are too small.

    Parameters
    ----------
    errors
        Those of the forecast.
    train, validation
        Batches in the units of the loss, not normalised; either may be empty.
    normaliser
        What they go through first.

    Returns
    -------
    Tensor
        Of both kinds of windows where validation windows are few.
    """
    held_out = residuals(errors, validation, normaliser)
    if len(held_out) and len(held_out) >= _ENOUGH_PER_STEP * held_out.shape[1]:
        return held_out
    fitted = residuals(errors, train, normaliser)
    return torch.cat([held_out, fitted]) if len(held_out) else fitted


def residuals(
    errors: Errors, batches: Iterable[Batch], normaliser: Normaliser
) -> Float[Tensor, "window horizon target *number"]:
    """Errors of evenly spread normalised windows, NaN where the truth is missing.

    One pass: every window is looked at until there are too many, then every other one, and so on.
    """
    kept: list[Tensor] = []
    seen, every = 0, 1
    for batch in batches:
        chosen = torch.arange(len(batch.origin))[-seen % every :: every]
        seen += len(batch.origin)
        scaled = normaliser.normalise(Batch(*(field[chosen] for field in batch)))
        found = errors(scaled)
        known = scaled.future_observed if found.dim() == 3 else scaled.future_observed[..., None]
        kept.append(found.where(known, torch.nan))
        while sum(map(len, kept)) > _MOST:
            kept, every = [torch.cat(kept)[::2]], 2 * every
    return torch.cat(kept) if kept else torch.empty(0, 0, 0)
