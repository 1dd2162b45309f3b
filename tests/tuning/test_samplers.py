"""``SeededSampler``: trial k is the study's seed and k."""

import optuna
import pytest
from optuna.samplers import (
    BaseSampler,
    GridSampler,
    NSGAIISampler,
    RandomSampler,
    TPESampler,
)

from tsformer.tuning.samplers import SeededSampler
from tsformer.tuning.trials import Budget, run_trials

GRID = {"x": [0.0, 0.5, 1.0], "n": [1, 2]}


def study_of(sampler: BaseSampler, seed: int = 7) -> optuna.Study:
    return optuna.create_study(sampler=SeededSampler(sampler, seed))


def asked(study: optuna.Study) -> tuple[float, int]:
    trial = study.ask()
    drawn = trial.suggest_float("x", 0, 1), trial.suggest_int("n", 1, 1000)
    study.tell(trial, drawn[0])
    return drawn


def test_a_trial_is_the_same_whatever_was_asked_before_it() -> None:
    whole = study_of(RandomSampler())
    first = [asked(whole) for _ in range(4)]
    again = study_of(RandomSampler(seed=99))
    for _ in range(3):
        again.ask()  # nothing is drawn for these
    assert asked(again) == first[3]
    assert len(set(first)) == 4


def test_another_seed_draws_others() -> None:
    assert asked(study_of(RandomSampler(), 1)) != asked(study_of(RandomSampler(), 2))


@pytest.mark.parametrize(
    "sampler",
    [
        lambda: TPESampler(n_startup_trials=2),
        lambda: NSGAIISampler(population_size=3),
    ],
)
def test_a_sampler_with_history_is_the_same_in_one_process(sampler: type[BaseSampler]) -> None:
    one, two = (study_of(sampler()) for _ in range(2))
    assert [asked(one) for _ in range(8)] == [asked(two) for _ in range(8)]


def test_a_grid_ends_the_search() -> None:
    study = study_of(GridSampler(GRID))

    def value(trial: optuna.Trial) -> float:
        return trial.suggest_float("x", 0, 1) + trial.suggest_int("n", 1, 2)

    run_trials(study, value, Budget(100))
    assert sorted(trial.value for trial in study.trials) == [1.0, 1.5, 2.0, 2.0, 2.5, 3.0]
