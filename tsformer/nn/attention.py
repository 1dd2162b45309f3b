"""Scaled dot-product attention: one pure function, and the modules that carry its weights.

An *attend part* is a module without weights, called as
``attend(q, k, v, *, key_mask=None, query_mask=None, causal=False)`` on tensors of shape
``(batch, head, time, dim)``. `FullAttention` here and `tsformer.nn.probsparse.ProbSparse` are two
of them; `MultiHeadAttention` takes any.
"""

from typing import Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from tsformer.errors import ParameterError
from tsformer.nn.dropout import Dropout

__all__ = ["Attend", "FullAttention", "KeyValueCache", "MultiHeadAttention", "full_attention"]


class Attend(Protocol):
    """What `MultiHeadAttention` asks of an attend part; masks are True where visible."""

    def __call__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        key_mask: Tensor | None = None,
        query_mask: Tensor | None = None,
        causal: bool = False,
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
) -> Float[Tensor, "batch head query value"]:
    """Softmax attention of every query over every visible key.

    ``softmax(q @ k.T / sqrt(dim)) @ v``, equation 1 of [1]_, through the fused kernels of torch.

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

    References
    ----------
    .. [1] Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.

    Examples
    --------
    >>> q = torch.zeros(1, 1, 3, 2)
    >>> v = torch.tensor([2.0, 4.0, 9.0]).reshape(1, 1, 3, 1)
    >>> full_attention(q, q, v).flatten()
    tensor([5., 5., 5.])
    >>> full_attention(q, q, v, causal=True).flatten()
    tensor([2., 3., 5.])
    """
    queries, keys = q.shape[-2], k.shape[-2]
    if causal and (mask is not None or queries != keys):
        seen = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
        mask = seen[None, None] if mask is None else mask & seen
    if mask is None:
        return functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=causal)
    sees_any = mask.any(-1, keepdim=True)
    # Kernels differ on a row without a key: let it see all, which keeps gradients finite, and
    # set it to 0 afterwards.
    output = functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask | ~sees_any, dropout_p=dropout
    )
    return output.masked_fill(~sees_any, 0)


class FullAttention(nn.Module):
    """The attend part in which every query sees every visible key.

    Parameters
    ----------
    dropout
        The share of attention weights dropped in training.
    """

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
    ) -> Float[Tensor, "batch head query value"]:
        """Return `full_attention`; rows do not compete, so ``query_mask`` changes nothing."""
        mask = None if key_mask is None else key_mask[:, None, None, :]
        dropout = self.dropout if self.training else 0.0
        return full_attention(q, k, v, mask=mask, causal=causal, dropout=dropout)


class KeyValueCache:
    """The projected keys and values of one attention layer, kept between decoding steps.

    Give a fresh one to the first step and the same one to every later step. In self-attention it
    grows by the new steps; in cross-attention it holds the memory, which is projected once.
    """

    def __init__(self) -> None:
        self.projected: tuple[Tensor, Tensor] | None = None

    def __len__(self) -> int:
        """Return the number of steps held."""
        return 0 if self.projected is None else self.projected[0].shape[-2]

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add new steps and return all keys and values so far."""
        if self.projected is not None:
            earlier_k, earlier_v = self.projected
            k, v = torch.cat([earlier_k, k], -2), torch.cat([earlier_v, v], -2)
        self.projected = k, v
        return k, v


class MultiHeadAttention(nn.Module):
    """Attention in several heads, between steps of one sequence or from one sequence to another.

    Parameters
    ----------
    d_model
        Width of a step, in and out.
    heads
        Number of heads; must divide ``d_model``.
    attend
        The attend part. It owns no weights, so several layers may share one.
    dropout
        Dropout of the output. Leave it 0 inside a block that drops its branches itself.

    Raises
    ------
    ParameterError
        If ``heads`` does not divide ``d_model``.

    Examples
    --------
    >>> attention = MultiHeadAttention(8, 2, attend=FullAttention())
    >>> attention(torch.randn(4, 10, 8)).shape
    torch.Size([4, 10, 8])
    """

    def __init__(
        self, d_model: int, heads: int, *, attend: nn.Module, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if heads < 1 or d_model % heads:
            raise ParameterError(
                f"heads={heads} does not divide d_model={d_model}; choose d_model as a multiple "
                f"of heads, such as {max(heads, 1) * max(1, round(d_model / max(heads, 1)))}"
            )
        self.d_model = d_model
        self.heads = heads
        self.attend: Attend = attend
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        queries: Float[Tensor, "batch query d_model"],
        keys: Float[Tensor, "batch key d_model"] | None = None,
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Return one step for every query.

        Parameters
        ----------
        queries
            The steps that ask.
        keys
            The steps that are asked; None means the queries themselves (self-attention).
        key_mask
            True for the steps that may be seen, the cached ones included. In self-attention it
            also says which queries count.
        causal
            Whether a step sees only itself and what came before it.
        cache
            What earlier calls projected: steps before ``queries`` in self-attention, the whole
            of ``keys`` in cross-attention (``keys`` is then read by the first call only).
        """
        q = self._split(self.query(queries))
        if keys is not None and cache is not None and cache.projected is not None:
            k, v = cache.projected
        else:
            source = queries if keys is None else keys
            k, v = self._split(self.key(source)), self._split(self.value(source))
            if cache is not None:
                k, v = cache.append(k, v)
        query_mask = None
        if keys is None and key_mask is not None:
            query_mask = key_mask[:, key_mask.shape[-1] - queries.shape[-2] :]
        attended = self.attend(q, k, v, key_mask=key_mask, query_mask=query_mask, causal=causal)
        output: Tensor = self.dropout(self.output(attended.transpose(1, 2).flatten(-2)))
        return output

    def _split(
        self, steps: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch head time dim"]:
        return torch.unflatten(steps, -1, (self.heads, -1)).transpose(1, 2)
