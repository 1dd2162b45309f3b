import pytest
import torch

from tsformer.models import WindowScaling
from tsformer.windows import Sizes

SIZES = Sizes(context=6, horizon=3, target=2)


def test_the_context_has_mean_0_and_deviation_1(make_batch):
    scaled, location, scale = WindowScaling()(make_batch(SIZES))
    assert location.shape == scale.shape == (5, 1, 2)
    torch.testing.assert_close(scaled.past_target.mean(1), torch.zeros(5, 2), atol=1e-5, rtol=0)
    deviation = scaled.past_target.std(1, correction=0)
    torch.testing.assert_close(deviation, torch.ones(5, 2), atol=1e-5, rtol=0)


def test_last_starts_where_the_context_ends(make_batch):
    batch = make_batch(SIZES)
    scaled, location, scale = WindowScaling("last")(batch)
    assert location.equal(batch.past_target[:, -1:])
    assert scaled.past_target[:, -1].eq(0).all()
    assert scale.equal(WindowScaling()(batch)[2])


@pytest.mark.parametrize("kind", ["window", "last", "none"])
def test_the_future_is_scaled_by_the_past(kind, make_batch):
    batch = make_batch(SIZES)
    scaled, location, scale = WindowScaling(kind)(batch)
    torch.testing.assert_close(scaled.future_target * scale + location, batch.future_target)
    other = batch._replace(future_target=batch.future_target + 100)
    _, same_location, same_scale = WindowScaling(kind)(other)
    assert torch.equal(same_location, location)
    assert torch.equal(same_scale, scale)


@pytest.mark.parametrize("kind", ["window", "last", "none"])
def test_what_is_not_observed_is_0(kind, make_batch):
    batch = make_batch(SIZES, gaps=True)
    scaled, _, _ = WindowScaling(kind)(batch)
    assert scaled.past_target[~batch.past_observed].eq(0).all()
    assert scaled.future_target[~batch.future_observed].eq(0).all()


def test_none_leaves_the_units(make_batch):
    batch = make_batch(SIZES)
    scaled, location, scale = WindowScaling("none")(batch)
    assert torch.equal(scaled.past_target, batch.past_target)
    assert location.eq(0).all()
    assert scale.eq(1).all()


@pytest.mark.parametrize("kind", ["window", "last", "none"])
def test_a_batch_knows_what_was_taken_off_its_targets(kind, make_batch):
    batch = make_batch(SIZES)
    assert batch.location.eq(0).all()
    assert batch.scale.eq(1).all()
    scaled, location, scale = WindowScaling(kind)(batch)
    assert torch.equal(scaled.location, location)
    assert torch.equal(scaled.scale, scale)
