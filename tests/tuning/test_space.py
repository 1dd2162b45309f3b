"""Spaces: what may be drawn, what is refused before anything is fitted."""

from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest

from tsformer.errors import ParameterError
from tsformer.estimators import Forecaster, SeasonalNaive
from tsformer.heads import Point, Quantiles
from tsformer.models import Informer, Linear
from tsformer.tuning import Choice, Dimension, Float, Int, auto_space
from tsformer.tuning.space import UNKNOWN, given, read_space

DATA = np.arange(120.0)


@pytest.mark.parametrize(
    "dimension",
    [
        Float(0.0, 0.3),
        Float(1e-4, 1e-2, log=True),
        Float(2.0, 2.0),
        Int(1, 3),
        Int(24, 168, step=24),
        Int(1, 1000, log=True),
        Choice([32, 64]),
        Choice([None, "a", True]),
        Choice((Informer(), Linear())),
    ],
    ids=repr,
)
def test_draws_lie_inside(dimension: Dimension) -> None:
    dimension.check()
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for _ in range(30):
        value = dimension.suggest(study.ask(), "path")
        assert dimension.contains(value)
    assert dimension.contains(dimension.example())


@pytest.mark.parametrize(
    ("dimension", "value"),
    [
        (Float(0, 1), 1.01),
        (Float(0, 1), float("nan")),
        (Float(0, 1), None),
        (Float(0, 1), True),
        (Int(0, 4), 2.0),
        (Int(0, 4, step=2), 3),
        (Choice([1, 2]), 3),
        (Choice([Informer()]), Informer(d_model=8)),
    ],
)
def test_what_is_outside_is_not_contained(dimension: Dimension, value: Any) -> None:
    assert not dimension.contains(value)


@pytest.mark.parametrize(
    ("dimension", "reason"),
    [
        (Float(1, 0), "low must be at most high"),
        (Float(0, float("inf")), "finite numbers"),
        (Float(0, 1, log=True), "log needs low above 0"),
        (Int(0.5, 2), "whole number"),  # type: ignore[arg-type]
        (Int(0, 5, step=2), "step must divide"),
        (Int(1, 5, step=2, log=True), "log needs"),
        (Choice([]), "not empty"),
        (Choice("abc"), "must be a list"),
        (Choice([1, 1.0]), "twice"),
        (7, "must be Float, Int, Choice or a list"),
    ],
)
def test_a_wrong_dimension_is_refused(dimension: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        read_space({"context": dimension}, Forecaster(horizon=2), DATA)


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("training__learning_rat", "Did you mean 'learning_rate'"),
        ("contxt", "Did you mean 'context'"),
        ("model__d_modl", "Did you mean 'd_model'"),
        ("context__length", "space"),
    ],
)
def test_an_unknown_path_is_refused_with_a_hint(path: str, hint: str) -> None:
    with pytest.raises(ParameterError, match=hint):
        read_space({path: [1, 2]}, Forecaster(horizon=2), DATA)


def test_an_empty_or_misnamed_space_is_refused() -> None:
    for space in ({}, "automatic"):
        with pytest.raises(ParameterError, match="space="):
            read_space(space, Forecaster(horizon=2), DATA)


def test_a_list_is_a_choice() -> None:
    space = read_space({"context": [8, 16]}, Forecaster(horizon=2), DATA)
    assert isinstance(space["context"], Choice)


def test_a_chosen_part_is_a_copy() -> None:
    head = Point()
    study = optuna.create_study()
    assert Choice([head]).suggest(study.ask(), "head") is not head


@pytest.mark.parametrize("n_heads", [1, 3, 4, 24])
def test_the_automatic_space_holds_the_default_and_only_what_fits(n_heads: int) -> None:
    model = Informer(d_model=24, n_heads=n_heads, dropout=0.5, encoder_layers=4)
    forecaster = Forecaster(model, horizon=2)
    space = auto_space(forecaster, DATA)
    for path, dimension in space.items():
        dimension.check()
        assert dimension.contains(given(forecaster, path)), path
    widths = space["model__d_model"]
    assert isinstance(widths, Choice)
    assert all(width % n_heads == 0 for width in widths.values)


def test_the_automatic_context_leaves_rows_to_train_on() -> None:
    space = auto_space(Forecaster(Linear(), horizon=4, context=60), DATA)
    assert space.keys() == {"context"}
    assert space["context"].values == [30, 60]  # type: ignore[attr-defined]


def test_a_start_bounds_the_automatic_context() -> None:
    space = auto_space(Forecaster(Informer(start=20), horizon=4, context=24), DATA)
    assert space["context"].values == [24, 48]  # type: ignore[attr-defined]


def test_there_is_no_automatic_space_for_a_baseline() -> None:
    with pytest.raises(ParameterError, match="SeasonalNaive"):
        auto_space(SeasonalNaive(horizon=2), DATA)


def test_a_value_as_given_reads_through_parts_that_are_none() -> None:
    forecaster = Forecaster(horizon=2)
    assert given(forecaster, "training__learning_rate") == 1e-3
    assert given(forecaster, "head__levels") == Quantiles().levels
    assert given(forecaster, "context") is None
    assert given(forecaster, "model__d_model") is UNKNOWN
    assert forecaster.training is None


def test_values_that_print_alike_are_told_apart() -> None:
    days = pd.date_range("2024-01-01", periods=300)
    moved = days.where(np.arange(300) != 150, pd.Timestamp("1999-01-01"))
    choice = Choice([days, moved])
    choice.check()
    first, second = choice.recorded(days), choice.recorded(moved.copy())
    assert first != second
    for label, value in ((first, days), (second, moved)):
        fixed = optuna.trial.FixedTrial({"schema__holidays": label})
        assert choice.suggest(fixed, "schema__holidays").equals(value)
    assert not choice.contains(days[:-1])
    with pytest.raises(ParameterError, match="twice"):
        Choice([days, days.copy()]).check()
