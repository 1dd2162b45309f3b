"""Pretraining: hide patches of many series, rebuild them, and hand the weights on."""

import copy
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import pandas as pd
from torch import Tensor, nn

from tsformer.cures import Cure, warn
from tsformer.errors import LookAhead, ParameterError
from tsformer.estimators.learning import Learner
from tsformer.estimators.parameters import COLUMN_SCALES, WINDOW_KINDS, default_context
from tsformer.heads import Head, Quantiles
from tsformer.models import Architecture, MaskedTransformer, WindowScaling
from tsformer.models.masked import MaskedNetwork, Rebuilding
from tsformer.panels import Panel, Policy, Schema
from tsformer.params import KW_ONLY, param, params, settings_of
from tsformer.reading import read_panel
from tsformer.training import Training
from tsformer.training.budget import Budget

if TYPE_CHECKING:
    from tsformer.training import ForecastModule

__all__ = ["MaskedPretrainer", "PretrainedWeights"]

log = logging.getLogger("tsformer")

_FREE = ("attention_dropout", "dropout", "skip")
"""Parameters that may differ between pretraining and the fit that follows."""


def _patiently() -> Training:
    """Rebuilding is learned late: its loss rests for some epochs before it falls."""
    return Training(epochs=40, patience=10)


@dataclass(frozen=True, eq=False, repr=False)
class PretrainedWeights:
    """What pretraining has learned: an opaque value for ``Forecaster(start=...)``.

    It has no parameters of its own, so ``clone`` and a grid search hand it on whole; nobody
    changes it, so a copy is the value itself.

    Attributes
    ----------
    model : Architecture
        The hyper-parameters of the network it comes from.
    tensors : dict
        Its weights by name.
    cutoff : Timestamp, int or None
        The last stamp that pretraining has seen; None where that is not known.
    """

    model: Architecture
    tensors: dict[str, Tensor]
    cutoff: Any = None

    def __repr__(self) -> str:
        numbers = sum(tensor.numel() for tensor in self.tensors.values())
        return f"<{numbers:,} pretrained weights of {type(self.model).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> "PretrainedWeights":
        return self

    def load_into(self, network: nn.Module, model: Architecture) -> int:
        """Copy every tensor whose name and shape fit; the others stay as they are.

        Parameters
        ----------
        network
            What ``model`` has built.
        model
            Must be of the same kind and widths; dropout and the skip are free.

        Returns
        -------
        How many tensors were copied.

        Raises
        ------
        ParameterError
            If the model differs, and in what.
        """
        self._refuse_other(model)
        state = network.state_dict()
        fitting = {
            name: tensor
            for name, tensor in self.tensors.items()
            if name in state and state[name].shape == tensor.shape
        }
        network.load_state_dict(fitting, strict=False)
        log.info("%d of %d tensors start from pretrained ones", len(fitting), len(state))
        return len(fitting)

    def warn_before(self, end: Any) -> None:
        """Warn that scores after a fit's ``end`` are too good, if pretraining saw more."""
        if _is_later(self.cutoff, end):
            warn(
                LookAhead(
                    f"start: the weights are pretrained on rows up to {self.cutoff}, this fit ends"
                    f" at {end}: a score of what comes in between is too good.",
                    Cure(f"Pretrain on rows up to {end}, or score what comes after {self.cutoff}"),
                )
            )

    def _refuse_other(self, model: Architecture) -> None:
        own, other = type(self.model).__name__, type(model).__name__
        if type(model) is not type(self.model):
            raise ParameterError(
                f"start holds the weights of a {own}, which fit no {other}: leave out model, or "
                f"give a {own}"
            )
        mine, theirs = settings_of(self.model), settings_of(model)
        different = [n for n in mine if n not in _FREE and mine[n] != theirs[n]]
        if different:
            shown = ", ".join(f"{name}={mine[name]!r} not {theirs[name]!r}" for name in different)
            raise ParameterError(f"start holds the weights of a {own} of other sizes: {shown}")


@params
class MaskedPretrainer(Learner):
    """Learns to rebuild hidden patches of all windows of all series; forecasts nothing itself.

    A ``Forecaster`` starts from ``weights_`` and needs less history of its own:
    ``Forecaster(horizon=24, start=pretrainer.weights_)``. The weights fit every context, horizon
    and number of targets; what embeds covariates is taken over where there are as many of them.

    Attributes
    ----------
    weights_ : PretrainedWeights
        What a forecaster starts from.
    cutoff_ : Timestamp or int
        The last stamp ``fit`` has seen; ``weights_`` carry it, so that scores of earlier rows, such
        as those of the first fold of a backtest, warn.
    schema_ : Schema
        The roles of all columns, as resolved by ``fit``.
    model_, head_, context_
        What ``None`` became.
    history_ : DataFrame
        One row an epoch: ``epoch, train_loss, validation_loss, seconds``; losses of hidden steps.
    cut_short_ : str
        What ``training__max_time`` cut short, empty if nothing.

    Examples
    --------
    >>> import numpy as np
    >>> wave = pd.DataFrame({"y": np.sin(np.arange(120.0))})
    >>> model = MaskedTransformer(patch=4, d_model=8, n_heads=1, d_ff=8, encoder_layers=1)
    >>> pretrainer = MaskedPretrainer(model, horizon=4, context=12, training=Training(epochs=1))
    >>> pretrainer.fit(wave).weights_
    <812 pretrained weights of MaskedTransformer>
    """

    model: MaskedTransformer | None = param(
        "What to train; None is MaskedTransformer().", default=None, part=MaskedTransformer
    )
    _: KW_ONLY
    horizon: int = param("Steps of a window after the context; best those to forecast.", low=1)
    context: int | None = param(
        "Steps of a window before; None chooses by season, horizon and amount of data.",
        default=None,
        low=1,
    )
    share: float = param("Share of the patches hidden.", default=0.4, above=0, below=1)
    head: Head | None = param(
        "What is rebuilt of each step, best what is to be forecast; None is Quantiles().",
        default=None,
        part=Quantiles,
    )
    training: Training | None = param(
        "How to train; None is Training(epochs=40, patience=10).", default=None, part=_patiently
    )
    schema: Schema | None = param(
        "Roles of the columns; None infers them.", default=None, part=Schema
    )
    policy: Policy | None = param(
        "What to do with missing values; None refuses them.", default=None, part=Policy
    )
    scaling: Literal["window", "series", "global", "robust", "none"] = param(
        "As for a Forecaster; 'window' standardises each window by what is visible of it.",
        default="window",
        choices=("window", "series", "global", "robust", "none"),
    )
    random_state: int = param(
        "Seed of weights, order, noise and of what is hidden.", default=0, low=0
    )

    def fit(self, data: Any, y: Any = None) -> Self:
        """Pretrain on all series of a frame; a second call starts afresh.

        Parameters
        ----------
        data
            A frame, wide or long, or an array with one row a step, as for ``Forecaster``.
        y
            Ignored.

        Raises
        ------
        FrameError
            If something in the data is wrong; before any training.
        ParameterError
            If a parameter is out of range.
        """
        self.check()
        fitted = self._unfitted()
        budget = Budget((self.training or _patiently()).max_time)
        fitted._learn(read_panel(data, self.schema, self.policy), budget)
        return self._adopt(fitted)

    def _learn(self, panel: Panel, budget: Budget) -> None:
        self.schema_, self.cutoff_ = panel.schema, panel.index.stamps.max()
        self.head_ = copy.deepcopy(self.head) or Quantiles()
        self.context_ = self.context or default_context(panel, self.horizon)
        self.model_ = copy.deepcopy(self.model) or MaskedTransformer()
        module = self._train(panel, self.training or _patiently(), budget)
        self.history_ = module.history_frame()
        self.cut_short_ = budget.said()

    def _train(self, panel: Panel, settings: Training, budget: Budget) -> "ForecastModule":
        from tsformer.training import ForecastModule, WindowDataModule, build_network, train

        seed, validation = self.random_state, settings.validation
        if isinstance(validation, pd.DataFrame):
            raise ParameterError(
                "MaskedPretrainer takes no frame for training__validation; give a fraction, a "
                "number of rows, 'auto' or None"
            )
        data = WindowDataModule(
            panel,
            context=self.context_,
            horizon=self.horizon,
            batch_size=settings.batch_size,
            scaling=COLUMN_SCALES[self.scaling],
            sampling=settings.sampling,
            stride=settings.stride,
            validation=validation,
            random_state=seed,
        )
        bare = copy.deepcopy(self.model_).set_params(skip=False)
        built = build_network(bare, data.sizes, self.head_, random_state=seed)
        network = cast(MaskedNetwork, built)
        windows = WindowScaling(WINDOW_KINDS[self.scaling])
        module = ForecastModule(
            Rebuilding(network, self.share, windows.normaliser),
            self.head_,
            settings,
            scaling=windows,
            random_state=seed,
        )
        train(module, data, settings, budget)
        tensors = {name: one.detach().cpu().clone() for name, one in network.state_dict().items()}
        self.weights_ = PretrainedWeights(copy.deepcopy(self.model_), tensors, self.cutoff_)
        return module


def _is_later(stamp: Any, other: Any) -> bool:
    """Whether a stamp is later; wall time counts where only one of them has a zone."""
    if isinstance(stamp, pd.Timestamp) != isinstance(other, pd.Timestamp) or stamp is None:
        return False  # row numbers and dates cannot be compared
    if isinstance(stamp, pd.Timestamp) and (stamp.tz is None) != (other.tz is None):
        return bool(stamp.tz_localize(None) > other.tz_localize(None))
    return bool(stamp > other)
