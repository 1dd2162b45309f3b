"""Ridge regression from context to horizon: the line every transformer has to beat."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from tsformer.errors import ParameterError
from tsformer.heads import Head
from tsformer.models.base import Architecture, Network
from tsformer.models.residuals import held_out_residuals
from tsformer.models.scaling import Normaliser
from tsformer.models.skip import Covariates
from tsformer.nn import FeatureMap, LinearSkip, from_mean, last_observed
from tsformer.params import KW_ONLY, param, params
from tsformer.windows import Batch, Sizes

__all__ = ["Decomposed", "Linear", "from_last", "moving_average"]


def from_last(
    past: Float[Tensor, "batch context target"], observed: Bool[Tensor, "batch context target"]
) -> tuple[Float[Tensor, "batch context target"], Float[Tensor, "batch 1 target"]]:
    """The window less its last observed value, 0 where nothing is observed; and this value.

    The normalisation of NLinear, section 4 of Zeng et al. (2023).

    Examples
    --------
    >>> past = torch.tensor([1.0, 5.0, 99.0]).reshape(1, 3, 1)
    >>> features, level = from_last(past, past < 9)
    >>> features.flatten(), level.flatten()
    (tensor([-4., 0., 0.]), tensor([5.]))
    """
    last = last_observed(past, observed)
    return (past - last).masked_fill(~observed, 0), last


def moving_average(
    steps: Float[Tensor, "batch time target"], kernel: int
) -> Float[Tensor, "batch time target"]:
    """The mean of ``kernel`` steps around each, first and last step repeated beyond the ends.

    The trend of Autoformer and DLinear, equation 1 of Wu et al. (2021); ``kernel`` is odd.

    Examples
    --------
    >>> moving_average(torch.tensor([0.0, 3.0, 6.0, 0.0]).reshape(1, 4, 1), 3).flatten()
    tensor([1., 3., 3., 2.])
    """
    beyond = kernel // 2
    first, last = (end.expand(-1, beyond, -1) for end in (steps[:, :1], steps[:, -1:]))
    padded = torch.cat([first, steps, last], dim=1)
    return functional.avg_pool1d(padded.mT, kernel, stride=1).mT


@dataclass(frozen=True)
class Decomposed:
    """A feature map that splits what another one sees into its trend and the remainder.

    Examples
    --------
    >>> past = torch.tensor([0.0, 3.0, 6.0, 3.0]).reshape(1, 4, 1)
    >>> features, level = Decomposed(from_mean, 3)(past, past >= 0)
    >>> features.flatten()
    tensor([-2.,  0.,  1.,  1., -1.,  0.,  2., -1.])
    """

    feature_map: FeatureMap
    kernel: int

    def __call__(
        self,
        past: Float[Tensor, "batch context target"],
        observed: Bool[Tensor, "batch context target"],
    ) -> tuple[Float[Tensor, "batch feature target"], Float[Tensor, "batch 1 target"]]:
        """Trend above remainder, and the level of the other map."""
        steps, level = self.feature_map(past, observed)
        trend = moving_average(steps, self.kernel)
        return torch.cat([trend, steps - trend], dim=1), level


@params
class Linear(Architecture):
    """One linear map from context to horizon, shared by all targets and series, in closed form.

    Windows are centred on their observed mean, or on their last value with ``centre="last"``,
    and what is missing is filled with it. The ridge strength is chosen on the validation windows.
    Around the point forecast lie the quantiles of the residuals, by step and target. There is
    nothing to train by gradient: a fit takes seconds and ignores the number of epochs.

    Known covariates over the horizon and the latest steps of the context, and past ones over the
    latter, have weights of their own for each target; missing ones count as the mean. At most 1,024
    such numbers are looked at, those nearest the forecast. Days off of ``Schema(holidays=...)`` are
    a known covariate too. The cycles of the calendar, categories, statics and lags are not used;
    ``covariates=False`` leaves all covariates out.

    ``Linear(centre="last")`` is NLinear. With ``decomposition=25`` trend and remainder have weights
    each, which is DLinear. The trend is itself a linear map of the window, so the forecasts that
    can be reached are those of one map; what changes is which of them the ridge penalty prefers.

    Notes
    -----
    Deviations from Zeng et al. (2023), and why:

    - Weights are the ridge solution and not trained by gradient: it is exact and takes seconds.
      There is no intercept, which centring makes up for.
    - DLinear does not centre its windows. Here they always are, as a level that was never seen
      would be forecast wrongly; there is no switch.

    References
    ----------
    Toner and Darlow (2024), "An Analysis of Linear Time Series Forecasting Models".

    Zeng et al. (2023), "Are Transformers Effective for Time Series Forecasting?", AAAI.

    Wu et al. (2021), "Autoformer: Decomposition Transformers with Auto-Correlation for Long-Term
    Series Forecasting", NeurIPS.
    """

    closed_form = True
    _: KW_ONLY
    covariates: bool = param("Whether known and past covariates are looked at.", default=True)
    centre: Literal["mean", "last"] = param(
        "What is taken off a window and added to its forecast: the observed mean, or the last "
        "observed value.",
        default="mean",
        choices=("mean", "last"),
    )
    decomposition: int | None = param(
        "Steps of the moving average that splits off the trend, an odd number; None does not.",
        default=None,
        low=1,
    )

    def check(self) -> None:
        """Raise ``ParameterError`` for a parameter that is out of range, or an even average."""
        super().check()
        if self.decomposition is not None and self.decomposition % 2 == 0:
            raise ParameterError(
                f"Linear(decomposition={self.decomposition}): decomposition must be odd, so that "
                "the average has a middle"
            )

    def build(self, sizes: Sizes, head: Head) -> "LinearNetwork":
        """The network; its weights are zero until ``prepare``."""
        self.check()
        return LinearNetwork(self, sizes, head)


class LinearNetwork(Network):
    """A linear map and, for each step, target and number of the head, an offset."""

    def __init__(self, spec: Linear, sizes: Sizes, head: Head) -> None:
        super().__init__()
        self.head = head
        self.sizes, self.covariates = sizes, Covariates(sizes)
        self.skip = _regression(spec, sizes, self.covariates.number if spec.covariates else 0)
        self.offset = nn.Parameter(torch.zeros(sizes.horizon, sizes.target, head.width))
        self.requires_grad_(False)

    def forward(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """The ridge forecast, spread by the offsets."""
        point = self._point(batch)
        spread = self.offset.expand(len(point), -1, -1, -1)
        return self.head.shift(spread, point)

    def prepare(
        self, train: Iterable[Batch], validation: Iterable[Batch], normaliser: Normaliser
    ) -> None:
        """Fit the ridge on ``train``, its strength on ``validation``, the offsets on both."""
        self.skip.fit_ridge(train, validation, covariates=self.covariates)
        # residuals of windows that were fitted on are too small: those recalled are better
        judged = self.skip.ratio is None or any(len(batch.origin) for batch in validation)
        if judged and self.head.has_spread:
            errors = held_out_residuals(self._errors, train, validation, normaliser)
            if len(errors):
                self.offset.copy_(self.head.fit_spread(errors))

    def inherit(self, earlier: Network) -> None:
        """Take over its penalty and its offsets."""
        if isinstance(earlier, LinearNetwork):
            self.skip.inherit(earlier.skip)
            self.offset.copy_(earlier.offset)

    def _point(self, batch: Batch) -> Float[Tensor, "batch horizon target"]:
        covered = self.skip.covariate_weight is not None
        covariates = self.covariates(batch) / batch.scale if covered else None
        forecast: Tensor = self.skip(batch.past_target, batch.past_observed, covariates)
        return forecast

    def _errors(self, batch: Batch) -> Float[Tensor, "batch horizon target"]:
        return batch.future_target - self._point(batch)


def _regression(spec: Linear, sizes: Sizes, covariates: int) -> LinearSkip:
    feature_map: FeatureMap = from_mean if spec.centre == "mean" else from_last
    if spec.decomposition is None:
        features = None
    else:
        feature_map, features = Decomposed(feature_map, spec.decomposition), 2 * sizes.context
    return LinearSkip(
        sizes.context,
        sizes.horizon,
        feature_map=feature_map,
        features=features,
        covariates=covariates,
        targets=sizes.target,
    )
