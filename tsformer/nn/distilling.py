"""Self-attention distilling of the Informer: between two blocks, half as many steps.

A *reduction part* is a module called as ``reduce(steps, key_mask)`` that returns fewer steps and
the mask that belongs to them.
"""

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from tsformer.errors import ParameterError
from tsformer.nn.norms import StepBatchNorm

__all__ = ["Distilling", "distilled_length"]

_KERNEL, _STRIDE, _PADDING = 3, 2, 1  # of the max-pooling


def distilled_length(length: int) -> int:
    """Return how many steps are left of ``length``: half of them, rounded up.

    Examples
    --------
    >>> [distilled_length(length) for length in (1, 2, 3, 96)]
    [1, 1, 2, 48]
    """
    return (length + 2 * _PADDING - _KERNEL) // _STRIDE + 1


class Distilling(nn.Module):
    """Convolution over three steps, norm, ELU and max-pooling to every other step.

    Equation 5 of [1]_. The convolution treats the steps as a circle, as the authors' code does,
    and with a padding of 1, so that the length is halved exactly (their padding of 2, on some
    versions of torch, appends wrapped-around steps).

    Parameters
    ----------
    d_model
        Width of a step.
    norm
        ``"layer"`` normalises every step by itself. ``"batch"`` is the authors' BatchNorm, under
        which the answer to one series depends, in training, on the others in its batch, and
        padded steps enter the statistics; it is there to reproduce the paper.

    Raises
    ------
    ParameterError
        If ``norm`` is unknown.

    References
    ----------
    .. [1] Zhou et al. (2021), Informer: beyond efficient transformer for long sequence
       time-series forecasting, AAAI, arXiv:2012.07436.

    Examples
    --------
    >>> steps, key_mask = Distilling(8)(torch.randn(4, 25, 8))
    >>> steps.shape
    torch.Size([4, 13, 8])
    """

    def __init__(self, d_model: int, *, norm: Literal["layer", "batch"] = "layer") -> None:
        super().__init__()
        if norm not in ("layer", "batch"):
            raise ParameterError(f"norm={norm!r} is unknown; use 'layer' or 'batch'")
        self.convolution = nn.Conv1d(d_model, d_model, 3, padding=1, padding_mode="circular")
        self.norm = nn.LayerNorm(d_model) if norm == "layer" else StepBatchNorm(d_model)

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        key_mask: Bool[Tensor, "batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch less d_model"], Bool[Tensor, "batch less"] | None]:
        """Return the distilled steps and their mask.

        A distilled step is visible when one of the three steps it is pooled from is. Hidden
        steps enter neither the convolution nor the maximum; a hidden distilled step is 0.
        """
        if key_mask is None:
            return _pool(self._mix(steps)), None
        seen = key_mask[..., None]
        mixed = self._mix(steps.masked_fill(~seen, 0)).masked_fill(~seen, -torch.inf)
        less_seen = _pool(seen.to(steps.dtype)) > 0
        return _pool(mixed).masked_fill(~less_seen, 0), less_seen[..., 0]

    def _mix(
        self, steps: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch time d_model"]:
        return functional.elu(self.norm(self.convolution(steps.transpose(1, 2)).transpose(1, 2)))


def _pool(steps: Float[Tensor, "batch time feature"]) -> Float[Tensor, "batch less feature"]:
    return functional.max_pool1d(steps.transpose(1, 2), _KERNEL, _STRIDE, _PADDING).transpose(1, 2)
