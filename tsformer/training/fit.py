"""One fit: a network from its seed, and a quiet Lightning run that leaves nothing behind."""

import logging
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from typing import Any, cast

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import ProgressBar, RichProgressBar, TQDMProgressBar
from pytorch_lightning.utilities.exceptions import SIGTERMException

from tsformer.cures import ignored_for_long
from tsformer.errors import MissingDependency
from tsformer.heads import Head
from tsformer.models import Architecture, Network
from tsformer.training.budget import Budget
from tsformer.training.data import WindowDataModule
from tsformer.training.module import ForecastModule
from tsformer.training.randomness import seeded
from tsformer.training.settings import Training
from tsformer.windows import Sizes

__all__ = ["build_network", "train"]


log = logging.getLogger("tsformer")

_OF_NO_INTEREST = (
    # gathered batches need no workers; a network in closed form has no optimizer
    ".*does not have many workers.*",
    ".*returned `None`, this fit will run.*",
    ".*GPU available but not used.*",
    ".*MPS available but not used.*",
    ".*Total length of `list` across ranks is zero.*",
    ".*smaller than the logging interval.*",
    ".*treespec, LeafSpec.*",
)


def build_network(model: Architecture, sizes: Sizes, head: Head, *, random_state: int) -> Network:
    """A network whose initial weights depend on ``random_state`` alone."""
    with seeded(random_state):
        return model.build(sizes, head)


def train(
    module: ForecastModule,
    data: WindowDataModule,
    training: Training,
    budget: Budget | None = None,
) -> None:
    """Train the module on the data; its network ends with the best weights.

    Nothing is written to disk, nothing is printed unless a person watches, and the global
    generators are left as they were.

    Parameters
    ----------
    module, data, training
        What to train, on what, and how.
    budget
        The time it may take; by default ``training.max_time`` from now on.

    Raises
    ------
    TrainingFailed
        If the loss became NaN or infinite.
    KeyboardInterrupt
        As pressed; Lightning alone would end the process. SIGTERM does end it.
    """
    bars = _progress(training.progress)
    # seeded first: what is silenced is the process's, and threads take turns
    module.budget = budget or Budget(training.max_time)
    began = time.monotonic()
    with seeded(module.random_state), _quiet():
        module.budget.waited(time.monotonic() - began)
        trainer = pl.Trainer(
            accelerator=training.accelerator,
            devices=training.devices,
            precision=cast(Any, training.precision),  # Lightning checks the word itself
            # the module itself stops a run of no epochs, after what has a closed form
            max_epochs=max(1, training.epochs),
            callbacks=list(bars),
            enable_progress_bar=bool(bars),
            logger=training.logger or False,
            enable_checkpointing=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
        )
        try:
            with _compiled(module.network) if training.compile else nullcontext():
                trainer.fit(module, datamodule=data)
        except SIGTERMException as stopped:
            raise SystemExit(128 + signal.SIGTERM) from stopped
        except SystemExit as stopped:
            raise KeyboardInterrupt from stopped
        finally:
            module.trainer = None
        if trainer.interrupted:
            raise KeyboardInterrupt


@contextmanager
def _compiled(network: Network) -> Iterator[None]:
    """Run the network compiled inside the block; what is kept of it is as it was."""
    if not any(map(shutil.which, ("c++", "g++", "clang++", "cl"))):
        raise MissingDependency(
            "Training(compile=True) needs a C++ compiler, and none is found: install g++ or"
            " clang++, or leave it out"
        )
    with warnings.catch_warnings():
        # torch's compiler uses parts of torch that torch itself warns of
        warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"torch\.")
        # what training calls; some networks do not go through ``forward`` there
        network.supervise = torch.compile(network.supervise)  # type: ignore[method-assign]
        try:
            yield
        finally:
            del network.supervise  # the attribute, not the method behind it


def _progress(progress: bool | str) -> tuple[ProgressBar, ...]:
    notebook = "ipykernel" in sys.modules
    if progress == "auto":  # without widgets a notebook shows every state of a bar below the last
        progress = find_spec("ipywidgets") is not None if notebook else sys.stderr.isatty()
    if not progress:
        return ()
    return (TQDMProgressBar(leave=False),) if notebook else (RichProgressBar(leave=False),)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence what Lightning says of itself, for the time of a fit."""
    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning.pytorch")]
    levels = [logger.level for logger in loggers]
    with ignored_for_long(*_OF_NO_INTEREST):
        try:
            for logger in loggers:
                logger.setLevel(logging.ERROR)
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
