"""``--holidays``: days off by country or by date, on every command that reads a file."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tsformer.estimators import Forecaster

Run = Any
PLAIN = ("-n", 7, "--target", "sold", "--no-plot")


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A year of days on which a shop in Germany sells, but for its days off."""
    days = pd.date_range("2023-04-01", periods=360)
    off = pd.to_datetime(["2023-04-07", "2023-04-10", "2023-05-01", "2023-05-18", "2023-05-29",
                          "2023-10-03", "2023-12-25", "2023-12-26", "2024-01-01"])  # fmt: skip
    noise = np.random.default_rng(0).normal(size=360)
    frame = pd.DataFrame({"day": days, "sold": np.where(days.isin(off), 0, 100 + noise)})
    path = tmp_path / "closed.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_next_day_off_is_forecast(run: Run, closed: Path) -> None:
    """The data end on 25 March 2024; Good Friday is the 29th."""
    done = run("forecast", closed, *PLAIN, "--model", "linear", "--holidays", "DE")
    assert done.code == 0, done.err
    assert "holidays  DE, 9 days off in the data, the next one on 2024-03-29" in done.out
    sold = pd.read_csv("forecast.csv", index_col="day")["sold"]
    assert sold["2024-03-29"] < 30 and sold["2024-03-28"] > 80
    assert run("forecast", closed, *PLAIN, "--model", "linear").code == 0
    assert pd.read_csv("forecast.csv")["sold"].min() > 80


def test_saved_and_tested_and_looked_over(run: Run, closed: Path) -> None:
    said = ("--holidays", "2023-04-07,Germany-Bayern")
    common = ("-n", 7, "--target", "sold", "--model", "linear")
    saved = run("fit", closed, *common, *said, "--save", "m.safetensors")
    assert saved.code == 0 and "Germany-Bayern" in saved.out
    frame = pd.read_csv(closed)
    frame.iloc[:200].to_csv("earlier.csv", index=False)  # up to 17 October
    for source in ((), ("earlier.csv",)):
        assert run("predict", "m.safetensors", *source).code == 0
    made = run("predict", "m.safetensors").out.splitlines()
    assert float(made[4].split(",")[1]) < 60 < float(made[3].split(",")[1])
    assert "Germany-Bayern" in run("check", closed, *said).out
    assert run("backtest", closed, *common, "--folds", 2, *said).code == 0


@pytest.mark.parametrize("command", ["forecast", "fit", "backtest", "tune"])
def test_no_such_country_is_said_before_any_training(
    run: Run, closed: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, panel: Any) -> None:
        pytest.fail("it was trained")

    monkeypatch.setattr(Forecaster, "_fit", fail)
    more = ("--save", "m.safetensors") if command == "fit" else ()
    done = run(command, closed, "-n", 7, "--holidays", "Germny", *more)
    assert done.code == 2 and done.err.count("\n") == 1
    assert "close: Germany" in done.err and done.err.endswith("--holidays DE.\n")


def test_whole_numbers_have_no_days_off(run: Run) -> None:
    pd.DataFrame({"y": np.arange(40.0) % 7}).to_csv("rows.csv", index=False)
    done = run("forecast", "rows.csv", "-n", 2, "--holidays", "DE")
    assert done.code == 2 and "whole numbers" in done.err and "--known KNOWN" in done.err


def test_a_model_that_does_not_look_at_them_says_so(run: Run, closed: Path) -> None:
    done = run("forecast", closed, *PLAIN, "--model", "seasonal-naive", "--holidays", "DE")
    assert done.code == 0
    assert "SeasonalNaive looks at the target alone; not used: holidays" in done.err
