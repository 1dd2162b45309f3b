"""Section 7: a newcomer's afternoon, and what of it a later step builds."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from case_lightning import TINY, weekly
from doors import forecast_file, heard, run, table, written
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

from tsformer import Forecaster, Policy, Schema, SeasonalNaive, Training, backtest
from tsformer.errors import ParameterError
from tsformer.models import Informer, InvertedTransformer, Linear
from tsformer.reading import RollingOrigin

LATER = {
    "predict for longer than fit was, and levels between those trained": "any horizon, any level",
    "a model that loses to seasonal persistence on validation rows": "the better one is delivered",
    "24 or 30 monthly rows": "a seasonal forecast of its size",
}
"""Rows that wait for what is built later, and what they wait for; below is what holds today."""

DAYS = pd.date_range("2023-01-02", periods=84)
PLAIN = ("--model", "linear", "--no-plot")


def sales(**more: Any) -> str:
    """A file of twelve weeks without noise, on the way to which each step is seen."""
    columns = {"ds": DAYS.strftime("%Y-%m-%d"), "y": np.resize(np.arange(7) + 1, 84), **more}
    return written(table(**columns))


def test_7_a_fit_cut_short_says_so_and_keeps_its_bands() -> None:
    noise = np.random.default_rng(0).normal(scale=3.0, size=400)
    days = pd.date_range("2023-01-02", periods=400)
    frame = pd.DataFrame({"y": 50 + np.resize(np.arange(7.0), 400) + noise}, index=days)
    training = Training(max_time=0.01)
    forecaster = Forecaster(Informer(**TINY), horizon=7, context=28, training=training)
    answer = heard(lambda: forecaster.fit(frame))
    assert "max_time=0.01" in answer.said and "may come out otherwise" in answer.said
    made = forecaster.predict(quantiles=[0.1, 0.9])
    width = (made["y_q0.9"] - made["y_q0.1"]).mean()
    assert 0.6 < width / (2 * 1.2816 * 3) < 1.6


def test_7_the_same_command_gives_the_same_answer(folder: Any) -> None:
    options = ("--model", "informer", "--epochs", 1, "--context", 14, "--no-plot")
    more = [f"model__{name}={value}" for name, value in TINY.items()]
    sets = [one for value in more for one in ("--set", value)]
    first, second = (forecast_file(sales(), 7, *options, *sets) for _ in range(2))
    assert first.made is not None and first.made.equals(second.made)


@pytest.mark.parametrize("model", [Linear(), InvertedTransformer(**TINY), Informer(**TINY)])
def test_7_days_off_are_used_by_every_model_or_refused_by_name(model: Any) -> None:
    off = DAYS[10::11]
    frame = pd.DataFrame({"y": 10 - 8.0 * DAYS.isin(off)}, index=DAYS)
    ahead = pd.date_range(DAYS[-1], periods=3)[1:]

    def made(holidays: Any) -> Any:
        schema = Schema(target="y", holidays=holidays)
        training = Training(epochs=20, learning_rate=0.02)
        forecaster = Forecaster(model, horizon=2, context=14, schema=schema, training=training)
        return forecaster.fit(frame).predict()["y"].to_numpy()

    answer = heard(lambda: made([*off, ahead[1]]))
    if answer.error is None:
        assert not np.allclose(answer.made, made(()), atol=1e-3)
    else:
        assert type(model).__name__ in answer.said and "holidays" in answer.said


def test_7_days_off_of_a_country_by_name(folder: Any) -> None:
    pytest.importorskip("holidays")
    answer = forecast_file(sales(), 7, *PLAIN, "--holidays", "DE")
    assert answer.code == 0 and "holidays" in answer.said


@pytest.mark.parametrize("door", ["file", "frame"])
@pytest.mark.parametrize("how", ["found", "said"])
def test_7_a_season_is_found_or_said_and_named(folder: Any, how: str, door: str) -> None:
    text = table(y=np.resize([3.0, 9, 4, 8, 2], 60 if how == "found" else 12))
    said = ("--season", 5) if how == "said" else ()
    schema = Schema(season=5 if how == "said" else None)
    if door == "file":
        answer = forecast_file(written(text), 5, *said)
    else:
        frame = pd.read_csv(io.StringIO(text))
        answer = heard(lambda: SeasonalNaive(horizon=5, schema=schema).fit(frame).predict())
    expected = np.roll([3.0, 9, 4, 8, 2], 0 if how == "found" else -2)
    assert answer.made["y"].tolist() == expected.tolist()
    assert how == "said" or "5 rows" in answer.said


@pytest.mark.parametrize("said", ["true", "True", "1", "yes"])
def test_7_nonnegative_is_an_option_and_true_is_read(folder: Any, said: str) -> None:
    file = sales(y=np.maximum(np.resize(np.arange(7) - 4, 84), 0))
    by_path = forecast_file(file, 7, *PLAIN, "--set", f"nonnegative={said}")
    by_option = forecast_file(file, 7, *PLAIN, "--nonnegative")
    assert by_path.code == by_option.code == 0, by_option.said
    assert by_path.made.equals(by_option.made) and (by_option.made["y"] >= 0).all()
    wrong = forecast_file(file, 7, *PLAIN, "--set", "nonnegative=maybe")
    assert wrong.code == 2 and "true or false" in wrong.said


def refuse_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: Any, **__: Any) -> None:
        raise AssertionError("trained")

    monkeypatch.setattr(Forecaster, "fit", fit)


def test_7_known_without_a_future_is_refused_before_training(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_training(monkeypatch)
    answer = forecast_file(sales(promo=np.arange(84) % 2), 3, *PLAIN, "--known", "promo")
    assert answer.code in (1, 2) and "'promo'" in answer.said and "--future" in answer.said
    assert "future=" not in answer.said.replace("--future=", "")


def test_7_levels_that_will_not_be_there_are_refused_before_training(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_training(monkeypatch)
    answer = forecast_file(sales(), 3, *PLAIN, "--quantiles", "0.025,0.975")
    assert answer.code == 2 and "0.025" in answer.said and "head=" not in answer.said


def test_7_a_longer_horizon_than_that_of_fit_is_told_in_options(folder: Any) -> None:
    file = sales()
    assert run("fit", file, "-n", 3, "--model", "linear", "--save", "m.safetensors").code == 0
    answer = run("predict", "m.safetensors", "-n", 5)
    assert answer.code == 2 and "--horizon 5" in answer.said and "horizon=5." not in answer.said


@pytest.mark.parametrize("cv", [None, 3, TimeSeriesSplit(3)], ids=str)
def test_7_the_folds_of_scikit_learn_are_refused_by_one_error(cv: Any) -> None:
    forecaster = Forecaster(Linear(), horizon=3, context=14)
    with pytest.raises(ParameterError, match="RollingOrigin"):
        GridSearchCV(forecaster, {"context": [7, 14]}, cv=cv).fit(weekly())


def test_7_rolling_origins_search() -> None:
    forecaster = Forecaster(Linear(), horizon=3, context=14)
    folds = RollingOrigin(folds=2, horizon=3)
    search = GridSearchCV(forecaster, {"context": [3, 14]}, cv=folds).fit(weekly())
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("promo", ["number", "word"])
def test_7_the_role_of_every_column_is_said(folder: Any, promo: str) -> None:
    cells = np.arange(84) % 2 if promo == "number" else np.resize(["a", "b"], 84)
    answer = forecast_file(sales(promo=cells), 7, *PLAIN)
    assert "'promo'" in answer.said and "not used" in answer.said
    frame = weekly(promo=cells)
    answer = heard(lambda: SeasonalNaive(horizon=3, schema=Schema(target="sold")).fit(frame))
    assert "without a role 'promo'" in answer.said


@pytest.mark.parametrize("model", ["linear", "lineer", Linear, 3], ids=str)
def test_7_a_model_that_is_none_is_told_what_there_is(model: Any) -> None:
    answer = heard(lambda: Forecaster(model, horizon=3).fit(weekly()))
    assert isinstance(answer.error, ParameterError)
    assert "Linear()" in answer.said and "Informer()" in answer.said


def test_7_a_picture_and_a_table_in_a_notebook() -> None:
    result = backtest(SeasonalNaive(horizon=3), weekly(), folds=2)
    assert "<table" in result._repr_html_()


def test_7_several_models_in_one_backtest(folder: Any) -> None:
    models = ("--model", "linear", "--model", "drift")
    answer = run("backtest", sales(), "-n", 7, "--folds", 2, *models)
    assert answer.code == 0 and "Linear" in answer.said and "Drift" in answer.said


def test_7_a_folder_is_not_made_in_passing(folder: Any) -> None:
    answer = forecast_file(sales(), 7, "--output", "nowhere/f.csv")
    assert answer.code == 2 and "'nowhere'" in answer.said
    assert not Path("nowhere").exists()


@pytest.mark.parametrize("rows", [24, 30])
def test_7_few_months_forecast_and_say_that_none_are_left_to_judge(rows: int) -> None:
    months = pd.date_range("2020-01-01", periods=rows, freq="MS")
    frame = pd.DataFrame({"ds": months, "y": np.resize(np.arange(12.0), rows)})
    answer = heard(lambda: Forecaster(horizon=12).fit(frame).predict())
    assert len(answer.made) == 12 and np.isfinite(answer.made["y"]).all()
    assert rows == 30 or "no validation windows" in answer.said


def test_7_a_model_without_skill_is_told_of() -> None:
    steps = np.random.default_rng(3).normal(size=300).cumsum()
    frame = pd.DataFrame({"y": steps}, index=pd.date_range("2020-01-01", periods=300))
    forecaster = Forecaster(Linear(), horizon=7, policy=Policy(missing="mask"))
    answer = heard(lambda: forecaster.fit(frame))
    assert forecaster.skill_ > 0 or "no better" in answer.said or "worse" in answer.said


def test_7_what_waits_for_a_later_step_is_three_rows() -> None:
    assert len(LATER) == 3
