"""The Informer: ProbSparse attention, distilling, and all horizon steps in one pass."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.heads import Head
from tsformer.models.attentive import Attentive
from tsformer.models.skip import SkipNetwork
from tsformer.models.tokens import TokenEmbedding, hidden_steps, window_columns
from tsformer.nn import Decoder, Distilling, Encoder, ProbSparse
from tsformer.params import KW_ONLY, Params, group, param, params
from tsformer.windows import Batch, Sizes

__all__ = ["Convolutions", "Informer", "Sparsity"]


@params
class Sparsity(Params):
    """How attention is made sparse, and where.

    Examples
    --------
    >>> Sparsity(factor=3, exact_below=0).sampling
    'shared'
    """

    _: KW_ONLY
    factor: int = param("Queries kept and keys sampled, in units of ln(length).", default=5, low=1)
    sampling: Literal["shared", "per_query"] = param(
        "One key sample per head, or one per query.",
        default="shared",
        choices=("shared", "per_query"),
    )
    exact_below: int | None = param(
        "Lengths below it use exact attention; None is the measured crossover.", default=None, low=0
    )
    decoder_attention: Literal["exact", "prob_sparse"] = param(
        "Self-attention of the decoder, causal either way.",
        default="exact",
        choices=("exact", "prob_sparse"),
    )


@params
class Convolutions(Params):
    """The convolutions that embed steps, and those that distil between encoder blocks.

    Examples
    --------
    >>> Convolutions(distilling_norm="batch").kernel
    3
    """

    _: KW_ONLY
    kernel: int = param("Steps that each embedded one is made of, an odd number.", default=3, low=1)
    distilling: bool = param("Halve the sequence between encoder blocks.", default=True)
    distilling_norm: Literal["layer", "batch"] = param(
        "What normalises a distilled step.", default="layer", choices=("layer", "batch")
    )


@params
class Informer(Attentive):
    """Encoder with ProbSparse attention and distilling, one-shot generative decoder.

    The decoder reads the last ``start`` steps of the context and a place for each step of the
    horizon, and answers them all at once. Its self-attention is exact and causal, its
    cross-attention exact.

    Notes
    -----
    Deviations from Zhou et al. (2021), and why:

    - The defaults are small: the paper's are ``d_model=512, n_heads=8, d_ff=2048, skip=False,
      distilling_norm="batch"``.
    - A linear skip, fitted by ridge, carries the forecast and the network learns what is left;
      ``skip=False`` switches it off.
    - One key sample per head (Algorithm 1 as printed) rather than per query (the authors' code);
      ``sampling="per_query"`` is theirs.
    - Below 96 steps attention is exact, which is faster and better; ``exact_below=0`` is the
      paper's.
    - The decoder's self-attention is exact; with ``decoder_attention="prob_sparse"`` it is our
      causal ProbSparse. The authors' lets later steps choose which earlier ones are active.
    - Attention weights are not dropped (``attention_dropout=0``): the fused kernels are several
      times faster without.
    - Distilling normalises each step (``distilling_norm="layer"``), so that a series does not
      depend on others in its batch.
    - Time is embedded from cyclic calendar features and from the distance to the origin.

    References
    ----------
    Zhou et al. (2021), "Informer: Beyond Efficient Transformer for Long Sequence Time-Series
    Forecasting", AAAI.
    """

    _: KW_ONLY
    encoder_layers: int = param("Encoder blocks.", default=2, low=1)
    decoder_layers: int = param("Decoder blocks.", default=1, low=1)
    start: int | None = param(
        "Context steps the decoder starts from; None is half the context.", default=None, low=0
    )
    sparsity: Sparsity | None = group(Sparsity, default=None)
    convolutions: Convolutions | None = group(Convolutions, default=None)

    def build(self, sizes: Sizes, head: Head) -> "InformerNetwork":
        """The network, with fresh weights."""
        if self.start is not None and self.start > sizes.context:
            raise ParameterError(
                f"Informer(start={self.start}): start must be at most the context, {sizes.context}"
            )
        return InformerNetwork(self, sizes, head)


class InformerNetwork(SkipNetwork):
    """The network of an :class:`Informer`."""

    def __init__(self, spec: Informer, sizes: Sizes, head: Head) -> None:
        super().__init__()
        self.head, self.sizes = head, sizes
        self.start = sizes.context // 2 if spec.start is None else spec.start
        self.embed_context, self.embed_decoder = (
            TokenEmbedding(sizes, spec.d_model, kernel=spec.kernel, dropout=spec.dropout)
            for _ in range(2)
        )
        blocks = [spec.encoder_block(_prob_sparse(spec)) for _ in range(spec.encoder_layers)]
        distillings = [Distilling(spec.d_model, norm=spec.distilling_norm) for _ in blocks[1:]]
        self.encoder = Encoder(
            blocks, distillings if spec.distilling else None, nn.LayerNorm(spec.d_model)
        )
        self.decoder = Decoder(
            [spec.decoder_block(_own_attention(spec)) for _ in range(spec.decoder_layers)],
            nn.LayerNorm(spec.d_model),
        )
        self.output = nn.Linear(spec.d_model, sizes.target * head.width)
        self.carry_skip(sizes, self.output, wanted=spec.skip)

    def own_forecast(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """All steps of the horizon in one pass."""
        context, horizon = self.sizes.context, self.sizes.horizon
        columns = window_columns(batch)
        memory, memory_mask = self.encoder(
            self.embed_context(columns.part(0, context)), key_mask=hidden_steps(batch)
        )
        steps = self.embed_decoder(columns.part(context - self.start))
        decoded = self.decoder(steps, memory, memory_mask=memory_mask, last=horizon)
        raw: Tensor = self.output(decoded)
        raw = raw.unflatten(-1, (self.sizes.target, self.head.width))
        return raw


def _own_attention(spec: Informer) -> ProbSparse | None:
    return _prob_sparse(spec) if spec.decoder_attention == "prob_sparse" else None


def _prob_sparse(spec: Informer) -> ProbSparse:
    return ProbSparse(
        spec.factor,
        sampling=spec.sampling,
        dropout=spec.attention_dropout,
        exact_below=spec.exact_below,
    )
