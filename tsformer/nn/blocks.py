"""Transformer blocks, made of the parts that are handed to them.

A block owns its residual connections and layer norms; attention and feed-forward come from
outside. ``norm="post"`` normalises after each residual sum, as the first transformer and the
Informer do; ``norm="pre"`` normalises what enters each branch and leaves the sum alone, which
needs one more norm after the last block.
"""

from collections.abc import Callable
from typing import Literal, get_args

from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.dropout import Dropout
from tsformer.nn.multi_head import KeyValueCache, MultiHeadAttention

__all__ = ["DecoderBlock", "DecoderCache", "EncoderBlock", "Norm", "Residual"]

Norm = Literal["post", "pre"]


class Residual(nn.Module):
    """A branch, its residual connection, and a norm before the branch or after the sum.

    Parameters
    ----------
    d_model
        Width of a step.
    norm
        ``"post"`` or ``"pre"``.
    dropout
        Dropout of the branch.
    normalise
        Called with ``d_model``: makes the norm.

    Raises
    ------
    ParameterError
        If ``norm`` is unknown.
    """

    def __init__(
        self,
        d_model: int,
        *,
        norm: Norm = "post",
        dropout: float = 0.0,
        normalise: Callable[[int], nn.Module] = nn.LayerNorm,
    ) -> None:
        super().__init__()
        if norm not in get_args(Norm):
            raise ParameterError(f"norm={norm!r} is unknown; use 'post' or 'pre'")
        self.first = norm == "pre"
        self.norm = normalise(d_model)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        branch: Callable[[Tensor], Tensor],
        *,
        last: int | None = None,
    ) -> Float[Tensor, "batch kept d_model"]:
        """Return the steps with what the branch makes of them added.

        Parameters
        ----------
        steps
            What enters the branch.
        branch
            Returns as many steps, or the ``last`` so many.
        last
            How many steps the branch returns; None is all.
        """
        entering = self.norm(steps) if self.first else steps
        output: Tensor = _latest(steps, last) + self.dropout(branch(entering))
        if not self.first:
            output = self.norm(output)
        return output


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward.

    With ``causal=True`` it is the block of a decoder-only network.

    Parameters
    ----------
    attention
        The self-attention.
    feed_forward
        A module that maps steps to steps, such as `FeedForward`.
    norm, dropout, normalise
        See `Residual`.

    Examples
    --------
    >>> import torch
    >>> from tsformer.nn import FeedForward, FullAttention
    >>> attention = MultiHeadAttention(8, 2, attend=FullAttention())
    >>> EncoderBlock(attention, FeedForward(8, 16))(torch.randn(4, 10, 8)).shape
    torch.Size([4, 10, 8])
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        feed_forward: nn.Module,
        *,
        norm: Norm = "post",
        dropout: float = 0.0,
        normalise: Callable[[int], nn.Module] = nn.LayerNorm,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.around_attention, self.around_feed_forward = (
            Residual(attention.d_model, norm=norm, dropout=dropout, normalise=normalise)
            for _ in range(2)
        )

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
        time: Float[Tensor, "#batch time"] | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """Return steps of the same shape; arguments as in `MultiHeadAttention.forward`."""
        steps = self.around_attention(
            steps,
            lambda x: self.attention(x, key_mask=key_mask, causal=causal, cache=cache, time=time),
        )
        output: Tensor = self.around_feed_forward(steps, self.feed_forward)
        return output


class DecoderCache:
    """What one `DecoderBlock` keeps between decoding steps."""

    def __init__(self) -> None:
        self.steps = KeyValueCache()
        self.memory = KeyValueCache()


class DecoderBlock(nn.Module):
    """Self-attention, attention to the memory of an encoder, then feed-forward.

    Parameters
    ----------
    self_attention, cross_attention
        The two attentions, each with weights of its own.
    feed_forward
        A module that maps steps to steps, such as `FeedForward`.
    norm, dropout
        See `Residual`.
    """

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: nn.Module,
        *,
        norm: Norm = "post",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        d_model = self_attention.d_model
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.around_self_attention = Residual(d_model, norm=norm, dropout=dropout)
        self.around_cross_attention = Residual(d_model, norm=norm, dropout=dropout)
        self.around_feed_forward = Residual(d_model, norm=norm, dropout=dropout)

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        memory: Float[Tensor, "batch memory d_model"],
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        memory_mask: Bool[Tensor, "batch memory"] | None = None,
        causal: bool = True,
        cache: DecoderCache | None = None,
        time: Float[Tensor, "#batch time"] | None = None,
        memory_time: Float[Tensor, "#batch memory"] | None = None,
        last: int | None = None,
    ) -> Float[Tensor, "batch kept d_model"]:
        """Return as many steps, or the ``last`` so many.

        Parameters
        ----------
        steps
            The steps to decode; with a cache, those after the cached ones.
        memory
            What the encoder returned. With a cache it is read by the first call only.
        key_mask, memory_mask
            True for visible steps (the cached ones included) and for visible memory.
        causal
            Whether a step sees only itself and what came before it; memory is seen whole.
        cache
            A fresh `DecoderCache` in the first call and the same one in every later call.
        time, memory_time
            When the steps and the memory are, for the position parts of the attentions.
        last
            How many of the steps are wanted; the others are only seen. None is all.
        """
        kept_steps = None if cache is None else cache.steps
        kept_memory = None if cache is None else cache.memory
        steps = self.around_self_attention(
            steps,
            lambda x: self.self_attention(
                x, key_mask=key_mask, causal=causal, cache=kept_steps, time=time, last=last
            ),
            last=last,
        )
        time = None if time is None else _latest(time, last)
        steps = self.around_cross_attention(
            steps,
            lambda x: self.cross_attention(
                x, memory, key_mask=memory_mask, cache=kept_memory, time=time, key_time=memory_time
            ),
        )
        output: Tensor = self.around_feed_forward(steps, self.feed_forward)
        return output


def _latest(steps: Tensor, last: int | None) -> Tensor:
    return steps if last is None else steps[:, steps.shape[1] - last :]
