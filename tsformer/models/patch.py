"""The patch transformer: a stretch of time is a token, and each channel may stand alone."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tsformer.heads import Head
from tsformer.models.attentive import Attentive
from tsformer.models.skip import SkipNetwork
from tsformer.models.tokens import (
    TokenEmbedding,
    covariate_columns,
    key_mask,
    known_columns,
)
from tsformer.nn import (
    Dropout,
    Encoder,
    PatchEmbedding,
    StepBatchNorm,
    cut_patches,
    patch_count,
    sinusoidal,
)
from tsformer.params import KW_ONLY, Params, group, param, params
from tsformer.windows import Batch, Sizes

__all__ = ["PatchTransformer", "Patches"]


@params
class Patches(Params):
    """What tells one patch from another: its place, and what it is normalised over.

    Examples
    --------
    >>> Patches(patch_norm="batch").positions
    'learned'
    """

    _: KW_ONLY
    patch_norm: Literal["layer", "batch"] = param(
        "What normalises a patch.", default="layer", choices=("layer", "batch")
    )
    positions: Literal["learned", "sinusoidal"] = param(
        "A vector learned for each place, or waves of the patch's mean time.",
        default="learned",
        choices=("learned", "sinusoidal"),
    )


@params
class PatchTransformer(Attentive):
    """Encoder over patches of the context and one linear map from all of them to the horizon.

    The image patches of the Vision Transformer become time patches. With
    ``channels="independent"`` every target is a series of its own, forecast with weights that all
    share, and no target sees another; with ``"joint"`` a patch holds all targets. A context that
    fills no patch is filled up with its last step.

    Covariates of the context are embedded with the patch they belong to, for every channel alike.
    The plan of the horizon, where there is one, adds to each step what a small network makes of
    that step's known covariates and of the mean over all patches.

    Notes
    -----
    Deviations from Nie et al. (2023), and why:

    - The defaults are small: the paper's are ``d_model=128, n_heads=16, d_ff=256, dropout=0.2,
      patch_norm="batch", skip=False``, on a context of 336 or 512.
    - Each patch is normalised by itself (``patch_norm="layer"``), so that a series does not depend
      on others in its batch; ``"batch"`` is the paper's, over batch and patches.
    - A linear skip, fitted by ridge, carries the forecast and the network learns what is left;
      ``skip=False`` switches it off.
    - Which steps are measured is embedded beside their values, and a patch without any is hidden
      from attention: the paper has no gaps.
    - Covariates, which the paper has none of, enter as described above; without them nothing is
      added.
    - Windows are standardised in front of the network, in the place of the paper's instance norm.
    - Scores of one layer are not added to those of the next, as the authors' code does and the
      paper does not say.

    As in the paper, ``stride`` repetitions of the last step follow the context; where ``stride``
    equals ``patch`` and divides the context, the last patch holds nothing else.

    References
    ----------
    Nie et al. (2023), "A Time Series is Worth 64 Words: Long-term Forecasting with Transformers",
    ICLR.

    Dosovitskiy et al. (2021), "An Image is Worth 16x16 Words: Transformers for Image Recognition
    at Scale", ICLR.
    """

    _: KW_ONLY
    patch: int = param("Steps in a patch.", default=16, low=1)
    stride: int = param(
        "Steps from the beginning of one patch to the next; at most patch.", default=8, low=1
    )
    channels: Literal["independent", "joint"] = param(
        "Whether each target is a series of its own, or a patch holds all targets.",
        default="independent",
        choices=("independent", "joint"),
    )
    encoder_layers: int = param("Encoder blocks.", default=3, low=1)
    patches: Patches | None = group(Patches, default=None)

    def build(self, sizes: Sizes, head: Head) -> "PatchNetwork":
        """The network, with fresh weights."""
        return PatchNetwork(self, sizes, head)


class PatchNetwork(SkipNetwork):
    """The network of a :class:`PatchTransformer`.

    A *group* is what is forecast together: one target or all of them. Groups are rows.
    """

    def __init__(self, spec: PatchTransformer, sizes: Sizes, head: Head) -> None:
        super().__init__()
        self.head, self.sizes = head, sizes
        self.patch, self.stride = spec.patch, spec.stride
        self.members = sizes.target if spec.channels == "joint" else 1
        covariates = sizes.past + sizes.known + sizes.static
        cardinalities = sizes.cardinalities
        self.embed_target = self._embedding(self.members, spec.d_model)
        has_covariates = covariates or cardinalities
        self.embed_covariates = (
            self._embedding(covariates, spec.d_model, cardinalities) if has_covariates else None
        )
        count = patch_count(sizes.context, patch=spec.patch, stride=spec.stride)
        self.places = (
            nn.Parameter(torch.empty(count, spec.d_model).uniform_(-0.02, 0.02))
            if spec.positions == "learned"
            else None
        )
        self.dropout = Dropout(spec.dropout)
        self.encoder = _encoder(spec)
        numbers = self.members * head.width
        self.output = nn.Linear(count * spec.d_model, sizes.horizon * numbers)
        known = sizes.known or sizes.known_cardinalities
        self.known_output = (
            KnownOutput(sizes, spec.d_model, numbers, spec.dropout) if known else None
        )
        outputs = (
            [self.output] if self.known_output is None else [self.output, self.known_output.output]
        )
        self.carry_skip(sizes, *outputs, wanted=spec.skip)

    def own_forecast(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """All steps of the horizon in one pass."""
        memory = self.encode(batch)
        raw: Tensor = self.output(memory.flatten(2)).unflatten(-1, (self.sizes.horizon, -1))
        if self.known_output is not None:
            raw = raw + self.known_output(batch, memory.mean(2))
        # (batch, group, horizon, member x width): groups and their members are the targets
        raw = raw.unflatten(-1, (self.members, self.head.width)).movedim(1, 2).flatten(2, 3)
        return raw

    def encode(self, batch: Batch) -> Float[Tensor, "batch group count d_model"]:
        """The encoded patches of every group."""
        values = batch.past_target.masked_fill(~batch.past_observed, 0)
        observed = self._grouped(batch.past_observed)
        patches = self.embed_target(self._grouped(values).flatten(0, 1), observed.flatten(0, 1))
        patches = patches.unflatten(0, observed.shape[:2])
        patches = patches + self._shared(batch, patches.shape[-1]).unsqueeze(1)
        measured = observed.any(-1) | batch.past_present.any(-1).unsqueeze(1)
        visible = self._cut(measured.flatten(0, 1).unsqueeze(-1)).any(-1)[..., 0]
        memory, _ = self.encoder(self.dropout(patches).flatten(0, 1), key_mask=key_mask(visible))
        encoded: Tensor = memory.unflatten(0, observed.shape[:2])
        return encoded

    def _shared(self, batch: Batch, d_model: int) -> Float[Tensor, "#batch count d_model"]:
        """What all groups have in common: the place of a patch, and its covariates."""
        if self.places is not None:
            shared = self.places.unsqueeze(0)
        else:
            time = batch.time[:, : self.sizes.context, None]
            shared = sinusoidal(self._cut(time).mean(-1)[..., 0], d_model)
        if self.embed_covariates is None:
            return shared
        columns = covariate_columns(batch)
        values = columns.values.masked_fill(~columns.present, 0)
        covariates: Tensor = self.embed_covariates(values, columns.present, columns.codes)
        return shared + covariates

    def _embedding(
        self, features: int, d_model: int, cardinalities: tuple[int, ...] = ()
    ) -> PatchEmbedding:
        return PatchEmbedding(
            features, d_model, cardinalities, patch=self.patch, stride=self.stride
        )

    def _cut(self, steps: Tensor) -> Tensor:
        return cut_patches(steps, patch=self.patch, stride=self.stride)

    def _grouped(self, steps: Tensor) -> Tensor:
        """(batch, time, target) as (batch, group, time, member)."""
        grouped: Tensor = steps.unflatten(-1, (-1, self.members)).movedim(2, 1)
        return grouped


class KnownOutput(nn.Module):
    """What the plan of a step adds to its forecast, seen with what the context is like."""

    def __init__(self, sizes: Sizes, d_model: int, numbers: int, dropout: float) -> None:
        super().__init__()
        self.context = sizes.context
        self.embed = TokenEmbedding(
            sizes, d_model, kernel=1, dropout=dropout, past=False, target=False
        )
        self.activation = nn.GELU()
        self.output = nn.Linear(d_model, numbers)

    def forward(
        self, batch: Batch, summary: Float[Tensor, "batch group d_model"]
    ) -> Float[Tensor, "batch group horizon number"]:
        """Numbers to add, for each group and step of the horizon."""
        steps = self.embed(known_columns(batch).part(self.context))
        mixed = self.activation(steps.unsqueeze(1) + summary.unsqueeze(2))
        numbers: Tensor = self.output(mixed)
        return numbers


def _encoder(spec: PatchTransformer) -> Encoder:
    normalise = StepBatchNorm if spec.patch_norm == "batch" else nn.LayerNorm
    return Encoder(
        [spec.encoder_block(normalise=normalise) for _ in range(spec.encoder_layers)],
        norm=normalise(spec.d_model) if spec.norm == "pre" else None,
    )
