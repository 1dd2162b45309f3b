"""The decoder-only transformer: each patch forecasts the next one, as far as you like."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from tsformer.heads import Head
from tsformer.models.attentive import Attentive
from tsformer.models.base import Supervision
from tsformer.models.placement import PLACEMENTS
from tsformer.models.skip import CarriesSkip
from tsformer.models.tokens import StepColumns, key_mask, known_columns, window_columns
from tsformer.nn import (
    Dropout,
    KeyValueCache,
    PatchEmbedding,
)
from tsformer.params import KW_ONLY, param, params
from tsformer.windows import Batch, Sizes

__all__ = ["DecoderTransformer", "RunningStatistics", "running_statistics"]


@params
class DecoderTransformer(Attentive):
    """Causal blocks over patches; every patch forecasts the one behind it.

    Each target is a series of its own, forecast with weights that all share. Patches are counted
    from the origin backwards. A token holds a patch, its covariates and the plan of the next
    patch. In training every patch of the window is forecast from the true ones before it; a
    forecast feeds its own points back, patch by patch, and keeps keys and values.

    Every token is standardised by the running mean and deviation of what is measured up to its
    end, and so is its forecast: nothing later, not even through the scaling of the window, moves
    what is forecast at an earlier patch.

    Notes
    -----
    Deviations from Das et al. (2024), and why:

    - The defaults are small: the paper's are ``patch=32, d_model=1280, n_heads=16, d_ff=1280,
      layers=20, dropout=0.2, skip=False``, with output patches of 128 steps; here input and output
      patches are alike.
    - Running statistics take the place of those of the first patch, and each token holds how they
      moved.
    - A linear skip, fitted by ridge, carries the forecast and the network learns what is left;
      inside the context it looks at what is there so far, and the second half of the patches is
      trained on. ``skip=False`` switches it off, and all patches are trained on.
    - A patch is embedded by one linear map, and forecast by one, in the place of residual blocks.
    - Places are relative (rotary, Su et al., 2021), so that a patch of the context teaches what
      holds at the origin.
    - Which steps are measured is embedded beside their values, and a patch without any is hidden
      from attention. Covariates enter as described; the paper has neither.
    - Inside the context a patch counts only if what is before it is not constant.

    References
    ----------
    Das et al. (2024), "A Decoder-Only Foundation Model for Time-Series Forecasting", ICML.

    Radford et al. (2018), "Improving Language Understanding by Generative Pre-Training".

    Su et al. (2021), "RoFormer: Enhanced Transformer with Rotary Position Embedding".
    """

    _: KW_ONLY
    patch: int = param("Steps in a patch.", default=16, low=1)
    layers: int = param("Causal blocks.", default=2, low=1)
    norm: Literal["post", "pre"] = param(
        "LayerNorm after each residual sum, or before each part.",
        default="pre",
        choices=("post", "pre"),
    )

    def build(self, sizes: Sizes, head: Head) -> "DecoderNetwork":
        """The network, with fresh weights."""
        return DecoderNetwork(self, sizes, head)


class RunningStatistics(NamedTuple):
    """Of all observed steps up to the end of each patch, (row, count) each."""

    mean: Tensor
    """0 before the first observation."""
    scale: Tensor
    """The deviation; 1 where constant so far."""
    varied: Tensor
    """Whether what is seen so far is not constant."""
    moved: Tensor
    """(row, count, 2): how far the mean moved, and the scale before, in units of the scale."""


def running_statistics(
    values: Float[Tensor, "row count patch"], observed: Bool[Tensor, "row count patch"]
) -> RunningStatistics:
    """Mean and deviation so far; shifting or stretching all values does so to them.

    Examples
    --------
    >>> values = torch.tensor([1.0, 1.0, 3.0, 99.0]).reshape(1, 2, 2)
    >>> observed = torch.tensor([True, True, True, False]).reshape(1, 2, 2)
    >>> found = running_statistics(values, observed)
    >>> found.mean, found.varied
    (tensor([[1.0000, 1.6667]]), tensor([[False,  True]]))
    """
    kept = values.masked_fill(~observed, 0).double()  # small differences of large sums
    number = observed.sum(-1).cumsum(-1)
    count = number.clamp(min=1)
    mean = kept.sum(-1).cumsum(-1) / count
    scale = (kept.square().sum(-1).cumsum(-1) / count - mean.square()).clamp(min=0).sqrt()
    varied = scale > 1e-6 * (1 + mean.abs())
    scale = scale.masked_fill(~varied, 1)
    before = functional.pad(number > 0, (1, 0))[:, :-1]
    shift = (mean - functional.pad(mean, (1, 0))[:, :-1]).masked_fill(~before, 0)
    earlier = functional.pad(scale.masked_fill(~varied, 0), (1, 0))[:, :-1]
    moved = torch.stack([shift, earlier], -1) / scale.unsqueeze(-1)
    return RunningStatistics(
        mean.to(values.dtype), scale.to(values.dtype), varied, moved.to(values.dtype)
    )


class _Window(NamedTuple):
    """What all targets have in common: (batch, count, ...) each, patch by patch."""

    tokens: Tensor
    measured: Tensor
    time: Tensor


class DecoderNetwork(CarriesSkip):
    """The network of a :class:`DecoderTransformer`; targets are rows."""

    def __init__(self, spec: DecoderTransformer, sizes: Sizes, head: Head) -> None:
        super().__init__()
        self.head, self.sizes, self.patch = head, sizes, spec.patch
        self.count, self.ahead = -(-sizes.context // spec.patch), -(-sizes.horizon // spec.patch)
        self.d_model = spec.d_model
        self.embed_values = nn.Linear(2 * spec.patch + 2, spec.d_model)
        known = (*sizes.known_cardinalities, *sizes.static_cardinalities)
        self.embed_covariates = _embedding(
            spec, sizes.past + sizes.known + sizes.static, (*sizes.past_cardinalities, *known)
        )
        has_known = sizes.known or sizes.known_cardinalities
        self.embed_known = (
            _embedding(spec, sizes.known + sizes.static, known) if has_known else None
        )
        self.dropout = Dropout(spec.dropout)
        self.blocks = nn.ModuleList(
            spec.encoder_block(placement=PLACEMENTS["rotary"]) for _ in range(spec.layers)
        )
        self.norm = nn.LayerNorm(spec.d_model)
        self.output = nn.Linear(spec.d_model, spec.patch * head.width)
        self.carry_skip(sizes, self.output, wanted=spec.skip)

    def forward(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """Feed each patch of points back; keys and values of earlier patches are kept."""
        window, caches = self._window(batch), [KeyValueCache() for _ in self.blocks]
        values, observed = self._cut(batch.past_target), self._cut(batch.past_observed)
        baseline = None
        if self.skip is not None:
            baseline = self.skipped(batch)
            spare = self.ahead * self.patch - self.sizes.horizon
            baseline = functional.pad(baseline, (0, 0, 0, spare)).split(self.patch, dim=1)
        first, parts = 0, []
        for step in range(self.ahead):
            raw, _ = self._decode(window, values, observed, first=first, caches=caches)
            raw = raw[:, -self.patch :]
            if baseline is not None:
                raw = self.head.shift(raw, baseline[step])
            parts.append(raw)
            values = torch.cat([values, self._rows(self.head.point(raw))], dim=1)
            observed = torch.cat([observed, torch.ones_like(observed[:, :1])], dim=1)
            first = self.count + step
        return torch.cat(parts, dim=1)[:, : self.sizes.horizon]

    def skip_errors(self, batch: Batch) -> Float[Tensor, "batch horizon target"]:
        """Errors in running deviations, as whatever the network itself forecasts.

        Without a skip they are those of the running mean, which the network starts from.
        """
        mean, scale = self._at_origin(batch)
        errors: Tensor = super().skip_errors(batch)
        return (errors - mean if self.skip is None else errors) / scale

    def own_raw(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """The forecast of a network without a skip, in running deviations from the mean."""
        mean, scale = self._at_origin(batch)
        return self.head.restore(self(batch), -mean / scale, 1 / scale)  # restored the other way

    def _at_origin(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Running mean and deviation of all of the context, (batch, 1, target) each."""
        seen = running_statistics(self._cut(batch.past_target), self._cut(batch.past_observed))
        mean, scale = seen.mean[:, -1], seen.scale[:, -1]
        shape = (-1, 1, self.sizes.target)
        return mean.unflatten(0, shape), scale.unflatten(0, shape)

    def supervise(self, batch: Batch, generator: torch.Generator | None = None) -> Supervision:
        """Every next patch from the true ones before it; outside training, the forecast.

        The last ``horizon`` steps are the future, those before them belong to the context.
        """
        if not self.training:
            return super().supervise(batch, generator)
        target = torch.cat([batch.past_target, batch.future_target], dim=1)
        observed = torch.cat([batch.past_observed, batch.future_observed], dim=1)
        raw, varied = self._decode(
            self._window(batch), self._cut(target)[:, :-1], self._cut(observed)[:, :-1]
        )
        first = 0 if self.skip is None else self.count // 2
        inside = (self.count - 1 - first) * self.patch
        steps = inside + self.sizes.horizon
        raw = raw[:, first * self.patch :][:, :steps]
        counts = observed[:, -steps:]
        if inside:
            fair = varied[:, first : self.count - 1].repeat_interleave(self.patch, dim=1)
            counts = torch.cat([counts[:, :inside] & fair, counts[:, inside:]], dim=1)
        if self.skip is not None:
            raw = self.head.shift(raw, self._baselines(batch, inside))
            # the skip knows no more than a horizon of each next patch
            place = torch.arange(steps, device=raw.device)
            known = (place % self.patch < self.sizes.horizon) | (place >= inside)
            counts = counts & known[:, None]
        return raw, target[:, -steps:], counts * batch.weight[:, None, None]

    def _decode(
        self,
        window: _Window,
        values: Float[Tensor, "row count patch"],
        observed: Bool[Tensor, "row count patch"],
        *,
        first: int = 0,
        caches: Sequence[KeyValueCache] | None = None,
    ) -> tuple[Float[Tensor, "batch time target width"], Bool[Tensor, "batch new target"]]:
        """Raw forecasts of what follows the patches from ``first`` on, and what has varied."""
        stop, rows = values.shape[1], (len(window.time), self.sizes.target)
        found = RunningStatistics(
            *(part[:, first:] for part in running_statistics(values, observed))
        )
        mean, scale = found.mean.unsqueeze(-1), found.scale.unsqueeze(-1)
        seen = observed[:, first:]
        standard = ((values[:, first:] - mean) / scale).masked_fill(~seen, 0)
        tokens = self.embed_values(torch.cat([standard, seen.to(values.dtype), found.moved], -1))
        tokens = tokens.unflatten(0, rows) + window.tokens[:, None, first:stop]
        visible = observed.any(-1).unflatten(0, rows) | window.measured[:, None, :stop]
        keys = key_mask(visible.flatten(0, 1))
        time = window.time[:, first:stop].repeat_interleave(self.sizes.target, dim=0)
        steps = self.dropout(tokens).flatten(0, 1)
        for index, block in enumerate(self.blocks):
            cache = None if caches is None else caches[index]
            steps = block(steps, key_mask=keys, causal=True, cache=cache, time=time)
        raw = self.output(self.norm(steps)).unflatten(-1, (self.patch, self.head.width))
        if self.offset is not None:
            raw = (raw.unflatten(0, rows) + self._offset(first, stop)).flatten(0, 1)
        raw = raw.unsqueeze(3).flatten(0, 1)
        # the skip brings the level with it
        level = mean if self.skip is None else torch.zeros_like(mean)
        raw = self.head.restore(
            raw, level.flatten(0, 1).unsqueeze(-1), scale.flatten(0, 1)[..., None]
        )
        raw = raw.squeeze(2).unflatten(0, (*rows, -1)).flatten(2, 3).movedim(1, 2)
        return raw, found.varied.unflatten(0, rows).movedim(1, 2)

    def _offset(self, first: int, stop: int) -> Float[Tensor, "target new patch width"]:
        """The offset of what follows each patch: inside the context that of the first steps."""
        assert self.offset is not None
        begins = (torch.arange(first, stop) + 1 - self.count).clamp(min=0) * self.patch
        steps = begins.unsqueeze(1) + torch.arange(self.patch)
        # what is beyond the horizon is cut off
        offset = self.offset[steps.clamp(max=self.sizes.horizon - 1)]
        return offset.movedim(2, 0)

    def _baselines(self, batch: Batch, inside: int) -> Float[Tensor, "batch time target"]:
        """The skip behind each prefix of the context, for ``inside`` steps, and at the origin."""
        context, horizon = self.sizes.context, self.sizes.horizon
        at_origin = self.skipped(batch)
        if not inside:
            return at_origin
        count = inside // self.patch

        def prefixes(part: Tensor, steps: int) -> Tensor:
            padded = functional.pad(part, (0, 0, inside, 0))
            return padded.unfold(1, steps, self.patch)[:, :count].flatten(0, 1).mT

        before = batch._replace(
            past_target=prefixes(batch.past_target, context),
            past_observed=prefixes(batch.past_observed, context),
            past=prefixes(batch.past, context),
            past_present=prefixes(batch.past_present, context),
            known=prefixes(batch.known, context + horizon),
            known_present=prefixes(batch.known_present, context + horizon),
            scale=batch.scale.repeat_interleave(count, dim=0),
        )
        patches = self.skipped(before)[:, : self.patch]
        patches = functional.pad(patches, (0, 0, 0, self.patch - min(self.patch, horizon)))
        return torch.cat([patches.unflatten(0, (len(at_origin), -1)).flatten(1, 2), at_origin], 1)

    def _window(self, batch: Batch) -> _Window:
        """Everything but the targets."""
        target, past = self.sizes.target, self.sizes.past
        columns = window_columns(batch)
        columns = columns._replace(
            values=columns.values[..., target:], present=columns.present[..., target:]
        )
        measured = self._whole(columns.present[..., :past]).any(-1).unflatten(1, (-1, self.patch))
        # the last step of a patch of the context is never a filled-up one
        time = self._whole(batch.time.unsqueeze(-1))[:, self.patch - 1 :: self.patch, 0]
        shape = (len(time), self.count + self.ahead - 1, self.d_model)
        tokens = time.new_zeros(shape)
        if self.embed_covariates is not None:
            tokens = tokens + self._embed(self.embed_covariates, columns)[:, :-1]
        if self.embed_known is not None:
            tokens = tokens + self._embed(self.embed_known, known_columns(batch))[:, 1:]
        return _Window(tokens, measured.any(-1)[:, :-1], time[:, :-1] / self.patch)

    def _embed(self, embed: PatchEmbedding, columns: StepColumns) -> Tensor:
        values = columns.values.masked_fill(~columns.present, 0)
        parts = (self._whole(part) for part in (values, columns.present, columns.codes))
        embedded: Tensor = embed(*parts)[:, :-1]  # the last repeats the last step
        return embedded

    def _whole(self, steps: Tensor) -> Tensor:
        """Fill the steps up to whole patches, before the context and behind the horizon."""
        before = self.count * self.patch - self.sizes.context
        after = -(before + steps.shape[1]) % self.patch
        return functional.pad(steps, (0, 0, before, after))

    def _cut(self, steps: Tensor) -> Tensor:
        return self._rows(self._whole(steps))

    def _rows(self, steps: Tensor) -> Tensor:
        """Whole patches of (batch, time, target) as (row, count, patch)."""
        rows: Tensor = steps.unflatten(1, (-1, self.patch)).movedim(-1, 1).flatten(0, 1)
        return rows


def _embedding(
    spec: DecoderTransformer, features: int, cardinalities: tuple[int, ...]
) -> PatchEmbedding | None:
    if not features and not cardinalities:
        return None
    return PatchEmbedding(
        features, spec.d_model, cardinalities, patch=spec.patch, stride=spec.patch
    )
