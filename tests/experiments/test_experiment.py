import numpy as np
import pandas as pd
import pytest

from tsformer import Drift, Forecaster, SeasonalNaive
from tsformer.errors import ParameterError
from tsformer.experiments import Cell, Experiment
from tsformer.models import Linear


def experiment(**changes):
    settings = {
        "datasets": {"a": pd.DataFrame({"y": np.arange(40.0)}), "b": None},
        "horizons": [2, 4],
        "forecasters": {"drift": Drift(horizon=1), "ridge": Forecaster(Linear(), horizon=1)},
        "folds": 2,
        "seeds": (0, 1),
    }
    return Experiment("Why?", **(settings | changes))


def test_the_grid_is_every_combination_and_only_what_is_random_has_several_seeds():
    cells = experiment(horizons={"a": [2], "b": [3]}).cells()
    assert list(map(str, cells)) == [
        "a/2/drift/0",
        "a/2/ridge/0",
        "a/2/ridge/1",
        "b/3/drift/0",
        "b/3/ridge/0",
        "b/3/ridge/1",
    ]


def test_cells_are_chosen_by_pattern():
    chosen = experiment().cells(["a/2/drift", "*/4/ridge/1"])
    assert list(map(str, chosen)) == ["a/2/drift/0", "a/4/ridge/1", "b/4/ridge/1"]


def test_a_pattern_of_no_cell_is_refused_with_a_close_one():
    with pytest.raises(ParameterError, match=r"no cell matches 'a/2/rigde'; there is 'a/2/ridge'"):
        experiment().cells(["a/2/rigde"])


def test_a_forecaster_gets_the_horizon_the_seed_and_the_budget_of_its_cell():
    asked = experiment(budget=7)
    made = asked.forecaster(Cell("a", 4, "ridge", 1))
    assert (made.horizon, made.random_state, made.training.max_time) == (4, 1, 7.0)
    assert asked.forecasters["ridge"].horizon == 1
    assert asked.forecaster(Cell("a", 4, "drift", 0)).horizon == 4


def test_a_forecaster_may_depend_on_data_and_horizon():
    seasons = {"a": 7, "b": 12}
    asked = experiment(
        forecasters={
            "naive": lambda name, horizon: SeasonalNaive(
                horizon=horizon, season_length=seasons[name]
            )
        }
    )
    assert asked.forecaster(Cell("b", 2, "naive", 0)).season_length == 12


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"datasets": "etth1"}, "datasets='etth1': give a sequence"),
        ({"datasets": []}, r"datasets=\[\]: give a sequence"),
        ({"horizons": {"a": [2]}}, "horizons has none for the data set 'b'"),
        ({"forecasters": [Drift(horizon=1)]}, "give a mapping from names"),
        ({"forecasters": {"x": 3}}, "'x' is 3, which is no forecaster"),
        ({"forecasters": {"x": lambda name, horizon: 3}}, "'x' made 3, which is no forecaster"),
        ({"split": "canonical"}, "split and folds both say how to cut"),
        ({"split": 3, "folds": None}, "split=3: give a name"),
        ({"metrics": ["maee"]}, "did you mean 'mae'"),
        ({"metrics": ["pinball"]}, "needs at least 1 quantile level"),
        ({"folds": 0}, "folds must be at least 1"),
    ],
    ids=lambda value: str(value)[:40].split(" at ")[0],
)
def test_what_makes_no_grid_is_refused(changes, said):
    with pytest.raises(ParameterError, match=said):
        experiment(**changes).cells()
