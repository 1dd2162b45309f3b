"""Cures are tried on the file before they are offered: one that changes nothing is not shown."""

import contextlib
import dataclasses
import functools
import io
import shlex
import typing
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from tsformer.cli.options import Format, Roles
from tsformer.cures import Cure, as_options
from tsformer.errors import FrameError, TsformerError

__all__ = ["that_work", "with_tried_cures"]


def with_tried_cures(command: Callable[..., None]) -> Callable[..., None]:
    """The command; on an error about its file those cures are left that let the file be read."""

    @functools.wraps(command)
    def trying(*, file: str, form: Format, roles: Roles, **given: Any) -> None:
        try:
            command(file=file, form=form, roles=roles, **given)
        except FrameError as refused:
            refused.cures = that_work(refused.message, refused.cures, file, form, roles)
            raise

    return trying


def that_work(
    message: str, cures: tuple[Cure, ...], source: str, form: Format, roles: Roles
) -> tuple[Cure, ...]:
    """The cures with which the file is read; without any, those that bring another error.

    Advice without an option, or with one that is to be filled in, cannot be tried and is kept.
    """
    outcomes: list[tuple[Cure, str | None]] = []
    for cure in cures:
        asked = _changed(cure, form, roles)
        outcome = _untried if asked is None else _read(source, *asked)
        outcomes.append((cure, outcome))
    read = any(outcome is None for _, outcome in outcomes)
    return tuple(
        cure
        for cure, outcome in outcomes
        if outcome is None or outcome == _untried or (not read and outcome != message)
    )


_untried = ""


def _read(source: str, form: Format, roles: Roles) -> str | None:
    """What is wrong with the file if it is read in this way; None for nothing."""
    from tsformer.cli.files import read_data
    from tsformer.reading import read_panel

    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings(action="ignore"):
        try:
            data = read_data(source, form, roles)
            read_panel(data.frame, data.schema, data.policy)
        except TsformerError as refused:
            return refused.message or type(refused).__name__
    return None


def _changed(cure: Cure, form: Format, roles: Roles) -> tuple[Format, Roles] | None:
    """The options with those of a cure on top; None where they are not all to be followed."""
    try:
        words = shlex.split(f"{as_options(cure.settings)} {cure.option}")
    except ValueError:
        return None
    fields = {**_fields(Format), **_fields(Roles)}
    given: dict[str, Any] = {}
    while words:
        kind = fields.get(words[0])
        if kind is None or (kind is not bool and len(words) < 2):
            return None
        name = words.pop(0).removeprefix("--").replace("-", "_")
        value: Any = True if kind is bool else words.pop(0)
        if value == name.upper():  # to be filled in
            return None
        if kind is int and not value.isdigit():
            return None
        before = given.get(name, getattr(form, name, None) or getattr(roles, name, None))
        if kind is list:
            value = [*(before or ()), value] if name in _ADDED else [*given.get(name, ()), value]
        given[name] = int(value) if kind is int else value
    if not given:
        return None
    moved = {name for role in _ROLES for name in given.get(role, ())}
    for role in set(_ROLES) - set(given):  # one column, one role
        if getattr(roles, role):
            given[role] = [one for one in getattr(roles, role) if one not in moved]
    return tuple(  # type: ignore[return-value]
        dataclasses.replace(
            one, **{name: value for name, value in given.items() if hasattr(one, name)}
        )
        for one in (form, roles)
    )


_ROLES = ("target", "known", "past", "static")
_ADDED = ("na", "known", "past", "static", "ignore")
"""Options that add to what was given before."""


def _fields(group: Any) -> dict[str, Any]:
    """Options of a group, and whether they take a switch, a whole number, a text or several."""
    hints = typing.get_type_hints(group)
    return {
        f"--{one.name.replace('_', '-')}": _kind(hints[one.name])
        for one in dataclasses.fields(group)
    }


def _kind(hint: Any) -> Any:
    kinds: Sequence[Any] = typing.get_args(hint) or (hint,)
    if bool in kinds:
        return bool
    if int in kinds:
        return int
    return list if any(typing.get_origin(one) is list for one in kinds) else str
