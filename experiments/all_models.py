"""How good each model is with its default settings, and what it costs.

ETTh1 with its usual borders, seven columns, 96 steps ahead, all 2,785 test windows, MSE and MAE in
units of the training rows as the literature reports them; Beijing's hourly PM2.5 where
``TSFORMER_DATA`` has no ETTh1. Seconds are those of fit and test together. Run from a checkout::

    python experiments/all_models.py [--quick]

``--quick`` trains for at most two epochs and half a minute, on a context of 96 steps; all test
windows are scored.
"""

import inspect
import sys
import time
from typing import Any

import pandas as pd

import tsformer.models
from tsformer import Dataset, Forecaster, Policy, Training, backtest, load_dataset
from tsformer.errors import DownloadFailed
from tsformer.evaluation import store_result
from tsformer.heads import Quantiles
from tsformer.models import Architecture
from tsformer.reading import read_panel
from tsformer.windows import Sizes, WindowDataset

QUESTION = "How good is each model with its default settings, and what does it cost?"
SEED, HORIZON = 0, 96
CONTEXT = 192  # what None becomes for hourly data and this horizon
PUBLISHED = 0.865  # MSE of the Informer in Zhou et al. (2021), ETTh1, 96 steps


def architectures() -> dict[str, Architecture]:
    """Every public model, with its defaults."""
    public = {name: getattr(tsformer.models, name) for name in tsformer.models.__all__}
    return {
        name: model()
        for name, model in public.items()
        if inspect.isclass(model) and issubclass(model, Architecture) and model is not Architecture
    }


def data_of() -> Dataset:
    """ETTh1 where it is at hand, else Beijing's air."""
    try:
        return load_dataset("etth1", download=False)
    except DownloadFailed:
        print("etth1 is not in TSFORMER_DATA: beijing_air instead")
        return load_dataset("beijing_air")


def scored(
    model: Architecture, data: Dataset, policy: Policy | None, *, quick: bool
) -> tuple[pd.DataFrame, float]:
    """Errors of a model and of seasonal naive on the same windows, and the seconds they took."""
    short = Training(epochs=2, batch_size=64, max_time=30)
    candidate = Forecaster(
        model,
        horizon=HORIZON,
        context=96 if quick else CONTEXT,
        training=short if quick else None,
        policy=policy,
        random_state=SEED,
    )
    began = time.monotonic()
    found = backtest(
        {"model": candidate},
        data,
        split="canonical",
        metrics=("scaled_mse", "scaled_mae"),
        keep_forecasts=False,
    )
    return found.summary(), time.monotonic() - began


def parameters(model: Architecture, sizes: Sizes) -> int:
    """Weights of the network, under the head a forecaster has by default."""
    network = model.build(sizes, Quantiles())
    return sum(weight.numel() for weight in network.parameters())


def compared(data: Dataset, *, quick: bool) -> pd.DataFrame:
    """One row a model, and one for seasonal naive."""
    policy = Policy(missing="mask") if data.frame.isna().any(axis=None) else None
    panel = read_panel(data.frame, data.schema, policy)
    sizes = WindowDataset(panel, context=96 if quick else CONTEXT, horizon=HORIZON).sizes
    rows: dict[str, dict[str, Any]] = {}
    for name, model in architectures().items():
        errors, seconds = scored(model, data, policy, quick=quick)
        for candidate, label in (("model", name), ("SeasonalNaive", "SeasonalNaive")):
            mse, mae, windows = errors.loc[candidate, ["scaled_mse", "scaled_mae", "windows"]]
            rows[label] = {"mse": mse, "mae": mae, "windows": int(windows)}
        rows[name] |= {"seconds": seconds, "parameters": parameters(model, sizes)}
        print(name, rows[name], flush=True)
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("model").sort_values("mse")
    table["of published Informer"] = table["mse"] / PUBLISHED if data.name == "etth1" else None
    return table.reset_index()


def main(quick: bool) -> None:
    """Answer, print and store."""
    began = time.monotonic()
    data = data_of()
    table = compared(data, quick=quick)
    print(f"{QUESTION}\n\n{table.round(4).to_string(index=False)}")
    naive = float(table.set_index("model")["mse"]["SeasonalNaive"])
    worse = [name for name, mse in zip(table["model"], table["mse"], strict=True) if mse > naive]
    store_result(
        __file__,
        {f"{data.name}, {HORIZON} steps": table},
        question=QUESTION,
        quick=quick,
        seconds=time.monotonic() - began,
        seeds=[SEED],
        facts={"worse than seasonal naive": worse, "published Informer, mse": PUBLISHED},
    )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
