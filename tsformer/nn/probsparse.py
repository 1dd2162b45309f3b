"""ProbSparse attention of the Informer: exact answers for the few queries that need them.

Most queries attend almost uniformly, so their answer is close to the mean of the values. A few
sampled keys are enough to tell which queries do not; those get softmax attention over all keys.

Two counts decide the cost, both ``factor * ceil(ln length)``, clamped to the length: how many keys
are sampled and how many queries are active. Time and memory grow as ``length * ln(length)``.

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
from tsformer.nn.sampling import (
    Sampling,
    logarithmic_count,
    logarithmic_counts,
    random_sample,
    spread_sample,
)

__all__ = [
    "EXACT_BELOW",
    "ProbSparse",
    "mean_value",
    "most_active",
    "prob_sparse_attention",
    "sampled_scores",
    "sparsity_measure",
]

EXACT_BELOW = 96
"""Shorter sequences are attended in full. The attention speed experiment measures from which
length on it is cheaper to choose rows than to compute them all."""


def prob_sparse_attention(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch head key dim"],
    v: Float[Tensor, "batch head key value"],
    *,
    factor: int = 5,
    key_mask: Bool[Tensor, "batch key"] | None = None,
    query_mask: Bool[Tensor, "batch query"] | None = None,
    sampling: Sampling = "shared",
    sample: Int[Tensor, "..."] | None = None,
    generator: torch.Generator | None = None,
    dropout: float = 0.0,
    exact_below: int | None = None,
) -> Float[Tensor, "batch head query value"]:
    """Attend over all visible keys for the active queries; the others get the mean value.

    Equation 3 and Algorithm 1 of [1]_, without a causal mask. Queries are ranked by
    `sparsity_measure` over a sample of the visible keys; the choice carries no gradient, the
    answers do. With every query active this is `tsformer.nn.attention.full_attention`.

    Parameters
    ----------
    q, k, v
        Queries, keys and values.
    factor
        The constant c of the paper: `logarithmic_count` of the keys are sampled, and as many of
        the queries are active.
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
        with ``batch`` in front. Under a ``key_mask``, hidden keys and ``-1`` are skipped.
    generator
        What a `random_sample` is drawn from. None means the `spread_sample`, which is fixed, so
        that evaluation is deterministic and touches no generator.
    dropout
        The share of attention weights dropped in the active rows.
    exact_below
        When neither length reaches it, all rows are computed in full. None means `EXACT_BELOW`,
        0 never.

    Raises
    ------
    ParameterError
        If ``factor`` is below 1, ``sampling`` is unknown, or ``sample`` and ``generator`` are
        both given.

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
    visible = None if key_mask is None else key_mask[:, None, None, :]
    if max(q.shape[-2], k.shape[-2]) < (EXACT_BELOW if exact_below is None else exact_below):
        return full_attention(q, k, v, mask=visible, dropout=dropout)
    if sample is None and generator is None:
        sample = spread_sample(q, k, factor=factor, sampling=sampling, key_mask=key_mask)
    elif sample is None:
        sample = random_sample(
            q, k, factor=factor, sampling=sampling, key_mask=key_mask, generator=generator
        )
    scores, sampled = sampled_scores(q.detach(), k.detach(), sample, sampling, key_mask=key_mask)
    active, within = most_active(sparsity_measure(scores, sampled), factor, query_mask=query_mask)
    exact = full_attention(
        q.take_along_dim(active[..., None], -2), k, v, mask=visible, dropout=dropout
    )
    mean = mean_value(v, key_mask=key_mask).to(exact.dtype)
    if within is not None:
        exact = torch.where(within[..., None], exact, mean)
    rows = mean.expand(-1, -1, q.shape[-2], -1)
    return rows.scatter(-2, active[..., None].expand_as(exact), exact)


def sampled_scores(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch head key dim"],
    sample: Int[Tensor, "..."],
    sampling: Sampling = "shared",
    *,
    key_mask: Bool[Tensor, "batch key"] | None = None,
) -> tuple[
    Float[Tensor, "batch head query sampled"], Bool[Tensor, "batch #head #query sampled"] | None
]:
    """Return the scaled scores against the sampled keys, and which of those keys count.

    Line 3 of Algorithm 1 in [1]_. ``sample`` has the shapes of `prob_sparse_attention`; without
    a ``key_mask`` all of it counts and the second value is None.
    """
    place = sample.unsqueeze(-2) if sampling == "shared" else sample
    place = place[(None,) * (4 - place.ndim)]  # batch, head and query may be 1
    counts = None
    if key_mask is not None:
        hidden = place < 0
        place = place.clamp(min=0)
        counts = key_mask[:, None, None, :].take_along_dim(place, -1) & ~hidden
    scaled = q * q.shape[-1] ** -0.5
    if sampling == "shared":
        return scaled @ k.take_along_dim(place[:, :, 0, :, None], -2).mT, counts
    keys = k[:, :, None].take_along_dim(place[..., None], -2)  # a copy of keys for every query
    return (keys @ scaled[..., None])[..., 0], counts


def sparsity_measure(
    scores: Float[Tensor, "batch head query sampled"],
    sampled: Bool[Tensor, "batch #head #query sampled"] | None = None,
) -> Float[Tensor, "batch head query"]:
    """Return how far each query is from attending uniformly: the largest score minus the mean.

    Equation 4 of [1]_ over the sampled keys. The mean divides by the number of sampled keys, so
    that a constant added to all scores changes nothing. A query that no sampled key speaks for
    gets ``inf``: nothing shows that the mean would do for it.

    Examples
    --------
    >>> sparsity_measure(torch.tensor([[[[1.0, 1.0, 1.0], [0.0, 0.0, 6.0]]]]))
    tensor([[[0., 4.]]])
    """
    if sampled is None:
        return scores.amax(-1) - scores.mean(-1)
    count = sampled.sum(-1)
    largest = scores.masked_fill(~sampled, -torch.inf).amax(-1)
    mean = scores.masked_fill(~sampled, 0).sum(-1) / count.clamp(min=1)
    return (largest - mean).masked_fill(count == 0, torch.inf)


def most_active(
    measure: Float[Tensor, "batch head query"],
    factor: int,
    *,
    query_mask: Bool[Tensor, "batch query"] | None = None,
) -> tuple[Int[Tensor, "batch head active"], Bool[Tensor, "batch 1 active"] | None]:
    """Return the queries of largest measure, and which of them are within their row's count.

    Lines 5 and 6 of Algorithm 1 in [1]_. Rows with fewer queries that count have fewer active
    ones; without a ``query_mask`` all are within the count and the second value is None.
    """
    count = logarithmic_count(measure.shape[-1], factor)
    if query_mask is None:
        return measure.topk(count, sorted=False).indices, None
    active = measure.masked_fill(~query_mask[:, None], -torch.inf).topk(count).indices
    counts = logarithmic_counts(query_mask.sum(-1), factor)[:, None, None]
    return active, torch.arange(count, device=measure.device) < counts


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


def _check(factor: int, sampling: str) -> None:
    if factor < 1:
        raise ParameterError(f"factor={factor} is out of range; it must be at least 1")
    if sampling not in get_args(Sampling):
        raise ParameterError(f"sampling={sampling!r} is unknown; use 'shared' or 'per_query'")


class ProbSparse(nn.Module):
    """The attend part of the Informer's encoder: `prob_sparse_attention`.

    In training every call draws its sample from torch's default generator, by one explicit
    ``torch.randint``; training runs in a forked, seeded scope. In evaluation the sample is
    fixed and nothing is drawn.

    Parameters
    ----------
    factor, sampling, exact_below
        As in `prob_sparse_attention`.
    dropout
        The share of attention weights dropped in training.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or if it is called with ``causal=True``.

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
    ) -> Float[Tensor, "batch head query value"]:
        """Return one row of values for every query."""
        if causal:
            raise ParameterError(
                "ProbSparse has no causal mode: whether a row is active depends on later rows. "
                "Use FullAttention for causal attention."
            )
        sample = None
        if self.training:
            sample = random_sample(
                q, k, factor=self.factor, sampling=self.sampling, key_mask=key_mask
            )
        return prob_sparse_attention(
            q,
            k,
            v,
            factor=self.factor,
            key_mask=key_mask,
            query_mask=query_mask,
            sampling=self.sampling,
            sample=sample,
            dropout=self.dropout if self.training else 0.0,
            exact_below=self.exact_below,
        )
