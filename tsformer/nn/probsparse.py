"""ProbSparse attention of the Informer: exact answers for the few queries that need them.

Most queries attend almost uniformly, so their answer is close to the mean of the values. A few
sampled keys are enough to tell which queries do not; those get softmax attention over all keys.

Two counts decide the cost, both ``factor * ceil(ln length)``, clamped to the length: how many keys
are sampled and how many queries are active. Time and memory grow as ``length * ln(length)``.
Causal attention chooses its rows by another rule, in `tsformer.nn.causal`.

References
----------
.. [1] Zhou et al. (2021), Informer: beyond efficient transformer for long sequence time-series
   forecasting, AAAI, arXiv:2012.07436.
"""

from typing import get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.attention import full_attention
from tsformer.nn.causal import causal_prob_sparse_attention, level_end
from tsformer.nn.measure import most_active, sampled_scores, sparsity_measure
from tsformer.nn.sampling import (
    Sampling,
    at_offsets,
    logarithmic_count,
    random_offsets,
    spread_offsets,
)

__all__ = ["CAUSAL_EXACT_BELOW", "EXACT_BELOW", "ProbSparse", "mean_value", "prob_sparse_attention"]

EXACT_BELOW = 96
"""Shorter sequences are attended in full.

Measured on two CPU threads, forward and backward in float32, 8 heads of 64, against fused exact
attention: 0.8 times as fast at 48 steps, 1.0 at 84, 1.2 at 96, 2 at 144, 3.3 at 336, 13 at
1,440."""

CAUSAL_EXACT_BELOW = 256
"""So many first rows are attended in full in causal attention.

Measured as above against fused causal attention, which skips half of the work: 0.6 times as fast
at 96 steps, 0.9 at 192, 1.1 at 256, 1.4 at 336, 4 at 1,440, 7 at 2,880, 15 at 5,760."""


def prob_sparse_attention(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch head key dim"],
    v: Float[Tensor, "batch head key value"],
    *,
    factor: int = 5,
    causal: bool = False,
    key_mask: Bool[Tensor, "batch key"] | None = None,
    query_mask: Bool[Tensor, "batch query"] | None = None,
    sampling: Sampling = "shared",
    sample: Int[Tensor, "..."] | None = None,
    generator: torch.Generator | None = None,
    dropout: float = 0.0,
    exact_below: int | None = None,
) -> Float[Tensor, "batch head query value"]:
    """Attend over all visible keys for the active queries; the others get the mean value.

    Equation 3 and Algorithm 1 of [1]_. Queries are ranked by `sparsity_measure` over a sample of
    the visible keys; the choice carries no gradient, the answers do. With every query active this
    is `tsformer.nn.attention.full_attention`. A query that holds NaN, or meets one in a sampled
    key, gets NaN as there.

    Parameters
    ----------
    q, k, v
        Queries, keys and values.
    factor
        The constant c of the paper: `logarithmic_count` of the keys are sampled, and as many of
        the queries are active. In causal attention: a query is active when its measure is among
        the ``factor`` largest so far.
    causal
        Whether a step sees only itself and what came before it, in the choice of active queries
        and in the mean too; see `tsformer.nn.causal` for the rule, its guarantees and its cost.
    key_mask
        True for visible keys. Hidden keys are neither sampled nor attended to, nor part of the
        mean; a row of the batch without a visible key gets 0.
    query_mask
        True for the queries that count; the others are never active. With both masks a padded
        row gets what it gets without its padding (if ``sampling="per_query"``: for padding on the
        right). Only ``exact_below`` looks at the padded length.
    sampling
        ``"shared"``: one sample per head, as Algorithm 1 is printed, so that the measure is one
        matrix product. ``"per_query"``: one for every query, as in the authors' code; slower, for
        comparison.
    sample
        Places of the sampled keys, for callers that draw their own: ``(head, sampled)`` when
        shared, ``(query, sampled)`` or ``(head, query, sampled)`` when per query, optionally
        with ``batch`` in front. Under a ``key_mask``, hidden keys and ``-1`` are skipped; a
        causal query skips those after it.
    generator
        What a `random_sample` is drawn from. None means the `spread_sample`, which is fixed, so
        that evaluation is deterministic and touches no generator.
    dropout
        The share of attention weights dropped in the active rows.
    exact_below
        When neither length reaches it, all rows are computed in full; in causal attention, the
        first ``exact_below`` rows of any length are. None means `EXACT_BELOW`, or
        `CAUSAL_EXACT_BELOW`; 0 never.

    Raises
    ------
    ParameterError
        If ``factor`` is below 1, ``sampling`` is unknown, ``sample`` and ``generator`` are both
        given, or causal attention has not as many queries as keys.

    Examples
    --------
    >>> q, k, v = torch.randn(3, 1, 2, 200, 8)
    >>> answer = prob_sparse_attention(q, k, v)
    >>> mean = v.mean(-2, keepdim=True)
    >>> (answer - mean).abs().amax(-1).gt(1e-6).sum(-1)  # active queries of each head
    tensor([[30, 30]])
    """
    _check(factor, sampling)
    if sample is not None and generator is not None:
        raise ParameterError("sample and generator are both given; pass one of them")
    offsets = None
    if generator is not None:
        offsets = random_offsets(q, _stretches(k, factor, causal), sampling, generator)
    return _prob_sparse(
        q,
        k,
        v,
        factor=factor,
        causal=causal,
        key_mask=key_mask,
        query_mask=query_mask,
        sampling=sampling,
        sample=sample,
        offsets=offsets,
        dropout=dropout,
        exact_below=exact_below,
    )


def _prob_sparse(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    factor: int,
    causal: bool,
    key_mask: Tensor | None,
    query_mask: Tensor | None,
    sampling: Sampling,
    sample: Tensor | None,
    offsets: Tensor | None,
    dropout: float,
    exact_below: int | None,
) -> Tensor:
    """Choose between full, causal and two-sided attention; a sample may be given by offsets."""
    if exact_below is None:
        exact_below = CAUSAL_EXACT_BELOW if causal else EXACT_BELOW
    visible = None if key_mask is None else key_mask[:, None, None, :]
    if max(q.shape[-2], k.shape[-2]) < exact_below:
        return full_attention(q, k, v, mask=visible, causal=causal, dropout=dropout)
    if causal:
        return causal_prob_sparse_attention(
            q,
            k,
            v,
            factor=factor,
            key_mask=key_mask,
            query_mask=query_mask,
            sampling=sampling,
            sample=sample,
            offsets=offsets,
            dropout=dropout,
            exact_first=exact_below,
        )
    if sample is None:
        offsets = spread_offsets(q, sampling) if offsets is None else offsets
        sample = at_offsets(offsets, k.shape[2], factor, key_mask)
    scores, sampled = sampled_scores(q.detach(), k.detach(), sample, sampling, key_mask=key_mask)
    measure = sparsity_measure(scores, sampled)
    active, within = most_active(measure, factor, query_mask=query_mask)
    mean = mean_value(v, key_mask=key_mask)  # before the rest: its gradient then is taken last
    exact = full_attention(
        q.take_along_dim(active[..., None], -2), k, v, mask=visible, dropout=dropout
    )
    mean, spoilt = mean.to(exact.dtype), _nothing_or_nan(measure, query_mask, exact.dtype)
    if within is not None:
        lazy = mean + spoilt.gather(-1, active)[..., None]
        exact = torch.where(within[..., None], exact, lazy)
    rows = mean + spoilt[..., None]
    return rows.scatter_(-2, active[..., None].expand_as(exact), exact)  # rows are a fresh tensor


def _nothing_or_nan(
    measure: Float[Tensor, "batch head query"],
    query_mask: Bool[Tensor, "batch query"] | None,
    kind: torch.dtype,
) -> Float[Tensor, "batch head query"]:
    """0, and NaN where the measure of a query that counts is: the mean would hide it.

    There may be more such queries than active ones.
    """
    spoilt = measure.isnan()
    if query_mask is not None:
        spoilt = spoilt & query_mask[:, None]
    return torch.zeros_like(measure, dtype=kind).masked_fill(spoilt, torch.nan)


def mean_value(
    v: Float[Tensor, "batch head key value"],
    *,
    key_mask: Bool[Tensor, "batch key"] | None = None,
) -> Float[Tensor, "batch head 1 value"]:
    """Return the mean of the visible values, 0 where none is visible: line 7 of Algorithm 1."""
    if key_mask is None:
        return v.mean(-2, keepdim=True)
    # Counts above 256 are not whole in bfloat16.
    wide = torch.promote_types(v.dtype, torch.float32)
    total = v.masked_fill(~key_mask[:, None, :, None], 0).sum(-2, keepdim=True, dtype=wide)
    return (total / key_mask.sum(-1).clamp(min=1)[:, None, None, None]).to(v.dtype)


def _stretches(k: Tensor, factor: int, causal: bool) -> int:
    """Return how many keys are sampled; a causal sample may reach past the end."""
    return logarithmic_count(level_end(k.shape[2]) if causal else k.shape[2], factor)


def _check(factor: int, sampling: str) -> None:
    if factor < 1:
        raise ParameterError(f"factor={factor} is out of range; it must be at least 1")
    if sampling not in get_args(Sampling):
        raise ParameterError(f"sampling={sampling!r} is unknown; use 'shared' or 'per_query'")


class ProbSparse(nn.Module):
    """The attend part of the Informer: `prob_sparse_attention`.

    In training every call draws its sample from torch's default generator, by one explicit
    ``torch.randint``; training runs in a forked, seeded scope. In evaluation the sample is
    fixed and nothing is drawn. Scores of rows that are not active are never computed, so there is
    nothing to add a learned bias to: it takes no ``bias`` and no ``multiplier``.

    Parameters
    ----------
    factor, sampling, exact_below
        As in `prob_sparse_attention`.
    dropout
        The share of attention weights dropped in training.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or if it is called with ``bias`` or ``multiplier``.

    Examples
    --------
    >>> attend = ProbSparse(factor=3).eval()
    >>> q = torch.randn(2, 4, 300, 8)
    >>> attend(q, q, q).equal(attend(q, q, q))
    True
    """

    def __init__(
        self,
        factor: int = 5,
        *,
        sampling: Sampling = "shared",
        dropout: float = 0.0,
        exact_below: int | None = None,
    ) -> None:
        super().__init__()
        _check(factor, sampling)
        self.factor = factor
        self.sampling: Sampling = sampling
        self.dropout = dropout
        self.exact_below = exact_below

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
        """Return one row of values for every query."""
        if bias is not None or multiplier is not None:
            raise ParameterError(
                "ProbSparse takes no bias on the scores: most scores are never computed. Use "
                "FullAttention, or RotaryPositions, which ProbSparse can have."
            )
        offsets = None
        if self.training:
            offsets = random_offsets(q, _stretches(k, self.factor, causal), self.sampling)
        return _prob_sparse(
            q,
            k,
            v,
            factor=self.factor,
            causal=causal,
            key_mask=key_mask,
            query_mask=query_mask,
            sampling=self.sampling,
            sample=None,
            offsets=offsets,
            dropout=self.dropout if self.training else 0.0,
            exact_below=self.exact_below,
        )
