"""Which rows a backtest fits on, and from where it forecasts."""

import difflib
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from tsformer.arrays import Ints
from tsformer.datasets import Dataset
from tsformer.errors import ParameterError
from tsformer.panels import Panel, Policy, Schema
from tsformer.reading import Holdout, RollingOrigin, read_panel
from tsformer.reading.roles import resolve
from tsformer.reading.rows import series_of
from tsformer.reading.tables import as_frame

__all__ = ["Block", "Plan", "Skip", "Source", "make_plan", "named_split"]


class Source:
    """The caller's data, read once, to be cut in the caller's own layout.

    Attributes
    ----------
    data
        A pandas object, or an array.
    panel
        The same, read whole.
    """

    def __init__(self, data: Any, schema: Schema | None, policy: Policy | None) -> None:
        frame, array = as_frame(data)
        self.data: Any = np.asarray(data) if array else frame
        self.panel = read_panel(self.data, schema, policy)
        roles = resolve(frame, self.panel.schema)
        self._stamps = roles.stamps
        self._series = series_of(roles, frame)

    def head(self, ends: Ints) -> Any:
        """The caller's rows among the first ``ends`` (series,) rows of each series."""
        panel = self.panel
        whole = ends >= panel.index.lengths
        first_out = panel.index.stamps.take(np.where(whole, 0, panel.index.starts[:-1] + ends))
        early = np.asarray(self._stamps < first_out.take(self._series))
        rows = np.flatnonzero(early | whole[self._series])
        return self.data.iloc[rows] if isinstance(self.data, pd.DataFrame) else self.data[rows]


class Skip(NamedTuple):
    """Windows that were not forecast: how many, of which series, and why."""

    fold: int
    series: int
    windows: int
    reason: str


@dataclass(frozen=True, eq=False)
class Block:
    """One fit, and the windows that are forecast with it.

    Attributes
    ----------
    fit_ends
        (series,) rows to fit on.
    unit_ends
        (series,) training rows, from which scaled metrics take their unit.
    series, origins, folds
        (window,) each: position of the series, row of the first step, and fold.
    """

    fit_ends: Ints
    unit_ends: Ints
    series: Ints
    origins: Ints
    folds: Ints

    def with_context(self, rows: int) -> tuple["Block", list[Skip]]:
        """Only the windows that have so many rows before their origin, and what that leaves out."""
        fits = self.origins >= rows
        lost = np.stack([self.folds[~fits], self.series[~fits]], axis=1)
        pairs, counts = np.unique(lost, axis=0, return_counts=True)
        reason = f"fewer than {rows} rows of context"
        skips = [
            Skip(int(fold), int(series), int(count), reason)
            for (fold, series), count in zip(pairs, counts, strict=True)
        ]
        kept = replace(
            self, series=self.series[fits], origins=self.origins[fits], folds=self.folds[fits]
        )
        return kept, skips


@dataclass(frozen=True, eq=False)
class Plan:
    """The whole of a backtest, before anything is fitted.

    Attributes
    ----------
    blocks
        What to fit and forecast, one after another.
    horizon
        Steps of each forecast.
    cutoffs
        (fold,) the last stamp before the first forecast of each fold.
    skips
        What can't be forecast whatever the model.
    validation
        Rows at the end of each fit to stop by; None leaves that to the forecaster.
    description
        The plan in a few words.
    gap
        Rows between those to fit on and the first forecast.
    """

    blocks: list[Block]
    horizon: int
    cutoffs: pd.Index
    skips: list[Skip]
    description: str
    validation: int | None = None
    gap: int = 0


def named_split(
    split: RollingOrigin | Holdout | str | None, data: Any
) -> RollingOrigin | Holdout | None:
    """The split itself, where it is the name of one of a data set."""
    if not isinstance(split, str):
        if split is not None and not isinstance(split, (RollingOrigin, Holdout)):
            raise ParameterError(f"split={split!r}: give a RollingOrigin, a Holdout or a name")
        return split
    if not isinstance(data, Dataset):
        raise ParameterError(f"split={split!r} is the name of a split of a Dataset; data is none")
    if split not in data.splits:
        close = difflib.get_close_matches(split, data.splits, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {sorted(data.splits)}"
        raise ParameterError(f"{data!r} has no split {split!r}; {hint}")
    return data.splits[split]


def make_plan(
    panel: Panel,
    split: RollingOrigin | Holdout | None,
    *,
    folds: int,
    horizon: int,
    step: int | None,
    gap: int,
    refit: bool,
    lead: int = 0,
) -> Plan:
    """Plan a backtest by a split, or by folds of equal length where there is none.

    ``lead`` rows before each origin are unknown to some forecaster when it forecasts: no fit may
    know them either.
    """
    if isinstance(split, Holdout):
        if gap or refit:
            raise ParameterError("a Holdout has one fit and no gap: leave out refit and gap")
        if step is not None and step < 1:
            raise ParameterError(f"step={step}: must be at least 1")
        return _holdout(panel, split, horizon=horizon, step=step or 1, lead=lead)
    if split is None:
        split = RollingOrigin(folds=folds, horizon=horizon, step=step, gap=gap)
    elif gap or step is not None:
        raise ParameterError("step and gap are set in the RollingOrigin: leave them out here")
    if split.gap < lead:
        split = RollingOrigin(**{**split.get_params(), "gap": lead})
    return _rolling(panel, split, refit=refit)


def _rolling(panel: Panel, split: RollingOrigin, *, refit: bool) -> Plan:
    """One forecast of each series a fold, cut at one moment for all of them."""
    stamps = panel.index.stamps.unique().sort_values()
    cuts = split.origins(stamps)
    blocks: list[Block] = []
    skips: list[Skip] = []
    for fold, (train_end, origin) in enumerate(cuts):
        rows = panel.index.count_before(stamps[origin])
        # in stamps of all series, and in rows of each where their stamps differ
        ends = np.minimum(
            panel.index.count_before(stamps[train_end]), np.maximum(rows - split.gap, 0)
        )
        usable = np.flatnonzero((rows > 0) & (rows < panel.index.lengths))
        for series in np.flatnonzero(rows == 0):
            skips.append(Skip(fold, int(series), 1, "no row before the origin"))
        for series in np.flatnonzero(rows >= panel.index.lengths):
            skips.append(Skip(fold, int(series), 1, "no row from the origin on"))
        folds = np.full(len(usable), fold, np.int64)
        blocks.append(Block(ends, ends, usable, rows[usable], folds))
    if not refit:
        joined = {
            name: np.concatenate([getattr(block, name) for block in blocks])
            for name in ("series", "origins", "folds")
        }
        blocks = [replace(blocks[0], **joined)]
    fits = "refitted before each" if refit else "fitted once"
    return Plan(
        blocks=blocks,
        horizon=split.horizon,
        cutoffs=stamps.take([origin - 1 for _, origin in cuts]),
        skips=skips,
        description=f"{split.folds} fold{'s' if split.folds > 1 else ''}, {fits}",
        gap=split.gap,
    )


def _holdout(panel: Panel, split: Holdout, *, horizon: int, step: int, lead: int) -> Plan:
    """Every window whose forecast lies wholly in the test rows, and was due after the fit."""
    shortest = int(panel.index.lengths.min())
    _, border, end = split.borders(shortest)
    if lead + horizon > split.test:
        raise ParameterError(
            f"horizon={horizon}{f' behind a gap of {lead}' if lead else ''} is longer than the"
            f" {split.test} test rows of {split}"
        )
    own = np.arange(border + lead, end - horizon + 1, step, dtype=np.int64)
    ends = np.full(panel.n_series, border, np.int64)
    series = np.arange(panel.n_series, dtype=np.int64).repeat(len(own))
    block = Block(
        fit_ends=ends,
        unit_ends=np.full(panel.n_series, split.train, np.int64),
        series=series,
        origins=np.tile(own, panel.n_series),
        folds=np.zeros(len(series), np.int64),
    )
    last = panel.index.stamps.take(panel.index.starts[:-1] + border - 1).max()
    every = "every window" if step == 1 else f"an origin every {step} rows"
    return Plan(
        blocks=[block],
        horizon=horizon,
        cutoffs=panel.index.stamps[panel.index.stamps == last][:1],
        skips=[],
        description=f"holdout of {split.test} rows, {every}",
        validation=split.validation,
        gap=lead,
    )
