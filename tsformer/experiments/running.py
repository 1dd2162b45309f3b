"""``run``: every cell of an experiment once, whatever happens to some of them."""

import logging
import math
import multiprocessing
import os
import time
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from tsformer.cures import warn
from tsformer.datasets import Dataset, load_dataset
from tsformer.errors import ParameterError, TsformerWarning
from tsformer.estimators import PanelForecaster
from tsformer.evaluation import backtest
from tsformer.experiments.experiment import Cell, Experiment
from tsformer.experiments.identity import hashed, identity
from tsformer.experiments.provenance import peak_memory, provenance
from tsformer.experiments.store import Store
from tsformer.progress import progress_bar

__all__ = ["run", "stored"]

_LOG = logging.getLogger("tsformer")

_POLL = 0.5
"""Seconds between two looks at what other processes have finished."""


@dataclass(frozen=True)
class _Job:
    """All that one cell needs, in a form that another process can be given."""

    cell: Cell
    identity: dict[str, Any]
    forecaster: PanelForecaster
    data: Any
    """A data set, a frame, or the name of a data set."""
    asked: dict[str, Any]
    keep_windows: bool

    @property
    def key(self) -> str:
        return hashed(self.identity)


def run(
    experiment: Experiment,
    *,
    store: str | Path | None = None,
    cells: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    workers: int = 1,
    force: bool = False,
    keep_windows: bool = False,
) -> pd.DataFrame:
    """Run the cells that are not finished yet, and return them all.

    A cell is finished when the store holds it under the hash of its parameters, data, split, seed
    and format. One that fails is recorded with its reason, the others go on, and it is tried again
    by the next run. Processes that share a store share the cells: none is run twice, and those of
    a process that was killed are taken over.

    Parameters
    ----------
    experiment
        The grid.
    store
        A folder that holds a file for each cell; None keeps them in memory only.
    cells
        Only those that match one of ``dataset/horizon/forecaster``; see ``Experiment.cells``.
    seeds
        Only these seeds.
    workers
        Processes that run cells side by side; each has its share of the threads.
    force
        Run finished cells again, too.
    keep_windows
        Keep the metrics of every window beside each cell, for tests of significance.

    Returns
    -------
    DataFrame
        One row a cell: ``dataset, horizon, forecaster, seed, status`` (done, failed or missing),
        ``reason``, the metrics, ``windows, skipped, epochs, best_epoch, context, seconds,
        fit_seconds, peak_memory`` (MiB), ``commit``.

    Raises
    ------
    ParameterError
        If the grid cannot be made, before any cell is run.

    Warns
    -----
    TsformerWarning
        If some cells failed, with the first reason.

    Examples
    --------
    >>> from tsformer.estimators import Drift, SeasonalNaive
    >>> experiment = Experiment(
    ...     "Is drift better than persistence?", datasets=["air_passengers"], horizons=[12],
    ...     forecasters={"drift": Drift(horizon=1), "naive": SeasonalNaive(horizon=1)},
    ...     folds=3, metrics=["mae"],
    ... )
    >>> run(experiment)[["dataset", "horizon", "forecaster", "mae", "windows"]].round(2)
              dataset  horizon forecaster    mae  windows
    0  air_passengers       12      drift  64.21        3
    1  air_passengers       12      naive  35.92        3
    """
    kept = Store(store)
    jobs = _jobs(experiment, cells, seeds, keep_windows)
    if workers < 1 or (workers > 1 and store is None):
        raise ParameterError(f"workers={workers}: must be at least 1, and several need a store")
    began = time.time() if force else 0.0
    if workers == 1:
        with progress_bar("cells", len(jobs)) as advance:
            for _ in _finished(jobs, kept, began):
                advance(1)
    else:
        _run_beside(jobs, kept, began, workers)
    table = _table(jobs, kept)
    failed = table[table["status"] != "done"]
    if len(failed):
        first = failed.iloc[0]
        where = f"{first['dataset']}/{first['horizon']}/{first['forecaster']}"
        found = f"{len(failed)} of {len(table)} cells failed; the first, {where}: {first['reason']}"
        warn(TsformerWarning(found))
    return table


def stored(
    experiment: Experiment,
    *,
    store: str | Path,
    cells: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> pd.DataFrame:
    """What a store holds of an experiment, as ``run`` returns it; nothing is run."""
    return _table(_jobs(experiment, cells, seeds, keep_windows=False), Store(store))


def _jobs(
    experiment: Experiment,
    cells: Sequence[str] | None,
    seeds: Sequence[int] | None,
    keep_windows: bool,
) -> list[_Job]:
    asked = {
        "split": experiment.split,
        "step": experiment.step,
        "metrics": experiment.metrics,
        "quantiles": experiment.quantiles,
        **({} if experiment.folds is None else {"folds": experiment.folds}),
    }
    named = not hasattr(experiment.datasets, "keys")
    jobs = [
        _Job(
            cell,
            identity(experiment, cell),
            experiment.forecaster(cell),
            cell.dataset if named else experiment.datasets[cell.dataset],
            asked,
            keep_windows,
        )
        for cell in experiment.cells(cells)
        if seeds is None or cell.seed in seeds
    ]
    if not jobs:
        raise ParameterError(f"seeds={seeds!r}: the experiment has {list(experiment.seeds)}")
    return jobs


def _finished(jobs: Iterable[_Job], store: Store, began: float) -> Iterable[_Job]:
    """Each job as it is finished, here or by another process."""
    waiting = list(jobs)
    started = time.time()
    while waiting:
        busy = []
        for job in waiting:
            if _is_done(job, store, began):
                yield job
                continue
            with store.claimed(job.key) as mine:
                if not mine:
                    busy.append(job)
                    continue
                # another process may have finished it, or failed at it, while we looked
                if not _is_done(job, store, began) and not _has_failed(job, store, started):
                    _run_cell(job, store)
            yield job
        waiting = busy
        if waiting:
            time.sleep(_POLL)


def _is_done(job: _Job, store: Store, began: float) -> bool:
    record = store.read(job.key)
    if record is None or record["failed"] is not None or record["ended"] < began:
        return False
    return not job.keep_windows or store.windows(job.key) is not None


def _has_failed(job: _Job, store: Store, since: float) -> bool:
    record = store.read(job.key)
    return record is not None and record["failed"] is not None and record["ended"] >= since


def _run_cell(job: _Job, store: Store) -> None:
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


def _scored(job: _Job) -> tuple[dict[str, Any], pd.DataFrame | None]:
    data: Dataset | Any = load_dataset(job.data) if isinstance(job.data, str) else job.data
    name = job.cell.forecaster
    result = backtest(
        {name: job.forecaster},
        data,
        horizon=job.cell.horizon,
        keep_forecasts=False,
        keep_windows=job.keep_windows,
        **job.asked,
    )
    scores = result.summary().loc[name, list(result.metrics)].astype(float).to_dict()
    fits = result.fits[result.fits["forecaster"] == name]
    best = fits["best_epoch"].dropna()
    record = {
        "scores": {name: score if math.isfinite(score) else None for name, score in scores.items()},
        "windows": result.windows,
        "skipped": int(result.skipped["windows"].sum()),
        "epochs": int(fits["epochs"].sum()),
        "best_epoch": int(best.iloc[-1]) if len(best) else None,
        "cut_short": next(filter(None, fits["cut_short"]), ""),
        "context": int(fits["context"].iloc[-1]),
        "fit_seconds": round(float(fits["seconds"].sum()), 2),
    }
    table = result.by_window() if job.keep_windows else None
    return record, None if table is None else table[table["forecaster"] == name]


def _run_beside(jobs: list[_Job], store: Store, began: float, workers: int) -> None:
    """The same in processes of their own, which share the store; waits until all have ended."""
    threads = max(1, torch.get_num_threads() // workers)
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads can hang
    processes = [
        context.Process(target=_work, args=(jobs, store.folder, began, threads), daemon=False)
        for _ in range(workers)
    ]
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when torch is imported there
    try:
        for process in processes:
            process.start()
    finally:
        os.environ.pop("OMP_NUM_THREADS", None)
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before
    try:
        _watch(processes, jobs, store, began)
    except BaseException:
        for process in processes:
            process.terminate()
        raise
    finally:
        for process in processes:
            process.join()


def _watch(processes: Sequence[Any], jobs: list[_Job], store: Store, began: float) -> None:
    seen = 0
    with progress_bar("cells", len(jobs)) as advance:
        while any(process.is_alive() for process in processes):
            done = sum(_is_done(job, store, began) for job in jobs)
            advance(done - seen)
            seen = done
            processes[0].join(_POLL)
            time.sleep(0 if processes[0].is_alive() else _POLL)


def _work(jobs: list[_Job], folder: Path, began: float, threads: int) -> None:
    torch.set_num_threads(threads)
    for _ in _finished(jobs, Store(folder), began):
        pass


def _table(jobs: Sequence[_Job], store: Store) -> pd.DataFrame:
    counts = ("windows", "skipped", "epochs", "best_epoch", "context")
    measured = ("seconds", "fit_seconds", "peak_memory")
    rows = []
    for job in jobs:
        record = store.read(job.key) or {"failed": "not run", "status": "missing"}
        status = "failed" if record["failed"] else "done"
        rows.append(
            {
                **job.cell._asdict(),
                "status": record.get("status", status),
                "reason": record["failed"] or "",
                **dict.fromkeys(_metric_names(job)),
                **record.get("scores", {}),
                **{name: record.get(name) for name in (*counts, *measured, "cut_short")},
                "commit": record.get("provenance", {}).get("commit"),
            }
        )
    numbers = (*_metric_names(jobs[0]), *measured)
    types = {**dict.fromkeys(counts, "Int64"), **dict.fromkeys(numbers, "float64")}
    return pd.DataFrame(rows).astype(types)


def _metric_names(job: _Job) -> Sequence[str]:
    metrics = job.asked["metrics"]
    return [metrics] if isinstance(metrics, str) else list(metrics)
