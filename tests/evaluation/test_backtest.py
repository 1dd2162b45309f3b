import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tsformer.estimators.contract as contract
from tsformer.datasets import load_dataset, make_series
from tsformer.errors import ForecastError, ParameterError, SeriesTooShort
from tsformer.estimators import Drift, Forecaster, SeasonalNaive, naive_scale
from tsformer.evaluation import Backtest, backtest
from tsformer.models import Linear
from tsformer.panels import Policy, Schema
from tsformer.params import params
from tsformer.reading import Holdout, RollingOrigin, read_panel
from tsformer.training import Training

# a trend over the season: seasonal naive is beaten, so no fit warns
TREND = make_series("trend", 240, period=24, noise=0.01)
VALUES = TREND["value"].to_numpy()


def linear(**settings):
    return Forecaster(Linear(), horizon=4, context=30, **settings)


@params
class Spy(SeasonalNaive):
    """Remembers what it was fitted on."""

    def fit(self, data, y=None):
        SEEN.append(data)
        return super().fit(data, y)


SEEN: list = []


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()


def test_against_numpy():
    result = backtest(
        Drift(horizon=4), TREND, folds=3, step=5, gap=2, metrics=["mae", "rmse", "wape", "mase"]
    )
    origins = np.array([226, 231, 236])
    truth = np.stack([VALUES[origin : origin + 4] for origin in origins])
    # the line through the first and the last value before each origin
    slope = (VALUES[origins - 1] - VALUES[0]) / (origins - 1)
    drift = VALUES[origins - 1][:, None] + slope[:, None] * np.arange(1, 5)
    naive = np.stack([VALUES[origin - 24 : origin - 20] for origin in origins])
    unit = np.abs(VALUES[24:224] - VALUES[:200]).mean()  # rows before the gap of the first fold
    summary = result.summary()
    for name, point in (("Drift", drift), ("SeasonalNaive", naive)):
        error = truth - point
        row = summary.loc[name]
        assert row["mae"] == pytest.approx(np.abs(error).mean())
        assert row["rmse"] == pytest.approx(np.sqrt((error**2).mean()))
        assert row["wape"] == pytest.approx(np.abs(error).sum() / np.abs(truth).sum())
        assert row["mase"] == pytest.approx(np.abs(error).mean() / unit)
        by_step = result.by_step().query("forecaster == @name")["mae"]
        np.testing.assert_allclose(by_step, np.abs(error).mean(axis=0))
        scores = result.scores.query("forecaster == @name")
        np.testing.assert_allclose(scores["mae"], np.abs(error).mean(axis=1))
        assert scores["cutoff"].tolist() == TREND["time"].iloc[origins - 1].tolist()
    ratio = summary.loc["Drift", "mae"] / summary.loc["SeasonalNaive", "mae"]
    assert summary.loc["Drift", "vs SeasonalNaive"] == pytest.approx(ratio)
    assert summary["mae"].is_monotonic_increasing
    assert summary["windows"].tolist() == [3, 3]


def test_forecasts_are_tidy():
    result = backtest(linear(), TREND, folds=2, quantiles=[0.9, 0.1])
    table = result.forecasts
    assert list(table.columns) == [
        "forecaster", "cutoff", "series", "time", "step", "target", "actual", "forecast",
        "q0.1", "q0.9",
    ]  # fmt: skip
    assert table["forecaster"].drop_duplicates().tolist() == ["Linear", "SeasonalNaive"]
    own = table[table["forecaster"] == "Linear"]
    assert own["time"].tolist() == TREND["time"].iloc[-8:].tolist()
    assert own["actual"].tolist() == VALUES[-8:].tolist()
    assert own["step"].tolist() == [1, 2, 3, 4] * 2
    assert ((own["time"] - own["cutoff"]) / pd.Timedelta(hours=1) == own["step"]).all()
    assert (own["q0.1"] <= own["forecast"]).all()
    assert (own["forecast"] <= own["q0.9"]).all()
    assert result.forecasts is table  # made once


def test_a_fold_is_what_fit_and_predict_give():
    result = backtest(linear(), TREND, folds=2, refit=True)
    table = result.forecasts.query("forecaster == 'Linear'")
    for fold, end in enumerate((232, 236)):
        again = linear().fit(TREND.iloc[:end]).predict()["value"]
        np.testing.assert_allclose(table["forecast"].iloc[4 * fold : 4 * fold + 4], again)


def test_what_is_given_is_not_changed():
    forecaster = linear()
    before = repr(forecaster.get_params())
    backtest({"mine": forecaster}, load_dataset("air_passengers"), folds=2)
    assert repr(forecaster.get_params()) == before
    assert not hasattr(forecaster, "network_")


def test_nothing_fitted_sees_what_comes_after_the_cutoff():
    changed = TREND.copy()
    changed.loc[changed.index >= 230, "value"] = 1e6 * np.arange(10)
    split = RollingOrigin(folds=3, horizon=4, step=3, gap=0)  # origins 230, 233, 236
    one = backtest(linear(), TREND, split=split).forecasts
    other = backtest(linear(), changed, split=split).forecasts
    first = one["cutoff"] == one["cutoff"].min()
    pd.testing.assert_series_equal(one.loc[first, "forecast"], other.loc[first, "forecast"])
    assert not one.loc[~first, "forecast"].equals(other.loc[~first, "forecast"])


@params
class Kept(Forecaster):
    """Remembers its weights and scales."""

    def fit(self, data, y=None):
        super().fit(data, y)
        weights = [value.numpy().copy() for value in self.network_.state_dict().values()]
        SEEN.append([*weights, self.scales_.target.offset, self.scales_.target.scale])
        return self


def test_no_weight_depends_on_what_comes_after_the_cutoff():
    for value in (0.0, np.nan, 1e6):
        frame = TREND.copy()
        frame.loc[frame.index >= 230, "value"] += value
        policy = Policy(missing="mask")
        backtest(Kept(Linear(), horizon=4, context=30, policy=policy), frame, folds=2, gap=2)
    for other in SEEN[1:]:
        for one, two in zip(SEEN[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("refit", [False, True])
def test_rows_that_are_fitted(refit):
    backtest(Spy(horizon=4), TREND, folds=3, gap=2, refit=refit)
    assert [len(rows) for rows in SEEN] == ([226, 230, 234] if refit else [226])
    for rows in SEEN:
        pd.testing.assert_frame_equal(rows, TREND.iloc[: len(rows)])


def test_values_after_the_last_truth_move_nothing():
    frame = TREND.iloc[:200]
    split = Holdout(train=120, validation=40, test=30)
    forecaster = linear()
    one = backtest(forecaster, frame, split=split)
    changed = frame.copy()
    changed.loc[changed.index >= 190, "value"] = -1e5
    other = backtest(forecaster, changed, split=split)
    pd.testing.assert_frame_equal(one.forecasts, other.forecasts)
    pd.testing.assert_frame_equal(one.scores, other.scores)


def test_holdout_scores_every_window_the_last_part_included(monkeypatch):
    monkeypatch.setattr(contract, "_CHUNK", 8)
    split = Holdout(train=150, validation=30, test=40)
    names = ["mae", "scaled_mae", "scaled_mse", "mase"]
    result = backtest(Spy(horizon=4), TREND, split=split, metrics=names)
    origins = np.arange(180, 220 - 4 + 1)
    assert result.windows == len(origins) == 37  # four parts of eight and one of five
    assert [len(rows) for rows in SEEN] == [180]
    assert len(result.scores) == 1
    truth = np.stack([VALUES[origin : origin + 4] for origin in origins])
    error = truth - np.stack([VALUES[origin - 24 : origin - 20] for origin in origins])
    deviation = VALUES[:150].std()
    unit = np.abs(VALUES[24:150] - VALUES[:126]).mean()
    row = result.summary().loc["Spy"]
    assert row["mae"] == pytest.approx(np.abs(error).mean(), rel=1e-12)
    assert row["scaled_mae"] == pytest.approx(np.abs(error).mean() / deviation)
    assert row["scaled_mse"] == pytest.approx((error**2).mean() / deviation**2)
    assert row["mase"] == pytest.approx(np.abs(error).mean() / unit)
    assert backtest(Spy(horizon=4), TREND, split=split, step=6).windows == 7


def test_holdout_gives_the_validation_rows_to_the_forecaster():
    split = Holdout(train=150, validation=30, test=40)
    table = backtest(linear(), TREND, split=split).forecasts.query("forecaster == 'Linear'")
    again = linear(training=Training(validation=30)).fit(TREND.iloc[:180])
    np.testing.assert_allclose(table["forecast"].iloc[:4], again.predict()["value"])
    other = linear(training=Training(validation=60)).fit(TREND.iloc[:180])
    assert not np.allclose(table["forecast"].iloc[:4], other.predict()["value"])


def test_holdout_of_a_dataset():
    air = load_dataset("air_passengers")
    result = backtest(SeasonalNaive(horizon=12), air, split="canonical")
    assert result.windows == 13
    assert list(result.summary().index) == ["SeasonalNaive"]
    with pytest.raises(ParameterError, match="no split 'canonic'; did you mean 'canonical'"):
        backtest(SeasonalNaive(horizon=12), air, split="canonic")
    with pytest.raises(ParameterError, match="split of a Dataset"):
        backtest(SeasonalNaive(horizon=12), air.frame, split="canonical")


def test_seasonal_naive_is_always_beside():
    both = {"line": Drift(horizon=4), "season": SeasonalNaive(horizon=4, season_length=12)}
    assert set(backtest(both, TREND, folds=2).summary().index) == {"line", "season"}
    assert backtest(both, TREND, folds=2).summary().columns[-1] == "vs season"
    alone = backtest({"line": Drift(horizon=4)}, TREND, folds=2)
    assert set(alone.summary().index) == {"line", "SeasonalNaive"}
    assert set(backtest(Forecaster(horizon=4, context=30), TREND, folds=2).summary().index) == {
        "Forecaster",
        "SeasonalNaive",
    }


def test_several_targets_are_scored_apart_and_together():
    frame = pd.DataFrame({"a": VALUES, "b": 10 * VALUES}, index=pd.DatetimeIndex(TREND["time"]))
    result = backtest(Drift(horizon=4), frame, folds=2, metrics=["mae", "scaled_mae", "mase"])
    scores = result.scores.query("forecaster == 'Drift'")
    assert scores["target"].tolist() == ["a", "b"] * 2
    a, b = (scores.query("target == @name").mean(numeric_only=True) for name in "ab")
    assert b["mae"] == pytest.approx(10 * a["mae"])
    assert b["scaled_mae"] == pytest.approx(a["scaled_mae"])
    assert result.summary().loc["Drift", "mae"] == pytest.approx((a["mae"] + b["mae"]) / 2)


def unequal():
    """Three series: whole, one that ends early, one that begins late."""
    frame = make_series("panel", 120, period=24)
    hour = (frame["time"] - frame["time"].min()) / pd.Timedelta(hours=1)
    short = (frame["series"] == "s1") & (hour >= 110)
    late = (frame["series"] == "s2") & (hour < 113)
    return frame[~short & ~late].sample(frac=1, random_state=0)


def test_a_panel_of_unequal_lengths():
    frame = unequal()
    result = backtest(Spy(horizon=4), frame, folds=3)  # origins at hours 108, 112, 116
    assert result.windows == 3 + 1 + 1
    assert set(SEEN[0]["series"]) == {"s0", "s1"}
    assert SEEN[0]["time"].max() == frame["time"].min() + pd.Timedelta(hours=107)
    skipped = result.skipped.set_index(["series", "fold"])["reason"].to_dict()
    assert skipped == {
        ("s1", 1): "no row from the origin on",
        ("s1", 2): "no row from the origin on",
        ("s2", 0): "no row before the origin",
        ("s2", 1): "no row before the origin",
    }
    table = result.forecasts.query("series == 's1'")
    assert len(table) == 4
    assert table["actual"].isna().tolist() == [False, False, True, True]
    assert table["time"].diff().dropna().eq(pd.Timedelta(hours=1)).all()
    seen = result.forecasts.dropna()
    mean = (seen["actual"] - seen["forecast"]).abs().mean()
    assert result.summary().loc["Spy", "mae"] == pytest.approx(mean)
    assert "4 left out" in repr(result)


def test_units_of_a_panel_are_its_own():
    frame = make_series("panel", 120, period=24)
    result = backtest(SeasonalNaive(horizon=4), frame, folds=1)
    panel = read_panel(frame)
    unit = naive_scale(panel, ends=np.full(3, 116))
    table = result.forecasts
    error = (table["actual"] - table["forecast"]).abs().to_numpy().reshape(3, 4)
    assert result.summary()["mase"].iloc[0] == pytest.approx((error / unit).mean())


@pytest.mark.filterwarnings("ignore:on the validation rows:UserWarning")
def test_windows_without_enough_context_are_left_out_for_all():
    frame = make_series("panel", 120, period=24, series=2)
    hour = (frame["time"] - frame["time"].min()) / pd.Timedelta(hours=1)
    frame = frame[(frame["series"] == "s0") | (hour >= 95)]
    result = backtest(Forecaster(Linear(), horizon=4, context=20), frame, folds=7)
    # the second series has rows from hour 95 on: 20 of them before the last origin alone
    assert result.skipped.query("reason == 'fewer than 20 rows of context'")["fold"].tolist() == [
        1, 2, 3, 4, 5,
    ]  # fmt: skip
    assert result.windows == 7 + 1
    assert result.forecasts.groupby("forecaster").size().tolist() == [32, 32]


def test_missing_values_do_not_count():
    frame = TREND.copy()
    frame.loc[frame.index[[50, 237]], "value"] = np.nan
    result = backtest(SeasonalNaive(horizon=4, policy=Policy(missing="mask")), frame, folds=1)
    table = result.forecasts
    assert table["actual"].isna().tolist() == [False, True, False, False]
    error = (table["actual"] - table["forecast"]).abs()
    assert result.summary()["mae"].iloc[0] == pytest.approx(error.mean())
    assert np.isnan(result.by_step()["mae"].iloc[1])


def test_a_target_never_seen_before_is_not_scored():
    frame = pd.DataFrame({"a": VALUES, "b": VALUES}, index=pd.DatetimeIndex(TREND["time"]))
    frame.loc[frame.index[:238], "b"] = np.nan
    result = backtest(SeasonalNaive(horizon=4, policy=Policy(missing="mask")), frame, folds=2)
    mae = result.scores.set_index(["fold", "target"])["mae"]
    assert mae.isna().to_dict() == {
        (0, "a"): False,
        (0, "b"): True,
        (1, "a"): False,
        (1, "b"): True,
    }


@pytest.mark.parametrize("layout", ["index", "period", "zone", "array", "series", "numbers"])
def test_the_callers_layout(layout):
    days = pd.date_range("2024-01-01", periods=60, name="day")
    frame = pd.DataFrame({"y": np.arange(60.0) + np.arange(60) % 7}, index=days)
    made = {
        "index": frame,
        "period": frame.to_period("D"),
        "zone": frame.tz_localize("Europe/Paris"),
        "array": frame.to_numpy(),
        "series": frame["y"],
        "numbers": frame.reset_index(drop=True),
    }[layout]
    result = backtest(Spy(horizon=3, season_length=7), made, folds=2)
    assert len(SEEN[0]) == 54
    times = result.forecasts["time"].iloc[:6].tolist()
    index = getattr(made, "index", pd.RangeIndex(60))
    assert times == list(index[-6:])
    assert result.scores["cutoff"].tolist()[0] == index[53]
    assert result.summary()["mae"].iloc[0] == pytest.approx(7)


@params
class Oracle(Drift):
    """Forecasts what a known covariate says."""

    def _forecasting(self, panel, ends):
        def forecast(series, origins, levels):
            rows = (panel.index.starts[series] + origins)[:, None] + np.arange(self.horizon)
            return panel.known.values[rows], np.zeros((*rows.shape, 1, 0))

        return forecast


def test_known_covariates_of_the_horizon_are_used():
    frame = make_series("panel", 120, series=2)
    frame["plan"] = frame["value"] + 1
    result = backtest(Oracle(horizon=4, schema=Schema(known=["plan"])), frame, folds=3)
    np.testing.assert_allclose(result.by_step().query("forecaster == 'Oracle'")["mae"], 1.0)


def test_a_forecast_that_is_not_finite_is_refused():
    class Broken(Drift):
        def _forecasting(self, panel, ends):
            inner = super()._forecasting(panel, ends)

            def forecast(series, origins, levels):
                point, spread = inner(series, origins, levels)
                point[:, 2] = np.nan
                return point, spread

            return forecast

    said = r"'Broken': the forecast of .*'value' is not finite from step 3 .* begins at 2024-"
    with pytest.raises(ForecastError, match=said):
        backtest(Broken(horizon=4), TREND, folds=1)


def test_none_are_kept_when_not_asked_for():
    result = backtest(Drift(horizon=4), TREND, folds=2, keep_forecasts=False)
    kept = backtest(Drift(horizon=4), TREND, folds=2)
    pd.testing.assert_frame_equal(result.scores, kept.scores)
    for ask in (lambda: result.forecasts, result.plot, result.excerpt):
        with pytest.raises(ParameterError, match="keep_forecasts=True"):
            ask()


def test_it_says_what_it_did(caplog):
    with caplog.at_level(logging.INFO, logger="tsformer"):
        result = backtest(Drift(horizon=4), TREND, folds=2, refit=True)
    assert isinstance(result, Backtest)
    said = "Backtest: 2 folds, refitted before each; horizon 4; 2 windows of 1 series"
    assert said in caplog.text
    assert repr(result).splitlines()[0] == said
    assert "Drift" in repr(result)


def test_a_shorter_horizon_than_fitted():
    result = backtest({"a": Drift(horizon=4), "b": Drift(horizon=6)}, TREND, folds=2)
    assert result.horizon == 4
    assert backtest(Drift(horizon=4), TREND, folds=2, horizon=2).forecasts["step"].max() == 2
    with pytest.raises(ParameterError, match="horizon=6, but 'a' forecasts 4"):
        backtest({"a": Drift(horizon=4), "b": Drift(horizon=6)}, TREND, horizon=6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metrics": ["pinbal"]}, "did you mean 'pinball'"),
        ({"metrics": ["pinball"]}, "quantiles="),
        ({"quantiles": [0.1, 1.0]}, "inside"),
        ({"split": 5}, "RollingOrigin"),
        ({"split": RollingOrigin(folds=2, horizon=4), "horizon": 3}, "split has horizon=4"),
        ({"split": RollingOrigin(folds=2, horizon=4), "gap": 3}, "leave them out"),
        ({"split": Holdout(train=100, test=50), "refit": True}, "leave out refit"),
        ({"split": Holdout(train=100, test=50), "step": 0}, "at least 1"),
        ({"split": Holdout(train=100, test=3)}, "longer than the 3 test rows"),
        ({"folds": 0}, "folds"),
    ],
)
def test_options_that_cannot_be(settings, message):
    with pytest.raises(ParameterError, match=message):
        backtest(Drift(horizon=4), TREND, **settings)


def test_forecasters_that_cannot_be():
    with pytest.raises(ParameterError, match="empty"):
        backtest({}, TREND)
    with pytest.raises(ParameterError, match="not 'a': 3"):
        backtest({"a": 3}, TREND)
    later = linear(training=Training(validation=TREND.iloc[-20:]))
    with pytest.raises(ParameterError, match="validation is a frame"):
        backtest(later, TREND)
    frame = TREND.assign(other=1.0)
    two = {name: Drift(horizon=4, schema=Schema(target=name)) for name in ("value", "other")}
    with pytest.raises(ParameterError, match="same targets"):
        backtest(two, frame)


def test_too_few_rows():
    with pytest.raises(SeriesTooShort, match="Ask for fewer folds"):
        backtest(Drift(horizon=4), TREND.iloc[:15], folds=5)
    with pytest.raises(SeriesTooShort) as caught:
        backtest(linear(), TREND.iloc[:60], folds=10)
    assert any("'Linear'" in note for note in caught.value.__notes__)


def test_twice_the_same():
    forecaster = linear()
    one, other = (backtest(clone(forecaster), TREND, folds=2).forecasts for _ in range(2))
    pd.testing.assert_frame_equal(one, other)
