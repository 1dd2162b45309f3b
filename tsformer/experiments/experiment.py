"""``Experiment``: a question, and the grid of cells whose scores answer it."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from sklearn.base import clone

from tsformer.errors import ParameterError
from tsformer.estimators import PanelForecaster
from tsformer.evaluation.metrics import PUBLISHED, checked_metrics
from tsformer.experiments.published import Published
from tsformer.params import KW_ONLY, Params, param, params
from tsformer.reading import Holdout, RollingOrigin

__all__ = ["Cell", "Experiment"]


class Cell(NamedTuple):
    """One fit and its test: a forecaster by name, on a data set, for a horizon, with a seed."""

    dataset: str
    horizon: int
    forecaster: str
    seed: int

    def __str__(self) -> str:
        return f"{self.dataset}/{self.horizon}/{self.forecaster}/{self.seed}"

    def matches(self, pattern: str) -> bool:
        """Whether ``dataset/horizon/forecaster`` fits a pattern; parts left out are any.

        Examples
        --------
        >>> cell = Cell("etth1", 96, "ridge", 0)
        >>> [cell.matches(pattern) for pattern in ("etth1", "etth*/96", "*/*/ridge", "etth1/192")]
        [True, True, True, False]
        """
        parts = pattern.split("/")
        own = (self.dataset, str(self.horizon), self.forecaster, str(self.seed))
        return len(parts) <= len(own) and all(map(fnmatchcase, own, parts))


@params
class Experiment(Params):
    """A question and a grid: every forecaster on every data set, for every horizon and seed.

    Each combination is a :class:`Cell`: the forecaster is cloned, gets the horizon, the seed as
    its ``random_state`` and the budget, and is scored by ``backtest``. Forecasters without
    randomness have one cell whatever the seeds.

    Examples
    --------
    >>> from tsformer.estimators import Drift, SeasonalNaive
    >>> experiment = Experiment(
    ...     "Is drift better than persistence?",
    ...     datasets=["air_passengers"], horizons=[6, 12],
    ...     forecasters={"drift": Drift(horizon=1), "naive": SeasonalNaive(horizon=1)},
    ...     folds=3, metrics=["mase"],
    ... )
    >>> [str(cell) for cell in experiment.cells()][:2]
    ['air_passengers/6/drift/0', 'air_passengers/6/naive/0']
    """

    question: str = param("What is asked, in one sentence.")
    _: KW_ONLY
    datasets: Any = param(
        "Names for ``load_dataset``, or name to a ``Dataset`` or a frame that is ready."
    )
    horizons: Any = param("Steps ahead: a sequence, or data set to sequence.")
    forecasters: Any = param(
        "Name to forecaster, or to a function of data set and horizon that makes one."
    )
    split: Any = param(
        "Name of a split of the data sets, a ``Holdout`` or a ``RollingOrigin``; None cuts "
        "``folds``.",
        default=None,
    )
    folds: int | None = param(
        "Origins to forecast from where there is no split; None is 5.", default=None, low=1
    )
    step: int | None = param("Steps between origins; None is that of ``backtest``.", default=None)
    seeds: Any = param("Seeds of forecasters with a ``random_state``.", default=(0,))
    metrics: Any = param("Names in ``METRICS``; reports lead with the first.", default=PUBLISHED)
    quantiles: Any = param("Levels to forecast as well, for metrics of quantiles.", default=None)
    budget: float | None = param(
        "Seconds of training a cell may take; None is no limit.", default=None, above=0
    )
    published: tuple[Published, ...] = param("What others have printed.", default=())

    def check(self) -> None:
        """Raise ``ParameterError`` where no grid can be made."""
        super().check()
        for name in ("datasets", "horizons", "forecasters", "seeds"):
            value = getattr(self, name)
            if isinstance(value, str) or not isinstance(value, Iterable) or not list(value):
                raise ParameterError(f"{name}={value!r}: give a sequence or a mapping with members")
        _ = self.metric_names
        if not isinstance(self.forecasters, Mapping):
            raise ParameterError("forecasters: give a mapping from names")
        if self.split is not None and self.folds is not None:
            raise ParameterError("split and folds both say how to cut: give one of them")
        kinds = (str, Holdout, RollingOrigin, type(None))
        if not isinstance(self.split, kinds):
            raise ParameterError(f"split={self.split!r}: give a name, a Holdout or a RollingOrigin")
        for name, one in self.forecasters.items():
            if not isinstance(one, PanelForecaster) and not callable(one):
                raise ParameterError(f"forecasters: {name!r} is {one!r}, which is no forecaster")

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics, of which there are such and the quantiles suffice for them."""
        return checked_metrics(self.metrics, tuple(self.quantiles or ()))

    def cells(self, patterns: Sequence[str] | None = None) -> list[Cell]:
        """The cells, in the order of data sets, horizons, forecasters and seeds.

        Parameters
        ----------
        patterns
            Only those that match one of ``dataset/horizon/forecaster``; parts at the end may be
            left out, and ``*`` stands for anything.

        Raises
        ------
        ParameterError
            If a pattern matches none.
        """
        self.check()
        every = [
            Cell(dataset, int(horizon), name, int(seed))
            for dataset in self.datasets
            for horizon in self._horizons(dataset)
            for name in self.forecasters
            for seed in self._seeds(name, dataset, horizon)
        ]
        for pattern in patterns or ():
            if not any(cell.matches(pattern) for cell in every):
                names = sorted({"/".join(str(cell).split("/")[:3]) for cell in every})
                close = difflib.get_close_matches(pattern, names, n=1) or names[:1]
                raise ParameterError(f"no cell matches {pattern!r}; there is {close[0]!r}")
        return [
            cell
            for cell in every
            if patterns is None or any(cell.matches(pattern) for pattern in patterns)
        ]

    def forecaster(self, cell: Cell) -> PanelForecaster:
        """What is fitted in a cell: a clone with its horizon, seed and budget."""
        made = self._made(cell.forecaster, cell.dataset, cell.horizon)
        made.set_params(horizon=cell.horizon)
        names = made.get_params(deep=False)
        if "random_state" in names:
            made.set_params(random_state=cell.seed)
        if self.budget is not None and "training" in names:
            made.set_params(training__max_time=float(self.budget))
        return made

    def _horizons(self, dataset: str) -> Sequence[int]:
        given = self.horizons
        if isinstance(given, Mapping):
            if dataset not in given:
                raise ParameterError(f"horizons has none for the data set {dataset!r}")
            given = given[dataset]
        return list(given)

    def _seeds(self, name: str, dataset: str, horizon: int) -> Sequence[int]:
        seeds = list(self.seeds)
        random = "random_state" in self._made(name, dataset, horizon).get_params(deep=False)
        return seeds if random else seeds[:1]

    def _made(self, name: str, dataset: str, horizon: int) -> PanelForecaster:
        one = self.forecasters[name]
        made = one if isinstance(one, PanelForecaster) else one(dataset, horizon)
        if not isinstance(made, PanelForecaster):
            raise ParameterError(f"forecasters: {name!r} made {made!r}, which is no forecaster")
        fresh: PanelForecaster = clone(made)
        return fresh
