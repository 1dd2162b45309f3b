"""No model may be a flat line: on what can be learned, each beats seasonal persistence."""

import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, SeasonalNaive, Training
from tsformer.models import (
    DecoderTransformer,
    Informer,
    InvertedTransformer,
    Linear,
    MaskedTransformer,
    PatchTransformer,
    Recurrent,
    Transformer,
)

TINY = {"d_model": 16, "n_heads": 2, "d_ff": 16, "encoder_layers": 1, "dropout": 0.0}
DECODER = {"patch": 3, "d_model": 16, "n_heads": 2, "d_ff": 16, "layers": 1, "dropout": 0.0}
MODELS = {
    "linear": Linear(),
    "informer": Informer(**TINY),
    "transformer": Transformer(**TINY),
    "autoregressive": Transformer(**TINY, decoding="autoregressive"),
    "linear_last": Linear(centre="last"),
    "linear_split": Linear(decomposition=5),
    "patch": PatchTransformer(**TINY, patch=6, stride=3),
    "inverted": InvertedTransformer(**TINY),
    "recurrent": Recurrent(hidden=16, dropout=0.0),
    "decoder": DecoderTransformer(**DECODER),
    "masked": MaskedTransformer(**TINY, patch=3),
}
BARE = {
    "patch": PatchTransformer(**TINY, patch=6, stride=3, skip=False),
    "patch_joint": PatchTransformer(**TINY, patch=6, stride=3, channels="joint", skip=False),
    "inverted": InvertedTransformer(**TINY, skip=False),
    "decoder": DecoderTransformer(**DECODER, skip=False),
    "masked": MaskedTransformer(**TINY, patch=3, skip=False),
    "gru": Recurrent(hidden=16, dropout=0.0, skip=False),
    "lstm": Recurrent(hidden=16, dropout=0.0, cell="lstm", skip=False),
    "gru_fixed": Recurrent(hidden=16, dropout=0.0, attention=False, skip=False),
}
ROWS, TEST = 200, 40
STEPS = np.arange(ROWS)
NOISE = np.random.default_rng(0).normal(size=ROWS)
PATTERNS = {
    "sine": 10 * np.sin(2 * np.pi * STEPS / 9.3) + 0.3 * NOISE,
    "trend": 0.5 * STEPS + 5 * np.sin(2 * np.pi * STEPS / 7) + 0.3 * NOISE,
    "steps": np.where(STEPS % 7 < 3, 10.0, 0.0) + NOISE,
}


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", MODELS)
def test_what_can_be_learned_is_learned(name, pattern):
    days = pd.date_range("2024-01-01", periods=ROWS)
    data = pd.DataFrame({"day": days, "y": PATTERNS[pattern]})
    train = data[:-TEST]
    training = Training(epochs=4, learning_rate=5e-3)
    forecaster = Forecaster(MODELS[name], horizon=7, context=21, training=training).fit(train)
    naive = SeasonalNaive(horizon=7).fit(train)
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
    naive = SeasonalNaive(horizon=7).fit(data[:-TEST])
    assert forecaster.score(data) > 0.5 * naive.score(data)  # scores are minus an error
