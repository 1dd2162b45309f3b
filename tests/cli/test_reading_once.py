"""A command reads its file into a panel once, whatever it does with it."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tsformer.cli.checking
import tsformer.estimators.contract
import tsformer.reading
from tsformer.estimators import SeasonalNaive
from tsformer.reading import read_panel

Run = Any


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each reading saw."""
    rows: list[int] = []

    def counted(data: Any, *given: Any, **more: Any) -> Any:
        rows.append(len(data))
        return read_panel(data, *given, **more)

    for home in (tsformer.reading, tsformer.estimators.contract):
        monkeypatch.setattr(home, "read_panel", counted)
    return rows


def test_a_forecast_with_its_picture(run: Run, sales: Path, readings: list[int]) -> None:
    common = ("-n", 3, "--target", "sold,price", "--model", "linear")
    assert run("forecast", sales, *common).code == 0
    assert readings == [120]
    del readings[:]
    assert run("fit", sales, *common, "--save", "m.safetensors").code == 0
    assert readings == [120]
    del readings[:]
    assert run("predict", "m.safetensors", sales, "--plot", "p.png").code == 0
    assert readings == [120]


def test_a_panel_is_fitted_as_its_frame_is(sales: Path) -> None:
    frame = pd.read_csv(sales, parse_dates=["day"])
    panel = read_panel(frame)
    by_panel = SeasonalNaive(horizon=3).fit(panel)
    by_frame = SeasonalNaive(horizon=3).fit(frame)
    pd.testing.assert_frame_equal(by_panel.predict(), by_frame.predict())
    pd.testing.assert_frame_equal(by_panel.predict(panel.tail(60)), by_frame.predict(frame[60:]))
