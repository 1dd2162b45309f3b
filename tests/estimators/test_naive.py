import numpy as np
import pandas as pd

from tsformer import Policy
from tsformer.estimators.naive import seasonal_history, seasonal_naive, usable_season
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
