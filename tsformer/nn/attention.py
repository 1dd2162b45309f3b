"""Scaled dot-product attention: its answers, and its weights for those who ask.

An *attend part* is a module without parameters, called as ``attend(q, k, v, *, key_mask=None,
query_mask=None, causal=False, bias=None, multiplier=None)`` on tensors of shape
``(batch, head, time, dim)``. `FullAttention` here and `tsformer.nn.probsparse.ProbSparse` are two
of them; `tsformer.nn.multi_head.MultiHeadAttention` takes any.

References
----------
.. [1] Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.
"""

from typing import Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from tsformer.nn.kernels import causal_mask, fused_attention

__all__ = ["Attend", "FullAttention", "attention_weights", "full_attention"]


class Attend(Protocol):
    """What multi-head attention asks of an attend part; masks are True where visible."""

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        key_mask: Tensor | None = None,
        query_mask: Tensor | None = None,
        causal: bool = False,
        bias: Tensor | None = None,
        multiplier: Tensor | None = None,
    ) -> Tensor:
        """Return one row of values for every query."""


def full_attention(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch head key dim"],
    v: Float[Tensor, "batch head key value"],
    *,
    mask: Bool[Tensor, "#batch #head #query #key"] | None = None,
    causal: bool = False,
    dropout: float = 0.0,
    bias: Float[Tensor, "#batch #head #query #key"] | None = None,
    multiplier: Float[Tensor, "#batch #head #query #key"] | None = None,
) -> Float[Tensor, "batch head query value"]:
    """Softmax attention of every query over every visible key.

    ``softmax(multiplier * (q @ k.T / sqrt(dim)) + bias) @ v``, equation 1 of [1]_ where there is
    neither multiplier nor bias. All but ``multiplier`` goes through the fused kernels of torch,
    which never hold the scores of all queries at once; a causal mask is spelt out only beside
    ``mask`` or ``bias``, or where there are fewer queries than keys. On a CPU, bfloat16 goes
    through them in float32, or through `tsformer.nn.kernels.short_attention` where the sequences
    are short.

    Parameters
    ----------
    q, k, v
        Queries, keys and values. Values may be wider or narrower than keys, and there may be more
        or fewer queries than keys.
    mask
        True where a query sees a key. A query that sees no key gets 0, never NaN.
    causal
        Whether a query sees only keys up to its own place. The last query stands at the last
        key, so that new queries against cached keys are placed right.
    dropout
        The share of attention weights that is dropped; the caller passes 0 in evaluation.
    bias, multiplier
        Added to, and multiplied into, the scaled scores. Learned ones make the kernels fall back
        to explicit scores, and ``multiplier`` always does: memory then grows as query times key.

    Examples
    --------
    >>> q = torch.zeros(1, 1, 3, 2)
    >>> v = torch.tensor([2.0, 4.0, 9.0]).reshape(1, 1, 3, 1)
    >>> full_attention(q, q, v).flatten()
    tensor([5., 5., 5.])
    >>> full_attention(q, q, v, causal=True).flatten()
    tensor([2., 3., 5.])
    """
    if multiplier is not None:
        weights = attention_weights(
            q, k, mask=mask, causal=causal, bias=bias, multiplier=multiplier
        )
        return functional.dropout(weights, dropout) @ v
    if mask is None and bias is None and (not causal or q.shape[-2] == k.shape[-2]):
        return fused_attention(q, k, v, dropout=dropout, causal=causal)
    added = None if bias is None else bias.to(q.dtype)
    always_seen = mask is None and (not causal or q.shape[-2] <= k.shape[-2])
    mask = _visible(q, k, mask, causal)
    sees_any = None
    if mask is not None:
        shown, sees_any = (mask, None) if always_seen else _never_empty(mask)
        added = shown if added is None else added.masked_fill(~shown, -torch.inf)
    output = fused_attention(q, k, v, mask=added, dropout=dropout)
    return output if sees_any is None else output.masked_fill(~sees_any, 0)


def attention_weights(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch head key dim"],
    *,
    mask: Bool[Tensor, "#batch #head #query #key"] | None = None,
    causal: bool = False,
    bias: Float[Tensor, "#batch #head #query #key"] | None = None,
    multiplier: Float[Tensor, "#batch #head #query #key"] | None = None,
) -> Float[Tensor, "batch head query key"]:
    """Return how much of each key every query takes: what `full_attention` multiplies values with.

    This is where memory for all queries times all keys is taken, and only if you ask.

    Parameters
    ----------
    q, k, mask, causal, bias, multiplier
        As in `full_attention`. A query that sees no key has weights of 0, every other one weights
        that sum to 1.

    Examples
    --------
    >>> attention_weights(torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 2, 4), causal=True)
    tensor([[[[1.0000, 0.0000],
              [0.5000, 0.5000]]]])
    """
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    if multiplier is not None:
        scores = scores * multiplier
    if bias is not None:
        scores = scores + bias
    wide = torch.promote_types(q.dtype, torch.float32)
    mask = _visible(q, k, mask, causal)
    sees_any = None
    if mask is not None:
        shown, sees_any = _never_empty(mask)
        scores = scores.masked_fill(~shown, -torch.inf)
    weights: Tensor = scores.softmax(-1, dtype=wide).to(q.dtype)
    return weights if sees_any is None else weights.masked_fill(~sees_any, 0)


def _visible(q: Tensor, k: Tensor, mask: Tensor | None, causal: bool) -> Tensor | None:
    if not causal:
        return mask
    seen = causal_mask(q, k)
    return seen if mask is None else mask & seen


def _never_empty(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Let a row without a key see all, and say which rows are not such.

    Kernels differ on a row without a key; this keeps its gradients finite, and it is set to 0
    afterwards.
    """
    sees_any = mask.any(-1, keepdim=True)
    return mask | ~sees_any, sees_any


class FullAttention(nn.Module):
    """The attend part in which every query sees every visible key.

    Parameters
    ----------
    dropout
        The share of attention weights dropped in training.

    Attributes
    ----------
    rows_compete
        False: a query's answer does not depend on the other queries, so callers that want some
        answers may leave the others out. An attend part without it is taken to compete.
    """

    rows_compete = False

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = dropout

    def forward(
        self,
        q: Float[Tensor, "batch head query dim"],
        k: Float[Tensor, "batch head key dim"],
        v: Float[Tensor, "batch head key value"],
        *,
        key_mask: Bool[Tensor, "batch key"] | None = None,
        query_mask: Bool[Tensor, "batch query"] | None = None,
        causal: bool = False,
        bias: Float[Tensor, "#batch #head #query #key"] | None = None,
        multiplier: Float[Tensor, "#batch #head #query #key"] | None = None,
    ) -> Float[Tensor, "batch head query value"]:
        """Return `full_attention`; rows do not compete, so ``query_mask`` changes nothing."""
        mask = None if key_mask is None else key_mask[:, None, None, :]
        dropout = self.dropout if self.training else 0.0
        return full_attention(
            q, k, v, mask=mask, causal=causal, dropout=dropout, bias=bias, multiplier=multiplier
        )
