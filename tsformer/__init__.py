"""Transformer forecasting for pandas frames.

A frame goes in, a frame comes out, in the caller's units, stamps, zone and layout::

    from tsformer import Forecaster

    Forecaster(horizon=24).fit(frame).predict()

Importing this package loads neither torch nor pandas; its names load what they need when they are
first used.
"""

from typing import TYPE_CHECKING

from tsformer._lazy import attach

__all__ = [
    "Dataset",
    "Drift",
    "Forecaster",
    "Holdout",
    "Policy",
    "RollingOrigin",
    "Schema",
    "SeasonalNaive",
    "Training",
    "__version__",
    "backtest",
    "describe",
    "load",
    "load_dataset",
]

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tsformer.datasets import Dataset, load_dataset
    from tsformer.estimators import Drift, Forecaster, SeasonalNaive, load
    from tsformer.evaluation import backtest
    from tsformer.panels import Policy, Schema
    from tsformer.preflight import describe
    from tsformer.reading import Holdout, RollingOrigin
    from tsformer.training import Training
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Dataset": "tsformer.datasets",
            "Drift": "tsformer.estimators",
            "Forecaster": "tsformer.estimators",
            "Holdout": "tsformer.reading",
            "Policy": "tsformer.panels",
            "RollingOrigin": "tsformer.reading",
            "Schema": "tsformer.panels",
            "SeasonalNaive": "tsformer.estimators",
            "Training": "tsformer.training",
            "backtest": "tsformer.evaluation",
            "describe": "tsformer.preflight",
            "load": "tsformer.estimators",
            "load_dataset": "tsformer.datasets",
        },
    )
