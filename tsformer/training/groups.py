"""Settings of a fit that are seldom touched, in groups."""

from typing import Any, Literal

from tsformer.errors import ParameterError
from tsformer.params import KW_ONLY, Params, param, params
from tsformer.training import runtime

__all__ = ["Device", "Optimizer", "Reports", "Windows"]


@params
class Optimizer(Params):
    """How weights move, beside the learning rate.

    Examples
    --------
    >>> Optimizer(clip=None).schedule
    'cosine'
    """

    _: KW_ONLY
    weight_decay: float = param("Decoupled weight decay of AdamW.", default=1e-2, low=0)
    schedule: Literal["cosine", "constant", "one_cycle"] = param(
        "Learning rate over the steps: 'cosine' falls to nothing after a short warm-up, "
        "'one_cycle' rises for 30 % of the steps first.",
        default="cosine",
        choices=("cosine", "constant", "one_cycle"),
    )
    clip: float | None = param(
        "Largest norm of the gradient; None does not clip.", default=1.0, above=0
    )


@params
class Windows(Params):
    """Which windows are trained on and judged.

    Examples
    --------
    >>> Windows(stride=24).sampling
    'windows'
    """

    _: KW_ONLY
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


@params
class Device(Params):
    """Where a fit runs, and in which precision.

    Examples
    --------
    >>> Device(accelerator="cpu").precision
    '32-true'
    """

    _: KW_ONLY
    accelerator: str = param(
        "Lightning's accelerator: 'auto', 'cpu', 'gpu', 'cuda', 'mps'.",
        default="auto",
        choices=("auto", "cpu", "gpu", "cuda", "mps"),
    )
    devices: int = param("Number of devices: 1, more are not supported yet.", default=1, low=1)
    precision: str = param(
        "Lightning's precision: '32-true', 'bf16-mixed' or '16-mixed'.",
        default="32-true",
        choices=("32-true", "32", "bf16-mixed", "bf16", "16-mixed", "16"),
    )
    compile: bool = param(
        "Compile the network for the time of a fit; needs a C++ compiler and takes a minute or"
        " more, which long fits of large networks may win back.",
        default=False,
    )

    def check(self) -> None:
        """Raise ``ParameterError`` for what this machine or this library has not."""
        super().check()
        if self.devices > 1:
            raise ParameterError(
                f"Training(devices={self.devices}): training on more than one device is not "
                "supported yet; devices must be 1"
            )
        problem = runtime.accelerator_problem(self.accelerator)
        if problem:
            raise ParameterError(f"Training(accelerator={self.accelerator!r}): {problem}")


@params
class Reports(Params):
    """Who is told of a fit while it runs.

    Examples
    --------
    >>> Reports(callbacks=[print]).progress
    'auto'
    """

    _: KW_ONLY
    callbacks: tuple[Any, ...] | list[Any] = param(
        "Lightning callbacks, or functions called with each epoch's row of the history.", default=()
    )
    logger: Any = param("A Lightning logger; None writes nothing.", default=None)
    progress: bool | Literal["auto"] = param(
        "A progress bar: 'auto' shows one in a terminal or notebook.", default="auto"
    )

    def check(self) -> None:
        """Raise ``ParameterError`` for what Lightning would not call."""
        super().check()
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
