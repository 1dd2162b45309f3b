"""The trials of a study one after another, counted from its storage.

Optuna's own loop ends a worker whose trial was taken from it, counts only its own trials, and
records a value of infinity as a success.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from tsformer.tuning.pruning import AS_GIVEN
from tsformer.tuning.samplers import SeededSampler

__all__ = ["Budget", "counts", "finished", "give_back", "run_trials"]

_LOG = logging.getLogger("tsformer")

LOST = "lost"
"""Mark of a trial that came to no end of its own, with why; it uses none of the budget."""

_POLL = 0.1
"""Seconds between looks at what other workers still have in hand."""

Objective = Callable[[optuna.Trial], float | Sequence[float]]


@dataclass(frozen=True)
class Budget:
    """When a study has had enough.

    Parameters
    ----------
    n_trials
        Trials in all, those of earlier runs and of other workers among them; None is no limit.
    timeout
        Seconds after which this run starts no further trial.
    """

    n_trials: int | None = None
    timeout: float | None = None


def run_trials(
    study: optuna.Study,
    objective: Objective,
    budget: Budget,
    *,
    catch: tuple[type[Exception], ...] = (),
    advance: Callable[[int], None] = lambda count: None,
    reap: Callable[[], None] = lambda: None,
) -> None:
    """Run trials until the budget is used up, whoever uses it.

    A trial whose value is not finite, and one that raises what is caught, is recorded as failed
    with its reason in ``user_attrs`` and uses the budget. Any other error is recorded and raised.
    An interruption gives its trial back, to be done again, and is raised.

    Parameters
    ----------
    study
        Its storage may have other workers.
    objective
        The value of a trial, or values.
    budget
        When to stop.
    catch
        Errors that end a trial and not the search.
    advance
        Called with 1 after each trial.
    reap
        Called before each trial, to take trials from workers that are no more.

    Examples
    --------
    >>> study = optuna.create_study()
    >>> run_trials(study, lambda trial: 1 / trial.number, Budget(3), catch=(ArithmeticError,))
    >>> [(trial.state.name, trial.value) for trial in study.trials]
    [('FAIL', None), ('COMPLETE', 1.0), ('COMPLETE', 0.5)]
    >>> study.trials[0].user_attrs["reason"]
    'ZeroDivisionError: division by zero'
    """
    started = time.monotonic()
    while not _used_up(study, budget, started):
        reap()
        if not _free(study, budget):
            time.sleep(_POLL)
            continue
        trial = study.ask()
        if budget.n_trials is not None and _rank(study, trial.number) >= budget.n_trials:
            _end(study, trial, TrialState.FAIL, reason="the budget was used up", lost="surplus")
            continue
        _run(study, objective, trial, catch)
        advance(1)


def finished(study: optuna.Study) -> int:
    """Trials that have used the budget: complete, pruned and failed ones.

    Examples
    --------
    >>> study = optuna.create_study()
    >>> study.tell(study.ask(), 1.0).state.name, study.ask().number, finished(study)
    ('COMPLETE', 1, 1)
    """
    trials = study.get_trials(deepcopy=False)
    return sum(trial.state.is_finished() and counts(trial) for trial in trials)


def counts(trial: FrozenTrial) -> bool:
    """Whether a trial uses the budget, now or when it will have ended."""
    return trial.state is not TrialState.FAIL or LOST not in trial.user_attrs


def give_back(study: optuna.Study, trial: FrozenTrial) -> bool:
    """Queue a trial that was lost, with its parameters; a second time never.

    A trial that takes two workers with it would take the third.
    """
    if "retry_of" in trial.user_attrs:
        return False
    again = {"retry_of": trial.number}
    fixed = trial.system_attrs.get("fixed_params", {})
    kept = {name: value for name, value in trial.user_attrs.items() if name == AS_GIVEN}
    study.enqueue_trial({**fixed, **trial.params}, user_attrs={**kept, **again})
    return True


def _used_up(study: optuna.Study, budget: Budget, started: float) -> bool:
    if budget.timeout is not None and time.monotonic() - started >= budget.timeout:
        return True
    if isinstance(study.sampler, SeededSampler) and study.sampler.exhausted:
        return True
    return budget.n_trials is not None and finished(study) >= budget.n_trials


def _free(study: optuna.Study, budget: Budget) -> bool:
    """Whether there is a trial to begin, and not only other workers' to wait for."""
    trials = study.get_trials(deepcopy=False)
    if budget.n_trials is None or any(trial.state is TrialState.WAITING for trial in trials):
        return True
    return sum(counts(trial) for trial in trials) < budget.n_trials


def _rank(study: optuna.Study, number: int) -> int:
    """How many trials before this one use the budget.

    Two workers may ask at once for the last one; both find the same one of them to be it.
    """
    earlier = study.get_trials(deepcopy=False)[:number]
    return sum(counts(trial) for trial in earlier)


def _run(
    study: optuna.Study,
    objective: Objective,
    trial: optuna.Trial,
    catch: tuple[type[Exception], ...],
) -> None:
    try:
        values = objective(trial)
    except optuna.TrialPruned:
        _end(study, trial, TrialState.PRUNED)
    except UpdateFinishedTrialError:
        _note_dropped(trial)
    except catch as error:
        _end(study, trial, TrialState.FAIL, reason=_reason(error))
    except Exception as error:
        _end(study, trial, TrialState.FAIL, reason=_reason(error))
        raise
    except BaseException as error:
        _end(study, trial, TrialState.FAIL, reason=_reason(error), lost="interrupted")
        give_back(study, study.get_trials(deepcopy=False)[trial.number])
        raise
    else:
        every = list(values) if isinstance(values, Sequence) else [values]
        if all(math.isfinite(value) for value in every):
            _end(study, trial, TrialState.COMPLETE, values=every)
        else:
            _end(study, trial, TrialState.FAIL, reason=f"the value is {values}")


def _end(
    study: optuna.Study,
    trial: optuna.Trial,
    state: TrialState,
    *,
    values: Sequence[float] | None = None,
    reason: str = "",
    lost: str = "",
) -> None:
    """Tell how a trial ended; one that another worker has ended meanwhile stays as it is."""
    try:
        if reason:
            trial.set_user_attr("reason", reason)
        if lost:
            trial.set_user_attr(LOST, lost)
        told = study.tell(trial, values, state, skip_if_finished=True)
    except UpdateFinishedTrialError:
        _note_dropped(trial)
    else:
        if told.state is not state:
            _note_dropped(trial)


def _note_dropped(trial: optuna.Trial) -> None:
    _LOG.warning(
        "Trial %d was given to another worker while this one stood still; its result is dropped.",
        trial.number,
    )


def _reason(error: BaseException) -> str:
    return ": ".join(filter(None, [type(error).__name__, str(error)]))
