import numpy as np
import pandas as pd
import pytest

from tsformer import Policy, Schema, SeasonalNaive
from tsformer.estimators import naive_scale
from tsformer.estimators.naive import season_of, seasonal_history, seasonal_naive, usable_season
from tsformer.reading import read_panel

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
