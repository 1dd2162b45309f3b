"""The inverted transformer: a variable is a token, and attention runs across variables."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tsformer.heads import Head
from tsformer.models.attentive import Attentive
from tsformer.models.skip import SkipNetwork
from tsformer.models.tokens import key_mask
from tsformer.nn import (
    Dropout,
    Encoder,
    StepEmbedding,
)
from tsformer.params import KW_ONLY, param, params
from tsformer.windows import Batch, Sizes

__all__ = ["InvertedTransformer"]


@params
class InvertedTransformer(Attentive):
    """Encoder whose tokens are variables: each is its whole course over the window.

    Attention runs across variables, the feed-forward parts along time. Targets share all weights,
    so the order in which they stand means nothing. Each past covariate is a token of the context,
    each known one a token of the context and the horizon, so that a plan reaches the forecast
    through attention; the features of the series are one more token. A categorical covariate
    becomes a course as well: of one number for each of its codes, which is learned.

    Notes
    -----
    Deviations from Liu et al. (2024), and why:

    - The defaults are small: the paper's are ``d_model=512, n_heads=8, d_ff=512, skip=False`` with
      2 to 4 encoder layers.
    - A linear skip, fitted by ridge, carries the forecast and the network learns what is left;
      ``skip=False`` switches it off.
    - Which steps are measured is embedded beside their values, and a variable that was never
      measured is hidden from attention: the paper has no gaps.
    - Covariates have embeddings of their own, as known ones are longer than the context, and each
      carries a learned vector, as their order, unlike that of the targets, means something. The
      authors' code embeds calendar columns of the context as if they were targets.
    - Attention weights are not dropped (``attention_dropout=0``): the fused kernels are several
      times faster without.
    - Windows are standardised in front of the network, in the place of the paper's.

    References
    ----------
    Liu et al. (2024), "iTransformer: Inverted Transformers Are Effective for Time Series
    Forecasting", ICLR.
    """

    _: KW_ONLY
    encoder_layers: int = param("Encoder blocks.", default=2, low=1)

    def build(self, sizes: Sizes, head: Head) -> "InvertedNetwork":
        """The network, with fresh weights."""
        return InvertedNetwork(self, sizes, head)


class InvertedNetwork(SkipNetwork):
    """The network of an :class:`InvertedTransformer`."""

    def __init__(self, spec: InvertedTransformer, sizes: Sizes, head: Head) -> None:
        super().__init__()
        self.head, self.sizes = head, sizes
        self.embed_target = StepEmbedding(sizes.context, spec.d_model)
        self.embed_past = CourseEmbedding(
            sizes.context, sizes.past, sizes.past_cardinalities, spec.d_model
        )
        self.embed_known = CourseEmbedding(
            sizes.steps, sizes.known, sizes.known_cardinalities, spec.d_model
        )
        self.embed_static = (
            StepEmbedding(sizes.static, spec.d_model, sizes.static_cardinalities)
            if sizes.static or sizes.static_cardinalities
            else None
        )
        self.dropout = Dropout(spec.dropout)
        self.encoder = Encoder(
            [spec.encoder_block() for _ in range(spec.encoder_layers)],
            norm=nn.LayerNorm(spec.d_model),
        )
        self.output = nn.Linear(spec.d_model, sizes.horizon * head.width)
        self.carry_skip(sizes, self.output, wanted=spec.skip)

    def own_forecast(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """All steps of the horizon in one pass, from the tokens of the targets."""
        tokens, visible = self.embed(batch)
        encoded, _ = self.encoder(self.dropout(tokens), key_mask=key_mask(visible))
        raw: Tensor = self.output(encoded[:, : self.sizes.target])
        raw = raw.unflatten(-1, (self.sizes.horizon, self.head.width)).transpose(1, 2)
        return raw

    def embed(
        self, batch: Batch
    ) -> tuple[Float[Tensor, "batch variable d_model"], Bool[Tensor, "batch variable"]]:
        """One token a variable, targets first, and which of them hold anything."""
        values = batch.past_target.masked_fill(~batch.past_observed, 0)
        tokens = [self.embed_target(values.mT, batch.past_observed.mT)]
        visible = [batch.past_observed.any(1)]
        for embedded, seen in (
            self.embed_past(batch.past, batch.past_present, batch.past_codes),
            self.embed_known(batch.known, batch.known_present, batch.known_codes),
        ):
            tokens.append(embedded)
            visible.append(seen)
        if self.embed_static is not None:
            static = batch.static.unsqueeze(1)
            present = torch.ones_like(static, dtype=torch.bool)
            tokens.append(self.embed_static(static, present, batch.static_codes.unsqueeze(1)))
            visible.append(present.new_ones(len(static), 1))
        return torch.cat(tokens, dim=1), torch.cat(visible, dim=1)


class CourseEmbedding(nn.Module):
    """One token a covariate: its course, its gaps, and a vector that says which one it is.

    Parameters
    ----------
    steps
        Length of a course.
    features
        Number of numeric columns; may be 0.
    cardinalities
        For each column of codes, the number of its codes, "unknown" included.
    d_model
        Width of a token.
    """

    def __init__(
        self, steps: int, features: int, cardinalities: Sequence[int], d_model: int
    ) -> None:
        super().__init__()
        self.d_model = d_model
        variables = features + len(cardinalities)
        self.tables = nn.ModuleList(
            nn.Embedding(count, 1, padding_idx=0) for count in cardinalities
        )
        self.course = StepEmbedding(steps, d_model) if variables else None
        self.names = nn.Parameter(0.02 * torch.randn(variables, d_model)) if variables else None

    def forward(
        self,
        values: Float[Tensor, "batch time features"],
        present: Bool[Tensor, "batch time features"],
        codes: Int[Tensor, "batch time code"],
    ) -> tuple[Float[Tensor, "batch variable d_model"], Bool[Tensor, "batch variable"]]:
        """The tokens, and which of them are present at any step."""
        if self.course is None or self.names is None:
            return values.new_zeros(len(values), 0, self.d_model), present.any(1)
        columns = codes.unbind(-1)
        numbers = [table(code) for table, code in zip(self.tables, columns, strict=True)]
        values = torch.cat([values.masked_fill(~present, 0), *numbers], dim=-1)
        present = torch.cat([present, codes > 0], dim=-1)
        return self.course(values.mT, present.mT) + self.names, present.any(1)
