"""Bands are as wide as errors are, however early training ends."""

import numpy as np
import pandas as pd
import pytest
import registry
from sklearn.base import clone

from tsformer import Training

FORECASTERS = {
    name: forecaster
    for name, forecaster in registry.gathered(registry.MODELS, "forecasters").items()
    if getattr(forecaster.model, "skip", forecaster.model.closed_form)
}
HEADS = {
    name: head
    for name, head in registry.gathered(registry.HEADS, "networks").items()
    if head.has_spread
}
CUT = 200


def noisy(rows: int) -> np.ndarray:
    steps = np.arange(rows)
    noise = np.random.default_rng(5).normal(size=rows)
    return 50 + 10 * np.sin(steps * 2 * np.pi / 9.3) + 3 * noise


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("epochs", [0, 1])
@pytest.mark.parametrize("name", FORECASTERS)
def test_a_band_is_calibrated_whatever_the_epoch(name, epochs, head):
    frame = pd.DataFrame({"y": noisy(300)})
    training = Training(epochs=epochs, validation=60)
    fitted = clone(FORECASTERS[name]).set_params(head=head, training=training)
    fitted.fit(frame.iloc[:CUT])
    origins = np.arange(CUT, len(frame) - registry.HORIZON + 1)
    parts = fitted.forecast(fitted.read(frame), np.zeros_like(origins), origins, levels=(0.1, 0.9))
    inside = []
    for part in parts:
        rows = part.origin[:, None] + np.arange(registry.HORIZON)
        low, high = np.moveaxis(part.quantiles[:, :, 0], -1, 0)
        truth = frame["y"].to_numpy()[rows]
        inside.append((low <= truth) & (truth <= high))
    assert 0.65 <= np.concatenate(inside).mean() <= 0.95
