"""The kernels that attention runs on, and which of them is fastest where; no equation is new here.

On a CPU fused kernels lose to three plain products over short sequences in bfloat16, and to
themselves in float32 over longer ones.

References
----------
.. [1] Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

__all__ = ["SHORT", "causal_mask", "fused_attention", "is_short", "short_attention"]

SHORT = 256
"""Sequences up to this length are short: no head has more than its square of scores.

Measured on two CPU threads with avx512_bf16, forward and backward in bfloat16, against float32
in the fused kernel and the conversion: 2.5 times as fast at 224 rows of 16 heads of 8 and 64 steps,
1.9 at 32 rows of 8 heads of 64 and 96 steps, 1.1 to 3 at 192 steps, 1.0 to 1.6 at 384. The scores
of all rows are held for the backward pass, which is why it ends here."""

_SMALL_HEAD = 64
"""On a CPU bfloat16 attention with heads up to this width takes 1.1 (64 wide, 720 steps) to 4 times
(8 wide, 63 steps) as long, forward and backward, as float32 and the conversion."""


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    causal: bool = False,
) -> Tensor:
    """Return softmax attention by the kernel of torch, in the type in which it is fastest.

    ``causal`` goes without ``mask``, as torch's kernels ask.

    Examples
    --------
    >>> q = torch.zeros(1, 1, 3, 2)
    >>> v = torch.tensor([2.0, 4.0, 9.0]).reshape(1, 1, 3, 1)
    >>> fused_attention(q, q, v, causal=True).flatten()
    tensor([2., 3., 5.])
    """
    attend = functional.scaled_dot_product_attention
    kind = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else v.dtype
    if q.device.type != "cpu" or kind != torch.bfloat16 or q.shape[-1] > _SMALL_HEAD:
        return attend(q, k, v, attn_mask=mask, dropout_p=dropout, is_causal=causal)
    learned = mask is not None and mask.requires_grad
    with torch.autocast("cpu", enabled=False):
        if not dropout and not learned and is_short(q, k):
            added = _added(causal_mask(q, k) if causal else mask, kind)
            return short_attention(q.to(kind), k.to(kind), v.to(kind), added)
        if mask is not None and mask.dtype != torch.bool:
            mask = mask.float()
        wide = q.float(), k.float(), v.float()
        output = attend(*wide, attn_mask=mask, dropout_p=dropout, is_causal=causal)
    return output.to(kind)


def _added(mask: Tensor | None, kind: torch.dtype) -> Tensor | None:
    """Return what a mask adds to the scores."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=kind, device=mask.device).masked_fill(~mask, -torch.inf)


def causal_mask(q: Tensor, k: Tensor) -> Bool[Tensor, "1 1 query key"]:
    """Return which keys are not behind their query; the last query stands at the last key."""
    queries, keys = q.shape[-2], k.shape[-2]
    seen = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
    return seen[None, None]


def is_short(q: Tensor, k: Tensor) -> bool:
    """Whether a head has few enough scores to hold them."""
    return q.shape[-2] * k.shape[-2] <= SHORT**2


def short_attention(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch head key dim"],
    v: Float[Tensor, "batch head key value"],
    added: Float[Tensor, "#batch #head #query #key"] | None = None,
) -> Float[Tensor, "batch head query value"]:
    """Softmax attention with its weights held, ``softmax(q @ k.T / sqrt(dim) + added) @ v``.

    Equation 1 of [1]_. Of bfloat16, products are summed and the softmax is taken in float32;
    scores and weights are rounded to bfloat16. ``added`` gets no gradient, and gradients are
    taken once only.

    Examples
    --------
    >>> q = torch.zeros(1, 1, 3, 2)
    >>> v = torch.tensor([2.0, 4.0, 9.0]).reshape(1, 1, 3, 1)
    >>> short_attention(q, q, v).flatten()
    tensor([5., 5., 5.])
    """
    output: Tensor = _ShortAttention.apply(q, k, v, added)  # type: ignore[no-untyped-call]
    return output


class _ShortAttention(torch.autograd.Function):
    """Written out because torch's own gradient copies and converts weights three more times."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, added: Tensor | None) -> Tensor:
        rows = q.shape[:2]
        ctx.scale = q.shape[-1] ** -0.5
        q, k, v = q.flatten(0, 1) * ctx.scale, k.flatten(0, 1), v.flatten(0, 1)
        scores = torch.bmm(q, k.mT)
        if added is not None:
            scores.unflatten(0, rows).add_(added)
        weights = scores.softmax(-1)
        ctx.save_for_backward(q, k, v, weights)
        output: Tensor = torch.bmm(weights, v).unflatten(0, rows)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v, weights = ctx.saved_tensors
        rows, slope = slope.shape[:2], slope.flatten(0, 1)
        of_v = torch.bmm(weights.mT, slope)
        of_scores = torch._softmax_backward_data(torch.bmm(slope, v.mT), weights, -1, weights.dtype)
        of_q = torch.bmm(of_scores, k).mul_(ctx.scale)
        of_k = torch.bmm(of_scores.mT, q)
        return of_q.unflatten(0, rows), of_k.unflatten(0, rows), of_v.unflatten(0, rows), None
