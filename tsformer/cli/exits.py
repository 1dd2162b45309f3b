"""How a command ends: an exit code, and one line on stderr where something is to be said."""

import logging
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tsformer.errors import (
    ForecastError,
    MissingDependency,
    ParameterError,
    ShapeError,
    TrainingFailed,
    TsformerError,
)

__all__ = ["exit_code", "note", "one_line", "worded"]

_FAILED = (TrainingFailed, ForecastError, ShapeError)
_DATA = (TsformerError, MissingDependency, OSError)


def exit_code(command: Callable[[], Any]) -> int:
    """Run a command; say in one line what went wrong, and return the exit code for it."""
    with _notes():
        try:
            return int(command() or 0)
        except KeyboardInterrupt:
            return _ended(130, "interrupted")
        except Exception as error:
            if os.environ.get("TSFORMER_DEBUG"):
                traceback.print_exc()
            return _ended(*_judged(error))


def note(message: Any) -> None:
    """Say something on stderr that is not an error."""
    said = worded(message) if isinstance(message, Exception) else str(message)
    print(f"note: {one_line(said)}", file=sys.stderr)


def one_line(message: str) -> str:
    """The message without line ends."""
    return " ".join(message.split())


def worded(error: Exception) -> str:
    """What was found, cures as options of the command line, and notes added on the way up."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    message = getattr(error, "message", None)
    cures = getattr(error, "cures", ())
    options = (cure.options() for cure in cures)
    said = [str(error)] if message is None else [message, *filter(None, options)]
    return " ".join([*said, *getattr(error, "__notes__", ())])


def _judged(error: Exception) -> tuple[int, str]:
    """The exit code of an error, and what to print."""
    shown = getattr(error, "format_message", None)
    if shown is not None:  # raised by typer for the options it reads
        return error.exit_code, str(shown())  # type: ignore[attr-defined]
    for kinds, code in (((ParameterError,), 2), (_FAILED, 3), (_DATA, 1)):
        if isinstance(error, kinds):
            return code, worded(error)
    kind = type(error).__name__
    return 70, f"{kind}: {error} (a defect of tsformer; TSFORMER_DEBUG=1 shows where)"


def _ended(code: int, message: str) -> int:
    if message:  # none where typer has shown its help instead
        print(f"error: {one_line(message)}", file=sys.stderr)
    return code


@contextmanager
def _notes() -> Iterator[None]:
    """Show warnings for the user as one line each, once; keep others to ourselves."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            note(message)

    handler = _Notes(logging.WARNING)
    log = logging.getLogger("tsformer")
    log.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            yield
    finally:
        log.removeHandler(handler)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())
