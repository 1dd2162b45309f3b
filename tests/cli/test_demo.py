"""The demo, in small: what it prints runs and does the same."""

import ast
import re
import warnings
from pathlib import Path

import pandas as pd
import pytest

from tsformer.cli.demo import Settings, program, run_demo

TINY = Settings(rows=400, horizon=6, context=24, epochs=1, batch_size=64, max_time=60, folds=2)


def test_what_is_printed_is_python_with_the_demos_numbers() -> None:
    ast.parse(program())
    assert "tail(17520)" in program() and "horizon=24" in program()


def test_the_printed_python_does_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first = tmp_path / "first"
    first.mkdir()
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # too little to learn
        run_demo(TINY, first)
        out = capsys.readouterr().out
        printed = "\n".join(
            re.findall(r"^    (.*)$", out.partition("The same in Python:")[2], re.M)
        )
        exec(compile(printed, "printed", "exec"), {})
    assert "Informer" in out and "SeasonalNaive" in out and "MAE" in out
    made = pd.read_csv(first / "forecast.csv", parse_dates=["time"])
    assert made.columns.tolist() == ["time", "pm2.5", "pm2.5_q0.1", "pm2.5_q0.9", "actual"]
    assert len(made) == 6 and made.drop(columns=["time", "actual"]).notna().all(axis=None)
    for name in ("forecast.csv", "forecast.png"):
        assert Path(name).read_bytes() == (first / name).read_bytes()
