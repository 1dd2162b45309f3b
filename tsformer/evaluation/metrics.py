"""Metrics as an algebra: a statistic of every step, summed as a stream, over another sum."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from tsformer.arrays import Flags, Floats, Ints
from tsformer.errors import ParameterError
from tsformer.estimators.naive import scaled_error
from tsformer.heads import pinball_loss

__all__ = [
    "METRICS",
    "PUBLISHED",
    "USUAL",
    "Metric",
    "Observed",
    "Statistic",
    "Totals",
    "checked_metrics",
    "metric",
]


class Observed(NamedTuple):
    """Forecasts beside what came; the truth is NaN where it is unknown.

    ``truth`` and ``point`` are (window, step, target), ``quantiles`` has a last axis of
    ``levels``. Two units of error come along, (window, target) each: ``naive``, the mean
    error of seasonal persistence (NaN for a series without one, see ``naive_scale``), and
    ``deviation``, both of training rows alone.
    """

    truth: Floats
    point: Floats
    quantiles: Floats
    levels: Floats
    naive: Floats
    deviation: Floats


Statistic = Callable[[Observed], Floats]
"""From forecasts to (window, step, target) numbers; what is NaN does not count."""


@dataclass(frozen=True)
class Metric:
    """One sum over another, in float64, over all observed steps.

    Attributes
    ----------
    doc
        What it is, in which unit.
    statistic
        What is summed.
    over
        What its sum is divided by the sum of; None is the number of observed steps.
    root
        Whether the square root is taken at last.
    levels
        How many quantile levels it needs at least.
    error
        Whether lower is better.
    label
        What a printed table calls it.
    """

    doc: str
    statistic: Statistic
    over: Statistic | None
    root: bool
    levels: int
    error: bool
    label: str

    def value(self, sums: dict[Statistic | None, Floats]) -> Floats:
        """The metric from sums of its statistics; ``sums[None]`` counts. NaN over nothing."""
        total, divisor = sums[self.statistic], sums[self.over]
        empty = np.full_like(total, np.nan)
        ratio = np.divide(total, divisor, out=empty, where=divisor > 0)
        return np.sqrt(ratio) if self.root else ratio


METRICS: dict[str, Metric] = {}
"""Every metric by its name; each stands on the statistic that it sums."""


def metric(
    name: str,
    doc: str,
    *,
    label: str,
    over: Statistic | None = None,
    root: bool = False,
    levels: int = 0,
    error: bool = True,
) -> Callable[[Statistic], Statistic]:
    """Put a metric of the decorated statistic into ``METRICS``; the rest as in ``Metric``.

    Examples
    --------
    >>> METRICS["rmse"].doc
    "root of the mean squared error, in the data's unit"
    """

    def entered(statistic: Statistic) -> Statistic:
        METRICS[name] = Metric(doc, statistic, over, root, levels, error, label)
        return statistic

    return entered


@metric("mae", "mean absolute error, in the data's unit", label="MAE")
def absolute_error(seen: Observed) -> Floats:
    """``|y - f|``."""
    return np.abs(seen.truth - seen.point)


@metric("rmse", "root of the mean squared error, in the data's unit", root=True, label="RMSE")
@metric("mse", "mean squared error, in the data's unit squared", label="MSE")
def squared_error(seen: Observed) -> Floats:
    """``(y - f)^2``."""
    return (seen.truth - seen.point) ** 2


def has_naive_unit(seen: Observed) -> Floats:
    """1 where the error of seasonal persistence is a unit, NaN where a series has none."""
    return np.broadcast_to(seen.naive[:, None, :], seen.truth.shape) * 0 + 1


@metric(
    "mase",
    "mean absolute error over that of one-step seasonal persistence on training rows; series"
    " without such a unit, such as constants, are left out",
    over=has_naive_unit,
    label="MASE",
)
def naive_error(seen: Observed) -> Floats:
    """``|y - f|`` over the error of seasonal persistence (Hyndman and Koehler 2006, section 3)."""
    return scaled_error(seen.truth, seen.point, seen.naive)


def absolute_truth(seen: Observed) -> Floats:
    """``|y|``."""
    return np.abs(seen.truth)


@metric("wape", "sum of absolute errors over sum of |actual|", over=absolute_truth, label="WAPE")
def weighted_error(seen: Observed) -> Floats:
    """``|y - f|``, whose sum the sum of ``|y|`` divides."""
    return absolute_error(seen)


@metric(
    "pinball", "mean pinball loss over all levels, in the data's unit", levels=1, label="pinball"
)
def pinball(seen: Observed) -> Floats:
    """The pinball loss of each level, mean over levels."""
    forecast, target, levels = map(torch.from_numpy, (seen.quantiles, seen.truth, seen.levels))
    loss: Floats = pinball_loss(forecast, target, levels).mean(-1).numpy()
    return loss


@metric(
    "coverage",
    "share of actuals between the lowest and the highest quantile",
    levels=2,
    error=False,
    label="coverage",
)
def inside(seen: Observed) -> Floats:
    """1 where the truth lies between the lowest and the highest quantile, else 0."""
    low, high = seen.quantiles.min(axis=-1), seen.quantiles.max(axis=-1)
    found = (seen.truth >= low) & (seen.truth <= high)
    return np.where(np.isnan(seen.truth), np.nan, found)


@metric(
    "scaled_mae",
    "mean absolute error in standard deviations of each column's training rows",
    label="MAE (scaled)",
)
def deviation_error(seen: Observed) -> Floats:
    """``|y - f|`` in standard deviations of the training rows."""
    return absolute_error(seen) / seen.deviation[:, None, :]


@metric(
    "scaled_mse",
    "mean squared error in variances of each column's training rows",
    label="MSE (scaled)",
)
def squared_deviation_error(seen: Observed) -> Floats:
    """``(y - f)^2`` in variances of the training rows."""
    return deviation_error(seen) ** 2


USUAL = ("mae", "mase")
"""What a backtest says if it is not told what to say."""

PUBLISHED = ("scaled_mse", "scaled_mae")
"""What papers report of a canonical split."""


class Totals:
    """Sums of one forecaster, kept by fold and target and by step: no window is remembered.

    Parameters
    ----------
    metrics
        Names from ``METRICS``.
    folds, targets, horizon
        How many rows the tables have.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> seen = Observed(
    ...     truth=np.array([[[1.0], [np.nan], [5.0]]]), point=np.zeros((1, 3, 1)),
    ...     quantiles=np.zeros((1, 3, 1, 0)), levels=np.zeros(0), naive=2 * one, deviation=one,
    ... )
    >>> totals = Totals(["mae", "mase"], folds=1, targets=1, horizon=3)
    >>> totals.add(seen, np.array([0]))
    >>> float(totals.overall("mae")), float(totals.overall("mase"))
    (3.0, 1.5)
    >>> totals.by_step("mae")
    array([ 1., nan,  5.])
    """

    def __init__(self, metrics: Iterable[str], *, folds: int, targets: int, horizon: int) -> None:
        kinds: dict[Statistic | None, None] = {None: None}
        for name in metrics:
            kinds |= dict.fromkeys((METRICS[name].statistic, METRICS[name].over))
        self._folds = {kind: np.zeros((folds, targets)) for kind in kinds}
        self._steps = {kind: np.zeros(horizon) for kind in kinds}

    def add(self, seen: Observed, folds: Ints) -> None:
        """Count these windows; ``folds`` (window,) says to which fold each belongs."""
        observed = ~np.isnan(seen.truth)
        for kind, by_fold in self._folds.items():
            values = observed if kind is None else _counted(kind(seen), observed)
            np.add.at(by_fold, folds, values.sum(axis=1))
            self._steps[kind] += values.sum(axis=(0, 2))

    def by_fold(self, name: str) -> Floats:
        """(fold, target) values of a metric."""
        return METRICS[name].value(self._folds)

    def by_step(self, name: str) -> Floats:
        """(horizon,) values of a metric."""
        return METRICS[name].value(self._steps)

    def overall(self, name: str) -> Floats:
        """The metric over all observed steps, each with the same weight."""
        return METRICS[name].value({kind: sums.sum() for kind, sums in self._folds.items()})


def _counted(values: Floats, observed: Flags) -> Floats:
    return np.where(observed & ~np.isnan(values), values, 0.0)


def checked_metrics(metrics: str | Sequence[str], levels: Sequence[float]) -> tuple[str, ...]:
    """Names of known metrics that these quantile levels suffice for.

    Raises
    ------
    ParameterError
        If a name is unknown, there is none, or a metric needs more quantiles.
    """
    names = (metrics,) if isinstance(metrics, str) else tuple(dict.fromkeys(metrics))
    if not names:
        raise ParameterError(f"metrics is empty: name at least one of {', '.join(METRICS)}")
    for name in names:
        if name not in METRICS:
            close = difflib.get_close_matches(str(name).lower(), METRICS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(METRICS)}"
            raise ParameterError(f"metrics: {name!r} is not one; {hint}")
        needed = METRICS[name].levels
        if len(levels) < needed:
            raise ParameterError(
                f"metric {name!r} needs at least {needed} quantile level{'s'[: needed - 1]}: "
                "quantiles=[0.1, 0.5, 0.9]"
            )
    return names
