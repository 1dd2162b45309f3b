import numpy as np
import pytest
import torch

from tsformer.panels import Policy
from tsformer.reading import read_panel
from tsformer.windows import PanelScales, WindowDataset, bend, unbend

CUT = {"context": 8, "horizon": 3}


def windows_of(values, **given):
    panel = read_panel(np.asarray(values, float), policy=Policy(missing="mask"))
    return WindowDataset(panel, **{**CUT, **given})


def whole(windows):
    return windows.__getitems__(list(range(len(windows))))


@pytest.fixture
def spiky():
    return np.random.default_rng(0).standard_t(2, size=(40, 2)) * 20 + [30, -5]


def test_a_window_is_bent_around_its_own_median(spiky):
    batch = whole(windows_of(spiky))
    bent, middle, spread = bend(batch)
    past = batch.past_target.numpy()
    lower = np.sort(past, axis=1)[:, 3:4]  # of an even number, the lower of the two in the middle
    np.testing.assert_allclose(middle, lower, rtol=1e-6)
    off = np.sort(np.abs(past - lower), axis=1)[:, 3:4] / 0.67449
    expected = np.maximum(off, 0.1 * np.sqrt(((past - lower) ** 2).mean(1, keepdims=True)))
    np.testing.assert_allclose(spread, expected, rtol=1e-4)
    np.testing.assert_allclose(
        bent.past_target, np.arcsinh((past - lower) / expected), rtol=1e-4, atol=1e-5
    )


def test_what_was_bent_comes_back(spiky):
    batch = whole(windows_of(spiky))
    bent, middle, spread = bend(batch)
    for name in ("past_target", "future_target"):
        back = unbend(getattr(bent, name), middle, spread).float()
        torch.testing.assert_close(back, getattr(batch, name), atol=1e-5, rtol=1e-5)


def test_the_future_moves_nothing(spiky):
    batch = whole(windows_of(spiky))
    other = batch._replace(future_target=batch.future_target + 100)
    for one, two in zip(bend(batch)[1:], bend(other)[1:], strict=True):
        assert torch.equal(one, two)
    assert torch.equal(bend(batch)[0].past_target, bend(other)[0].past_target)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_level_and_size_of_a_window_are_taken_off(scale, spiky):
    batch = whole(windows_of(spiky))
    other = batch._replace(
        past_target=batch.past_target * scale, future_target=batch.future_target * scale
    )
    torch.testing.assert_close(
        bend(other)[0].past_target, bend(batch)[0].past_target, atol=1e-4, rtol=1e-4
    )


@pytest.mark.parametrize(
    ("past", "middle", "spread"),
    [
        ([5.0] * 8, 5.0, 1.0),
        ([1e6 + 0.01] * 8, 1e6, 1.0),
        ([np.nan] * 8, 0.0, 1.0),
        ([0.0] * 7 + [8.0], 0.0, 0.1 * 8 / np.sqrt(8)),  # a median deviation of 0
        ([np.nan] * 5 + [1.0, 2.0, 4.0], 2.0, 1 / 0.67449),
    ],
    ids=["constant", "far from 0", "unobserved", "mostly alike", "gaps"],
)
def test_every_window_has_a_spread(past, middle, spread):
    panel = read_panel(np.array([*past, 1.0, 2.0, 3.0]), policy=Policy(missing="mask"))
    windows = WindowDataset(panel, **CUT)
    batch = windows[0]
    scales = PanelScales.fit(panel).target
    raw = batch.past_target * float(scales.scale[0, 0]) + float(scales.offset[0, 0])
    raw = batch._replace(past_target=raw.masked_fill(~batch.past_observed, 0))
    bent, found_middle, found_spread = bend(raw)
    assert found_middle.item() == pytest.approx(middle, rel=1e-4, abs=1e-4)
    assert found_spread.item() == pytest.approx(spread, rel=1e-3)
    assert bent.past_target[~batch.past_observed].eq(0).all()
    assert bent.past_target.isfinite().all()


def test_a_data_set_bends_what_it_gathers(spiky):
    plain, bent = windows_of(spiky), windows_of(spiky, bent=True)
    expected = bend(whole(plain))[0]
    for one, two in zip(whole(bent), expected, strict=True):
        assert torch.equal(one, two)


def test_lags_are_bent_as_the_targets_are(spiky):
    plain, bent = (windows_of(spiky, lags=[3, 5], bent=one) for one in (False, True))
    batch, found = whole(plain), whole(bent)
    _, middle, spread = bend(batch)
    back = unbend(found.known[..., -4:], middle.repeat(1, 1, 2), spread.repeat(1, 1, 2)).float()
    seen = batch.known_present[..., -4:]
    torch.testing.assert_close(back[seen], batch.known[..., -4:][seen], atol=1e-5, rtol=1e-5)
    assert found.known[..., -4:][~seen].eq(0).all()
    calendar = plain.sizes.known - 4
    assert torch.equal(found.known[..., :calendar], batch.known[..., :calendar])
