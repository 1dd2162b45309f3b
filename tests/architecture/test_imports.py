"""What importing loads: heavy packages come only when something needs them."""

import subprocess
import sys

import pytest

HEAVY = ["torch", "pytorch_lightning", "optuna", "matplotlib", "pandas", "sklearn"]


def loaded_by(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded once it ran ``code``."""
    report = f"import sys; print('loaded', *sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import tsformer; tsformer.__version__; dir(tsformer)") == set()


@pytest.mark.parametrize(
    "name", ["Schema", "Policy", "RollingOrigin", "Holdout", "load_dataset", "Dataset"]
)
def test_names_about_data_load_no_torch(name: str) -> None:
    assert not loaded_by(f"from tsformer import {name}") & {"torch", "pytorch_lightning"}


@pytest.mark.parametrize("name", ["Forecaster", "SeasonalNaive", "Training", "backtest"])
def test_other_names_load_neither_lightning_nor_optuna_nor_matplotlib(name: str) -> None:
    late = {"pytorch_lightning", "optuna", "matplotlib"}
    assert not loaded_by(f"from tsformer import {name}") & late


def test_help_loads_no_torch() -> None:
    code = """
import runpy, sys
sys.argv = ["tsformer", "--help"]
try:
    runpy.run_module("tsformer", run_name="__main__")
except SystemExit as stop:
    assert not stop.code
"""
    assert not loaded_by(code) & {"torch", "pytorch_lightning", "optuna", "matplotlib"}
