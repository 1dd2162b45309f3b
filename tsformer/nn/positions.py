"""Where a step stands in time, added to what it holds.

A *position part* is a module called as ``positions(steps, time)``: it takes embedded steps of shape
``(batch, time, d_model)`` and their times, in steps of the frequency and not necessarily whole,
and returns the steps with their position in them. There is no longest length.

It stands at the input of a network, at every layer (``positions`` of
`tsformer.nn.stacks.Encoder` and ``Decoder``), or on queries and keys only (``positions`` of
`tsformer.nn.multi_head.MultiHeadAttention`). `tsformer.nn.relative` has parts that know only how
far apart two steps are.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["LearnedPositions", "NoPositions", "SinusoidalPositions", "sinusoidal"]


def sinusoidal(
    time: Float[Tensor, "*batch time"], d_model: int
) -> Float[Tensor, "*batch time d_model"]:
    """Return sines and cosines of the times, from fast to slow.

    Columns ``2i`` and ``2i + 1`` are the sine and the cosine of ``time / 10000**(2i / d_model)``,
    section 3.5 of [1]_. With an odd ``d_model`` the last sine stands without its cosine.

    Parameters
    ----------
    time
        Times in steps; they may be negative, fractional or irregular.
    d_model
        Number of columns.

    References
    ----------
    .. [1] Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.

    Examples
    --------
    >>> sinusoidal(torch.tensor([0.0, 0.5]), 3)
    tensor([[0.0000, 1.0000, 0.0000],
            [0.4794, 0.8776, 0.0011]])
    """
    column = torch.arange(0, d_model, 2, device=time.device, dtype=time.dtype)
    angle = time[..., None] * torch.exp(column * (-math.log(10_000) / d_model))
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)[..., :d_model]


class SinusoidalPositions(nn.Module):
    """Adds `sinusoidal` positions; owns no weights.

    Examples
    --------
    >>> SinusoidalPositions()(torch.zeros(2, 5, 7), torch.arange(5.0).expand(2, 5)).shape
    torch.Size([2, 5, 7])
    """

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        time: Float[Tensor, "batch time"],
    ) -> Float[Tensor, "batch time d_model"]:
        """Return the steps with their positions added."""
        return steps + sinusoidal(time, steps.shape[-1]).to(steps.dtype)


class LearnedPositions(nn.Module):
    """Adds a learned linear map of `sinusoidal` positions.

    A table with a row for each place would have an end, rows that training seldom visits, and
    nothing to say about times between its rows. Sinusoids from fast to slow tell all times apart,
    and a learned mix of them is as smooth, and as defined everywhere, as they are; [1]_ learns
    positions from sinusoids too. It starts as `SinusoidalPositions`, the unit matrix.

    Parameters
    ----------
    d_model
        Width of a step.

    References
    ----------
    .. [1] Li et al. (2021), Learnable Fourier features for multi-dimensional spatial positional
       encoding, NeurIPS, arXiv:2106.02795.

    Examples
    --------
    >>> LearnedPositions(7)(torch.zeros(2, 5, 7), torch.arange(5.0).expand(2, 5)).shape
    torch.Size([2, 5, 7])
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.mix = nn.Linear(d_model, d_model, bias=False)
        nn.init.eye_(self.mix.weight)

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        time: Float[Tensor, "batch time"],
    ) -> Float[Tensor, "batch time d_model"]:
        """Return the steps with their positions added."""
        placed: Tensor = self.mix(sinusoidal(time, steps.shape[-1]).to(self.mix.weight.dtype))
        return steps + placed.to(steps.dtype)


class NoPositions(nn.Module):
    """Leaves the steps as they are, for networks that know the order otherwise.

    Examples
    --------
    >>> NoPositions()(torch.ones(1, 2, 1), torch.tensor([[0.0, 1.0]])).flatten()
    tensor([1., 1.])
    """

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        time: Float[Tensor, "batch time"],
    ) -> Float[Tensor, "batch time d_model"]:
        """Return the steps unchanged."""
        return steps
