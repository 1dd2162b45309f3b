"""Filling the gaps of windows by straight lines between the values that they know."""

import torch
from torch import Tensor

__all__ = ["interpolated"]


def interpolated(
    values: Tensor, present: Tensor, time: Tensor, never: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Fill what is missing between two present values.

    What is before the first or after the last one stays missing.

    Parameters
    ----------
    values, present
        (batch, time, column), True where a value is there.
    time
        (batch, time) increasing; lines are straight in it, so uneven steps are respected.
    never
        (batch, time, 1) steps that stay missing all the same.

    Returns
    -------
    values, present
        Of the same shapes.

    Examples
    --------
    >>> values = torch.tensor([0.0, 0.0, 9.0, 0.0]).reshape(1, 4, 1)
    >>> present = torch.tensor([True, False, True, False]).reshape(1, 4, 1)
    >>> filled, there = interpolated(values, present, torch.tensor([[0.0, 1.0, 3.0, 4.0]]))
    >>> filled.flatten().tolist(), there.flatten().tolist()
    ([0.0, 3.0, 9.0, 0.0], [True, True, True, False])
    """
    if present.all():
        return values, present
    steps = present.shape[1]
    place = torch.arange(steps)[None, :, None]
    before = torch.where(present, place, -1).cummax(dim=1).values
    after = torch.where(present, place, steps).flip(1).cummin(dim=1).values.flip(1)
    between = ~present & (before >= 0) & (after < steps)
    if never is not None:
        between &= ~never
    before, after = before.clamp(min=0), after.clamp(max=steps - 1)
    moment = time[..., None].expand_as(values)
    begin, end = moment.gather(1, before), moment.gather(1, after)
    share = ((moment - begin) / (end - begin)).masked_fill(~between, 0)
    low, high = values.gather(1, before), values.gather(1, after)
    line = low + share * (high - low)
    return torch.where(between, line, values), present | between
