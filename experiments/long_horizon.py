"""Long-horizon forecasts as the literature reports them, on every test window.

Six data sets at 96, 192, 336 and 720 steps and national illness at 24 to 60, by their canonical
borders, in units of the training rows. They are read from TSFORMER_DATA. Run from a checkout::

    tsformer run experiments/long_horizon.py [--quick] [--cells etth1/96/ridge] [--report]
"""

import sys
from inspect import isabstract
from pathlib import Path

import tsformer.models
from tsformer import Forecaster, SeasonalNaive, Training
from tsformer.experiments import Experiment, read_published
from tsformer.models import Architecture, Informer, Linear

HOURS = (96, 192, 336, 720)
HORIZONS = {
    "etth1": HOURS,
    "etth2": HOURS,
    "ettm1": HOURS,
    "ettm2": HOURS,
    "weather": HOURS,
    "exchange_rate": HOURS,
    "national_illness": (24, 36, 48, 60),
}
PUBLIC = {name: getattr(tsformer.models, name) for name in tsformer.models.__all__}
MODELS = {
    name: kind()
    for name, kind in PUBLIC.items()
    if isinstance(kind, type) and issubclass(kind, Architecture) and not isabstract(kind)
    if kind is not Linear  # the ridge
}
EXPERIMENT = Experiment(
    "How far off are long forecasts, over every test window?",
    datasets=tuple(HORIZONS),
    horizons=HORIZONS,
    forecasters={
        "persistence": SeasonalNaive(horizon=1, season_length=1),
        "seasonal_naive": SeasonalNaive(horizon=1),
        "ridge": Forecaster(Linear(), horizon=1),
        "default": Forecaster(horizon=1),
        **{name: Forecaster(model, horizon=1) for name, model in MODELS.items()},
    },
    split="canonical",
    published=read_published(Path(__file__).with_suffix(".toml")),
)
QUICK = Experiment(
    EXPERIMENT.question,
    datasets=("etth1",),
    horizons=(24,),
    forecasters={
        "persistence": SeasonalNaive(horizon=1, season_length=1),
        "seasonal_naive": SeasonalNaive(horizon=1),
        "ridge": Forecaster(Linear(), horizon=1, context=96),
        "informer": Forecaster(
            Informer(d_model=16, d_ff=32), horizon=1, context=48, training=Training(epochs=1)
        ),
    },
    split="canonical",
    step=24,
)

if __name__ == "__main__":
    from tsformer.cli import main

    main(["run", __file__, *sys.argv[1:]])
