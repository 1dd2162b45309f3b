"""``tsformer demo``: real data from training to picture, and the Python that does the same."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tsformer.cli.tables import print_table, say

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.evaluation import Backtest

__all__ = ["Settings", "demo", "program", "run_demo"]


class Settings(NamedTuple):
    """The numbers of the demo, in one place for what runs and what is printed.

    ``max_time`` is in seconds; it only guards a slow machine: without it, as many epochs take
    about two minutes on two cores.
    """

    rows: int = 17520
    horizon: int = 24
    context: int = 168
    epochs: int = 3
    batch_size: int = 64
    max_time: int = 300
    folds: int = 28


_PROGRAM = """\
from tsformer import Forecaster, Policy, Training, backtest, load_dataset
from tsformer.models import Informer
from tsformer.plots import plot_forecast

air = load_dataset("beijing_air")  # hourly PM2.5 and weather, bundled, with gaps
frame = air.frame.tail({rows})
forecaster = Forecaster(
    Informer(),
    horizon={horizon},
    context={context},
    schema=air.schema,
    policy=Policy(missing="mask"),
    training=Training(epochs={epochs}, batch_size={batch_size}, max_time={max_time}),
)
result = backtest(forecaster, frame, folds={folds}, quantiles=[0.1, 0.9])
print(result.summary())  # seasonal naive always stands beside

scores = result.scores[result.scores["forecaster"] == "Informer"].sort_values("mae")
typical = scores["cutoff"].iloc[len(scores) // 2]  # neither the best day nor the worst
table = result.forecasts
day = table[(table["forecaster"] == "Informer") & (table["cutoff"] == typical)]
names = {{"forecast": "pm2.5", "q0.1": "pm2.5_q0.1", "q0.9": "pm2.5_q0.9"}}
forecast = day.rename(columns=names)[["time", *names.values(), "actual"]]
forecast[[*names.values()]] = forecast[[*names.values()]].clip(lower=0)  # a concentration
forecast.to_csv("forecast.csv", index=False)
history = frame[frame["time"] <= typical]
figure = plot_forecast(
    history,
    forecast,
    target="pm2.5",
    actual=frame,
    rows={context},
    title="PM2.5 in Beijing: forecast of {horizon} hours, and what came",
    unit="µg/m³",
)
figure.savefig("forecast.png")
"""


def program(settings: Settings | None = None) -> str:
    """The Python that does what the demo does: same numbers, same files."""
    return _PROGRAM.format(**(settings or Settings())._asdict())


def demo() -> None:
    """Train an Informer on hourly air quality, backtest it, and draw a forecast.

    Takes about two minutes on two cores and needs no network. Writes forecast.csv and
    forecast.png into the current folder, over those of an earlier run.
    """
    run_demo(Settings(), Path())


def run_demo(settings: Settings, folder: Path) -> None:
    """Train, backtest, write both files into the folder, and print what it took."""
    from tsformer.datasets import load_dataset

    started = time.monotonic()
    say("An Informer on fine particles (PM2.5, µg/m³) in the air of Beijing, hour by hour.")
    say(
        f"Training on {_years(settings.rows)} of rows, in which gaps stay gaps;"
        " about two minutes on two cores ..."
    )
    frame = load_dataset("beijing_air").frame.tail(settings.rows)
    result = _backtested(frame, settings)
    say()
    say(
        f"{result.windows} forecasts of {settings.horizon} hours, one a day, on rows the model has"
        " not seen:"
    )
    say()
    print_table(result.summary())
    say()
    table, picture = folder / "forecast.csv", folder / "forecast.png"
    _write(frame, result, settings, table, picture)
    say(f"A typical one of them, with what came: {table} and {picture}")
    say(f"({time.monotonic() - started:.0f} seconds)")
    say()
    say("The same in Python:")
    say()
    for line in program(settings).splitlines():
        say(f"    {line}".rstrip())


def _backtested(frame: "pd.DataFrame", settings: Settings) -> "Backtest":
    from tsformer.datasets import read_recipe
    from tsformer.estimators import Forecaster
    from tsformer.evaluation import backtest
    from tsformer.models import Informer
    from tsformer.panels import Policy
    from tsformer.training import Training

    forecaster = Forecaster(
        Informer(),
        horizon=settings.horizon,
        context=settings.context,
        schema=read_recipe("beijing_air").schema(),
        policy=Policy(missing="mask"),
        training=Training(
            epochs=settings.epochs, batch_size=settings.batch_size, max_time=settings.max_time
        ),
    )
    return backtest(forecaster, frame, folds=settings.folds, quantiles=[0.1, 0.9])


def _write(
    frame: "pd.DataFrame", result: "Backtest", settings: Settings, table: Path, picture: Path
) -> None:
    """Write a typical forecast, of median error, and its picture."""
    from tsformer.plots import plot_forecast

    scores = result.scores[result.scores["forecaster"] == "Informer"].sort_values("mae")
    typical = scores["cutoff"].iloc[len(scores) // 2]
    made = result.forecasts
    day = made[(made["forecaster"] == "Informer") & (made["cutoff"] == typical)]
    names = {"forecast": "pm2.5", "q0.1": "pm2.5_q0.1", "q0.9": "pm2.5_q0.9"}
    forecast = day.rename(columns=names)[["time", *names.values(), "actual"]]
    forecast[[*names.values()]] = forecast[[*names.values()]].clip(lower=0)
    forecast.to_csv(table, index=False)
    figure = plot_forecast(
        frame[frame["time"] <= typical],
        forecast,
        target="pm2.5",
        actual=frame,
        rows=settings.context,
        title=f"PM2.5 in Beijing: forecast of {settings.horizon} hours, and what came",
        unit="µg/m³",
    )
    figure.savefig(picture)


def _years(rows: int) -> str:
    years = rows / (365 * 24)
    return f"{years:.0f} years" if years >= 2 else f"{rows:,} hours"
