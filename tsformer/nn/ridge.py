"""Ridge regression over windows: rows of batches, sums over them, and weights for every penalty."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from tsformer.errors import ParameterError

__all__ = [
    "Batches",
    "CovariateMap",
    "FeatureMap",
    "Ridge",
    "Rows",
    "Sums",
    "View",
    "Windows",
    "holds_future",
    "least_error",
]


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

FeatureMap = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""What a linear map sees of past and observed, (batch, context, target): its features, (batch,
feature, target), and the level they are measured from, (batch, 1, target)."""

CovariateMap = Callable[[Any], Tensor]
"""What else it sees of a batch, such as covariates, in the units of the targets: (batch, number,
target)."""


class Rows(NamedTuple):
    """Some rows of the regression, one for each window and target, in float64."""

    columns: Tensor
    """Where the features stand among those of all targets."""
    past: Tensor
    future: Tensor
    observed: Tensor
    weight: Tensor


class View:
    """How windows are rows of one regression.

    The weights that all targets share come first, and behind them those that each target has of
    its own for covariates.

    Parameters
    ----------
    feature_map
        What the shared weights see of a window.
    shared
        How many they are.
    covariates
        What else is seen, if anything.
    own
        Targets, and how many weights each has for that.
    device
        Where the weights are.
    """

    def __init__(
        self,
        feature_map: FeatureMap,
        shared: int,
        *,
        covariates: CovariateMap | None = None,
        own: tuple[int, int] = (1, 0),
        device: torch.device | None = None,
    ) -> None:
        self.feature_map, self.covariates = feature_map, covariates
        self.width = shared
        self.columns = [torch.arange(shared, device=device)]
        if covariates is not None:
            places = torch.arange(own[0] * own[1], device=device).unflatten(0, own)
            self.columns = [torch.cat([self.columns[0], shared + one]) for one in places]
            self.width += own[0] * own[1]

    def rows(self, batches: Batches) -> Iterator[Rows]:
        """All targets of a batch at once, or, where each has weights of its own, one by one."""
        fresh = batches() if callable(batches) else batches
        if fresh is batches and iter(fresh) is fresh:
            raise ParameterError(
                "the batches can be iterated only once; pass a function returning them"
            )
        for batch in fresh:
            past, level = self.feature_map(batch.past_target, batch.past_observed)
            future = (batch.future_target - level).masked_fill(~batch.future_observed, 0)
            if self.covariates is not None:
                past = torch.cat([past, self.covariates(batch)], dim=1)
            weight = batch.weight[:, None].expand(-1, past.shape[-1])
            parts = (past.mT, future.mT, batch.future_observed.mT, weight)
            groups: Iterable[tuple[Tensor, ...]] = [parts]
            if self.covariates is not None:
                groups = zip(*(part.split(1, dim=1) for part in parts), strict=True)
            for columns, group in zip(self.columns, groups, strict=True):
                past_rows, future_rows, observed, importance = (
                    part.flatten(0, 1) for part in group
                )
                yield Rows(
                    columns, past_rows.double(), future_rows.double(), observed, importance.double()
                )


@dataclass(frozen=True)
class Sums:
    """What the normal equations need of the training windows, in float64."""

    gram: Float[Tensor, "feature feature"]
    cross: Float[Tensor, "feature horizon"]
    incomplete: bool

    @classmethod
    def of(
        cls,
        batches: Batches,
        view: View,
        *,
        weight: Float[Tensor, "feature horizon"] | None = None,
    ) -> "Sums":
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


def holds_future(batches: Batches | None, view: View) -> bool:
    """Whether anything of the future is observed in the batches, so that they can judge."""
    if batches is None:
        return False
    return any(bool(rows.observed.any()) for rows in view.rows(batches))


@dataclass(frozen=True)
class Ridge:
    """Ridge regression on the first features for every penalty, from one eigendecomposition."""

    values: Float[Tensor, "part"]
    vectors: Float[Tensor, "part part"]
    penalties: Float[Tensor, "alpha"]

    @classmethod
    def of(
        cls, gram: Float[Tensor, "feature feature"], width: int, ratios: Sequence[float]
    ) -> "Ridge":
        """Take the first ``width`` features; penalties are relative to their mean eigenvalue."""
        part = gram[:width, :width]
        values, vectors = torch.linalg.eigh(part)
        mean = part.diagonal().mean()
        mean = mean.masked_fill(mean == 0, 1)  # nothing to learn from: every weight becomes 0
        penalties = mean * torch.tensor(ratios, dtype=part.dtype).to(part.device)
        return cls(values.clamp(min=0), vectors, penalties)

    def path(
        self, cross: Float[Tensor, "feature horizon"]
    ) -> Float[Tensor, "alpha feature horizon"]:
        """Return the weights for every penalty, 0 for the features that are left out."""
        width = len(self.values)
        rotated = self.vectors.mT @ cross[:width]
        weights = self.vectors @ (rotated / (self.values[:, None] + self.penalties[:, None, None]))
        return functional.pad(weights, (0, 0, 0, len(cross) - width))


def least_error(
    path: Float[Tensor, "alpha feature horizon"], validation: Batches, view: View
) -> int:
    """Return which weights have the least weighted squared error over the observed future."""
    errors = path.new_zeros(path.shape[0])
    for columns, past, future, observed, importance in view.rows(validation):
        counts = observed * importance[:, None]
        for index, weight in enumerate(path):
            errors[index] += ((past @ weight[columns] - future).square() * counts).sum()
    return int(errors.argmin())
