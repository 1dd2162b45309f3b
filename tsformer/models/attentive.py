"""What all transformers here share: their hyper-parameters, and the parts made of them."""

from collections.abc import Callable
from typing import Literal

from torch import nn

from tsformer.models.base import Architecture
from tsformer.models.placement import PLACEMENTS, Placement
from tsformer.nn import (
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    FullAttention,
    MultiHeadAttention,
)
from tsformer.params import KW_ONLY, Params, group, param, params

__all__ = ["Attentive", "Block"]


@params
class Block(Params):
    """What is seldom changed inside a block of attention and feed-forward.

    Examples
    --------
    >>> Block(activation="relu").attention_dropout
    0.0
    """

    _: KW_ONLY
    attention_dropout: float = param(
        "Share of attention weights dropped in training; above 0 fused kernels cannot be used.",
        default=0.0,
        low=0,
        below=1,
    )
    activation: Literal["gelu", "relu"] = param(
        "Activation of the feed-forward parts.", default="gelu", choices=("gelu", "relu")
    )


@params
class Attentive(Architecture):
    """Hyper-parameters of attention blocks; a base for models, not a model.

    Each method makes a new part with fresh weights.
    """

    _: KW_ONLY
    d_model: int = param("Width of every layer's output.", default=64, low=1)
    n_heads: int = param("Attention heads; must divide d_model.", default=4, low=1)
    d_ff: int = param("Width inside the feed-forward parts.", default=128, low=1)
    dropout: float = param("Share of activations dropped in training.", default=0.1, low=0, below=1)
    norm: Literal["post", "pre"] = param(
        "LayerNorm after each residual sum, or before each part.",
        default="post",
        choices=("post", "pre"),
    )
    skip: bool = param("Add a ridge forecast that is trained at a tenth of the rate.", default=True)
    block: Block | None = group(Block, default=None)

    def attention(
        self, attend: nn.Module | None = None, *, placement: Placement | None = None
    ) -> MultiHeadAttention:
        """Attention in heads; exact without another attend part, and blind to time by itself."""
        placement = placement or PLACEMENTS["none"]
        return MultiHeadAttention(
            self.d_model,
            self.n_heads,
            attend=attend or FullAttention(self.attention_dropout),
            rotate=placement.rotate and placement.rotate(),
            bias=placement.bias and placement.bias(self.n_heads),
        )

    def feed_forward(self) -> FeedForward:
        """The part that sees each step by itself."""
        return FeedForward(
            self.d_model, self.d_ff, dropout=self.dropout, activation=self.activation
        )

    def encoder_block(
        self,
        attend: nn.Module | None = None,
        *,
        placement: Placement | None = None,
        normalise: Callable[[int], nn.Module] = nn.LayerNorm,
    ) -> EncoderBlock:
        """Self-attention and feed-forward."""
        return EncoderBlock(
            self.attention(attend, placement=placement),
            self.feed_forward(),
            norm=self.norm,
            dropout=self.dropout,
            normalise=normalise,
        )

    def decoder_block(
        self, attend: nn.Module | None = None, *, placement: Placement | None = None
    ) -> DecoderBlock:
        """Self-attention, by ``attend`` if given, exact cross-attention and feed-forward."""
        return DecoderBlock(
            self.attention(attend, placement=placement),
            self.attention(placement=placement),
            self.feed_forward(),
            norm=self.norm,
            dropout=self.dropout,
        )
