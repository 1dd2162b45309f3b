import numpy as np
import pytest

from tsformer.panels.robust import NORMAL_QUARTILE, absolute_deviation, median


def test_missing_values_do_not_count():
    assert median(np.array([np.nan, 4.0, 1.0, np.nan, 2.0])) == 2.0
    assert absolute_deviation(np.array([np.nan, 2.0, 1.0, 3.0])) == 2.0 / NORMAL_QUARTILE


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_nothing_gives_0_and_1(values):
    assert median(np.array(values)) == 0.0
    assert absolute_deviation(np.array(values)) == 1.0


def test_a_deviation_is_always_positive():
    assert absolute_deviation(np.zeros(5)) == 1.0
    assert absolute_deviation(np.array([0.0, 0.0, 0.0, 6.0])) == 1.5


def test_a_normal_variable_has_its_deviation():
    values = np.random.default_rng(0).normal(scale=3.0, size=100_001)
    assert absolute_deviation(np.abs(values - median(values))) == pytest.approx(3.0, rel=0.02)
