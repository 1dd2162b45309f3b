"""scikit-learn's own suite: all of it but two checks, which contradict what a series is."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tsformer import Drift, Forecaster, SeasonalNaive, Training
from tsformer.models import Informer, Linear

TINY = Informer(d_model=8, n_heads=1, d_ff=8, encoder_layers=1)

EXPECTED = {
    "check_methods_sample_order_invariance": "the order of the rows is the meaning of a series",
    "check_methods_subset_invariance": "a forecast needs the rows before it",
}


@pytest.mark.filterwarnings("ignore:on the validation rows")
@parametrize_with_checks(
    [
        Forecaster(Linear(), horizon=1),
        Forecaster(TINY, horizon=1, training=Training(epochs=1)),
        SeasonalNaive(horizon=1),
        Drift(horizon=1),
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [Forecaster(Linear(), horizon=1), Drift(horizon=1)])
def test_no_check_is_switched_off_by_a_tag(estimator):
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.two_d_array
    assert not tags.no_validation
    assert not tags.non_deterministic
    assert not tags._skip_test
