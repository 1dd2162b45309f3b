"""Which queries are far from attending uniformly, judged by a sample of the keys.

References
----------
.. [1] Zhou et al. (2021), Informer: beyond efficient transformer for long sequence time-series
   forecasting, AAAI, arXiv:2012.07436.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tsformer.nn.sampling import Sampling, logarithmic_count, logarithmic_counts

__all__ = ["most_active", "sampled_scores", "sparsity_measure"]


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
    scale = q.shape[-1] ** -0.5
    if sampling == "shared":  # few keys are scaled, not many queries
        return q @ (scale * k.take_along_dim(place[:, :, 0, :, None], -2)).mT, counts
    keys = k[:, :, None].take_along_dim(place[..., None], -2)  # a copy of keys for every query
    return (keys @ (scale * q)[..., None])[..., 0], counts


def sparsity_measure(
    scores: Float[Tensor, "batch head query sampled"],
    sampled: Bool[Tensor, "#batch #head #query sampled"] | None = None,
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
