"""From options to a forecaster: models by name, parameters by path."""

import ast
import dataclasses
import difflib
import inspect
import re
import typing
from typing import TYPE_CHECKING, Any

from tsformer.cli.options import Model
from tsformer.errors import ParameterError

if TYPE_CHECKING:
    from tsformer.cli.files import Data
    from tsformer.params import Params

__all__ = ["build_forecaster", "check_levels", "known_model", "read_quantiles"]

_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def build_forecaster(data: "Data", horizon: int, options: Model, **defaults: Any) -> Any:
    """A forecaster for these data as the options ask for it.

    Parameters
    ----------
    defaults
        Parameters by path, for models that are trained; options go before them.

    Raises
    ------
    ParameterError
        If a name or a path is not known, or a value is out of range.
    """
    from tsformer import estimators

    common: dict[str, Any] = {"horizon": horizon, "schema": data.schema, "policy": data.policy}
    kind = None if options.model is None else known_model(options.model)
    forecaster: Params
    if kind in estimators.BASELINES:
        forecaster, defaults = kind(**common), {}
    else:
        forecaster = estimators.Forecaster(None if kind is None else kind(), **common)
    by_option = {
        "context": options.context,
        "training__epochs": options.epochs,
        "training__max_time": options.max_time,
        "random_state": options.seed,
        "nonnegative": options.nonnegative or None,
    }
    given = {path: value for path, value in by_option.items() if value is not None}
    if options.nonnegative and not hasattr(forecaster, "nonnegative"):
        raise ParameterError(
            f"--nonnegative is for models that are trained; --model {options.model} is not."
        )
    for path, value in {**defaults, **given}.items():
        _set(forecaster, path, value)
    for setting in options.settings or ():
        _set(forecaster, *_read_setting(setting))
    forecaster.check()
    return forecaster


def read_quantiles(text: str) -> list[float] | None:
    """Levels such as ``0.1,0.9``; None for none."""
    if not text.strip():
        return None
    try:
        levels = [float(one) for one in text.split(",")]
    except ValueError as problem:
        raise ParameterError(
            f"--quantiles {text}: give levels inside (0, 1), such as 0.1,0.9"
        ) from problem
    if not all(0 < level < 1 for level in levels):
        raise ParameterError(f"--quantiles {text}: each level must lie inside (0, 1)")
    return sorted(set(levels))


def check_levels(forecaster: Any, levels: list[float] | None) -> None:
    """Refuse levels that the forecaster will not learn, before it learns any.

    Raises
    ------
    ParameterError
        With the option that makes it learn them.
    """
    import torch

    from tsformer.heads import Quantiles

    if levels and hasattr(forecaster, "head"):
        head = forecaster.head or Quantiles()
        head.quantiles(torch.zeros(1, 1, 1, head.width), levels)


def known_model(given: str) -> Any:
    """A model or a baseline by its name, whatever its case and hyphens."""
    from tsformer import estimators, models

    architectures = [getattr(models, name) for name in models.__all__]
    kinds = [
        one
        for one in architectures
        if isinstance(one, type)
        and issubclass(one, models.Architecture)
        and not inspect.isabstract(one)
    ]
    spelt = re.compile("(?<=[a-z])(?=[A-Z])")
    known: dict[str, Any] = {
        spelt.sub("-", one.__name__).lower(): one for one in (*kinds, *estimators.BASELINES)
    }
    plain = {name.replace("-", ""): name for name in known}
    wanted = re.sub("[-_ ]", "", given.lower())
    if wanted in plain:
        return known[plain[wanted]]
    close = difflib.get_close_matches(wanted, plain, n=1)
    hint = f"did you mean {plain[close[0]]}?" if close else f"there are {', '.join(known)}."
    raise ParameterError(f"no model is called {given!r}; {hint}")


def _read_setting(setting: str) -> tuple[str, Any]:
    path, equals, text = setting.partition("=")
    path = path.strip()
    if not path or not equals:
        raise ParameterError(f"--set {setting}: write PATH=VALUE, such as model__d_model=32")
    try:
        return path, ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return path, text


def _set(forecaster: "Params", path: str, value: Any) -> None:
    """Set one parameter; what fit could not make sense of is refused here."""
    *parts, name = forecaster.full_path(path).split("__")
    try:
        forecaster.set_params(**{path: value})
    except AttributeError as problem:
        raise ParameterError(f"--set {path}: {parts[-1]!r} has no parameters") from problem
    owner: Any = forecaster
    for part in parts:
        owner = getattr(owner, part)
    fields = {field.name: field for field in dataclasses.fields(owner)}
    if fields[name].metadata.get("part") and value is not None:
        cure = "--model NAME" if name == "model" else f"--set {path}__...=VALUE"
        raise ParameterError(f"--set {path}: {name} is a part with its own parameters: {cure}")
    hint = typing.get_type_hints(type(owner))[name]
    meant = _as_switch(value, hint)
    if isinstance(meant, str) and not _takes_text(hint):
        needed = "true or false is" if bool in _kinds(hint) else "a number is"
        raise ParameterError(f"--set {path}={value}: {value!r} is text, {needed} needed")
    setattr(owner, name, meant)


def _as_switch(value: Any, hint: Any) -> Any:
    """True or False where a switch is set by one of their usual words, else the value."""
    kinds = _kinds(hint)
    if bool not in kinds or _takes_text(hint):
        return value
    if isinstance(value, str):
        return _SWITCHES.get(value.strip().lower(), value)
    whole = isinstance(value, int) and value in (0, 1) and not {int, float} & set(kinds)
    return bool(value) if whole else value


def _kinds(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) or (hint,)


def _takes_text(hint: Any) -> bool:
    kinds = _kinds(hint)
    return any(kind in (str, Any) or isinstance(kind, str) for kind in kinds) or any(
        typing.get_origin(kind) is typing.Literal for kind in kinds
    )
