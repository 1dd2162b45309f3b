"""Days off move the forecast of every model, and of the linear one as any known covariate does."""

import numpy as np
import pandas as pd
import pytest

import tsformer.models
from tsformer import Forecaster
from tsformer.models import Architecture, Linear
from tsformer.panels import Schema
from tsformer.training import Training

STAMPS = pd.date_range("2020-01-01", periods=700)
OFF = np.random.default_rng(1).random(len(STAMPS)) < 0.08
SALES = 100 - 40.0 * OFF + np.random.default_rng(0).normal(size=len(STAMPS))
DAYS = [str(day.date()) for day in STAMPS[OFF]]
CUT = 600
MODELS = sorted(
    name
    for name in tsformer.models.__all__
    if isinstance(found := getattr(tsformer.models, name), type)
    and issubclass(found, Architecture)
    and found is not Architecture
)


def error_of(model, schema, **columns):
    """Mean absolute error of the 7 days from each of 13 origins that no fit has seen."""
    frame = pd.DataFrame({"y": SALES, **columns}, index=STAMPS)
    forecaster = Forecaster(
        model, horizon=7, context=14, schema=schema, training=Training(epochs=1)
    ).fit(frame[:CUT])
    errors = []
    for origin in range(CUT, len(STAMPS) - 7, 7):
        future = frame[origin : origin + 7]
        known = future[list(columns)] if columns else None
        forecast = forecaster.predict(frame[:origin], future=known)
        errors.append(np.abs(forecast["y"].to_numpy() - future["y"].to_numpy()).mean())
    return float(np.mean(errors))


def test_a_linear_forecast_uses_days_off_as_it_uses_a_known_covariate():
    without = error_of(Linear(), Schema(target="y"))
    told = error_of(Linear(), Schema(target="y", holidays=DAYS))
    known = error_of(Linear(), Schema(target="y", known=["off"]), off=OFF.astype(float))
    assert told < 0.5 * without
    assert told == pytest.approx(known, rel=0.05)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_uses_days_off(name):
    model = getattr(tsformer.models, name)()
    assert error_of(model, Schema(target="y", holidays=DAYS)) < 3
