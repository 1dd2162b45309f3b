"""Attention in several heads: the weights around an attend part, and what decoding keeps.

Where a step stands can enter here, on queries and keys and never on values, by three kinds of
parts: ``positions`` (see `tsformer.nn.positions`) before the projections, ``rotate`` after them
and ``bias`` on the scores (see `tsformer.nn.relative` for both).
"""

from copy import copy

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.attention import Attend
from tsformer.nn.dropout import Dropout

__all__ = ["KeyValueCache", "MultiHeadAttention"]


class KeyValueCache:
    """The projected keys and values of one attention layer, kept between decoding steps.

    Give a fresh one to the first step and the same one to every later step. In self-attention it
    grows by the new steps; in cross-attention it holds the memory, which is projected once. The
    times of the keys are kept where the layer has a use for them.
    """

    def __init__(self) -> None:
        self.projected: tuple[Tensor, Tensor] | None = None
        self.time: Tensor | None = None

    def __len__(self) -> int:
        """Return the number of steps held."""
        return 0 if self.projected is None else self.projected[0].shape[-2]

    def append(
        self, k: Tensor, v: Tensor, time: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Add new steps and return all keys, values and times so far."""
        if self.projected is not None:
            earlier_k, earlier_v = self.projected
            k, v = torch.cat([earlier_k, k], -2), torch.cat([earlier_v, v], -2)
        if self.time is not None and time is not None:
            time = torch.cat([self.time, time], -1)
        self.projected, self.time = (k, v), time
        return k, v, time


class MultiHeadAttention(nn.Module):
    """Attention in several heads, between steps of one sequence or from one sequence to another.

    Section 3.2.2 of [1]_.

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
    positions
        A position part, such as `SinusoidalPositions`, for what queries and keys are projected
        from.
    rotate
        A part called as ``rotate(x, time)`` on queries and keys, such as `RotaryPositions`.
    bias
        A part called as ``bias(time, key_time)``, such as `RelativeBias`; its ``mode`` says whether
        scores are added to or multiplied.

    Raises
    ------
    ParameterError
        If ``heads`` does not divide ``d_model``.

    References
    ----------
    .. [1] Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.

    Examples
    --------
    >>> from tsformer.nn import FullAttention, RotaryPositions
    >>> attention = MultiHeadAttention(8, 2, attend=FullAttention(), rotate=RotaryPositions())
    >>> attention(torch.randn(4, 10, 8)).shape
    torch.Size([4, 10, 8])
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        attend: nn.Module,
        dropout: float = 0.0,
        positions: nn.Module | None = None,
        rotate: nn.Module | None = None,
        bias: nn.Module | None = None,
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
        # One product for all three was measured at 1.02 times the speed (32 x 96 steps, widths 64
        # and 512, forward and backward on a CPU): not worth weights that have to be taken apart.
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = Dropout(dropout)
        self.positions = positions
        self.rotate = rotate
        self.bias = bias

    def forward(
        self,
        queries: Float[Tensor, "batch query d_model"],
        keys: Float[Tensor, "batch key d_model"] | None = None,
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        time: Float[Tensor, "#batch query"] | None = None,
        key_time: Float[Tensor, "#batch key"] | None = None,
        last: int | None = None,
    ) -> Float[Tensor, "batch asked d_model"]:
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
        time
            When the queries are, for the position parts alone. In self-attention None numbers
            the steps, the cached ones included.
        key_time
            When the ``keys`` are; in self-attention they are the queries.
        last
            How many of the ``queries`` ask, the latest ones; None is all. In self-attention the
            others are only seen.

        Raises
        ------
        ParameterError
            If a position part is to relate two sequences whose times are not both given.
        """
        q, k, v, scores = self._project(queries, keys, time, key_time, cache, self._asking(last))
        attended = self._attend(q, k, v, scores, key_mask, causal, itself=keys is None)
        attended = _latest(attended, last)
        output: Tensor = self.dropout(self.output(attended.transpose(1, 2).flatten(-2)))
        return output

    @torch.no_grad()
    def weights(
        self,
        queries: Float[Tensor, "batch query d_model"],
        keys: Float[Tensor, "batch key d_model"] | None = None,
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        time: Float[Tensor, "#batch query"] | None = None,
        key_time: Float[Tensor, "#batch key"] | None = None,
        last: int | None = None,
    ) -> Float[Tensor, "batch head asked visible"]:
        """Return how much of each key every query takes, for the arguments of `forward`.

        They are the weights of evaluation: nothing is dropped and nothing is drawn. With
        ProbSparse the rows that are not active show equal weights. A cache is read, not changed.
        No gradient flows.

        Examples
        --------
        >>> from tsformer.nn import FullAttention
        >>> attention = MultiHeadAttention(8, 2, attend=FullAttention())
        >>> attention.weights(torch.zeros(1, 2, 8), causal=True)[0, 0]
        tensor([[1.0000, 0.0000],
                [0.5000, 0.5000]])
        """
        q, k, _, scores = self._project(
            queries, keys, time, key_time, copy(cache), self._asking(last)
        )
        # Every attend part is linear in the values: those of a unit matrix show its weights.
        unit = torch.eye(k.shape[-2], dtype=q.dtype, device=q.device).expand(*k.shape[:2], -1, -1)
        attend = self.get_submodule("attend")
        training = attend.training
        attend.eval()
        try:
            rows = self._attend(q, k, unit, scores, key_mask, causal, itself=keys is None)
            return _latest(rows, last)
        finally:
            attend.train(training)

    def _project(
        self,
        queries: Tensor,
        keys: Tensor | None,
        time: Tensor | None,
        key_time: Tensor | None,
        cache: KeyValueCache | None,
        last: int | None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """Return queries, keys and values in heads, and what joins their scores."""
        if any(part is not None for part in (self.positions, self.rotate, self.bias)):
            time, key_time = _times(queries, keys, time, key_time, cache)
        source = queries if keys is None else keys
        if last is not None:
            queries = _latest(queries, last)
            time = None if time is None else time[:, time.shape[1] - last :]
        q = self._placed(self.query, queries, time)
        if keys is not None and cache is not None and cache.projected is not None:
            (k, v), key_time = cache.projected, cache.time
        else:
            k = self._placed(self.key, source, key_time)
            v = self._split(self.value(source))
            if cache is not None:
                k, v, key_time = cache.append(k, v, key_time)
        return q, k, v, None if self.bias is None else self.bias(time, key_time)

    def _asking(self, last: int | None) -> int | None:
        """How many queries have to be projected: all, where they compete to be answered."""
        return None if getattr(self.attend, "rows_compete", True) else last

    def _placed(self, project: nn.Module, steps: Tensor, time: Tensor | None) -> Tensor:
        """Project steps to queries or keys that know where they stand."""
        if self.positions is not None:
            assert time is not None
            steps = self.positions(steps, time.expand(len(steps), -1))
        heads = self._split(project(steps))
        return heads if self.rotate is None else self.rotate(heads, time)

    def _attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        scores: Tensor | None,
        key_mask: Tensor | None,
        causal: bool,
        itself: bool,
    ) -> Tensor:
        query_mask = None
        if itself and key_mask is not None:
            query_mask = key_mask[:, key_mask.shape[-1] - q.shape[-2] :]
        multiplied = getattr(self.bias, "mode", "add") == "multiply"
        return self.attend(
            q,
            k,
            v,
            key_mask=key_mask,
            query_mask=query_mask,
            causal=causal,
            bias=None if multiplied else scores,
            multiplier=scores if multiplied else None,
        )

    def _split(
        self, steps: Float[Tensor, "batch time d_model"]
    ) -> Float[Tensor, "batch head time dim"]:
        return torch.unflatten(steps, -1, (self.heads, -1)).transpose(1, 2)


def _latest(rows: Tensor, last: int | None) -> Tensor:
    """Return the last so many of ``(..., row, width)``."""
    return rows if last is None else rows[..., rows.shape[-2] - last :, :]


def _times(
    queries: Tensor,
    keys: Tensor | None,
    time: Tensor | None,
    key_time: Tensor | None,
    cache: KeyValueCache | None,
) -> tuple[Tensor, Tensor | None]:
    """Return the times of the queries, and of the keys that are not cached."""
    if keys is None:
        if time is None:
            first = 0 if cache is None else len(cache)
            wide = torch.promote_types(queries.dtype, torch.float32)
            last = first + queries.shape[1]
            time = torch.arange(first, last, dtype=wide, device=queries.device)[None]
        return time, time
    if time is None or (key_time is None and (cache is None or cache.time is None)):
        raise ParameterError(
            "position parts in attention from one sequence to another need the times of both; "
            "pass time= and key_time="
        )
    return time, key_time
