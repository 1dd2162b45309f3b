"""How far apart two steps are, for the scores of attention: rotary positions and relative biases.

Both look at differences of real times only, so a sequence may start anywhere, its steps may be
irregular, and there is no longest length. Neither touches the values.

References
----------
.. [1] Su et al. (2021), RoFormer: enhanced transformer with rotary position embedding,
   arXiv:2104.09864.
.. [2] Raffel et al. (2020), Exploring the limits of transfer learning with a unified text-to-text
   transformer, JMLR 21, arXiv:1910.10683, section 2.1.
"""

import math
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tsformer.errors import ParameterError

__all__ = ["RelativeBias", "RotaryPositions", "distance_bucket", "rotary"]


def rotary(
    x: Float[Tensor, "batch head time dim"],
    time: Float[Tensor, "#batch time"],
    *,
    base: float = 10_000.0,
) -> Float[Tensor, "batch head time dim"]:
    """Rotate each pair of columns by an angle that grows with time, from fast to slow.

    Columns ``2i`` and ``2i + 1`` are rotated by ``time / base**(2i / dim)``, equations 14 and 15 of
    [1]_, so that the product of a rotated query and a rotated key depends on the difference of
    their times only. With an odd ``dim`` the last column stays as it is. Angles are taken in
    float32 or wider whatever the precision of ``x``.

    Examples
    --------
    >>> x = torch.tensor([1.0, 0.0, 7.0]).expand(1, 1, 2, 3)
    >>> rotary(x, torch.tensor([[0.0, torch.pi / 2]]))[0, 0].round(decimals=3)
    tensor([[1., 0., 7.],
            [-0., 1., 7.]])
    """
    dim = x.shape[-1]
    wide = torch.promote_types(torch.promote_types(x.dtype, time.dtype), torch.float32)
    column = torch.arange(0, dim - 1, 2, device=x.device, dtype=wide)
    angle = time[:, None, :, None].to(wide) * torch.exp(column * (-math.log(base) / dim))
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    paired = 2 * (dim // 2)
    even, odd = x[..., 0:paired:2], x[..., 1:paired:2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)
    return rotated if paired == dim else torch.cat([rotated, x[..., paired:]], -1)


class RotaryPositions(nn.Module):
    """The ``rotate`` part that turns queries and keys by `rotary`; owns no weights.

    Parameters
    ----------
    base
        The slowest pair of columns turns once in about ``2 * pi * base`` steps.

    Raises
    ------
    ParameterError
        If ``base`` is not above 1.

    Examples
    --------
    >>> RotaryPositions()(torch.zeros(2, 4, 5, 7), torch.arange(5.0)[None]).shape
    torch.Size([2, 4, 5, 7])
    """

    def __init__(self, base: float = 10_000.0) -> None:
        super().__init__()
        if not base > 1:
            raise ParameterError(f"base={base} must be above 1")
        self.base = base

    def forward(
        self,
        x: Float[Tensor, "batch head time dim"],
        time: Float[Tensor, "#batch time"],
    ) -> Float[Tensor, "batch head time dim"]:
        """Return queries or keys that carry their times."""
        return rotary(x, time, base=self.base)


def distance_bucket(
    difference: Float[Tensor, "*shape"], *, buckets: int, max_distance: float
) -> Int[Tensor, "*shape"]:
    """Return which bucket a difference of times falls into, 0 to ``2 * buckets - 2``.

    Section 2.1 of [2]_: near distances have a bucket for each whole step, farther ones share
    buckets whose width grows with the distance, and from ``max_distance`` on all share the last.
    The bucket in the middle, ``buckets - 1``, is for no distance; those below it are for keys after
    the query, those above it for keys before it. Fractions go to the nearest whole step.

    Examples
    --------
    >>> distance_bucket(torch.tensor([-1.0, 0, 1, 2, 3, 8, 99, 1e9]), buckets=6, max_distance=100.0)
    tensor([ 4,  5,  6,  7,  8,  8, 10, 10])
    """
    near = (buckets + 1) // 2  # 0 to near - 1 have a bucket of their own
    distance = difference.abs().round()
    far = (distance.clamp(min=near) / near).log() / math.log(max_distance / near)
    shared = near + (far * (buckets - near)).long().clamp(max=buckets - near - 1)
    bucket = torch.where(distance < near, distance.clamp(max=near).long(), shared)
    return buckets - 1 + torch.where(difference < 0, -bucket, bucket)


class RelativeBias(nn.Module):
    """The ``bias`` part that learns, for each head, what a distance in time does to a score.

    Distances fall into `distance_bucket` buckets; each has one weight a head.

    The bias itself has the size of the scores, ``head * query * key`` numbers (times the batch
    where the rows of a batch have times of their own), and because it is learned no fused kernel
    takes it: use it where queries times keys fit in memory, and `RotaryPositions` where they do
    not. `tsformer.nn.probsparse.ProbSparse` refuses it.

    Parameters
    ----------
    heads
        Number of heads.
    mode
        ``"add"``: the weights are added to the scaled scores, and start at 0. ``"multiply"``: the
        scaled scores are multiplied by them, and they start at 1. Either way attention starts as
        it is without this part.
    buckets
        Distances told apart in each direction, at least 2; no distance is one of both.
    max_distance
        The distance from which on all are the same, in steps.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> bias = RelativeBias(2)
    >>> bias(torch.arange(3.0)[None], torch.arange(5.0)[None]).shape
    torch.Size([1, 2, 3, 5])
    """

    def __init__(
        self,
        heads: int,
        *,
        mode: Literal["add", "multiply"] = "add",
        buckets: int = 16,
        max_distance: float = 512.0,
    ) -> None:
        super().__init__()
        if mode not in ("add", "multiply"):
            raise ParameterError(f"mode={mode!r} is unknown; use 'add' or 'multiply'")
        if heads < 1 or buckets < 2 or not max_distance > buckets:
            raise ParameterError(
                f"heads={heads}, buckets={buckets}, max_distance={max_distance}: there must be a"
                " head and two buckets, and max_distance must be above the number of buckets"
            )
        self.mode = mode
        self.buckets = buckets
        self.max_distance = max_distance
        self.weight = nn.Parameter(torch.full((heads, 2 * buckets - 1), float(mode == "multiply")))

    def forward(
        self,
        time: Float[Tensor, "rows query"],
        key_time: Float[Tensor, "key_rows key"],
    ) -> Float[Tensor, "batch head query key"]:
        """Return a number for each pair of a query and a key."""
        difference = time[:, :, None] - key_time[:, None, :]
        bucket = distance_bucket(difference, buckets=self.buckets, max_distance=self.max_distance)
        # index_select takes a quarter of the time of plain indexing, there and back
        chosen: Tensor = self.weight.index_select(1, bucket.flatten())
        return torch.unflatten(chosen, 1, bucket.shape).movedim(0, 1)
