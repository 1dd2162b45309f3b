"""Parameters as values: each is written once, with its type, default, range and meaning.

A class decorated with :func:`params` is a dataclass on scikit-learn's ``BaseEstimator``:
``clone``, nested ``set_params``, pickling, short reprs and ``ParameterGrid`` work.

>>> @params
... class Smoother(Params):
...     '''A smoother.'''
...     _: KW_ONLY
...     width: int = param("Number of neighbours.", default=3, low=1)
>>> Smoother(width=5).get_params()
{'width': 5}
>>> Smoother(width=0).check()
Traceback (most recent call last):
    ...
tsformer.errors.ParameterError: Smoother(width=0): width must be at least 1
"""

import copy
import dataclasses
import difflib
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, MISSING
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

from sklearn.base import BaseEstimator

from tsformer.errors import ParameterError

__all__ = ["KW_ONLY", "Params", "param", "params"]

ParamsType = TypeVar("ParamsType", bound="Params")


def param(
    doc: str,
    *,
    default: Any = MISSING,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    below: float | None = None,
    choices: tuple[Any, ...] | None = None,
    part: Callable[[], "Params"] | None = None,
) -> Any:
    """Declare one parameter of a :func:`params` class.

    Parameters
    ----------
    doc
        One sentence: meaning, unit, what ``None`` does.
    default
        The default value; left out, the parameter is required.
    low, above, high, below
        Bounds: ``low <= value``, ``above < value``, ``value <= high``, ``value < below``.
    choices
        The values allowed, where they are a short list.
    part
        For a nested value whose default is ``None``: what ``None`` stands for. ``set_params``
        puts it there, so that a path such as ``training__learning_rate`` always works.
    """
    bounds = {"low": low, "above": above, "high": high, "below": below}
    metadata = {"doc": doc, "bounds": bounds, "choices": choices, "part": part}
    return dataclasses.field(default=default, metadata=metadata)


class Params(BaseEstimator):  # type: ignore[misc]
    """Base of every value that holds parameters; see :func:`params`.

    Attributes
    ----------
    grouped : dict
        Parameters that stand in a part, by their short name: ``{"clip": "optimizer"}``. The
        constructor, ``set_params`` and the attribute take the short name as well as the path.
    """

    grouped: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        group = type(self).grouped.get(name)
        if group is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._part(group), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in type(self).grouped:
            self.set_params(**{name: value})
        else:
            object.__setattr__(self, name, value)

    def _part(self, name: str) -> Any:
        """A part, or what None stands for."""
        value = getattr(self, name)
        make = {field.name: field.metadata.get("part") for field in _fields(self)}.get(name)
        return make() if value is None and make is not None else value

    def full_path(self, path: str) -> str:
        """The path of a parameter, where it may be given by its short name."""
        name, nested, rest = path.partition("__")
        if not nested:
            group = type(self).grouped.get(name)
            return path if group is None else f"{group}__{name}"
        inner = self._part(name) if name in {field.name for field in _fields(self)} else None
        return f"{name}__{inner.full_path(rest)}" if isinstance(inner, Params) else path

    def check(self) -> None:
        """Raise ``ParameterError`` for the first parameter that is out of range, nested ones too.

        Construction only stores, as scikit-learn asks; ``fit`` calls this.
        """
        hints = typing.get_type_hints(type(self))
        for field in _fields(self):
            value = getattr(self, field.name)
            problem = _problem(value, hints[field.name], field.metadata)
            if problem:
                shown = f"{type(self).__name__}({field.name}={value!r})"
                raise ParameterError(f"{shown}: {field.name} {problem}")
            if isinstance(value, Params):
                value.check()

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by path, ``part__name=value``; a part that is ``None`` is made first.

        Raises
        ------
        ParameterError
            If a name is not a parameter; the message suggests the closest one.
        """
        parts = {f.name: f.metadata.get("part") for f in _fields(self)}
        parameters = {self.full_path(path): value for path, value in parameters.items()}
        for path in parameters:
            name, nested, _ = path.partition("__")
            if name not in parts:
                raise ParameterError(_misspelt(self, name, [*parts, *type(self).grouped]))
            make = parts[name]
            if nested and getattr(self, name) is None and make is not None:
                setattr(self, name, make())
        super().set_params(**parameters)
        return self


@dataclass_transform(eq_default=False, field_specifiers=(param, dataclasses.field))
def params(cls: type[ParamsType]) -> type[ParamsType]:
    """Make a subclass of :class:`Params` a dataclass and list its parameters in its docstring.

    Put ``_: KW_ONLY`` before the fields that are keyword-only: all but the first one or two nouns.
    """
    # inspect.cleandoc first: dataclass would otherwise write its own signature as the docstring
    cls.__doc__ = inspect.cleandoc(cls.__doc__ or "")
    made = dataclasses.dataclass(eq=False, repr=False)(cls)
    if made.grouped:
        made.__init__ = _taking_short_names(made.__init__)  # type: ignore[method-assign]
    listed = "\n".join(_described(made))
    if listed:
        summary, found, rest = (made.__doc__ or "").partition("\n\nNotes\n-----")
        head, example, tail = summary.partition("\n\nExamples\n--------")
        section = f"\n\nParameters\n----------\n{listed}"
        made.__doc__ = f"{head}{section}{example}{tail}{found}{rest}"
    return made


def _taking_short_names(construct: Callable[..., None]) -> Callable[..., None]:
    """A constructor that also takes parameters of its groups; the signature stays short."""

    @functools.wraps(construct)
    def taking(self: Params, *nouns: Any, **given: Any) -> None:
        grouped = type(self).grouped
        short = {name: given.pop(name) for name in tuple(given) if name in grouped}
        construct(self, *nouns, **given)
        for group in {grouped[name] for name in short}:
            # a group that was handed in may serve another value too
            setattr(self, group, copy.copy(self._part(group)))
        self.set_params(**short)

    return taking


def _fields(value: Any) -> tuple["dataclasses.Field[Any]", ...]:
    return dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()


def _described(cls: type[Params]) -> Iterator[str]:
    for field in _fields(cls):
        kind = field.type if isinstance(field.type, str) else inspect.formatannotation(field.type)
        default = "" if field.default is MISSING else f", default {field.default!r}"
        yield f"{field.name} : {kind}{default}"
        if field.metadata.get("doc"):
            yield f"    {field.metadata['doc']}"


def _misspelt(owner: Params, name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    listed = f" Its parameters are {', '.join(known)}." if known else " It has none."
    hint = f" Did you mean {close[0]!r}?" if close else listed
    return f"{type(owner).__name__} has no parameter {name!r}.{hint}"


def _problem(value: Any, hint: Any, metadata: Any) -> str | None:
    if value is None:
        return None if _accepts(hint, type(None)) else "must not be None"
    parts = [kind for kind in _kinds(hint) if isinstance(kind, type) and issubclass(kind, Params)]
    if parts and len(parts) == sum(kind is not type(None) for kind in _kinds(hint)):
        return None if isinstance(value, tuple(parts)) else _no_part(value, parts, metadata)
    choices = metadata.get("choices")
    if choices is not None and value not in choices:
        # a list of words may stand beside another type, such as a fraction or a frame
        others = [kind for kind in _kinds(hint) if isinstance(kind, type) and kind is not str]
        if isinstance(value, str) or set(others) <= {type(None)}:
            return f"must be one of {', '.join(map(repr, choices))}"
    wrong = _wrong_kind(value, _kinds(hint))
    bounds = {key: edge for key, edge in metadata.get("bounds", {}).items() if edge is not None}
    if wrong or not bounds or isinstance(value, bool) or not isinstance(value, Real):
        return wrong
    return _outside(float(value), bounds)


def _no_part(value: Any, kinds: list[type[Params]], metadata: Any) -> str:
    """What should stand where a part is expected: one of the classes that there are."""
    names = sorted({one.__name__ for kind in kinds for one in _concrete(kind)})
    close = [name for name in names if isinstance(value, str) and name.lower() == value.lower()]
    if isinstance(value, type) and value.__name__ in names:
        close = [value.__name__]
    usual = metadata.get("part")
    such = close[0] if close else getattr(usual, "__name__", names[0])
    listed = f"; there are {', '.join(f'{one}()' for one in names)}" if len(names) > 1 else ""
    return f"must be a value such as {such}(){listed}"


def _concrete(kind: type[Params]) -> Iterator[type[Params]]:
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
