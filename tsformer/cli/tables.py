"""What is printed: aligned text that needs no colour."""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from tsformer.cures import as_options

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.cli.files import Data
    from tsformer.panels import Panel

__all__ = ["describe_data", "describe_fit", "print_facts", "print_rows", "print_table", "say"]

_MOST_NAMES = 6
_MOST_ROWS = 8


def say(text: str = "") -> None:
    """Print a line."""
    typer.echo(text)


def print_facts(facts: Mapping[str, str]) -> None:
    """Print one fact a line, names padded to one width."""
    width = max(map(len, facts))
    for name, fact in facts.items():
        say(f"  {name:<{width}}  {fact}")


def print_table(frame: "pd.DataFrame", *, digits: int = 3) -> None:
    """Print a small frame with its index as the first column and its numbers aligned."""
    from tsformer.evaluation import METRICS

    labels = {name: metric.label for name, metric in METRICS.items()}
    named = frame.reset_index().rename(columns=labels)
    shown = named.to_string(
        index=False, float_format=lambda value: f"{value:,.{digits}f}", na_rep="-", justify="right"
    )
    for line in shown.splitlines():
        say(f"  {line}")


def print_rows(frame: "pd.DataFrame", *, plain: bool) -> None:
    """Print the first rows of a forecast.

    Parameters
    ----------
    plain
        Whether the index is only row numbers, which say nothing.
    """
    first = frame.head(_MOST_ROWS)
    columns = list(frame.columns)
    if len(columns) > _MOST_NAMES:
        first = first[columns[:_MOST_NAMES]]
    shown = first.to_string(index=not plain, float_format=_number_format(first))
    for line in shown.splitlines():
        say(f"  {line}")
    left = len(frame) - len(first)
    more = [f"{left} more rows" if left else ""]
    more += [f"{len(columns) - _MOST_NAMES} more columns" if len(columns) > _MOST_NAMES else ""]
    if any(more):
        say(f"  ... {' and '.join(filter(None, more))}")


def describe_data(data: "Data", panel: "Panel") -> dict[str, str]:
    """What was read and what was inferred from it: every column has its place."""
    from tsformer.preflight.roles import role_facts, time_fact, usable_covariate

    schema, frame = panel.schema, data.frame
    facts = {"data": f"{data.name}, {len(frame):,} rows"}
    if schema.series is not None and panel.index.named:
        facts["data"] += f", {panel.n_series:,} series by {schema.series!r}"
    facts["time"] = f"{time_fact(panel)}, ends at {_stamp(panel.index.stamps.max())}"
    facts |= role_facts(panel, data.schema)
    covariate = usable_covariate(frame, panel, data.schema)
    if covariate is not None:
        past, known = (as_options({f"schema__{role}": covariate}) for role in ("past", "known"))
        facts["not used"] += f"; {past} uses it, or {known} with its --future"
    return facts


def describe_fit(forecaster: Any, panel: "Panel") -> dict[str, str]:
    """What was fitted, and how good it is on rows it was not trained on."""
    from tsformer.estimators.naive import usable_season

    if not hasattr(forecaster, "model_"):
        return {"model": str(forecaster.__class__.__name__)}
    facts = {
        "model": f"{type(forecaster.model_).__name__}, {forecaster.context_} steps of context",
        "horizon": f"{forecaster.horizon} steps",
    }
    if forecaster.cut_short_:
        facts["cut short"] = forecaster.cut_short_
    skill = forecaster.skill_
    if skill == skill:  # NaN without validation rows
        word = "below" if skill >= 0 else "above"
        naive = "seasonal persistence" if usable_season(panel) > 1 else "persistence"
        facts["error"] = f"{abs(skill):.0%} {word} that of {naive}, on the validation rows"
    return facts


def _number_format(frame: "pd.DataFrame") -> Callable[[float], str]:
    """Five digits that count for the largest number, and the same decimals for all."""
    numbers = frame.select_dtypes("number").abs().max()
    largest = float(numbers.max()) if len(numbers) else 0.0
    if not 1e-4 <= largest < 1e12:
        return lambda value: f"{value:.5g}"
    decimals = max(0, 4 - math.floor(math.log10(largest)))
    return lambda value: f"{value:,.{decimals}f}"


def _stamp(stamp: Any) -> str:
    return str(stamp).removesuffix(" 00:00:00")
