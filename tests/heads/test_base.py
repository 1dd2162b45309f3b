"""What holds for every head."""

import math

import pytest
import registry
import torch
from sklearn.base import clone

from tsformer import heads
from tsformer.heads import Head
from tsformer.heads.base import weighted_mean

HEADS = [head for row in registry.HEADS for head in row.values]
every_head = pytest.mark.parametrize("head", HEADS, ids=str)


def raw_of(head, seed=0):
    return torch.randn(4, 3, 2, head.width, generator=torch.Generator().manual_seed(seed))


def levels_of(head):
    """Levels that a head can give: its own, or any if it holds a distribution."""
    return list(getattr(head, "levels", (0.1, 0.5, 0.8) if head.has_spread else ()))


def test_every_public_head_is_here():
    assert {type(head) for head in HEADS} == registry.public(heads, Head)
    assert {row.kind for row in registry.HEADS} == registry.public(heads, Head)


@every_head
def test_shapes(head):
    raw, target = raw_of(head), torch.randn(4, 3, 2)
    assert head.loss(raw, target, torch.ones(4, 3, 2)).shape == ()
    assert head.point(raw).shape == (4, 3, 2)
    assert head.quantiles(raw, levels_of(head)).shape == (4, 3, 2, len(levels_of(head)))


@every_head
def test_the_loss_is_0_at_the_truth_and_positive_elsewhere(head):
    target, ones = torch.randn(4, 3, 2), torch.ones(4, 3, 2)
    exact = head.shift(torch.zeros(*target.shape, head.width), target)
    assert head.loss(exact, target, ones).item() == 0
    assert head.loss(exact + 1, target, ones).item() > 0


@every_head
def test_an_entry_of_weight_0_may_hold_anything(head):
    raw, target, weight = raw_of(head).requires_grad_(), torch.randn(4, 3, 2), torch.ones(4, 3, 2)
    weight[0], weight[1, :, 1] = 0, 0
    expected = head.loss(raw, target.where(weight > 0, 0.0), weight)
    (slope,) = torch.autograd.grad(expected, raw)
    for anything in (torch.nan, torch.inf, 1e6):
        found = head.loss(raw, target.where(weight > 0, anything), weight)
        assert torch.equal(found, expected)
        assert torch.equal(torch.autograd.grad(found, raw)[0], slope)


@every_head
def test_the_loss_is_a_mean_over_what_counts(head):
    raw, target = raw_of(head), torch.randn(4, 3, 2)
    weight = torch.ones(4, 3, 2)
    weight[2:] = 0
    part = head.loss(raw[:2], target[:2], torch.ones(2, 3, 2))
    torch.testing.assert_close(head.loss(raw, target, weight), part)


@every_head
def test_weights_count_as_copies(head):
    raw, target = raw_of(head), torch.randn(4, 3, 2)
    weight = torch.ones(4, 3, 2)
    weight[0] = 2
    copied = head.loss(
        torch.cat([raw, raw[:1]]), torch.cat([target, target[:1]]), torch.ones(5, 3, 2)
    )
    torch.testing.assert_close(head.loss(raw, target, weight), copied)


@every_head
def test_nothing_observed_gives_0_with_a_gradient(head):
    raw = raw_of(head).requires_grad_()
    loss = head.loss(raw, torch.full((4, 3, 2), torch.nan), torch.zeros(4, 3, 2))
    assert loss.item() == 0
    assert torch.autograd.grad(loss, raw)[0].isfinite().all()


@every_head
def test_a_shift_moves_point_and_quantiles(head):
    raw, by = raw_of(head), torch.randn(4, 3, 2)
    shifted = head.shift(raw, by)
    torch.testing.assert_close(head.point(shifted), head.point(raw) + by)
    torch.testing.assert_close(
        head.quantiles(shifted, levels_of(head)),
        head.quantiles(raw, levels_of(head)) + by[..., None],
    )


@every_head
def test_restoring_undoes_the_scaling_of_a_window(head):
    raw = raw_of(head)
    location, scale = torch.randn(4, 1, 2), torch.rand(4, 1, 2) + 0.1
    restored = head.restore(raw, location, scale)
    torch.testing.assert_close(head.point(restored), head.point(raw) * scale + location)
    torch.testing.assert_close(
        head.quantiles(restored, levels_of(head)),
        head.quantiles(raw, levels_of(head)) * scale[..., None] + location[..., None],
    )


@every_head
def test_shift_and_restore_agree(head):
    raw, by = raw_of(head), torch.randn(4, 3, 2)
    location, scale = torch.randn(4, 1, 2), torch.rand(4, 1, 2) + 0.1
    first = head.restore(head.shift(raw, by), location, scale)
    torch.testing.assert_close(first, head.shift(head.restore(raw, location, scale), by * scale))


@every_head
def test_a_head_is_a_value(head):
    head.check()
    assert clone(head).get_params() == head.get_params()
    assert not list(getattr(head, "parameters", list)())


def test_the_weighted_mean_by_hand():
    loss = torch.tensor([1.0, torch.nan, 4.0])
    assert weighted_mean(loss, torch.tensor([1.0, 0.0, 2.0])).item() == 3
    assert weighted_mean(loss, torch.zeros(3)).item() == 0


def residuals_of(windows=400):
    generator = torch.Generator().manual_seed(0)
    residuals = torch.randn(windows, 3, 2, generator=generator) * torch.tensor([0.5, 2.0]) + 0.3
    residuals[::7, 1] = torch.nan
    residuals[:, 2, 1] = torch.nan
    return residuals


def test_quantiles_spread_where_their_loss_is_least():
    residuals, head = residuals_of(), heads.Quantiles((0.1, 0.5, 0.9))
    spread = head.fit_spread(residuals)
    assert spread[2, 1].eq(0).all()
    torch.testing.assert_close(spread[0, 0], residuals[:, 0, 0].quantile(torch.tensor(head.levels)))
    descended = Head.fit_spread(head, residuals)
    torch.testing.assert_close(descended[:2], spread[:2], atol=0.1, rtol=0)


class Normal(Head):
    """A head that is no row of numbers in the target's units: mean and log of the deviation."""

    width = 2

    def loss(self, raw, target, weight):
        mean, log = raw.unbind(-1)
        target = target.where(weight > 0, 0)
        return weighted_mean(log + ((target - mean) / log.exp()).square() / 2, weight)

    def point(self, raw):
        return raw[..., 0]

    def quantiles(self, raw, levels):
        raise NotImplementedError

    def shift(self, raw, point):
        return torch.stack([raw[..., 0] + point, raw[..., 1]], -1)


def test_the_spread_of_any_head_is_where_its_loss_is_least():
    residuals = residuals_of()
    spread = Normal().fit_spread(residuals)
    known = [residuals[:, step, 1][~residuals[:, step, 1].isnan()] for step in (0, 1)]
    for step, errors in enumerate(known):
        mean, log = spread[step, 1].tolist()
        assert mean == pytest.approx(float(errors.mean()), abs=1e-3)
        assert log == pytest.approx(math.log(float(errors.std(correction=0))), abs=1e-3)
    assert spread[2, 1].eq(0).all() and not spread.requires_grad
