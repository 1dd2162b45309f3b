"""One trial: fit on the training rows of each fold, score on the rows after them."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import optuna
import torch
from sklearn.base import clone

from tsformer.errors import LookAhead, NoSkill, TrainingFailed, TsformerError
from tsformer.estimators import Forecaster, PanelForecaster
from tsformer.evaluation import METRICS, backtest
from tsformer.reading import RollingOrigin
from tsformer.reading.reader import stamps_of
from tsformer.training import Training
from tsformer.tuning.pruning import AS_GIVEN, FoldReports
from tsformer.tuning.space import UNKNOWN, Dimension, given

__all__ = ["FAILURES", "Objective", "configured", "rows_at"]

Row = Mapping[str, float]

FAILURES = (TsformerError, torch.OutOfMemoryError, MemoryError)
"""What ends a trial and not the search: a combination that cannot be, or that came to nothing."""

_LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Quantiles that the pinball loss is the mean over."""


class Objective:
    """The mean error of a trial over the folds.

    What a trial came to stands in the study, where other processes find it: ``epochs`` it ran,
    ``saved`` ones that it had still before it when it ended.
    """

    def __init__(
        self,
        base: PanelForecaster,
        space: Mapping[str, Dimension],
        data: Any,
        folds: Sequence[tuple[Any, Any]],
        metric: str,
    ) -> None:
        self.base, self.space, self.metric = base, space, metric
        self.data, self.folds = data, folds
        defaults = {path: given(base, path) for path in space}
        self.given = {path: value for path, value in defaults.items() if value is not UNKNOWN}
        self.recorded = {
            path: space[path].recorded(value)
            for path, value in defaults.items()
            if space[path].contains(value)
        }
        self._warned = False  # of pretrained weights: once a search, in the earliest fold

    def __call__(self, trial: optuna.Trial) -> float:
        """The error to minimise."""
        return self._mean_error(trial, self._candidate(trial))

    def tried(self, trial: optuna.trial.FrozenTrial) -> dict[str, Any]:
        """The values of a trial by path; Optuna holds parts only by their repr."""
        if AS_GIVEN in trial.user_attrs:
            return self.given
        recorded = optuna.trial.FixedTrial(trial.params, trial.number)
        return {
            path: dimension.suggest(recorded, path)
            for path, dimension in self.space.items()
            if path in trial.params
        }

    @property
    def columns(self) -> list[str]:
        """Names of the columns of ``trials_``."""
        return ["number", "state", "value", "epochs", "seconds", "reason", *self.space]

    def row(self, trial: optuna.trial.FrozenTrial) -> dict[str, Any]:
        """A trial's row of ``trials_``."""
        value = trial.value if trial.state is optuna.trial.TrialState.COMPLETE else None
        tried = self.tried(trial)
        return {
            "number": trial.number,
            "state": _STATES.get(trial.state, "failed"),
            "value": math.nan if value is None else value,
            "epochs": trial.user_attrs.get("epochs", 0),
            "seconds": math.nan if trial.duration is None else trial.duration.total_seconds(),
            "reason": trial.user_attrs.get("reason", ""),
            **{path: tried.get(path) for path in self.space},
        }

    def _candidate(self, trial: optuna.Trial) -> PanelForecaster:
        if AS_GIVEN in trial.user_attrs:  # what of it lies in the space is recorded
            for path in self.recorded:
                self.space[path].suggest(trial, path)
            return configured(self.base, {})
        values = {path: dimension.suggest(trial, path) for path, dimension in self.space.items()}
        return configured(self.base, values)

    def _mean_error(self, trial: optuna.Trial, candidate: PanelForecaster) -> float:
        epochs = _Epochs(_budget(candidate) * len(self.folds))
        try:
            return self._over_folds(trial, candidate, epochs)
        finally:
            trial.set_user_attr("epochs", epochs.run)
            trial.set_user_attr("saved", epochs.most - epochs.run)

    def _over_folds(
        self, trial: optuna.Trial, candidate: PanelForecaster, count: "_Epochs"
    ) -> float:
        errors: list[float] = []
        reports = FoldReports(trial)
        for fold, (train, test) in enumerate(self.folds):
            forecaster = _reporting(candidate, [count, reports.of_fold(fold)])
            seen, later = rows_at(self.data, train), rows_at(self.data, test)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoSkill)  # a poor trial is no news
                if self._warned:
                    warnings.simplefilter("ignore", LookAhead)
                self._warned = self._warned or getattr(forecaster, "start", None) is not None
                error = _error(forecaster, seen, later, self.metric)
            if not math.isfinite(error):
                why = _why(error, self.metric)
                raise TrainingFailed(f"the {self.metric} of fold {fold} is {error}{why}")
            errors.append(error)
            if len(errors) < len(self.folds):
                reports.folds(len(errors), float(np.mean(errors)))
                reports.prune()
        return float(np.mean(errors))


class _Epochs:
    """Counts the epochs of one trial, of which there are at most so many."""

    def __init__(self, most: int) -> None:
        self.most, self.run = most, 0

    def __call__(self, row: Row) -> None:
        if row["epoch"] > 0:  # 0 is the state before the first step
            self.run += 1


_STATES = {
    optuna.trial.TrialState.COMPLETE: "complete",
    optuna.trial.TrialState.PRUNED: "pruned",
}


def _reporting(
    candidate: PanelForecaster, reports: Sequence[Callable[[Row], None]]
) -> PanelForecaster:
    """A clone that also calls these with each epoch's row, and shows no progress of its own."""
    forecaster: PanelForecaster = clone(candidate)
    if isinstance(forecaster, Forecaster):
        training = forecaster.training or Training()
        training.callbacks = (*training.callbacks, *reports)
        training.progress = False if training.progress == "auto" else training.progress
        forecaster.training = training
    return forecaster


def _budget(candidate: PanelForecaster) -> int:
    """Epochs of one fit, at most."""
    if not isinstance(candidate, Forecaster):
        return 0
    return (candidate.training or Training()).epochs


def configured(base: PanelForecaster, values: Mapping[str, Any]) -> PanelForecaster:
    """A clone with these parameters; the base and the values stay as they are."""
    configured: PanelForecaster = clone(base)
    # parts are copied: a path into one must not reach what was tried before
    configured.set_params(**{path: clone(value, safe=False) for path, value in values.items()})
    return configured


def _error(forecaster: PanelForecaster, seen: Any, later: Any, metric: str) -> float:
    """The error from every origin after the rows ``seen``, which begin ``later``."""
    if metric == "mase":
        return -forecaster.fit(seen).score(later)
    time = None if forecaster.schema is None else forecaster.schema.time
    added = stamps_of(later, time).nunique() - stamps_of(seen, time).nunique()
    origins = max(1, added - forecaster.horizon + 1)
    split = RollingOrigin(folds=origins, horizon=forecaster.horizon, step=1, time=time)
    table = backtest(
        {"trial": forecaster},
        later,
        split=split,
        metrics=metric,
        quantiles=_LEVELS if METRICS[metric].levels else None,
        keep_forecasts=False,
    ).summary()
    return float(table[metric]["trial"])


def _why(error: float, metric: str) -> str:
    if metric != "mase" or not math.isnan(error):
        return ""
    return ": no series changes in the training rows, so there is no unit; take metric='mae'"


def rows_at(data: Any, positions: Any) -> Any:
    """Rows of a frame or an array, by position."""
    return data.iloc[positions] if hasattr(data, "iloc") else np.asarray(data)[positions]
