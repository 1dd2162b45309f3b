"""What every forecaster is: fit on a frame, predict its next rows, in scikit-learn's manner."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted, validate_data

from tsformer.arrays import Floats, Ints
from tsformer.cures import Cure
from tsformer.errors import ParameterError, SeriesTooShort, WrongType
from tsformer.estimators.folds import refuse_folds
from tsformer.estimators.forecasts import (
    Forecasts,
    checked_levels,
    forecast_columns,
    refuse_nonfinite,
    warn_of_outside,
    windows_of,
)
from tsformer.estimators.learning import Learner
from tsformer.estimators.naive import naive_scale, scaled_error
from tsformer.estimators.persistence import save_forecaster
from tsformer.panels import Panel, Policy, ResolvedSchema, Schema
from tsformer.panels.index import row_within_series
from tsformer.panels.seasons import with_seasons
from tsformer.reading import extended, future_frame, read_panel
from tsformer.reading.tables import as_pandas, refuse_unknown

__all__ = ["Forecasting", "PanelForecaster"]

Forecasting = Callable[[Ints, Ints, tuple[float, ...]], tuple[Floats, Floats]]
_CHUNK = 512  # forecasts at a time: bounds the memory of a long backtest


class PanelForecaster(Learner, ABC):
    """Base of all forecasters: everything between a frame and a panel, and back.

    A subclass declares ``horizon``, ``schema``, ``policy`` and, if it can forecast from behind
    one, ``gap`` as parameters, and implements ``_fit`` and ``_forecasting``.

    Attributes
    ----------
    schema_ : ResolvedSchema
        The roles of all columns, as resolved by ``fit``.
    cutoff_ : Timestamp or int
        The last stamp ``fit`` has seen; nothing fitted depends on anything after it.
    horizon_ : int
        The horizon it was fitted for; a later change of ``horizon`` waits for the next ``fit``.
    gap_ : int
        The gap it was fitted for.
    policy_ : Policy
        What was done, and is done to further data, about what is missing.
    """

    horizon: int
    gap: int = 0
    schema: Schema | None
    policy: Policy | None
    schema_: ResolvedSchema
    horizon_: int
    gap_: int
    policy_: Policy

    def fit(self, data: Any, y: Any = None) -> Self:
        """Fit on all series of a frame; a second call starts afresh.

        A fit that fails or is interrupted leaves the forecaster as it was before.

        Parameters
        ----------
        data
            A frame, wide or long, an array with one row a step, or a ``Panel`` that was read of
            one by this schema and policy.
        y
            Ignored; the target is a column of ``data``.

        Raises
        ------
        FrameError
            If something in the data is wrong; before any training.
        ParameterError
            If a parameter is out of range.
        """
        self.check()
        fitted = self._unfitted()
        fitted.policy_ = copy.deepcopy(self.policy) or Policy()  # what is set later moves no fit
        given = fitted._given(data)
        if not isinstance(given, Panel):
            given = read_panel(fitted._entered(given, reset=True), self.schema, fitted.policy_)
        panel = with_seasons(given)
        fitted.schema_, fitted.horizon_, fitted.gap_ = panel.schema, self.horizon, self.gap
        fitted._fit(panel)
        fitted.cutoff_ = panel.index.stamps.max()
        return self._adopt(fitted)

    def predict(
        self,
        history: Any = None,
        *,
        future: pd.DataFrame | None = None,
        horizon: int | None = None,
        quantiles: Sequence[float] | None = None,
    ) -> Any:
        """The next rows after the end of each series.

        Parameters
        ----------
        history
            Data up to the moment of the forecast; by default what ``fit`` has seen.
        future
            Known covariates for the rows to forecast, matched by series, stamp and name; see
            :meth:`make_future_frame`.
        horizon
            Steps, at most the fitted ``horizon``, which is the default.
        quantiles
            Levels for which to add columns such as ``y_q0.1``.

        Returns
        -------
        DataFrame or ndarray
            Exactly the next rows (behind the ``gap``) in the layout, units and zone of the data:
            one column a target with the median or mean, and one for each level; a pandas frame for
            every kind of table. For an array, an array (horizon, target), or (horizon, target,
            level) with ``quantiles``.

        Raises
        ------
        FrameError
            If something in ``history`` or ``future`` is wrong.
        ForecastError
            If a forecast came out as NaN or infinite.
        """
        check_is_fitted(self)
        steps = self._steps(horizon)
        levels = checked_levels(quantiles)
        panel = self.at_origin(history)
        room = extended(panel, steps, future)
        series = np.arange(panel.n_series, dtype=np.int64)
        parts = list(self.forecast(room, series, panel.index.lengths, horizon=steps, levels=levels))
        for part in parts:
            refuse_nonfinite(room, part)
        warn_of_outside(room, steps, getattr(self, "_known_range", None))
        point = np.concatenate([part.point for part in parts])
        spread = np.concatenate([part.quantiles for part in parts])
        if panel.layout.array:
            return spread[0] if quantiles is not None else point[0]
        names = forecast_columns(panel.target.names, levels)
        values = np.concatenate([point[..., None], spread], axis=-1).reshape(*point.shape[:2], -1)
        return panel.frame_of(values, names, stamps=panel.index.future_stamps(steps))

    def make_future_frame(self, history: Any = None, *, horizon: int | None = None) -> pd.DataFrame:
        """The rows that ``predict`` forecasts, with their known covariates left to be filled in.

        Parameters
        ----------
        history, horizon
            As in :meth:`predict`.

        Returns
        -------
        DataFrame
            Series and stamps in the layout of the data; each known covariate is missing.
        """
        check_is_fitted(self)
        return future_frame(self.at_origin(history), self._steps(horizon))

    def score(self, data: Any, y: Any = None) -> float:
        """The negative MASE on the rows after ``cutoff_``; 0 is perfect, higher is better.

        Every origin after the cutoff with a full horizon counts; without rows after the cutoff the
        last ``horizon`` rows are forecast from the ones before. The unit of a series is the error
        of seasonal persistence on its rows up to the cutoff, see ``naive_scale``; a series without
        one, such as a constant, is left out. NaN if nothing is left.

        Parameters
        ----------
        data
            History and the rows to score, in the layout of the fitted data.
        y
            Ignored.

        Raises
        ------
        FrameError
            If something in the data is wrong.
        ForecastError
            If a forecast is NaN or infinite where there is an actual value.
        """
        check_is_fitted(self)
        self.warn_of_look_ahead()
        panel = self.read(data)
        seen = panel.index.count_through(self.cutoff_)
        last = panel.index.lengths - self.horizon_
        # behind the gap, which fit has seen, if that leaves a horizon
        behind = np.minimum(seen + self.gap_, np.maximum(seen, last))
        first = np.where(seen < panel.index.lengths, behind, last)
        # origins with a full horizon; at least the first, whose end may be missing
        counts = np.maximum(panel.index.lengths - self.horizon_ - first + 1, 1)
        if (first < self.reach_).any():
            at = int(np.argmin(first))
            raise SeriesTooShort(
                f"there are {panel.index.lengths[at]} rows{panel.index.of(at)}: nothing is left to "
                f"forecast horizon {self.horizon_} from. Give more rows before them."
            )
        series = np.repeat(np.arange(panel.n_series, dtype=np.int64), counts)
        unit = naive_scale(panel, ends=np.minimum(seen, first))
        total, count = 0.0, 0
        for part in self.forecast(panel, series, first[series] + row_within_series(counts)):
            truth = windows_of(panel, part.series, part.origin, self.horizon_)
            refuse_nonfinite(panel, part, known=truth)
            error = scaled_error(truth, part.point, unit[part.series])
            total, count = total + float(np.nansum(error)), count + int((~np.isnan(error)).sum())
        return -total / count if count else float("nan")

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the fitted forecaster to one safetensors file; ``tsformer.load`` reads it.

        Parameters
        ----------
        path
            Where; the folder must exist.
        overwrite
            Whether an existing file may be replaced; the replacement is atomic.
        """
        check_is_fitted(self)
        return save_forecaster(self, path, overwrite=overwrite)

    def read(self, data: Any) -> Panel:
        """A panel of further data, read as ``fit`` read its own; a panel is taken as it is."""
        check_is_fitted(self)
        if isinstance(data, Panel):
            return data
        entered = self._entered(data, reset=False)
        return read_panel(entered, self.schema_, self.policy_, like=self._tail)

    def forecast(
        self,
        panel: Panel,
        series: Ints,
        origins: Ints,
        *,
        horizon: int | None = None,
        levels: Sequence[float] = (),
    ) -> Iterator[Forecasts]:
        """Forecast from many origins, a chunk at a time; what backtests stand on.

        Parameters
        ----------
        panel
            Made by :meth:`read`. Targets at or after an origin, and in the ``gap`` before it, are
            not used; known covariates after it are, and count as missing where the panel ends.
        series, origins
            Where to forecast: positions of series, and the first row to forecast within them.
        horizon, levels
            As in :meth:`predict`.
        """
        check_is_fitted(self)
        steps = self._steps(horizon)
        if len(series) == 0:
            return
        if (origins < 1 + self.gap_).any():
            raise SeriesTooShort("there is nothing to forecast from before the first row")
        beyond = int((origins + self.horizon_ - panel.index.lengths[series]).max())
        room = panel.extend(beyond) if beyond > 0 else panel
        # what a new series is scaled by: nothing after the first origin in it
        ends = np.full(panel.n_series, -1, dtype=np.int64)
        ends[series] = panel.index.lengths[series]
        np.minimum.at(ends, series, origins - self.gap_)
        forecast = self._forecasting(room, ends)
        for begin in range(0, len(series), _CHUNK):
            chosen = slice(begin, begin + _CHUNK)
            point, spread = forecast(series[chosen], origins[chosen], tuple(levels))
            yield Forecasts(series[chosen], origins[chosen], point[:, :steps], spread[:, :steps])

    @abstractmethod
    def _fit(self, panel: Panel) -> None:
        """Learn from the panel; set ``_tail``, what is needed of it to forecast its future."""

    @abstractmethod
    def _forecasting(self, panel: Panel, ends: Ints) -> Forecasting:
        """A function of (series, origins, levels) that forecasts ``horizon`` steps of a panel.

        It returns the point (n, horizon, target) and quantiles (n, horizon, target, level).
        ``ends`` (series,) says how many rows may be looked at to learn about a series that
        ``fit`` has not seen; -1 for a series from which nothing is forecast.
        """

    def __sklearn_tags__(self) -> Any:
        """Missing values are fine where the policy masks them; folds without a past are not."""
        refuse_folds(self)
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.policy is not None and self.policy.keeps_missing
        return tags

    @property
    def reach_(self) -> int:
        """Rows that must stand before the first one to forecast."""
        return 1 + self.gap_

    def warn_of_look_ahead(self) -> None:
        """Warn if a score on rows after ``cutoff_`` would be too good; most need not."""

    def at_origin(self, history: Any) -> Panel:
        """The panel that the rows to forecast follow on: the data, and the gap after it."""
        panel = self._ready(self._tail if history is None else self.read(history))
        return panel.extend(self.gap_) if self.gap_ else panel

    def _ready(self, panel: Panel) -> Panel:
        """The series that can be forecast."""
        return panel

    def _given(self, data: Any) -> Any:
        """All rows that a fit is given."""
        return data

    def _steps(self, horizon: int | None) -> int:
        if horizon is None:
            return self.horizon_
        if not 1 <= horizon <= self.horizon_:
            raise ParameterError(
                f"horizon={horizon}: this forecaster was fitted for 1 to {self.horizon_} steps.",
                Cure("Fit again for as many", {"horizon": horizon}),
            )
        return horizon

    def _entered(self, data: Any, *, reset: bool) -> Any:
        """scikit-learn's checks of arrays and its bookkeeping of columns."""
        data = as_pandas(data)
        if isinstance(data, (pd.DataFrame, pd.Series)):
            frame = data if isinstance(data, pd.DataFrame) else data.to_frame()
            if reset:
                self.n_features_in_ = frame.shape[1]
                self.feature_names_in_ = np.asarray(frame.columns, dtype=object)
            return data
        if reset and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        refuse_unknown(data)
        try:  # shape and number of columns; values are for the reader, as those of a frame
            validate_data(
                self, data, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=0
            )
        except (ValueError, TypeError) as problem:
            raise WrongType(str(problem)) from problem
        return data
