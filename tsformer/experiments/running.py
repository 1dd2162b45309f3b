"""``run``: every cell of an experiment once, whatever happens to some of them."""

import multiprocessing
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from tsformer.bars import progress_bar
from tsformer.cures import warn
from tsformer.errors import ParameterError, TsformerWarning
from tsformer.experiments.experiment import Experiment
from tsformer.experiments.jobs import Job, jobs_of, run_job
from tsformer.experiments.provenance import machine_text
from tsformer.experiments.store import Store

__all__ = ["run", "stored"]

_POLL = 0.5
"""Seconds between two looks at what other processes have finished."""


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
        fit_seconds, peak_memory`` (MiB), ``cut_short, commit, machine``.

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
    if workers < 1 or (workers > 1 and store is None):
        raise ParameterError(f"workers={workers}: must be at least 1, and several need a store")
    if keep_windows and store is None:
        raise ParameterError("keep_windows needs a store to keep them in")
    jobs = jobs_of(experiment, cells, seeds, keep_windows=keep_windows)
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
    return _table(jobs_of(experiment, cells, seeds), Store(store))


def _finished(jobs: Iterable[Job], store: Store, began: float) -> Iterable[Job]:
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
                    run_job(job, store)
            yield job
        waiting = busy
        if waiting:
            time.sleep(_POLL)


def _is_done(job: Job, store: Store, began: float) -> bool:
    record = store.read(job.key)
    if record is None or record["failed"] is not None or record["ended"] < began:
        return False
    return not job.asked["keep_windows"] or store.has_windows(job.key)


def _has_failed(job: Job, store: Store, since: float) -> bool:
    record = store.read(job.key)
    return record is not None and record["failed"] is not None and record["ended"] >= since


def _run_beside(jobs: list[Job], store: Store, began: float, workers: int) -> None:
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


def _watch(processes: Sequence[Any], jobs: list[Job], store: Store, began: float) -> None:
    seen, keys = 0, {job.key for job in jobs}
    with progress_bar("cells", len(jobs)) as advance:
        while any(process.is_alive() for process in processes):
            done = store.count(keys, since=began)
            advance(done - seen)
            seen = done
            processes[0].join(_POLL)
            time.sleep(0 if processes[0].is_alive() else _POLL)


def _work(jobs: list[Job], folder: Path, began: float, threads: int) -> None:
    torch.set_num_threads(threads)
    for _ in _finished(jobs, Store(folder), began):
        pass


def _table(jobs: Sequence[Job], store: Store) -> pd.DataFrame:
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
                **dict.fromkeys(job.metrics),
                **record.get("scores", {}),
                **{name: record.get(name) for name in (*counts, *measured, "cut_short")},
                **_origin(record),
            }
        )
    numbers = (*jobs[0].metrics, *measured)
    types = {**dict.fromkeys(counts, "Int64"), **dict.fromkeys(numbers, "float64")}
    return pd.DataFrame(rows).astype(types)


def _origin(record: Mapping[str, Any]) -> dict[str, Any]:
    """Commit and machine of a record."""
    where = record.get("provenance")
    if where is None:
        return {"commit": None, "machine": None}
    return {"commit": where["commit"], "machine": machine_text(where)}
