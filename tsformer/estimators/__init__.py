"""Estimators: from a frame to a stamped forecast, in scikit-learn's manner."""

from tsformer.estimators.baselines import Drift, SeasonalNaive
from tsformer.estimators.contract import PanelForecaster
from tsformer.estimators.forecaster import Forecaster
from tsformer.estimators.forecasts import Forecasts, windows_of
from tsformer.estimators.naive import naive_scale
from tsformer.estimators.persistence import load
from tsformer.estimators.preprocessing import Preprocessing
from tsformer.estimators.pretrainer import MaskedPretrainer, PretrainedWeights

__all__ = [
    "BASELINES",
    "Drift",
    "Forecaster",
    "Forecasts",
    "MaskedPretrainer",
    "PanelForecaster",
    "Preprocessing",
    "PretrainedWeights",
    "SeasonalNaive",
    "load",
    "naive_scale",
    "windows_of",
]

BASELINES: tuple[type[PanelForecaster], ...] = (SeasonalNaive, Drift)
"""Forecasters without weights: tables and the command line know each by its name."""
