"""How to train: every setting of a fit that is not the model's."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import pandas as pd

from tsformer.errors import ParameterError
from tsformer.params import KW_ONLY, Params, group, param, params
from tsformer.training.groups import Device, Optimizer, Reports, Windows

__all__ = ["Training"]


@params
class Training(Params):
    """Settings of one training run; the defaults suit a few thousand windows on a CPU.

    The best weights by validation loss are kept. Without validation windows there is no early
    stopping and the last weights are kept, which is logged.

    What is seldom touched stands in groups, and may be given by its own name as well:
    ``Training(clip=None)`` is ``Training(optimizer=Optimizer(clip=None))``, and
    ``training__clip`` is ``training__optimizer__clip``.

    Examples
    --------
    >>> Training(epochs=5, stride=24)
    Training(epochs=5, windows=Windows(stride=24))
    >>> Training().set_params(windows__stride=12).stride
    12
    """

    _: KW_ONLY
    epochs: int = param("Most passes over the training windows.", default=20, low=0)
    batch_size: int = param("Windows a step.", default=32, low=1)
    learning_rate: float = param("Largest step size of AdamW.", default=1e-3, above=0)
    validation: float | int | str | pd.DataFrame | None = param(
        "Latest rows of each series kept for validation: a fraction below 1, a number of rows, "
        "a frame that continues the data, 'auto' (a fifth, at least one horizon), or None.",
        default="auto",
    )
    patience: int | None = param(
        "Epochs without a better validation loss before stopping; None never stops.",
        default=3,
        low=1,
    )
    max_time: float | None = param("Seconds after which training stops.", default=None, above=0)
    refit_all: bool = param(
        "Train once more, on all rows, for the best number of epochs found.", default=False
    )
    optimizer: Optimizer | None = group(Optimizer, default=None)
    windows: Windows | None = group(Windows, default=None)
    device: Device | None = group(Device, default=None)
    reports: Reports | None = group(Reports, default=None)

    def check(self) -> None:
        """Raise ``ParameterError`` for the first setting that is out of range."""
        super().check()
        self._check_validation()

    def _check_validation(self) -> None:
        value: Any = self.validation
        fine = value is None or isinstance(value, pd.DataFrame) or value == "auto"
        if not isinstance(value, bool) and isinstance(value, Real):
            number = float(value)
            fine = 0 <= number < 1 or (number >= 1 and number.is_integer())
        if not fine:
            raise ParameterError(
                f"Training(validation={value!r}): validation must be a fraction below 1, a whole "
                "number of rows, a frame, 'auto' or None"
            )

    def learning_rate_at(self, step: int, steps: int) -> float:
        """Factor on the learning rate at this step of ``steps``.

        Examples
        --------
        >>> [round(Training().learning_rate_at(step, 101), 2) for step in (0, 5, 50, 100)]
        [0.17, 1.0, 0.54, 0.0]
        """
        return _SCHEDULES[(self.optimizer or Optimizer()).schedule](step, max(1, steps))


def _constant(step: int, steps: int) -> float:
    return 1.0


def _rise_and_fall(step: int, steps: int, rise: float) -> float:
    warm = max(1, round(rise * steps))
    if step < warm:
        return (step + 1) / (warm + 1)
    done = (step - warm) / max(1, steps - 1 - warm)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


_SCHEDULES: dict[str, Callable[[int, int], float]] = {
    "constant": _constant,
    "cosine": lambda step, steps: _rise_and_fall(step, steps, 0.05),
    "one_cycle": lambda step, steps: _rise_and_fall(step, steps, 0.3),
}
