"""A linear forecast beside a network, with weights that have a closed form.

A window minus its mean is often forecast well by a linear map of its past. A network that carries
such a map has only the rest to learn.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.scaling import observed_mean

__all__ = ["Batches", "Beside", "LinearSkip", "Look", "Windows", "from_mean"]

_ALPHAS = tuple(10.0 ** (power / 2) for power in range(-12, 5))
_ALPHA_WITHOUT_VALIDATION = 1e-2
_FILLING_PASSES = 8


@runtime_checkable
class Windows(Protocol):
    """What a batch must hold to be fitted on; True means observed."""

    @property
    def past_target(self) -> Tensor:
        """Values before the origin, (batch, context, target)."""

    @property
    def past_observed(self) -> Tensor:
        """Which of them are observed."""

    @property
    def future_target(self) -> Tensor:
        """Values after the origin, (batch, horizon, target)."""

    @property
    def future_observed(self) -> Tensor:
        """Which of them are observed."""

    @property
    def weight(self) -> Tensor:
        """Weight of each window, (batch,)."""


Batches = Iterable[Windows] | Callable[[], Iterable[Windows]]

Look = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""What a linear map sees of past and observed, (batch, context, target): its features, (batch,
feature, target), and the level they are measured from, (batch, 1, target)."""

Beside = Callable[[Any], Tensor]
"""What else it sees of a batch, such as covariates, in the units of the targets: (batch, number,
target)."""


def from_mean(
    past: Float[Tensor, "batch context target"], observed: Bool[Tensor, "batch context target"]
) -> tuple[Float[Tensor, "batch context target"], Float[Tensor, "batch 1 target"]]:
    """The window less the mean of what is observed, 0 where nothing is; and this mean."""
    mean = observed_mean(past, observed)
    return (past - mean).masked_fill(~observed, 0), mean


class LinearSkip(nn.Module):
    """A linear map from past to future steps, shared by all targets.

    Other numbers than the past, such as covariates, may stand beside it; of those each target has
    weights of its own, ``beside_weight``.

    The observed mean of the window is taken off before and added after; it is not divided by the
    window's deviation, because weights fitted to windows of equal deviation serve the quiet
    windows at the cost of the others. Missing steps are filled with the mean. The weights are 0 at
    first: until `fit_ridge` or training, every forecast is the window's mean.

    Parameters
    ----------
    context, horizon
        Numbers of past and of future steps.
    look
        What the weights see of a window, if not its centred steps.
    features
        How many numbers that is for each target; None is ``context``.
    beside
        How many numbers stand beside them.
    targets
        How many targets there are; needed only with numbers beside the past.

    Attributes
    ----------
    ratio : float or None
        The penalty that validation windows have chosen, relative to the mean eigenvalue.

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
        look: Look = from_mean,
        features: int | None = None,
        beside: int = 0,
        targets: int = 1,
    ) -> None:
        super().__init__()
        self.look = look
        self.ratio: float | None = None
        self.weight = nn.Parameter(torch.zeros(features or context, horizon))
        self.beside_weight = nn.Parameter(torch.zeros(targets, beside, horizon)) if beside else None

    def forward(
        self,
        past: Float[Tensor, "batch context target"],
        observed: Bool[Tensor, "batch context target"],
        beside: Float[Tensor, "batch number target"] | None = None,
    ) -> Float[Tensor, "batch horizon target"]:
        """Return the forecast, in the units of ``past``; ``beside`` only if it was announced."""
        features, level = self.look(past, observed)
        forecast = (features.mT @ self.weight).mT + level
        if self.beside_weight is None or beside is None:
            return forecast
        # targets lead, so that one product a target serves the batch
        return forecast + (beside.movedim(-1, 0) @ self.beside_weight).movedim(0, -1)

    @torch.no_grad()
    def fit_ridge(
        self,
        train: Batches,
        validation: Batches | None = None,
        *,
        alphas: Sequence[float] | None = None,
        beside: Beside | None = None,
    ) -> float:
        """Set the weights by ridge regression and return the penalty that was chosen.

        Minimises the squared error of the centred windows, each weighted by its ``weight``, plus
        ``alpha`` times the squared weights. Sums are taken in float64 over one pass, and one
        eigendecomposition serves all penalties. The chosen one has the least squared error over the
        observed future of ``validation``. Missing future steps of ``train`` are filled with their
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
        beside
            What to put beside the past of each batch, if the map has weights for it.

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
        view = _View(self, beside)
        judges = validation if _holds_future(validation, view) else None
        ratios = self._checked_alphas(alphas, judges is not None)
        sums = _Sums.of(train, view)
        mean_eigenvalue = sums.gram.diagonal().mean().item()
        if mean_eigenvalue == 0:
            view.set(torch.zeros_like(sums.cross))
            return 0.0
        penalties = mean_eigenvalue * torch.tensor(ratios, dtype=torch.float64)
        values, vectors = torch.linalg.eigh(sums.gram)
        values = values.clamp(min=0)
        passes = _FILLING_PASSES if sums.incomplete else 0
        best = 0
        for remaining in reversed(range(passes + 1)):
            path = _ridge_path(values, vectors, sums.cross, penalties.to(values.device))
            if judges is not None and remaining in (0, passes):
                best = _least_error(path, judges, view)
            if remaining:
                sums = _Sums.of(train, view, weight=path[best])
        view.set(path[best])
        if judges is not None:
            self.ratio = ratios[best]
        return penalties[best].item()

    def _checked_alphas(self, alphas: Sequence[float] | None, validated: bool) -> tuple[float, ...]:
        if alphas is None:
            return _ALPHAS if validated else (self.ratio or _ALPHA_WITHOUT_VALIDATION,)
        if len(alphas) == 0 or min(alphas) <= 0:
            raise ParameterError(f"alphas={alphas!r} must be positive, at least one")
        if len(alphas) > 1 and not validated:
            raise ParameterError(f"choosing among {len(alphas)} alphas needs validation batches")
        return tuple(alphas)


class _Rows(NamedTuple):
    """Some rows of the regression, one for each window and target, in float64."""

    columns: Tensor
    """Where the features stand among those of all targets."""
    past: Tensor
    future: Tensor
    observed: Tensor
    weight: Tensor


class _View:
    """How windows are rows of one regression with the weights of a skip.

    The weights of the past come first, and behind them those of each target for what is beside.
    """

    def __init__(self, skip: LinearSkip, beside: Beside | None) -> None:
        self.skip, self.beside = skip, beside if skip.beside_weight is not None else None
        shared, device = skip.weight.shape[0], skip.weight.device
        self.width = shared
        self.columns = [torch.arange(shared, device=device)]
        if self.beside is not None and skip.beside_weight is not None:
            targets, number, _ = skip.beside_weight.shape
            own = torch.arange(targets * number, device=device).unflatten(0, (targets, number))
            self.columns = [torch.cat([self.columns[0], shared + one]) for one in own]
            self.width += targets * number

    def rows(self, batches: Batches) -> Iterator[_Rows]:
        """All targets of a batch at once, or, where each has weights of its own, one by one."""
        fresh = batches() if callable(batches) else batches
        if fresh is batches and iter(fresh) is fresh:
            raise ParameterError(
                "the batches can be iterated only once; pass a function returning them"
            )
        for batch in fresh:
            past, level = self.skip.look(batch.past_target, batch.past_observed)
            future = (batch.future_target - level).masked_fill(~batch.future_observed, 0)
            if self.beside is not None:
                past = torch.cat([past, self.beside(batch)], dim=1)
            weight = batch.weight[:, None].expand(-1, past.shape[-1])
            parts = (past.mT, future.mT, batch.future_observed.mT, weight)
            groups: Iterable[tuple[Tensor, ...]] = [parts]
            if self.beside is not None:
                groups = zip(*(part.split(1, dim=1) for part in parts), strict=True)
            for columns, group in zip(self.columns, groups, strict=True):
                past_rows, future_rows, observed, importance = (
                    part.flatten(0, 1) for part in group
                )
                yield _Rows(
                    columns, past_rows.double(), future_rows.double(), observed, importance.double()
                )

    def set(self, weight: Float[Tensor, "feature horizon"]) -> None:
        """Give the skip these weights."""
        shared = self.skip.weight.shape[0]
        self.skip.weight.copy_(weight[:shared])
        if self.beside is not None and self.skip.beside_weight is not None:
            self.skip.beside_weight.copy_(weight[shared:].view_as(self.skip.beside_weight))


@dataclass(frozen=True)
class _Sums:
    """What the normal equations need of the training windows, in float64."""

    gram: Float[Tensor, "feature feature"]
    cross: Float[Tensor, "feature horizon"]
    incomplete: bool

    @classmethod
    def of(
        cls,
        batches: Batches,
        view: _View,
        *,
        weight: Float[Tensor, "feature horizon"] | None = None,
    ) -> "_Sums":
        """Sum over all windows; missing future steps are forecast by ``weight``, or the level."""
        gram: Tensor | None = None
        cross: Tensor | None = None
        missing = 0
        for columns, past, future, observed, importance in view.rows(batches):
            if gram is None or cross is None:
                gram = past.new_zeros(view.width, view.width)
                cross = past.new_zeros(view.width, future.shape[1])
            forecast = torch.zeros_like(future) if weight is None else past @ weight[columns]
            used = importance * observed.any(-1)
            weighted = past * used[:, None]
            gram[columns[:, None], columns] += weighted.mT @ past
            cross[columns] += weighted.mT @ torch.where(observed, future, forecast)
            missing += int(((~observed).any(-1) & (used > 0)).sum())
        if gram is None or cross is None:
            raise ParameterError("train holds no batch; ridge regression needs at least one")
        return cls(gram, cross, missing > 0)


def _holds_future(batches: Batches | None, view: _View) -> bool:
    """Whether anything of the future is observed in the batches, so that they can judge."""
    if batches is None:
        return False
    return any(bool(rows.observed.any()) for rows in view.rows(batches))


def _ridge_path(
    values: Float[Tensor, "feature"],
    vectors: Float[Tensor, "feature feature"],
    cross: Float[Tensor, "feature horizon"],
    penalties: Float[Tensor, "alpha"],
) -> Float[Tensor, "alpha feature horizon"]:
    """Return the ridge weights for every penalty, from the eigenvectors of the Gram matrix."""
    rotated = vectors.mT @ cross
    return vectors @ (rotated / (values[:, None] + penalties[:, None, None]))


def _least_error(
    path: Float[Tensor, "alpha feature horizon"], validation: Batches, view: _View
) -> int:
    """Return which weights have the least weighted squared error over the observed future."""
    errors = path.new_zeros(path.shape[0])
    for columns, past, future, observed, importance in view.rows(validation):
        counts = observed * importance[:, None]
        for index, weight in enumerate(path):
            errors[index] += ((past @ weight[columns] - future).square() * counts).sum()
    return int(errors.argmin())
