"""A line on stderr a while, so that a long fit whose output goes to a file is not silent."""

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["Progress", "progress"]

_EVERY = 20.0
"""Seconds between two lines; what is shorter is silent."""


class Progress:
    """What is known of a run that is under way.

    Attributes
    ----------
    epoch
        The latest row of the history, None before the first.
    """

    def __init__(self) -> None:
        self.epoch: dict[str, Any] | None = None

    def row(self, row: Mapping[str, Any]) -> None:
        """Take an epoch's row of the history: a callback of ``Training``."""
        self.epoch = dict(row)

    def follow(self, forecaster: Any) -> None:
        """Have a forecaster that is trained say where it stands."""
        if hasattr(forecaster, "training"):
            forecaster.set_params(training__callbacks=(self.row,))

    def said(self, seconds: float) -> str:
        """Where the run stands after so many seconds."""
        if self.epoch is None:
            return f"running for {seconds:.0f} s"
        loss = self.epoch.get("validation_loss", float("nan"))
        known = f", validation loss {loss:.4g}" if loss == loss else ""
        return f"running for {seconds:.0f} s: epoch {self.epoch['epoch']} done{known}"


@contextmanager
def progress(*, every: float | None = None) -> Iterator[Progress]:
    """Say on stderr now and then where a run stands, unless a person watches a bar there."""
    state, ended, began = Progress(), threading.Event(), time.monotonic()
    pause = _EVERY if every is None else every

    def speak() -> None:
        while not ended.wait(pause):
            print(f"note: {state.said(time.monotonic() - began)}", file=out, flush=True)

    out = sys.stderr
    speaker = threading.Thread(target=speak, daemon=True)
    if not out.isatty():
        speaker.start()
    try:
        yield state
    finally:
        ended.set()
        if speaker.is_alive():
            speaker.join()
