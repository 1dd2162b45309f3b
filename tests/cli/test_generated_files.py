"""Sixty files of one pattern: spellings of time by separators, encodings and marks of numbers.

Each file forecasts its pattern within a tenth, or is refused with cures one of which, followed as
it is offered, makes it do so.
"""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from tsformer.cli.app import app
from tsformer.errors import TsformerError

MODEL = ("--model", "seasonal-naive", "--no-plot", "--quantiles", "")

Stamps = pd.DatetimeIndex


class Spelling(NamedTuple):
    """How time is written: names of its columns, and their cells."""

    names: tuple[str, ...]
    stamps: Stamps
    season: int
    cells: Callable[[Stamps], list[tuple[str, ...]]]


class Look(NamedTuple):
    """How a file is written otherwise."""

    separator: str
    encoding: str
    number: Callable[[float], str]


def by(form: str) -> Callable[[Stamps], list[tuple[str, ...]]]:
    """Cells by a format; several columns are separated by a bar."""
    return lambda stamps: [tuple(one.strftime(form).split("|")) for one in stamps]


def grouped(mark: str, decimals: int, decimal: str) -> Callable[[float], str]:
    """Numbers with one mark between thousands and another before decimals."""

    def write(value: float) -> str:
        text = f"{value:,.{decimals}f}"
        return text.replace(",", "T").replace(".", decimal).replace("T", mark)

    return write


DAYS = pd.date_range("2023-01-02", periods=84)
HOURS = pd.date_range("2024-01-01", periods=24 * 8, freq="h")
MONTHS = pd.date_range("2015-01-01", periods=96, freq="MS")
QUARTERS = pd.date_range("2010-01-01", periods=48, freq="QS")
WEEKS = pd.date_range("2015-01-05", periods=52 * 5, freq="W-MON")
YEARS = pd.date_range("1950-01-01", periods=64, freq="YS")

SPELLINGS = {
    "ISO": Spelling(("day",), DAYS, 7, by("%Y-%m-%d")),
    "German": Spelling(("Tag",), DAYS, 7, by("%d.%m.%Y")),
    "American": Spelling(("Date",), DAYS, 7, by("%m/%d/%Y")),
    "two digits": Spelling(("Date",), DAYS, 7, by("%d/%m/%y")),
    "named month": Spelling(("Date",), DAYS, 7, by("%d-%b-%Y")),
    "whole number": Spelling(("Date",), DAYS, 7, by("%Y%m%d")),
    "Excel": Spelling(("Date",), DAYS, 7, lambda s: [(str((t - s[0]).days + 44928),) for t in s]),
    "seconds": Spelling(("Zeit",), HOURS, 24, lambda s: [(str(int(t.timestamp())),) for t in s]),
    "zone": Spelling(("time",), HOURS, 24, by("%Y-%m-%dT%H:%M:%SZ")),
    "no seconds": Spelling(("time",), HOURS, 24, by("%d.%m.%Y %H:%M")),
    "date and time": Spelling(("date", "time"), HOURS, 24, by("%Y-%m-%d|%H:%M")),
    "hours from 1": Spelling(
        ("date", "hour"), HOURS, 24, lambda s: [(f"{t:%Y-%m-%d}", str(t.hour + 1)) for t in s]
    ),
    "weeks": Spelling(("week",), WEEKS, 52, by("%G-W%V")),
    "months": Spelling(("month",), MONTHS, 12, by("%Y-%m")),
    "month first": Spelling(("month",), MONTHS, 12, by("%m/%Y")),
    "month names": Spelling(("month",), MONTHS, 12, by("%b %Y")),
    "year and month": Spelling(("year", "month"), MONTHS, 12, by("%Y|%m")),
    "whole months": Spelling(("period",), MONTHS, 12, by("%Y%m")),
    "quarters": Spelling(
        ("quarter",), QUARTERS, 4, lambda s: [(f"{t.year}Q{t.quarter}",) for t in s]
    ),
    "quarters first": Spelling(
        ("quarter",), QUARTERS, 4, lambda s: [(f"Q{t.quarter} {t.year}",) for t in s]
    ),
    "years": Spelling(("Year",), YEARS, 4, by("%Y")),
}
LOOKS = (
    Look(",", "utf-8", lambda value: f"{value:.0f}"),
    Look(";", "cp1252", grouped("", 1, ",")),
    Look("\t", "utf-16", grouped(".", 2, ",")),
    Look(",", "utf-8-sig", grouped(",", 0, ".")),
    Look(";", "utf-8", grouped(".", 0, ",")),
    Look("|", "cp1252", grouped("\u00a0", 2, ",")),
    Look(";", "utf-16", grouped("'", 1, ".")),
)
FILES = [
    pytest.param(
        name,
        LOOKS[(place + 3 * turn) % len(LOOKS)],
        id=f"{name}-{turn}",
    )
    for turn in range(3)
    for place, name in enumerate(SPELLINGS)
    if (turn, name) not in {(0, "ISO"), (1, "months"), (2, "zone")}
]


def pattern(season: int) -> np.ndarray:
    """One season of values on both sides of a thousand."""
    return 950 + 3000 * np.linspace(0, 1, season) ** 2


def written(name: str, look: Look) -> Path:
    """The file, its newest rows first where time is in quarters."""
    spelt = SPELLINGS[name]
    values = np.resize(pattern(spelt.season), len(spelt.stamps))
    cells = [
        (*time, look.number(value))
        for time, value in zip(spelt.cells(spelt.stamps), values, strict=True)
    ]
    if name == "quarters":
        cells.reverse()
    rows = [(*spelt.names, "Größe"), *cells]
    quoted = [[f'"{one}"' if look.separator in one else one for one in row] for row in rows]
    path = Path("sales.csv")
    path.write_bytes("\n".join(map(look.separator.join, quoted)).encode(look.encoding))
    return path


def tried(file: Path, season: int, options: list[str]) -> list[list[str]] | None:
    """Forecast the file; the options of each cure if it is refused, None if it is not."""
    arguments = ["forecast", str(file), "--horizon", str(season), *MODEL, *options]
    if season == 4:  # of a year's steps one is a season
        arguments += ["--set", "season_length=4"]
    try:
        app(arguments, prog_name="tsformer", standalone_mode=False)
    except TsformerError as refused:
        offered = [(cure, cure.options()) for cure in refused.cures]
        return [
            shlex.split(said.removeprefix(f"{cure.advice}: ").removesuffix("."))
            for cure, said in offered
            if " --" in said
        ]
    return None


def is_pattern(season: int) -> bool:
    """Whether the values are forecast, and nothing that tells the time."""
    made = pd.read_csv("forecast.csv")
    right = np.allclose(made["Größe"].to_numpy(), pattern(season), rtol=0.1)
    return bool(right) and made.columns[-1] == "Größe" and len(made.columns) == 2


@pytest.mark.parametrize(("name", "look"), FILES)
def test_the_pattern_is_forecast_or_a_cure_makes_it_so(
    name: str, look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file, season = written(name, look), SPELLINGS[name].season
    cures = tried(file, season, [])
    if cures is None:
        assert is_pattern(season)
        return
    worked = [c for c in cures if tried(file, season, c) is None and is_pattern(season)]
    assert worked, f"none of {cures} forecasts the pattern"


def test_there_are_sixty_files() -> None:
    assert len(FILES) == 60
