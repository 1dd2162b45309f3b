"""How much better a forecaster is than seasonal persistence on the rows that validate it."""

import numpy as np
from numpy.typing import NDArray

from tsformer.estimators.contract import PanelForecaster
from tsformer.estimators.forecasts import windows_of
from tsformer.estimators.naive import seasonal_history, seasonal_naive, usable_season
from tsformer.panels import Panel, Scales
from tsformer.windows import WindowIndex

__all__ = ["skill"]

Integers = NDArray[np.int64]


def skill(fitted: PanelForecaster, panel: Panel, validation: WindowIndex, ends: Integers) -> float:
    """One minus the ratio of its absolute errors to those of seasonal persistence.

    Parameters
    ----------
    validation
        The windows to forecast.
    ends
        (series,) number of training rows, whose deviation is the unit of errors.

    Returns
    -------
    float
        1 is perfect, 0 no better, negative worse; NaN without windows.
    """
    series, origins = validation.locate(np.arange(len(validation)))
    reached = origins >= fitted.reach_
    season, gap = usable_season(panel), fitted.gap_
    history = seasonal_history(panel, season)
    units = Scales.fit(panel.target, panel.starts, ends).scale
    own, naive = 0.0, 0.0
    for part in fitted.forecast(panel, series[reached], origins[reached]):
        repeated = seasonal_naive(
            panel,
            history,
            part.series,
            part.origin - gap,
            horizon=gap + fitted.horizon_,
            season=season,
        )[:, gap:]
        truth = windows_of(panel, part.series, part.origin, fitted.horizon_)
        scale = units[part.series][:, None, :]
        both = ~np.isnan(truth) & ~np.isnan(repeated) & ~np.isnan(part.point)
        own += float((np.abs(truth - part.point) / scale)[both].sum())
        naive += float((np.abs(truth - repeated) / scale)[both].sum())
    return 1 - own / naive if naive > 0 else float("nan")
