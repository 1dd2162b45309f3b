"""Forecasters without weights: what every model is measured against."""

from typing import Any

import numpy as np
import pandas as pd

from tsformer.arrays import Floats, Ints
from tsformer.estimators.contract import Forecasting, PanelForecaster
from tsformer.estimators.naive import (
    seasonal_history,
    seasonal_naive,
    shorter_seasons,
    usable_season,
)
from tsformer.estimators.persistence import savable
from tsformer.panels import Panel, Policy, Schema
from tsformer.params import KW_ONLY, param, params

__all__ = ["Drift", "SeasonalNaive"]


_LEVELS = np.arange(1, 200) / 200
"""Levels at which residual quantiles are kept; others lie between them."""


@savable
@params
class SeasonalNaive(PanelForecaster):
    """Repeats the last season; quantiles come from how wrong that was before.

    Of several seasons that is the one by which the data repeat best, such as the week of load by
    half hours; a series too short for it repeats a shorter one. A missing value is replaced by
    the latest one at the same phase of the season.

    Attributes
    ----------
    season_length_ : int
        Steps in a season: as given, or as stamps tell, or as found in the data.

    Examples
    --------
    >>> frame = pd.DataFrame({"y": [1.0, 5.0, 1.0, 6.0, 1.0, 7.0]})
    >>> SeasonalNaive(horizon=3, season_length=2).fit(frame).predict()["y"].tolist()
    [1.0, 7.0, 1.0]
    """

    _: KW_ONLY
    horizon: int = param("Steps to forecast.", low=1)
    gap: int = param(
        "Rows between the last one of the data and the first one to forecast.", default=0, low=0
    )
    season_length: int | None = param(
        "Steps in a season; None takes the one of the schema, or finds it.", default=None, low=1
    )
    schema: Schema | None = param(
        "Roles of the columns; None infers them.", default=None, part=Schema
    )
    policy: Policy | None = param(
        "What to do with missing values; None refuses them.", default=None, part=Policy
    )

    def _fit(self, panel: Panel) -> None:
        self.season_length_ = usable_season(panel, self.season_length)
        seasons = -(-(self.gap_ + self.horizon_) // self.season_length_)
        self._residuals = self._errors_before(panel, panel.index.lengths, seasons)
        rows = self.season_length_ * (seasons + 1)
        self._tail = panel.tail(max(rows, _rows_to_every_phase(panel, self.season_length_)))

    def _forecasting(self, panel: Panel, ends: Ints) -> Forecasting:
        season = self.season_length_
        history = seasonal_history(panel, season)
        seasons = self._residuals.shape[1]
        residuals = _matched(
            self._residuals,
            self._tail.index.ids.get_indexer(panel.index.ids),
            lambda: self._errors_before(panel, ends, seasons),
        )
        shorter = self._shorter(panel)
        gap, steps = self.gap_, self.gap_ + self.horizon_
        ahead = np.arange(gap, steps) // season

        def forecast(
            series: Ints, origins: Ints, levels: tuple[float, ...]
        ) -> tuple[Floats, Floats]:
            point = seasonal_naive(
                panel,
                history,
                series,
                origins - gap,
                horizon=steps,
                season=season,
                shorter=shorter,
            )[:, gap:]
            # levels first: all of them for each window and step would take gigabytes
            spread = _at_levels(residuals, levels)[series][:, ahead]
            return point, point[..., None] + spread

        return forecast

    def _shorter(self, panel: Panel) -> tuple[int, ...]:
        return shorter_seasons(panel, self.season_length_) if self.season_length is None else ()

    def _errors_before(self, panel: Panel, ends: Ints, seasons: int) -> Floats:
        """Quantiles of past errors, of a shorter season where a series is too short for one."""
        found = _residual_quantiles(panel, ends, self.season_length_, seasons)
        rows = np.minimum(ends, panel.index.lengths)
        length = self.season_length_
        for other in self._shorter(panel):
            short = (rows <= length) & (rows >= 0)
            if short.any():
                found[short] = _residual_quantiles(panel, ends, other, seasons)[short]
            length = other
        return found


@savable
@params
class Drift(PanelForecaster):
    """Goes on along the line through the first and the last value.

    Quantiles are those of past one-step errors, widened by ``sqrt(h * (1 + h / (n - 1)))`` as
    for a random walk with drift (Hyndman and Athanasopoulos, "Forecasting: Principles and
    Practice", section 5.5).

    Examples
    --------
    >>> frame = pd.DataFrame({"y": [1.0, 2.0, 5.0]})
    >>> Drift(horizon=2).fit(frame).predict()["y"].tolist()
    [7.0, 9.0]
    """

    _: KW_ONLY
    horizon: int = param("Steps to forecast.", low=1)
    gap: int = param(
        "Rows between the last one of the data and the first one to forecast.", default=0, low=0
    )
    schema: Schema | None = param(
        "Roles of the columns; None infers them.", default=None, part=Schema
    )
    policy: Policy | None = param(
        "What to do with missing values; None refuses them.", default=None, part=Policy
    )

    def _fit(self, panel: Panel) -> None:
        self._residuals = _residual_quantiles(panel, panel.index.lengths, 1, 1)
        # the line needs the first value: the whole history is what is needed to go on
        self._tail = panel

    def _forecasting(self, panel: Panel, ends: Ints) -> Forecasting:
        history = seasonal_history(panel, 1)
        first_row, first = _first_observed(panel)
        residuals = _matched(
            self._residuals,
            self._tail.index.ids.get_indexer(panel.index.ids),
            lambda: _residual_quantiles(panel, ends, 1, 1),
        )
        centred = residuals - residuals[..., [len(_LEVELS) // 2]]
        gap = self.gap_
        steps = gap + np.arange(1, self.horizon_ + 1)

        def forecast(
            series: Ints, origins: Ints, levels: tuple[float, ...]
        ) -> tuple[Floats, Floats]:
            origins = origins - gap
            last = history[panel.index.starts[series] + origins - 1]
            span = np.maximum(origins[:, None] - 1 - first_row[series], 1)
            slope = np.where(span > 0, (last - first[series]) / span, 0.0)
            point = last[:, None] + steps[:, None] * slope[:, None]
            widened = np.sqrt(steps * (1 + steps / np.maximum(origins[:, None] - 1, 1)))
            spread = _at_levels(centred, levels)[series] * widened[..., None, None]
            return point, point[..., None] + spread

        return forecast


def _rows_to_every_phase(panel: Panel, season: int) -> int:
    """Rows from the end that hold the latest value at each phase, however long ago it was."""
    observed = ~np.isnan(panel.target.values)
    if observed.all():
        return 0
    series = panel.index.owner
    back = panel.index.starts[series + 1] - np.arange(panel.n_rows)
    latest = pd.DataFrame(np.where(observed, back[:, None], np.inf))
    needed = latest.groupby([series, back % season]).min().to_numpy()
    return int(needed[np.isfinite(needed)].max(initial=0))


def _residual_quantiles(panel: Panel, ends: Ints, season: int, seasons: int) -> Floats:
    """Quantiles of persistence errors, 1 to ``seasons`` seasons ahead.

    Returns
    -------
    ndarray
        (series, seasons, target, level) at ``_LEVELS``; 0 where nothing was observed.
    """
    outside = ~panel.index.before(ends)
    found = np.zeros((panel.n_series, seasons, panel.target.values.shape[1], len(_LEVELS)))
    for ahead in range(1, seasons + 1):
        lag = ahead * season
        if lag >= panel.n_rows:
            found[:, ahead - 1] = found[:, ahead - 2] if ahead > 1 else 0.0
            continue
        error = np.full_like(panel.target.values, np.nan)
        error[lag:] = panel.target.values[lag:] - panel.target.values[:-lag]
        error[(panel.index.within < lag) | outside] = np.nan
        for position in range(panel.n_series):
            own = error[panel.index.starts[position] : panel.index.starts[position + 1]]
            for target in range(own.shape[1]):
                kept = own[~np.isnan(own[:, target]), target]
                if len(kept):
                    found[position, ahead - 1, target] = np.quantile(kept, _LEVELS)
                elif ahead > 1:  # too short to know: no narrower than one season less
                    found[position, ahead - 1, target] = found[position, ahead - 2, target]
    return found


def _matched(own: Floats, places: Ints, unseen: Any) -> Floats:
    if (places >= 0).all():
        return own[places]
    other: Floats = unseen()
    return np.where((places < 0)[:, None, None, None], other, own[places])


def _at_levels(quantiles: Floats, levels: tuple[float, ...]) -> Floats:
    """(..., level) quantiles at ``_LEVELS`` interpolated at other levels."""
    place = np.clip(np.interp(levels, _LEVELS, np.arange(len(_LEVELS))), 0, len(_LEVELS) - 1)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, len(_LEVELS) - 1)
    share = place - low
    between: Floats = quantiles[..., low] * (1 - share) + quantiles[..., high] * share
    return between


def _first_observed(panel: Panel) -> tuple[Ints, Floats]:
    """Row within its series and value of each first observation: (series, target) both."""
    target = pd.DataFrame(panel.target.values)
    series = panel.index.owner
    first = target.groupby(series).bfill().to_numpy()[panel.index.starts[:-1]]
    missing = np.isnan(panel.target.values)
    # rows before the first observation are the ones still missing after filling forward
    leading = target.groupby(series).ffill().isna().to_numpy() & missing
    counts = np.add.reduceat(leading.astype(np.int64), panel.index.starts[:-1], axis=0)
    return counts, np.nan_to_num(first, nan=0.0)
