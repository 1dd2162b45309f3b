"""``run``: the cells of an experiment, or what is stored of them."""

import runpy
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tsformer.cli.progress import progress
from tsformer.cli.tables import say
from tsformer.errors import ParameterError, TrainingFailed, TsformerError

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.experiments import Experiment

__all__ = ["run"]


def run(
    script: Annotated[
        Path, typer.Argument(help="A Python file that defines EXPERIMENT.", show_default=False)
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Run the file's QUICK instead: minutes, for a look.")
    ] = False,
    cells: Annotated[
        list[str] | None,
        typer.Option(
            help="Only these, as dataset/horizon/forecaster; repeat it, or separate by commas. "
            "The end may be left out, * stands for anything.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Only these seeds, such as 0,1,2.", show_default=False)
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that share the cells.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Run finished cells again, too.")] = False,
    keep_windows: Annotated[
        bool, typer.Option("--keep-windows", help="Keep the errors of every window, compressed.")
    ] = False,
    report: Annotated[
        bool,
        typer.Option("--report", help="Run nothing but --force: print and write what is stored."),
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the cells; results/NAME beside the file, if none.", show_default=False
        ),
    ] = None,
) -> None:
    """Run the cells of an experiment that are not finished yet.

    A run that was stopped goes on where it was; several at once share the cells. Exit code 3 says
    that some cells failed; they are tried again by the next run.
    """
    from tsformer.experiments import run as run_experiment
    from tsformer.experiments import stored

    experiment = _defined(script, quick=quick)
    name = f"{script.stem}-quick" if quick else script.stem
    folder = store or script.parent / "results" / name
    names = [part for given in cells or () for part in given.split(",")] or None
    chosen: dict[str, Any] = {"store": folder, "cells": names, "seeds": _numbers(seeds)}
    if report and not force:
        results = stored(experiment, **chosen)
    else:
        how: dict[str, Any] = {"workers": workers, "force": force, "keep_windows": keep_windows}
        with progress():
            results = run_experiment(experiment, **chosen, **how)
    _show(experiment, results, folder, page=folder.parent / f"{name}.md" if report else None)


def _show(
    experiment: "Experiment", results: "pd.DataFrame", folder: Path, *, page: Path | None
) -> None:
    """Print the scores, write the page where one is wanted, and end by whether cells failed."""
    from tsformer.experiments import write_report

    say(experiment.question)
    _print(experiment, results)
    if page is not None:
        say(f"\nwritten: {write_report(experiment, store=folder, path=page)}")
    failed = results[results["status"] == "failed"]
    if len(failed):
        raise TrainingFailed(f"{len(failed)} of {len(results)} cells failed; see {folder}")


def _defined(script: Path, *, quick: bool) -> "Experiment":
    from tsformer.experiments import Experiment

    if not script.is_file():
        raise ParameterError(f"{script}: there is no such file")
    wanted = "QUICK" if quick else "EXPERIMENT"
    try:
        found = runpy.run_path(str(script), run_name=script.stem).get(wanted)
    except TsformerError:
        raise
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        own = [frame.lineno for frame in frames if Path(frame.filename) == script]
        where = f"{script}, line {own[-1]}" if own else str(script)
        raise ParameterError(f"{where}: {type(problem).__name__}: {problem}") from problem
    if not isinstance(found, Experiment):
        raise ParameterError(f"{script} defines no {wanted} that is a tsformer Experiment")
    return found


def _numbers(seeds: str | None) -> list[int] | None:
    try:
        return None if seeds is None else [int(part) for part in seeds.split(",")]
    except ValueError as problem:
        raise ParameterError(f"--seeds {seeds}: give whole numbers, such as 0,1,2") from problem


def _print(experiment: "Experiment", results: "pd.DataFrame") -> None:
    from tsformer.evaluation import METRICS
    from tsformer.experiments import score_table

    for metric in experiment.metric_names:
        say(f"\n{METRICS[metric].label}")
        table = score_table(experiment, results, metric).reset_index()
        for line in table.to_string(index=False).splitlines():
            say(f"  {line}")
    done = results[results["status"] == "done"]
    windows = done.drop_duplicates(["dataset", "horizon"])[["dataset", "horizon", "windows"]]
    said = [f"{dataset} {steps}: {n:,}" for dataset, steps, n in windows.itertuples(index=False)]
    say(f"\nwindows: {'; '.join(said) or 'none, no cell is finished'}")
    missing = int((results["status"] == "missing").sum())
    if missing:
        say(f"{missing} of {len(results)} cells were not run yet")
