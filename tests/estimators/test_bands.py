"""Bands are as wide as errors are, however early training ends."""

import numpy as np
import pandas as pd
import pytest
import registry
from sklearn.base import clone

from tsformer import Forecaster, Training
from tsformer.estimators import MaskedPretrainer
from tsformer.models import MaskedTransformer

FORECASTERS = registry.gathered(registry.MODELS, "forecasters")
WITHOUT_SKIP = {
    f"{name}_without_skip": clone(forecaster).set_params(model__skip=False)
    for name, forecaster in FORECASTERS.items()
    if getattr(forecaster.model, "skip", False)
}
HEADS = {
    name: head
    for name, head in registry.gathered(registry.HEADS, "networks").items()
    if head.has_spread
}
CUT = 200

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")


def noisy(rows: int) -> np.ndarray:
    steps = np.arange(rows)
    noise = np.random.default_rng(5).normal(size=rows)
    return 50 + 10 * np.sin(steps * 2 * np.pi / 9.3) + 3 * noise


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("epochs", [0, 1])
@pytest.mark.parametrize("name", [*FORECASTERS, *WITHOUT_SKIP])
def test_a_band_is_calibrated_whatever_the_epoch(name, epochs, head):
    training = Training(epochs=epochs, validation=60)
    forecaster = clone({**FORECASTERS, **WITHOUT_SKIP}[name])
    assert 0.65 <= covered(forecaster.set_params(head=head, training=training)) <= 0.95


@pytest.fixture(scope="module", params=HEADS.values(), ids=HEADS)
def pretrained(request):
    """Weights of another series, whose bands are those of rebuilt patches."""
    model = MaskedTransformer(**registry.TINY, patch=4)
    pretrainer = MaskedPretrainer(
        model, **registry.FIT, head=request.param, training=Training(epochs=5, learning_rate=1e-2)
    )
    return pretrainer.fit(pd.DataFrame({"y": noisy(150) ** 2})).weights_, request.param


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("epochs", [0, 1])
def test_a_band_of_pretrained_weights_is_calibrated_whatever_the_epoch(pretrained, epochs, skip):
    weights, head = pretrained
    model = MaskedTransformer(**registry.TINY, patch=4, skip=skip)
    training = Training(epochs=epochs, validation=60)
    forecaster = Forecaster(model, **registry.FIT, start=weights, head=head, training=training)
    assert 0.65 <= covered(forecaster) <= 0.95


def covered(forecaster) -> float:
    """The share of what comes after a fit that lies between its levels 0.1 and 0.9."""
    frame = pd.DataFrame({"y": noisy(300)})
    fitted = forecaster.fit(frame.iloc[:CUT])
    origins = np.arange(CUT, len(frame) - registry.HORIZON + 1)
    parts = fitted.forecast(fitted.read(frame), np.zeros_like(origins), origins, levels=(0.1, 0.9))
    inside = []
    for part in parts:
        rows = part.origin[:, None] + np.arange(registry.HORIZON)
        low, high = np.moveaxis(part.quantiles[:, :, 0], -1, 0)
        truth = frame["y"].to_numpy()[rows]
        inside.append((low <= truth) & (truth <= high))
    return np.concatenate(inside).mean()
