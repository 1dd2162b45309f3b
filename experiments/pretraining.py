"""Whether pretraining by hiding patches helps a forecaster that has little history of its own.

ETTh1, 96 steps ahead, context 96, or Beijing's air without ``TSFORMER_DATA``. A MaskedPretrainer
sees all training rows; then a MaskedTransformer is fitted on the last tenth of them twice, from the
pretrained weights and from scratch, with the same settings, no ridge skip, and the usual validation
rows to stop by. Chosen on validation; the test rows are reported as they are, with the paired
difference of the errors of every window and its interval (moving blocks of a horizon). Run from a
checkout::

    python experiments/pretraining.py [--quick]

``--quick`` pretrains for at most 90 seconds a seed, rather than to the end.
"""

import sys
import time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tsformer import Forecaster, Policy, Training, load_dataset
from tsformer.errors import DownloadFailed
from tsformer.estimators import MaskedPretrainer, windows_of
from tsformer.evaluation import store_result
from tsformer.models import MaskedTransformer

QUESTION = "Does pretraining by hiding patches help on a short history?"
SEEDS = (0, 1, 2)
HORIZON = CONTEXT = 96


def data() -> tuple[str, pd.DataFrame, dict[str, Any], tuple[int, int, int]]:
    """Name, rows, what a fit needs to know of them, and the borders of the usual split."""
    try:
        found = load_dataset("etth1", download=False)
    except DownloadFailed:
        found = load_dataset("beijing_air")
    shared = {"schema": found.schema, "policy": Policy(missing="mask"), "context": CONTEXT}
    borders = found.splits["canonical"].borders(len(found.frame))
    return found.name, found.frame, {"horizon": HORIZON, **shared}, borders


def errors(fitted: Forecaster, frame: pd.DataFrame, first: int, last: int) -> NDArray[np.float64]:
    """Mean absolute error, in scaled units, of every window that forecasts these rows."""
    panel = fitted.read(frame.iloc[:last])
    origins = np.arange(first, last - HORIZON + 1)
    found = []
    for part in fitted.forecast(panel, np.zeros(len(origins), np.int64), origins):
        truth = windows_of(panel, part.series, part.origin, HORIZON)
        scaled = np.abs(truth - part.point) / fitted.scales_.target.scale[0]
        found.append(np.nanmean(scaled, axis=(1, 2)))
    return np.concatenate(found)


def interval(differences: NDArray[np.float64], *, seed: int = 0) -> tuple[float, float]:
    """95 % interval of the mean of dependent differences, by moving blocks of one horizon."""
    kept = differences[~np.isnan(differences)]
    generator = np.random.default_rng(seed)
    blocks = -(-len(kept) // HORIZON)
    starts = generator.integers(0, len(kept) - HORIZON + 1, size=(1000, blocks))
    rows = (starts[..., None] + np.arange(HORIZON)).reshape(1000, -1)[:, : len(kept)]
    low, high = np.quantile(kept[rows].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def main(quick: bool) -> None:
    """Pretrain, fit twice, test, print and store."""
    began = time.monotonic()
    name, frame, shared, (trained, validated, tested) = data()
    short = frame.iloc[trained - trained // 10 : validated]
    model = MaskedTransformer(skip=False)
    rows, differences = [], []
    for seed in SEEDS:
        pretrainer = MaskedPretrainer(
            model,
            training=Training(epochs=40, patience=10, max_time=90 if quick else None),
            random_state=seed,
            **shared,
        ).fit(frame.iloc[:trained])
        training = Training(epochs=20, patience=5, validation=validated - trained)
        losses = []
        for start in (pretrainer.weights_, None):
            one = Forecaster(model, start=start, training=training, random_state=seed, **shared)
            one.fit(short)
            loss = errors(one, frame, validated, tested)
            losses.append(loss)
            rows.append(
                {
                    "seed": seed,
                    "from": "scratch" if start is None else "pretrained",
                    "validation loss": float(one.history_["validation_loss"].min()),
                    "at epoch": one.best_epoch_,
                    "test mae": float(np.nanmean(loss)),
                }
            )
            print(pd.DataFrame(rows[-1:]).round(4).to_string(index=False), flush=True)
        differences.append(losses[0] - losses[1])
    table = pd.DataFrame(rows)
    mean = np.mean(differences, axis=0)
    low, high = interval(mean)
    facts = {
        "data": name,
        "pretrained minus scratch, test mae": float(np.nanmean(mean)),
        "95 % interval": [low, high],
    }
    print(f"\n{QUESTION}\n\n{table.groupby('from').mean().round(4).to_string()}\n")
    print(f"test: pretrained minus scratch {np.nanmean(mean):.4f}, 95 % {low:.4f} to {high:.4f}")
    store_result(
        __file__,
        {f"{name}, {HORIZON} steps": table},
        question=QUESTION,
        quick=quick,
        seconds=time.monotonic() - began,
        seeds=SEEDS,
        facts=facts,
    )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
