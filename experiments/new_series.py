"""How well one fit forecasts series that it has never seen.

A panel of daily withdrawals from 111 cash machines (NN5) with gaps, 14 days ahead, or a made-up
panel without ``TSFORMER_DATA``. A fifth of the series, drawn by seed, is held out whole. One global
model of each kind is fitted on the rows before the last 112 of the others; then every window in the
last 112 rows of all series is forecast: of the seen and, from their own history alone, of the
unseen. The error is MASE, each series in units of its own rows before those. Run from a checkout::

    python experiments/new_series.py [--quick]

``--quick`` trains every network for at most 20 seconds.
"""

import sys
import time

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tsformer import Forecaster, Policy, Schema, SeasonalNaive, Training, load_dataset
from tsformer.datasets import make_series
from tsformer.errors import DownloadFailed
from tsformer.estimators import PanelForecaster, naive_scale, windows_of
from tsformer.evaluation import store_result
from tsformer.models import Informer, Linear, PatchTransformer

QUESTION = "How much worse is a forecast of a series that the fit has not seen?"
SEEDS = (0, 1, 2)
HORIZON, CONTEXT, TEST = 14, 56, 112
MASK = Policy(missing="mask")


def data() -> tuple[str, pd.DataFrame, Schema]:
    """Name, long frame and roles."""
    try:
        found = load_dataset("nn5_daily", download=False)
        return found.name, found.frame, found.schema
    except DownloadFailed:
        frame = make_series("panel", 500, series=30, period=7, freq="D")
        return "made up", frame, Schema(series="series", time="time", target="value")


def candidates(quick: bool, seed: int, schema: Schema) -> dict[str, PanelForecaster]:
    """Global models, and the forecast that needs no fit."""
    # large batches: most of a step over 32 windows of 56 days is not spent computing
    training = Training(epochs=10, batch_size=256, max_time=20 if quick else None)
    shared = {"horizon": HORIZON, "schema": schema, "policy": MASK}
    made: dict[str, PanelForecaster] = {
        type(model).__name__: Forecaster(
            model, context=CONTEXT, training=training, random_state=seed, **shared
        )
        for model in (Linear(), Informer(), PatchTransformer(patch=7, stride=7))
    }
    return {**made, "SeasonalNaive": SeasonalNaive(**shared)}


def errors(fitted: PanelForecaster, frame: pd.DataFrame) -> NDArray[np.float64]:
    """MASE of each series over every window of its test rows."""
    panel = fitted.read(frame)
    begin = panel.index.lengths - TEST
    counts = TEST - HORIZON + 1
    series = np.arange(panel.n_series).repeat(counts)
    origins = begin[series] + np.tile(np.arange(counts), panel.n_series)
    units = naive_scale(panel, ends=begin)
    total = np.zeros(panel.n_series)
    steps = np.zeros(panel.n_series)
    for part in fitted.forecast(panel, series, origins):
        truth = windows_of(panel, part.series, part.origin, HORIZON)
        error = np.abs(truth - part.point) / units[part.series][:, None, :]
        np.add.at(total, part.series, np.nansum(error, axis=(1, 2)))
        np.add.at(steps, part.series, (~np.isnan(error)).sum(axis=(1, 2)))
    mean: NDArray[np.float64] = total / steps
    return mean


def main(quick: bool) -> None:
    """Hold series out, fit, forecast all, print and store."""
    began = time.monotonic()
    name, frame, schema = data()
    series = str(schema.series)
    frame = frame.sort_values([series, str(schema.time)], ignore_index=True)
    names = frame[series].unique()
    training = frame[frame.groupby(series).cumcount(ascending=False) >= TEST]
    rows = []
    for seed in SEEDS:
        out = np.random.default_rng(seed).choice(names, size=len(names) // 5, replace=False)
        held = frame[series].isin(out)
        for model, one in candidates(quick, seed, schema).items():
            fitted = one.fit(training[~held.reindex(training.index)])
            rows.append(
                {
                    "model": model,
                    "seed": seed,
                    "seen": float(errors(fitted, frame[~held]).mean()),
                    "unseen": float(errors(fitted, frame[held]).mean()),
                }
            )
            print(pd.DataFrame(rows[-1:]).round(4).to_string(index=False), flush=True)
    table = pd.DataFrame(rows)
    naive = table[table["model"] == "SeasonalNaive"].set_index("seed")
    for kind in ("seen", "unseen"):  # which series are drawn moves both: so beside naive
        table[f"{kind} / naive"] = table[kind] / naive[kind].loc[table["seed"]].to_numpy()
    table["gap"] = table["unseen / naive"] / table["seen / naive"] - 1
    summary = table.groupby("model", sort=False).mean().drop(columns="seed")
    print(f"\n{QUESTION}\n\n{summary.round(4).to_string()}\n")
    store_result(
        __file__,
        {f"{name}, {HORIZON} steps": table},
        question=QUESTION,
        quick=quick,
        seconds=time.monotonic() - began,
        seeds=SEEDS,
        facts={"series": len(names), "held out": len(names) // 5, "test rows": TEST},
    )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
