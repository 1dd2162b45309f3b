"""Exit codes, and errors of one line."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tsformer.cli.exits import exit_code
from tsformer.cures import Cure
from tsformer.errors import (
    DownloadFailed,
    ForecastError,
    MissingDependency,
    ModelFileError,
    ParameterError,
    TrainingFailed,
    WrongTime,
    WrongType,
)

Run = Any


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (WrongType("a column"), 1),
        (DownloadFailed("a file"), 1),
        (ModelFileError("a file"), 1),
        (MissingDependency("pip install it"), 1),
        (FileNotFoundError(2, "No such file", "x.csv"), 1),
        (ParameterError("a value"), 2),
        (TrainingFailed("NaN"), 3),
        (ForecastError("inf"), 3),
        (ZeroDivisionError("division by zero"), 70),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes(error: BaseException, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise error

    assert exit_code(fail) == code
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and err.count("\n") == 1


def test_a_traceback_only_for_who_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TSFORMER_DEBUG", "1")

    def fail() -> None:
        raise WrongType("two\nlines")

    assert exit_code(fail) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err and err.endswith("error: two lines\n")


def test_warnings_are_notes_once(capsys: pytest.CaptureFixture[str]) -> None:
    import warnings

    def warn() -> None:
        for _ in range(2):
            warnings.warn("take\ncare", stacklevel=1)
        warnings.warn("not for you", DeprecationWarning, stacklevel=1)

    assert exit_code(warn) == 0
    assert capsys.readouterr().err == "note: take care\n"


def test_cures_are_options_and_python_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise WrongTime(
            "stamps are text.",
            Cure("Say so", {"schema__time": "the day"}, code="frame", option='--time-format "%d"'),
            Cure("Or convert them", code='pd.to_datetime(frame["the day"])'),
        )

    assert exit_code(fail) == 1
    said = 'error: stamps are text. Say so: --time "the day" --time-format "%d".\n'
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("forecast", "sales.csv"), 2, "--horizon"),
        (("forecast", "sales.csv", "-n", 0), 2, "--horizon"),
        (("forcast", "sales.csv"), 2, "Did you mean 'forecast'?"),
        (("forecast", "sails.csv", "-n", 3), 1, "'sales.csv'"),
        (("forecast", "beijing_aer", "-n", 3), 1, "'beijing_air'"),
        (("forecast", "sales.csv", "-n", 3, "--model", "informr"), 2, "informer"),
        (("forecast", "sales.csv", "-n", 3, "--target", "sould"), 1, "'sold'"),
        (("forecast", "sales.csv", "-n", 3, "--set", "training__epoch=3"), 2, "'epochs'"),
        (("forecast", "sales.csv", "-n", 3, "--set", "model__d_model=wide"), 2, "a number"),
        (("forecast", "sales.csv", "-n", 3, "--set", "model=wide"), 2, "--model"),
        (("forecast", "sales.csv", "-n", 3, "--set", "epochs"), 2, "PATH=VALUE"),
        (("forecast", "sales.csv", "-n", 3, "--set", "context__x=3"), 2, "no parameters"),
        (("forecast", "sales.csv", "-n", 3, "--epochs", -1), 2, "epochs"),
        (("forecast", "sales.csv", "-n", 3, "--quantiles", "10,90"), 2, "inside (0, 1)"),
        (("forecast", "sales.csv", "-n", 3, "--missing", "drop"), 2, "'mask'"),
        (("forecast", "sales.csv", "-n", 3, "--output", "nowhere/f.csv"), 2, "folder"),
        (("forecast", "sales.csv", "-n", 3, "--output", "f.xlsx"), 2, ".csv"),
        (("forecast", "sales.csv", "-n", 3, "--plot", "f.txt"), 2, ".png"),
        (("forecast", "sales.csv", "-n", 3, "--plot", "nowhere/f.png"), 2, "'nowhere'"),
        (("forecast", "sales.csv", "-n", 150), 1, "120 rows"),
        (("forecast", "empty.csv", "-n", 3), 1, "empty.csv"),
        (("predict", "sales.csv"), 1, "sales.csv"),
        (("predict", "absent.safetensors"), 1, "absent.safetensors"),
    ],
)
def test_an_error_is_one_line_with_a_cure(
    run: Run, sales: Path, arguments: tuple[object, ...], code: int, said: str
) -> None:
    Path("empty.csv").touch()
    done = run(*arguments)
    assert done.code == code, done.err
    assert done.err.startswith("error: ") and done.err.count("\n") == 1
    assert said in done.err
    assert not Path("forecast.csv").exists()


def test_help_and_version_load_nothing_heavy() -> None:
    code = """
import sys
from tsformer.cli import main
for arguments in (["--help"], ["forecast", "--help"], ["--version"]):
    try:
        main(arguments)
    except SystemExit as stop:
        assert not stop.code
heavy = {"torch", "pytorch_lightning", "optuna", "matplotlib", "pandas", "sklearn", "numpy"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "forecast" in done.stdout and "--horizon" in done.stdout
