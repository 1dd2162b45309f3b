"""The page of an experiment: question, table, picture, and where the numbers come from."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from tsformer.evaluation import METRICS
from tsformer.evaluation.pages import markdown_table
from tsformer.experiments.experiment import Experiment
from tsformer.experiments.published import Published
from tsformer.experiments.running import stored

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_scores", "score_table", "write_report"]

_LONGEST = 160
"""Letters of a reason that a page shows."""


def score_table(experiment: Experiment, results: pd.DataFrame, metric: str) -> pd.DataFrame:
    """One row a data set and horizon, one column a forecaster: means over seeds.

    Parameters
    ----------
    experiment
        The grid; what others have printed stands behind its own columns.
    results
        What ``run`` or ``stored`` returned.
    metric
        Which score.

    Returns
    -------
    DataFrame
        Text: the mean, ``±`` the standard deviation where there are several seeds, a dash where
        no cell is finished. A forecaster of which none is finished has no column.
    """
    keys = ["dataset", "horizon"]
    columns: dict[str, list[str]] = {}
    rows = list(dict.fromkeys(map(tuple, results[keys].to_numpy().tolist())))
    groups = {key: part[metric].dropna() for key, part in results.groupby([*keys, "forecaster"])}
    for name in _scored(results, metric):
        columns[name] = [_shown(groups.get((*row, name))) for row in rows]
    for one in experiment.published:
        values = [one.scores.get(row, {}).get(metric) for row in rows]
        columns[f"{one.name}, printed"] = [_printed(value) for value in values]
    index = pd.MultiIndex.from_tuples(rows, names=keys)
    return pd.DataFrame(columns, index=index)


def write_report(experiment: Experiment, *, store: str | Path, path: str | Path) -> Path:
    """Write the page of an experiment from its stored cells, and a picture beside it.

    Parameters
    ----------
    experiment
        The grid.
    store
        The folder of its cells.
    path
        The page, ``.md``; the picture has the same name with ``.png``.

    Returns
    -------
    Path
        The page.
    """
    path = Path(path)
    results = stored(experiment, store=store)
    metrics = experiment.metric_names
    picture = path.with_suffix(".png")
    plot_scores(experiment, results, metrics[0]).savefig(picture, dpi=100)
    parts = [f"# {path.stem}", experiment.question]
    for metric in metrics:
        table = score_table(experiment, results, metric).reset_index()
        label, meaning = METRICS[metric].label, METRICS[metric].doc
        parts += [f"## {label}", f"{meaning[0].upper()}{meaning[1:]}.", markdown_table(table)]
    parts += [f"![{METRICS[metrics[0]].label} by horizon]({picture.name})", _windows(results)]
    parts += [*_failures(results), *_caveats(experiment.published)]
    parts += ["## Where this comes from", _origins(results, Path(store), path.parent)]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path


def plot_scores(experiment: Experiment, results: pd.DataFrame, metric: str) -> "Figure":
    """The metric by horizon, a picture a data set, a line a forecaster."""
    from matplotlib.figure import Figure

    datasets = list(dict.fromkeys(results["dataset"]))
    wide = min(3, len(datasets))
    deep = math.ceil(len(datasets) / wide)
    figure = Figure(figsize=(1 + 3.4 * wide, 0.7 + 2.6 * deep), layout="constrained")
    axes = figure.subplots(deep, wide, squeeze=False).ravel()
    for one in axes[len(datasets) :]:
        one.remove()
    for axis, dataset in zip(axes, datasets, strict=False):
        own = results[results["dataset"] == dataset]
        for name in _scored(results, metric):
            means = own[own["forecaster"] == name].groupby("horizon")[metric].mean()
            axis.plot(means.index, means.to_numpy(), marker="o", markersize=4, label=name)
        axis.set_title(dataset)
        axis.set_xticks(sorted(set(own["horizon"])))
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    figure.supxlabel("steps ahead")
    figure.supylabel(METRICS[metric].label)
    lines, names = axes[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=min(5, len(names)), frameon=False)
    return figure


def _scored(results: pd.DataFrame, metric: str) -> list[str]:
    """The forecasters of which some cell is finished, in their order."""
    return list(dict.fromkeys(results.loc[results[metric].notna(), "forecaster"]))


def _shown(values: "pd.Series[float] | None") -> str:
    if values is None or not len(values):
        return "-"
    mean = _printed(float(values.mean()))
    return mean if len(values) == 1 else f"{mean} ± {values.std(ddof=1):.3f}"


def _printed(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _windows(results: pd.DataFrame) -> str:
    done = results[results["status"] == "done"]
    counts: dict[tuple[str, int], set[int]] = {}
    for dataset, horizon, count in done[["dataset", "horizon", "windows"]].itertuples(index=False):
        counts.setdefault((dataset, horizon), set()).add(int(count))
    if any(len(different) > 1 for different in counts.values()):
        return "**The forecasters were not scored on the same windows.**"
    by_dataset: dict[str, list[str]] = {}
    for (dataset, _), same in counts.items():
        by_dataset.setdefault(dataset, []).append(f"{same.pop():,}")
    said = [f"- {dataset}: {', '.join(own)}" for dataset, own in by_dataset.items()]
    if not said:
        return "No cell is finished."
    return "\n".join(["Windows by horizon, the same for all:", "", *said])


def _failures(results: pd.DataFrame) -> list[str]:
    open_ = results[results["status"] != "done"]
    if open_.empty:
        return []
    missing = open_[open_["status"] == "missing"]
    counts = missing["forecaster"].value_counts(sort=False)
    said = ", ".join(f"{name} {count}" for name, count in counts.items())
    lines = [f"- {len(missing)} cells were not run: {said}"] if said else []
    for _, row in open_[open_["status"] == "failed"].iterrows():
        reason = str(row["reason"]).splitlines()[0][:_LONGEST]
        lines.append(f"- {row['dataset']}/{row['horizon']}/{row['forecaster']}: {reason}")
    return ["## Not finished", "\n".join(lines)]


def _caveats(published: Sequence[Published]) -> list[str]:
    if not published:
        return []
    lines = [f"- {one.name}: {one.source}. {one.caveat}" for one in published]
    return ["## What others printed", "\n".join(lines)]


def _origins(results: pd.DataFrame, store: Path, page: Path) -> str:
    done = results[results["status"] == "done"]
    if done.empty:
        return "Nothing yet."
    commits = dict.fromkeys(str(commit)[:9] for commit in done["commit"].dropna())
    where = store.relative_to(page) if store.is_relative_to(page) else store
    took = _duration(float(done["seconds"].sum()))
    lines = [
        f"- {len(done)} cells, {took} in all, each a file in [{where}]({where})",
        f"- commits: {', '.join(commits) or 'unknown'}",
        *(f"- {machine}" for machine in dict.fromkeys(done["machine"])),
    ]
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
