"""Dropout that draws eight entries at once: the stock generator is slow on a CPU."""

from typing import Any

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn
from torch.nn import functional

from tsformer.errors import ParameterError

__all__ = ["Dropout", "kept_entries"]

_LEVELS = 256


def kept_entries(like: Tensor, level: int) -> UInt8[Tensor, "*shape"]:
    """Draw which entries of a tensor to keep (1) and drop (0): ``level / 256`` are dropped.

    One 64-bit draw from torch's default generator decides about eight entries, a byte each.

    Examples
    --------
    >>> kept_entries(torch.zeros(2, 3), 0)
    tensor([[1, 1, 1],
            [1, 1, 1]], dtype=torch.uint8)
    """
    count = like.numel()
    words = torch.empty((count + 7) // 8, dtype=torch.int64, device=like.device)
    # None stands for one past the largest: all 64 bits are drawn
    drawn = words.random_(-(2**63), None).view(torch.uint8)[:count]
    return drawn.view(like.shape).ge_(level)


class _Drop(torch.autograd.Function):
    """Multiply by what is kept: twice as fast as filling, which torch does entry by entry.

    A byte an entry is held; without this the factors would be, in the type of ``x``.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, kept: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(kept)
        ctx.scale = scale
        return kept.to(x.dtype).mul_(x).mul_(scale)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None]:
        (kept,) = ctx.saved_tensors
        return kept.to(slope.dtype).mul_(slope).mul_(ctx.scale), None, None


class Dropout(nn.Module):
    """Sets a share of the entries to 0 in training and scales up the others.

    On a CPU the share is rounded to whole 256ths (but not to 0) and the scale follows it, so the
    expected value is exact; elsewhere, and compiled, this is ``torch.nn.Dropout``.

    Parameters
    ----------
    p
        The share dropped, in [0, 1).

    Raises
    ------
    ParameterError
        If ``p`` is out of range.

    References
    ----------
    .. [1] Srivastava et al. (2014), Dropout: a simple way to prevent neural networks from
       overfitting, JMLR 15.

    Examples
    --------
    >>> x = torch.ones(1000)
    >>> Dropout(0.25)(x).unique()
    tensor([0.0000, 1.3333])
    >>> Dropout(0.25).eval()(x).equal(x)
    True
    """

    def __init__(self, p: float = 0.0) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ParameterError(f"p={p} of dropout must lie in [0, 1)")
        self.p = p

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return a tensor of the same shape."""
        if not self.training or self.p == 0:
            return x
        # a compiler draws masks inside of its kernels, and cannot follow ours into bytes
        if x.device.type != "cpu" or torch.compiler.is_compiling():
            return functional.dropout(x, self.p)
        level = min(max(1, round(self.p * _LEVELS)), _LEVELS - 1)
        kept, scale = kept_entries(x, level), _LEVELS / (_LEVELS - level)
        dropped: Tensor = _Drop.apply(x, kept, scale)  # type: ignore[no-untyped-call]
        return dropped

    def extra_repr(self) -> str:
        """The share, for the printed module."""
        return f"{self.p}"
