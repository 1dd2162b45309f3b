"""Ridge regression from context to horizon: the line every transformer has to beat."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tsformer.heads import Head, Quantiles
from tsformer.models.base import Architecture, Network, WindowScaler
from tsformer.nn import LinearSkip
from tsformer.params import params
from tsformer.windows import Batch, Sizes

__all__ = ["Linear"]

_RESIDUAL_WINDOWS = 2048
"""Enough for stable tail quantiles, and a bound on memory."""


@params
class Linear(Architecture):
    """One linear map from context to horizon, shared by all targets and series, in closed form.

    Windows are centred on their observed mean; the ridge strength is chosen on the validation
    windows. Around the point forecast lie the quantiles of the residuals, by step and target.
    There is nothing to train by gradient: a fit takes seconds and ignores the number of epochs.
    Covariates are not used.

    References
    ----------
    Toner and Darlow (2024), "An Analysis of Linear Time Series Forecasting Models".
    """

    def build(self, sizes: Sizes, head: Head) -> "LinearNetwork":
        """The network; its weights are zero until ``prepare``."""
        return LinearNetwork(sizes, head)


class LinearNetwork(Network):
    """A linear map and, for each step, target and number of the head, an offset."""

    def __init__(self, sizes: Sizes, head: Head) -> None:
        super().__init__()
        self.head = head
        self.skip = LinearSkip(sizes.context, sizes.horizon)
        self.offset = nn.Parameter(torch.zeros(sizes.horizon, sizes.target, head.width))
        self.requires_grad_(False)

    def forward(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """The ridge forecast, spread by the offsets."""
        point = self.skip(batch.past_target, batch.past_observed)
        spread = self.offset.expand(len(point), -1, -1, -1)
        return self.head.shift(spread, point)

    def prepare(
        self, train: Iterable[Batch], validation: Iterable[Batch], standardise: WindowScaler
    ) -> None:
        """Fit the ridge on ``train``, its strength on ``validation``, the offsets on both."""
        self.skip.fit_ridge(train, validation)
        if isinstance(self.head, Quantiles):
            self.offset.copy_(self._residual_quantiles(train, validation, standardise))

    def _residual_quantiles(
        self, train: Iterable[Batch], validation: Iterable[Batch], standardise: WindowScaler
    ) -> Float[Tensor, "horizon target level"]:
        # residuals on rows the ridge was fitted on are too small; use them only if they must do
        residuals = self._residuals(validation, standardise)
        if len(residuals) < 20 * len(self.offset):
            residuals = torch.cat([residuals, self._residuals(train, standardise)])
        levels = residuals.new_tensor(self.head.levels)
        found = residuals.nanquantile(levels, dim=0)
        return found.nan_to_num(nan=0.0).movedim(0, -1).to(self.offset.dtype)

    def _residuals(
        self, batches: Iterable[Batch], standardise: WindowScaler
    ) -> Float[Tensor, "window horizon target"]:
        """Standardised errors of evenly spread windows, NaN where the truth is missing."""
        windows = sum(len(batch.origin) for batch in batches)
        every = max(1, windows // _RESIDUAL_WINDOWS)
        kept, seen = [self.offset.new_zeros((0, *self.offset.shape[:2]))], 0
        for batch in batches:
            chosen = torch.arange(-seen % every, len(batch.origin), every)
            seen += len(batch.origin)
            scaled, _, _ = standardise(Batch(*(field[chosen] for field in batch)))
            error = scaled.future_target - self.skip(scaled.past_target, scaled.past_observed)
            kept.append(error.where(scaled.future_observed, torch.nan))
        return torch.cat(kept)
