"""How much better a forecaster is than seasonal persistence on the rows that validate it."""

import numpy as np

from tsformer.arrays import Ints
from tsformer.cures import Cure, warn
from tsformer.errors import NoSkill
from tsformer.estimators.contract import PanelForecaster
from tsformer.estimators.forecasts import windows_of
from tsformer.estimators.naive import (
    naive_scale,
    scaled_error,
    seasonal_history,
    seasonal_naive,
    usable_season,
)
from tsformer.panels import Panel, Scales
from tsformer.windows import WindowIndex

__all__ = ["skill", "warn_without_skill"]


_ROUNDING = 1e-5
"""An error of so little of a series' deviation is what float32 leaves of a perfect forecast."""


def skill(fitted: PanelForecaster, panel: Panel, validation: WindowIndex, ends: Ints) -> float:
    """One minus the ratio of its MASE to that of seasonal persistence on the same windows.

    Parameters
    ----------
    validation
        The windows to forecast.
    ends
        (series,) number of training rows, from which the unit of errors is.

    Returns
    -------
    float
        1 is perfect, 0 no better, negative worse. Where both are perfect up to rounding it is 0;
        where only persistence is, NaN: there is nothing to divide by. NaN also without windows,
        and where no series has a unit.
    """
    series, origins = validation.locate(np.arange(len(validation)))
    reached = origins >= fitted.reach_
    season, gap = usable_season(panel, ends=ends), fitted.gap_
    history = seasonal_history(panel, season)
    units = naive_scale(panel, ends=ends)
    exact = _ROUNDING * Scales.fit(panel.target.values, panel.index.starts, ends).scale / units
    own, naive, rounding = 0.0, 0.0, 0.0
    for part in fitted.forecast(panel, series[reached], origins[reached]):
        repeated = seasonal_naive(
            panel,
            history,
            part.series,
            part.origin - gap,
            horizon=gap + fitted.horizon_,
            season=season,
        )[:, gap:]
        truth, unit = (
            windows_of(panel, part.series, part.origin, fitted.horizon_),
            units[part.series],
        )
        errors = scaled_error(truth, part.point, unit)
        others = scaled_error(truth, repeated, unit)
        both = ~np.isnan(errors) & ~np.isnan(others)
        own += float(errors[both].sum())
        naive += float(others[both].sum())
        small = np.broadcast_to(exact[part.series][:, None, :], both.shape)
        rounding += float(small[both].sum())
    if naive <= rounding:
        return 0.0 if rounding > 0 and own <= rounding else float("nan")
    return 1 - own / naive


def warn_without_skill(model: object, skill: float, *, seasonal: bool) -> None:
    """Warn if persistence is better; a tie, or no validation (NaN), is no news."""
    if skill < 0:
        warn(
            NoSkill(
                f"on the validation rows {type(model).__name__} is no better than"
                f" {'seasonal ' * seasonal}persistence (skill {skill:.3f}): more history, a"
                " longer context or another model may help.",
                Cure(
                    "The simpler choice",
                    code="SeasonalNaive(horizon=...)",
                    option="--model seasonal-naive",
                ),
            )
        )
