"""``OptunaSearch``: the best parameters of a forecaster, chosen on rows that come later."""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import optuna
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tsformer.bars import progress_bar
from tsformer.cures import Cure
from tsformer.errors import ParameterError, TrainingFailed
from tsformer.estimators import Forecaster, PanelForecaster
from tsformer.estimators.parameters import default_context, default_model
from tsformer.evaluation import METRICS
from tsformer.params import KW_ONLY, Params, param, params
from tsformer.reading import RollingOrigin, read_panel
from tsformer.tuning.objective import FAILURES, Objective, configured, rows_at
from tsformer.tuning.pruning import AS_GIVEN, FoldPruner
from tsformer.tuning.samplers import SeededSampler
from tsformer.tuning.space import read_space
from tsformer.tuning.storage import open_storage
from tsformer.tuning.study import Question, facts_of, open_study, random_state_of
from tsformer.tuning.trials import Budget, counts, finished, run_trials

__all__ = ["OptunaSearch"]

_STARTUP = 4
"""Trials before the sampler leans on the earlier ones and the pruner cuts; searches are short."""


@params
class OptunaSearch(Params):
    """Searches a space of parameters with Optuna and refits the best.

    Every trial fits a clone on the training rows of each fold and is scored on the rows after
    them, which it has not seen. Trial 0 is the forecaster as given, so that what wins is never
    worse in validation. A trial is pruned at the end of an epoch whose validation loss is behind
    the median of earlier trials in the same fold, and after a fold when its mean error is. A trial
    that fails is recorded and the search goes on.

    ``best_score_`` is optimistic, because it is the best of many: keep later rows back and score
    ``best_estimator_`` on them.

    Attributes
    ----------
    best_params_ : dict
        Path to value; ``clone(forecaster).set_params(**best_params_)`` is the best configuration.
    best_score_ : float
        The negative of the best mean error over the folds: higher is better, as in
        scikit-learn.
    best_estimator_ : PanelForecaster
        Fitted on all rows with ``best_params_``.
    trials_ : DataFrame
        One row a trial: ``number, state`` (complete, pruned or failed), ``value`` (the error,
        NaN unless complete), ``epochs, seconds, reason`` (of a failure), and one column for each
        path; those of trial 0 are as given, also where the space lacks them.
    n_pruned_ : int
        Trials that were pruned.
    epochs_run_ : int
        Epochs of all trials and folds, the refit not counted.
    epochs_saved_ : int
        Epochs that pruned trials still had before them, all folds counted: at most, because
        ``patience`` would have saved some of them too.
    study_ : optuna.Study
        The study itself; parts such as models stand in it by their repr.

    Notes
    -----
    Losses for pruning are comparable as long as the space leaves ``head`` and
    ``training__validation`` alone; otherwise give ``pruner=optuna.pruners.NopPruner()``.
    Interrupted with Ctrl-C, what was found so far is kept, without ``best_estimator_``. With a
    ``storage`` the same call goes on where a search was stopped with Ctrl-C: ``n_trials`` counts
    all of its trials. The trial of a process that was killed stays running in the storage and is
    waited for, without end unless there is a ``timeout``. Other data, or another space, under the
    same name are refused.

    Examples
    --------
    >>> import numpy as np
    >>> from tsformer.models import Linear
    >>> frame = pd.DataFrame({"y": np.tile(np.arange(7.0), 20)})
    >>> forecaster = Forecaster(Linear(), horizon=7, context=3)
    >>> search = OptunaSearch(forecaster, {"context": [3, 14]}, n_trials=5).fit(frame)
    >>> search.best_params_
    {'context': 14}
    >>> search.predict().head(2).round(1)
           y
    140  0.0
    141  1.0
    """

    forecaster: PanelForecaster = param("What to tune; it is left as it is.")
    space: str | Mapping[str, Any] = param(
        "Path to Float, Int, Choice or a list; 'auto' is auto_space(forecaster, data).",
        default="auto",
    )
    _: KW_ONLY
    n_trials: int | None = param(
        "Trials, the default's among them; None: until timeout.", default=20, low=1
    )
    timeout: float | None = param(
        "Seconds after which no further trial starts.", default=None, above=0
    )
    cv: Any = param(
        "A splitter such as RollingOrigin(folds=1, horizon=...); every origin after a fold's "
        "training rows counts. None is three folds of one horizon.",
        default=None,
    )
    metric: str = param("What to minimise: 'mase', 'mae', ...; see METRICS.", default="mase")
    random_state: int = param("Seed of the search, not of the fits.", default=0, low=0)
    sampler: Any = param(
        "An Optuna sampler, seeded anew for each trial by random_state; None is TPE, after four "
        "trials by chance.",
        default=None,
    )
    pruner: Any = param(
        "An Optuna pruner; None is the median pruner, after four complete trials.", default=None
    )
    storage: str | None = param(
        "Where the study is kept, to go on with it later: 'journal:FOLDER/study.log' on one host, "
        "'postgresql://USER@HOST/DATABASE' for several; None is memory.",
        default=None,
    )
    study_name: str | None = param("Name of the study in its storage.", default=None)

    def fit(self, data: Any, y: Any = None) -> Self:
        """Search, then fit the best configuration on all rows.

        Parameters
        ----------
        data
            As in ``Forecaster.fit``.
        y
            Ignored; the target is a column of ``data``.

        Raises
        ------
        FrameError
            Before any trial, if something in the data is wrong.
        ParameterError
            Before any trial, if the space names what is not a parameter.
        TrainingFailed
            If every trial failed; the message says why the first did.
        """
        self.check()
        if self.n_trials is None and self.timeout is None:
            raise ParameterError("n_trials and timeout are both None: the search would not end")
        errors = [name for name, metric in METRICS.items() if metric.error]
        if self.metric not in errors:
            raise ParameterError(f"metric={self.metric!r}: must be one of {', '.join(errors)}")
        if self.storage is not None and self.study_name is None:
            raise ParameterError(
                "a study in a storage needs a name, to be found again.",
                Cure("Name it", code='study_name="..."'),
            )
        self.__dict__.pop("best_estimator_", None)
        base = self._base(data)
        folds = list(self._splitter().split(data))
        space = read_space(self.space, base, rows_at(data, folds[0][0]))
        objective = Objective(base, space, data, folds, self.metric)
        with _quiet(), progress_bar("trials", self.n_trials) as advance:
            study = self._study(objective)
            advance(finished(study))
            try:
                run_trials(
                    study,
                    objective,
                    Budget(self.n_trials, self.timeout),
                    catch=FAILURES,
                    advance=advance,
                )
            finally:
                self._keep(study, objective)
        if not math.isfinite(self.best_score_):
            first = self.trials_["reason"].iloc[0]
            raise TrainingFailed(f"all {len(self.trials_)} trials failed, the first: {first}")
        self.best_estimator_ = configured(base, self.best_params_).fit(data)
        return self

    def predict(
        self,
        history: Any = None,
        *,
        future: pd.DataFrame | None = None,
        horizon: int | None = None,
        quantiles: Sequence[float] | None = None,
    ) -> Any:
        """The forecast of ``best_estimator_``; see ``Forecaster.predict``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(
            history, future=future, horizon=horizon, quantiles=quantiles
        )

    def score(self, data: Any, y: Any = None) -> float:
        """The negative MASE of ``best_estimator_``; see ``Forecaster.score``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.score(data)

    def _splitter(self) -> Any:
        if self.cv is not None:
            return self.cv
        schema = self.forecaster.schema
        time = None if schema is None else schema.time
        return RollingOrigin(folds=3, horizon=self.forecaster.horizon, time=time)

    def _base(self, data: Any) -> PanelForecaster:
        """A clone to start from, once the data are found to be right.

        A model that an automatic space depends on is chosen first.
        """
        base: PanelForecaster = clone(self.forecaster)
        tuned = self.space if isinstance(self.space, Mapping) else ()
        if any(path.startswith(("policy", "schema")) for path in tuned):
            return base  # how data are read is for the trials to say
        panel = read_panel(data, base.schema, base.policy)
        if self.space == "auto" and isinstance(base, Forecaster) and base.model is None:
            context = base.context or default_context(panel, base.horizon)
            base.set_params(model=default_model(panel, context, base.horizon))
        return base

    def _study(self, objective: Objective) -> optuna.Study:
        """The study, made or joined; only one that can be joined needs to say what it is about."""
        about = objective.base, objective.space, objective.data, objective.folds, self.metric
        question = Question(
            {} if self.storage is None else facts_of(*about),
            points=[(objective.recorded, {AS_GIVEN: True})],
            random_state=self.random_state,
        )
        study = open_study(open_storage(self.storage), self.study_name, question)
        sampler = self.sampler or optuna.samplers.TPESampler(n_startup_trials=_STARTUP)
        study.sampler = SeededSampler(copy.deepcopy(sampler), random_state_of(study))
        pruner = self.pruner or optuna.pruners.MedianPruner(
            n_startup_trials=_STARTUP,
            n_warmup_steps=1,  # epoch 0 is the state before the first step
        )
        study.pruner = FoldPruner(pruner)
        return study

    def _keep(self, study: optuna.Study, objective: Objective) -> None:
        """What was found, also by a search that was interrupted."""
        self.study_ = study
        ended = [trial for trial in study.trials if trial.state.is_finished() and counts(trial)]
        rows = [objective.row(trial) for trial in ended]
        self.trials_ = pd.DataFrame(rows, columns=objective.columns)
        pruned = self.trials_["state"] == "pruned"
        self.n_pruned_ = int(pruned.sum())
        self.epochs_run_ = int(self.trials_["epochs"].sum())
        behind = [trial for trial in ended if trial.state is optuna.trial.TrialState.PRUNED]
        self.epochs_saved_ = sum(trial.user_attrs.get("saved", 0) for trial in behind)
        self.best_score_, self.best_params_ = -math.inf, {}
        if (self.trials_["state"] == "complete").any():
            best = study.best_trial
            self.best_score_ = -float(study.best_value)
            self.best_params_ = dict(objective.tried(best))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Optuna's log for the time of a search."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(verbosity)
