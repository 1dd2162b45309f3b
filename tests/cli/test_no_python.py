"""Whoever uses the command line reads options, never Python."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tsformer

Run = Any

ROOT = Path(tsformer.__file__).parent
PYTHON = re.compile(
    r"\b(?:pd|np|dt|df)\.[a-z]|\bframe(?:\[|\.\w)|\bfuture\.\w|\.(?:fit|predict|asfreq|astype|drop\w*)\("
    r"|\b(?:Policy|Schema|Forecaster|SeasonalNaive|Quantiles|Training)\((?!\w+=\{)"
    r"|tz_localize|to_numeric|to_datetime|groupby|\b(?:policy|schema|future|head|training)="
)
NOT_MET = {
    "cli/demo.py": "prints the program it ran",
    "cures.py": "makes lines of Python",
    "preflight/findings.py": "a line of Python beside its option",
    "params.py": "shows the part that a path given by --set belongs to",
    "training/groups.py": "shows what was set by --set",
    "training/settings.py": "shows what was set by --set",
    "training/runtime.py": "callbacks and loggers are given in Python alone",
    "training/fit.py": "shows what was set by --set",
    "reading/tables.py": "arrays and other tables are given in Python alone",
    "reading/late.py": "shows what was set by --set",
    "estimators/forecaster.py": "weights to start from are given in Python alone",
    "heads/quantiles.py": "shows what was set by --set",
    "panels/schema.py": "--season is checked before",
    "estimators/pretrainer.py": "pretraining is done in Python alone",
}


def messages(tree: ast.AST) -> Iterator[ast.Constant]:
    """Texts that may be shown: no docstrings, no documentation of parameters, no code of cures."""
    quiet: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):  # a text alone
            quiet |= {id(node.value)}
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "param":
            quiet |= {id(one) for one in ast.walk(node)}
        if isinstance(node, ast.keyword) and node.arg == "code":
            quiet |= {id(one) for one in ast.walk(node.value)}
        if isinstance(node, ast.Assign) and all(
            isinstance(one, ast.Name) and one.id in CODE for one in node.targets
        ):
            quiet |= {id(one) for one in ast.walk(node.value)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet:
            yield node


CODE = {"code", "place", "joined", "mean", "days", "time", "named"}
"""Names that lines of Python are put together under."""


@pytest.mark.parametrize(
    "path",
    [one for one in sorted(ROOT.rglob("*.py")) if str(one.relative_to(ROOT)) not in NOT_MET],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_message_advises_python_but_in_the_code_of_a_cure(path: Path) -> None:
    for text in messages(ast.parse(path.read_text(encoding="utf-8"))):
        assert not PYTHON.search(text.value), f"{path.name}:{text.lineno}: {text.value!r}"
