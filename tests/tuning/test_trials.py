"""The loop over trials: what counts, what is given back, what is survived."""

import logging
import math

import optuna
import pytest
from optuna.trial import TrialState

from tsformer.tuning.trials import Budget, counts, finished, give_back, run_trials


@pytest.fixture
def study() -> optuna.Study:
    return optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))


def value(trial: optuna.Trial) -> float:
    return trial.suggest_float("x", 0, 1)


def states(study: optuna.Study) -> list[str]:
    return [trial.state.name for trial in study.trials]


def test_the_budget_is_a_total(study: optuna.Study) -> None:
    run_trials(study, value, Budget(3))
    run_trials(study, value, Budget(5))
    run_trials(study, value, Budget(5))
    assert states(study) == ["COMPLETE"] * 5


def test_what_is_caught_uses_the_budget(study: optuna.Study) -> None:
    def fails_at_first(trial: optuna.Trial) -> float:
        if trial.number < 2:
            raise ArithmeticError("no")
        return 1.0

    moved: list[int] = []
    run_trials(study, fails_at_first, Budget(3), catch=(ArithmeticError,), advance=moved.append)
    assert states(study) == ["FAIL", "FAIL", "COMPLETE"]
    assert study.trials[0].user_attrs["reason"] == "ArithmeticError: no"
    assert moved == [1, 1, 1]


def test_what_is_not_caught_is_recorded_and_raised(study: optuna.Study) -> None:
    def broken(trial: optuna.Trial) -> float:
        raise LookupError("a fault of ours")

    with pytest.raises(LookupError):
        run_trials(study, broken, Budget(3), catch=(ArithmeticError,))
    assert states(study) == ["FAIL"]
    assert study.trials[0].user_attrs["reason"] == "LookupError: a fault of ours"


@pytest.mark.parametrize("odd", [math.inf, -math.inf, math.nan])
def test_a_value_that_is_not_finite_is_a_failure(study: optuna.Study, odd: float) -> None:
    run_trials(study, lambda trial: odd, Budget(1))
    assert states(study) == ["FAIL"]
    assert study.trials[0].user_attrs["reason"] == f"the value is {odd}"


def test_one_of_several_values_that_is_not_finite_is_a_failure() -> None:
    study = optuna.create_study(directions=["minimize", "minimize"])
    run_trials(study, lambda trial: (1.0, [math.inf, 2.0][trial.number]), Budget(2))
    assert states(study) == ["FAIL", "COMPLETE"]


def test_pruned_trials_use_the_budget(study: optuna.Study) -> None:
    def pruned(trial: optuna.Trial) -> float:
        raise optuna.TrialPruned

    run_trials(study, pruned, Budget(2))
    assert states(study) == ["PRUNED", "PRUNED"]


def test_an_interruption_keeps_what_is_finished_and_gives_its_trial_back(
    study: optuna.Study,
) -> None:
    def interrupted(trial: optuna.Trial) -> float:
        drawn = value(trial)
        if trial.number == 1:
            raise KeyboardInterrupt
        return drawn

    with pytest.raises(KeyboardInterrupt):
        run_trials(study, interrupted, Budget(3))
    assert states(study) == ["COMPLETE", "FAIL", "WAITING"]
    assert finished(study) == 1
    run_trials(study, value, Budget(3))
    assert states(study) == ["COMPLETE", "FAIL", "COMPLETE", "COMPLETE"]
    assert study.trials[2].params == study.trials[1].params
    assert study.trials[2].user_attrs == {"retry_of": 1}


def test_a_trial_is_given_back_once(study: optuna.Study) -> None:
    study.ask()
    assert give_back(study, study.trials[0])
    study.tell(0, state=TrialState.FAIL)
    again = study.ask()
    assert not give_back(study, study.trials[again.number])


def test_a_trial_that_another_worker_ended_is_dropped_with_a_note(
    study: optuna.Study, caplog: pytest.LogCaptureFixture
) -> None:
    def ended_meanwhile(trial: optuna.Trial) -> float:
        if trial.number == 0:
            study.tell(0, state=TrialState.FAIL)
        return 1.0

    with caplog.at_level(logging.WARNING, "tsformer"):
        run_trials(study, ended_meanwhile, Budget(2))
    assert states(study) == ["FAIL", "COMPLETE"]
    assert [record.getMessage()[:45] for record in caplog.records] == [
        "Trial 0 was given to another worker while thi"
    ]


def test_a_report_to_a_trial_that_another_worker_ended_is_survived(study: optuna.Study) -> None:
    def ended_meanwhile(trial: optuna.Trial) -> float:
        if trial.number == 0:
            study.tell(0, state=TrialState.FAIL)
            trial.report(1.0, 1)
        return 1.0

    run_trials(study, ended_meanwhile, Budget(2))
    assert states(study) == ["FAIL", "COMPLETE"]


def test_of_two_that_ask_for_the_last_one_the_later_gives_up(study: optuna.Study) -> None:
    """Another worker asks between our look at the budget and our asking."""
    ask = study.ask
    others = []

    def ask_second() -> optuna.Trial:
        if not others:
            others.append(ask())
        return ask()

    study.ask = ask_second
    ran: list[int] = []

    def ended_by_now() -> None:
        if others and not study.trials[0].state.is_finished():
            study.tell(others[0], 1.0)

    def recorded(trial: optuna.Trial) -> float:
        ran.append(trial.number)
        return 2.0

    run_trials(study, recorded, Budget(1), reap=ended_by_now)
    assert ran == []
    assert states(study) == ["COMPLETE", "FAIL"]
    assert [counts(trial) for trial in study.trials] == [True, False]


def test_a_time_limit_starts_no_further_trial(study: optuna.Study) -> None:
    run_trials(study, value, Budget(None, timeout=1e-9))
    assert study.trials == []


def test_a_time_limit_also_ends_the_wait_for_others(study: optuna.Study) -> None:
    study.ask()
    run_trials(study, value, Budget(1, timeout=0.05))
    assert states(study) == ["RUNNING"]
