import logging

import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, load
from tsformer.errors import ParameterError
from tsformer.estimators import SeasonalNaive
from tsformer.models import Linear
from tsformer.panels import Schema
from tsformer.panels.seasons import seasons, with_seasons
from tsformer.reading import read_panel

WEEK = np.array([5.0, 6, 7, 6, 9, 2, 1])


def load_by(index, weeks=8):
    steps = np.arange(len(index))
    day_off = (steps // 24) % 7 >= 5
    level = 50 + 10 * np.sin(2 * np.pi * steps / 24) * (1 - 0.5 * day_off) - 20 * day_off
    return pd.DataFrame({"y": level}, index=index)


def test_stamps_tell_the_first_and_rows_a_longer_one():
    hours = pd.date_range("2024-01-01", periods=24 * 7 * 8, freq="h")
    assert seasons(read_panel(load_by(hours))) == (24, 168)


def test_row_numbers_tell_nothing_so_that_rows_do():
    assert seasons(read_panel(load_by(pd.RangeIndex(24 * 7 * 8)))) == (24, 168)
    noise = np.random.default_rng(0).normal(size=200)
    assert seasons(read_panel(noise)) == (1,)


def test_what_is_said_comes_first():
    frame = load_by(pd.RangeIndex(24 * 7 * 8))
    assert seasons(read_panel(frame, Schema(season=12))) == (12,)
    assert seasons(read_panel(frame, Schema(season=[12, 48]))) == (12, 48)
    assert seasons(read_panel(frame, Schema(season=1))) == (1,)


@pytest.mark.parametrize("season", [0, -7, 1.5, True, "week", (), (7, 0), [7, 1.5]])
def test_a_season_is_a_whole_number_of_rows(season):
    with pytest.raises(ParameterError, match="season"):
        read_panel(np.arange(50.0), Schema(season=season))


def test_later_rows_move_no_season():
    values = np.concatenate([np.random.default_rng(0).normal(size=60), np.tile(WEEK, 20)])
    panel = read_panel(values)
    assert seasons(panel) == (7,)
    assert seasons(panel, np.array([60])) == (1,)


def test_seasonal_naive_repeats_the_season_it_finds():
    frame = pd.DataFrame({"sales": np.tile(WEEK, 12)})
    forecaster = SeasonalNaive(horizon=7).fit(frame)
    assert forecaster.season_length_ == 7
    assert forecaster.schema_.season == (7,)
    assert forecaster.predict()["sales"].tolist() == WEEK.tolist()


def test_the_season_is_said_and_saved(caplog, tmp_path):
    frame = pd.DataFrame({"sales": np.tile(WEEK, 12)})
    with caplog.at_level(logging.INFO, logger="tsformer"):
        with_seasons(read_panel(frame))
    assert "season: 7 rows found in the data" in caplog.text
    forecaster = Forecaster(Linear(), horizon=7, schema=Schema(season=14)).fit(frame)
    path = forecaster.save(tmp_path / "one.safetensors")
    again = load(path)
    assert again.schema_.season == (14,)
    assert again.schema.season == 14


def test_a_context_holds_the_longest_season():
    steps = np.arange(48 * 7 * 8)
    day_off = (steps // 48) % 7 >= 5
    level = 50 + 10 * np.sin(2 * np.pi * steps / 48) * (1 - 0.5 * day_off) - 20 * day_off
    forecaster = Forecaster(Linear(), horizon=4).fit(level[:, None])
    assert forecaster.context_ == 336
