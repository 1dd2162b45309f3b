"""The estimator: any model, any head, from a frame to a stamped forecast."""

import copy
import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from tsformer.arrays import Floats, Ints
from tsformer.errors import ParameterError
from tsformer.estimators.contract import Forecasting, PanelForecaster
from tsformer.estimators.forecasts import observed_range
from tsformer.estimators.naive import usable_season
from tsformer.estimators.parameters import (
    COLUMN_SCALES,
    WINDOW_KINDS,
    checked_lags,
    default_context,
    default_model,
    listed_transforms,
)
from tsformer.estimators.persistence import savable
from tsformer.estimators.preprocessing import Preprocessing
from tsformer.estimators.pretrainer import PretrainedWeights
from tsformer.estimators.short import long_enough, padded, without_short
from tsformer.estimators.skill import ValidationSkill, warn_without_skill
from tsformer.heads import Head, Quantiles
from tsformer.models import Architecture, Informer, Network, WindowScaling
from tsformer.panels import Panel, Policy, Schema, Transform
from tsformer.panels.chain import apply_all, fit_all
from tsformer.params import KW_ONLY, group, param, params
from tsformer.reading import read_panel
from tsformer.training import Training
from tsformer.training.budget import Budget
from tsformer.windows import PanelScales, WindowDataset

if TYPE_CHECKING:
    from tsformer.training import ForecastModule, WindowDataModule

__all__ = ["Forecaster"]

log = logging.getLogger("tsformer")


@savable
@params
class Forecaster(PanelForecaster):
    """Forecasts the next ``horizon`` rows of every series of a frame.

    Missing values are refused, masked or interpolated: see ``policy``. Unscaled frames are fine:
    every series and column is scaled by its training rows, every window by its own context.

    ``scaling``, ``transforms`` and ``nonnegative`` stand in a group and may be given by their own
    names: ``Forecaster(horizon=3, scaling="last")``.

    Attributes
    ----------
    schema_ : ResolvedSchema
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
    cut_short_ : str
        What ``training__max_time`` cut short, empty if nothing; a fit that was may come out
        otherwise the next time.
    transforms_ : tuple of Transform
        ``transforms`` and ``nonnegative``, with what was learnt from the training rows.
    edges_ : tuple of int
        How many rows each past covariate is late, see ``Schema(late=)``; hidden in training, too.
    short_ : DataFrame
        Series with too few rows, and what was done: ``series, rows, needed, done``.
    skill_ : float
        One minus the ratio of the validation MASE to that of seasonal persistence: 1 is perfect, 0
        no better (or both perfect up to rounding), negative worse; NaN without validation and where
        persistence alone is perfect: there is nothing to divide by.

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
    gap: int = param(
        "Rows between the last one of the data and the first one to forecast.", default=0, low=0
    )
    lags: tuple[int, ...] | list[int] = param(
        "Rows back, each at least gap + horizon: the targets so long before become known"
        " covariates.",
        default=(),
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
    preprocessing: Preprocessing | None = group(Preprocessing, default=None)
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

    def _given(self, data: Any) -> Any:
        """The data, and the validation rows that continue them; from now on time counts."""
        self._budget = Budget(self._settings.max_time)
        validation = self._settings.validation
        if not isinstance(validation, pd.DataFrame):
            return data
        if not isinstance(data, pd.DataFrame):
            raise ParameterError("training__validation is a frame, so the data must be one too")
        return pd.concat([data, validation], ignore_index=isinstance(data.index, pd.RangeIndex))

    def _fit(self, panel: Panel) -> None:
        settings, budget = self._settings, self.__dict__.pop("_budget")
        self.head_ = copy.deepcopy(self.head) or Quantiles()  # what is set later moves no fit
        ahead = self.gap_ + self.horizon_
        self.context_ = self.context or default_context(panel, ahead, short=panel.policy.short)
        self.lags_ = checked_lags(self.lags, ahead)
        transforms = listed_transforms(self.transforms, nonnegative=self.nonnegative, ahead=ahead)
        memory = sum(one.memory for one in transforms)
        panel, self.short_ = without_short(panel, self.context_, ahead, memory=memory)
        model = self.model or (None if self.start is None else self.start.model)
        self.model_ = copy.deepcopy(model or default_model(panel, self.context_, self.horizon_))
        late = self.schema_.late
        self.edges_ = tuple(late.get(name, 0) for name in (*panel.past.names, *panel.past.coded))
        if late:
            log.info("rows that past covariates are late, hidden in training: %s", late)
        rows = self._validation_rows(panel)
        self.transforms_ = fit_all(transforms, panel, panel.index.lengths - rows)
        self._tail = panel.tail(self._kept_rows(panel))
        self._known_range = observed_range(panel.known.values)
        data = self._windows(panel, rows)
        first = budget.before_refit() if settings.refit_all else budget
        skill = ValidationSkill(self, panel, data.scales.target, data.ends)
        module = self._train(data, settings, first, judge=skill)
        self.history_ = module.history_frame()
        self.best_epoch_: int | None = module.best.epoch
        if self.best_epoch_ is None:
            log.info("no validation windows: no early stopping, the last weights are kept")
        self.skill_ = skill.of(self.best_epoch_, data.validation.index)
        if settings.refit_all and self.best_epoch_ is not None:
            self._refit(panel, transforms, budget)
        self.cut_short_ = budget.said()
        warn_without_skill(self.model_, self.skill_, seasonal=usable_season(panel) > 1)

    def _kept_rows(self, panel: Panel) -> int:
        """How many of the latest rows a forecast needs."""
        memory = self._memory
        if memory and np.isnan(panel.target.values).any():
            # a missing value is replaced by one of any earlier row
            return int(panel.index.lengths.max())
        return self.context_ + max(self.lags_, default=0) + memory

    def _windows(self, panel: Panel, validation: Ints) -> "WindowDataModule":
        from tsformer.training import WindowDataModule  # Lightning is loaded by the first fit

        return WindowDataModule(
            apply_all(self.transforms_, panel)[0],
            context=self.context_,
            horizon=self.horizon_,
            gap=self.gap_,
            lags=self.lags_,
            edges=self.edges_,
            scaling=COLUMN_SCALES[self.scaling],
            sampling=self._settings.sampling,
            stride=self._settings.stride,
            batch_size=self._settings.batch_size,
            validation=validation,
            random_state=self.random_state,
        )

    def _train(
        self,
        data: "WindowDataModule",
        settings: Training,
        budget: Budget,
        *,
        judge: ValidationSkill | None = None,
        like: Network | None = None,
    ) -> "ForecastModule":
        from tsformer.training import ForecastModule, build_network, train

        seed = self.random_state
        network = build_network(self.model_, data.sizes, self.head_, random_state=seed)
        if self.start is not None:
            self.start.load_into(network, self.model_)
        if like is not None:
            network.inherit(like)
        self.scaling_ = self.scaling
        scaling = WINDOW_KINDS[self.scaling]
        module = ForecastModule(network, self.head_, settings, scaling=scaling, random_state=seed)
        if settings.precision in ("32-true", "32"):  # a forecast is made in float32
            module.judge = judge
        train(module, data, settings, budget)
        self.network_: Network = network.eval()
        self.scales_: PanelScales = data.scales
        return module

    def _refit(self, panel: Panel, transforms: tuple[Transform, ...], budget: Budget) -> None:
        """Train on all rows for the best number of epochs; without time for it change nothing."""
        network, scales, fitted = self.network_, self.scales_, self.transforms_
        same = {"epochs": self.best_epoch_, "callbacks": (), "validation": None}
        again = Training(**{**self._settings.get_params(deep=False), **same})
        self.transforms_ = fit_all(transforms, panel, panel.index.lengths)
        data = self._windows(panel, np.zeros_like(panel.index.lengths))
        rest = budget.rest()
        self._train(data, again, rest, like=self.network_)
        if rest.notes:
            self.network_, self.scales_, self.transforms_ = network, scales, fitted
            budget.notes.append("there was no time to train once more on all rows")

    def _validation_rows(self, panel: Panel) -> Ints:
        from tsformer.training import validation_rows

        validation = self._settings.validation
        if not isinstance(validation, pd.DataFrame):
            return validation_rows(
                panel.index.lengths,
                validation,
                context=self.context_,
                horizon=self.horizon_,
                gap=self.gap_,
                stride=self._settings.stride,
            )
        added = read_panel(validation, panel.schema, panel.policy, like=panel).index
        rows = np.zeros_like(panel.index.lengths)
        places = panel.index.ids.get_indexer(added.ids)  # -1 where left out as too short
        rows[places[places >= 0]] = added.lengths[places >= 0]
        return rows

    @property
    def reach_(self) -> int:
        """Rows that must stand before the first one to forecast."""
        back = 1 if self.policy_.short == "pad" else self.context_
        return max(self.gap_ + back, self._memory)

    @property
    def _memory(self) -> int:
        """Rows before the first one to forecast that transforms look back at."""
        return sum(one.memory for one in self.transforms_)

    def warn_of_look_ahead(self) -> None:
        """Warn if the weights started from ones that have seen rows after ``cutoff_``."""
        if self.start is not None:
            self.start.warn_before(self.cutoff_)

    def _ready(self, panel: Panel) -> Panel:
        return long_enough(panel, max(self.context_, self._memory - self.gap_))

    def _forecasting(self, panel: Panel, ends: Ints) -> Forecasting:
        panel, added = padded(panel, ends, self.context_)
        changed, undo = apply_all(self.transforms_, panel)
        scales = self._scales_of(changed, np.where(ends < 0, ends, ends + added))
        windows = WindowDataset(
            changed,
            context=self.context_,
            horizon=self.horizon_,
            gap=self.gap_,
            lags=self.lags_,
            edges=self.edges_,
            scales=scales,
        )
        lagged = self.network_.sizes.lagged
        scaling = WindowScaling(WINDOW_KINDS[self.scaling_], lagged=lagged)

        def forecast(
            series: Ints, origins: Ints, levels: tuple[float, ...]
        ) -> tuple[Floats, Floats]:
            origins = origins + added
            batch = windows.gather(torch.from_numpy(series), torch.from_numpy(origins))
            with torch.no_grad():
                batch = scaling.in_loss_units(batch)
                seen = scaling.normaliser.normalise(batch)
                raw = self.head_.restore(self.network_(seen), seen.location, seen.scale)
                point = self.head_.point(raw)[..., None]
                both = torch.cat([point, self.head_.quantiles(raw, levels)], dim=-1)
                both = scaling.in_panel_units(both, batch)
            # targets last, as their scales are
            levelwise = scales.target.restore(np.moveaxis(both.numpy(), -1, 1), series)
            values = undo(np.moveaxis(levelwise, 1, -1), series, origins)
            return values[..., 0], values[..., 1:]

        return forecast

    def _scales_of(self, panel: Panel, ends: Ints) -> PanelScales:
        """Scales as fitted; for a series that ``fit`` has not seen, of its own rows so far."""
        places = self._tail.index.ids.get_indexer(panel.index.ids).astype(np.int64)
        fitted, kind = self.scales_, COLUMN_SCALES[self.scaling_]
        if (places >= 0).all():
            return fitted.match(places, fitted)
        if kind == "global":  # one for all
            return fitted.match(np.zeros_like(places), fitted)
        return fitted.match(places, PanelScales.fit(panel, ends, kind=kind))
