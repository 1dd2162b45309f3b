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
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from sklearn.base import BaseEstimator

from tsformer.errors import ParameterError
from tsformer.ranges import problem_of

__all__ = ["KW_ONLY", "Params", "group", "groups_of", "param", "params", "settings_of"]

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


def group(kind: type["Params"], *, default: None) -> Any:
    """Declare a part that groups parameters which are seldom touched; ``None`` is its defaults.

    Each of them may be given, set and read by its own name as well as by its path.

    Examples
    --------
    >>> @params
    ... class Brush(Params):
    ...     _: KW_ONLY
    ...     width: int = param("Of a stroke.", default=3)
    >>> @params
    ... class Painter(Params):
    ...     _: KW_ONLY
    ...     brush: Brush | None = group(Brush, default=None)
    >>> Painter(width=5), Painter().width
    (Painter(brush=Brush(width=5)), 3)
    >>> settings_of(Painter()) == settings_of(Painter(brush=Brush()))
    True
    """
    *first, last = (field.name for field in _fields(kind))
    listed = f"{', '.join(first)} and {last}" if first else last
    metadata = {"doc": f"{listed}; None is {kind.__name__}().", "part": kind, "group": kind}
    return dataclasses.field(default=default, metadata=metadata)


class Params(BaseEstimator):  # type: ignore[misc]
    """Base of every value that holds parameters; see :func:`params`.

    Attributes
    ----------
    grouped : dict
        The group of each parameter that stands in one, see :func:`group`: ``{"clip":
        "optimizer"}``. The constructor, ``set_params`` and the attribute take its name as well as
        its path.
    """

    grouped: ClassVar[Mapping[str, str]] = types.MappingProxyType({})

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
        name, nested, rest = self._with_group(path).partition("__")
        inner = self._part(name) if name in {field.name for field in _fields(self)} else None
        if not nested or not isinstance(inner, Params):
            return name + nested + rest
        return f"{name}__{inner.full_path(rest)}"

    def _with_group(self, path: str) -> str:
        """The path, with the group in front of a short name."""
        holder = type(self).grouped.get(path.partition("__")[0])
        return path if holder is None else f"{holder}__{path}"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; ``deep`` adds those of parts by path, of a group that is None too."""
        found: dict[str, Any] = super().get_params(deep=deep)
        for name in sorted(set(type(self).grouped.values())) if deep else ():
            if found[name] is None:
                inner = self._part(name).get_params()
                found |= {f"{name}__{path}": value for path, value in inner.items()}
        return found

    def check(self) -> None:
        """Raise ``ParameterError`` for the first parameter that is out of range, nested ones too.

        Construction only stores, as scikit-learn asks; ``fit`` calls this.
        """
        for name, value, problem in _problems(self):
            raise ParameterError(f"{type(self).__name__}({name}={value!r}): {name} {problem}")
        for field in _fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, Params):
                continue
            if "group" in field.metadata:  # in the words of whoever gave the short name
                for name, inner, problem in _problems(value):
                    shown = f"{type(self).__name__}({name}={inner!r})"
                    raise ParameterError(f"{shown}: {name} {problem} (in {field.name})")
            value.check()

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by path, ``part__name=value``; a part that is ``None`` is made first.

        Raises
        ------
        ParameterError
            If a name is not a parameter; the message suggests the closest one.
        """
        parts = {f.name: f.metadata.get("part") for f in _fields(self)}
        # a part finds its own short names: it may be another one once all is set
        parameters = {self._with_group(path): value for path, value in parameters.items()}
        for path in parameters:
            name, nested, _ = path.partition("__")
            if name not in parts:
                inside = {part: self._part(part) for part in parts}
                raise ParameterError(_misspelt(type(self), name, inside))
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
    made.grouped = types.MappingProxyType(_grouped(made))
    if made.grouped:
        made.__init__ = _taking_short_names(made.__init__)  # type: ignore[method-assign]
    listed = "\n".join(_described(made))
    if listed:
        summary, found, rest = (made.__doc__ or "").partition("\n\nNotes\n-----")
        head, example, tail = summary.partition("\n\nExamples\n--------")
        section = f"\n\nParameters\n----------\n{listed}"
        made.__doc__ = f"{head}{section}{example}{tail}{found}{rest}"
    return made


def settings_of(value: Params) -> dict[str, Any]:
    """Every parameter by its own name, those of groups too: what two values are compared by."""
    grouped = type(value).grouped
    own = value.get_params(deep=False).items()
    found = {name: held for name, held in own if name not in grouped.values()}
    return found | {name: getattr(value, name) for name in grouped}


def groups_of(cls: type[Any]) -> list[type[Params]]:
    """The classes of the groups that a class has, see :func:`group`."""
    return [field.metadata["group"] for field in _fields(cls) if "group" in field.metadata]


def _grouped(cls: type[Params]) -> dict[str, str]:
    """The group of each parameter that stands in one."""
    taken = {field.name for field in _fields(cls)}
    found: dict[str, str] = {}
    for field in _fields(cls):
        for inner in _fields(field.metadata.get("group")):
            if inner.name in taken:
                raise TypeError(f"{cls.__name__} has {inner.name!r} twice, once in {field.name}")
            taken.add(inner.name)
            found[inner.name] = field.name
    return found


def _taking_short_names(construct: Callable[..., None]) -> Callable[..., None]:
    """A constructor that also takes parameters of its groups; the signature stays short."""

    # construction only stores; a checker of calls would not know the short names
    @typing.no_type_check
    @functools.wraps(construct)
    def taking(self: Params, *nouns: Any, **given: Any) -> None:
        grouped = type(self).grouped
        for name in given.keys() - grouped - {field.name for field in _fields(self)}:
            raise TypeError(_misspelt(type(self), name, {}))
        short = {name: given.pop(name) for name in tuple(given) if name in grouped}
        construct(self, *nouns, **given)
        for holder in {grouped[name] for name in short}:
            # a group that was handed in may serve another value too
            setattr(self, holder, copy.copy(self._part(holder)))
        self.set_params(**short)

    return cast("Callable[..., None]", taking)


def _fields(value: Any) -> tuple["dataclasses.Field[Any]", ...]:
    return dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()


def _described(cls: type[Params]) -> Iterator[str]:
    for field in _fields(cls):
        kind = field.type if isinstance(field.type, str) else inspect.formatannotation(field.type)
        default = "" if field.default is MISSING else f", default {field.default!r}"
        yield f"{field.name} : {kind}{default}"
        if field.metadata.get("doc"):
            yield f"    {field.metadata['doc']}"


def _misspelt(cls: type[Params], name: str, parts: Mapping[str, Any]) -> str:
    """What to say of a name that is no parameter: where it is one, or what comes close to it."""
    known = [*(field.name for field in _fields(cls)), *cls.grouped]
    elsewhere = [f"{part}__{name}" for part, inner in parts.items() if name in _names(inner)]
    close = [*elsewhere, *difflib.get_close_matches(name, known, n=1)]
    listed = f" Its parameters are {', '.join(known)}." if known else " It has none."
    hint = f" Did you mean {close[0]!r}?" if close else listed
    return f"{cls.__name__} has no parameter {name!r}.{hint}"


def _names(part: Any) -> set[str]:
    """What a part has parameters for; nothing if it is none."""
    if not isinstance(part, Params):
        return set()
    return {field.name for field in _fields(part)} | set(type(part).grouped)


def _problems(value: Params) -> Iterator[tuple[str, Any, str]]:
    """Name, value and problem of each parameter that is out of range."""
    hints = typing.get_type_hints(type(value))
    for field in _fields(value):
        held = getattr(value, field.name)
        problem = problem_of(held, hints[field.name], field.metadata)
        if problem:
            yield field.name, held, problem
