"""What is wrong with the value of a parameter: its type, its range, or a word of no list."""

import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["problem_of"]


def problem_of(value: Any, hint: Any, metadata: Mapping[str, Any]) -> str | None:
    """What is wrong with the value of a parameter; None if nothing is.

    Parameters
    ----------
    hint
        The type it is declared with.
    metadata
        What ``param`` keeps of it: ``bounds``, ``choices`` and ``part``.

    Examples
    --------
    >>> problem_of(0, int, {"bounds": {"low": 1}}), problem_of(3, int, {})
    ('must be at least 1', None)
    """
    if value is None:
        return None if _accepts(hint, type(None)) else "must not be None"
    classes = [kind for kind in _kinds(hint) if isinstance(kind, type)]
    parts = [kind for kind in classes if issubclass(kind, BaseEstimator)]
    if parts and len(parts) == sum(kind is not type(None) for kind in _kinds(hint)):
        return None if isinstance(value, tuple(parts)) else _no_part(value, parts, metadata)
    choices = metadata.get("choices")
    if choices is not None and value not in choices:
        # a list of words may stand beside another type, such as a fraction or a frame
        others = set(classes) - {str, type(None)}
        if isinstance(value, str) or not others:
            return f"must be one of {', '.join(map(repr, choices))}"
    wrong = _wrong_kind(value, _kinds(hint))
    bounds = {key: edge for key, edge in metadata.get("bounds", {}).items() if edge is not None}
    if wrong or not bounds or isinstance(value, bool) or not isinstance(value, Real):
        return wrong
    return _outside(float(value), bounds)


def _no_part(value: Any, kinds: list[type[Any]], metadata: Any) -> str:
    """What should stand where a part is expected: one of the classes that there are."""
    names = sorted({one.__name__ for kind in kinds for one in _concrete(kind)})
    close = [name for name in names if isinstance(value, str) and name.lower() == value.lower()]
    if isinstance(value, type) and value.__name__ in names:
        close = [value.__name__]
    usual = metadata.get("part")
    such = close[0] if close else getattr(usual, "__name__", names[0])
    listed = f"; there are {', '.join(f'{one}()' for one in names)}" if len(names) > 1 else ""
    return f"must be a value such as {such}(){listed}"


def _concrete(kind: type[Any]) -> Iterator[type[Any]]:
    """The classes of a kind that can be made, itself included."""
    if not inspect.isabstract(kind):
        yield kind
    for one in kind.__subclasses__():
        yield from _concrete(one)


def _wrong_kind(value: Any, kinds: tuple[Any, ...]) -> str | None:
    """What is wrong with the type of a value that should be a number, a word or a switch."""
    words = any(kind is str or typing.get_origin(kind) is typing.Literal for kind in kinds)
    plain = {kind for kind in kinds if kind in (bool, int, float, str, type(None))}
    if len(plain) < sum(typing.get_origin(kind) is not typing.Literal for kind in kinds):
        return None  # another class may stand here: the part that uses it checks
    if isinstance(value, bool):
        return None if bool in plain else "must be a number" if plain & {int, float} else None
    if isinstance(value, Real):
        if float in plain or (int in plain and isinstance(value, Integral)):
            return None
        return "must be a whole number" if int in plain else "must not be a number"
    if isinstance(value, str):
        return None if words else "must be a number" if plain & {int, float} else "must be a switch"
    return "must be a number" if plain & {int, float} else "has the wrong type"


def _outside(value: float, bounds: dict[str, float]) -> str | None:
    tests: dict[str, tuple[Callable[[float], bool], str]] = {
        "low": (lambda edge: value >= edge, "at least"),
        "above": (lambda edge: value > edge, "above"),
        "high": (lambda edge: value <= edge, "at most"),
        "below": (lambda edge: value < edge, "below"),
    }
    for name, edge in bounds.items():
        holds, word = tests[name]
        if not holds(edge):  # NaN fails every bound
            return f"must be {word} {edge:g}"
    return None


def _kinds(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _accepts(hint: Any, kind: type) -> bool:
    return hint is Any or any(one is kind or one is Any for one in _kinds(hint))
