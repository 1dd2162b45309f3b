"""Forecasts from many origins, what came true, and what to say of those that are odd."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tsformer.arrays import Floats, Ints
from tsformer.cures import ignored, warn
from tsformer.errors import ForecastError, ForecastWarning, ParameterError
from tsformer.panels import Panel

__all__ = [
    "Forecasts",
    "checked_levels",
    "forecast_columns",
    "observed_range",
    "refuse_nonfinite",
    "warn_of_outside",
    "windows_of",
]


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Forecasts from some origins, in the caller's units.

    Attributes
    ----------
    series, origin
        (forecast,) position in the panel's ``ids``, and row within the series of the first step.
    point
        (forecast, horizon, target) median or mean.
    quantiles
        (forecast, horizon, target, level).
    """

    series: Ints
    origin: Ints
    point: Floats
    quantiles: Floats


def windows_of(panel: Panel, series: Ints, origins: Ints, horizon: int) -> Floats:
    """The true targets (n, horizon, target) after each origin; NaN where there are none."""
    rows = (panel.index.starts[series] + origins)[:, None] + np.arange(horizon)
    inside = rows < panel.index.starts[series + 1][:, None]
    found = panel.target.values[np.minimum(rows, panel.n_rows - 1)]
    return np.where(inside[..., None], found, np.nan)


def checked_levels(quantiles: Sequence[float] | None) -> tuple[float, ...]:
    """The levels as numbers, each inside (0, 1)."""
    levels = () if quantiles is None else tuple(float(level) for level in quantiles)
    for level in levels:
        if not 0 < level < 1:
            raise ParameterError(f"quantiles={list(levels)}: each must lie inside (0, 1)")
    return levels


def forecast_columns(targets: Sequence[str], levels: Sequence[float]) -> list[str]:
    """Names of a point forecast and its levels, target by target."""
    return [name for target in targets for name in (target, *(f"{target}_q{q:g}" for q in levels))]


def refuse_nonfinite(
    panel: Panel, made: Forecasts, *, known: Floats | None = None, whose: str = "the forecast"
) -> None:
    """Raise ``ForecastError`` where a forecast is NaN or infinite.

    Parameters
    ----------
    panel
        Names series and stamps.
    known
        (forecast, horizon, target) what came true: where that is NaN, nothing is refused.
    whose
        What to call the forecast.
    """
    bad = ~np.isfinite(made.point) | ~np.isfinite(made.quantiles).all(axis=-1)
    if known is not None:
        bad &= ~np.isnan(known)
    if bad.any():
        window, step, target = (int(place) for place in np.argwhere(bad)[0])
        series = int(made.series[window])
        stamp = panel.index.stamps[int(panel.index.starts[series] + made.origin[window])]
        raise ForecastError(
            f"{whose} of column {panel.target.names[target]!r}{panel.index.of(series)} is not"
            f" finite from step {step + 1} on ({int(bad.sum())} such values); it begins at {stamp}."
            " Look for extreme values in the last rows, or fit again with a smaller learning rate."
        )


def observed_range(values: Floats) -> Floats:
    """``(2, columns)`` the smallest and the largest value of each column; NaN where none is.

    Examples
    --------
    >>> observed_range(np.array([[1.0, 5.0], [3.0, np.nan]])).tolist()
    [[1.0, 5.0], [3.0, 5.0]]
    """
    with ignored(RuntimeWarning):  # of columns without a value
        return np.stack([np.nanmin(values, axis=0), np.nanmax(values, axis=0)])


def warn_of_outside(panel: Panel, horizon: int, seen: Floats | None) -> None:
    """Warn once of known covariates that lie far from all that a fit has seen of them.

    Far is more than twice the range beyond its ends: what grows goes on to grow, but a network
    knows nothing of where it has never been.

    Parameters
    ----------
    panel
        With the rows to forecast at the end of each series.
    seen
        What :func:`observed_range` gave in the fit; ``None`` says that there is nothing to compare.
    """
    ahead = panel.index.within >= (panel.index.lengths - horizon)[panel.index.owner]
    values, rows = panel.known.values[ahead], np.flatnonzero(ahead)
    if seen is None or not values.size:
        return
    low, high = seen
    room = 2 * np.where(high > low, high - low, np.maximum(np.abs(high), 1))
    far = (values < low - room) | (values > high + room)
    found = []
    for place in np.flatnonzero(far.any(axis=0)):
        first = int(np.argmax(far[:, place]))
        row = rows[first]
        where = f"{panel.index.of(int(panel.index.owner[row]))} at {panel.index.stamps[row]}"
        found.append(
            f"column {panel.known.names[place]!r} of the future holds"
            f" {values[first, place]:,.10g}{where} ({int(far[:, place].sum())} such values), far"
            f" outside of {low[place]:,.10g} to {high[place]:,.10g}, which is all that fit has seen"
        )
    if found:
        warn(ForecastWarning(f"{'; '.join(found)}: the forecast goes where nothing was learned"))
