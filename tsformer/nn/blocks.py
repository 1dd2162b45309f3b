"""Transformer blocks, made of the parts that are handed to them.

A block owns its residual connections and layer norms; attention and feed-forward come from
outside. ``norm="post"`` normalises after each residual sum, as the first transformer and the
Informer do; ``norm="pre"`` normalises what enters each branch and leaves the sum alone, which
needs one more norm after the last block.
"""

from collections.abc import Callable, Sequence
from typing import Literal, get_args

from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.attention import KeyValueCache, MultiHeadAttention
from tsformer.nn.dropout import Dropout

__all__ = [
    "Decoder",
    "DecoderBlock",
    "DecoderCache",
    "Encoder",
    "EncoderBlock",
    "Norm",
    "Residual",
]

Norm = Literal["post", "pre"]


class Residual(nn.Module):
    """A branch, its residual connection, and a layer norm before the branch or after the sum.

    Parameters
    ----------
    d_model
        Width of a step.
    norm
        ``"post"`` or ``"pre"``.
    dropout
        Dropout of the branch.

    Raises
    ------
    ParameterError
        If ``norm`` is unknown.
    """

    def __init__(self, d_model: int, *, norm: Norm = "post", dropout: float = 0.0) -> None:
        super().__init__()
        if norm not in get_args(Norm):
            raise ParameterError(f"norm={norm!r} is unknown; use 'post' or 'pre'")
        self.first = norm == "pre"
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def forward(
        self, steps: Float[Tensor, "batch time d_model"], branch: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch time d_model"]:
        """Return the steps with what the branch makes of them added."""
        entering = self.norm(steps) if self.first else steps
        output: Tensor = steps + self.dropout(branch(entering))
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
    norm, dropout
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
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.around_attention = Residual(attention.d_model, norm=norm, dropout=dropout)
        self.around_feed_forward = Residual(attention.d_model, norm=norm, dropout=dropout)

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        causal: bool = False,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """Return steps of the same shape; arguments as in `MultiHeadAttention.forward`."""
        steps = self.around_attention(
            steps, lambda x: self.attention(x, key_mask=key_mask, causal=causal, cache=cache)
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
    ) -> Float[Tensor, "batch time d_model"]:
        """Return steps of the same shape.

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
        """
        kept_steps = None if cache is None else cache.steps
        kept_memory = None if cache is None else cache.memory
        steps = self.around_self_attention(
            steps,
            lambda x: self.self_attention(x, key_mask=key_mask, causal=causal, cache=kept_steps),
        )
        steps = self.around_cross_attention(
            steps,
            lambda x: self.cross_attention(x, memory, key_mask=memory_mask, cache=kept_memory),
        )
        output: Tensor = self.around_feed_forward(steps, self.feed_forward)
        return output


class Encoder(nn.Module):
    """Encoder blocks in a row, with a reduction between two of them where one is given.

    Parameters
    ----------
    blocks
        The blocks, first to last.
    reductions
        What stands between the blocks, one fewer than them, such as
        `tsformer.nn.distilling.Distilling`. None means nothing.
    norm
        A last norm, which blocks with ``norm="pre"`` need. None means none.

    Raises
    ------
    ParameterError
        If there are not as many reductions as gaps between blocks.
    """

    def __init__(
        self,
        blocks: Sequence[nn.Module],
        reductions: Sequence[nn.Module] | None = None,
        norm: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if reductions is not None and len(reductions) != len(blocks) - 1:
            raise ParameterError(
                f"{len(reductions)} reductions do not fit between {len(blocks)} blocks; "
                f"give {len(blocks) - 1}"
            )
        self.blocks = nn.ModuleList(blocks)
        self.reductions = nn.ModuleList(reductions or ())
        self.norm = nn.Identity() if norm is None else norm

    def new_caches(self) -> list[KeyValueCache]:
        """Return one fresh cache for every block, to be passed to each decoding step."""
        return [KeyValueCache() for _ in self.blocks]

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        causal: bool = False,
        caches: Sequence[KeyValueCache] | None = None,
    ) -> tuple[Float[Tensor, "batch less d_model"], Bool[Tensor, "batch less"] | None]:
        """Return the memory and the mask of what is visible of it, None if all is.

        Parameters
        ----------
        steps
            The embedded steps; with caches, those after the cached ones.
        key_mask
            True for visible steps, the cached ones included.
        causal
            Whether a step sees only itself and what came before it.
        caches
            What `new_caches` returned, for a decoder-only network that decodes step by step.

        Raises
        ------
        ParameterError
            If there are reductions, which look ahead, and ``causal`` or ``caches`` is asked for.
        """
        if self.reductions and (causal or caches is not None):
            raise ParameterError("reductions look ahead: a causal or cached encoder takes none")
        for index, block in enumerate(self.blocks):
            cache = None if caches is None else caches[index]
            steps = block(steps, key_mask=key_mask, causal=causal, cache=cache)
            if index < len(self.reductions):
                steps, key_mask = self.reductions[index](steps, key_mask)
        return self.norm(steps), key_mask


class Decoder(nn.Module):
    """Decoder blocks in a row.

    Parameters
    ----------
    blocks
        The blocks, first to last.
    norm
        A last norm, which blocks with ``norm="pre"`` need. None means none.
    """

    def __init__(self, blocks: Sequence[nn.Module], norm: nn.Module | None = None) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.Identity() if norm is None else norm

    def new_caches(self) -> list[DecoderCache]:
        """Return one fresh cache for every block, to be passed to each decoding step."""
        return [DecoderCache() for _ in self.blocks]

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        memory: Float[Tensor, "batch memory d_model"],
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        memory_mask: Bool[Tensor, "batch memory"] | None = None,
        causal: bool = True,
        caches: Sequence[DecoderCache] | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """Return steps of the same shape; arguments as in `DecoderBlock.forward`."""
        for index, block in enumerate(self.blocks):
            steps = block(
                steps,
                memory,
                key_mask=key_mask,
                memory_mask=memory_mask,
                causal=causal,
                cache=None if caches is None else caches[index],
            )
        output: Tensor = self.norm(steps)
        return output
