import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, root_mean_squared_error

from tsformer.errors import ParameterError
from tsformer.evaluation import METRICS
from tsformer.evaluation.metrics import Observed, Totals, checked_metrics

TRUTH = np.array([[[2.0], [4.0], [np.nan]], [[0.0], [-2.0], [10.0]]])
POINT = np.array([[[1.0], [4.0], [9.0]], [[3.0], [-2.0], [6.0]]])
# the row of each metric
BY_HAND = {
    "mae": (1 + 0 + 3 + 0 + 4) / 5,
    "mse": (1 + 0 + 9 + 0 + 16) / 5,
    "rmse": np.sqrt(26 / 5),
    "mase": 8 / 5 / 2,
    "wape": 8 / (2 + 4 + 0 + 2 + 10),
    "coverage": 3 / 5,
    "scaled_mae": 8 / 5 / 4,
    "scaled_mse": 26 / 5 / 16,
    # e = y - f at 0.1: 3 2 -1 2 6, at 0.5: 1 0 -3 0 4, at 0.9: -1 -2 -5 -2 2
    "pinball": (0.3 + 0.2 + 0.9 + 0.2 + 0.6 + 4.0 + 0.1 + 0.2 + 0.5 + 0.2 + 1.8) / 15,
}


def observed(truth=TRUTH, point=POINT):
    spread = np.stack([point - 2, point, point + 2], axis=-1)
    units = np.full((len(truth), truth.shape[2]), 2.0)
    return Observed(truth, point, spread, np.array([0.1, 0.5, 0.9]), units, 2 * units)


def totals_of(names, seen=None, folds=(0, 1), count=2):
    seen = observed() if seen is None else seen
    _, horizon, targets = seen.truth.shape
    totals = Totals(names, folds=count, targets=targets, horizon=horizon)
    totals.add(seen, np.array(folds))
    return totals


@pytest.mark.parametrize(("name", "value"), BY_HAND.items(), ids=BY_HAND)
def test_each_by_hand(name, value):
    assert totals_of([name]).overall(name) == pytest.approx(value)


def test_every_metric_is_tested_and_described():
    assert set(METRICS) == set(BY_HAND)
    assert all(metric.doc and metric.label for metric in METRICS.values())


def test_by_fold_and_by_step():
    totals = totals_of(["mae"])
    assert totals.by_fold("mae").tolist() == [[0.5], [7 / 3]]
    assert totals.by_step("mae").tolist() == [2.0, 0.0, 4.0]


def test_a_stream_gives_what_all_at_once_gives():
    rng = np.random.default_rng(0)
    truth, point = rng.normal(size=(2, 50, 4, 2))
    names = [name for name in METRICS]
    whole = totals_of(names, observed(truth, point), folds=np.arange(50) % 2)
    parts = Totals(names, folds=2, targets=2, horizon=4)
    for rows in (slice(0, 7), slice(7, 49), slice(49, 50)):
        parts.add(observed(truth[rows], point[rows]), np.arange(50)[rows] % 2)
    for name in names:
        assert parts.overall(name) == pytest.approx(whole.overall(name))
        np.testing.assert_allclose(parts.by_fold(name), whole.by_fold(name))
        np.testing.assert_allclose(parts.by_step(name), whole.by_step(name))
    flat = truth.ravel(), point.ravel()
    assert whole.overall("mae") == pytest.approx(mean_absolute_error(*flat))
    assert whole.overall("rmse") == pytest.approx(root_mean_squared_error(*flat))
    losses = [
        mean_pinball_loss(flat[0], flat[1] + shift, alpha=level)
        for level, shift in ((0.1, -2), (0.5, 0), (0.9, 2))
    ]
    assert whole.overall("pinball") == pytest.approx(np.mean(losses))


def test_nothing_observed_is_nan_and_disturbs_nothing():
    nothing = np.full_like(TRUTH, np.nan)
    totals = totals_of(["mae", "coverage", "wape"], observed(truth=nothing))
    assert np.isnan([totals.overall(name) for name in ("mae", "coverage", "wape")]).all()
    # a forecast that is not scored may be anything
    point = np.where(np.isnan(TRUTH), np.nan, POINT)
    assert totals_of(["mae"], observed(point=point)).overall("mae") == 8 / 5


def test_names_are_checked():
    assert checked_metrics("mae", ()) == ("mae",)
    assert checked_metrics(["mse", "mae", "mse"], ()) == ("mse", "mae")
    with pytest.raises(ParameterError, match="'MASE' is not one; did you mean 'mase'"):
        checked_metrics(["MASE"], ())
    with pytest.raises(ParameterError, match="there are mae, mse"):
        checked_metrics(["accuracy"], ())
    with pytest.raises(ParameterError, match="at least one of"):
        checked_metrics([], ())
    with pytest.raises(ParameterError, match="'pinball' needs at least 1 quantile level:"):
        checked_metrics(["pinball"], ())
    with pytest.raises(ParameterError, match="'coverage' needs at least 2 quantile levels"):
        checked_metrics(["coverage"], (0.5,))


def test_windows_are_kept_on_request_in_the_order_they_came():
    seen = observed()
    kept = Totals(["mae", "rmse"], folds=2, targets=1, horizon=3, keep_windows=True)
    for window in (0, 1, 0):
        part = observed(TRUTH[[window]], POINT[[window]])
        kept.add(part, np.array([window]))
    np.testing.assert_allclose(kept.by_window("mae"), [1 / 2, 7 / 3, 1 / 2])
    np.testing.assert_allclose(kept.by_window("rmse"), np.sqrt([1 / 2, 25 / 3, 1 / 2]))
    two = np.concatenate([TRUTH, TRUTH], axis=2), np.concatenate([POINT, POINT], axis=2)
    both = Totals(["mae"], folds=1, targets=2, horizon=3, keep_windows=True)
    both.add(observed(*two), np.zeros(2, int))
    np.testing.assert_allclose(both.by_window("mae"), [1 / 2, 7 / 3])
    unasked = totals_of(["mae"], seen)
    with pytest.raises(ValueError, match="concatenate"):
        unasked.by_window("mae")


def test_the_ends_of_the_band_are_inside_it():
    point = np.zeros((1, 4, 1))
    truth = np.array([[[-2.0], [2.0], [-2.01], [2.01]]])
    assert totals_of(["coverage"], observed(truth, point), [0], 1).overall("coverage") == 0.5


def test_what_is_no_error_is_not_minimised():
    assert {name for name, metric in METRICS.items() if not metric.error} == {"coverage"}
