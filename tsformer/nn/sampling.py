"""Which keys ProbSparse attention looks at when it ranks queries, and how many.

A sample takes one key from each of equal stretches of the visible keys: at a fixed place in
evaluation, at a random place in training. A sample as large as the keys is all keys.

References
----------
.. [1] Zhou et al. (2021), Informer: beyond efficient transformer for long sequence time-series
   forecasting, AAAI, arXiv:2012.07436.
"""

import math
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

__all__ = [
    "UNIT",
    "Sampling",
    "at_offsets",
    "logarithmic_count",
    "logarithmic_counts",
    "random_offsets",
    "random_sample",
    "spread_offsets",
    "spread_sample",
]

Sampling = Literal["shared", "per_query"]

UNIT = 2**24
"""Offsets into a stretch are whole numbers of this many parts of it, so that none is rounded."""
_GOLDEN = round(UNIT * (math.sqrt(5) - 1) / 2)


def logarithmic_count(length: int, factor: int) -> int:
    """Return ``factor * ceil(ln length)``, at least 1 and at most ``length``.

    Lines 1 and 2 of Algorithm 1 in [1]_: the number of active queries and of sampled keys.

    Examples
    --------
    >>> [logarithmic_count(length, 5) for length in (1, 4, 96, 720)]
    [1, 4, 25, 35]
    """
    return max(1, min(length, factor * math.ceil(math.log(length))))


def logarithmic_counts(lengths: Int[Tensor, "*row"], factor: int) -> Int[Tensor, "*row"]:
    """Return `logarithmic_count` of every length, and 0 for a length of 0."""
    counts = factor * lengths.clamp(min=1).double().log().ceil().long()
    return torch.minimum(lengths, counts.clamp(min=1))


def spread_sample(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch head key dim"],
    *,
    factor: int = 5,
    sampling: Sampling = "shared",
    key_mask: Bool[Tensor, "batch key"] | None = None,
) -> Int[Tensor, "..."]:
    """Return the fixed sample, shifted from head to head (and from query to query).

    It depends on the shapes and the mask only, and no key comes twice. The shifts follow the
    golden ratio, so that any number of heads covers a stretch evenly.

    Parameters
    ----------
    q, k
        Queries and keys, for their shapes and device.
    factor
        `logarithmic_count` of the visible keys are sampled.
    sampling
        One sample for each head (``"shared"``) or for each head and query (``"per_query"``).
    key_mask
        True for visible keys; the stretches then are stretches of visible keys.

    Returns
    -------
    Places of keys, ``(head, sampled)`` when shared and ``(head, query, sampled)`` when per query.
    With ``key_mask`` there is ``batch`` in front, and ``-1`` stands where a row has fewer
    sampled keys than there is room for.

    Examples
    --------
    >>> q = torch.zeros(1, 2, 20, 4)
    >>> spread_sample(q, q, factor=2)
    tensor([[ 1,  5,  8, 11, 15, 18],
            [ 0,  3,  7, 10, 13, 17]])
    """
    return at_offsets(spread_offsets(q, sampling), k.shape[2], factor, key_mask)


def random_sample(
    q: Float[Tensor, "batch head query dim"],
    k: Float[Tensor, "batch head key dim"],
    *,
    factor: int = 5,
    sampling: Sampling = "shared",
    key_mask: Bool[Tensor, "batch key"] | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "..."]:
    """Draw a sample; all rows of a batch share the draw.

    Every key is equally likely. A key that lies in two stretches may come twice.

    Parameters and shapes are those of `spread_sample`. Without a ``generator`` the draw comes
    from torch's default one.

    Examples
    --------
    >>> q = torch.zeros(1, 2, 3, 4)
    >>> random_sample(q, q, generator=torch.Generator().manual_seed(0))
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    stretches = logarithmic_count(k.shape[2], factor)
    offsets = random_offsets(q, stretches, sampling, generator)
    return at_offsets(offsets, k.shape[2], factor, key_mask)


def spread_offsets(
    q: Float[Tensor, "batch head query dim"], sampling: Sampling
) -> Int[Tensor, "*asker 1"]:
    """Return the fixed offset of each head (and query) into all its stretches."""
    head = torch.arange(q.shape[1], device=q.device)[:, None]
    query = torch.arange(q.shape[2] if sampling == "per_query" else 1, device=q.device)
    offsets = ((head + q.shape[1] * query) * _GOLDEN + UNIT // 2) % UNIT
    return offsets if sampling == "shared" else offsets[..., None]


def random_offsets(
    q: Float[Tensor, "batch head query dim"],
    stretches: int,
    sampling: Sampling,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "*asker {stretches}"]:
    """Draw an offset of each head (and query) into each of its stretches."""
    askers = (q.shape[1], q.shape[2]) if sampling == "per_query" else (q.shape[1],)
    shape = (*askers, stretches)
    drawn_on = q.device if generator is None else generator.device
    return torch.randint(UNIT, shape, generator=generator, device=drawn_on).to(q.device)


def at_offsets(
    offsets: Int[Tensor, "*asker #sampled"],
    length: int,
    factor: int,
    key_mask: Bool[Tensor, "batch key"] | None,
) -> Int[Tensor, "..."]:
    """Return the key at each offset into its stretch; the last axis runs over the stretches."""
    count = logarithmic_count(length, factor)
    slot = torch.arange(count, device=offsets.device)
    reach = slot * UNIT + offsets
    if key_mask is None:
        return reach * length // (count * UNIT)
    per_row = (-1,) + (1,) * reach.ndim
    visible = key_mask.sum(-1)
    counts = logarithmic_counts(visible, factor).view(per_row)
    rank = reach * visible.view(per_row) // (counts.clamp(min=1) * UNIT)
    # The visible key of rank r is the first one where the running count reaches r + 1.
    place = torch.searchsorted(key_mask.cumsum(-1), rank.flatten(1) + 1).view_as(rank)
    return place.masked_fill(slot >= counts, -1)
