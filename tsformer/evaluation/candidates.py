"""Who takes part in a backtest: clones by name, their data, and their fits."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from tsformer.errors import EmptyPeriod, ParameterError, SeriesLeftOut, SeriesTooShort
from tsformer.estimators import PanelForecaster, SeasonalNaive
from tsformer.evaluation.plan import Block, Plan, Source
from tsformer.panels import Panel, Schema
from tsformer.panels.equality import same_value

__all__ = ["fitted_before", "named_candidates", "read_sources"]

_BASELINE = "SeasonalNaive"


def named_candidates(
    given: PanelForecaster | Mapping[str, PanelForecaster], schema: Schema | None
) -> tuple[dict[str, PanelForecaster], str]:
    """Clones by name, seasonal naive among them, and its name."""
    named = given if isinstance(given, Mapping) else {_name_of(given): given}
    for name, one in named.items():
        if not isinstance(one, PanelForecaster) or not isinstance(name, str):
            raise ParameterError(
                f"backtest takes a forecaster or a dict of name: forecaster, not {name!r}: {one!r}"
            )
    if not named:
        raise ParameterError("backtest: the dict of forecasters is empty")
    candidates = {name: clone(one) for name, one in named.items()}
    for name, one in candidates.items():
        if isinstance(one.get_params().get("training__validation"), pd.DataFrame):
            raise ParameterError(
                f"{name!r}: training__validation is a frame, which may hold rows that are still "
                "to come. Give a number of rows or a fraction."
            )
        if one.schema is None:
            one.schema = clone(schema) if schema is not None else None
    naive = [name for name, one in candidates.items() if isinstance(one, SeasonalNaive)]
    if naive or _BASELINE in candidates:
        return candidates, naive[0] if naive else _BASELINE
    first = next(iter(candidates.values()))
    beside = SeasonalNaive(
        horizon=max(one.horizon for one in candidates.values()),
        gap=max(one.gap for one in candidates.values()),
        schema=first.schema,
        policy=first.policy,
    )
    return {**candidates, _BASELINE: clone(beside)}, _BASELINE


def _name_of(forecaster: Any) -> str:
    return type(getattr(forecaster, "model", None) or forecaster).__name__


def read_sources(candidates: dict[str, PanelForecaster], data: Any) -> dict[str, Source]:
    """Read the data as each forecaster would; once for those that read it the same way."""
    sources: dict[str, Source] = {}
    for name, one in candidates.items():
        alike = (
            sources[other]
            for other in sources
            if same_value(one.schema, candidates[other].schema)
            and same_value(one.policy, candidates[other].policy)
        )
        sources[name] = next(alike, None) or Source(data, one.schema, one.policy)
    first = next(iter(sources))
    for name, source in sources.items():
        _refuse_unlike(first, sources[first].panel, name, source.panel)
    return sources


def _refuse_unlike(first: str, panel: Panel, name: str, other: Panel) -> None:
    if panel.target.names != other.target.names:
        raise ParameterError(
            f"{first!r} forecasts {panel.target.names}, {name!r} {other.target.names}: only "
            "forecasts of the same targets can be compared"
        )
    same = panel.n_rows == other.n_rows and np.array_equal(panel.index.starts, other.index.starts)
    if (
        not same
        or not panel.index.ids.equals(other.index.ids)
        or not panel.index.stamps.equals(other.index.stamps)
    ):
        raise ParameterError(f"{first!r} and {name!r} read different series or rows of the data")
    if not np.array_equal(np.isnan(panel.target.values), np.isnan(other.target.values)):
        raise ParameterError(
            f"{first!r} and {name!r} leave out different rows: give both the same periods to"
            " ignore, so that they are scored on the same truth"
        )


def fitted_before(
    name: str, candidate: PanelForecaster, source: Source, block: Block, plan: Plan
) -> PanelForecaster:
    """A clone, fitted on the training rows of a block and nothing else."""
    fresh: PanelForecaster = clone(candidate)
    # resolved on the whole, since a slice may hide a frequency or a series column; but what is
    # late at the end of all data need not have been so at this cutoff
    said = None if candidate.schema is None else candidate.schema.late
    fresh.schema = Schema(**{**source.panel.schema.get_params(), "late": said})
    if plan.validation is not None and "training" in fresh.get_params(deep=False):
        fresh.set_params(training__validation=plan.validation)
    if fresh.policy is None or fresh.policy.short == "error":
        fresh.set_params(policy__short="drop")  # windows that cannot be forecast are reported
    ends = block.fit_ends
    if not ends.any():
        raise SeriesTooShort("no series has a row before the first fold; ask for fewer folds")
    # a stride counts back from behind the fit and the own gap: bring that to the phase of the folds
    stride = fresh.get_params().get("training__stride", 1)
    ends = np.maximum(ends - (fresh.gap - plan.gap) % stride, 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeriesLeftOut)
            # a period to ignore may lie after the rows of this fit
            warnings.simplefilter("ignore", EmptyPeriod)
            return fresh.fit(source.head(ends))
    except SeriesTooShort as error:
        error.add_note(
            f"This was {name!r} on the {int(block.fit_ends.sum()):,} rows before the first forecast"
            " of the backtest: fewer folds or a smaller step leave more."
        )
        raise
