from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import torch
from jaxtyping import config
from torch import Tensor, nn

from tsformer.heads import Head, Point
from tsformer.models import Network
from tsformer.panels import Panel
from tsformer.reading import read_panel
from tsformer.training import ForecastModule, Training, WindowDataModule, train
from tsformer.windows import Batch, Sizes


class Level(Network):
    """One weight: what every step and target is forecast to be, in units of the window."""

    def __init__(self, sizes: Sizes, head: Head, level: float) -> None:
        super().__init__()
        self.sizes = sizes
        self.shape = (sizes.horizon, sizes.target, head.width)
        self.level = nn.Parameter(torch.tensor(level))
        self.prepared: tuple[int, int] | None = None

    def forward(self, batch: Batch) -> Tensor:
        return self.level.expand(len(batch.origin), *self.shape)

    def prepare(self, train, validation, normaliser) -> None:
        self.prepared = tuple(
            sum(len(batch.origin) for batch in loader) for loader in (train, validation)
        )


@pytest.fixture
def unchecked():
    """Switch the shape and type checks off: they draw from Python's generator."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    steps = np.arange(90)
    values = np.sin(steps / 1.7) * 10 + 50 + random.normal(size=90)
    return pd.DataFrame({"day": pd.date_range("2024-01-01", periods=90), "y": values})


@pytest.fixture
def panel(frame: pd.DataFrame) -> Panel:
    return read_panel(frame)


@pytest.fixture
def make_data(panel: Panel) -> Callable[..., WindowDataModule]:
    def make(**changes: object) -> WindowDataModule:
        return WindowDataModule(
            changes.pop("panel", panel), **{"context": 8, "horizon": 2, **changes}
        )

    return make


@pytest.fixture
def train_level(make_data: Callable[..., WindowDataModule]) -> Callable[..., ForecastModule]:
    """Train a one-weight network; returns the module."""

    def run(level: float = 0.0, scaling: str = "window", data=None, **settings) -> ForecastModule:
        data = data or make_data()
        settings = Training(**{"epochs": 3, "schedule": "constant", **settings})
        head = Point("squared")
        network = Level(data.sizes, head, level)
        module = ForecastModule(network, head, settings, scaling=scaling)
        train(module, data, settings)
        return module

    return run
