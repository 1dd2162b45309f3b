import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tsformer.nn import last_observed, observed_deviation, observed_mean


def statistics(values, observed):
    mean = observed_mean(values, observed)
    return mean, observed_deviation(values, observed, mean=mean)


@settings(max_examples=40, deadline=None)
@given(
    level=st.sampled_from([0.0, 1.0, -1e4, 1e6]),
    spread=st.sampled_from([1e-25, 1.0, 1e25]),
    time=st.integers(1, 50),
    seed=st.integers(0, 999),
)
def test_equals_float64_over_the_observed_steps(level, spread, time, seed):
    random = np.random.default_rng(seed)
    values = (level + spread * random.normal(size=(2, time, 3))).astype(np.float32)
    observed = random.random((2, time, 3)) < 0.7
    location, scale = statistics(torch.tensor(values), torch.tensor(observed))
    for row in range(2):
        for target in range(3):
            kept = values[row, observed[row, :, target], target].astype(float)
            mean, deviation = (kept.mean(), kept.std()) if len(kept) else (0.0, 1.0)
            constant = deviation <= 16 * np.finfo(np.float32).eps * abs(mean)
            near = max(abs(mean), deviation) * 1e-6
            assert location[row, 0, target].item() == pytest.approx(mean, abs=near)
            expected = 1.0 if constant else deviation
            assert scale[row, 0, target].item() == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("level", [1e4, -7.3e8])
@pytest.mark.parametrize("time", [337, 5_000])
def test_the_mean_is_that_of_float64_to_the_last_place(level, time):
    random = np.random.default_rng(0)
    values = (level + abs(level) / 1e3 * random.normal(size=(4, time, 1))).astype(np.float32)
    observed = random.random(values.shape) < 0.7
    exact = np.where(observed, values, 0).astype(float).sum(1, keepdims=True) / observed.sum(
        1, keepdims=True
    )
    found = observed_mean(torch.tensor(values), torch.tensor(observed))
    assert np.abs(found.numpy() - exact).max() <= np.spacing(np.float32(abs(level)))


@pytest.mark.parametrize("level", [0.0, 0.1, -7.3e8, 1e-30])
def test_a_constant_window_has_scale_1(level):
    values = torch.full((1, 337, 1), level)
    observed = torch.ones_like(values, dtype=torch.bool)
    location, scale = statistics(values, observed)
    assert location.item() == pytest.approx(level, rel=1e-6) and scale.item() == 1


def test_nothing_observed_gives_0_and_1_whatever_is_there():
    values = torch.full((1, 5, 1), torch.nan)
    location, scale = statistics(values, torch.zeros(1, 5, 1, dtype=torch.bool))
    assert (location.item(), scale.item()) == (0, 1)
    assert last_observed(values, torch.zeros(1, 5, 1, dtype=torch.bool)).item() == 0


@settings(max_examples=40, deadline=None)
@given(time=st.integers(1, 30), share=st.floats(0, 1), seed=st.integers(0, 999))
def test_last_observed_is_the_last_observed_step(time, share, seed):
    random = np.random.default_rng(seed)
    values = torch.tensor(random.normal(size=(2, time, 3)) * 4 + 9, dtype=torch.float32)
    observed = torch.tensor(random.random((2, time, 3)) < share)
    spoilt = values.masked_fill(~observed, torch.nan)
    last = last_observed(spoilt, observed)
    for row in range(2):
        for target in range(3):
            kept = values[row, observed[row, :, target], target]
            assert last[row, 0, target] == (kept[-1] if len(kept) else 0)


@pytest.mark.parametrize("level", [0.0, 0.1, -7.3e8, 1e-30])
def test_last_of_a_constant_window_is_exact(level):
    values = torch.full((1, 337, 1), level)
    assert last_observed(values, values == values).equal(values[:, :1])
