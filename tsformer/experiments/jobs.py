"""What one cell needs, its scores, and the record that is kept of them."""

import logging
import math
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from tsformer.datasets import load_dataset
from tsformer.errors import ParameterError
from tsformer.estimators import PanelForecaster
from tsformer.evaluation import backtest
from tsformer.experiments.experiment import Cell, Experiment
from tsformer.experiments.identity import data_hash, hashed, identity
from tsformer.experiments.provenance import peak_memory, provenance
from tsformer.experiments.store import Store

__all__ = ["Job", "jobs_of", "run_job"]

_LOG = logging.getLogger("tsformer")


@dataclass(frozen=True)
class Job:
    """All that one cell needs, in a form that another process can be given.

    Attributes
    ----------
    cell, identity
        Which it is, and what decides its scores.
    forecaster
        What is fitted.
    data
        A data set, a frame, or the name of a data set.
    asked
        Further arguments of ``backtest``.
    """

    cell: Cell
    identity: dict[str, Any]
    forecaster: PanelForecaster
    data: Any
    asked: dict[str, Any]

    @cached_property
    def key(self) -> str:
        """Under which its record is kept."""
        return hashed(self.identity)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The scores that it has."""
        names: tuple[str, ...] = self.asked["metrics"]
        return names


def jobs_of(
    experiment: Experiment,
    cells: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    *,
    keep_windows: bool = False,
) -> list[Job]:
    """A job for each cell, or for those that are chosen.

    Raises
    ------
    ParameterError
        If the grid cannot be made, or nothing of it is chosen.
    """
    chosen = [cell for cell in experiment.cells(cells) if seeds is None or cell.seed in seeds]
    if not chosen:
        raise ParameterError(f"seeds={seeds!r}: the experiment has {list(experiment.seeds)}")
    given = experiment.datasets
    data = {name: given[name] if isinstance(given, Mapping) else name for name in given}
    hashes = {name: data_hash(data[name]) for name in {cell.dataset for cell in chosen}}
    asked: dict[str, Any] = {
        "split": experiment.split,
        "step": experiment.step,
        "metrics": experiment.metric_names,
        "quantiles": experiment.quantiles,
        "keep_windows": keep_windows,
    }
    if experiment.folds is not None:
        asked["folds"] = experiment.folds
    return [
        Job(
            cell,
            identity(experiment, cell, hashes[cell.dataset]),
            experiment.forecaster(cell),
            data[cell.dataset],
            asked,
        )
        for cell in chosen
    ]


def run_job(job: Job, store: Store) -> None:
    """Run one cell and keep what came of it; only an interrupt stops the run."""
    _LOG.info("%s: running", job.cell)
    began = time.monotonic()
    record: dict[str, Any] = {
        "cell": job.cell._asdict(),
        "failed": None,
        "scores": {},
        "identity": job.identity,
    }
    windows = None
    try:
        with peak_memory() as peak:
            found, windows = _scored(job)
        record |= found | {"peak_memory": peak.get("MiB")}
    except Exception as problem:
        _LOG.info("%s: failed", job.cell, exc_info=True)
        last = traceback.format_exception(problem)[-6:]
        record |= {"failed": f"{type(problem).__name__}: {problem}", "traceback": "".join(last)}
    record |= {"seconds": round(time.monotonic() - began, 2), "ended": time.time()}
    store.write(job.key, job.cell, record | {"provenance": provenance()}, windows)


def _scored(job: Job) -> tuple[dict[str, Any], pd.DataFrame | None]:
    data = load_dataset(job.data) if isinstance(job.data, str) else job.data
    name, horizon = job.cell.forecaster, job.cell.horizon
    result = backtest(
        {name: job.forecaster}, data, horizon=horizon, keep_forecasts=False, **job.asked
    )
    scores = result.summary().loc[name, list(job.metrics)].astype(float).to_dict()
    fits = result.fits[result.fits["forecaster"] == name]
    best = fits["best_epoch"].dropna()
    record = {
        "scores": {key: score if math.isfinite(score) else None for key, score in scores.items()},
        "windows": result.windows,
        "skipped": int(result.skipped["windows"].sum()),
        "epochs": int(fits["epochs"].sum()),
        "best_epoch": int(best.iloc[-1]) if len(best) else None,
        "cut_short": next(filter(None, fits["cut_short"]), ""),
        "context": int(fits["context"].iloc[-1]),
        "fit_seconds": round(float(fits["seconds"].sum()), 2),
    }
    if not job.asked["keep_windows"]:
        return record, None
    table = result.by_window()
    return record, table[table["forecaster"] == name]
