from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, Training
from tsformer.models import Informer, Linear, Transformer

SETTINGS = {*Training().get_params(), *Training.grouped}
TINY = {"d_model": 8, "n_heads": 1, "d_ff": 8, "encoder_layers": 1}


def daily(rows: int, *, seed: int = 0) -> pd.DataFrame:
    """A wave whose period is no whole number of days, a trend and noise."""
    random, steps = np.random.default_rng(seed), np.arange(rows)
    values = 10 * np.sin(steps * 2 * np.pi / 9.3) + 0.05 * steps + random.normal(size=rows) + 50
    return pd.DataFrame({"day": pd.date_range("2024-01-01", periods=rows), "y": values})


@pytest.fixture
def frame() -> pd.DataFrame:
    return daily(100)


@pytest.fixture
def long() -> pd.DataFrame:
    """Three series of different lengths, not in the order of their names."""
    parts = [daily(70 + 10 * at, seed=at).assign(id=name) for at, name in enumerate("bca")]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def linear() -> Callable[..., Forecaster]:
    return lambda **given: Forecaster(Linear(), **{"horizon": 3, "context": 12, **given})


@pytest.fixture
def tiny() -> Callable[..., Forecaster]:
    """A maker of forecasters with a small network and few epochs."""

    def make(kind: str = "informer", *, model: dict | None = None, **given: object) -> Forecaster:
        epochs = {key: given.pop(key) for key in list(given) if key in SETTINGS}
        kinds = {"informer": Informer, "transformer": Transformer}
        return Forecaster(
            kinds[kind](**{**TINY, **(model or {})}),
            **{"horizon": 3, "context": 12, **given},
            training=Training(**{"epochs": 1, **epochs}),
        )

    return make
