"""How much better a forecaster is than seasonal persistence on the rows that validate it."""

from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

import numpy as np

from tsformer.arrays import Floats, Ints
from tsformer.cures import Cure, warn
from tsformer.errors import NoSkill
from tsformer.estimators.forecasts import Forecasts, windows_of
from tsformer.estimators.naive import (
    naive_scale,
    scaled_error,
    seasonal_history,
    seasonal_naive,
    shorter_seasons,
    usable_season,
)
from tsformer.panels import Panel, Scales, Transform
from tsformer.panels.chain import Inverse, apply_all
from tsformer.windows import WindowIndex

__all__ = ["Validated", "ValidationSkill", "warn_without_skill"]


_ROUNDING = 1e-5
"""An error of so little of a series' deviation is what float32 leaves of a perfect forecast."""


class Validated(Protocol):
    """A forecaster whose fit is under way."""

    horizon_: int
    gap_: int
    transforms_: tuple[Transform, ...]

    @property
    def reach_(self) -> int:
        """Rows that must stand before the first one to forecast."""

    def forecast(self, panel: Panel, series: Ints, origins: Ints) -> Iterable[Forecasts]:
        """Forecasts from many origins."""


class ValidationSkill:
    """The skill after each epoch, from the forecasts of which the validation loss is taken.

    The skill is one minus the ratio of the MASE to that of seasonal persistence on the same
    windows: 1 is perfect, 0 no better, negative worse. Where both are perfect up to rounding it is
    0; where only persistence is, NaN: there is nothing to divide by. NaN also without windows, and
    where no series has a unit.

    Parameters
    ----------
    fitted
        What is being fitted: horizon, gap, transforms and reach are known.
    panel
        Its data, in the caller's units.
    scales
        Of the targets, after the transforms.
    ends
        (series,) number of training rows, from which the unit of errors is.
    """

    def __init__(self, fitted: "Validated", panel: Panel, scales: Scales, ends: Ints) -> None:
        self.fitted, self.panel, self.scales, self.ends = fitted, panel, scales, ends
        self._by_epoch: dict[int | None, float] = {}
        self.begin()

    # worked out when the first window is judged; a fit may have none

    @cached_property
    def _undo(self) -> Inverse:
        return apply_all(self.fitted.transforms_, self.panel)[1]

    @cached_property
    def _season(self) -> int:
        return usable_season(self.panel, ends=self.ends)

    @cached_property
    def _history(self) -> Floats:
        return seasonal_history(self.panel, self._season)

    @cached_property
    def _units(self) -> Floats:
        return naive_scale(self.panel, ends=self.ends)

    @cached_property
    def _exact(self) -> Floats:
        own = Scales.fit(self.panel.target.values, self.panel.index.starts, self.ends)
        return _ROUNDING * own.scale / self._units

    def begin(self) -> None:
        """Start a pass over the windows."""
        self._own = self._naive = self._rounding = 0.0
        self._windows = 0

    def add(self, series: Ints, origins: Ints, point: Floats) -> None:
        """Forecasts (window, horizon, target) as a network makes them: transformed and scaled."""
        reached = origins >= self.fitted.reach_
        series, origins = series[reached], origins[reached]
        restored = self.scales.restore(point[reached], series)[..., None]
        self._compare(series, origins, self._undo(restored, series, origins)[..., 0])

    def finish(self, epoch: int) -> None:
        """The pass is over."""
        if self._windows:
            self._by_epoch[epoch] = self._skill()

    def of(self, epoch: int | None, validation: WindowIndex) -> float:
        """The skill after an epoch; the windows are forecast if that epoch's were not shown."""
        if epoch in self._by_epoch:
            return self._by_epoch[epoch]
        series, origins = validation.locate(np.arange(len(validation)))
        reached = origins >= self.fitted.reach_
        self.begin()
        for part in self.fitted.forecast(self.panel, series[reached], origins[reached]):
            self._compare(part.series, part.origin, part.point)
        return self._skill()

    def _compare(self, series: Ints, origins: Ints, point: Floats) -> None:
        gap, horizon = self.fitted.gap_, self.fitted.horizon_
        repeated = seasonal_naive(
            self.panel,
            self._history,
            series,
            origins - gap,
            horizon=gap + horizon,
            season=self._season,
            shorter=shorter_seasons(self.panel, self._season),
        )[:, gap:]
        truth, unit = windows_of(self.panel, series, origins, horizon), self._units[series]
        errors = scaled_error(truth, point, unit)
        others = scaled_error(truth, repeated, unit)
        both = ~np.isnan(errors) & ~np.isnan(others)
        self._own += float(errors[both].sum())
        self._naive += float(others[both].sum())
        small = np.broadcast_to(self._exact[series][:, None, :], both.shape)
        self._rounding += float(small[both].sum())
        self._windows += len(series)

    def _skill(self) -> float:
        if self._naive <= self._rounding:
            tied = self._rounding > 0 and self._own <= self._rounding
            return 0.0 if tied else float("nan")
        return 1 - self._own / self._naive


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
