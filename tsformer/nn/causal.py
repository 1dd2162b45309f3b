"""ProbSparse attention that is causal throughout: in its choice of rows and in its lazy rows too.

The published rule (the largest measures of all queries) looks ahead: whether a row is active
depends on later rows. The rule here looks back only.

- **Sample.** Rows stand in levels, 0 to 63, 64 to 127, 128 to 255, and so on. The rows of a level
  share one sample, spread over the keys from 0 to the level's end, and a row looks at those of
  them it can see. With ``sampling="per_query"`` each row has a sample of its own from the keys it
  sees. Neither depends on how long the sequence is.
- **Choice.** A row is active when its measure is above the ``factor``-th largest before it. Of
  ``t`` measures in no order, about ``factor * (1 + ln(t / factor))`` are; of normal queries and
  keys, whose first measures rise because they are taken over few keys, 1.3 times
  ``factor * ln(t)``. A row that sees no sampled key is active, and takes no part in the ranking;
  so is one whose measure is NaN, which is answered with NaN and never with a mean that hides it.
- **Lazy rows** get the mean of the values they see, not their sum.

What follows: changing queries, keys or values at ``t``, or appending steps, changes nothing before
``t`` (random samples, which are drawn for the length, aside). It has a price: a measure that keeps
rising makes every row active, and attention costs as much as full attention, with a mask spelt
out. The number of active rows depends on the data, so the host waits for it once a call and a
compiled graph breaks there.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tsformer.errors import ParameterError
from tsformer.nn.attention import full_attention
from tsformer.nn.measure import sampled_scores, sparsity_measure
from tsformer.nn.sampling import (
    UNIT,
    Sampling,
    at_offsets,
    logarithmic_count,
    logarithmic_counts,
    spread_offsets,
)

__all__ = [
    "causal_prob_sparse_attention",
    "cumulative_mean",
    "level_end",
    "running_threshold",
]

_FIRST_LEVEL = 64


def causal_prob_sparse_attention(
    q: Float[Tensor, "batch head time dim"],
    k: Float[Tensor, "batch head key dim"],
    v: Float[Tensor, "batch head key value"],
    *,
    factor: int = 5,
    key_mask: Bool[Tensor, "batch key"] | None = None,
    query_mask: Bool[Tensor, "batch time"] | None = None,
    sampling: Sampling = "shared",
    sample: Int[Tensor, "..."] | None = None,
    offsets: Int[Tensor, "..."] | None = None,
    dropout: float = 0.0,
    exact_first: int = 0,
) -> Float[Tensor, "batch head time value"]:
    """Attend over all earlier keys for the active queries; the others get the mean so far.

    Parameters
    ----------
    q, k, v, factor, key_mask, query_mask, sampling, sample, dropout
        As in `tsformer.nn.probsparse.prob_sparse_attention`. A query that does not count gets the
        mean so far.
    offsets
        Where in its stretch each sampled key stands, as `tsformer.nn.sampling.random_offsets` draws
        it for a length of `level_end`. None means `tsformer.nn.sampling.spread_offsets`.
    exact_first
        So many rows at the beginning are computed in full.

    Raises
    ------
    ParameterError
        If there are not as many queries as keys: the measures of the missing ones decide too.
    """
    length = q.shape[-2]
    if length != k.shape[-2]:
        raise ParameterError(
            f"causal ProbSparse with {length} queries and {k.shape[-2]} keys: the choice of rows "
            "needs the queries of all steps. Use FullAttention to decode with a cache."
        )
    first = min(exact_first, length)
    full = full_attention(
        q[:, :, :first],
        k[:, :, :first],
        v[:, :, :first],
        mask=None if key_mask is None else key_mask[:, None, None, :first],
        causal=True,
        dropout=dropout,
    )
    if first == length:
        return full
    active = _active_rows(
        q.detach(),
        k.detach(),
        factor=factor,
        key_mask=key_mask,
        query_mask=query_mask,
        sampling=sampling,
        sample=sample,
        offsets=offsets,
    )
    lazy = cumulative_mean(v, key_mask=key_mask)[:, :, first:]
    rest = _with_exact_rows(
        lazy, active[..., first:], q[:, :, first:], k, v, key_mask=key_mask, dropout=dropout
    )
    return torch.cat([full, rest], -2) if first else rest


def running_threshold(measure: Float[Tensor, "*row time"], rank: int) -> Float[Tensor, "*row time"]:
    """Return the ``rank``-th largest value before each place, ``-inf`` where there are fewer.

    ``rank`` passes of a running maximum: each hands on what its maximum leaves over.

    Examples
    --------
    >>> running_threshold(torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0]), 2)
    tensor([-inf, -inf, 1., 3., 3.])
    """
    before = measure
    for _ in range(min(rank, measure.shape[-1])):
        best = measure.cummax(-1).values
        before = torch.cat([torch.full_like(best[..., :1], -torch.inf), best[..., :-1]], -1)
        measure = torch.minimum(measure, before)
    return before if rank <= measure.shape[-1] else torch.full_like(before, -torch.inf)


def cumulative_mean(
    v: Float[Tensor, "batch head time value"],
    *,
    key_mask: Bool[Tensor, "batch time"] | None = None,
) -> Float[Tensor, "batch head time value"]:
    """Return the mean of the visible values up to each place, 0 where there is none yet.

    Examples
    --------
    >>> cumulative_mean(torch.tensor([2.0, 4.0, 9.0]).reshape(1, 1, 3, 1)).flatten()
    tensor([2., 3., 5.])
    """
    wide = torch.promote_types(v.dtype, torch.float32)  # counts above 256 leave bfloat16
    if key_mask is None:
        count = torch.arange(1, v.shape[-2] + 1, device=v.device)[:, None]
    else:
        v = v.masked_fill(~key_mask[:, None, :, None], 0)
        count = key_mask.cumsum(-1).clamp(min=1)[:, None, :, None]
    return (v.cumsum(-2, dtype=wide) / count).to(v.dtype)


def level_end(length: int) -> int:
    """Return where the last level of a sequence ends.

    Examples
    --------
    >>> [level_end(length) for length in (1, 64, 65, 720)]
    [64, 64, 128, 1024]
    """
    end = _FIRST_LEVEL
    while end < length:
        end *= 2
    return end


def _active_rows(
    q: Float[Tensor, "batch head time dim"],
    k: Float[Tensor, "batch head time dim"],
    *,
    factor: int,
    key_mask: Bool[Tensor, "batch time"] | None,
    query_mask: Bool[Tensor, "batch time"] | None,
    sampling: Sampling,
    sample: Int[Tensor, "..."] | None,
    offsets: Int[Tensor, "..."] | None,
) -> Bool[Tensor, "batch head time"]:
    """Return which rows are active.

    Padding moves to the end first: what a row gets then is what it gets without padding. ``seen``
    is how many keys a row sees; key ``r`` is seen where ``r < seen``.
    """
    seen = torch.arange(1, q.shape[-2] + 1, device=q.device)[None]
    rank = None if sample is None else _ranks(sample, sampling, q.shape[-2], key_mask)
    if key_mask is not None:
        seen = key_mask.cumsum(-1)
        k = k.take_along_dim(_visible_first(key_mask)[:, None, :, None], -2)
    order = None if query_mask is None else _visible_first(query_mask)
    if order is not None:
        q = q.take_along_dim(order[:, None, :, None], -2)
        seen = seen.take_along_dim(order, -1)
        if rank is not None and rank.shape[-2] > 1:
            rank = rank.take_along_dim(order[:, None, :, None], -2)
    if rank is not None:
        measure = _measure_at(q, k, rank, seen, sampling)
    elif sampling == "shared":
        measure = _measure_by_level(q, k, seen, factor, offsets)
    else:
        measure = _measure_by_row(q, k, seen, factor, offsets)
    # a measure of NaN loses every comparison, its own and those of all rows behind it
    unranked = measure.isposinf() | measure.isnan()
    ranked = measure.masked_fill(unranked, -torch.inf)
    active = (ranked > running_threshold(ranked, factor)) | unranked
    active = active & (seen > 0)[:, None]
    if query_mask is None or order is None:
        return active
    active = active & query_mask.take_along_dim(order, -1)[:, None]
    return torch.zeros_like(active).scatter(-1, order[:, None].expand_as(active), active)


def _measure_by_level(
    q: Tensor, k: Tensor, seen: Tensor, factor: int, offsets: Tensor | None
) -> Float[Tensor, "batch head time"]:
    """One sample for all rows of a level: a matrix product a level."""
    offsets = spread_offsets(q, "shared") if offsets is None else offsets
    start, stop, parts = 0, _FIRST_LEVEL, []
    while start < q.shape[-2]:
        drawn = offsets[:, : logarithmic_count(stop, factor)]
        rank = at_offsets(drawn, stop, factor, None)[None, :, None]
        parts.append(_measure_at(q[:, :, start:stop], k, rank, seen[:, start:stop], "shared"))
        start, stop = stop, 2 * stop
    return torch.cat(parts, -1)


def _measure_by_row(
    q: Tensor, k: Tensor, seen: Tensor, factor: int, offsets: Tensor | None
) -> Float[Tensor, "batch head time"]:
    """One sample for each row, of as many keys as ProbSparse takes of those it sees."""
    offsets = spread_offsets(q, "per_query") if offsets is None else offsets
    slot = torch.arange(logarithmic_count(level_end(q.shape[-2]), factor), device=q.device)
    seen = seen[:, None, :, None]
    count = logarithmic_counts(seen, factor)
    rank = (slot * UNIT + offsets) * seen // (count.clamp(min=1) * UNIT)
    return _measure_at(
        q, k, rank.masked_fill(slot >= count, q.shape[-2]), seen[:, 0, :, 0], "per_query"
    )


def _measure_at(
    q: Tensor, k: Tensor, rank: Tensor, seen: Tensor, sampling: Sampling
) -> Float[Tensor, "batch head time"]:
    """Return the measure over those keys of the sample that each row sees."""
    place = rank.clamp(max=k.shape[-2] - 1)
    scores, _ = sampled_scores(q, k, place[..., 0, :] if sampling == "shared" else place, sampling)
    return sparsity_measure(scores, rank < seen[:, None, :, None])


def _ranks(
    sample: Tensor, sampling: Sampling, length: int, key_mask: Tensor | None
) -> Int[Tensor, "batch head query sampled"]:
    """Return the places of a given sample, counted over visible keys; hidden ones are at the end.

    Axes that the sample does not have are 1.
    """
    place = sample.unsqueeze(-2) if sampling == "shared" else sample
    place = place[(None,) * (4 - place.ndim)]
    if key_mask is None:
        return place.masked_fill(place < 0, length)
    ranks = (key_mask.cumsum(-1) - 1).masked_fill(~key_mask, length)[:, None, None, :]
    return ranks.take_along_dim(place.clamp(min=0), -1).masked_fill(place < 0, length)


def _visible_first(mask: Bool[Tensor, "batch time"]) -> Int[Tensor, "batch time"]:
    """Return the places where the mask is True, then the others, each in their order."""
    return (~mask).to(torch.uint8).argsort(dim=-1, stable=True)


def _with_exact_rows(
    lazy: Float[Tensor, "batch head row value"],
    active: Bool[Tensor, "batch head row"],
    q: Float[Tensor, "batch head row dim"],
    k: Float[Tensor, "batch head time dim"],
    v: Float[Tensor, "batch head time value"],
    *,
    key_mask: Bool[Tensor, "batch time"] | None,
    dropout: float,
) -> Float[Tensor, "batch head row value"]:
    """Put exact answers in the place of the active rows; the rows are the last of the times."""
    count = active.sum(-1)
    width = int(count.max())  # here the host waits
    if width == 0:
        return lazy
    row = active.to(torch.float32).topk(width).indices
    time = torch.arange(k.shape[-2], device=q.device)
    visible = time <= row[..., None] + (k.shape[-2] - q.shape[-2])
    if key_mask is not None:
        visible = visible & key_mask[:, None, None]
    picked = q.take_along_dim(row[..., None], -2)
    exact = full_attention(picked, k, v, mask=visible, dropout=dropout)
    lazy = lazy.to(exact.dtype)
    # Heads with fewer active rows fill up with others, which keep what they have.
    within = torch.arange(width, device=q.device) < count[..., None]
    kept = torch.where(within[..., None], exact, lazy.take_along_dim(row[..., None], -2))
    return lazy.scatter(-2, row[..., None].expand_as(kept), kept)
