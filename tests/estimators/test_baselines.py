import numpy as np
import pandas as pd
import pytest

from tsformer import Drift, Policy, SeasonalNaive
from tsformer.errors import ParameterError
from tsformer.estimators import BASELINES

MASK = Policy(missing="mask")
NAN = np.nan


def column(*values):
    return pd.DataFrame({"y": [float(value) for value in values]})


def forecast(forecaster, frame, **given):
    return forecaster.fit(frame).predict(**given)


def test_the_last_season_is_repeated():
    found = forecast(SeasonalNaive(horizon=5, season_length=3), column(9, 9, 9, 1, 2, 3))
    assert found["y"].tolist() == [1, 2, 3, 1, 2]


def test_the_season_is_that_of_the_frequency():
    frame = pd.DataFrame(
        {"y": np.tile(np.arange(7.0), 3)}, index=pd.date_range("2024-01-01", periods=21)
    )
    forecaster = SeasonalNaive(horizon=7).fit(frame)
    assert forecaster.season_length_ == 7
    assert forecaster.predict()["y"].tolist() == list(range(7))


def test_a_missing_value_is_that_of_the_season_before():
    forecaster = SeasonalNaive(horizon=3, season_length=3, policy=MASK)
    assert forecast(forecaster, column(1, 2, 3, 4, NAN, 6))["y"].tolist() == [4, 2, 6]


def test_quantiles_of_the_seasonal_forecast_are_those_of_its_past_errors():
    # one-season errors: 0, 1, 2, 3
    forecaster = SeasonalNaive(horizon=1, season_length=1)
    found = forecast(forecaster, column(0, 0, 1, 3, 6), quantiles=[0.01, 0.5, 0.75])
    row = found.iloc[0]
    assert row["y"] == 6
    assert row["y_q0.5"] == pytest.approx(6 + 1.5)
    assert row["y_q0.75"] == pytest.approx(6 + 2.25)
    assert row["y_q0.01"] == pytest.approx(6 + 0.03)


def test_later_seasons_are_less_sure():
    values = np.random.default_rng(0).normal(size=400).cumsum()
    found = forecast(
        SeasonalNaive(horizon=4, season_length=2), column(*values), quantiles=[0.1, 0.9]
    )
    width = (found["y_q0.9"] - found["y_q0.1"]).to_numpy()
    assert width[0] == pytest.approx(width[1])
    assert width[2] > 1.2 * width[1]


def test_the_line_goes_on():
    assert forecast(Drift(horizon=3), column(1, 9, 5))["y"].tolist() == [7, 9, 11]


def test_the_line_starts_and_ends_at_what_was_observed():
    forecaster = Drift(horizon=2, policy=MASK)
    # from 2 in row 1 to 6 in row 3, then a gap: one step of 2 a row, counted from the last row
    found = forecast(forecaster, column(NAN, 2, NAN, 6, NAN))["y"]
    slope = (6 - 2) / 3
    assert found.tolist() == pytest.approx([6 + slope, 6 + 2 * slope])


def test_the_quantiles_of_the_line_widen():
    values = np.random.default_rng(0).normal(size=101).cumsum()
    found = forecast(Drift(horizon=9), column(*values), quantiles=[0.1, 0.5, 0.9])
    steps = np.arange(1, 10)
    width = (found["y_q0.9"] - found["y_q0.1"]).to_numpy()
    expected = np.sqrt(steps * (1 + steps / 100))
    np.testing.assert_allclose(width / width[0], expected / expected[0])
    np.testing.assert_allclose(found["y_q0.5"], found["y"])


def test_two_rows_are_a_line():
    assert forecast(Drift(horizon=2), column(1, 2))["y"].tolist() == [3, 4]


@pytest.mark.parametrize("kind", BASELINES)
def test_any_level_may_be_asked_for(kind):
    values = np.random.default_rng(0).normal(size=50)
    levels = [0.001, 0.123, 0.5, 0.999]
    found = forecast(kind(horizon=2), column(*values), quantiles=levels)
    spread = found[[f"y_q{level}" for level in levels]].to_numpy()
    assert (np.diff(spread, axis=1) >= 0).all()


@pytest.mark.parametrize("kind", BASELINES)
def test_columns_and_series_are_forecast_apart(kind):
    frame = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0)[::-1] ** 2})
    both = forecast(kind(horizon=2), frame, quantiles=[0.2])
    for name in "ab":
        alone = forecast(kind(horizon=2), frame[[name]], quantiles=[0.2])
        pd.testing.assert_frame_equal(both[[name, f"{name}_q0.2"]], alone)


def test_a_new_series_has_the_quantiles_of_its_own_errors():
    values = np.random.default_rng(0).normal(size=50)
    frame = pd.DataFrame({"series_id": "a", "ds": range(50), "y": values})
    new = frame.assign(series_id="b", y=frame["y"] * 100)
    forecaster = SeasonalNaive(horizon=1).fit(frame)
    found = forecaster.predict(pd.concat([frame, new]), quantiles=[0.1, 0.9])
    width = (found["y_q0.9"] - found["y_q0.1"]).to_numpy()
    assert width[1] == pytest.approx(100 * width[0])


def test_a_season_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="season_length"):
        SeasonalNaive(horizon=1, season_length=0).fit(column(1, 2, 3))


def test_a_column_that_ended_long_ago_goes_on_with_its_last_season() -> None:
    rows = np.arange(40, dtype=float)
    frame = pd.DataFrame({"y": rows, "z": np.where(rows < 10, rows, np.nan)})
    made = (
        SeasonalNaive(horizon=3, season_length=4, policy=Policy(missing="mask"))
        .fit(frame)
        .predict()
    )
    assert made["y"].tolist() == [36.0, 37.0, 38.0]
    assert made["z"].tolist() == [8.0, 9.0, 6.0]
