import numpy as np
import pandas as pd
import pytest

from tsformer import Policy, Schema, SeasonalNaive
from tsformer.errors import ForecastError, MissingFuture, ParameterError, SeriesTooShort
from tsformer.estimators import BASELINES, windows_of
from tsformer.estimators.contract import PanelForecaster
from tsformer.params import KW_ONLY, param, params
from tsformer.reading import read_panel

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")


@params
class Broken(PanelForecaster):
    """Forecasts a given number everywhere."""

    _: KW_ONLY
    horizon: int = param("Steps.", default=2)
    value: float = param("What it forecasts.", default=np.nan)
    schema: Schema | None = param("Roles.", default=None, part=Schema)
    policy: Policy | None = param("Gaps.", default=None, part=Policy)

    def _fit(self, panel):
        self._tail = panel

    def _forecasting(self, panel, ends):
        shape = (self.horizon, panel.target.values.shape[1])

        def forecast(series, origins, levels):
            point = np.full((len(series), *shape), self.value)
            return point, point[..., None].repeat(len(levels), -1)

        return forecast


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_forecast_that_is_not_finite_is_never_returned(value, frame):
    with pytest.raises(ForecastError, match=r"column 'y' is not finite from step 1 on"):
        Broken(value=value).fit(frame).predict()


def test_a_forecaster_of_your_own_needs_two_methods(frame):
    forecast = Broken(value=3.0).fit(frame).predict(quantiles=[0.5])
    assert forecast.columns.tolist() == ["day", "y", "y_q0.5"]
    assert (forecast[["y", "y_q0.5"]] == 3).all(axis=None)


def test_a_horizon_set_later_waits_for_the_next_fit(frame, linear):
    forecaster = linear().fit(frame)
    before = forecaster.predict()
    forecaster.set_params(horizon=5)
    pd.testing.assert_frame_equal(forecaster.predict(), before)
    assert len(forecaster.fit(frame).predict()) == 5


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_stamps_keep_zone_and_layout(zone, linear):
    stamps = pd.date_range("2024-03-29", periods=72, freq="h", tz=zone, name="at")
    frame = pd.DataFrame({"a": np.arange(72.0), "b": np.arange(72.0) ** 0.5}, index=stamps)
    forecast = linear().fit(frame).predict(quantiles=[0.1])
    expected = pd.date_range(stamps[-1], periods=4, freq="h", name="at")[1:]
    pd.testing.assert_index_equal(forecast.index, expected, check_freq=False)
    assert forecast.columns.tolist() == ["a", "a_q0.1", "b", "b_q0.1"]


def test_two_levels_of_the_index_come_back(long, linear):
    indexed = long.set_index(["id", "day"])
    forecast = linear().fit(indexed).predict()
    assert forecast.index.names == ["id", "day"]
    plain = linear().fit(long).predict()
    np.testing.assert_array_equal(forecast["y"], plain["y"])


def test_a_series_of_pandas_is_fine(frame, linear):
    forecast = linear().fit(frame.set_index("day")["y"]).predict()
    pd.testing.assert_frame_equal(forecast, linear().fit(frame.set_index("day")).predict())


def test_whole_numbers_are_time_too(linear):
    frame = pd.DataFrame({"y": np.arange(60.0) % 7})
    assert linear().fit(frame).predict().index.tolist() == [60, 61, 62]


def test_a_level_may_be_asked_for_alone_or_not_at_all(frame, linear):
    forecaster = linear().fit(frame)
    assert forecaster.predict(quantiles=[]).columns.tolist() == ["day", "y"]
    assert forecaster.predict(quantiles=(0.5,)).columns.tolist() == ["day", "y", "y_q0.5"]


def test_arrays_with_quantiles_have_levels_last(linear):
    values = np.arange(60.0)[:, None] % 7
    forecaster = linear().fit(values)
    both = forecaster.predict(quantiles=[0.5])
    assert both.shape == (3, 1, 1)
    np.testing.assert_allclose(both[..., 0], forecaster.predict())


def test_a_short_series_is_refused_by_name_when_it_is_to_be_forecast(long, linear):
    short = long[long["id"] != "b"]
    short = pd.concat([short, long[long["id"] == "b"][:8]])
    forecaster = linear().fit(long)
    with pytest.raises(SeriesTooShort, match=r"series 'b' has 8 rows.*12 .*1 of 3"):
        forecaster.predict(short)
    rest = forecaster.predict(short[short["id"] != "b"])
    assert rest["id"].unique().tolist() == ["a", "c"]


def test_a_new_column_is_ignored_with_a_warning(frame, linear):
    forecaster = linear().fit(frame)
    with pytest.warns(UserWarning, match="not seen are ignored: 'extra'"):
        found = forecaster.predict(frame.assign(extra=1.0))
    pd.testing.assert_frame_equal(found, forecaster.predict())


def test_the_score_needs_something_to_forecast_from(frame):
    forecaster = SeasonalNaive(horizon=30).fit(frame)
    with pytest.raises(SeriesTooShort, match="nothing is left to forecast horizon 30 from"):
        forecaster.score(frame[:30])


@pytest.mark.parametrize("kind", BASELINES)
def test_nothing_is_forecast_from_nothing(kind, frame):
    forecaster = kind(horizon=3).fit(frame)
    panel, one = forecaster.read(frame), np.zeros(1, dtype=np.int64)
    with pytest.raises(SeriesTooShort, match="before the first row"):
        list(forecaster.forecast(panel, one, one))
    assert list(forecaster.forecast(panel, one[:0], one[:0])) == []


def test_the_score_of_nothing_observed_is_not_a_number(frame):
    forecaster = SeasonalNaive(horizon=3, policy=Policy(missing="mask")).fit(frame[:90])
    later = frame.copy()
    later.loc[90:, "y"] = np.nan
    assert np.isnan(forecaster.score(later))


def test_the_truth_after_an_origin_ends_with_its_series():
    frame = pd.DataFrame({"id": list("aaabb"), "ds": [0, 1, 2, 0, 1], "y": [1.0, 2, 3, 8, 9]})
    panel = read_panel(frame)
    found = windows_of(panel, np.array([0, 1]), np.array([1, 1]), 2)[..., 0]
    np.testing.assert_array_equal(found, [[2, 3], [9, np.nan]])


def test_parameters_of_parts_have_paths(linear):
    forecaster = linear().set_params(
        training__learning_rate=0.5, policy__missing="mask", head__levels=(0.5,)
    )
    assert forecaster.get_params()["training__learning_rate"] == 0.5
    with pytest.raises(ParameterError, match="Did you mean 'learning_rate'"):
        forecaster.set_params(training__learning_rat=1.0)


def test_known_covariates_are_asked_for(frame, linear):
    schema = Schema(target="y", known="price")
    data = frame.assign(price=1.0)
    with pytest.raises(MissingFuture, match=r"'price'.*3 more rows"):
        linear(schema=schema).fit(data).predict()
