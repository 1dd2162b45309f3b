"""Windows measured by their own median and bent by an asinh, so that spikes do not rule them."""

import torch
from torch import Tensor

from tsformer.windows.batch import Batch

__all__ = ["bend", "unbend"]

_NORMAL = 0.6744897501960817
"""The median absolute deviation of a normal variable of deviation 1."""

_LEAST = 0.1
"""Of the standard deviation: where more than half of a window is alike its median deviation is 0,
and values divided by next to nothing would say nothing but their sign."""


def bend(batch: Batch, *, lagged: int = 0) -> tuple[Batch, Tensor, Tensor]:
    """The targets as ``asinh((y - middle) / spread)`` of their own context.

    ``middle`` is the median of what is observed in the context, ``spread`` the median absolute
    deviation over 0.6745, as for a normal variable, and at least a tenth of the standard deviation;
    0 and 1 where nothing is observed, 1 where nothing varies. The future moves neither.

    Parameters
    ----------
    batch
        Windows in the panel's units.
    lagged
        How many of the last known covariates are targets of earlier rows, which are bent too.

    Returns
    -------
    Batch
        The bent windows; what is not observed is 0.
    Tensor
        Middle and, last, spread, (batch, 1, target) each.

    References
    ----------
    Uniejewski, Weron and Ziel (2018), "Variance Stabilizing Transformations for Electricity Spot
    Price Forecasting", IEEE Transactions on Power Systems 33(2).
    """
    middle, spread = _statistics(batch.past_target, batch.past_observed)
    bent = batch._replace(
        past_target=_bent(batch.past_target, batch.past_observed, middle, spread),
        future_target=_bent(batch.future_target, batch.future_observed, middle, spread),
    )
    if lagged:
        own, earlier = batch.known.split([batch.known.shape[-1] - lagged, lagged], -1)
        present = batch.known_present[..., -lagged:]
        repeats = (1, 1, lagged // middle.shape[-1])
        earlier = _bent(earlier, present, middle.repeat(repeats), spread.repeat(repeats))
        bent = bent._replace(known=torch.cat([own, earlier], dim=-1))
    return bent, middle, spread


def unbend(values: Tensor, middle: Tensor, spread: Tensor) -> Tensor:
    """``middle + spread * sinh(values)`` in float64; infinite only where that is left.

    Examples
    --------
    >>> one = torch.ones(1, 1, 1)
    >>> unbend(torch.tensor([0.0, 3.0]).reshape(1, 2, 1), 5 * one, 2 * one).flatten()
    tensor([ 5.0000, 25.0357], dtype=torch.float64)
    """
    return middle.double() + spread.double() * values.double().sinh()


def _bent(values: Tensor, observed: Tensor, middle: Tensor, spread: Tensor) -> Tensor:
    return ((values - middle) / spread).asinh().masked_fill(~observed, 0)


def _statistics(values: Tensor, observed: Tensor) -> tuple[Tensor, Tensor]:
    known = values.masked_fill(~observed, torch.nan)
    middle = known.nanmedian(dim=1, keepdim=True).values.nan_to_num(nan=0.0)
    off = (known - middle).abs()
    number = observed.sum(1, keepdim=True).clamp(min=1)
    # ratios, because squares of very large or small deviations leave float32
    largest = off.nan_to_num(nan=0.0).amax(1, keepdim=True)
    ratio = (off / largest.masked_fill(largest == 0, 1)).nan_to_num(nan=0.0)
    deviation = largest * (ratio.square().sum(1, keepdim=True) / number).sqrt()
    median = off.nanmedian(dim=1, keepdim=True).values.nan_to_num(nan=0.0) / _NORMAL
    spread = torch.maximum(median, _LEAST * deviation)
    rounding = 16 * torch.finfo(values.dtype).eps * middle.abs()
    return middle, spread.masked_fill(spread <= rounding, 1)
