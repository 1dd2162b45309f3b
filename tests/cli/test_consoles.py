"""Consoles that lack letters: the forecast is written and the program ends well."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_console_without_the_letters_of_a_name(tmp_path: Path, encoding: str) -> None:
    days = pd.date_range("2024-01-01", periods=40)
    frame = pd.DataFrame({"日付": days, "売上": range(40), "größe": range(40, 80)})
    frame.to_csv(tmp_path / "売.csv", index=False, encoding="utf-8")
    settings = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "tsformer", "forecast", "売.csv", "-n", "2"]
    done = subprocess.run(
        [*command, "--model", "drift"],
        cwd=tmp_path,
        env={**settings, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"forecast written to forecast.csv" in done.stdout
    made = pd.read_csv(tmp_path / "forecast.csv", encoding="utf-8")
    assert made.columns[:2].tolist() == ["日付", "売上"] and made["売上"].tolist() == [40, 41]
    assert (tmp_path / "forecast.png").stat().st_size > 10_000
