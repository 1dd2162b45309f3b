"""scikit-learn's own suite: all of it but two checks, which contradict what a series is."""

import pytest
import registry
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from tsformer import Forecaster

MODELS = registry.gathered(registry.MODELS, "laws")
# one in closed form, one by gradient; then each without weights
ESTIMATORS = [
    Forecaster(MODELS["linear"], horizon=1),
    Forecaster(MODELS["informer"], horizon=1, training=registry.ONE),
    *(
        clone(one).set_params(horizon=1)
        for one in registry.gathered(registry.BASELINES, "forecasters").values()
    ),
]
EXPECTED = {
    "check_methods_sample_order_invariance": "the order of the rows is the meaning of a series",
    "check_methods_subset_invariance": "a forecast needs the rows before it",
}


@pytest.mark.filterwarnings("ignore:on the validation rows")
@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda estimator: EXPECTED,
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_check_is_switched_off_by_a_tag(estimator):
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.two_d_array
    assert not tags.no_validation
    assert not tags.non_deterministic
    assert not tags._skip_test
