import numpy as np
import pandas as pd
import pytest

from tsformer.time.season import find_seasons


def column(values):
    values = np.asarray(values, np.float64)
    return values[:, None], np.array([0, len(values)])


def half_hourly_load(weeks=6, noise=0.5):
    steps = np.arange(48 * 7 * weeks)
    day_off = (steps // 48) % 7 >= 5
    level = 50 + 10 * np.sin(2 * np.pi * steps / 48) * (1 - 0.6 * day_off) - 15 * day_off
    return level + noise * np.random.default_rng(0).normal(size=len(steps))


def monthly(years=8, noise=0.2):
    steps = np.arange(12 * years)
    shape = 5 * np.cos(2 * np.pi * steps / 12) + 2 * np.cos(4 * np.pi * steps / 12)
    return shape + 0.3 * steps + noise * np.random.default_rng(1).normal(size=len(steps))


def test_half_hourly_load_has_a_day_and_a_week():
    assert find_seasons(*column(half_hourly_load())) == (48, 336)


def test_a_year_of_months_with_a_trend_is_one_season():
    assert find_seasons(*column(monthly())) == (12,)
    assert find_seasons(*column(1e9 + monthly())) == (12,)


def test_gaps_and_spikes_hide_no_season():
    load = half_hourly_load()
    rng = np.random.default_rng(2)
    load[rng.random(len(load)) < 0.1] = np.nan
    load[rng.integers(len(load), size=20)] = 1e5
    assert find_seasons(*column(load)) == (48, 336)


@pytest.mark.parametrize("seed", range(5))
def test_noise_hides_a_season_only_from_single_steps(seed):
    steps = np.arange(400)
    noise = np.random.default_rng(seed).normal(size=400)
    assert find_seasons(*column(10 * np.sin(2 * np.pi * steps / 24) + 3 * noise)) == (24,)


@pytest.mark.parametrize("rows", [24, 100, 1000])
@pytest.mark.parametrize("seed", range(10))
def test_noise_and_a_random_walk_have_no_season(rows, seed):
    noise = np.random.default_rng(seed).normal(size=rows)
    assert find_seasons(*column(noise)) == ()
    assert find_seasons(*column(noise.cumsum())) == ()
    assert find_seasons(*column(noise + np.arange(rows))) == ()


@pytest.mark.parametrize(
    "values", [[], [1.0], np.ones(50), np.arange(50.0), np.full(50, np.nan), [1e308, -1e308] * 20]
)
def test_nothing_repeats_and_nothing_breaks(values):
    assert find_seasons(*column(values)) in ((), (2,))


def test_a_pattern_is_found_as_it_is():
    assert find_seasons(*column([1, 2] * 20)) == (2,)
    assert find_seasons(*column([0, 0, 9] * 20)) == (3,)
    assert find_seasons(*column(np.tile(np.arange(7.0), 10))) == (7,)


def test_series_of_a_panel_tell_together():
    one, other = monthly(), monthly()[::-1] * 3
    values = np.concatenate([one, other])[:, None]
    starts = np.array([0, len(one), len(values)])
    assert find_seasons(values, starts) == (12,)


def test_rows_after_the_ends_do_not_count():
    walk = np.random.default_rng(3).normal(size=200).cumsum()
    values, starts = column(np.concatenate([walk, 100 * np.tile([1.0, 5, 2, 8], 100)]))
    assert find_seasons(values, starts) == (4,)
    assert find_seasons(values, starts, np.array([200])) == ()
    changed = values.copy()
    changed[200:] = 0
    assert find_seasons(changed, starts, np.array([200])) == ()


def test_a_longer_season_beside_a_known_one():
    load = pd.Series(half_hourly_load()).to_numpy()
    assert find_seasons(*column(load), known=48) == (48, 336)
    assert find_seasons(*column(monthly()), known=12) == (12,)
