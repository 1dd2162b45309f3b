"""Twenty-two files as people have them: a forecast from the horizon alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Run = Any

NAMES = [
    "AirPassengers.csv", "ILINet.csv.gz", "SF_hospital_load.csv.gz", "ausbeer.csv",
    "australian_tourism.csv", "births_us.csv.gz", "gasrate_co2.csv", "heart_rate.csv",
    "ice_cream_heater.csv", "monthly-milk.csv", "monthly-sunspots.csv", "price_ercot_dam.csv.gz",
    "retail_sales.csv", "river_flow_saugeen.csv.gz", "taxi_new_york_passengers.csv.gz",
    "taylor.csv", "temps.csv", "us_gasoline.csv", "wineind.csv", "woolyrnq.csv",
    "wp_log_peyton_manning.csv", "yosemite_temps.csv.gz",
]  # fmt: skip
SHORT = ("--epochs", 1, "--max-time", 10)  # what is tested is that it runs, not how good it is

pytestmark = [pytest.mark.shared_data, pytest.mark.slow]


def findings(text: str, level: str) -> list[str]:
    """Warnings about values, without how they are introduced."""
    return [line.removeprefix(level) for line in text.splitlines() if line.startswith(level)]


@pytest.mark.parametrize("name", NAMES)
def test_a_horizon_is_all_that_is_needed(run: Run, shared_data: Path, name: str) -> None:
    done = run("forecast", shared_data / "small" / name, "--horizon", 12, *SHORT)
    assert done.code == 0, done.err
    made = pd.read_csv("forecast.csv")
    assert len(made) == 12
    numbers = made.select_dtypes("number")
    assert np.isfinite(numbers.to_numpy()).all()
    for low in (column for column in numbers if column.endswith("_q0.1")):
        assert (made[low] <= made[low.replace("_q0.1", "_q0.9")]).all()
    assert Path("forecast.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", NAMES)
def test_check_and_forecast_say_the_same(run: Run, shared_data: Path, name: str) -> None:
    file = shared_data / "small" / name
    plain = ("--model", "seasonal-naive", "--quantiles", "", "--no-plot")
    forecast = run("forecast", file, "--horizon", 12, *plain)
    assert forecast.code == 0, forecast.err
    checked = run("check", file, "--horizon", 12, "--context", 12)
    warnings = findings(checked.out, "warning: ")
    assert checked.code == bool(warnings), checked.out
    assert findings(forecast.err, "note: ") == warnings + findings(checked.err, "note: ")
