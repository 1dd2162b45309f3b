"""Options that errors and findings name exist, and what they set is understood."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.main import get_command

import tsformer
from tsformer import Forecaster
from tsformer.cli.app import app
from tsformer.cli.forecasters import build_forecaster
from tsformer.cli.options import Model
from tsformer.cures import Cure

Run = Any

ROOT = Path(tsformer.__file__).parent
COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
OPTIONS = {name for one in COMMANDS.values() for param in one.params for name in param.opts} | {
    "--help",
    "--version",
}
SOURCES = sorted(ROOT.rglob("*.py"))


def texts(tree: ast.AST) -> Iterator[str]:
    """Every text of a module, those inside f-strings too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def cures(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Cure":
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_option_that_is_named_exists(path: Path) -> None:
    for text in texts(ast.parse(path.read_text(encoding="utf-8"))):
        for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text):
            assert name in OPTIONS, f"{path.name}: {name} in {text!r}"


PAGES = sorted([*ROOT.parent.glob("*.md"), *ROOT.parent.glob("docs/guide/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_of_a_page_exists(page: Path) -> None:
    for line in page.read_text(encoding="utf-8").splitlines():
        if "tsformer " in line or page.name in ("cli.md", "files.md"):
            for name in re.findall(r"(?<![\w-])--[a-z][a-z-]*", line):
                assert name in OPTIONS, f"{page.name}: {name} in {line!r}"


def paths() -> set[str]:
    """Parameters that a cure anywhere sets."""
    found = set()
    for path in SOURCES:
        for call in cures(ast.parse(path.read_text(encoding="utf-8"))):
            for keys in (one.keys for one in ast.walk(call) if isinstance(one, ast.Dict)):
                found |= {key.value for key in keys if isinstance(key, ast.Constant)}
    return {one for one in found if isinstance(one, str) and re.fullmatch(r"[a-z_]+", one)}


@pytest.mark.parametrize("path", sorted(paths()))
@pytest.mark.parametrize("value", [True, ..., "a", ("a", "b,c"), 3], ids=str)
def test_cures_are_worded_in_options_that_exist(path: str, value: Any) -> None:
    worded = Cure("Do it", {path: value}).options()
    names = re.findall(r"(?<![\w-])--[a-z-]+", worded)
    assert names and set(names) <= OPTIONS, worded


def test_paths_without_an_option_are_set_by_path() -> None:
    cure = Cure("Do it", {"training__batch_size": 8, "nonnegative": True, "context": 3})
    assert cure.options() == "Do it: --set training__batch_size=8 --nonnegative --context 3."
    assert Cure("Do it", {"nonnegative": False}).options() == "Do it: --set nonnegative=False."


class Data:
    schema = None
    policy = None


def built(*settings: str, model: str | None = None, **options: Any) -> Any:
    return build_forecaster(Data, 3, Model(model=model, settings=list(settings), **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["true", "True", "TRUE", "1", "yes", "on"])
def test_switches_are_set_by_their_usual_words(word: str) -> None:
    assert built(f"nonnegative={word}").nonnegative is True
    assert built(f"training__refit_all={word}").training.refit_all is True


@pytest.mark.parametrize("word", ["false", "False", "0", "no", "off"])
def test_switches_are_unset_too(word: str) -> None:
    assert built("nonnegative=True", f"nonnegative={word}").nonnegative is False


def test_numbers_and_words_stay_what_they_are() -> None:
    made = built("context=1", "scaling=none", "training__max_time=1")
    assert (made.context, made.scaling, made.training.max_time) == (1, "none", 1)
    assert type(made.context) is int


@pytest.mark.parametrize("word", ["maybe", "2", "0.5", "''"])
def test_what_is_no_switch_is_refused(run: Run, sales: Path, word: str) -> None:
    done = run("forecast", sales, "-n", 3, "--set", f"nonnegative={word}")
    assert done.code == 2 and "nonnegative" in done.err


def counts(path: str, rows: int = 84) -> str:
    """Days on most of which nothing is sold."""
    sold = [0.0 if day % 5 else 1.0 + day % 3 for day in range(rows)]
    days = pd.date_range("2024-01-01", periods=rows)
    pd.DataFrame({"day": days, "sold": sold}).to_csv(path, index=False)
    return path


def test_the_option_for_counts_is_proposed_and_works(run: Run) -> None:
    file = counts("counts.csv")
    checked = run("check", file, "-n", 7)
    assert "consider: --nonnegative." in checked.out
    done = run("forecast", file, "-n", 7, "--nonnegative", "--model", "linear", "--no-plot")
    assert done.code == 0, done.err
    made = pd.read_csv("forecast.csv").drop(columns="day")
    assert (made >= 0).all(axis=None)
    refused = run("forecast", file, "-n", 7, "--nonnegative", "--model", "drift")
    assert refused.code == 2 and "--nonnegative" in refused.err


@pytest.mark.parametrize("command", ["forecast", "fit", "backtest", "tune"])
def test_commands_that_fit_take_it(command: str) -> None:
    assert "--nonnegative" in {name for one in COMMANDS[command].params for name in one.opts}


def test_nonnegative_reaches_the_forecaster() -> None:
    assert isinstance(built(nonnegative=True), Forecaster)
    assert built(nonnegative=True).nonnegative is True and built().nonnegative is False


def test_a_forecast_below_what_ever_was_proposes_it(run: Run) -> None:
    days = pd.date_range("2024-01-01", periods=80)
    pd.DataFrame({"day": days, "left": range(80, 0, -1)}).to_csv("left.csv", index=False)
    common = ("forecast", "left.csv", "-n", 7, "--model", "linear", "--no-plot")
    said = run(*common)
    assert said.code == 0 and "'left' is never negative" in said.err
    assert "--nonnegative" in said.err
    followed = run(*common, "--nonnegative")
    assert followed.code == 0 and "negative" not in followed.err
