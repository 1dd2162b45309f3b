"""Window scaling: each window is measured by its own context, and forecasts are put back."""

from abc import ABC, abstractmethod
from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from tsformer.errors import ParameterError
from tsformer.nn.scaling import last_observed, observed_deviation, observed_mean
from tsformer.panels.robust import NORMAL_QUARTILE
from tsformer.windows import Batch

__all__ = [
    "AsinhNormaliser",
    "LastNormaliser",
    "NoNormaliser",
    "Normaliser",
    "StandardNormaliser",
    "WindowKind",
    "WindowScaling",
]

WindowKind = Literal["window", "last", "asinh", "none"]

_LEAST_SPREAD = 0.1
"""Of the standard deviation: where more than half of a window is alike its median deviation is 0,
and values divided by next to nothing would say nothing but their sign."""

_ROUNDING = 16
"""Units of rounding of the median; a deviation of so few is none."""


class Normaliser(ABC):
    """Takes a location off the targets of each window and divides by a scale; and the reverse.

    Both are statistics of what is observed in the context, so the future moves nothing. They
    travel in the batch, as ``location`` and ``scale``.

    Parameters
    ----------
    lagged
        How many of the last known covariates are targets of earlier rows, which are normalised as
        the targets are: ``lags * target``, all targets of one lag side by side.
    """

    def __init__(self, *, lagged: int = 0) -> None:
        self.lagged = lagged

    @abstractmethod
    def statistics(
        self,
        values: Float[Tensor, "batch time target"],
        observed: Bool[Tensor, "batch time target"],
    ) -> tuple[Float[Tensor, "batch 1 target"], Float[Tensor, "batch 1 target"]]:
        """Location and scale of each window; 0 and 1 where nothing is observed.

        Values that are not observed may be anything. The scale is 1 where nothing varies.
        """

    def normalise(self, batch: Batch) -> Batch:
        """The batch with targets normalised by its own ``location`` and ``scale``.

        What is not observed is 0.
        """
        units = self.statistics(batch.past_target, batch.past_observed)
        batch = batch._replace(
            past_target=self.apply(batch.past_target, batch.past_observed, *units),
            future_target=self.apply(batch.future_target, batch.future_observed, *units),
            location=units[0],
            scale=units[1],
        )
        if not self.lagged:
            return batch
        own, earlier = batch.known.split([batch.known.shape[-1] - self.lagged, self.lagged], -1)
        lags = self.lagged // batch.past_target.shape[-1]
        earlier = self.apply(
            earlier,
            batch.known_present[..., -self.lagged :],
            *(unit.repeat(1, 1, lags) for unit in units),
        )
        return batch._replace(known=torch.cat([own, earlier], dim=-1))

    def apply(
        self,
        values: Float[Tensor, "batch time target"],
        observed: Bool[Tensor, "batch time target"],
        location: Float[Tensor, "batch 1 target"],
        scale: Float[Tensor, "batch 1 target"],
    ) -> Float[Tensor, "batch time target"]:
        """Values normalised by these; 0 where not observed."""
        return self.forwards((values - location) / scale).masked_fill(~observed, 0)

    def restore(
        self, values: Float[Tensor, "batch horizon target *level"], batch: Batch
    ) -> Float[Tensor, "batch horizon target *level"]:
        """Forecasts for a batch that ``normalise`` returned, in the units that it had before."""
        further = (1,) * (values.ndim - batch.location.ndim)
        location = batch.location.reshape(*batch.location.shape, *further)
        scale = batch.scale.reshape(*batch.scale.shape, *further)
        return self.backwards(values, location, scale)

    def forwards(self, ratios: Tensor) -> Tensor:
        """What becomes of ``(value - location) / scale``; here nothing more."""
        return ratios

    def backwards(self, values: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        """The reverse of normalisation."""
        return values * scale + location


class StandardNormaliser(Normaliser):
    """By mean and standard deviation of each window."""

    def statistics(
        self,
        values: Float[Tensor, "batch time target"],
        observed: Bool[Tensor, "batch time target"],
    ) -> tuple[Float[Tensor, "batch 1 target"], Float[Tensor, "batch 1 target"]]:
        """Mean and deviation of the observed steps."""
        mean = observed_mean(values, observed)
        return mean, observed_deviation(values, observed, mean=mean)


class LastNormaliser(Normaliser):
    """By the last observed value and the deviation around the mean: changes are forecast."""

    def statistics(
        self,
        values: Float[Tensor, "batch time target"],
        observed: Bool[Tensor, "batch time target"],
    ) -> tuple[Float[Tensor, "batch 1 target"], Float[Tensor, "batch 1 target"]]:
        """The last observed step, and the deviation of all around their mean."""
        mean = observed_mean(values, observed)
        return last_observed(values, observed), observed_deviation(values, observed, mean=mean)


class NoNormaliser(Normaliser):
    """Leaves the units; what is not observed becomes 0."""

    def statistics(
        self,
        values: Float[Tensor, "batch time target"],
        observed: Bool[Tensor, "batch time target"],
    ) -> tuple[Float[Tensor, "batch 1 target"], Float[Tensor, "batch 1 target"]]:
        """0 and 1."""
        return torch.zeros_like(values[:, :1]), torch.ones_like(values[:, :1])


class AsinhNormaliser(Normaliser):
    """By ``asinh((y - median) / deviation)``, so that spikes do not rule their windows.

    The deviation is the median absolute one over 0.6745, as for a normal variable, and at least a
    tenth of the standard deviation; of an even number of values the lower one in the middle is the
    median.

    References
    ----------
    Uniejewski, Weron and Ziel (2018), "Variance Stabilizing Transformations for Electricity Spot
    Price Forecasting", IEEE Transactions on Power Systems 33(2).
    """

    def statistics(
        self,
        values: Float[Tensor, "batch time target"],
        observed: Bool[Tensor, "batch time target"],
    ) -> tuple[Float[Tensor, "batch 1 target"], Float[Tensor, "batch 1 target"]]:
        """Median and median absolute deviation of the observed steps."""
        known = values.masked_fill(~observed, torch.nan)
        median = known.nanmedian(dim=1, keepdim=True).values.nan_to_num(nan=0.0)
        off = (known - median).abs()
        number = observed.sum(1, keepdim=True).clamp(min=1)
        # ratios, because squares of very large or small deviations leave float32
        largest = off.nan_to_num(nan=0.0).amax(1, keepdim=True)
        ratio = (off / largest.masked_fill(largest == 0, 1)).nan_to_num(nan=0.0)
        deviation = largest * (ratio.square().sum(1, keepdim=True) / number).sqrt()
        middle = off.nanmedian(dim=1, keepdim=True).values.nan_to_num(nan=0.0) / NORMAL_QUARTILE
        scale = torch.maximum(middle, _LEAST_SPREAD * deviation)
        rounding = _ROUNDING * torch.finfo(values.dtype).eps * median.abs()
        return median, scale.masked_fill(scale <= rounding, 1)

    def forwards(self, ratios: Tensor) -> Tensor:
        """The inverse hyperbolic sine."""
        return ratios.asinh()

    def backwards(self, values: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        """``location + scale * sinh(values)`` in float64; infinite only where that is left."""
        return location.double() + scale.double() * values.double().sinh()


class WindowScaling:
    """What ``scaling=`` of a forecaster or module says of windows, as normalisers.

    Windows are brought into the units of the loss first: those of the panel or, with ``"asinh"``,
    asinh values. From there they are normalised once more for the network, whose forecasts are
    restored before their loss is taken: losses of standardised windows would be ruled by flat ones.

    Parameters
    ----------
    kind
        ``"window"`` takes off the mean and divides by the standard deviation of what is observed;
        ``"last"`` takes off the last observed value instead, which suits series whose level
        drifts; ``"asinh"`` is ``"window"`` on asinh values; ``"none"`` leaves the panel's units.
    lagged
        See ``Normaliser``.

    Attributes
    ----------
    normaliser : Normaliser
        From the units of the loss to those of the network.

    Raises
    ------
    ParameterError
        If ``kind`` is unknown.
    """

    def __init__(self, kind: WindowKind = "window", *, lagged: int = 0) -> None:
        if kind not in get_args(WindowKind):
            known = "'window', 'last', 'asinh' or 'none'"
            raise ParameterError(f"scaling={kind!r} is unknown; use {known}")
        self.kind = kind
        self.normaliser = _FOR_NETWORK[kind](lagged=lagged)
        self._asinh = AsinhNormaliser(lagged=lagged) if kind == "asinh" else None

    def in_loss_units(self, batch: Batch) -> Batch:
        """The windows of a panel, in the units in which losses are taken."""
        return batch if self._asinh is None else self._asinh.normalise(batch)

    def in_panel_units(
        self, values: Float[Tensor, "batch horizon target *level"], batch: Batch
    ) -> Float[Tensor, "batch horizon target *level"]:
        """Forecasts in the units of the loss, for a batch in them, in those of the panel."""
        return values if self._asinh is None else self._asinh.restore(values, batch)


_FOR_NETWORK: dict[WindowKind, type[Normaliser]] = {
    "window": StandardNormaliser,
    "last": LastNormaliser,
    "asinh": StandardNormaliser,
    "none": NoNormaliser,
}
