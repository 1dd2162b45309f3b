"""``backtest``: fit on the past, forecast what came after, and say how wrong that was."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from tsformer.arrays import Floats, Ints
from tsformer.cures import Cure, warn
from tsformer.datasets import Dataset
from tsformer.errors import ParameterError, SeriesTooShort, TsformerWarning
from tsformer.estimators import (
    Forecasts,
    PanelForecaster,
    naive_scale,
    windows_of,
)
from tsformer.estimators.forecasts import checked_levels, refuse_nonfinite
from tsformer.evaluation.candidates import fitted_before, named_candidates, read_sources
from tsformer.evaluation.metrics import USUAL, Observed, Totals, checked_metrics
from tsformer.evaluation.plan import Block, Plan, Skip, Source, make_plan, named_split
from tsformer.evaluation.result import Backtest
from tsformer.panels import Panel, Scales
from tsformer.reading import Holdout, RollingOrigin

__all__ = ["backtest"]

_LOG = logging.getLogger("tsformer")

_MANY_NUMBERS = 100_000_000
"""Kept forecasts beyond this (800 MB) are worth a warning."""


def backtest(
    forecaster: PanelForecaster | Mapping[str, PanelForecaster],
    data: Any,
    *,
    folds: int = 5,
    split: RollingOrigin | Holdout | str | None = None,
    horizon: int | None = None,
    step: int | None = None,
    gap: int = 0,
    refit: bool = False,
    metrics: str | Sequence[str] = USUAL,
    quantiles: Sequence[float] | None = None,
    keep_forecasts: bool = True,
    keep_windows: bool = False,
) -> Backtest:
    """Forecast from moments in the past, with forecasters that have not seen what came after.

    What is given is cloned and never changed. All forecasters are scored on the same windows,
    with seasonal naive beside them.

    Parameters
    ----------
    forecaster
        One, or several by name.
    data
        A frame or an array as ``fit`` takes it, or a ``Dataset``, whose schema is used by
        forecasters without one.
    folds, step, gap
        Number of origins, stamps between two of them (None: the horizon), and stamps left out
        between the training rows and the first origin, at least the forecasters' own ``gap``. The
        last forecast ends with the data.
    split
        Another way to cut: a ``RollingOrigin``; or a ``Holdout``, by which rows of each series
        are trained on, then used for validation, and every window whose forecast lies wholly in
        the test rows is scored, an origin every ``step`` (1); or the name of a split of the
        ``Dataset``, such as ``"canonical"``.
    horizon
        Steps to forecast; by default the forecasters' own, the shortest of several.
    refit
        Fit anew before each fold, on everything up to it, rather than once before the first.
    metrics
        Names in ``METRICS``, where each says what it is. All are means over observed steps: a
        missing actual does not count, nor a target never observed before the origin. The unit
        of scaled ones is from training rows; those of a ``Holdout`` are ``train``, without
        validation.
    quantiles
        Levels to forecast as well.
    keep_forecasts
        False keeps only sums, for long tests.
    keep_windows
        True keeps the metrics of every window, for tests of significance: ``by_window()``.

    Returns
    -------
    Backtest
        ``summary()``, ``scores``, ``by_step()``, ``fits``, ``forecasts``, ``plot()``.

    Raises
    ------
    ParameterError
        If a name is unknown or options cannot go together.
    FrameError
        If something in the data is wrong, such as too few rows for the folds.
    ForecastError
        If a forecast is NaN or infinite where there is an actual value.

    Examples
    --------
    >>> from tsformer.datasets import load_dataset
    >>> from tsformer.estimators import Drift
    >>> result = backtest(Drift(horizon=12), load_dataset("air_passengers"), folds=3)
    >>> result
    Backtest: 3 folds, fitted once; horizon 12; 3 windows of 1 series
                    mae  mase  windows  vs SeasonalNaive
    forecaster
    SeasonalNaive 35.92 1.175        3                 1
    Drift         64.21   2.1        3             1.788
    >>> result.forecasts.columns.tolist()
    ['forecaster', 'cutoff', 'series', 'time', 'step', 'target', 'actual', 'forecast']
    """
    levels = tuple(sorted(set(checked_levels(quantiles))))
    names = checked_metrics(metrics, levels)
    schema, split = None, named_split(split, data)
    if isinstance(data, Dataset):
        data, schema = data.frame, data.schema
    candidates, baseline = named_candidates(forecaster, schema)
    sources = read_sources(candidates, data)
    panel = sources[next(iter(candidates))].panel
    steps = _horizon(horizon, split, candidates)
    lead = max(one.gap for one in candidates.values())
    plan = make_plan(
        panel, split, folds=folds, horizon=steps, step=step, gap=gap, lead=lead, refit=refit
    )
    run = _Run(
        candidates, sources, panel, plan, names, levels, keep=keep_forecasts, by_window=keep_windows
    )
    for block in plan.blocks:
        run.score(block)
    return run.result(baseline)


@dataclass
class _Run:
    """A backtest at work."""

    candidates: dict[str, PanelForecaster]
    sources: dict[str, Source]
    panel: Panel
    plan: Plan
    metrics: tuple[str, ...]
    levels: tuple[float, ...]
    keep: bool
    by_window: bool
    totals: dict[str, Totals] = field(default_factory=dict)
    kept: dict[str, list[Forecasts]] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)
    fits: list[dict[str, Any]] = field(default_factory=list)
    scored_from: list[tuple[Ints, Ints]] = field(default_factory=list)
    windows: int = 0
    scored: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        targets = len(self.panel.target.names)
        size = {"folds": len(self.plan.cutoffs), "targets": targets, "horizon": self.plan.horizon}
        self.totals = {
            name: Totals(self.metrics, **size, keep_windows=self.by_window)
            for name in self.candidates
        }
        self.skips = list(self.plan.skips)
        numbers = sum(len(block.series) for block in self.plan.blocks) * self.plan.horizon
        numbers *= targets * (1 + len(self.levels)) * len(self.candidates)
        if self.keep and numbers > _MANY_NUMBERS:
            found = f"the forecasts are {numbers:,} numbers, {8 * numbers / 1e9:.1f} GB to keep."
            warn(TsformerWarning(found, Cure("Keep none", {"keep_forecasts": False})))

    def score(self, block: Block) -> None:
        """Fit before a block, forecast it, and count the errors."""
        fitted = {name: self._fitted(name, block) for name in self.candidates}
        block, skips = block.with_context(max(one.reach_ for one in fitted.values()))
        self.skips += skips
        self.windows += len(block.series)
        self.scored |= set(block.series.tolist())
        self.scored_from.append((block.series, block.origins))
        units = _units(self.panel, block)
        for name, one in fitted.items():
            self._forecast(name, one, block, units)

    def _fitted(self, name: str, block: Block) -> PanelForecaster:
        began = time.monotonic()
        fitted = fitted_before(name, self.candidates[name], self.sources[name], block, self.plan)
        fitted.warn_of_look_ahead()
        history = getattr(fitted, "history_", None)
        self.fits.append(
            {
                "forecaster": name,
                "rows": int(block.fit_ends.sum()),
                "context": fitted.reach_,
                "epochs": 0 if history is None or history.empty else int(history["epoch"].max()),
                "best_epoch": getattr(fitted, "best_epoch_", None),
                "cut_short": getattr(fitted, "cut_short_", ""),
                "seconds": time.monotonic() - began,
            }
        )
        return fitted

    def _forecast(
        self, name: str, fitted: PanelForecaster, block: Block, units: tuple[Floats, Floats]
    ) -> None:
        panel = fitted.read(self.sources[name].data)
        chosen, places = np.unique(block.series, return_inverse=True)
        if len(chosen) < panel.n_series:
            panel = panel.select(chosen)
        naive, deviation = units
        observed_from = _first_observed(self.panel)
        done = 0
        for part in fitted.forecast(
            panel, places, block.origins, horizon=self.plan.horizon, levels=self.levels
        ):
            part = replace(part, series=chosen[part.series])
            truth = windows_of(self.panel, part.series, part.origin, self.plan.horizon)
            # nothing can be said about a target before it was first seen
            unknown = part.origin[:, None] <= observed_from[part.series]
            truth = np.where(unknown[:, None, :], np.nan, truth)
            refuse_nonfinite(self.panel, part, known=truth, whose=f"{name!r}: the forecast")
            seen = Observed(
                truth=truth,
                point=part.point,
                quantiles=part.quantiles,
                levels=np.asarray(self.levels),
                naive=naive[part.series],
                deviation=deviation[part.series],
            )
            self.totals[name].add(seen, block.folds[done : done + len(part.series)])
            done += len(part.series)
            if self.keep:
                self.kept.setdefault(name, []).append(part)

    def result(self, baseline: str) -> Backtest:
        """Put everything into tables."""
        if not self.windows:
            raise SeriesTooShort(
                f"no window could be forecast: {self.skips[0].reason}. Choose later origins or a "
                "shorter context."
            )
        result = Backtest(
            metrics=self.metrics,
            levels=self.levels,
            horizon=self.plan.horizon,
            windows=self.windows,
            baseline=baseline,
            skipped=_skipped(self.skips, self.plan, self.panel),
            fits=pd.DataFrame(self.fits),
            description=f"{self.plan.description}; horizon {self.plan.horizon}; "
            f"{self.windows:,} window{'s' if self.windows > 1 else ''} "
            f"of {len(self.scored):,} series",
            _panel=self.panel,
            _cutoffs=self.plan.cutoffs,
            _totals=self.totals,
            _kept=self.kept if self.keep else None,
            _scored=self.scored_from if self.by_window else None,
        )
        _LOG.info("%s", result.title)
        return result


def _horizon(
    horizon: int | None,
    split: RollingOrigin | Holdout | None,
    candidates: dict[str, PanelForecaster],
) -> int:
    if isinstance(split, RollingOrigin):
        if horizon not in (None, split.horizon):
            raise ParameterError(f"horizon={horizon}, but split has horizon={split.horizon}")
        horizon = split.horizon
    if horizon is None:
        return min(one.horizon for one in candidates.values())
    for name, one in candidates.items():
        if horizon > one.horizon:
            raise ParameterError(
                f"horizon={horizon}, but {name!r} forecasts {one.horizon} steps. Give it "
                f"horizon={horizon}."
            )
    return horizon


def _units(panel: Panel, block: Block) -> tuple[Floats, Floats]:
    """(series, target) errors of persistence, and standard deviations, of training rows."""
    ends = block.unit_ends.copy()
    # a series that begins after training: what lies before its first origin
    first = panel.index.lengths.copy()
    np.minimum.at(first, block.series, block.origins)
    ends = np.where(ends > 0, ends, first)
    return naive_scale(panel, ends=ends), Scales.fit(
        panel.target.values, panel.index.starts, ends
    ).scale


def _first_observed(panel: Panel) -> Ints:
    """(series, target) row of the first observation."""
    row = panel.index.within[:, None]
    seen = np.where(np.isnan(panel.target.values), np.iinfo(np.int64).max, row)
    return np.minimum.reduceat(seen, panel.index.starts[:-1], axis=0)


def _skipped(skips: list[Skip], plan: Plan, panel: Panel) -> pd.DataFrame:
    fold = [skip.fold for skip in skips]
    return pd.DataFrame(
        {
            "fold": np.asarray(fold, np.int64),
            "cutoff": plan.cutoffs.take(fold),
            "series": panel.index.ids.take([skip.series for skip in skips]),
            "windows": np.asarray([skip.windows for skip in skips], np.int64),
            "reason": pd.Series([skip.reason for skip in skips], dtype="str"),
        }
    )
