"""Dropout that draws eight entries at once: the stock generator is slow on a CPU."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from tsformer.errors import ParameterError

__all__ = ["Dropout", "dropped_entries"]

_LEVELS = 256


def dropped_entries(like: Tensor, level: int) -> Bool[Tensor, "*shape"]:
    """Draw which entries of a tensor to drop, each with probability ``level / 256``.

    One 64-bit draw from torch's default generator decides about eight entries, a byte each.

    Examples
    --------
    >>> dropped_entries(torch.zeros(2, 3), 0).any()
    tensor(False)
    """
    count = like.numel()
    words = torch.empty((count + 7) // 8, dtype=torch.int64, device=like.device)
    # None stands for one past the largest: all 64 bits are drawn
    drawn = words.random_(-(2**63), None).view(torch.uint8)[:count]
    return drawn.view(like.shape) < level


class Dropout(nn.Module):
    """Sets a share of the entries to 0 in training and scales up the others.

    On a CPU the share is rounded to whole 256ths (but not to 0) and the scale follows it, so the
    expected value is exact; elsewhere this is ``torch.nn.Dropout``.

    Parameters
    ----------
    share
        The share dropped, in [0, 1).

    Raises
    ------
    ParameterError
        If ``share`` is out of range.

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

    def __init__(self, share: float = 0.0) -> None:
        super().__init__()
        if not 0 <= share < 1:
            raise ParameterError(f"share={share} of dropout must lie in [0, 1)")
        self.share = share

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return a tensor of the same shape."""
        if not self.training or self.share == 0:
            return x
        if x.device.type != "cpu":
            return functional.dropout(x, self.share)
        level = min(max(1, round(self.share * _LEVELS)), _LEVELS - 1)
        return (x * (_LEVELS / (_LEVELS - level))).masked_fill(dropped_entries(x, level), 0)

    def extra_repr(self) -> str:
        """The share, for the printed module."""
        return f"{self.share}"
