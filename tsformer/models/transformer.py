"""The encoder-decoder Transformer: step by step with teacher forcing, or all steps at once."""

from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.heads import Head
from tsformer.models.attentive import Attentive
from tsformer.models.base import Supervision
from tsformer.models.placement import PLACEMENTS, Positions
from tsformer.models.skip import CarriesSkip
from tsformer.models.tokens import (
    StepColumns,
    TokenEmbedding,
    hidden_steps,
    known_columns,
    window_columns,
)
from tsformer.nn import Decoder, DecoderCache, Encoder
from tsformer.params import KW_ONLY, param, params
from tsformer.windows import Batch, Sizes

__all__ = ["Transformer"]


@params
class Transformer(Attentive):
    """Encoder and causal decoder with exact attention, as first described.

    With ``decoding="one_shot"`` the decoder answers all horizon steps in one pass. With
    ``"autoregressive"`` it reads the step before the one it forecasts: the true one in training
    (teacher forcing), its own point forecast afterwards.

    Notes
    -----
    Deviations from Vaswani et al. (2017), and why:

    - The defaults are small: the paper's are ``d_model=512, n_heads=8, d_ff=2048,
      encoder_layers=6, decoder_layers=6, activation="relu", skip=False``.
    - Steps are embedded by a linear map of their columns, in the place of words.
    - A linear skip, fitted by ridge, carries the forecast and the network learns what is left;
      ``skip=False`` switches it off.
    - Attention weights are not dropped (``attention_dropout=0``): the fused kernels are several
      times faster without.
    - A LayerNorm follows the last block, which pre-norm needs and post-norm does not mind.

    References
    ----------
    Vaswani et al. (2017), "Attention Is All You Need", NeurIPS.
    """

    _: KW_ONLY
    encoder_layers: int = param("Encoder blocks.", default=2, low=1)
    decoder_layers: int = param("Decoder blocks.", default=1, low=1)
    decoding: Literal["one_shot", "autoregressive"] = param(
        "All steps in one pass, or step by step with teacher forcing in training.",
        default="one_shot",
        choices=("one_shot", "autoregressive"),
    )
    start: int | None = param(
        "Context steps the decoder starts from; None is half the context.", default=None, low=0
    )
    positions: Positions = param(
        "How steps know when they are: 'sinusoidal' or 'learned' at the input, 'every_layer' before"
        " each block; by differences of times alone, 'relative' biases of the scores, learned for"
        " each head, or 'rotary' queries and keys; 'none' knows no order but what the decoder's"
        " causal mask tells.",
        default="sinusoidal",
        choices=get_args(Positions),
    )

    def build(self, sizes: Sizes, head: Head) -> "TransformerNetwork":
        """The network, with fresh weights."""
        if self.start is not None and self.start > sizes.context:
            raise ParameterError(
                f"Transformer(start={self.start}): start must be at most the context, "
                f"{sizes.context}"
            )
        network = OneShotTransformer if self.decoding == "one_shot" else AutoregressiveTransformer
        return network(self, sizes, head)


class Memory(NamedTuple):
    """The encoded context: its steps, which of them are visible (None is all), and their times."""

    steps: Tensor
    mask: Tensor | None
    time: Tensor


class TransformerNetwork(CarriesSkip):
    """What both ways of decoding share: encoder, decoder blocks, output and skip."""

    def __init__(self, spec: Transformer, sizes: Sizes, head: Head, *, past: bool) -> None:
        super().__init__()
        self.head, self.sizes = head, sizes
        self.start = sizes.context // 2 if spec.start is None else spec.start
        placement = PLACEMENTS[spec.positions]
        self.embed_context, self.embed_decoder = (
            TokenEmbedding(
                sizes,
                spec.d_model,
                kernel=1,
                dropout=spec.dropout,
                past=holds_past,
                positions=placement.at_input(spec.d_model),
            )
            for holds_past in (True, past)
        )
        self.encoder = Encoder(
            [spec.encoder_block(placement=placement) for _ in range(spec.encoder_layers)],
            norm=nn.LayerNorm(spec.d_model),
            positions=placement.at_layers and placement.at_layers(),
        )
        self.decoder = Decoder(
            [spec.decoder_block(placement=placement) for _ in range(spec.decoder_layers)],
            norm=nn.LayerNorm(spec.d_model),
            positions=placement.at_layers and placement.at_layers(),
        )
        self.output = nn.Linear(spec.d_model, sizes.target * head.width)
        self.carry_skip(sizes, self.output, wanted=spec.skip)

    def encode(self, batch: Batch) -> Memory:
        """What the decoder reads of the context."""
        columns = window_columns(batch).part(0, self.sizes.context)
        steps, mask = self.encoder(
            self.embed_context(columns), key_mask=hidden_steps(batch), time=columns.time
        )
        return Memory(steps, mask, columns.time)

    def decode(
        self,
        columns: StepColumns,
        memory: Memory,
        *,
        last: int | None = None,
        caches: list[DecoderCache] | None = None,
    ) -> Float[Tensor, "batch step d_model"]:
        """Steps of the decoder, or the ``last`` so many."""
        decoded: Tensor = self.decoder(
            self.embed_decoder(columns),
            memory.steps,
            memory_mask=memory.mask,
            time=columns.time,
            memory_time=memory.time,
            last=last,
            caches=caches,
        )
        return decoded

    def baseline(self, batch: Batch) -> Float[Tensor, "batch horizon target"]:
        """The forecast of the linear skip, or zeros."""
        return self.skipped(batch)

    def read(
        self,
        decoded: Float[Tensor, "batch step d_model"],
        baseline: Float[Tensor, "batch step target"],
        *,
        steps: slice = slice(None),
    ) -> Float[Tensor, "batch step target width"]:
        """Raw forecasts of decoded ``steps`` of the horizon, on top of the baseline."""
        raw = self.output(decoded).unflatten(-1, (self.sizes.target, self.head.width))
        return self.carried(raw, baseline, steps=steps)


class OneShotTransformer(TransformerNetwork):
    """All steps of the horizon in one pass."""

    def __init__(self, spec: Transformer, sizes: Sizes, head: Head) -> None:
        super().__init__(spec, sizes, head, past=True)

    def forward(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """Forecast all steps at once."""
        columns = window_columns(batch).part(self.sizes.context - self.start)
        decoded = self.decode(columns, self.encode(batch), last=self.sizes.horizon)
        return self.read(decoded, self.baseline(batch))


class AutoregressiveTransformer(TransformerNetwork):
    """One step after the other; each token holds the target one step before its own."""

    def __init__(self, spec: Transformer, sizes: Sizes, head: Head) -> None:
        super().__init__(spec, sizes, head, past=False)

    def supervise(self, batch: Batch, generator: torch.Generator | None = None) -> Supervision:
        """Every step reads the true one before it, causally; outside training, the forecast."""
        if not self.training:
            return super().supervise(batch, generator)
        target = torch.cat([batch.past_target, batch.future_target], dim=1)
        observed = torch.cat([batch.past_observed, batch.future_observed], dim=1)
        first = self.sizes.context - self.start
        columns = _shifted(known_columns(batch), target, observed).part(first)
        decoded = self.decode(columns, self.encode(batch), last=self.sizes.horizon)
        raw = self.read(decoded, self.baseline(batch))
        weight = batch.future_observed * batch.weight[:, None, None]
        return raw, batch.future_target, weight

    def forward(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """Feed each point forecast back; keys and values of earlier steps are kept."""
        memory = self.encode(batch)
        baseline = self.baseline(batch)
        context, horizon = self.sizes.context, self.sizes.horizon
        known, caches = known_columns(batch), self.decoder.new_caches()
        target, observed = batch.past_target, batch.past_observed
        first, parts = context - self.start, []
        for step in range(horizon):
            stop = context + step + 1
            columns = _shifted(known.part(0, stop), target, observed).part(first)
            decoded = self.decode(columns, memory, caches=caches)
            now = slice(step, step + 1)
            raw = self.read(decoded[:, -1:], baseline[:, now], steps=now)
            parts.append(raw)
            target = torch.cat([target, self.head.point(raw)], dim=1)
            observed = torch.cat([observed, torch.ones_like(observed[:, :1])], dim=1)
            first = stop
        return torch.cat(parts, dim=1)


def _shifted(known: StepColumns, target: Tensor, observed: Tensor) -> StepColumns:
    """Put beside each step's plan the target of the step before; the first has none."""
    steps = known.time.shape[1]
    before = torch.cat([torch.zeros_like(target[:, :1]), target], dim=1)[:, :steps]
    seen = torch.cat([torch.zeros_like(observed[:, :1]), observed], dim=1)[:, :steps]
    return StepColumns(
        values=torch.cat([before, known.values], dim=-1),
        present=torch.cat([seen, known.present], dim=-1),
        codes=known.codes,
        time=known.time,
    )
