"""Whether an Informer beats seasonal naive, drift and ridge regression.

Beijing's hourly PM2.5, with gaps, a day ahead through its last year, which is bundled; ETTh1 by its
usual borders, seven columns and 96 steps ahead, where TSFORMER_DATA has it. Every forecaster sees
the same rows and is scored on every test window. Run from a checkout::

    tsformer run experiments/informer_vs_baselines.py [--quick] [--cells beijing_air] [--report]

``--quick`` takes one forecast a day, a small Informer and a context of 96 steps.
"""

import sys
from collections.abc import Callable

from sklearn.base import clone

from tsformer import Drift, Forecaster, Policy, SeasonalNaive, Training
from tsformer.estimators import PanelForecaster
from tsformer.experiments import Experiment
from tsformer.models import Informer, Linear

HORIZONS = {"beijing_air": [24], "etth1": [96]}


def masking(forecaster: PanelForecaster) -> Callable[[str, int], PanelForecaster]:
    """The forecaster, which masks the gaps of Beijing's air."""

    def made(dataset: str, horizon: int) -> PanelForecaster:
        missing = Policy(missing="mask") if dataset == "beijing_air" else None
        own: PanelForecaster = clone(forecaster).set_params(policy=missing)
        return own

    return made


EXPERIMENT = Experiment(
    "Does an Informer beat seasonal naive, drift and ridge regression?",
    datasets=tuple(HORIZONS),
    horizons=HORIZONS,
    forecasters={
        "seasonal_naive": masking(SeasonalNaive(horizon=1)),
        "drift": masking(Drift(horizon=1)),
        "ridge": masking(Forecaster(Linear(), horizon=1)),
        "Informer": masking(Forecaster(Informer(), horizon=1)),
    },
    split="canonical",
    seeds=(0, 1, 2),
    metrics=("mase", "mae", "scaled_mse", "scaled_mae"),
)
QUICK = Experiment(
    EXPERIMENT.question,
    datasets=EXPERIMENT.datasets,
    horizons=HORIZONS,
    forecasters={
        "seasonal_naive": masking(SeasonalNaive(horizon=1)),
        "drift": masking(Drift(horizon=1)),
        "ridge": masking(Forecaster(Linear(), horizon=1, context=96)),
        "Informer": masking(
            Forecaster(
                Informer(d_model=32, d_ff=64),
                horizon=1,
                context=96,
                training=Training(epochs=1, batch_size=128, learning_rate=3e-3),
            )
        ),
    },
    split="canonical",
    step=24,
    metrics=EXPERIMENT.metrics,
)

if __name__ == "__main__":
    from tsformer.cli import main

    main(["run", __file__, *sys.argv[1:]])
