"""Options that several commands share, each written once, in groups."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

__all__ = ["Format", "Horizon", "Model", "Quantiles", "Roles", "Settings", "Source", "grouped"]

Words = list[str] | None

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A .csv, .tsv, .xlsx, .jsonl (also .gz) or .parquet file, or a data set's name.",
        show_default=False,
    ),
]
Horizon = Annotated[
    int, typer.Option("--horizon", "-n", min=1, help="Steps to forecast.", show_default=False)
]
Quantiles = Annotated[
    str, typer.Option(help="Levels of the band, separated by commas; '' for none.")
]


def _file(help: str, *names: str, **more: Any) -> Any:
    return typer.Option(
        *names, help=help, rich_help_panel="Reading the file", show_default=False, **more
    )


def _role(help: str, **more: Any) -> Any:
    return typer.Option(
        help=help, rich_help_panel="Roles of the columns", show_default=False, **more
    )


def _model(help: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="Model", **more)


@dataclass(frozen=True, kw_only=True)
class Format:
    """How a file is written."""

    time: Annotated[
        str | None, _file("Column with the stamps; found by itself where it can be.")
    ] = None
    time_format: Annotated[
        str | None, _file("How its dates are written, such as '%d.%m.%Y'; ISO 8601 needs none.")
    ] = None
    separator: Annotated[
        str | None, _file("What stands between values, such as ';'; found by itself.")
    ] = None
    decimal: Annotated[str | None, _file("Decimal mark, such as ','; found by itself.")] = None
    thousands: Annotated[
        str | None, _file("Mark between thousands, such as '.'; found by itself.")
    ] = None
    encoding: Annotated[
        str | None, _file("Encoding of a text file, such as cp1252; found by itself.")
    ] = None
    na: Annotated[
        Words, _file("A text that stands for an empty value; may be repeated.", metavar="TEXT")
    ] = None
    skip_rows: Annotated[int | None, _file("Lines to leave out at the top.", min=0)] = None
    comment: Annotated[str | None, _file("What lines to leave out begin with, such as '#'.")] = None
    no_header: Annotated[bool, _file("The first row holds values, not names.", "--no-header")] = (
        False
    )
    sheet: Annotated[str | None, _file("Sheet of an Excel file; the first, if none.")] = None


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which column plays which role, and what happens to values that are not there."""

    target: Annotated[
        Words, _role("Column to forecast; repeat it, or separate by commas. All numbers, if none.")
    ] = None
    series: Annotated[str | None, _role("Column that tells series apart, in a long table.")] = None
    known: Annotated[Words, _role("Covariate known over the horizon too; needs --future.")] = None
    past: Annotated[
        Words, _role("Covariate known only up to now; 'rest' takes all other columns.")
    ] = None
    static: Annotated[Words, _role("Column that is constant within a series.")] = None
    freq: Annotated[
        str | None, _role("Step between rows, such as 'h', 'D' or 'MS'; found by itself.")
    ] = None
    season: Annotated[
        Words,
        _role(
            "Rows in a season, or in each of several, such as 48,336; found by itself, 1 for none.",
            metavar="ROWS",
        ),
    ] = None
    holidays: Annotated[
        Words,
        _role(
            "Days off: a country or a part of one, such as DE or US-CA, or dates; may be repeated.",
            metavar="DAYS",
        ),
    ] = None
    weight: Annotated[str | None, _role("Column with how much each row counts in training.")] = None
    missing: Annotated[
        Literal["error", "mask", "interpolate"] | None,
        _role("Empty values: refused, trained around, or drawn as a line."),
    ] = None
    gaps: Annotated[
        Literal["error", "mask"] | None, _role("Absent rows: refused, or put back as empty.")
    ] = None
    short: Annotated[
        Literal["error", "drop", "pad"] | None,
        _role("Series with too few rows: refused, left out, or filled up with empty rows."),
    ] = None
    ignore: Annotated[
        Words,
        _role(
            "A period that teaches nothing, such as 2020-03-15..2020-06-30; may be repeated.",
            metavar="FROM..TO",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How what is fitted is fitted."""

    context: Annotated[
        int | None, _model("Steps to look back; found by itself.", min=1, show_default=False)
    ] = None
    epochs: Annotated[
        int | None, _model("Most passes over the data.", min=0, show_default=False)
    ] = None
    max_time: Annotated[
        float | None, _model("Seconds after which training stops.", min=0.001, show_default=False)
    ] = None
    seed: Annotated[
        int | None, _model("Seed; the same one, the same forecast.", min=0, show_default=False)
    ] = None
    nonnegative: Annotated[
        bool, _model("No forecast is below 0, as counts are.", "--nonnegative")
    ] = False
    settings: Annotated[
        Words,
        _model(
            "Any other parameter by its path, such as model__d_model=32; may be repeated.",
            "--set",
            metavar="PATH=VALUE",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Model(Settings):
    """What is fitted, and how."""

    model: Annotated[
        str | None,
        _model(
            "informer, transformer, linear, seasonal-naive, drift ...; chosen by data, if none.",
            show_default=False,
        ),
    ] = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command whose parameters are groups of options one whose parameters are the options.

    A parameter annotated with one of the dataclasses above is replaced by its fields, which is
    what typer sees; the command gets the dataclass.
    """
    signature = inspect.signature(command)
    groups: dict[str, Any] = {
        name: one.annotation
        for name, one in signature.parameters.items()
        if dataclasses.is_dataclass(one.annotation)
    }

    @functools.wraps(command)
    def flat(**given: Any) -> None:
        made = {name: _taken(group, given) for name, group in groups.items()}
        command(**given, **made)

    shown = [
        option
        for name, one in signature.parameters.items()
        for option in (_options(groups[name]) if name in groups else [one])
    ]
    keyword = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in shown]
    flat.__signature__ = signature.replace(parameters=keyword)  # type: ignore[attr-defined]
    flat.__annotations__ = {one.name: one.annotation for one in keyword}
    return flat


def _options(group: Any) -> list[inspect.Parameter]:
    kind = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(field.name, kind, default=field.default, annotation=field.type)
        for field in dataclasses.fields(group)
    ]


def _taken(group: Any, given: dict[str, Any]) -> Any:
    """The group, with its fields taken out of what was given."""
    return group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})
