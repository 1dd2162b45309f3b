"""``forecast``, ``fit`` and ``predict``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tsformer.cli.checking import look_over
from tsformer.cli.exits import note
from tsformer.cli.files import (
    check_output,
    check_picture,
    check_table,
    read_data,
    read_table,
    write_table,
)
from tsformer.cli.forecasters import build_forecaster, check_levels, read_quantiles
from tsformer.cli.options import Format, Horizon, Model, Quantiles, Roles, Source, grouped
from tsformer.cli.pictures import draw_forecast
from tsformer.cli.progress import progress
from tsformer.cli.tables import describe_data, describe_fit, print_facts, print_rows, say
from tsformer.cli.trying import with_tried_cures

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.cli.files import Data
    from tsformer.panels import Panel

__all__ = ["fit", "forecast", "predict"]

_TABLE, _PICTURE = Path("forecast.csv"), Path("forecast.png")
_SECONDS = 120.0
_MOST_NAMES = 6

Future = Annotated[
    str | None,
    typer.Option(help="File with the known covariates over the horizon.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


@grouped
@with_tried_cures
def forecast(
    file: Source,
    horizon: Horizon,
    form: Format,
    roles: Roles,
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the forecast goes: .csv, .tsv, .parquet.")
    ] = _TABLE,
    plot: Annotated[
        Path, typer.Option(help="Where the picture goes: .png, .svg, .pdf.")
    ] = _PICTURE,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Draw no picture.")] = False,
    quantiles: Quantiles = "0.1,0.9",
    future: Future = None,
    force: Force = False,
) -> None:
    """Forecast a file: find the columns' roles, fit, write a table and a picture.

    A second run replaces its own forecast.csv and forecast.png; files you name with --output or
    --plot are replaced only with --force, and the input never. Training stops after 120 seconds
    unless --max-time says otherwise.
    """
    from tsformer.evaluation.held_out import held_out
    from tsformer.reading import extended

    levels = read_quantiles(quantiles)
    check_table(output)
    check_picture(plot)
    for path, usual in [(output, _TABLE)] + ([] if no_plot else [(plot, _PICTURE)]):
        check_output(path, force=force, inputs=(file, future), default=path == usual)
    data = read_data(file, form, roles)
    forecaster = build_forecaster(data, horizon, model, training__max_time=_SECONDS)
    check_levels(forecaster, levels)
    panel = look_over(data)
    _note_unused(forecaster, panel)
    ahead = None if future is None else read_table(future, form)
    extended(panel.extend(forecaster.gap), horizon, ahead)  # refused before any training
    with progress() as state:
        state.follow(forecaster)
        forecaster.fit(panel)
    made = forecaster.predict(future=ahead, quantiles=levels)
    _note_negative(made, data, forecaster)
    write_table(made, output)
    facts = {**describe_data(data, panel), **describe_fit(forecaster, panel)}
    held = held_out(forecaster, panel, levels)
    print_facts(facts | ({} if held is None else {"tested": held.said}))
    say()
    print_rows(made, plain=forecaster.schema_.time is not None)
    say()
    say(f"forecast written to {output}")
    if not no_plot:
        shown = draw_forecast(made, panel, forecaster, plot, held)
        say(f"picture written to {plot}{shown}")


@grouped
@with_tried_cures
def fit(
    file: Source,
    horizon: Horizon,
    form: Format,
    roles: Roles,
    model: Model,
    save: Annotated[
        Path,
        typer.Option(
            "--save", help="Where the model goes, a .safetensors file.", show_default=False
        ),
    ],
    force: Force = False,
) -> None:
    """Fit a forecaster and save it for **tsformer predict**."""
    from tsformer.estimators.persistence import save_forecaster

    check_output(save, force=force, inputs=(file,))
    data = read_data(file, form, roles)
    forecaster = build_forecaster(data, horizon, model)
    panel = look_over(data)
    _note_unused(forecaster, panel)
    with progress() as state:
        state.follow(forecaster)
        forecaster.fit(panel)
    save_forecaster(forecaster, save, overwrite=force)
    print_facts({**describe_data(data, panel), **describe_fit(forecaster, panel)})
    say()
    say(f"model written to {save}")


@grouped
def predict(
    saved: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A file that `tsformer fit` wrote.", show_default=False
        ),
    ],
    form: Format,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="Data up to the moment of the forecast; what fit has seen, if none.",
            show_default=False,
        ),
    ] = None,
    future: Future = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            "--horizon", "-n", min=1, help="Steps, at most those of fit.", show_default=False
        ),
    ] = None,
    quantiles: Quantiles = "0.1,0.9",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where the forecast goes; printed, if none."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Where a picture goes: .png, .svg, .pdf; none is drawn, if none."),
    ] = None,
    force: Force = False,
) -> None:
    """Forecast with a saved model, from its own data or from newer ones."""
    from tsformer.estimators import load

    levels = read_quantiles(quantiles)
    if output is not None:
        check_table(output)
    if plot is not None:
        check_picture(plot)
    for path in filter(None, (output, plot)):
        check_output(path, force=force, inputs=(file, future, str(saved)))
    forecaster = load(saved)
    history = None if file is None else forecaster.read(read_data(file, form, Roles()).frame)
    ahead = None if future is None else read_table(future, form)
    made = forecaster.predict(history, future=ahead, horizon=horizon, quantiles=levels)
    write_table(made, output)
    if output is not None:
        say(f"forecast written to {output}")
    if plot is not None:
        shown = draw_forecast(made, history, forecaster, plot)
        print(f"picture written to {plot}{shown}", file=sys.stderr)  # stdout may be the table


def _note_unused(forecaster: Any, panel: "Panel") -> None:
    """Say what a model without training does not look at."""
    unused = [repr(name) for name in panel.schema.covariates]
    unused += ["holidays"] if panel.schema.holidays else []
    if unused and not hasattr(forecaster, "model"):
        shown = ", ".join(unused[:_MOST_NAMES]) + (" ..." if len(unused) > _MOST_NAMES else "")
        note(f"{type(forecaster).__name__} looks at the target alone; not used: {shown}")


def _note_negative(made: "pd.DataFrame", data: "Data", forecaster: Any) -> None:
    """Propose ``--nonnegative`` where a forecast is below 0 and the data never are."""
    if getattr(forecaster, "nonnegative", True):
        return
    for target in forecaster.schema_.target:
        own = [one for one in made if one == target or str(one).startswith(f"{target}_q")]
        below = (made[own] < 0).any(axis=1)
        if below.any() and data.frame[target].min() >= 0:
            note(
                f"column {target!r} is never negative in the data, but its forecast or band is in"
                f" {int(below.sum())} of {len(made)} rows: --nonnegative keeps it at 0"
            )
