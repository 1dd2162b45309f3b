"""Imports point down, and the heavy ones stay at home."""

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "tsformer"
FILES = sorted(PACKAGE.rglob("*.py"))

# Each room with the rooms right below it; what these may import, it may import too.
BELOW = {
    "arrays": (),
    "cures": (),
    "errors": ("cures",),
    "_lazy": ("errors",),
    "atomic": (),
    "bars": (),
    "threads": (),
    "ranges": (),
    "params": ("_lazy", "arrays", "ranges"),
    "time": ("params", "threads"),
    "panels": ("time",),
    "reading": ("panels",),
    "datasets": ("reading", "atomic", "bars"),
    "windows": ("panels",),
    "nn": ("params",),
    "heads": ("params",),
    "models": ("windows", "nn", "heads"),
    "training": ("models",),
    "estimators": ("training", "reading", "atomic"),
    "plots": ("params",),
    "preflight": ("estimators",),
    "evaluation": ("estimators", "datasets", "plots"),
    "experiments": ("evaluation",),
    "tuning": ("evaluation",),
    "scale": ("evaluation",),
    "testing": ("tuning", "scale"),
    "report": ("tuning", "scale"),
    "cli": ("testing", "report", "preflight", "experiments"),
    "__main__": ("cli",),
}
# The only rooms that may name a heavy package; matplotlib is free, inside functions.
HOMES = {
    "lightning": {"training"},
    "pytorch_lightning": {"training"},
    "optuna": {"tuning"},
    "dask": {"scale"},
    "distributed": {"scale"},
    "typer": {"cli"},
}
TORCHLESS = {
    "__init__",
    "__main__",
    "_lazy",
    "arrays",
    "atomic",
    "bars",
    "cures",
    "errors",
    "params",
    "ranges",
    "time",
    "panels",
    "reading",
    "datasets",
    "threads",
}
# Loaded when first used, because they are heavy; elsewhere an import inside a function dodges a
# circle.
DEFERRED = {"training", "tuning", "scale", "plots", "report"}


class Import(NamedTuple):
    module: str
    line: int
    inside: bool
    """True within a function, where it runs late."""
    typing: bool = False
    """True under ``if TYPE_CHECKING``, where it never runs."""


def imports(tree: ast.AST, inside: bool = False, typing: bool = False) -> Iterator[Import]:
    """Every import of a file in full; ``from a import b`` gives ``a.b``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(name.name, node.lineno, inside, typing)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            for name in node.names:
                yield Import(f"{dots}{node.module or ''}.{name.name}", node.lineno, inside, typing)
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        checked = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        yield from imports(node, inside or function, typing or checked)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def reachable(room: str) -> set[str]:
    found: set[str] = set()
    for below in BELOW[room]:
        found |= {below} | reachable(below)
    return found


def named(path: Path) -> str:
    return path.relative_to(PACKAGE.parent).as_posix()


def own(imported: Import) -> str | None:
    """The room an import of ours goes to; the package itself where it names no room."""
    first, _, rest = imported.module.partition(".")
    if first != "tsformer":
        return None
    name = rest.partition(".")[0]
    return name if name in BELOW else "__init__"


def module_of(path: Path) -> str:
    """The dotted name of a file; a package has its own."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def home(name: str, modules: Collection[str]) -> str | None:
    """The module that ``a.b.c`` names or stands in; None outside of the package."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def needs(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Each module to those it imports, anywhere in it: for checkers and in functions too.

    The package itself is left out: it names its public names and nothing below needs it.
    """
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        homes = {home(one.module, sources) for one in imports(ast.parse(source))}
        graph[module] = {one for one in homes if one is not None} - {module, PACKAGE.name}
    return graph


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, sorted."""
    below = {module: reached(graph, module) for module in graph}
    found = {
        frozenset({module} | {other for other in below[module] if module in below[other]})
        for module in graph
        if module in below[module]
    }
    return sorted(sorted(circle) for circle in found)


def reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = graph[waiting.pop()] - found
        found |= fresh
        waiting += fresh
    return found


@pytest.fixture(params=FILES, ids=named)
def file(request: pytest.FixtureRequest) -> tuple[Path, list[Import]]:
    path: Path = request.param
    return path, list(imports(ast.parse(path.read_text(encoding="utf-8"))))


def test_the_package_has_no_room_that_the_plan_lacks() -> None:
    assert {room_of(path) for path in FILES} - {"__init__"} <= set(BELOW)


def test_imports_are_absolute(file: tuple[Path, list[Import]]) -> None:
    path, found = file
    relative = [one for one in found if one.module.startswith(".")]
    assert not relative, f"{named(path)} imports relatively: {relative}"


def test_imports_of_ours_point_down(file: tuple[Path, list[Import]]) -> None:
    path, found = file
    room = room_of(path)
    if room == "__init__":
        return
    allowed = {room} | reachable(room)
    for one in found:
        target = own(one)
        if target == "__init__":
            # only the version: it has no room
            assert one.module == "tsformer.__version__", f"{named(path)}:{one.line} {one.module}"
        elif target is not None:
            assert target in allowed, f"{named(path)}:{one.line}: {room} must not import {target}"


def test_no_import_inside_a_function_dodges_a_circle(file: tuple[Path, list[Import]]) -> None:
    path, found = file
    room = room_of(path)
    if room == "cli":  # loads what a command needs when it runs
        return
    for one in found:
        late = one.inside and own(one) is not None
        deferred = own(one) in DEFERRED - {room}
        assert not late or deferred, f"{named(path)}:{one.line}: import {one.module} at the top"


def test_heavy_imports_stay_at_home(file: tuple[Path, list[Import]]) -> None:
    path, found = file
    room = room_of(path)
    for one in found:
        heavy = one.module.partition(".")[0]
        where = f"{named(path)}:{one.line}: {one.module}"
        assert room in HOMES.get(heavy, {room}), f"{where} belongs in {HOMES[heavy]}"
        assert heavy != "matplotlib" or one.inside or one.typing, (
            f"{where} belongs inside a function"
        )
        assert heavy != "torch" or room not in TORCHLESS, f"{where}: {room} knows no torch"


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = needs({module_of(path): path.read_text(encoding="utf-8") for path in FILES})
    del graph[PACKAGE.name]
    assert not circles(graph), "which noun is missing between them?"


@pytest.mark.parametrize(
    "back",
    [
        "import a.two",
        "from a.two import y",
        "if TYPE_CHECKING:\n    from a.two import y",
        "def f() -> None:\n    from a.two import y",
        "from a.three import z",
    ],
)
def test_a_circle_is_found_wherever_its_imports_stand(back: str) -> None:
    sources = {"a": "", "a.one": back, "a.two": "from a.one import x", "a.three": "import a.two"}
    circle = ["a.one", "a.three", "a.two"] if "three" in back else ["a.one", "a.two"]
    assert circles(needs(sources)) == [circle]


def test_a_module_that_takes_from_its_own_package_makes_a_circle() -> None:
    sources = {
        "a": "from a.one import x",
        "a.one": "from a import z",
        "a.two": "from a.one import x",
    }
    assert circles(needs(sources)) == [["a", "a.one"]]
