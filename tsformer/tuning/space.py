"""What to search: ranges and choices, each under the path of a parameter."""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import optuna
from sklearn.base import clone

from tsformer.errors import ParameterError
from tsformer.estimators import Forecaster, PanelForecaster
from tsformer.estimators.parameters import default_context, default_model
from tsformer.panels import Panel
from tsformer.panels.equality import same_value
from tsformer.params import KW_ONLY, Params, param, params
from tsformer.reading import read_panel

__all__ = ["UNKNOWN", "Choice", "Dimension", "Float", "Int", "auto_space", "given", "read_space"]

UNKNOWN = object()
"""A value as given that only the data decide."""


class Dimension(Params, ABC):
    """One parameter's values to try."""

    @abstractmethod
    def suggest(self, trial: optuna.trial.BaseTrial, path: str) -> Any:
        """A value for this trial, recorded under the path."""

    @abstractmethod
    def recorded(self, value: Any) -> Any:
        """The value as Optuna records it.

        Raises
        ------
        ParameterError
            If the value is not one to try.
        """

    @abstractmethod
    def example(self) -> Any:
        """Any one of the values."""

    def contains(self, value: Any) -> bool:
        """Whether the value is one to try."""
        try:
            self.recorded(value)
        except ParameterError:
            return False
        return True


@params
class Float(Dimension):
    """Real numbers from ``low`` to ``high``, both included.

    Examples
    --------
    >>> Float(1e-4, 1e-2, log=True).contains(0.003)
    True
    """

    low: float = param("Smallest value.")
    high: float = param("Largest value.")
    _: KW_ONLY
    log: bool = param("Draw evenly on a logarithmic scale; needs low above 0.", default=False)

    def check(self) -> None:
        """Raise ``ParameterError`` unless the bounds are finite and in order."""
        super().check()
        _check_bounds(self, Real)
        if self.log and not self.low > 0:
            raise ParameterError(f"{self!r}: log needs low above 0")

    def suggest(self, trial: optuna.trial.BaseTrial, path: str) -> float:
        """A number for this trial."""
        return trial.suggest_float(path, self.low, self.high, log=self.log)

    def recorded(self, value: Any) -> float:
        """The number itself."""
        return float(_inside(self, value, Real))

    def example(self) -> float:
        """The smallest number."""
        return float(self.low)


@params
class Int(Dimension):
    """Whole numbers from ``low`` to ``high``, both included.

    Examples
    --------
    >>> [value for value in range(60) if Int(24, 48, step=12).contains(value)]
    [24, 36, 48]
    """

    low: int = param("Smallest value.")
    high: int = param("Largest value.")
    _: KW_ONLY
    step: int = param("Distance between two values, counted from low.", default=1, low=1)
    log: bool = param(
        "Draw evenly on a logarithmic scale; needs low above 0 and step 1.", default=False
    )

    def check(self) -> None:
        """Raise ``ParameterError`` unless the bounds are whole, in order and a step apart."""
        super().check()
        _check_bounds(self, Integral)
        if (self.high - self.low) % self.step:
            raise ParameterError(f"{self!r}: step must divide high - low")
        if self.log and (self.low < 1 or self.step != 1):
            raise ParameterError(f"{self!r}: log needs low above 0 and step 1")

    def suggest(self, trial: optuna.trial.BaseTrial, path: str) -> int:
        """A number for this trial."""
        return trial.suggest_int(path, self.low, self.high, step=self.step, log=self.log)

    def recorded(self, value: Any) -> int:
        """The number itself."""
        whole = int(_inside(self, value, Integral))
        if (whole - self.low) % self.step:
            raise ParameterError(f"{value!r} is not in {self!r}")
        return whole

    def example(self) -> int:
        """The smallest number."""
        return int(self.low)


@params
class Choice(Dimension):
    """One of a few values of any kind, models and heads included.

    Examples
    --------
    >>> Choice([32, 64]).contains(48)
    False
    """

    values: Sequence[Any] = param("The values; what Optuna cannot record it records by repr.")

    def check(self) -> None:
        """Raise ``ParameterError`` without values, or if one stands twice."""
        super().check()
        if isinstance(self.values, str) or len(self.values) == 0:
            raise ParameterError(f"{self!r}: values must be a list that is not empty")
        if any(_same(*pair) for pair in combinations(self.values, 2)):
            raise ParameterError(f"{self!r} lists a value twice")

    @property
    def _labels(self) -> list[Any]:
        """What Optuna records; values that print alike are numbered."""
        labels = [_label(value) for value in self.values]
        return [
            f"{label} #{labels[:at].count(label) + 1}" if label in labels[:at] else label
            for at, label in enumerate(labels)
        ]

    def suggest(self, trial: optuna.trial.BaseTrial, path: str) -> Any:
        """A value for this trial; a fresh copy of a part."""
        label = trial.suggest_categorical(path, self._labels)
        return clone(self.values[self._labels.index(label)], safe=False)

    def recorded(self, value: Any) -> Any:
        """The value, or its repr where Optuna cannot record it."""
        for own, label in zip(self.values, self._labels, strict=True):
            if _same(own, value):
                return label
        raise ParameterError(f"{value!r} is not in {self!r}")

    def example(self) -> Any:
        """The first value."""
        return clone(self.values[0], safe=False)


def auto_space(forecaster: PanelForecaster, data: Any) -> dict[str, Dimension]:
    """A space around the forecaster as given, which lies in it.

    Half and double the context, where there are rows for it; for a model that is trained by
    gradient also the learning rate by a factor of ten, and dropout, width and encoder layers
    where it has them.

    Parameters
    ----------
    forecaster
        Its ``model`` says what there is to tune; None is what the data would choose.
    data
        The training rows, which bound the context.

    Examples
    --------
    >>> import numpy as np
    >>> from tsformer.models import Informer
    >>> space = auto_space(Forecaster(Informer(), horizon=6, context=48), np.arange(400.0))
    >>> for path, dimension in space.items():
    ...     print(path, dimension)
    context Choice(values=[24, 48, 96])
    training__learning_rate Float(high=0.01, log=True, low=0.0001)
    model__d_model Choice(values=[32, 64, 128])
    model__dropout Float(high=0.3, low=0.0)
    model__encoder_layers Int(high=3, low=1)
    """
    if not isinstance(forecaster, Forecaster):
        raise ParameterError(
            f"no space is known for {type(forecaster).__name__}: give one, such as "
            '{"season_length": [7, 14]}'
        )
    panel = read_panel(data, forecaster.schema, forecaster.policy)
    base = forecaster.context or default_context(panel, forecaster.horizon)
    model = forecaster.model or default_model(panel, base, forecaster.horizon)
    known = model.get_params(deep=False)
    space: dict[str, Dimension] = {"context": _contexts(forecaster, panel, base, known)}
    if not model.closed_form:
        rate = float(given(forecaster, "training__learning_rate"))
        space["training__learning_rate"] = Float(rate / 10, rate * 10, log=True)
    if "d_model" in known:
        width, heads = known["d_model"], known.get("n_heads", 1)
        widths = [wide for wide in (width // 2, width, 2 * width) if wide and wide % heads == 0]
        space["model__d_model"] = Choice(widths or [width])
    if "dropout" in known:
        space["model__dropout"] = Float(0.0, max(0.3, known["dropout"]))
    if "encoder_layers" in known:
        space["model__encoder_layers"] = Int(1, max(3, known["encoder_layers"]))
    return space


def read_space(
    space: str | Mapping[str, Any], forecaster: PanelForecaster, data: Any
) -> dict[str, Dimension]:
    """A checked space: ``"auto"`` made out, lists as choices.

    Raises
    ------
    ParameterError
        If a range is wrong or a path is not a parameter of the forecaster.
    """
    if isinstance(space, str):
        if space != "auto":
            raise ParameterError(f"space={space!r}: space must be 'auto' or a dict by path")
        return auto_space(forecaster, data)
    found = {path: _dimension(path, values) for path, values in space.items()}
    if not found:
        raise ParameterError("space={}: there is nothing to search")
    examples = {path: dimension.example() for path, dimension in found.items()}
    try:
        clone(forecaster).set_params(**examples)
    except ValueError as error:  # scikit-learn's own too, of a part that is not ours
        raise ParameterError(f"space: {error}") from error
    except AttributeError as error:
        deep = ", ".join(path for path in examples if "__" in path)
        raise ParameterError(f"space: one of {deep} leads into what has no parameters") from error
    return found


def given(forecaster: PanelForecaster, path: str) -> Any:
    """The value of a parameter as the forecaster stands, where a part of None is its default.

    Returns ``UNKNOWN`` for what belongs to a model that the data have yet to choose.
    """
    *parts, name = path.split("__")
    owner: Any = forecaster
    for part in parts:
        inside = getattr(owner, part)
        if inside is None:
            if part == "model":
                return UNKNOWN
            fields = {field.name: field for field in dataclasses.fields(owner)}
            inside = fields[part].metadata["part"]()
        owner = inside
    return getattr(owner, name)


def _dimension(path: str, values: Any) -> Dimension:
    dimension = Choice(values) if isinstance(values, (list, tuple)) else values
    if not isinstance(dimension, Dimension):
        raise ParameterError(
            f"space[{path!r}] is {values!r}: it must be Float, Int, Choice or a list of values"
        )
    dimension.check()
    return dimension


def _contexts(forecaster: Forecaster, panel: Panel, base: int, model: Mapping[str, Any]) -> Choice:
    """Half, once and twice the context; None stays None, so that the default is among them."""
    # four fifths of the rows train; one window must fit into them, and some more
    longest = int(0.8 * panel.index.lengths.min()) - 2 * forecaster.horizon
    shortest = max(1, model.get("start") or 0)
    others = [steps for steps in (base // 2, 2 * base) if shortest <= steps <= longest]
    values = {base: forecaster.context, **{steps: steps for steps in others}}
    return Choice([values[steps] for steps in sorted(values)])


_PLAIN = (bool, int, float, str, type(None))


def _same(one: Any, other: Any) -> bool:
    plain = isinstance(one, _PLAIN) and isinstance(other, _PLAIN)
    return bool(one == other) if plain else same_value(one, other)


def _label(value: Any) -> Any:
    return value if isinstance(value, _PLAIN) else repr(value)


def _check_bounds(dimension: Float | Int, kind: type) -> None:
    low, high = dimension.low, dimension.high
    for value in (low, high):
        fine = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)
        if not fine:
            whole = "whole" if kind is Integral else "finite"
            raise ParameterError(f"{dimension!r}: bounds must be {whole} numbers")
    if low > high:
        raise ParameterError(f"{dimension!r}: low must be at most high")


def _inside(dimension: Float | Int, value: Any, kind: type) -> Any:
    number = isinstance(value, kind) and not isinstance(value, bool)
    if not number or not dimension.low <= value <= dimension.high:
        raise ParameterError(f"{value!r} is not in {dimension!r}")
    return value
