"""Seasonal persistence; and one unit of MASE, whoever asks for it."""

import numpy as np
import pandas as pd
import pytest

from tsformer import Drift, Policy, Schema, SeasonalNaive, backtest
from tsformer.errors import TrainingFailed
from tsformer.estimators import naive_scale
from tsformer.estimators.naive import (
    scaled_error,
    season_of,
    seasonal_history,
    seasonal_naive,
    usable_season,
)
from tsformer.reading import RollingOrigin, read_panel
from tsformer.tuning import OptunaSearch

NAN = np.nan


def panel(*series):
    frame = pd.concat(
        [
            pd.DataFrame({"series_id": at, "ds": np.arange(len(values)), "y": values})
            for at, values in enumerate(series)
        ]
    )
    return read_panel(frame, policy=Policy(missing="mask"))


def repeated(panel, origins, horizon, season):
    history = seasonal_history(panel, season)
    series = np.arange(panel.n_series)
    found = seasonal_naive(
        panel, history, series, np.array(origins), horizon=horizon, season=season
    )
    return found[..., 0].tolist()


def test_the_last_season_is_repeated():
    data = panel([9.0, 9, 1, 2, 3], [5.0, 6, 7, 8])
    assert repeated(data, [5, 4], 5, 3) == [[1, 2, 3, 1, 2], [6, 7, 8, 6, 7]]
    assert repeated(data, [4, 3], 2, 1) == [[2, 2], [7, 7]]


def test_less_than_a_season_repeats_the_last_value():
    assert repeated(panel([1.0, 2, 3, 4]), [2], 4, 3) == [[2, 1, 2, 2]]


def test_a_missing_value_is_that_of_the_season_before():
    data = panel([1.0, 2, 3, NAN, 5, NAN])
    assert seasonal_history(data, 3)[:, 0].tolist() == [1, 2, 3, 1, 5, 3]


def test_a_phase_never_seen_takes_the_latest_value():
    data = panel([1.0, NAN, 3, 4, NAN, 6], [NAN, 2.0, NAN])
    found = seasonal_history(data, 3)[:, 0]
    assert found[:6].tolist() == [1, 1, 3, 4, 4, 6]
    np.testing.assert_array_equal(found[6:], [NAN, 2, 2])


def test_the_season_must_fit_twice():
    frame = pd.DataFrame({"y": np.arange(47.0)}, index=pd.date_range("2024", periods=47, freq="h"))
    assert usable_season(read_panel(frame)) == 1
    assert usable_season(read_panel(frame), 24) == 24
    frame = pd.DataFrame({"y": np.arange(48.0)}, index=pd.date_range("2024", periods=48, freq="h"))
    assert usable_season(read_panel(frame)) == 24


def hourly(rows, *, level=1000.0, noise=0.1):
    """A day of its own around a level, with a little noise."""
    steps = np.arange(rows)
    day = 5 * np.sin(2 * np.pi * steps / 24) + noise * np.random.default_rng(0).normal(size=rows)
    return pd.DataFrame({"y": level + day}, index=pd.date_range("2024", periods=rows, freq="h"))


def test_by_hand():
    data = panel([1.0, 4, 2, 2], [0.0, 10, 0, 50])
    np.testing.assert_allclose(naive_scale(data, ends=np.array([4, 3]))[:, 0], [5 / 3, 10])
    # the second repeats its season of two exactly: its one-step error is the unit
    seasonal = naive_scale(data, ends=np.array([4, 3]), season=2)[:, 0]
    np.testing.assert_allclose(seasonal, [1.5, 10])


def test_rows_after_the_ends_do_not_count():
    one, other = panel([1.0, 4, 2, 2]), panel([1.0, 4, 2, 1e9])
    ends = np.array([3])
    assert naive_scale(one, ends=ends) == naive_scale(other, ends=ends)


@pytest.mark.parametrize(
    "values", [[3.0, 3, 3], [0.0, 0, 0], [4.0], [NAN, 5.0, NAN], [1e9 / 3] * 3]
)
def test_without_any_error_there_is_no_unit_and_never_the_level(values):
    data = panel(values, [1.0, 2.0, 4.0])
    units = naive_scale(data, ends=data.index.lengths)[:, 0]
    assert np.isnan(units[0])
    assert units[1] == 1.5
    assert np.isnan(naive_scale(data, ends=data.index.lengths, season=7)[0, 0])


def test_the_season_is_judged_by_the_rows_of_each_series():
    data = panel([0.0, 5, 1, 7], [0.0, 5], [0.0, 5, 1])
    units = naive_scale(data, ends=data.index.lengths, season=2)[:, 0]
    np.testing.assert_allclose(units, [(1 + 2) / 2, 5, 1])


def test_a_season_with_no_pair_of_values_gives_way_to_one_step():
    data = panel([1.0, 3, NAN, NAN, 9], [1.0, 3, NAN, 4])
    units = naive_scale(data, ends=data.index.lengths, season=2)[:, 0]
    np.testing.assert_allclose(units, [2, 1])


def test_a_season_exact_up_to_rounding_is_no_unit():
    wave = np.sin(2 * np.pi * np.arange(480) / 24)
    assert 0 < np.abs(wave[24:] - wave[:-24]).mean() < 1e-12
    data = panel(wave)
    unit = naive_scale(data, ends=data.index.lengths, season=24)
    assert unit == pytest.approx(np.abs(np.diff(wave)).mean())


def test_the_scaled_error_of_what_is_unknown_is_unknown():
    truth = np.array([[[2.0], [NAN]], [[1.0], [3.0]]])
    error = scaled_error(truth, np.zeros_like(truth), np.array([[2.0], [NAN]]))
    np.testing.assert_array_equal(error[..., 0], [[1, NAN], [NAN, NAN]])


def test_one_row_more_does_not_move_the_unit():
    errors = {}
    for rows in (46, 47, 48, 49):
        frame = hourly(rows + 12)
        split = RollingOrigin(folds=1, horizon=12)
        result = backtest(Drift(horizon=12), frame, split=split, metrics=["mae", "mase"])
        errors[rows] = result.summary().loc["Drift"]
        unit = errors[rows]["mae"] / errors[rows]["mase"]
        own = frame["y"].to_numpy()[:rows]
        assert unit == pytest.approx(np.abs(own[24:] - own[:-24]).mean())
    assert max(one["mase"] for one in errors.values()) < 3 * errors[47]["mase"]


@pytest.mark.parametrize("rows", [20, 25, 47, 48, 100])
@pytest.mark.parametrize("gap", [0, 3])
def test_backtest_score_and_tuning_agree(rows, gap):
    frame = hourly(rows + gap + 6)
    split = RollingOrigin(folds=1, horizon=6)
    table = backtest(Drift(horizon=6, gap=gap), frame, split=split, metrics="mase").summary()
    expected = table.loc["Drift", "mase"]
    score = Drift(horizon=6, gap=gap).fit(frame[:rows]).score(frame)
    assert -score == pytest.approx(expected)
    cv = [(np.arange(rows), np.arange(rows + gap + 6))]
    search = OptunaSearch(
        SeasonalNaive(horizon=6, gap=gap), {"season_length": [1]}, n_trials=1, cv=_Split(cv)
    ).fit(frame)
    naive = SeasonalNaive(horizon=6, gap=gap).fit(frame[:rows])
    assert search.best_score_ == pytest.approx(naive.score(frame))


class _Split:
    def __init__(self, folds):
        self.folds = folds

    def split(self, data):
        return self.folds


def test_score_takes_its_unit_from_the_rows_before_the_cutoff():
    fitted = Drift(horizon=2, gap=2).fit(pd.DataFrame({"y": [0.0, 1, 2, 3]}))
    line, other = [0.0, 1, 2, 3, 100, -100, 6, 7], [0.0, 1, 2, 3, 100, -100, 7, 8]
    assert fitted.score(pd.DataFrame({"y": line})) == pytest.approx(0)
    assert fitted.score(pd.DataFrame({"y": other})) == pytest.approx(-1)


def constant_and_varied():
    """Two series of 30 days; the first never changes before day 26."""
    day = pd.date_range("2024-01-01", periods=30)
    flat = np.where(np.arange(30) < 26, 7.0, 8.0)
    varied = np.random.default_rng(0).normal(size=30).cumsum()
    return pd.concat(
        [pd.DataFrame({"id": name, "day": day, "y": y}) for name, y in (("f", flat), ("v", varied))]
    )


def test_series_without_a_unit_are_left_out_of_mase_alone():
    frame = constant_and_varied()
    split = RollingOrigin(folds=1, horizon=4)
    both = backtest(Drift(horizon=4), frame, split=split, metrics=["mase", "mae"])
    alone = backtest(Drift(horizon=4), frame[frame["id"] == "v"], split=split, metrics="mase")
    assert both.summary().loc["Drift", "mase"] == pytest.approx(
        alone.summary().loc["Drift", "mase"]
    )
    table = both.forecasts.query("forecaster == 'Drift'")
    assert both.summary().loc["Drift", "mae"] == pytest.approx(
        (table["actual"] - table["forecast"]).abs().mean()
    )
    cut = frame["day"] < "2024-01-27"
    score = Drift(horizon=4).fit(frame[cut]).score(frame)
    assert -score == pytest.approx(alone.summary().loc["Drift", "mase"])


def test_no_unit_at_all_is_said_to_who_tunes_by_it():
    frame = pd.DataFrame({"y": np.full(40, 3.0)}, index=pd.date_range("2024-01-01", periods=40))
    assert np.isnan(Drift(horizon=4).fit(frame[:36]).score(frame))
    search = OptunaSearch(SeasonalNaive(horizon=4), {"season_length": [1, 7]}, n_trials=2)
    with pytest.raises(TrainingFailed, match=r"no series changes.*metric='mae'"):
        search.fit(frame)
    assert search.set_params(metric="mae").fit(frame).best_score_ == 0


def load(rows=48 * 7 * 6, *, weekend=0.35, index=None):
    """Half hours whose weekends are quieter than the other days, with a little noise."""
    steps = np.arange(rows)
    work = np.where(steps // 48 % 7 < 5, 1.0, weekend)
    noise = np.random.default_rng(0).normal(size=rows)
    values = 100 + 20 * np.sin(2 * np.pi * steps / 48) * work + 10 * work + noise
    return pd.DataFrame({"load": values}, index=index)


BY_STAMP = pd.date_range("2024-01-01", periods=48 * 7 * 6, freq="30min")


@pytest.mark.parametrize("index", [None, BY_STAMP], ids=["numbers", "stamps"])
def test_a_week_is_repeated_where_it_repeats_better_than_a_day(index):
    frame = load(index=index)
    naive = SeasonalNaive(horizon=336).fit(frame[:-336])
    assert naive.schema_.season == (48, 336)
    assert naive.season_length_ == 336
    truth, repeated = frame["load"].to_numpy()[-336:], frame["load"].to_numpy()[-672:-336]
    np.testing.assert_array_equal(naive.predict()["load"], repeated)
    # the unit of its score is the error of repeating weeks
    seen = frame["load"].to_numpy()[:-336]
    unit = np.abs(seen[336:] - seen[:-336]).mean()
    assert naive.score(frame) == pytest.approx(-np.abs(truth - repeated).mean() / unit)


def test_later_rows_do_not_choose_the_season():
    schema = Schema(season=[48, 336])
    frame = load(48 * 7 * 8)
    flat = frame.copy()
    flat.iloc[: 48 * 7 * 3] = load(48 * 7 * 3, weekend=1.0)
    early = np.array([48 * 7 * 3])
    assert season_of(read_panel(frame, schema), ends=early) == 336
    assert season_of(read_panel(flat, schema), ends=early) == 48
    assert season_of(read_panel(frame, schema), ends=np.array([500])) == 48  # not two weeks
    assert season_of(read_panel(frame, schema), 7) == 7


def test_a_series_too_short_for_a_week_repeats_a_day():
    long, short = load(), load(150)
    frame = pd.concat([long.assign(id="a"), short.assign(id="b")])
    frame["row"] = [*range(len(long)), *range(len(short))]
    schema = Schema(series="id", time="row", season=[48, 336])
    naive = SeasonalNaive(horizon=60, schema=schema).fit(frame)
    assert naive.season_length_ == 336
    made = naive.predict(quantiles=[0.1, 0.9]).set_index("id")
    own = short["load"].to_numpy()
    np.testing.assert_array_equal(made.loc["b", "load"], np.resize(own[-48:], 60))
    np.testing.assert_array_equal(made.loc["a", "load"], long["load"].to_numpy()[-336:-276])
    width = made.loc["b", "load_q0.9"] - made.loc["b", "load_q0.1"]
    assert (width > 0).all()
    unit = naive_scale(read_panel(frame, schema), ends=np.array([len(long), 150]))[1, 0]
    assert unit == pytest.approx(np.abs(own[48:] - own[:-48]).mean())


def test_days_repeat_their_week_whatever_else_they_show():
    steps = np.arange(400)
    days = pd.date_range("2024-01-01", periods=400)
    noise = np.random.default_rng(0).normal(size=400)
    frame = pd.DataFrame({"y": 10 * np.sin(2 * np.pi * steps / 9.3) + 0.3 * noise}, index=days)
    assert SeasonalNaive(horizon=7).fit(frame).season_length_ == 7
