import numpy as np
import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.models import WindowScaling
from tsformer.models.scaling import (
    AsinhNormaliser,
    LastNormaliser,
    NoNormaliser,
    StandardNormaliser,
)
from tsformer.panels import Policy
from tsformer.reading import read_panel
from tsformer.windows import Sizes, WindowDataset

SIZES = Sizes(context=6, horizon=3, target=2)
CUT = {"context": 8, "horizon": 3}
FAMILY = {
    "standard": StandardNormaliser,
    "last": LastNormaliser,
    "asinh": AsinhNormaliser,
    "none": NoNormaliser,
}
each_normaliser = pytest.mark.parametrize("make", FAMILY.values(), ids=FAMILY)


def windows_of(values, **given):
    panel = read_panel(np.asarray(values, float), policy=Policy(missing="mask"))
    return WindowDataset(panel, **CUT, **given)


def whole(windows):
    return windows.__getitems__(list(range(len(windows))))


@pytest.fixture
def spiky():
    return np.random.default_rng(0).standard_t(2, size=(40, 2)) * 20 + [30, -5]


# every normaliser


@each_normaliser
def test_a_batch_carries_what_was_taken_off_its_targets(make, make_batch):
    batch = make_batch(SIZES, gaps=True)
    normalised = make().normalise(batch)
    location, scale = make().statistics(batch.past_target, batch.past_observed)
    assert normalised.location.equal(location)
    assert normalised.scale.equal(scale)
    assert location.shape == scale.shape == (5, 1, 2)
    assert batch.location.eq(0).all() and batch.scale.eq(1).all()


@each_normaliser
def test_what_was_normalised_comes_back(make, make_batch):
    batch = make_batch(SIZES, gaps=True)
    normalised = make().normalise(batch)
    for name in ("past", "future"):
        seen = getattr(batch, f"{name}_observed")
        back = make().restore(getattr(normalised, f"{name}_target"), normalised).float()
        torch.testing.assert_close(back[seen], getattr(batch, f"{name}_target")[seen])


@each_normaliser
def test_numbers_of_more_axes_come_back_alike(make, make_batch):
    normalised = make().normalise(make_batch(SIZES))
    raw = torch.randn(5, 3, 2, 7)
    back = make().restore(raw, normalised)
    for level in range(7):
        torch.testing.assert_close(back[..., level], make().restore(raw[..., level], normalised))


@each_normaliser
def test_the_future_moves_nothing_of_the_past(make, make_batch):
    batch = make_batch(SIZES)
    other = batch._replace(future_target=batch.future_target + 100)
    first, second = make().normalise(batch), make().normalise(other)
    for name in ("past_target", "location", "scale"):
        assert torch.equal(getattr(first, name), getattr(second, name))


@each_normaliser
def test_what_is_not_observed_is_0_and_may_be_anything(make, make_batch):
    batch = make_batch(SIZES, gaps=True)
    normalised = make().normalise(batch)
    assert normalised.past_target[~batch.past_observed].eq(0).all()
    assert normalised.future_target[~batch.future_observed].eq(0).all()
    spoilt = batch._replace(
        past_target=batch.past_target.where(batch.past_observed, 1e9),
        future_target=batch.future_target.where(batch.future_observed, torch.nan),
    )
    for one, two in zip(make().normalise(spoilt), normalised, strict=True):
        assert torch.equal(one, two)


@each_normaliser
def test_nothing_observed_gives_0_and_1(make, make_batch):
    batch = make_batch(SIZES)
    normalised = make().normalise(batch._replace(past_observed=batch.past_observed & False))
    assert normalised.location.eq(0).all() and normalised.scale.eq(1).all()


@each_normaliser
def test_lags_are_normalised_as_the_targets_are(make, spiky):
    windows = windows_of(spiky, lags=[3, 5])
    batch = whole(windows)
    normalised = make(lagged=4).normalise(batch)
    own = make().normalise(batch)
    assert torch.equal(normalised.past_target, own.past_target)
    seen, lags = batch.known_present[..., -4:], normalised.known[..., -4:]
    back = torch.cat([make().restore(lag, own) for lag in lags.split(2, dim=-1)], dim=-1).float()
    torch.testing.assert_close(back[seen], batch.known[..., -4:][seen], atol=1e-5, rtol=1e-5)
    assert lags[~seen].eq(0).all()
    calendar = windows.sizes.known - 4
    assert torch.equal(normalised.known[..., :calendar], batch.known[..., :calendar])


# each of them


def test_standard_gives_the_context_mean_0_and_deviation_1(make_batch):
    past = StandardNormaliser().normalise(make_batch(SIZES)).past_target
    torch.testing.assert_close(past.mean(1), torch.zeros(5, 2), atol=1e-5, rtol=0)
    torch.testing.assert_close(past.std(1, correction=0), torch.ones(5, 2), atol=1e-5, rtol=0)


def test_last_starts_where_the_context_ends(make_batch):
    batch = make_batch(SIZES)
    normalised = LastNormaliser().normalise(batch)
    assert normalised.location.equal(batch.past_target[:, -1:])
    assert normalised.past_target[:, -1].eq(0).all()
    assert normalised.scale.equal(StandardNormaliser().normalise(batch).scale)


def test_none_leaves_the_units(make_batch):
    batch = make_batch(SIZES)
    for one, two in zip(NoNormaliser().normalise(batch), batch, strict=True):
        assert torch.equal(one, two)


def test_asinh_is_of_the_distance_from_the_median(spiky):
    batch = whole(windows_of(spiky))
    normalised = AsinhNormaliser().normalise(batch)
    past = batch.past_target.numpy()
    lower = np.sort(past, axis=1)[:, 3:4]  # of an even number, the lower of the two in the middle
    np.testing.assert_allclose(normalised.location, lower, rtol=1e-6)
    off = np.sort(np.abs(past - lower), axis=1)[:, 3:4] / 0.67449
    expected = np.maximum(off, 0.1 * np.sqrt(((past - lower) ** 2).mean(1, keepdims=True)))
    np.testing.assert_allclose(normalised.scale, expected, rtol=1e-4)
    np.testing.assert_allclose(
        normalised.past_target, np.arcsinh((past - lower) / expected), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_asinh_takes_the_size_of_a_window_off(scale, spiky):
    batch = whole(windows_of(spiky))
    other = batch._replace(
        past_target=batch.past_target * scale, future_target=batch.future_target * scale
    )
    torch.testing.assert_close(
        AsinhNormaliser().normalise(other).past_target,
        AsinhNormaliser().normalise(batch).past_target,
        atol=1e-4,
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    ("past", "median", "scale"),
    [
        ([5.0] * 8, 5.0, 1.0),
        ([1e6 + 0.01] * 8, 1e6, 1.0),
        ([0.0] * 7 + [8.0], 0.0, 0.1 * 8 / np.sqrt(8)),  # a median deviation of 0
        ([np.nan] * 5 + [1.0, 2.0, 4.0], 2.0, 1 / 0.67449),
    ],
    ids=["constant", "far from 0", "mostly alike", "gaps"],
)
def test_asinh_has_a_divisor_for_every_window(past, median, scale):
    values = torch.tensor(past)[None, :, None]
    found = AsinhNormaliser().statistics(values, ~values.isnan())
    assert found[0].item() == pytest.approx(median, rel=1e-4, abs=1e-4)
    assert found[1].item() == pytest.approx(scale, rel=1e-3)


# what scaling= says


@pytest.mark.parametrize(
    ("kind", "normaliser"),
    [("window", StandardNormaliser), ("last", LastNormaliser), ("none", NoNormaliser)],
)
def test_the_loss_is_in_the_units_of_the_panel(kind, normaliser, make_batch):
    batch, scaling = make_batch(SIZES), WindowScaling(kind, lagged=2)
    assert type(scaling.normaliser) is normaliser
    assert scaling.normaliser.lagged == 2
    assert scaling.in_loss_units(batch) is batch
    assert scaling.in_panel_units(batch.future_target, batch) is batch.future_target


def test_with_asinh_the_loss_is_of_asinh_values(spiky):
    batch, scaling = whole(windows_of(spiky)), WindowScaling("asinh")
    in_loss_units = scaling.in_loss_units(batch)
    for one, two in zip(in_loss_units, AsinhNormaliser().normalise(batch), strict=True):
        assert torch.equal(one, two)
    past = scaling.normaliser.normalise(in_loss_units).past_target
    torch.testing.assert_close(past.mean(1), torch.zeros_like(past[:, 0]), atol=1e-5, rtol=0)
    back = scaling.in_panel_units(in_loss_units.future_target, in_loss_units)
    assert back.dtype == torch.float64
    torch.testing.assert_close(back.float(), batch.future_target, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["series", "standard", None])
def test_unknown_kinds_are_named(kind, unchecked):
    with pytest.raises(ParameterError, match=f"scaling={kind!r} is unknown; use 'window', 'last'"):
        WindowScaling(kind)
