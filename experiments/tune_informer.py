"""Whether tuning an Informer is worth it.

Beijing's hourly PM2.5, a day ahead. The search sees everything but the last rows: it fits on the
rows before four weeks (eight with all the data) of validation and chooses by the MASE of every
origin in them. Then the default and the tuned configuration are fitted once more and scored on
the test rows, which nothing has looked at. Run from a checkout::

    python experiments/tune_informer.py [--quick]

``--quick`` takes the last year, a small Informer, eight trials and a small space.
"""

import sys
import time
from typing import Any

import pandas as pd
from sklearn.base import clone

from tsformer import Forecaster, Policy, Training, backtest, load_dataset
from tsformer.evaluation import store_result
from tsformer.models import Informer
from tsformer.panels import Holdout, RollingOrigin
from tsformer.tuning import Choice, Float, OptunaSearch

QUESTION = "Is tuning an Informer worth it?"
SEED = 0
DAY = 24


def settings(*, quick: bool) -> dict[str, Any]:
    """Sizes: rows in all, to choose by, and to test on; trials and space."""
    if not quick:
        return {"rows": None, "validation": 56 * DAY, "test": 8760, "n_trials": 30, "space": "auto"}
    space = {
        "training__learning_rate": Float(1e-4, 3e-2, log=True),
        "model__d_model": Choice([8, 16, 32]),
        "model__dropout": Float(0.0, 0.3),
        "context": Choice([24, 48]),
    }
    return {
        "rows": 8760,
        "validation": 28 * DAY,
        "test": 56 * DAY,
        "n_trials": 8,
        "space": space,
    }


def default(schema: Any, *, quick: bool) -> Forecaster:
    """The configuration to improve on; the quick one is smaller to be fast, not worse."""
    shared = {"horizon": DAY, "schema": schema, "policy": Policy(missing="mask")}
    if not quick:
        return Forecaster(Informer(), random_state=SEED, **shared)
    training = Training(epochs=4, batch_size=128)
    model = Informer(d_model=16, n_heads=2, d_ff=32, encoder_layers=1)
    return Forecaster(model, context=48, training=training, random_state=SEED, **shared)


def tested(default: Forecaster, tuned: Forecaster, frame: pd.DataFrame, test: int) -> pd.DataFrame:
    """Both, fitted on the rows before the test and scored on every origin in it."""
    known = len(frame) - test
    split = Holdout(train=known - known // 5, validation=known // 5, test=test)
    both = {"default": default, "tuned": tuned}
    found = backtest(both, frame, split=split, metrics=("mase", "mae"), keep_forecasts=False)
    return found.summary()


def main(quick: bool) -> None:
    """Search, test, print and store."""
    began = time.monotonic()
    size = settings(quick=quick)
    air = load_dataset("beijing_air")
    frame = air.frame if size["rows"] is None else air.frame.iloc[-size["rows"] :]
    forecaster = default(air.schema, quick=quick)
    search = OptunaSearch(
        forecaster,
        size["space"],
        n_trials=size["n_trials"],
        cv=RollingOrigin(folds=1, horizon=size["validation"], time="time"),
        random_state=SEED,
    ).fit(frame.iloc[: -size["test"]])
    tuned = clone(forecaster).set_params(**search.best_params_)
    table = tested(forecaster, tuned, frame, size["test"])[["mase", "mae"]].add_prefix("test ")
    table.insert(0, "validation mase", pd.Series(chosen_by(search)))
    counts = {
        "trials": len(search.trials_),
        "pruned": search.n_pruned_,
        "epochs run": search.epochs_run_,
        "epochs saved, at most": search.epochs_saved_,
    }
    print(f"{QUESTION}\n\n{table.round(4).to_string()}\n")
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    print("tuned:", search.best_params_)
    store_result(
        __file__,
        {"beijing_air, 24 steps": table, "trials": search.trials_},
        question=QUESTION,
        quick=quick,
        seconds=time.monotonic() - began,
        seeds=[SEED],
        facts={"counts": counts, "best_params": search.best_params_},
    )


def chosen_by(search: OptunaSearch) -> dict[str, float]:
    """What the choice was made by; trial 0 is the default."""
    return {"default": search.trials_["value"][0], "tuned": -search.best_score_}


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
