"""How a forecast was on the latest rows that training did not see: in units, by windows."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tsformer.arrays import Floats, Ints
from tsformer.estimators.forecasts import windows_of
from tsformer.evaluation.digits import number
from tsformer.panels import Panel
from tsformer.training import Training, validation_rows

__all__ = ["HeldOut", "held_out"]

_MOST = 200
"""Windows that are forecast for it at most, evenly spread."""


class HeldOut(NamedTuple):
    """Forecasts of rows that training did not see, beside what came.

    Attributes
    ----------
    last
        ``(series, horizon)`` of the first target: the forecast of the last rows of each series;
        NaN for a series without rows that training did not see.
    spread
        ``(series, horizon, level)``, the quantiles around it.
    said
        The mean error, the number of windows and the coverage, in words.
    """

    last: Floats
    spread: Floats
    said: str


def held_out(forecaster: Any, panel: Panel, levels: Sequence[float] | None) -> HeldOut | None:
    """Forecast the latest rows from those before; None where training has seen all of them.

    Parameters
    ----------
    panel
        What was fitted.
    """
    panel = forecaster.at_origin(panel)
    horizon, lengths = forecaster.horizon_, panel.index.lengths
    rows = _unseen(forecaster, lengths)
    first = np.maximum(lengths - rows, forecaster.reach_)
    counts = np.maximum(lengths - horizon - first + 1, 0)
    if forecaster.gap_ or not counts.any():
        return None
    every = np.repeat(np.arange(len(lengths)), counts)
    ends = np.cumsum(counts)
    origins = np.arange(len(every)) - np.repeat(ends - counts, counts) + first[every]
    chosen = np.linspace(0, len(every) - 1, min(_MOST, len(every))).round().astype(int)
    parts = list(
        forecaster.forecast(panel, every[chosen], origins[chosen], levels=tuple(levels or ()))
    )
    point = np.concatenate([one.point for one in parts])[..., 0]
    spread = np.concatenate([one.quantiles for one in parts])[..., 0, :]
    truth = windows_of(panel, every[chosen], origins[chosen], horizon)[..., 0]
    if np.isnan(truth).all():
        return None
    names = panel.target.names
    whose = f" of {names[0]!r}" if len(names) > 1 else ""
    error = f"mean error{whose} {number(np.nanmean(np.abs(truth - point)))}"
    said = f"{error} over {len(chosen):,} held-out window{'s'[: len(chosen) - 1]}"
    if levels is not None and len(levels) > 1:
        known = ~np.isnan(truth)
        inside = ((spread[..., 0] <= truth) & (truth <= spread[..., -1]))[known].mean()
        said += f", {inside:.0%} of values inside the {100 * (levels[-1] - levels[0]):.3g} % band"
    point, spread = _latest(forecaster, panel, np.flatnonzero(counts), levels)
    return HeldOut(point, spread, said)


def _latest(
    forecaster: Any, panel: Panel, able: Ints, levels: Sequence[float] | None
) -> tuple[Floats, Floats]:
    """The forecast of the last rows of these series, and its quantiles; NaN for the others."""
    lengths, horizon, levels = panel.index.lengths, forecaster.horizon_, tuple(levels or ())
    parts = list(forecaster.forecast(panel, able, lengths[able] - horizon, levels=levels))
    point = np.full((len(lengths), horizon), np.nan)
    spread = np.full((len(lengths), horizon, len(levels)), np.nan)
    point[able] = np.concatenate([part.point for part in parts])[..., 0]
    spread[able] = np.concatenate([part.quantiles for part in parts])[..., 0, :]
    return point, spread


def _unseen(forecaster: Any, lengths: Ints) -> Ints:
    """How many of the latest rows of each series training has not seen."""
    if not hasattr(forecaster, "model_"):  # nothing is trained: a third is enough to judge by
        least: Ints = np.maximum(lengths // 3, forecaster.horizon_)
        return least
    settings = forecaster.training or Training()
    if (
        settings.refit_all
        or forecaster.best_epoch_ is None
        or not isinstance(settings.validation, float | int | str)
    ):
        return np.zeros_like(lengths)
    return validation_rows(
        lengths,
        settings.validation,
        context=forecaster.context_,
        horizon=forecaster.horizon_,
        gap=forecaster.gap_,
        stride=settings.stride,
    )
