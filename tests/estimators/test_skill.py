"""The skill is taken from the forecasts of the best epoch: nothing is forecast again."""

import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, Policy, Schema, Training
from tsformer.estimators.skill import ValidationSkill
from tsformer.models import Informer, PatchTransformer, Transformer
from tsformer.panels import Log1p, Shift

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")

TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8}


def sales(missing=False):
    random = np.random.default_rng(0)
    rows = np.arange(120)
    frame = pd.DataFrame(
        {
            "shop": np.repeat(["a", "b"], 120),
            "day": np.tile(pd.date_range("2024-01-01", periods=120), 2),
            "sold": np.tile(20 + 5 * np.sin(rows * 2 * np.pi / 7), 2) + random.normal(size=240),
            "late": random.normal(size=240),
        }
    )
    if missing:
        frame.loc[random.integers(0, 240, 20), "sold"] = np.nan
    return frame


@pytest.fixture
def both(monkeypatch):
    """A fit, its skill as it was shown by epoch, and as the windows forecast anew have it."""

    def run(forecaster, frame):
        found = {}
        of = ValidationSkill.of

        def twice(self, epoch, validation):
            found["shown"] = dict(self._by_epoch)
            self._by_epoch = {}
            found["anew"] = of(self, epoch, validation)
            self._by_epoch = found["shown"]
            return of(self, epoch, validation)

        monkeypatch.setattr(ValidationSkill, "of", twice)
        found["fitted"] = forecaster.fit(frame)
        return found

    return run


CASES = {
    "as it is": {},
    "transforms": {"transforms": [Log1p(), Shift(lag=7)], "nonnegative": True},
    "a gap": {"gap": 2},
    "lags": {"lags": [7, 14]},
    "asinh": {"scaling": "asinh"},
    "last": {"scaling": "last"},
    "robust": {"scaling": "robust"},
    "late": {"schema": Schema(series="shop", past="late", late={"late": 2})},
    "masked": {"policy": Policy(missing="mask")},
    "autoregressive": {"model": Transformer(encoder_layers=1, decoding="autoregressive", **TINY)},
    "patches": {"model": PatchTransformer(patch=4, stride=4, encoder_layers=1, **TINY)},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_skill_shown_is_that_of_forecasts_made_anew(case, both):
    given = {
        "model": Informer(encoder_layers=1, decoder_layers=1, **TINY),
        "horizon": 3,
        "context": 14,
        "schema": Schema(series="shop", target="sold"),
        "training": Training(epochs=2, learning_rate=1e-2),
    }
    given = {**given, **case}
    found = both(Forecaster(**given), sales(missing="policy" in case))
    fitted = found["fitted"]
    assert set(found["shown"]) == set(fitted.history_["epoch"])
    assert found["anew"] == pytest.approx(found["shown"][fitted.best_epoch_], abs=1e-5)
    assert fitted.skill_ == found["shown"][fitted.best_epoch_]
    assert len(set(found["shown"].values())) > 1


def test_a_fit_forecasts_each_validation_window_once_an_epoch(monkeypatch):
    seen = []
    build = Informer.build

    def counted(self, sizes, head):
        network = build(self, sizes, head)
        network.register_forward_hook(
            lambda one, given, _: None if one.training else seen.append(len(given[0].origin))
        )
        return network

    monkeypatch.setattr(Informer, "build", counted)
    forecaster = Forecaster(
        Informer(encoder_layers=1, decoder_layers=1, skip=False, **TINY),
        horizon=3,
        context=14,
        schema=Schema(series="shop", target="sold"),
        training=Training(epochs=3, patience=None, validation=24),
    ).fit(sales())
    assert np.isfinite(forecaster.skill_)
    assert sum(seen) == 4 * 2 * 22  # epochs 0 to 3, two series, 22 windows


def test_in_mixed_precision_the_windows_are_forecast_as_they_will_be(both):
    training = Training(epochs=1, precision="bf16-mixed")
    given = {"horizon": 3, "context": 14, "training": training}
    found = both(Forecaster(Informer(**TINY), **given), sales()[["day", "sold"]][:120])
    assert found["shown"] == {}
    assert found["fitted"].skill_ == found["anew"]
