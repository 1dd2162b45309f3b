"""How the checkout is laid out, and what its code does not do."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
SOURCES = sorted((TOP / "tsformer").rglob("*.py"))
RUNNABLE = sorted((TOP / "experiments").rglob("*.py"))

TOP_LEVEL = {
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "constraints.txt",
    "datasets",
    "docs",
    "experiments",
    "pyproject.toml",
    "tests",
    "tsformer",
}
ATTICS = {"common", "helper", "helpers", "misc", "util", "utils"}
PICKLES = {"cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"}
FILE_LINES = 350
# 40 is the guide; this is where a test speaks up
FUNCTION_LINES = 60


def shown(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """Paths that git keeps, or would keep."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return done.stdout.splitlines()


@pytest.fixture(params=SOURCES, ids=shown)
def source(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_the_top_level_holds_only_what_it_may(tracked: list[str]) -> None:
    entries = {path.partition("/")[0] for path in tracked}
    assert {entry for entry in entries if not entry.startswith(".")} <= TOP_LEVEL


def test_the_data_folder_holds_no_python() -> None:
    assert not [shown(path) for path in (TOP / "datasets").rglob("*.py*")]


def test_no_module_is_an_attic() -> None:
    files = [*SOURCES, *RUNNABLE, *(TOP / "tests").rglob("*.py")]
    attics = [path for path in files if ATTICS & set(path.relative_to(TOP).with_suffix("").parts)]
    assert not attics, "which noun is missing?"


def test_no_file_outgrows_its_one_idea() -> None:
    lengths = {
        shown(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in [*SOURCES, *RUNNABLE]
    }
    assert not {path: lines for path, lines in lengths.items() if lines > FILE_LINES}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the end, without the docstring."""
    assert function.end_lineno is not None
    documented = 0
    if ast.get_docstring(function) is not None:
        text = function.body[0]
        assert text.end_lineno is not None
        documented = text.end_lineno - text.lineno + 1
    return function.end_lineno - function.lineno + 1 - documented


def test_no_function_is_long(source: Path) -> None:
    found = functions(ast.parse(source.read_text(encoding="utf-8")))
    lengths = {function.name: lines_of_code(function) for function in found}
    assert not {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES}


def test_kinds_of_arrays_are_named_in_one_place(source: Path) -> None:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    named = [
        ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)
    ]
    aliases = [text for text in named if "= NDArray[" in text]
    assert not aliases or source.name == "arrays.py"


def forbidden(node: ast.AST) -> str | None:
    """Why this piece of code must not stand in the library, if so."""
    match node:
        case ast.Call(func=ast.Attribute(attr="squeeze"), args=[], keywords=[]):
            return "squeeze without a dim eats a batch or a head of one"
        case ast.Attribute(value=ast.Name(id="torch"), attr="load"):
            return "torch.load unpickles; model files are safetensors"
        case ast.Import(names=names) if {name.name for name in names} & PICKLES:
            return "pickle runs what is in the file"
        case ast.ImportFrom(module=module) if module in PICKLES:
            return "pickle runs what is in the file"
        case (
            ast.keyword(arg="stacklevel")
            | ast.Call(func=ast.Attribute(attr="warn", value=ast.Name(id="warnings")))
        ):
            return "tsformer.cures.warn finds the caller's line; levels counted by hand go wrong"
        case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
            return f"{name} runs text as code"
        case ast.Assert(
            test=ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)])
        ):
            return None  # tells the type checker, not the caller
        case ast.Assert():
            return "an assert vanishes under python -O; raise an error that says what to do"
    return None


def test_the_library_does_nothing_forbidden(source: Path) -> None:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    found = {node.lineno: reason for node in ast.walk(tree) if (reason := forbidden(node))}  # type: ignore[attr-defined]
    if source.name == "cures.py":  # home of the one helper that warns
        found = {line: reason for line, reason in found.items() if "cures.warn" not in reason}
    assert not found


@pytest.mark.parametrize(
    "code",
    [
        "x.squeeze()",
        "torch.load(f)",
        "import pickle",
        "from joblib import load",
        "eval(x)",
        "assert n > 0",
        "warnings.warn(text)",
        "log.warning(text, stacklevel=2)",
    ],
)
def test_what_is_forbidden_is_found(code: str) -> None:
    assert any(forbidden(node) for node in ast.walk(ast.parse(code)))


@pytest.mark.parametrize(
    "code", ["x.squeeze(0)", "x.squeeze(dim=0)", "safetensors.load(f)", "assert x is not None"]
)
def test_what_is_allowed_is_not_found(code: str) -> None:
    assert not any(forbidden(node) for node in ast.walk(ast.parse(code)))
