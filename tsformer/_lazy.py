"""Names that are loaded when they are first used, so that importing a package stays cheap."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["attach"]


def attach(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names live elsewhere (PEP 562).

    Parameters
    ----------
    package
        The package's ``__name__``.
    homes
        Public name to the module it is taken from. A name must not be that of a submodule of
        ``package``: importing the submodule would put the module in the name's place.

    Examples
    --------
    For checkers, write the imports under ``TYPE_CHECKING`` and call this otherwise.

    >>> load, names = attach(__name__, {"sqrt": "math"})
    >>> load("sqrt")(4.0)
    2.0
    >>> load("sprt")
    Traceback (most recent call last):
        ...
    AttributeError: module 'tsformer._lazy' has no attribute 'sprt'
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        # next time the name is found without coming here
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names
