"""Statistics of what is observed of a window: its mean, deviation and last value."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

__all__ = ["last_observed", "observed_deviation", "observed_mean"]

_CONSTANT = 16  # units of rounding: how far the mean of equal numbers may lie from them


def observed_mean(
    values: Float[Tensor, "batch time target"], observed: Bool[Tensor, "batch time target"]
) -> Float[Tensor, "batch 1 target"]:
    """Return the mean over the observed steps, 0 where none is.

    Taken twice, the second time of what the first has left over: one float32 sum of a series far
    from 0 is not exact enough to centre it.
    """
    weight = observed.to(values.dtype) / observed.sum(1, keepdim=True).clamp(min=1)
    values = values.masked_fill(~observed, 0)
    first = (values * weight).sum(1, keepdim=True)
    return first + ((values - first) * weight).sum(1, keepdim=True)


def observed_deviation(
    values: Float[Tensor, "batch time target"],
    observed: Bool[Tensor, "batch time target"],
    *,
    mean: Float[Tensor, "batch 1 target"],
) -> Float[Tensor, "batch 1 target"]:
    """Return the standard deviation of the observed steps around ``mean``, a divisor that is safe.

    It is the biased one, so that one step is enough. Where the observed steps are constant up to
    rounding, that is, where the deviation is no larger than 16 units of rounding of the mean, it is
    1: dividing by less would blow rounding errors up. So it is where nothing is observed.

    Examples
    --------
    >>> values = torch.tensor([1.0, 3.0, 99.0]).reshape(1, 3, 1)
    >>> observed = torch.tensor([True, True, False]).reshape(1, 3, 1)
    >>> observed_deviation(values, observed, mean=observed_mean(values, observed)).item()
    1.0
    """
    deviation = (values - mean).masked_fill(~observed, 0)
    # squares of very large or small deviations leave float32; those of their ratios do not
    largest = deviation.abs().amax(1, keepdim=True)
    ratio = deviation / largest.masked_fill(largest == 0, 1)
    scale = largest * observed_mean(ratio.square(), observed).sqrt()
    rounding = _CONSTANT * torch.finfo(values.dtype).eps * mean.abs()
    return scale.masked_fill(scale <= rounding, 1)


def last_observed(
    values: Float[Tensor, "batch time target"], observed: Bool[Tensor, "batch time target"]
) -> Float[Tensor, "batch 1 target"]:
    """The last observed step, 0 where none is.

    Examples
    --------
    >>> values = torch.tensor([1.0, 5.0, 99.0]).reshape(1, 3, 1)
    >>> last_observed(values, values < 9).item()
    5.0
    """
    steps = torch.arange(values.shape[1], device=values.device)[:, None]
    latest = (steps * observed).argmax(1, keepdim=True)
    return values.masked_fill(~observed, 0).gather(1, latest)
