"""Ending a trial that has fallen behind: by epoch within a fold, and by fold across them."""

import copy
import math
from collections.abc import Callable, Container, Mapping
from typing import Any

import optuna
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial, TrialState

__all__ = ["AS_GIVEN", "FoldPruner", "FoldReports"]

AS_GIVEN = "as_given"
"""Mark of the trial that is the forecaster itself."""

_STRIDE = 1_000_000
"""Steps that Optuna is told between one stage and the next: more than there are epochs."""

_LAST = _STRIDE - 1
"""The step of a mean error over folds: beyond whatever steps a pruner waits for."""


class FoldPruner(BasePruner):
    """Asks a pruner about each stage of a trial by itself.

    Optuna holds one series of numbers a trial, and its pruners compare the best of them. The
    losses of one fold say nothing about those of another, nor about errors: a trial that did well
    in an easy fold would never be behind in a later one. Here a pruner sees only the numbers of
    the stage at hand: the epochs of one fold, or the mean error when a fold has ended. Stages are
    numbered in the order in which they come, since Optuna takes the highest step for the latest.

    Parameters
    ----------
    pruner
        Any of Optuna's.

    Examples
    --------
    >>> pruner = FoldPruner(optuna.pruners.MedianPruner(n_startup_trials=1))
    >>> study = optuna.create_study(pruner=pruner)
    >>> for loss in (1.0, 2.0):
    ...     trial = study.ask()
    ...     reports = FoldReports(trial)
    ...     reports.epoch(0, 1, loss)
    ...     print(trial.should_prune())
    ...     study.tell(trial, loss).state.name
    False
    'COMPLETE'
    True
    'COMPLETE'
    """

    def __init__(self, pruner: BasePruner) -> None:
        self.pruner = pruner

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        """Whether the trial is behind in the stage that it has last told of."""
        if trial.last_step is None:
            return False
        stage = trial.last_step // _STRIDE
        view: Any = _StudyAt(study, stage)  # a study in all that a pruner asks of one
        return self.pruner.prune(view, _at(stage, trial))


class FoldReports:
    """Tells Optuna how a trial goes, and ends it when it has fallen behind.

    The forecaster as given is never ended: it is what the others must beat.

    Parameters
    ----------
    trial
        The trial at work.
    """

    def __init__(self, trial: optuna.Trial) -> None:
        self._trial = trial
        self._kept = AS_GIVEN in trial.user_attrs

    def epoch(self, fold: int, epoch: int, loss: float) -> None:
        """Tell of the validation loss after an epoch of a fold, counted from 0."""
        if not math.isnan(loss):
            self._trial.report(loss, step=2 * fold * _STRIDE + epoch)

    def folds(self, finished: int, mean_error: float) -> None:
        """Tell of the mean error over the folds that are finished."""
        self._trial.report(mean_error, step=(2 * finished - 1) * _STRIDE + _LAST)

    def prune(self) -> None:
        """Raise ``TrialPruned`` if the trial is behind."""
        if not self._kept and self._trial.should_prune():
            raise optuna.TrialPruned

    def of_fold(self, fold: int) -> Callable[[Mapping[str, float]], None]:
        """A function of an epoch's row of the history, for the callbacks of a fit."""

        def tell(row: Mapping[str, float]) -> None:
            self.epoch(fold, int(row["epoch"]), row["validation_loss"])
            self.prune()

        return tell


class _StudyAt:
    """A study whose trials hold the numbers of one stage only."""

    def __init__(self, study: optuna.Study, stage: int) -> None:
        self._study, self._stage = study, stage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._study, name)

    def get_trials(
        self, deepcopy: bool = True, states: Container[TrialState] | None = None
    ) -> list[FrozenTrial]:
        """As ``Study.get_trials``."""
        return [_at(self._stage, trial) for trial in self._study.get_trials(False, states)]


def _at(stage: int, trial: FrozenTrial) -> FrozenTrial:
    """A trial with the numbers of one stage, whose steps begin anew."""
    view = copy.copy(trial)
    view.intermediate_values = {
        step % _STRIDE: value
        for step, value in trial.intermediate_values.items()
        if step // _STRIDE == stage
    }
    return view
