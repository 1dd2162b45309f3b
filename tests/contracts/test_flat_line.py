"""No model may be a flat line: on what can be learned, each beats seasonal persistence."""

import numpy as np
import pandas as pd
import pytest
import registry
from sklearn.base import clone

from tsformer import Forecaster, Training, models
from tsformer.models import Architecture

MODELS = registry.gathered(registry.MODELS, "learners")
BARE = registry.gathered(registry.MODELS, "bare")
ROWS, TEST = 200, 40
STEPS = np.arange(ROWS)
NOISE = np.random.default_rng(0).normal(size=ROWS)
PATTERNS = {
    "sine": 10 * np.sin(2 * np.pi * STEPS / 9.3) + 0.3 * NOISE,
    "trend": 0.5 * STEPS + 5 * np.sin(2 * np.pi * STEPS / 7) + 0.3 * NOISE,
    "steps": np.where(STEPS % 7 < 3, 10.0, 0.0) + NOISE,
}


def persistence():
    """A forecaster of the last season."""
    return clone(registry.gathered(registry.BASELINES, "forecasters")["seasonal_naive"]).set_params(
        horizon=7
    )


def test_every_public_model_is_here():
    assert {type(model) for model in MODELS.values()} == registry.public(models, Architecture)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", MODELS)
def test_what_can_be_learned_is_learned(name, pattern):
    days = pd.date_range("2024-01-01", periods=ROWS)
    data = pd.DataFrame({"day": days, "y": PATTERNS[pattern]})
    train = data[:-TEST]
    training = Training(epochs=4, learning_rate=5e-3)
    forecaster = Forecaster(MODELS[name], horizon=7, context=21, training=training).fit(train)
    naive = persistence().fit(train)
    assert forecaster.score(data) > naive.score(data)
    assert forecaster.skill_ > 0
    forecast = forecaster.predict()["y"]
    assert forecast.std() > 0.3 * data["y"][-7:].std()


@pytest.mark.parametrize("name", BARE)
def test_a_wave_is_learned_without_the_skip(name):
    rows = 400  # recurrent networks need some hundreds of steps
    noise = np.random.default_rng(0).normal(size=rows)
    wave = 10 * np.sin(2 * np.pi * np.arange(rows) / 9.3) + 0.3 * noise
    data = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=rows), "y": wave})
    training = Training(epochs=8, learning_rate=1e-2, batch_size=8)
    fit = {"horizon": 7, "context": 21, "training": training}
    forecaster = Forecaster(BARE[name], **fit).fit(data[:-TEST])
    naive = persistence().fit(data[:-TEST])
    assert forecaster.score(data) > 0.5 * naive.score(data)  # scores are minus an error
