"""Long runs whose output goes to a file say now and then where they stand; a cut is said."""

import io
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tsformer.cli.progress
from tsformer.cli.progress import Progress, progress
from tsformer.estimators import SeasonalNaive
from tsformer.training import fit as training_fit

Run = Any


def test_a_line_a_while_and_none_once_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    with progress(every=0.01) as state:
        time.sleep(0.05)
        state.row({"epoch": 3, "validation_loss": 0.25})
        time.sleep(0.05)
    said = out.getvalue()
    assert said.startswith("note: running for 0 s\n")
    assert said.endswith("note: running for 0 s: epoch 3 done, validation loss 0.25\n")
    time.sleep(0.03)
    assert out.getvalue() == said


def test_short_runs_and_those_that_are_watched_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for out, every in ((io.StringIO(), None), (Terminal(), 0.001)):
        monkeypatch.setattr(sys, "stderr", out)
        with progress(every=every):
            time.sleep(0.01)
        assert out.getvalue() == ""


def test_what_is_not_trained_is_left_alone() -> None:
    Progress().follow(SeasonalNaive(horizon=2))
    assert Progress().said(7) == "running for 7 s"


@pytest.mark.parametrize("command", ["forecast", "backtest", "tune"])
def test_every_command_that_fits_says_where_it_stands(
    run: Run, sales: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tsformer.cli.progress, "_EVERY", 0.001)
    more = {"tune": ("--trials", 1), "backtest": ("--folds", 1), "forecast": ("--no-plot",)}
    options = ("-n", 3, "--target", "sold", "--model", "linear", *more[command])
    done = run(command, sales, *options)
    assert done.code == 0 and "note: running for" in done.err
    assert "running" not in done.out


def test_a_fit_that_was_cut_short_is_said_in_the_summary(run: Run, sales: Path) -> None:
    options = ("--model", "informer", "--context", 14, "--max-time", 0.01, "--no-plot")
    tiny = [f"model__{name}=8" for name in ("d_model", "d_ff")] + ["model__n_heads=1"]
    sets = [word for one in tiny for word in ("--set", one)]
    done = run("forecast", sales, "-n", 3, "--target", "sold", *options, *sets)
    assert done.code == 0, done.err
    assert "  cut short  " in done.out and "max_time=0.01 seconds were not enough" in done.err


def test_a_notebook_without_widgets_has_no_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr(training_fit, "find_spec", lambda name: None)
    assert training_fit._progress("auto") == ()
