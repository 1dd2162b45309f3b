"""What a new model, head, baseline or metric costs: one file and one row, shown by counting.

Of those there are, each is named where the rule says, and elsewhere only for a reason that stands
here. That a new one needs nothing else is shown by toys that run through the shared tests.
"""

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import registry

from tsformer import Drift, backtest, estimators, heads, models
from tsformer.estimators import BASELINES, PanelForecaster
from tsformer.evaluation.metrics import METRICS, metric
from tsformer.heads import Head
from tsformer.models import Architecture

TOP = Path(__file__).resolve().parents[2]
HERE = Path(__file__).relative_to(TOP).as_posix()
ROW = "tests/support/registry.py"
ROOMS = {"models": Architecture, "heads": Head, "estimators": PanelForecaster}
FORECASTERS = {"Forecaster"}  # fits models; no baseline
# Where the library names one that it need not: a choice, not a list of what there is.
CHOSEN = {
    "Informer": {
        "tsformer/cli/demo.py": "what the demo trains",
        "tsformer/estimators/parameters.py": "the default for much data",
        "tsformer/estimators/forecaster.py": "the example of the docstring",
        "tsformer/training/leaves.py": "a leaf for those who live in Lightning",
    },
    "Linear": {"tsformer/estimators/parameters.py": "the default for little data"},
    "MaskedTransformer": {"tsformer/estimators/pretrainer.py": "what is pretrained"},
    "Transformer": {"tsformer/training/leaves.py": "a leaf for those who live in Lightning"},
    "Quantiles": {
        "tsformer/cli/forecasters.py": "the default",
        "tsformer/cures.py": "how a cure spells a head",
        "tsformer/cli/options.py": "an option of that name",
        "tsformer/estimators/forecaster.py": "the default",
        "tsformer/estimators/pretrainer.py": "the default",
        "tsformer/preflight/describe.py": "the default",
        "tsformer/training/leaves.py": "the default",
    },
    "SeasonalNaive": {
        "tsformer/__init__.py": "public at the top",
        "tsformer/evaluation/candidates.py": "stands beside every backtest",
    },
    "Drift": {"tsformer/__init__.py": "public at the top"},
    "mae": {
        "tsformer/cli/demo.py": "sorts by it",
        "tsformer/time/formats.py": "a month's name",
    },
    "mase": {
        "tsformer/cli/judging.py": "what is tuned by default",
        "tsformer/tuning/objective.py": "the default",
        "tsformer/tuning/search.py": "the default",
    },
}
MOST_IN_A_TEST = 3
"""Models that a test takes as examples; a longer list is one that the next model is absent from."""


def names_in(tree: ast.AST) -> Iterator[str]:
    """What a file imports of ours from where such things stand, reads off a room, or quotes."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=found):
                _, _, rest = module.partition(".")
                if module.startswith("tsformer") and rest.partition(".")[0] in {"", *ROOMS}:
                    yield from (name.name for name in found)
            case ast.Attribute(value=ast.Name(id=room), attr=name) if room in {"tsformer", *ROOMS}:
                yield name
            case ast.Constant(value=str(text)):
                yield text
            case ast.ClassDef(name=name):
                yield name


@functools.cache
def named() -> dict[str, frozenset[str]]:
    """Every file of library and tests, with the names it holds; this one is left out."""
    files = [*(TOP / "tsformer").rglob("*.py"), *(TOP / "tests").rglob("*.py")]
    found = {
        path.relative_to(TOP).as_posix(): frozenset(
            names_in(ast.parse(path.read_text(encoding="utf-8")))
        )
        for path in sorted(files)
    }
    return {path: names for path, names in found.items() if path != HERE}


def places(name: str, under: str) -> set[str]:
    return {path for path, names in named().items() if path.startswith(under) and name in names}


def public(room: str) -> dict[str, str]:
    """Name to file, of what a room holds of its kind."""
    module = {"models": models, "heads": heads, "estimators": estimators}[room]
    return {
        one.__name__: one.__module__.replace(".", "/") + ".py"
        for one in registry.public(module, ROOMS[room])
        if one.__name__ not in FORECASTERS
    }


KINDS = {
    name: (room, file) for room in ROOMS for name, file in sorted(public(room).items())
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_the_library_names_a_kind_in_its_file_and_its_room(name: str) -> None:
    room, file = KINDS[name]
    required = {file, f"tsformer/{room}/__init__.py"}
    assert required <= places(name, "tsformer/")
    assert places(name, "tsformer/") - required == set(CHOSEN.get(name, {}))


@pytest.mark.parametrize("name", KINDS)
def test_the_tests_have_one_row_of_a_kind(name: str) -> None:
    assert ROW in places(name, "tests/")
    rows = (*registry.MODELS, *registry.HEADS, *registry.BASELINES)
    assert [row.kind.__name__ for row in rows].count(name) == 1


@pytest.mark.parametrize("name", ["DecoderTransformer", "Recurrent"])
def test_a_model_that_nothing_chooses_is_named_in_four_places(name: str) -> None:
    room, file = KINDS[name]
    own = "tests/models/test_" + Path(file).name
    assert places(name, "") == {file, f"tsformer/{room}/__init__.py", ROW, own}


def test_no_test_lists_the_models_again() -> None:
    every = set(public("models"))
    lists = {path: every & names for path, names in named().items() if path.startswith("tests/")}
    lists.pop(ROW)
    assert not {path: names for path, names in lists.items() if len(names) > MOST_IN_A_TEST}


@pytest.mark.parametrize("name", METRICS)
def test_the_library_names_a_metric_at_its_function(name: str) -> None:
    own = "tsformer/evaluation/metrics.py"
    assert places(name, "tsformer/") == {own, *CHOSEN.get(name, {})}
    assert "tests/evaluation/test_metrics.py" in places(name, "tests/")


def test_every_reason_is_still_needed() -> None:
    assert set(CHOSEN) <= {*KINDS, *METRICS}
    stale = {name: set(why) - places(name, "tsformer/") for name, why in CHOSEN.items()}
    assert not {name: paths for name, paths in stale.items() if paths}


def test_baselines_are_the_forecasters_that_fit_no_model() -> None:
    assert {kind.__name__ for kind in BASELINES} == set(public("estimators"))


def run_with_toys(*files: str, only: str) -> int:
    """How many of the shared tests pass over the toys, in a process that has them."""
    options = ["-q", "-p", "with_toys", "-p", "no:cacheprovider", "-m", "", "-k", only]
    path = os.pathsep.join([str(TOP), str(TOP / "tests" / "support")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=TOP,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    (passed,) = re.findall(r"(\d+) passed", done.stdout)
    return int(passed)


CONTRACTS = ["tests/contracts/test_forecasters.py", "tests/contracts/test_sklearn.py"]


def test_a_new_model_head_and_baseline_run_through_the_shared_tests() -> None:
    files = ["tests/heads/test_base.py", "tests/models/test_base.py", CONTRACTS[0]]
    assert (
        run_with_toys(
            *files, only="is_here or ToyHead or plain-toy or toy and (a_file or after_an_origin)"
        )
        > 20
    )


@pytest.mark.slow
def test_a_new_model_head_and_baseline_run_through_all_shared_tests() -> None:
    files = ["tests/heads/test_base.py", "tests/models/test_base.py", *CONTRACTS]
    assert run_with_toys(*files, only="is_here or toy") > 300


def test_a_head_without_quantiles_of_its_own_gets_its_spread_fitted() -> None:
    from toys import ToyHead

    noise = np.random.default_rng(0).normal(scale=3.0, size=600)
    frame = pd.DataFrame({"y": 50 + noise}, index=pd.date_range("2024-01-01", periods=600))
    forecaster = estimators.Forecaster(models.Linear(), horizon=2, context=8, head=ToyHead())
    made = forecaster.fit(frame).predict(quantiles=[0.1, 0.9])
    # 2 x 1.2816 deviations lie between the levels, and some for the estimated mean
    np.testing.assert_allclose(made["y_q0.9"] - made["y_q0.1"], 2 * 1.2816 * 3, rtol=0.15)


def test_a_metric_is_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*METRICS,):
        monkeypatch.setitem(METRICS, name, METRICS[name])
    monkeypatch.delitem(METRICS, "toy", raising=False)

    @metric("toy", "mean error, in the data's unit", label="bias")
    def toy(seen):  # type: ignore[no-untyped-def]
        return seen.truth - seen.point

    monkeypatch.setitem(METRICS, "toy", METRICS.pop("toy"))
    steps = np.arange(40.0)
    frame = pd.DataFrame({"y": steps}, index=pd.date_range("2024-01-01", periods=40))
    result = backtest(Drift(horizon=2), frame, folds=2, metrics=["toy", "mae"])
    assert result.summary().loc["Drift", "toy"] == pytest.approx(0, abs=1e-9)
    # a season of a week before: 7 less than what comes
    assert result.summary().loc["SeasonalNaive", "toy"] == pytest.approx(7)
