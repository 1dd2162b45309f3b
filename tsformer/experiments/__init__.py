"""Experiments as values: a grid of cells, each run once, stored with where it came from."""

from tsformer.experiments.experiment import Cell, Experiment
from tsformer.experiments.published import Published, read_published
from tsformer.experiments.report import plot_scores, score_table, write_report
from tsformer.experiments.running import run, stored

__all__ = [
    "Cell",
    "Experiment",
    "Published",
    "plot_scores",
    "read_published",
    "run",
    "score_table",
    "stored",
    "write_report",
]
