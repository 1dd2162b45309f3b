"""The estimator: any model, any head, from a frame to a stamped forecast."""

import copy
import logging
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tsformer.errors import ParameterError, SeriesTooShort
from tsformer.estimators.contract import Forecasting, PanelForecaster, windows_of
from tsformer.estimators.defaults import default_context, default_model
from tsformer.estimators.naive import seasonal_history, seasonal_naive, usable_season
from tsformer.estimators.persistence import savable
from tsformer.estimators.pretrainer import PretrainedWeights
from tsformer.frames import Panel, Policy, Schema
from tsformer.heads import Head, Quantiles
from tsformer.models import Architecture, Informer, WindowScaling
from tsformer.params import KW_ONLY, param, params
from tsformer.training import Training
from tsformer.windows import PanelScales, WindowDataset

if TYPE_CHECKING:
    from tsformer.training import ForecastModule, WindowDataModule

__all__ = ["Forecaster"]

log = logging.getLogger("tsformer")

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@savable
@params
class Forecaster(PanelForecaster):
    """Forecasts the next ``horizon`` rows of every series of a frame.

    Missing values are refused, or masked: see ``policy``. Unscaled frames are fine: every series
    and column is scaled by its training rows, every window by its own context.

    Attributes
    ----------
    schema_ : Schema
        The roles of all columns, as resolved by ``fit``.
    model_, head_, context_
        What ``None`` became.
    network_ : Network
        The trained network, with the best weights.
    cutoff_ : Timestamp or int
        The last stamp ``fit`` has seen.
    history_ : DataFrame
        One row an epoch: ``epoch, train_loss, validation_loss, seconds``; epoch 0 is the state
        before the first step. Losses are in units of the scaled series.
    best_epoch_ : int or None
        Whose weights were kept; None without validation.
    skill_ : float
        One minus the ratio of the validation error to that of seasonal persistence (MAE of
        scaled series): 1 is perfect, 0 no better, negative worse; NaN without validation.

    Examples
    --------
    >>> from tsformer.models import Linear
    >>> day = pd.date_range("2024-01-01", periods=90)
    >>> frame = pd.DataFrame({"y": np.tile(np.arange(7.0), 13)[:90]}, index=day)
    >>> forecaster = Forecaster(Linear(), horizon=3, context=14).fit(frame)
    >>> forecaster.predict(quantiles=[0.1]).round(1)
                  y  y_q0.1
    2024-03-31  6.0     6.0
    2024-04-01  0.0     0.0
    2024-04-02  1.0     1.0
    """

    model: Architecture | None = param(
        "What to train; None chooses by the amount of data.", default=None, part=Informer
    )
    _: KW_ONLY
    horizon: int = param("Steps to forecast.", low=1)
    context: int | None = param(
        "Steps to look back; None chooses by season, horizon and amount of data.",
        default=None,
        low=1,
    )
    head: Head | None = param(
        "What is forecast for each step; None is Quantiles().", default=None, part=Quantiles
    )
    training: Training | None = param(
        "How to train; None is Training().", default=None, part=Training
    )
    schema: Schema | None = param(
        "Roles of the columns; None infers them.", default=None, part=Schema
    )
    policy: Policy | None = param(
        "What to do with missing values; None refuses them.", default=None, part=Policy
    )
    scaling: Literal["window", "none"] = param(
        "Standardise each window by its own context, or leave it in units of its series.",
        default="window",
        choices=("window", "none"),
    )
    start: PretrainedWeights | None = param(
        "Weights to start from, such as MaskedPretrainer.weights_, instead of random ones; model "
        "None is then the model they come from. A saved file does not hold them.",
        default=None,
    )
    random_state: int = param(
        "Seed of weights, order and noise; same seed, same weights.", default=0, low=0
    )

    def check(self) -> None:
        """Raise ``ParameterError`` for the first parameter that is out of range."""
        super().check()
        if not isinstance(self.start, PretrainedWeights | None):
            raise ParameterError(
                f"Forecaster(start={self.start!r}): start must be pretrained weights, such as "
                "MaskedPretrainer(...).fit(data).weights_"
            )

    @property
    def _settings(self) -> Training:
        return self.training or Training()

    def _enter(self, data: Any) -> Panel:
        validation = self._settings.validation
        if not isinstance(validation, pd.DataFrame):
            return super()._enter(data)
        if not isinstance(data, pd.DataFrame):
            raise ParameterError("training__validation is a frame, so the data must be one too")
        numbered = isinstance(data.index, pd.RangeIndex)
        return super()._enter(pd.concat([data, validation], ignore_index=numbered))

    def _fit(self, panel: Panel) -> None:
        settings = self._settings
        self.head_ = copy.deepcopy(self.head) or Quantiles()  # what is set later moves no fit
        self.context_ = self.context or default_context(panel, self.horizon_)
        self.model_ = copy.deepcopy(self.model) or self._default_model(panel)
        self._tail = panel.tail(max(self.context_, usable_season(panel)))
        data = self._windows(panel, self._validation_rows(panel))
        if len(data.validation) == 0:
            log.info("no validation windows: no early stopping, the last weights are kept")
        module = self._train(data, settings)
        # a closed form without validation windows has no epoch to tell of
        self.history_ = pd.DataFrame(module.history, columns=_HISTORY).astype({"epoch": int})
        self.best_epoch_: int | None = module.best.epoch
        self.skill_ = self._skill(panel, data)
        if settings.refit_all and self.best_epoch_ is not None:
            same = {"epochs": self.best_epoch_, "callbacks": (), "validation": None}
            again = Training(**{**settings.get_params(deep=False), **same})
            self._train(self._windows(panel, None), again)
        if self.skill_ <= 0:
            warnings.warn(_NO_SKILL.format(self.model_, self.skill_), stacklevel=3)

    def _default_model(self, panel: Panel) -> Architecture:
        if self.start is None:
            return default_model(panel, self.context_, self.horizon_)
        return copy.deepcopy(self.start.model)

    def _windows(self, panel: Panel, validation: Any) -> "WindowDataModule":
        from tsformer.training import WindowDataModule  # Lightning is loaded by the first fit

        return WindowDataModule(
            panel,
            context=self.context_,
            horizon=self.horizon_,
            batch_size=self._settings.batch_size,
            validation=validation,
            random_state=self.random_state,
        )

    def _train(self, data: "WindowDataModule", settings: Training) -> "ForecastModule":
        from tsformer.training import ForecastModule, build_network, train

        seed = self.random_state
        network = build_network(self.model_, data.sizes, self.head_, random_state=seed)
        if self.start is not None:
            self.start.load_into(network, self.model_)
        module = ForecastModule(
            network, self.head_, settings, scaling=self.scaling, random_state=seed
        )
        train(module, data, settings)
        self.network_ = network.eval()
        self.scales_ = data.scales
        return module

    def _validation_rows(self, panel: Panel) -> Any:
        validation = self._settings.validation
        if not isinstance(validation, pd.DataFrame):
            return validation
        added = Panel.from_frame(validation, self.schema_, self.policy, like=panel)
        rows = np.zeros(panel.n_series, dtype=np.int64)
        rows[panel.ids.get_indexer(added.ids)] = added.lengths
        return rows

    def _skill(self, panel: Panel, data: "WindowDataModule") -> float:
        """One minus the ratio of our absolute errors to those of seasonal persistence."""
        series, origins = data.validation.index.locate(np.arange(len(data.validation)))
        season = usable_season(panel)
        history = seasonal_history(panel, season)
        own, naive = 0.0, 0.0
        for part in self.forecast(panel, series, origins):
            repeated = seasonal_naive(
                panel, history, part.series, part.origin, horizon=self.horizon_, season=season
            )
            truth = windows_of(panel, part.series, part.origin, self.horizon_)
            scale = data.scales.target.scale[part.series][:, None, :]
            both = ~np.isnan(truth) & ~np.isnan(repeated)
            own += float((np.abs(truth - part.point) / scale)[both].sum())
            naive += float((np.abs(truth - repeated) / scale)[both].sum())
        return 1 - own / naive if naive > 0 else float("nan")

    def _forecasting(self, panel: Panel, ends: Integers) -> Forecasting:
        _refuse_short(panel, ends, self.context_)
        places = self._tail.ids.get_indexer(panel.ids).astype(np.int64)
        unseen = PanelScales.fit(panel, ends) if (places < 0).any() else self.scales_
        scales = self.scales_.match(places, unseen)
        windows = WindowDataset(panel, context=self.context_, horizon=self.horizon_, scales=scales)
        standardise = WindowScaling(self.scaling)

        def forecast(
            series: Integers, origins: Integers, levels: tuple[float, ...]
        ) -> tuple[Floats, Floats]:
            batch = windows.gather(torch.from_numpy(series), torch.from_numpy(origins))
            with torch.no_grad():
                standardised, location, scale = standardise(batch)
                raw = self.head_.restore(self.network_(standardised), location, scale)
                point = self.head_.point(raw).numpy()
                spread = self.head_.quantiles(raw, levels).numpy()
            levelwise = np.moveaxis(spread, -1, 1)  # targets last, as their scales are
            return (
                scales.target.restore(point, series),
                np.moveaxis(scales.target.restore(levelwise, series), 1, -1),
            )

        return forecast


_HISTORY = ["epoch", "train_loss", "validation_loss", "seconds"]
_NO_SKILL = (
    "on the validation rows {} is no better than seasonal persistence (skill {:.3f}): more "
    "history, a longer context or another model may help; SeasonalNaive is the simpler choice"
)


def _refuse_short(panel: Panel, ends: Integers, context: int) -> None:
    short = (ends >= 0) & (ends < context)
    if short.any():
        first = int(np.argmax(short))
        raise SeriesTooShort(
            f"series {panel.ids[first]!r} has {ends[first]} rows before the forecast, the context "
            f"needs {context} ({int(short.sum())} of {int((ends >= 0).sum())} series are too "
            "short). Give more history, or fit again with a shorter context."
        )
