"""What is wrong with parts of a run that Lightning would notice in its middle.

Lightning is not imported here: whether an object is one of its own can be told by its bases.
"""

from typing import Any

__all__ = ["accelerator_problem", "callback_problem", "logger_problem"]

_MIXED = (
    "it is of the package 'lightning', and tsformer trains with 'pytorch_lightning'; the two do "
    "not mix: import it from pytorch_lightning"
)


def callback_problem(call: Any) -> str | None:
    """Why this cannot be called during training, or None.

    Examples
    --------
    >>> callback_problem(print)
    >>> callback_problem(3)
    'callbacks must be Lightning callbacks or functions of one row of the history'
    """
    if _derives(call, "pytorch_lightning", "Callback"):
        return None
    if _derives(call, "lightning", "Callback"):
        return _MIXED
    if _derives(call, "pytorch_lightning", "Logger") or _derives(call, "lightning", "Logger"):
        return "a logger is no callback: give it as Training(logger=...)"
    if isinstance(call, type) or not callable(call):
        return "callbacks must be Lightning callbacks or functions of one row of the history"
    return None


def logger_problem(logger: Any) -> str | None:
    """Why this cannot log a run, or None.

    Examples
    --------
    >>> logger_problem(None)
    >>> logger_problem("csv")
    'logger must be a Lightning logger, such as pytorch_lightning.loggers.CSVLogger(folder)'
    """
    if logger is None or isinstance(logger, bool):
        return None
    if isinstance(logger, (list, tuple)):
        return next(filter(None, map(logger_problem, logger)), None)
    if _derives(logger, "pytorch_lightning", "Logger"):
        return None
    if _derives(logger, "lightning", "Logger"):
        return _MIXED
    return "logger must be a Lightning logger, such as pytorch_lightning.loggers.CSVLogger(folder)"


def accelerator_problem(accelerator: str) -> str | None:
    """Why this machine cannot train on it, or None.

    Examples
    --------
    >>> accelerator_problem("cpu")
    """
    if accelerator in ("auto", "cpu"):
        return None
    import torch  # slow to load, and seldom needed here

    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    there = {"gpu": cuda or mps, "cuda": cuda, "mps": mps}[accelerator]
    return None if there else "this machine has none; use 'auto' or 'cpu'"


def _derives(value: Any, package: str, name: str) -> bool:
    return not isinstance(value, type) and any(
        base.__name__ == name and base.__module__.partition(".")[0] == package
        for base in type(value).__mro__
    )
