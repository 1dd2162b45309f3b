"""A linear forecast beside a network, with weights that have a closed form.

A window minus its mean is often forecast well by a linear map of its past. A network that carries
such a map has only the rest to learn.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.ridge import (
    Batches,
    CovariateMap,
    FeatureMap,
    Ridge,
    Sums,
    View,
    Windows,
    holds_future,
    least_error,
)
from tsformer.nn.scaling import observed_mean

__all__ = ["Batches", "CovariateMap", "FeatureMap", "LinearSkip", "Windows", "from_mean"]

_ALPHAS = tuple(10.0 ** (power / 2) for power in range(-12, 5))
_ALPHA_WITHOUT_VALIDATION = 1e-2
_FILLING_PASSES = 8


def from_mean(
    past: Float[Tensor, "batch context target"], observed: Bool[Tensor, "batch context target"]
) -> tuple[Float[Tensor, "batch context target"], Float[Tensor, "batch 1 target"]]:
    """The window less the mean of what is observed, 0 where nothing is; and this mean."""
    mean = observed_mean(past, observed)
    return (past - mean).masked_fill(~observed, 0), mean


class LinearSkip(nn.Module):
    """A linear map from past to future steps, shared by all targets.

    Covariates may stand beside the past; for those each target has weights of its own,
    ``covariate_weight``.

    The observed mean of the window is taken off before and added after; it is not divided by the
    window's deviation, because weights fitted to windows of equal deviation serve the quiet
    windows at the cost of the others. Missing steps are filled with the mean. The weights are 0 at
    first: until `fit_ridge` or training, every forecast is the window's mean.

    Parameters
    ----------
    context, horizon
        Numbers of past and of future steps.
    feature_map
        The features that the weights see of a window, if not its centred steps.
    features
        How many numbers that is for each target; None is ``context``.
    covariates
        How many numbers of covariates each target sees.
    targets
        How many targets there are; needed only with covariates.

    Attributes
    ----------
    ratio : float or None
        The penalty that validation windows have chosen, relative to the mean eigenvalue.
    without_covariates : bool
        Whether they are forecast better without covariates.

    Examples
    --------
    >>> past = torch.tensor([1.0, 2.0, 6.0]).reshape(1, 3, 1)
    >>> LinearSkip(3, 2)(past, torch.ones(1, 3, 1, dtype=torch.bool)).flatten()
    tensor([3., 3.], grad_fn=...)
    """

    def __init__(
        self,
        context: int,
        horizon: int,
        *,
        feature_map: FeatureMap = from_mean,
        features: int | None = None,
        covariates: int = 0,
        targets: int = 1,
    ) -> None:
        super().__init__()
        self.feature_map = feature_map
        self.ratio: float | None = None
        self.without_covariates = False
        self.weight = nn.Parameter(torch.zeros(features or context, horizon))
        own = torch.zeros(targets, covariates, horizon)
        self.covariate_weight = nn.Parameter(own) if covariates else None

    def forward(
        self,
        past: Float[Tensor, "batch context target"],
        observed: Bool[Tensor, "batch context target"],
        covariates: Float[Tensor, "batch number target"] | None = None,
    ) -> Float[Tensor, "batch horizon target"]:
        """Return the forecast, in the units of ``past``; ``covariates`` only if it was announced.

        Autocasting is switched off: a ridge solution rounded to bfloat16 is no solution.
        """
        with torch.autocast(past.device.type, enabled=False):
            features, level = self.feature_map(past, observed)
            forecast = (features.mT @ self.weight).mT + level
            if self.covariate_weight is None or covariates is None:
                return forecast
            # targets lead, so that one product a target serves the batch
            return forecast + (covariates.movedim(-1, 0) @ self.covariate_weight).movedim(0, -1)

    @torch.no_grad()
    def fit_ridge(
        self,
        train: Batches,
        validation: Batches | None = None,
        *,
        alphas: Sequence[float] | None = None,
        covariates: CovariateMap | None = None,
    ) -> float:
        """Set the weights by ridge regression and return the penalty that was chosen.

        Minimises the squared error of the centred windows, each weighted by its ``weight``, plus
        ``alpha`` times the squared weights. Sums are taken in float64 over one pass, and one
        eigendecomposition serves all penalties. The chosen one has the least squared error over the
        observed future of ``validation``, which also decide whether the
        covariates are used at all. Missing future steps of ``train`` are filled with their
        own forecast, in eight more passes, each of which shrinks what the filling gets wrong to
        about the share that is missing; windows without any future are left out.

        Parameters
        ----------
        train, validation
            Batches that can be iterated again, or a function that returns a fresh iterable.
        alphas
            Penalties to choose from, relative to the mean eigenvalue of the Gram matrix. None
            means a log grid from 1e-6 to 100 or, without ``validation`` windows, ``ratio`` and if
            that is None the modest 0.01: overlapping windows are too alike to be judged among
            themselves.
        covariates
            What the covariates of each batch are, if the map has weights for it. Without
            ``validation`` windows it is used unless ``without_covariates``.

        Returns
        -------
        The penalty, in absolute terms; 0 if there is nothing to learn (all windows constant or
        without a future), and then the weights are 0.

        Raises
        ------
        ParameterError
            If an alpha is not positive, there are several and no ``validation``, or the batches
            can be iterated only once.
        """
        view = self._view(covariates)
        judges = validation if holds_future(validation, view) else None
        ratios = self._checked_alphas(alphas, judges is not None)
        sums = Sums.of(train, view)
        if sums.gram.diagonal().mean().item() == 0:
            self._set(torch.zeros_like(sums.cross))
            return 0.0
        ridges = [Ridge.of(sums.gram, width, ratios) for width in self._widths(view, judges)]
        passes = _FILLING_PASSES if sums.incomplete else 0
        best = 0
        for remaining in reversed(range(passes + 1)):
            path = torch.cat([ridge.path(sums.cross) for ridge in ridges])
            if judges is not None and remaining in (0, passes):
                best = least_error(path, judges, view)
            if remaining:
                sums = Sums.of(train, view, weight=path[best])
        self._set(path[best])
        chosen, place = divmod(best, len(ratios))
        if judges is not None:
            self.ratio, self.without_covariates = ratios[place], chosen > 0
        if self.without_covariates and self.covariate_weight is not None:
            self.covariate_weight.requires_grad_(False)  # what did not pay is not trained either
        return ridges[chosen].penalties[place].item()

    def inherit(self, earlier: "LinearSkip") -> None:
        """Take over what validation windows have chosen for another skip of the same shape."""
        self.ratio, self.without_covariates = earlier.ratio, earlier.without_covariates

    def _view(self, covariates: CovariateMap | None) -> View:
        shared, device = self.weight.shape[0], self.weight.device
        if self.covariate_weight is None or covariates is None:
            return View(self.feature_map, shared, device=device)
        targets, number, _ = self.covariate_weight.shape
        return View(
            self.feature_map, shared, covariates=covariates, own=(targets, number), device=device
        )

    def _set(self, weight: Float[Tensor, "feature horizon"]) -> None:
        shared = self.weight.shape[0]
        self.weight.copy_(weight[:shared])
        if self.covariate_weight is not None and len(weight) > shared:
            self.covariate_weight.copy_(weight[shared:].view_as(self.covariate_weight))

    def _widths(self, view: View, judges: Batches | None) -> list[int]:
        """With covariates and, where that can be judged, without."""
        shared = self.weight.shape[0]
        if view.width == shared:
            return [shared]
        if judges is not None:
            return [view.width, shared]
        return [shared if self.without_covariates else view.width]

    def _checked_alphas(self, alphas: Sequence[float] | None, validated: bool) -> tuple[float, ...]:
        if alphas is None:
            return _ALPHAS if validated else (self.ratio or _ALPHA_WITHOUT_VALIDATION,)
        if len(alphas) == 0 or min(alphas) <= 0:
            raise ParameterError(f"alphas={alphas!r} must be positive, at least one")
        if len(alphas) > 1 and not validated:
            raise ParameterError(f"choosing among {len(alphas)} alphas needs validation batches")
        return tuple(alphas)
