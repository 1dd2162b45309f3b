"""Location and scale of one window, so that a network sees every window at the same level."""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from tsformer.errors import ParameterError

__all__ = ["Scaling", "observed_mean", "restore", "standardise", "window_statistics"]

Scaling = Literal["window", "last", "none"]

_KINDS = get_args(Scaling)
_CONSTANT = 16  # units of rounding: how far the mean of equal numbers may lie from them


def observed_mean(
    values: Float[Tensor, "batch time target"], observed: Bool[Tensor, "batch time target"]
) -> Float[Tensor, "batch 1 target"]:
    """Return the mean over the observed steps, 0 where none is.

    Taken twice, the second time of what the first has left over: one float32 sum of a series far
    from 0 is not exact enough to centre it.
    """
    share = observed.to(values.dtype) / observed.sum(1, keepdim=True).clamp(min=1)
    values = values.masked_fill(~observed, 0)
    first = (values * share).sum(1, keepdim=True)
    return first + ((values - first) * share).sum(1, keepdim=True)


def window_statistics(
    values: Float[Tensor, "batch time target"],
    observed: Bool[Tensor, "batch time target"],
    *,
    scaling: Scaling = "window",
) -> tuple[Float[Tensor, "batch 1 target"], Float[Tensor, "batch 1 target"]]:
    """Return location and scale of every window and target.

    With ``scaling="window"`` they are the mean and the standard deviation of the observed steps
    (the biased one, so that one step is enough). Where nothing is observed they are 0 and 1. Where
    the observed steps are constant up to rounding, that is, where the deviation is no larger than
    16 units of rounding of the location, the scale is 1: dividing by it would blow rounding
    errors up. With ``scaling="last"`` the location is the last observed step instead, and the scale
    the same deviation around the mean: a network then forecasts changes from where the window ends.
    With ``scaling="none"`` they are 0 and 1 throughout.

    Parameters
    ----------
    values
        The window; entries that are not observed may hold anything.
    observed
        True where a value counts.
    scaling
        ``"window"``, ``"last"`` or ``"none"``.

    Raises
    ------
    ParameterError
        If ``scaling`` is unknown.

    Examples
    --------
    >>> values = torch.tensor([1.0, 3.0, 99.0]).reshape(1, 3, 1)
    >>> observed = torch.tensor([True, True, False]).reshape(1, 3, 1)
    >>> location, scale = window_statistics(values, observed)
    >>> location.item(), scale.item()
    (2.0, 1.0)
    >>> standardise(values, observed, location=location, scale=scale).flatten()
    tensor([-1.,  1.,  0.])
    >>> location, scale = window_statistics(values, observed, scaling="last")
    >>> location.item(), scale.item()
    (3.0, 1.0)
    """
    if scaling not in _KINDS:
        raise ParameterError(f"scaling={scaling!r} is unknown; use 'window', 'last' or 'none'")
    if scaling == "none":
        return torch.zeros_like(values[:, :1]), torch.ones_like(values[:, :1])
    mean = observed_mean(values, observed)
    deviation = (values - mean).masked_fill(~observed, 0)
    # Squares of very large or small deviations leave float32; those of their ratios do not.
    largest = deviation.abs().amax(1, keepdim=True)
    ratio = deviation / largest.masked_fill(largest == 0, 1)
    scale = largest * observed_mean(ratio.square(), observed).sqrt()
    rounding = _CONSTANT * torch.finfo(values.dtype).eps * mean.abs()
    location = _last_observed(values, observed) if scaling == "last" else mean
    return location, scale.masked_fill(scale <= rounding, 1)


def _last_observed(
    values: Float[Tensor, "batch time target"], observed: Bool[Tensor, "batch time target"]
) -> Float[Tensor, "batch 1 target"]:
    """The last observed step, 0 where none is."""
    steps = torch.arange(values.shape[1], device=values.device)[:, None]
    latest = (steps * observed).argmax(1, keepdim=True)
    return values.masked_fill(~observed, 0).gather(1, latest)


def standardise(
    values: Float[Tensor, "batch time target"],
    observed: Bool[Tensor, "batch time target"],
    *,
    location: Float[Tensor, "batch 1 target"],
    scale: Float[Tensor, "batch 1 target"],
) -> Float[Tensor, "batch time target"]:
    """Return ``(values - location) / scale``, 0 where not observed."""
    return ((values - location) / scale).masked_fill(~observed, 0)


def restore(
    standardised: Float[Tensor, "batch time target"],
    *,
    location: Float[Tensor, "batch 1 target"],
    scale: Float[Tensor, "batch 1 target"],
) -> Float[Tensor, "batch time target"]:
    """Return ``standardised * scale + location``, in the units of the window."""
    return standardised * scale + location
