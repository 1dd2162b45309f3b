"""The linear skip of a network that is trained, and the networks that carry one."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tsformer.heads import Head
from tsformer.models.base import Network
from tsformer.models.residuals import held_out_residuals
from tsformer.models.scaling import Normaliser
from tsformer.nn import LinearSkip
from tsformer.nn.scaling import observed_mean
from tsformer.windows import Batch, Sizes

__all__ = ["CarriesSkip", "Covariates", "SkipNetwork", "TrainedSkip"]

_MOST = 1024
"""Numbers beside the past, all targets together: a ridge of so many takes seconds."""


@dataclass(frozen=True)
class Covariates:
    """What a ridge forecast sees of known and past covariates beside the past of the targets.

    Known ones over the horizon, and both kinds over as many of the latest steps of the context,
    each less its mean over the context: a target that is a multiple of a covariate is forecast
    exactly, at a level that was never seen. What is missing counts as the mean. The steps of the
    context that would bring it above 1,024 numbers, counted once for each target, are left out, and
    the known ones if the horizon alone would.

    Days off are a known covariate like any other. The cycles of the calendar, categories, statics
    and lags are not looked at. Of the cycles a forecast at a fixed hour would learn no more than
    the day of the week, which gains next to nothing, and lags are better had by a longer context.

    Examples
    --------
    >>> Covariates(Sizes(context=168, horizon=24, known=6, calendar=4)).number
    96
    """

    sizes: Sizes

    @property
    def number(self) -> int:
        """How many numbers each target has weights for; 0 without covariates."""
        return self.sizes.horizon * self._known + self._steps * (self._known + self.sizes.past)

    @property
    def _known(self) -> int:
        sizes = self.sizes
        known = sizes.known - sizes.calendar - sizes.lagged
        return known if sizes.horizon * known * sizes.target <= _MOST else 0

    @property
    def _steps(self) -> int:
        """Steps of the context that are looked at."""
        columns = self._known + self.sizes.past
        if not columns:
            return 0
        left = _MOST // self.sizes.target - self.sizes.horizon * self._known
        return min(self.sizes.context, self.sizes.horizon, left // columns)

    def __call__(self, batch: Batch) -> Float[Tensor, "batch number target"]:
        """The numbers, in the units of the panel; divide by ``scale`` beside normalised targets."""
        context, begin = self.sizes.context, self.sizes.context - self._steps
        known = slice(self.sizes.calendar, self.sizes.calendar + self._known)
        parts = [
            _centred(values, present, context)[:, begin:].flatten(1)
            for values, present in (
                (batch.known[..., known], batch.known_present[..., known]),
                (batch.past, batch.past_present),
            )
        ]
        # alike for all targets, each of which has weights of its own
        return torch.cat(parts, dim=1).unsqueeze(-1).expand(-1, -1, self.sizes.target)


def _centred(
    values: Float[Tensor, "batch time column"],
    present: Bool[Tensor, "batch time column"],
    context: int,
) -> Float[Tensor, "batch time column"]:
    mean = observed_mean(values[:, :context], present[:, :context])
    return (values - mean).masked_fill(~present, 0)


class TrainedSkip(LinearSkip):
    """A linear skip that is trained at a tenth of the rate: ridge has brought it close already."""

    rate = 0.1


class CarriesSkip(Network):
    """A network with a linear skip that its ``forward`` adds where it must; a base, not a network.

    Attributes
    ----------
    head : Head
        What shifts the network's own forecast by that of the skip.
    skip : TrainedSkip or None
        None where the model wants none.
    offset : Parameter or None
        (horizon, target, width) numbers added to the network's own forecast, which begin as the
        spread of the errors: its bands are right before the first step, with a skip or without.
        None under a head without a spread.
    covariates : Covariates
        What the skip sees beside the past.
    """

    head: Head
    skip: TrainedSkip | None
    offset: nn.Parameter | None
    covariates: Covariates

    def carry_skip(self, sizes: Sizes, *outputs: nn.Linear, wanted: bool) -> None:
        """Add the skip and silence the last layers: what is fresh forecasts what the skip does."""
        self.covariates = Covariates(sizes)
        self.skip, self.offset, self._outputs = None, None, outputs
        for output in outputs if wanted else ():
            nn.init.zeros_(output.weight)
            nn.init.zeros_(output.bias)
        if wanted:
            self.skip = TrainedSkip(
                sizes.context,
                sizes.horizon,
                covariates=self.covariates.number,
                targets=sizes.target,
            )
        if self.head.has_spread:
            self.offset = nn.Parameter(torch.zeros(sizes.horizon, sizes.target, self.head.width))

    def carried(
        self,
        raw: Float[Tensor, "batch step target width"],
        skipped: Float[Tensor, "batch step target"],
        *,
        steps: Int[Tensor, " step"] | slice = slice(None),
    ) -> Float[Tensor, "batch step target width"]:
        """The network's own forecast of some ``steps`` of the horizon, with offset and skip."""
        if self.offset is not None:
            raw = raw + self.offset[steps]
        return raw if self.skip is None else self.head.shift(raw, skipped)

    def skipped(self, batch: Batch) -> Float[Tensor, "batch horizon target"]:
        """The forecast of the skip, in the units of the normalised batch; 0 without one."""
        if self.skip is None:
            return torch.zeros_like(batch.future_target)
        # divided by the deviation of the window, as what is forecast of the target is
        covariates = self.covariates(batch) / batch.scale if self.covariates.number else None
        forecast: Tensor = self.skip(batch.past_target, batch.past_observed, covariates)
        return forecast

    def skip_errors(self, batch: Batch) -> Float[Tensor, "batch horizon target"]:
        """What the skip, or 0 without one, gets wrong in a normalised batch, in offset units."""
        return batch.future_target - self.skipped(batch)

    def own_raw(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """What the network itself makes of the errors of the skip, before the offset is fitted.

        As it stands, of a network without a skip.
        """
        raw: Tensor = self(batch)
        return raw

    def errors_and_own(self, batch: Batch) -> Float[Tensor, "batch horizon target number"]:
        """The errors of the skip, and behind them what the network itself makes of them."""
        return torch.cat([self.skip_errors(batch).unsqueeze(-1), self.own_raw(batch)], dim=-1)

    def prepare(
        self, train: Iterable[Batch], validation: Iterable[Batch], normaliser: Normaliser
    ) -> None:
        """Fit the linear skip, and the offset to its errors."""
        if self.skip is not None:
            self.skip.fit_ridge(train, validation, covariates=self.covariates)
        self.fit_offset(train, validation, normaliser)

    @torch.no_grad()
    def fit_offset(
        self, train: Iterable[Batch], validation: Iterable[Batch], normaliser: Normaliser
    ) -> None:
        """Bands as wide as what errs before training; those of a trained network are its own.

        A skip is fitted to the training rows, so that its errors there are too small and those of
        validation rows count. Without one nothing is fitted yet, and training rows serve: what
        validation rows hold moves no weight.
        """
        if self.offset is None:
            return
        if self.skip is None:
            validation = ()
        silent = not any(bool(output.weight.any()) for output in self._outputs)
        # errors on fitted windows alone are too small: an offset that is inherited is better
        if self.offset.any() and not (silent and any(len(batch.origin) for batch in validation)):
            return
        if silent:
            errors = held_out_residuals(self.skip_errors, train, validation, normaliser)
            if len(errors):
                self.offset.copy_(self.head.fit_spread(errors))
        else:
            training = self.training
            both = held_out_residuals(self.eval().errors_and_own, train, validation, normaliser)
            if len(both):
                self.offset.copy_(self.head.fit_spread(both[..., 0], both[..., 1:]))
            self.train(training)

    def inherit(self, earlier: Network) -> None:
        """Take over the penalty of its skip, and its offset."""
        if isinstance(earlier, CarriesSkip) and self.skip is not None and earlier.skip is not None:
            self.skip.inherit(earlier.skip)
            if self.offset is not None and earlier.offset is not None:
                self.offset.data.copy_(earlier.offset)


class SkipNetwork(CarriesSkip):
    """A network that forecasts the whole horizon at once and adds its skip; a base."""

    def own_raw(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """The network's own forecast."""
        return self.own_forecast(batch)

    @abstractmethod
    def own_forecast(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """What the network forecasts itself, before the skip is added."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """The network's own forecast, shifted by that of the skip."""
        return self.carried(self.own_forecast(batch), self.skipped(batch))
