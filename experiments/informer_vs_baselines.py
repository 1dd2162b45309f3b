"""Whether an Informer beats seasonal naive, drift and ridge regression.

Beijing's hourly PM2.5, with gaps, a day ahead, through a whole test year; and, where TSFORMER_DATA
has it, ETTh1 with its usual borders, seven columns and 96 steps ahead, all test windows. Every
forecaster sees the same rows and is scored on the same windows. Run from a checkout::

    python experiments/informer_vs_baselines.py [--quick]

``--quick`` takes the last two years of Beijing, a small Informer for two epochs, a context of 96
steps and one forecast a day.
"""

import sys
import time
from typing import Any

import pandas as pd

from tsformer import (
    Dataset,
    Drift,
    Forecaster,
    Policy,
    SeasonalNaive,
    Training,
    backtest,
    load_dataset,
)
from tsformer.errors import DownloadFailed
from tsformer.evaluation import store_result
from tsformer.models import Informer, Linear
from tsformer.panels import Holdout

QUESTION = "Does an Informer beat seasonal naive, drift and ridge regression?"
SEED = 0


def forecasters(horizon: int, *, quick: bool, mask: bool) -> dict[str, Any]:
    """The Informer and what it must beat; Informer and ridge look back equally far."""
    shared: dict[str, Any] = {
        "horizon": horizon,
        "policy": Policy(missing="mask") if mask else None,
    }
    trained = {"context": 96 if quick else None, "random_state": SEED, **shared}
    model, training = Informer(), Training()
    if quick:
        model = Informer(d_model=32, d_ff=64)
        training = Training(epochs=2, batch_size=128, learning_rate=3e-3)
    return {
        "Informer": Forecaster(model, training=training, **trained),
        "Linear": Forecaster(Linear(), **trained),
        "SeasonalNaive": SeasonalNaive(**shared),
        "Drift": Drift(**shared),
    }


def beijing(*, quick: bool) -> pd.DataFrame:
    """A day ahead through the last year."""
    air = load_dataset("beijing_air")
    frame, split = air.frame, air.splits["canonical"]
    if quick:
        frame = frame.iloc[-2 * 8760 :]
        split = Holdout(train=6570, validation=2190, test=8760)
    found = backtest(
        {
            name: one.set_params(schema=air.schema)
            for name, one in forecasters(24, quick=quick, mask=True).items()
        },
        frame,
        split=split,
        step=24 if quick else 1,
        metrics=("mae", "mase"),
        keep_forecasts=False,
    )
    return found.summary()


def etth1(data: Dataset, *, quick: bool) -> pd.DataFrame:
    """96 steps ahead, scaled by training rows, as the literature reports it."""
    found = backtest(
        forecasters(96, quick=quick, mask=False),
        data,
        split="canonical",
        step=24 if quick else 1,
        metrics=("scaled_mse", "scaled_mae"),
        keep_forecasts=False,
    )
    return found.summary()


def main(quick: bool) -> None:
    """Answer, print and store."""
    began = time.monotonic()
    tables = {"beijing_air, 24 steps": beijing(quick=quick)}
    try:
        tables["etth1, 96 steps"] = etth1(load_dataset("etth1", download=False), quick=quick)
    except DownloadFailed:
        print("etth1 is not in TSFORMER_DATA: left out")
    print(QUESTION)
    for name, table in tables.items():
        print(f"\n{name}\n{table.round(4).to_string()}")
    seconds = time.monotonic() - began
    store_result(__file__, tables, question=QUESTION, quick=quick, seconds=seconds, seeds=[SEED])


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
