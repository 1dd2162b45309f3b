import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tsformer.errors import ParameterError
from tsformer.heads import Quantiles, pinball_loss

values = st.floats(-1e3, 1e3, width=32)


def test_the_pinball_loss_by_hand():
    # forecast 2, truth 5: 3 too low; forecast 9: 4 too high
    forecast, target = torch.tensor([[2.0, 9.0]]), torch.tensor([5.0])
    found = pinball_loss(forecast, target, torch.tensor([0.1, 0.9]))
    torch.testing.assert_close(found, torch.tensor([[0.3, 0.4]]))


def test_half_the_absolute_error_at_the_median():
    forecast, target = torch.randn(5, 1), torch.randn(5)
    found = pinball_loss(forecast, target, torch.tensor([0.5]))[..., 0]
    torch.testing.assert_close(found, (forecast[..., 0] - target).abs() / 2)


@given(st.floats(0.05, 0.95), st.lists(values, min_size=3, max_size=30))
def test_the_pinball_loss_is_least_at_the_quantile(level, sample):
    truth = torch.tensor(sample)
    level = torch.tensor([level])
    candidates = truth.unique()
    losses = [pinball_loss(c.expand(len(truth), 1), truth, level).mean() for c in candidates]
    best = torch.quantile(truth, float(level), interpolation="lower")
    above = torch.quantile(truth, float(level), interpolation="higher")
    least = min(losses)
    near = [losses[int((candidates == edge).nonzero()[0])] for edge in (best, above)]
    assert min(near) <= least + 1e-4 * (1 + truth.abs().max())


@given(st.lists(values, min_size=3, max_size=3))
def test_quantiles_never_cross(numbers):
    raw = torch.tensor(numbers).reshape(1, 1, 1, 3)
    found = Quantiles((0.1, 0.5, 0.9)).quantiles(raw, [0.1, 0.5, 0.9]).flatten()
    assert found.tolist() == sorted(numbers)


def test_levels_come_in_the_order_asked_for():
    raw = torch.tensor([3.0, 1.0, 2.0]).reshape(1, 1, 1, 3)
    head = Quantiles((0.1, 0.5, 0.9))
    assert head.quantiles(raw, [0.9, 0.1]).flatten().tolist() == [3.0, 1.0]
    assert head.quantiles(raw, []).shape == (1, 1, 1, 0)


def test_the_loss_is_the_mean_over_levels_of_sorted_numbers():
    head = Quantiles((0.1, 0.9))
    raw = torch.tensor([9.0, 2.0]).reshape(1, 1, 1, 2)
    found = head.loss(raw, torch.tensor([[[5.0]]]), torch.ones(1, 1, 1))
    assert found.item() == pytest.approx((0.3 + 0.4) / 2)


def test_the_point_is_the_level_nearest_the_median():
    raw = torch.tensor([3.0, 1.0, 2.0]).reshape(1, 1, 1, 3)
    assert Quantiles((0.1, 0.5, 0.9)).point(raw).item() == 2
    assert Quantiles((0.1, 0.2, 0.3)).point(raw).item() == 3
    assert Quantiles((0.6, 0.7, 0.9)).point(raw).item() == 1


def test_another_level_is_an_error_with_a_cure():
    with pytest.raises(ParameterError, match=r"level 0\.3 was not trained.*0\.05, 0\.1.*Quantiles"):
        Quantiles().quantiles(torch.zeros(1, 1, 1, 7), [0.3])


@pytest.mark.parametrize(
    "levels", [(), (0.0, 0.5), (0.5, 1.0), (0.9, 0.1), (0.5, 0.5), (0.1, 2), (float("nan"),)]
)
def test_levels_must_ascend_between_0_and_1(levels):
    with pytest.raises(ParameterError, match="levels must ascend"):
        Quantiles().set_params(levels=levels).check()


def test_a_list_of_levels_is_fine():
    head = Quantiles([0.1, 0.5])
    head.check()
    assert head.width == 2
