"""The masked transformer: hide patches, rebuild them; the future is a patch that is hidden."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from tsformer.heads import Head
from tsformer.models.attentive import Attentive
from tsformer.models.base import Network, Supervision
from tsformer.models.placement import PLACEMENTS
from tsformer.models.scaling import Normaliser
from tsformer.models.skip import SkipNetwork
from tsformer.models.tokens import key_mask, window_columns
from tsformer.nn import Dropout, Encoder, PatchEmbedding, sinusoidal
from tsformer.params import KW_ONLY, param, params
from tsformer.windows import Batch, Sizes

__all__ = ["MaskedNetwork", "MaskedTransformer", "Rebuilding", "hidden_patches"]


@params
class MaskedTransformer(Attentive):
    """Encoder over patches of context and horizon that rebuilds those that are hidden.

    Each target is a series of its own, forecast with weights that all share. A hidden patch is
    one learned vector with its place in time and its known covariates; a forecast hides the
    horizon. Weights fit every context and horizon, so that a network may first learn to rebuild
    patches of many series (``MaskedPretrainer``) and then to forecast one.

    Notes
    -----
    Deviations from Devlin et al. (2019) and from the self-supervised part of Nie et al. (2023),
    and why:

    - The defaults are small: Nie et al. have ``patch=12, d_model=128, n_heads=16, d_ff=512,
      dropout=0.2, skip=False`` on a context of 512.
    - The horizon stands in the window, hidden, and is rebuilt as any patch is: Nie et al. replace
      the output by a new one to forecast.
    - What is hidden is always a learned vector, never a random patch or the true one.
    - A linear skip, fitted by ridge to what the fresh or pretrained network leaves of the horizon,
      is added to the forecast, and not to a patch rebuilt in pretraining; ``skip=False`` switches
      it off.
    - Each token is normalised by itself, not over the batch.
    - Places are told twice: by sinusoids on the tokens and, relative to each other, by rotary
      positions (Su et al., 2021). Hidden patches that differ by sinusoids alone do not learn a
      wave of 9.3 steps in 8 epochs of 33 steps; with both they do.
    - Which steps are measured is embedded beside their values, and a visible patch without any is
      hidden from attention. Covariates are embedded with their patch; past ones are hidden with it.

    References
    ----------
    Devlin et al. (2019), "BERT: Pre-training of Deep Bidirectional Transformers for Language
    Understanding", NAACL.

    Nie et al. (2023), "A Time Series is Worth 64 Words: Long-term Forecasting with Transformers",
    ICLR.

    Su et al. (2021), "RoFormer: Enhanced Transformer with Rotary Position Embedding".
    """

    _: KW_ONLY
    patch: int = param("Steps in a patch.", default=8, low=1)
    encoder_layers: int = param("Encoder blocks.", default=3, low=1)
    norm: Literal["post", "pre"] = param(
        "LayerNorm after each residual sum, or before each part.",
        default="pre",
        choices=("post", "pre"),
    )

    def build(self, sizes: Sizes, head: Head) -> "MaskedNetwork":
        """The network, with fresh weights."""
        return MaskedNetwork(self, sizes, head)


class MaskedNetwork(SkipNetwork):
    """The network of a :class:`MaskedTransformer`; targets are rows."""

    def __init__(self, spec: MaskedTransformer, sizes: Sizes, head: Head) -> None:
        super().__init__()
        self.head, self.sizes, self.patch = head, sizes, spec.patch
        self.before = -sizes.context % spec.patch
        self.after = -sizes.horizon % spec.patch
        self.count = (self.before + sizes.steps + self.after) // spec.patch
        self.embed_values = nn.Linear(2 * spec.patch, spec.d_model)
        self.hidden = nn.Parameter(torch.empty(spec.d_model).normal_(std=0.02))
        covariates = sizes.past + sizes.known + sizes.static
        cardinalities = sizes.cardinalities
        self.embed_covariates = (
            PatchEmbedding(
                covariates, spec.d_model, cardinalities, patch=spec.patch, stride=spec.patch
            )
            if covariates or cardinalities
            else None
        )
        self.dropout = Dropout(spec.dropout)
        self.encoder = Encoder(
            [
                spec.encoder_block(placement=PLACEMENTS["rotary"])
                for _ in range(spec.encoder_layers)
            ],
            norm=nn.LayerNorm(spec.d_model),
        )
        self.output = nn.Linear(spec.d_model, spec.patch * head.width)
        self.carry_skip(sizes, self.output, wanted=spec.skip)

    def prepare(
        self, train: Iterable[Batch], validation: Iterable[Batch], normaliser: Normaliser
    ) -> None:
        """Fit the linear skip to what the network leaves of the horizon, and the offset."""
        if self.skip is not None:
            trained = self.training
            self.eval()
            self.skip.fit_ridge(
                _Remainders(self, train, normaliser),
                _Remainders(self, validation, normaliser),
                covariates=self.covariates,
            )
            self.train(trained)
        self.fit_offset(train, validation, normaliser)

    def own_forecast(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """Rebuild the horizon, all of it at once."""
        horizon = self.sizes.horizon
        values = functional.pad(batch.past_target, (0, 0, 0, horizon))
        visible = functional.pad(batch.past_observed, (0, 0, 0, horizon))
        at = torch.arange(self.count, device=values.device)
        hide = (at >= (self.before + self.sizes.context) // self.patch).expand(len(values), -1)
        return self.rebuild(batch, values, visible, hide)[:, -horizon:]

    def rebuild(
        self,
        batch: Batch,
        values: Float[Tensor, "batch time target"],
        visible: Bool[Tensor, "batch time target"],
        hide: Bool[Tensor, "batch count"],
    ) -> Float[Tensor, "batch time target width"]:
        """Raw values of every step of the window, in the units of ``values``.

        Parameters
        ----------
        batch
            The covariates; its targets are not looked at.
        values
            Targets over context and horizon; what is not visible may be anything.
        visible
            What may be looked at.
        hide
            The patches to rebuild, see :func:`hidden_patches`; nothing is visible in them.
        """
        rows = (len(values), self.sizes.target)
        seen = self._cut(visible) & ~hide.repeat_interleave(rows[1], dim=0).unsqueeze(-1)
        shown = self._cut(values).masked_fill(~seen, 0)
        tokens = self.embed_values(torch.cat([shown, seen.to(shown.dtype)], -1)).unflatten(0, rows)
        tokens = torch.where(hide[:, None, :, None], self.hidden, tokens)
        time = self._time(batch)
        places = sinusoidal(time, self.hidden.shape[0])
        covariates, measured = self._covariates(batch, hide)
        keys = seen.any(-1).unflatten(0, rows) | (measured | hide).unsqueeze(1)
        steps, _ = self.encoder(
            self.dropout(tokens + (places + covariates).unsqueeze(1)).flatten(0, 1),
            key_mask=key_mask(keys.flatten(0, 1)),
            time=(time / self.patch).repeat_interleave(rows[1], dim=0),
        )
        raw = self.output(steps).unflatten(-1, (self.patch, self.head.width)).flatten(1, 2)
        raw = raw.unflatten(0, rows).movedim(1, 2)
        whole: Tensor = raw[:, self.before : self.before + self.sizes.steps]
        return whole

    def hidden_steps(self, hide: Bool[Tensor, "batch count"]) -> Bool[Tensor, "batch time 1"]:
        """Which steps of the window stand in hidden patches."""
        steps = hide.repeat_interleave(self.patch, dim=1)
        return steps[:, self.before : self.before + self.sizes.steps].unsqueeze(-1)

    def _time(self, batch: Batch) -> Float[Tensor, "batch count"]:
        """The mean time of each patch."""
        ends = (self.before, self.after)
        time = functional.pad(batch.time.unsqueeze(1), ends, mode="replicate")
        mean: Tensor = time.flatten(1).unflatten(1, (-1, self.patch)).mean(-1)
        return mean

    def _covariates(
        self, batch: Batch, hide: Bool[Tensor, "batch count"]
    ) -> tuple[Float[Tensor, "batch count #d_model"], Bool[Tensor, "batch count"]]:
        """Embedded covariates of all patches, and where a past one is measured."""
        target, past = self.sizes.target, self.sizes.past
        columns, shown = window_columns(batch), ~self.hidden_steps(hide)
        values, present = columns.values[..., target:], columns.present[..., target:]
        present = torch.cat([present[..., :past] & shown, present[..., past:]], dim=-1)
        measured = self._whole(present[..., :past]).any(-1).unflatten(1, (-1, self.patch)).any(-1)
        if self.embed_covariates is None:
            return values.new_zeros(*hide.shape, 1), measured
        categories = len(self.sizes.past_cardinalities)
        codes = columns.codes
        codes = torch.cat([codes[..., :categories] * shown, codes[..., categories:]], dim=-1)
        parts = (values.masked_fill(~present, 0), present, codes)
        embedded: Tensor = self.embed_covariates(*(self._whole(part) for part in parts))
        return embedded[:, :-1], measured  # the last patch repeats the last step

    def _whole(self, steps: Tensor) -> Tensor:
        """Fill the window up to whole patches, before the context and behind the horizon."""
        return functional.pad(steps, (0, 0, self.before, self.after))

    def _cut(self, steps: Tensor) -> Tensor:
        """(batch, time, target) as (row, count, patch)."""
        whole = self._whole(steps).unflatten(1, (-1, self.patch))
        rows: Tensor = whole.movedim(-1, 1).flatten(0, 1)
        return rows


def hidden_patches(
    rows: int, count: int, ratio: float, generator: torch.Generator | None = None
) -> Bool[Tensor, "batch count"]:
    """Draw which patches to hide: about ``ratio`` of each window, at least one and never all.

    In every other window, by chance, they are the last ones, as in a forecast; in the others they
    lie anywhere.

    Examples
    --------
    >>> hide = hidden_patches(100, 10, 0.4, torch.Generator().manual_seed(0))
    >>> hide.sum(1).unique(), hide[:, -4:].all(1).sum() > 30
    (tensor([4]), tensor(True))
    """
    number = min(max(1, round(ratio * count)), max(1, count - 1))
    lots = torch.rand(rows, count, generator=generator)
    last = torch.rand(rows, 1, generator=generator) < 0.5
    places = torch.arange(count, dtype=lots.dtype).expand(rows, -1)
    chosen = torch.where(last, places, lots).topk(number, dim=1).indices
    return torch.zeros(rows, count, dtype=torch.bool).scatter(1, chosen, True)


class Rebuilding(Network):
    """A masked network that is trained to rebuild hidden patches of whole windows.

    The window is normalised by what stays visible; only hidden, measured steps count, and
    windows whose visible part is constant do not.

    Parameters
    ----------
    network
        What is trained.
    ratio
        Share of the patches hidden.
    normaliser
        What normalises by the visible.
    """

    def __init__(self, network: MaskedNetwork, ratio: float, normaliser: Normaliser) -> None:
        super().__init__()
        self.network, self.head, self.sizes = network, network.head, network.sizes
        network.offset = None  # that of a forecast: what is rebuilt may lie anywhere
        self.ratio, self.normaliser = ratio, normaliser

    def forward(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """The forecast of the network."""
        forecast: Tensor = self.network(batch)
        return forecast

    def supervise(self, batch: Batch, generator: torch.Generator | None = None) -> Supervision:
        """The whole window: hidden patches rebuilt, against what they hold."""
        network = self.network
        values = torch.cat([batch.past_target, batch.future_target], dim=1)
        observed = torch.cat([batch.past_observed, batch.future_observed], dim=1)
        hide = hidden_patches(len(values), network.count, self.ratio, generator)
        hide = hide.to(values.device)
        visible = observed & ~network.hidden_steps(hide)
        location, scale = self.normaliser.statistics(values, visible)
        shown = self.normaliser.apply(values, visible, location, scale)
        raw = network.rebuild(batch, shown, visible, hide)
        raw = self.head.restore(raw, location, scale)
        highest = values.masked_fill(~visible, -torch.inf).amax(1, keepdim=True)
        lowest = values.masked_fill(~visible, torch.inf).amin(1, keepdim=True)
        counts = observed & ~visible & (highest > lowest)
        return raw, values, counts * batch.weight[:, None, None]


@dataclass(frozen=True)
class _Remainders:
    """Batches whose future is what a network leaves of it; may be iterated more than once."""

    network: MaskedNetwork
    batches: Iterable[Batch]
    normaliser: Normaliser

    def __iter__(self) -> Iterator[Batch]:
        head = self.network.head
        for batch in self.batches:
            normalised = self.normaliser.normalise(batch)
            raw = self.network.own_forecast(normalised)
            scale = normalised.scale
            point = head.point(head.restore(raw, torch.zeros_like(scale), scale))
            yield batch._replace(future_target=batch.future_target - point.detach())
