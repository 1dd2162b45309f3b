"""A linear forecast beside a network, with weights that have a closed form.

A window minus its mean is often forecast well by a linear map of its past. A network that carries
such a map has only the rest to learn.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.scaling import observed_mean

__all__ = ["Batches", "LinearSkip", "Look", "Windows", "from_mean"]

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


def from_mean(
    past: Float[Tensor, "batch context target"], observed: Bool[Tensor, "batch context target"]
) -> tuple[Float[Tensor, "batch context target"], Float[Tensor, "batch 1 target"]]:
    """The window less the mean of what is observed, 0 where nothing is; and this mean."""
    mean = observed_mean(past, observed)
    return (past - mean).masked_fill(~observed, 0), mean


class LinearSkip(nn.Module):
    """A linear map from past to future steps, shared by all targets.

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
    ) -> None:
        super().__init__()
        self.look = look
        self.weight = nn.Parameter(torch.zeros(features or context, horizon))

    def forward(
        self,
        past: Float[Tensor, "batch context target"],
        observed: Bool[Tensor, "batch context target"],
    ) -> Float[Tensor, "batch horizon target"]:
        """Return the forecast, in the units of ``past``."""
        features, level = self.look(past, observed)
        return (features.mT @ self.weight).mT + level

    @torch.no_grad()
    def fit_ridge(
        self,
        train: Batches,
        validation: Batches | None = None,
        *,
        alphas: Sequence[float] | None = None,
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
            means a log grid from 1e-6 to 100 or, without ``validation`` windows, the modest 0.01:
            overlapping windows are too alike to be judged among themselves.

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
        judges = validation if _holds_future(validation, self.look) else None
        ratios = _checked_alphas(alphas, judges is not None)
        sums = _Sums.of(train, self.look)
        mean_eigenvalue = sums.gram.diagonal().mean().item()
        if mean_eigenvalue == 0:
            self.weight.zero_()
            return 0.0
        penalties = mean_eigenvalue * torch.tensor(ratios, dtype=torch.float64)
        values, vectors = torch.linalg.eigh(sums.gram)
        values = values.clamp(min=0)
        passes = _FILLING_PASSES if sums.incomplete else 0
        best = 0
        for remaining in reversed(range(passes + 1)):
            path = _ridge_path(values, vectors, sums.cross, penalties.to(values.device))
            if judges is not None and remaining in (0, passes):
                best = _least_error(path, judges, self.look)
            if remaining:
                sums = _Sums.of(train, self.look, weight=path[best])
        self.weight.copy_(path[best])
        return penalties[best].item()


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
        look: Look,
        *,
        weight: Float[Tensor, "feature horizon"] | None = None,
    ) -> "_Sums":
        """Sum over all windows; missing future steps are forecast by ``weight``, or the level."""
        gram: Tensor | float = 0.0
        cross: Tensor | float = 0.0
        missing = 0
        for past, future, observed, importance in _rows(batches, look):
            forecast = torch.zeros_like(future) if weight is None else past @ weight.to(past.device)
            used = importance * observed.any(-1)
            weighted = past * used[:, None]
            gram = gram + weighted.mT @ past
            cross = cross + weighted.mT @ torch.where(observed, future, forecast)
            missing += int(((~observed).any(-1) & (used > 0)).sum())
        if isinstance(gram, float) or isinstance(cross, float):
            raise ParameterError("train holds no batch; ridge regression needs at least one")
        return cls(gram, cross, missing > 0)


def _rows(batches: Batches, look: Look) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield past, future, observed future and weight with one row per window and target."""
    fresh = batches() if callable(batches) else batches
    if fresh is batches and iter(fresh) is fresh:
        raise ParameterError(
            "the batches can be iterated only once; pass a function returning them"
        )
    for batch in fresh:
        past, level = look(batch.past_target, batch.past_observed)
        future = (batch.future_target - level).masked_fill(~batch.future_observed, 0)
        weight = batch.weight[:, None].expand(-1, past.shape[-1])
        yield (
            past.mT.flatten(0, 1).double(),
            future.mT.flatten(0, 1).double(),
            batch.future_observed.mT.flatten(0, 1),
            weight.flatten().double(),
        )


def _holds_future(batches: Batches | None, look: Look) -> bool:
    """Whether anything of the future is observed in the batches, so that they can judge."""
    if batches is None:
        return False
    return any(bool(observed.any()) for _, _, observed, _ in _rows(batches, look))


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
    path: Float[Tensor, "alpha feature horizon"], validation: Batches, look: Look
) -> int:
    """Return which weights have the least weighted squared error over the observed future."""
    errors = path.new_zeros(path.shape[0])
    for past, future, observed, importance in _rows(validation, look):
        counts = observed * importance[:, None]
        for index, weight in enumerate(path):
            errors[index] += ((past @ weight - future).square() * counts).sum()
    return int(errors.argmin())


def _checked_alphas(alphas: Sequence[float] | None, validated: bool) -> tuple[float, ...]:
    if alphas is None:
        return _ALPHAS if validated else (_ALPHA_WITHOUT_VALIDATION,)
    if len(alphas) == 0 or min(alphas) <= 0:
        raise ParameterError(f"alphas={alphas!r} must be positive, at least one")
    if len(alphas) > 1 and not validated:
        raise ParameterError(f"choosing among {len(alphas)} alphas needs validation batches")
    return tuple(alphas)
