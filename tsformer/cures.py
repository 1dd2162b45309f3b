"""What can be done about an error, as data: Python and the command line each word it their way."""

import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Cure", "as_options", "warn"]

_VALUES = {"schema": "Schema", "policy": "Policy", "training": "Training", "head": "Quantiles"}
_OF_COLUMNS = (
    "time",
    "series",
    "target",
    "known",
    "past",
    "static",
    "weight",
    "freq",
    "season",
    "holidays",
)
_OPTIONS = {
    **{f"schema__{name}": f"--{name}" for name in _OF_COLUMNS},
    **{f"policy__{name}": f"--{name}" for name in ("missing", "gaps", "short")},
    **{name: f"--{name}" for name in ("horizon", "context", "nonnegative")},
    "training__epochs": "--epochs",
    "training__max_time": "--max-time",
    "random_state": "--seed",
}
"""Parameters with an option of their own; others are set by ``--set PATH=VALUE``."""


@dataclass(frozen=True)
class Cure:
    """Something that mends what an error or a warning is about.

    Parameters
    ----------
    advice
        What to do, a sentence without its end.
    settings
        Parameters that do it, by path; ``...`` where the caller has to fill in the value.
    code
        Python that does it to the data, where no parameter can.
    option
        What does it on the command line, after the settings, where they do not say all of it.

    Examples
    --------
    >>> cure = Cure("Put absent rows back", {"policy__gaps": "mask", "policy__missing": "mask"})
    >>> cure.python()
    'Put absent rows back: policy=Policy(gaps="mask", missing="mask").'
    >>> cure.options()
    'Put absent rows back: --gaps mask --missing mask.'
    >>> Cure("Say it", {"schema__freq": ...}).options()
    'Say it: --freq FREQ.'
    >>> Cure("Smaller steps", {"training__learning_rate": 1e-4}).options()
    'Smaller steps: --set training__learning_rate=0.0001.'
    >>> Cure("Give more rows").options()
    'Give more rows.'

    The command line is not told what takes Python:

    >>> Cure("Convert it", code='frame["y"] = frame["y"].astype(float)').options()
    ''
    """

    advice: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    option: str = ""

    def python(self) -> str:
        """The advice with a line of Python to paste, if there is one."""
        return _sentence(self.advice, self.code or _as_arguments(self.settings))

    def options(self) -> str:
        """The advice with options of the command line; empty where only Python would do."""
        shown = " ".join(filter(None, [as_options(self.settings), self.option]))
        return "" if self.code and not shown else _sentence(self.advice, shown)


def warn(warning: Warning) -> None:
    """Warn at the line of the caller's code that called into this library."""
    depth, frame = 2, sys._getframe(1)  # 1 is this function
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(warning, stacklevel=depth)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def _sentence(advice: str, shown: str) -> str:
    return f"{advice}: {shown}." if shown else f"{advice}."


def _as_arguments(settings: Mapping[str, Any]) -> str:
    """Keyword arguments; ``a__b`` is an argument of the value that ``a`` stands for."""
    parts: dict[str, list[str]] = {}
    for path, value in settings.items():
        part, nested, name = path.partition("__")
        parts.setdefault(part if nested else "", []).append(
            f"{name if nested else path}={_python_text(value)}"
        )
    return ", ".join(
        f"{part}={_VALUES.get(part, part.capitalize())}({', '.join(inside)})"
        if part
        else ", ".join(inside)
        for part, inside in parts.items()
    )


def as_options(settings: Mapping[str, Any]) -> str:
    """Parameters by path as options of the command line; ``...`` is for the caller to fill in.

    Examples
    --------
    >>> as_options({"schema__past": ["price", "day off"], "policy__gaps": "mask"})
    '--past "price,day off" --gaps mask'
    """
    return " ".join(_as_option(path, value) for path, value in settings.items())


def _as_option(path: str, value: Any) -> str:
    option = _OPTIONS.get(path)
    if option is None or value is False or value is None:
        shown = "VALUE" if value is ... else value
        return f"--set {_quoted(f'{path}={shown}')}"
    if value is True:
        return option
    if value is ...:
        return f"{option} {option.removeprefix('--').replace('-', '_').upper()}"
    if isinstance(value, (list, tuple)) and any("," in str(one) for one in value):
        return " ".join(f"{option} {_quoted(str(one))}" for one in value)
    listed = value if isinstance(value, (list, tuple)) else (value,)
    return f"{option} {_quoted(','.join(map(str, listed)))}"


def _python_text(value: Any) -> str:
    """Text in double quotes, as these messages quote it; everything else as it prints itself."""
    if value is ...:
        return "..."
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def _quoted(text: str) -> str:
    """The text as one word of a shell."""
    if re.fullmatch(r"[\w.,:=/+-]+", text):
        return text
    if re.search(r'["$`\\]', text) and "'" not in text:
        return f"'{text}'"
    return '"' + text.replace('"', '\\"') + '"'
