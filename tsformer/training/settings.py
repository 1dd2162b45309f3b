"""How to train: every setting of a fit that is not the model's."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import pandas as pd

from tsformer.errors import ParameterError
from tsformer.params import KW_ONLY, Params, param, params
from tsformer.training import runtime

__all__ = ["Training"]


@params
class Training(Params):
    """Settings of one training run; the defaults suit a few thousand windows on a CPU.

    The best weights by validation loss are kept. Without validation windows there is no early
    stopping and the last weights are kept, which is logged.
    """

    _: KW_ONLY
    epochs: int = param("Most passes over the training windows.", default=20, low=0)
    batch_size: int = param("Windows a step.", default=32, low=1)
    learning_rate: float = param("Largest step size of AdamW.", default=1e-3, above=0)
    weight_decay: float = param("Decoupled weight decay of AdamW.", default=1e-2, low=0)
    schedule: Literal["cosine", "constant", "one_cycle"] = param(
        "Learning rate over the steps: 'cosine' falls to nothing after a short warm-up, "
        "'one_cycle' rises for 30 % of the steps first.",
        default="cosine",
        choices=("cosine", "constant", "one_cycle"),
    )
    patience: int | None = param(
        "Epochs without a better validation loss before stopping; None never stops.",
        default=3,
        low=1,
    )
    clip: float | None = param(
        "Largest norm of the gradient; None does not clip.", default=1.0, above=0
    )
    precision: str = param(
        "Lightning's precision: '32-true', 'bf16-mixed' or '16-mixed'.",
        default="32-true",
        choices=("32-true", "32", "bf16-mixed", "bf16", "16-mixed", "16"),
    )
    validation: float | int | str | pd.DataFrame | None = param(
        "Latest rows of each series kept for validation: a fraction below 1, a number of rows, "
        "a frame that continues the data, 'auto' (a fifth, at least one horizon), or None.",
        default="auto",
    )
    sampling: Literal["windows", "series"] = param(
        "What an epoch is: 'windows' takes every training window exactly once, 'series' as many,"
        " drawn so that every series comes up equally often.",
        default="windows",
        choices=("windows", "series"),
    )
    stride: int = param(
        "Rows between the origins of windows, in training and validation, counted back from where a"
        " forecast after the data begins: 24 with hourly data that end at midnight forecasts at"
        " midnight only, and learns from that alone.",
        default=1,
        low=1,
    )
    refit_all: bool = param(
        "Train once more, on all rows, for the best number of epochs found.", default=False
    )
    compile: bool = param(
        "Compile the network for the time of a fit; needs a C++ compiler and takes a minute or"
        " more, which long fits of large networks may win back.",
        default=False,
    )
    max_time: float | None = param("Seconds after which training stops.", default=None, above=0)
    accelerator: str = param(
        "Lightning's accelerator: 'auto', 'cpu', 'gpu', 'cuda', 'mps'.",
        default="auto",
        choices=("auto", "cpu", "gpu", "cuda", "mps"),
    )
    devices: int = param("Number of devices: 1, more are not supported yet.", default=1, low=1)
    callbacks: tuple[Any, ...] | list[Any] = param(
        "Lightning callbacks, or functions called with each epoch's row of the history.", default=()
    )
    logger: Any = param("A Lightning logger; None writes nothing.", default=None)
    progress: bool | Literal["auto"] = param(
        "A progress bar: 'auto' shows one in a terminal or notebook.", default="auto"
    )

    def check(self) -> None:
        """Raise ``ParameterError`` for the first setting that is out of range."""
        super().check()
        self._check_validation()
        if self.devices > 1:
            raise ParameterError(
                f"Training(devices={self.devices}): training on more than one device is not "
                "supported yet; devices must be 1"
            )
        problem = runtime.accelerator_problem(self.accelerator)
        if problem:
            raise ParameterError(f"Training(accelerator={self.accelerator!r}): {problem}")
        calls: Any = self.callbacks
        if not isinstance(calls, (tuple, list)):
            raise ParameterError(
                f"Training(callbacks={calls!r}): callbacks must be a list or tuple of them"
            )
        for call in calls:
            problem = runtime.callback_problem(call)
            if problem:
                raise ParameterError(f"Training(callbacks=[{call!r}]): {problem}")
        problem = runtime.logger_problem(self.logger)
        if problem:
            raise ParameterError(f"Training(logger={self.logger!r}): {problem}")

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
        return _SCHEDULES[self.schedule](step, max(1, steps))


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
