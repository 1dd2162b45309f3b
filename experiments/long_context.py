"""Whether a longer context pays, for which model, and from where on ProbSparse does.

ETTh1, seven columns, 96 steps ahead, contexts from 96 to 5,760 steps: Informer, the same Informer
with exact attention, Transformer and PatchTransformer, default sizes. The ridge skip, which would
carry the forecast at every length, is switched off: this is what the networks learn. The first
table has the milliseconds of a training step for each window in it, the second the errors after
equal training time. Steps of all models take turns; ratios within one run are what counts, and
those of processor time (all threads) suffer least from a busy machine. Memory is measured by
``attention_speed.py``. Beijing's hourly PM2.5 stands in where ``TSFORMER_DATA`` has no ETTh1. Run
from a checkout::

    OMP_WAIT_POLICY=PASSIVE python experiments/long_context.py [--quick]

``--quick`` trains each for eight seconds, keeps the last weights, and scores a test window every
four days; all networks are then far from done, those of long contexts most of all.
"""

import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
import torch

from tsformer import Dataset, Forecaster, Policy, Training, backtest, load_dataset
from tsformer.errors import DownloadFailed
from tsformer.evaluation import store_result
from tsformer.heads import Quantiles
from tsformer.models import Architecture, Informer, PatchTransformer, Transformer
from tsformer.panels import Holdout, Panel
from tsformer.reading import read_panel
from tsformer.training import ForecastModule, build_network
from tsformer.windows import WindowDataset

QUESTION = "Does a longer context pay, for which model, and from where on does ProbSparse?"
SEED, HORIZON = 0, 96
CONTEXTS = (96, 336, 720, 1440, 2880, 5760)
TOKENS = 5760
"""Steps of context in one training step, whatever the context."""
MODELS: dict[str, Architecture] = {
    "Informer": Informer(skip=False),
    "Informer, exact": Informer(skip=False, exact_below=1_000_000),
    "Transformer": Transformer(skip=False),
    "PatchTransformer": PatchTransformer(skip=False),
}


def data_of() -> tuple[Dataset, Policy | None]:
    """ETTh1 where it is at hand, else Beijing's air, whose gaps are masked."""
    try:
        return load_dataset("etth1", download=False), None
    except DownloadFailed:
        print("etth1 is not in TSFORMER_DATA: beijing_air instead")
        return load_dataset("beijing_air"), Policy(missing="mask")


def steps_of(panel: Panel, context: int, repeats: int) -> dict[str, dict[str, float]]:
    """Wall and processor milliseconds a window of each model's training step."""
    windows = WindowDataset(panel, context=context, horizon=HORIZON)
    rows = max(1, TOKENS // context)
    batch = windows.__getitems__(range(rows))
    modules = {}
    for name, model in MODELS.items():
        network = build_network(model, windows.sizes, Quantiles(), random_state=SEED)
        modules[name] = ForecastModule(network, Quantiles())
    found: dict[str, dict[str, list[float]]] = {name: {"ms": [], "cpu ms": []} for name in modules}
    for repeat in range(repeats + 1):
        for name, module in modules.items():
            wall, cpu = time.perf_counter(), time.process_time()
            module.training_step(batch, 0).backward()
            if repeat:  # the first one warms up
                found[name]["ms"].append(1000 * (time.perf_counter() - wall) / rows)
                found[name]["cpu ms"].append(1000 * (time.process_time() - cpu) / rows)
            module.zero_grad()
    return {
        name: {what: median(values) for what, values in measured.items()}
        for name, measured in found.items()
    }


def costs(panel: Panel, repeats: int) -> pd.DataFrame:
    """One row a context and model."""
    rows = []
    for context in CONTEXTS:
        took = steps_of(panel, context, repeats)
        exact = took["Informer, exact"]["cpu ms"]
        for name, measured in took.items():
            row = {"context": context, "model": name}
            row |= {f"{what} a window": value for what, value in measured.items()}
            row["exact / this, cpu"] = exact / measured["cpu ms"]
            rows.append(row)
        print(pd.DataFrame(rows[-len(took) :]).round(2).to_string(index=False), flush=True)
    return pd.DataFrame(rows)


def errors(data: Dataset, policy: Policy | None, *, quick: bool) -> pd.DataFrame:
    """One row a context and model: errors on the same test windows, and seconds of fit and test."""
    rows = []
    usual = data.splits["canonical"]
    short = Holdout(train=usual.train + usual.validation, test=usual.test)
    split = short if quick else usual
    for context in CONTEXTS:
        for name, model in MODELS.items():
            training = Training(
                epochs=1000,
                batch_size=max(1, TOKENS // context),
                schedule="constant",
                max_time=8 if quick else 600,
                patience=None,
            )
            candidate = Forecaster(
                model,
                horizon=HORIZON,
                context=context,
                training=training,
                policy=policy,
                random_state=SEED,
            )
            began = time.monotonic()
            found = backtest(
                {name: candidate},
                data,
                split=split,
                step=96 if quick else 24,
                metrics=("scaled_mse", "scaled_mae"),
                keep_forecasts=False,
            )
            summary = found.summary()
            rows.append(
                {
                    "context": context,
                    "model": name,
                    "mse": summary.loc[name, "scaled_mse"],
                    "mae": summary.loc[name, "scaled_mae"],
                    "seasonal naive, mse": summary.loc["SeasonalNaive", "scaled_mse"],
                    "windows": int(summary.loc[name, "windows"]),
                    "seconds": time.monotonic() - began,
                }
            )
            print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False), flush=True)
    return pd.DataFrame(rows)


def main(quick: bool) -> None:
    """Measure, print, draw and store."""
    began = time.monotonic()
    torch.set_num_threads(2)
    data, policy = data_of()
    panel = read_panel(data.frame, data.schema, policy)
    cost = costs(panel, repeats=3 if quick else 9)
    error = errors(data, policy, quick=quick)
    print(f"{QUESTION}\n")
    for table in (cost, error):
        wide = table.drop(columns=["windows"], errors="ignore").pivot(
            index="context", columns="model"
        )
        for what in dict.fromkeys(wide.columns.get_level_values(0)):
            print(f"{what}\n{wide[what].round(3).to_string()}\n")
    path = store_result(
        __file__,
        {f"cost, {data.name}": cost, f"errors, {data.name}": error},
        question=QUESTION,
        quick=quick,
        seconds=time.monotonic() - began,
        seeds=[SEED],
        facts={"steps of context in one training step": TOKENS},
    )
    draw(cost, error, path.with_suffix(".png"))


def draw(cost: pd.DataFrame, error: pd.DataFrame, path: Path) -> None:
    """Time and error by context."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name in MODELS:
        of: dict[str, Any] = {"marker": "o", "label": name}
        mine = cost[cost["model"] == name]
        left.plot(mine["context"], mine["cpu ms a window"], **of)
        mine = error[error["model"] == name]
        right.plot(mine["context"], mine["mse"], **of)
    naive = error.groupby("context")["seasonal naive, mse"].first()
    right.plot(naive.index, naive, color="0.5", linestyle="--", label="seasonal naive")
    left.set(xscale="log", yscale="log", xlabel="context", ylabel="ms a window, processor time")
    left.set_title("Training step", loc="left")
    right.set(xscale="log", yscale="log", xlabel="context", ylabel="scaled MSE")
    right.set_title("Error after equal time", loc="left")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
