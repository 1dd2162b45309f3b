"""What is public: each ``__all__`` is true, in order and documented."""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import tsformer
from tsformer.errors import MissingDependency

PACKAGE = Path(tsformer.__file__).resolve().parent


def modules() -> list[str]:
    """Every module that is not private by a leading underscore, packages by their own name."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(part.startswith("_") for part in parts):
            found.append(".".join(parts))
    return found


def order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, as ruff keeps them."""
    if name.isupper() and len(name) > 1:
        return 0, name
    return (1 if name[:1].isupper() else 2), name


@pytest.fixture(params=modules())
def module(request: pytest.FixtureRequest) -> ModuleType:
    try:
        return importlib.import_module(request.param)
    except MissingDependency as absent:
        pytest.skip(str(absent))


def test_the_top_level_names_are_these() -> None:
    assert tsformer.__all__ == [
        "Dataset",
        "Drift",
        "Forecaster",
        "Holdout",
        "Policy",
        "RollingOrigin",
        "Schema",
        "SeasonalNaive",
        "Training",
        "__version__",
        "backtest",
        "describe",
        "load",
        "load_dataset",
    ]


def test_dir_lists_names_that_are_not_loaded_yet() -> None:
    assert set(tsformer.__all__) <= set(dir(tsformer))


def test_a_misspelt_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'tsformer' has no attribute 'Forcaster'"):
        tsformer.Forcaster  # type: ignore[attr-defined]  # noqa: B018


def test_every_module_lists_its_public_names_in_order(module: ModuleType) -> None:
    names = module.__all__
    assert names == sorted(set(names), key=order)


def test_every_module_says_what_it_is_for(module: ModuleType) -> None:
    assert module.__doc__


def test_every_public_name_exists_and_is_documented(module: ModuleType) -> None:
    for name in module.__all__:
        value = getattr(module, name)
        assert not inspect.ismodule(value), f"{module.__name__}.{name} is a module"
        if inspect.isclass(value) or inspect.isfunction(value):
            assert vars(value).get("__doc__") or value.__doc__, f"{name} has no docstring"
            assert value.__doc__ != value.__name__
