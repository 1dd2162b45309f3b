import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsformer.panels.power import from_power, likeliest_power, to_power

powers = st.floats(-1, 2) | st.sampled_from([0.0, 1e-300, -1e-12, 1e-6])


@given(st.floats(-3, 3), powers)
def test_there_and_back(log, power):
    logs = np.array([log])
    np.testing.assert_allclose(from_power(to_power(logs, power), power), logs, atol=1e-11)


@given(st.floats(-5, 5), st.sampled_from([1e-4, -1e-4, 1e-9, 1e-13, 1e-99, 1e-300]))
def test_near_0_it_is_the_logarithm_without_a_jump(log, power):
    assert to_power(np.array([log]), power)[0] == pytest.approx(log, rel=30 * abs(power) + 1e-12)


def test_by_hand():
    logs = np.log([1.0, 4.0, 9.0])
    np.testing.assert_allclose(to_power(logs, 0.5), [0, 2, 4])
    np.testing.assert_allclose(to_power(logs, 2), [0, 7.5, 40])
    np.testing.assert_allclose(to_power(logs, -1), [0, 0.75, 8 / 9])
    np.testing.assert_allclose(to_power(logs, [0, 1, 2]), [0, 3, 40])


def test_beyond_the_range_lies_its_edge():
    beyond = np.array([-3.0, -1e300, 0.5])
    assert np.exp(from_power(beyond, 0.5)).tolist() == [0, 0, pytest.approx(1.5625)]
    assert np.exp(from_power(-beyond, -0.5)).tolist() == [np.inf, np.inf, pytest.approx(0.64)]
    assert np.isnan(from_power(np.array([np.nan]), 0.5)).all()


def slow_likelihood(series, power):
    """With the Jacobian written out, one series after the other."""
    total = 0.0
    for values in series:
        bent = np.log(values) if power == 0 else (values**power - 1) / power
        total += -len(values) / 2 * np.log(bent.var()) + (power - 1) * np.log(values).sum()
    return total


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_maximum_of_the_likelihood(seed):
    random = np.random.default_rng(seed)
    power = [0.0, 0.5, -0.5, 1.2][seed]
    levels = ([4.0, 9.0], [4.0, 9.0], [-4.0, -9.0], [4.0, 9.0])[seed]
    normal = [level + random.normal(size=200 + 100 * at) for at, level in enumerate(levels)]
    series = [np.exp(from_power(1 * z, power)) for z in normal]
    series = [values[np.isfinite(values) & (values > 0)] for values in series]
    logs = np.log(np.concatenate(series))
    found = likeliest_power(logs, np.arange(2).repeat([len(values) for values in series]))
    assert found == pytest.approx(power, abs=0.25)
    grid = np.linspace(-1, 2, 3001)
    best = grid[np.argmax([slow_likelihood(series, one) for one in grid])]
    assert found == pytest.approx(best, abs=2e-3)


def test_a_maximum_beside_the_lowest_power_is_found():
    logs = from_power(np.random.default_rng(0).normal(size=400) / 5, -0.96)
    found = likeliest_power(logs, np.zeros(400, np.int64))
    grid = np.linspace(-1, 2, 3001)
    best = grid[np.argmax([slow_likelihood([np.exp(logs)], one) for one in grid])]
    assert found == pytest.approx(best, abs=2e-3)
    assert found == pytest.approx(-0.96, abs=0.05)


@pytest.mark.parametrize("size", [1e-30, 1e-3, 1e30])
def test_the_unit_does_not_matter(size):
    values = np.random.default_rng(0).lognormal(size=300) ** 0.7 + 1
    one = np.zeros(300, np.int64)
    plain, other = (likeliest_power(np.log(values * unit), one) for unit in (1, size))
    assert other == pytest.approx(plain, abs=2e-4)


def test_series_that_say_nothing_ask_for_no_change():
    assert likeliest_power(np.log([5.0, 5.0, 3.0]), np.array([0, 0, 1])) == 1
    assert likeliest_power(np.zeros(0), np.zeros(0, np.int64)) == 1


def test_a_constant_series_beside_another_changes_nothing():
    logs = np.random.default_rng(1).normal(size=100)
    alone = likeliest_power(logs, np.zeros(100, np.int64))
    beside = likeliest_power(np.append(logs, [2.0, 2.0]), np.array([0] * 100 + [3, 3]))
    assert alone == beside


def test_powers_that_overflow_are_passed_over():
    logs = np.random.default_rng(2).normal(scale=200, size=50)
    assert -1 <= likeliest_power(logs, np.zeros(50, np.int64)) <= 2
