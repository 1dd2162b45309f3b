"""Whether load and wind forecasts for the day to come make electricity prices easier to forecast.

Day-ahead prices of Nord Pool, PJM and Belgium (EPF, Lago et al. 2021): one forecast a day at
midnight, of 24 hours, through the last 728 days, by models fitted once on all that came before.
The last 364 days before the test validate and choose everything; then the same model is fitted once
more with them. Each model stands beside itself without the two known columns, with the paired
difference of its errors day by day and their interval (moving blocks of a week), and beside weekly
naive and what the literature reports, which refits every day. Needs ``TSFORMER_DATA``. Run from a
checkout::

    python experiments/known_future.py [--quick]

``--quick`` trains the network from one seed and for at most six epochs.
"""

import sys
import time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from tsformer import Dataset, Forecaster, SeasonalNaive, Training, load_dataset
from tsformer.estimators import windows_of
from tsformer.evaluation import store_result
from tsformer.models import InvertedTransformer, Linear
from tsformer.panels import Schema

QUESTION = "Do load and wind forecasts for the day to come lower the error of price forecasts?"
MARKETS = ("epf_np", "epf_pjm", "epf_be")
DAY, WEEK = 24, 168
VALIDATION, TEST = 364 * DAY, 728 * DAY
SEEDS = (0, 1, 2)
PUBLISHED = pd.DataFrame(
    {
        "weekly naive": [4.125, 6.294, 10.121],
        "LEAR ensemble": [1.738, 3.013, 6.140],
        "DNN ensemble": [1.683, 2.862, 5.870],
    },
    index=pd.Index(MARKETS, name="market"),
)

Floats = NDArray[np.float64]


class Tested(NamedTuple):
    """What one fit came to, in raw prices."""

    validation: float
    """Mean absolute error of the validation days, before they were trained on."""
    forecast: Floats
    """(day, hour) of the test."""


def forecaster(name: str, seed: int, *, schema: Schema, quick: bool) -> Forecaster:
    """Both models see a week, midnight after midnight, of prices bent around its median."""
    return Forecaster(
        Linear(centre="last") if name == "Linear" else InvertedTransformer(),
        horizon=DAY,
        context=WEEK,
        scaling="asinh",
        training=Training(
            epochs=6 if quick else 20,
            patience=5,
            stride=DAY,
            validation=VALIDATION,
            refit_all=True,
        ),
        schema=schema,
        random_state=seed,
    )


def days(fitted: Any, frame: pd.DataFrame, first: int, last: int) -> tuple[Floats, Floats]:
    """Truth and forecast, (day, hour) each, of these rows; one forecast a day, at midnight."""
    panel = fitted.read(frame.iloc[:last])
    origins = np.arange(first, last, DAY)
    truth, point = [], []
    for part in fitted.forecast(panel, np.zeros(len(origins), np.int64), origins):
        truth.append(windows_of(panel, part.series, part.origin, DAY)[..., 0])
        point.append(part.point[..., 0])
    return np.concatenate(truth), np.concatenate(point)


def tested(one: Forecaster, frame: pd.DataFrame) -> Tested:
    """Fit before the test, and forecast it."""
    rows = len(frame)
    before = frame.iloc[: rows - TEST]
    one.fit(before)
    season = SeasonalNaive(horizon=DAY, schema=one.schema).fit(before)
    truth, naive = days(season, frame, rows - TEST - VALIDATION, rows - TEST)
    validation = (1 - one.skill_) * float(np.abs(truth - naive).mean())
    return Tested(validation, days(one, frame, rows - TEST, rows)[1])


def interval(differences: Floats, *, block: int = 7, seed: int = 0) -> tuple[float, float]:
    """95 % interval of the mean of dependent daily differences, by moving blocks of a week."""
    generator = np.random.default_rng(seed)
    count, blocks = len(differences), -(-len(differences) // block)
    starts = generator.integers(0, count - block + 1, size=(2000, blocks))
    chosen = (starts[..., None] + np.arange(block)).reshape(len(starts), -1)[:, :count]
    low, high = np.quantile(differences[chosen].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def runs(data: Dataset, name: str, *, quick: bool) -> dict[str, list[Tested]]:
    """Without and with the known columns, once a seed; a ridge regression has none."""
    seeds = SEEDS[:1] if quick or name == "Linear" else SEEDS
    known = list(data.schema.known)
    ways = {
        "without": (data.frame.drop(columns=known), clone(data.schema).set_params(known=())),
        "with": (data.frame, data.schema),
    }
    return {
        way: [tested(forecaster(name, seed, schema=schema, quick=quick), frame) for seed in seeds]
        for way, (frame, schema) in ways.items()
    }


def row(name: str, found: dict[str, list[Tested]], truth: Floats) -> dict[str, Any]:
    """One line of a market's table: means over seeds, and the difference day by day."""
    errors = {
        way: np.abs(np.stack([one.forecast for one in several]) - truth).mean(axis=2)
        for way, several in found.items()
    }
    validation = {way: [one.validation for one in several] for way, several in found.items()}
    difference = (errors["with"] - errors["without"]).mean(axis=0)
    low, high = interval(difference)
    lower = sum(b < a for a, b in zip(validation["without"], validation["with"], strict=True))
    validated = not np.isnan(validation["with"]).any()
    return {
        "model": name,
        "seeds": len(found["with"]),
        "validation without": float(np.mean(validation["without"])),
        "validation with": float(np.mean(validation["with"])),
        "lower in": float(lower) if validated else float("nan"),
        "test without": float(errors["without"].mean()),
        "test with": float(errors["with"].mean()),
        "difference": float(difference.mean()),
        "low": low,
        "high": high,
    }


def mean_of(models: list[dict[str, list[Tested]]]) -> dict[str, list[Tested]]:
    """The mean of the forecasts of several models, each that of its seeds; validated by nothing."""
    means = {}
    for way in ("without", "with"):
        each = [np.mean([one.forecast for one in found[way]], axis=0) for found in models]
        means[way] = [Tested(float("nan"), np.mean(each, axis=0))]
    return means


def market(name: str, *, quick: bool) -> tuple[pd.DataFrame, float]:
    """The table of one market, and the error of weekly naive on its test."""
    data = load_dataset(name, download=False)
    rows = len(data.frame)
    weekly = SeasonalNaive(horizon=DAY, season_length=WEEK, schema=data.schema)
    truth, naive = days(weekly.fit(data.frame.iloc[: rows - TEST]), data.frame, rows - TEST, rows)
    found = {model: runs(data, model, quick=quick) for model in ("Linear", "InvertedTransformer")}
    found["mean of both"] = mean_of([*found.values()])
    table = [row(model, several, truth) for model, several in found.items()]
    return pd.DataFrame(table), float(np.abs(truth - naive).mean())


def main(quick: bool) -> None:
    """Answer, print and store."""
    began = time.monotonic()
    tables, naive = {}, {}
    for name in MARKETS:
        tables[name], naive[name] = market(name, quick=quick)
        print(f"\n{name}\n{tables[name].round(3).to_string(index=False)}", flush=True)
    marks = PUBLISHED.assign(**{"weekly naive, ours": pd.Series(naive)})
    print(f"\n{QUESTION}\n\npublished, and a check\n{marks.round(3).to_string()}")
    store_result(
        __file__,
        {**tables, "published": marks},
        question=QUESTION,
        quick=quick,
        seconds=time.monotonic() - began,
        seeds=SEEDS[:1] if quick else SEEDS,
        facts={"interval": "95 %, moving blocks of seven days of the daily difference"},
    )


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
