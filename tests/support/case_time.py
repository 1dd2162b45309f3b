"""Section 1: time that is not found, or taken for something else."""

import io
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from doors import (
    Answer,
    Pattern,
    check_file,
    check_frame,
    forecast_file,
    forecast_frame,
    heard,
    table,
    written,
)  # fmt: skip

from tsformer import Forecaster
from tsformer.errors import WrongTime
from tsformer.models import Linear

Stamps = pd.DatetimeIndex
Cells = dict[str, list[Any]]

MONTHS = pd.date_range("2015-01-01", periods=60, freq="MS")
QUARTERS = pd.date_range("2010-01-01", periods=48, freq="QS")
WEEKS = pd.date_range("2015-01-05", periods=260, freq="W-MON")
YEARS = pd.date_range("1950-01-01", periods=64, freq="YS")
DAYS = pd.date_range("2023-01-02", periods=84)
HOURS = pd.date_range("2024-01-01", periods=240, freq="h")
GERMAN = ("Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez")


class Spelt(NamedTuple):
    """How a column of time, or several, are written, and how the first forecast stamp begins."""

    stamps: Stamps
    season: int
    cells: Callable[[Stamps], Cells]
    first: str
    newest_first: bool = False
    said: str = ""


def by(**forms: str) -> Callable[[Stamps], Cells]:
    return lambda stamps: {name: list(stamps.strftime(form)) for name, form in forms.items()}


def each(**writes: Callable[[pd.Timestamp], Any]) -> Callable[[Stamps], Cells]:
    return lambda stamps: {name: [write(one) for one in stamps] for name, write in writes.items()}


def end_of_hour(stamp: pd.Timestamp) -> str:
    """The end of this hour, which is 24:00 for the last of a day."""
    end = stamp + pd.Timedelta("1h")
    return f"{stamp:%Y-%m-%d} 24:00" if end.hour == 0 else f"{end:%Y-%m-%d %H:%M}"


def seconds(stamp: pd.Timestamp) -> int:
    return int(stamp.timestamp())


def serial(stamp: pd.Timestamp) -> int:
    return (stamp - pd.Timestamp("1899-12-30")).days


ROWS = {
    # quarters, in one series or many, the newest first
    "2022Q4": Spelt(QUARTERS, 4, each(quarter=lambda t: f"{t.year}Q{t.quarter}"), "2022Q1", True),
    "2005-Q1": Spelt(QUARTERS, 4, each(quarter=lambda t: f"{t.year}-Q{t.quarter}"), "2022Q1"),
    "Q1 2005": Spelt(QUARTERS, 4, each(period=lambda t: f"Q{t.quarter} {t.year}"), "2022Q1"),
    "Q1-2005": Spelt(QUARTERS, 4, each(Quartal=lambda t: f"Q{t.quarter}-{t.year}"), "2022Q1", True),
    # weeks
    "2019-W02": Spelt(WEEKS, 52, by(week="%G-W%V"), "2019-12-30"),
    "2019W02": Spelt(WEEKS, 52, by(KW="%GW%V"), "2019-12-30", True),
    # months
    "Jan 2018": Spelt(MONTHS, 12, by(month="%b %Y"), "2020-01"),
    "January 2018": Spelt(MONTHS, 12, by(period="%B %Y"), "2020-01", True),
    "Jan-18": Spelt(MONTHS, 12, by(month="%b-%y"), "2020-01"),
    "01/2018": Spelt(MONTHS, 12, by(month="%m/%Y"), "2020-01"),
    "2018/01": Spelt(MONTHS, 12, by(Monat="%Y/%m"), "2020-01", True),
    # whole numbers, and parts in several columns
    "year, month": Spelt(MONTHS, 12, by(year="%Y", month="%m"), "2020-01"),
    "Month, Year": Spelt(
        MONTHS, 12, each(Month=lambda t: t.month, Year=lambda t: t.year), "2020-01"
    ),
    "201801": Spelt(MONTHS, 12, by(period="%Y%m"), "2020-01"),
    "Year": Spelt(YEARS, 4, by(Year="%Y"), "2014"),
    "year, newest first": Spelt(YEARS, 4, by(year="%Y"), "2014", True),
    "date, time": Spelt(HOURS, 24, by(date="%Y-%m-%d", time="%H:%M"), "2024-01-11 00:00"),
    "Datum, Uhrzeit": Spelt(
        HOURS, 24, by(Datum="%d.%m.%Y", Uhrzeit="%H:%M:%S"), "2024-01-11 00:00"
    ),
    "hour 1 to 24": Spelt(
        HOURS, 24, each(date=lambda t: t.date(), hour=lambda t: t.hour + 1), "2024-01-11"
    ),
    "hour 0 to 23": Spelt(
        HOURS, 24, each(day=lambda t: t.date(), hr=lambda t: t.hour), "2024-01-11 00:00"
    ),
    "24:00": Spelt(HOURS, 24, each(time=end_of_hour), "2024-01-11 01:00"),
    "seconds as Zeit": Spelt(HOURS, 24, each(Zeit=seconds), "2024-01-11 00:00"),
    "milliseconds": Spelt(HOURS, 24, each(ts=lambda t: seconds(t) * 1000), "2024-01-11 00:00"),
    "Excel days": Spelt(DAYS, 7, each(Datum=serial), "2023-03-27"),
    "20230131": Spelt(DAYS, 7, by(day="%Y%m%d"), "2023-03-27"),
    "20230131, newest first": Spelt(DAYS, 7, by(Date="%Y%m%d"), "2023-03-27", True),
    # one usual format reads the whole column
    "1/1/1981": Spelt(
        DAYS - pd.DateOffset(years=42),
        7,
        each(Date=lambda t: f"{t.month}/{t.day}/{t.year}"),
        "1981-03-27",
    ),
    "04/30/2021": Spelt(DAYS, 7, by(Date="%m/%d/%Y"), "2023-03-27"),
    "30-04-2021": Spelt(DAYS, 7, by(Datum="%d-%m-%Y"), "2023-03-27", True),
    "23-01-31": Spelt(DAYS, 7, by(Date="%y-%m-%d"), "2023-03-27"),
    "23/01/31": Spelt(DAYS, 7, by(day="%y/%m/%d"), "2023-03-27", True),
    "31-01-23": Spelt(DAYS, 7, by(Datum="%d-%m-%y"), "2023-03-27"),
    "230131": Spelt(DAYS, 7, by(date="%y%m%d"), "2023-03-27"),
    "2023031": Spelt(DAYS, 7, by(date="%Y%j"), "2023-03-27"),
    "Julian days": Spelt(DAYS, 7, each(JD=lambda t: t.to_julian_date()), "2023-03-27"),
    "Jour, Mois, Année": Spelt(
        DAYS,
        7,
        each(Jour=lambda t: t.day, Mois=lambda t: t.month, Année=lambda t: t.year),
        "2023-03-27",
    ),
    "year, M01": Spelt(MONTHS, 12, by(year="%Y", period="M%m"), "2020-01"),
    "annee, T1": Spelt(
        QUARTERS, 4, each(annee=lambda t: t.year, trimestre=lambda t: f"T{t.quarter}"), "2022-01"
    ),
    "Jahr, KW02": Spelt(WEEKS, 52, by(Jahr="%G", KW="KW%V"), "2019-12-30"),
    "date, HHMM": Spelt(
        HOURS, 24, each(date=lambda t: t.date(), HHMM=lambda t: t.hour * 100), "2024-01-11 00:00"
    ),
    # zones as words, days within the month
    "UTC": Spelt(HOURS, 24, by(time="%Y-%m-%d %H:%M UTC"), "2024-01-11 00:00:00+00:00"),
    "GMT": Spelt(HOURS, 24, by(time="%d.%m.%Y %H:%M GMT"), "2024-01-11 00:00:00+00:00"),
    "the 15th": Spelt(MONTHS, 12, by(day="%Y-%m-15"), "2020-01-15"),
    "the 30th, clipped": Spelt(
        MONTHS, 12, each(day=lambda t: t.replace(day=min(30, t.days_in_month)).date()), "2020-01-30"
    ),
    "the 31st, clipped": Spelt(
        MONTHS, 12, each(day=lambda t: t.replace(day=t.days_in_month).date()), "2020-01-31"
    ),
}


def values(spelt: Spelt) -> np.ndarray:
    return np.resize(10.0 + 5 * np.arange(spelt.season), len(spelt.stamps))


def of_row(name: str) -> tuple[str, Pattern, Spelt]:
    """The text of a file of one series, and what is right."""
    spelt = ROWS[name]
    cells = {**spelt.cells(spelt.stamps), "y": values(spelt)}
    if spelt.newest_first:
        cells = {column: list(rows)[::-1] for column, rows in cells.items()}
    ahead = np.resize(10.0 + 5 * np.arange(spelt.season), len(spelt.stamps) + 4)[-4:]
    return table(**cells), Pattern("y", ahead, spelt.first), spelt


def season_of(spelt: Spelt) -> dict[str, Any]:
    """Years have no season of their own: the four of the pattern are said."""
    return {"season_length": 4} if spelt.season == 4 and spelt.stamps is YEARS else {}


DOORS = ["file", "frame"]


def check_said(answer: Answer, spelt: Spelt) -> None:
    """What was taken for time is named."""
    names = list(spelt.cells(spelt.stamps[:1]))
    assert answer.error is not None or any(f"'{name}'" in answer.said for name in names)


@pytest.mark.parametrize("name", ROWS)
def test_1_time_in_a_file(folder: Any, name: str) -> None:
    text, pattern, spelt = of_row(name)
    options = [f"{path}={value}" for path, value in season_of(spelt).items()]
    answer = check_file(text, pattern, *(one for said in options for one in ("--set", said)))
    check_said(answer, spelt)


@pytest.mark.parametrize("name", ROWS)
def test_1_time_in_a_frame(name: str) -> None:
    text, pattern, spelt = of_row(name)
    frame = pd.read_csv(io.StringIO(text))
    check_said(check_frame(frame, pattern, **season_of(spelt)), spelt)


SHOPS = {
    "2005Q1": lambda t: f"{t.year}Q{t.quarter}",
    "2005-Q1": lambda t: f"{t.year}-Q{t.quarter}",
    "Q1 2005": lambda t: f"Q{t.quarter} {t.year}",
    "quarter in words": lambda t: (
        f"{('spring', 'summer', 'autumn', 'winter')[t.quarter - 1]} {t.year}"
    ),
    "T1 2005": lambda t: f"T{t.quarter} {t.year}",
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("spelling", SHOPS)
def test_1_two_shops_stay_two_shops(folder: Any, spelling: str, door: str) -> None:
    quarters = [SHOPS[spelling](one) for one in QUARTERS]
    sold = np.resize([455.0, 450, 430, 470], 48)
    text = table(shop=["a"] * 48 + ["b"] * 48, quarter=quarters * 2, sold=[*sold, *(sold + 100)])
    answer = (
        forecast_file(written(text), 4)
        if door == "file"
        else forecast_frame(pd.read_csv(io.StringIO(text)), 4)
    )
    if answer.error is not None:  # no quarters that anyone could read: by name, by row
        assert "'quarter'" in answer.said
        assert spelling in ("quarter in words", "T1 2005")
        return
    assert spelling not in ("quarter in words", "T1 2005"), "silent"
    made = answer.made.reset_index()
    assert made["shop"].tolist() == ["a"] * 4 + ["b"] * 4
    assert made["sold"].tolist() == [455, 450, 430, 470, 555, 550, 530, 570]
    assert str(made["quarter"].iloc[0]) == "2022Q1"


IN_TWO = {
    "Januar": lambda t: ("Monat", ["Januar", "Februar", "März"][t.month % 3]),
    "jan, mrt": lambda t: ("m", ["jan", "feb", "mrt", "apr", "mei"][t.month % 5]),
    "I to IV": lambda t: ("quarter", ["I", "II", "III", "IV"][t.quarter - 1]),
    "first": lambda t: ("quarter", ["first", "second", "third", "fourth"][t.quarter - 1]),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", IN_TWO)
def test_1_the_rest_of_a_stamp_is_no_name_of_a_series(folder: Any, name: str, door: str) -> None:
    other = IN_TWO[name](MONTHS[0])[0]
    parts = MONTHS if other != "quarter" else QUARTERS
    text = table(
        year=parts.year, **{other: [IN_TWO[name](one)[1] for one in parts]}, y=range(len(parts))
    )
    frame = pd.read_csv(io.StringIO(text))
    answer = forecast_file(written(text), 2) if door == "file" else forecast_frame(frame, 2)
    assert answer.made is None and f"'{other}'" in answer.said and "row 0" in answer.said


def test_1_a_number_within_the_day_is_not_advised_as_a_series(folder: Any) -> None:
    halves = pd.date_range("2024-01-01", periods=144, freq="30min")
    number = halves.hour * 2 + halves.minute // 30 + 1
    text = table(SETTLEMENT_DATE=halves.date, SETTLEMENT_PERIOD=number, load=range(144))
    answer = forecast_file(written(text), 2)
    assert answer.made is None and "'SETTLEMENT_PERIOD'" in answer.said
    assert "--series" not in answer.said


UNREADABLE = {
    "year, month or day first": (
        "Date",
        [f"{n:02}-01-23" for n in range(1, 9)],
        "%y-%m-%d",
    ),
    "month names of others": ("monat", [f"{GERMAN[t.month - 1]} {t.year}" for t in MONTHS], "'M"),
    "a word after the clock": ("time", list(HOURS.strftime("%Y-%m-%d %H:%M DST")), "'DST'"),
    "one misspelt stamp": ("day", [*DAYS[:9].strftime("%Y-%m-%d"), "2023-13-41"], "2023-13-41"),
    "one misspelt week": ("week", [*WEEKS[:9].strftime("%G-W%V"), "2015-W77"], "2015-W77"),
    "day or month first": ("Date", [f"0{n}/01/2023" for n in range(2, 9)], "%d/%m/%Y"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", UNREADABLE)
def test_1_what_cannot_be_read_is_refused_by_name(folder: Any, name: str, door: str) -> None:
    column, cells, culprit = UNREADABLE[name]
    text = table(**{column: cells, "y": np.arange(len(cells)) % 7 + 1.0})
    answer = (
        forecast_file(written(text), 2)
        if door == "file"
        else forecast_frame(pd.read_csv(io.StringIO(text)), 2)
    )
    assert isinstance(answer.error, WrongTime)
    assert f"'{column}'" in answer.said and culprit in answer.said


@pytest.mark.parametrize("form", ["%s", "%YQ%q", "%", "%G-W%V", "%k", "%Y-%m-%d %Q"])
def test_1_a_format_that_says_nothing_is_an_ordinary_error(folder: Any, form: str) -> None:
    file = written(table(day=DAYS.strftime("%Y-%m-%d"), y=values(ROWS["20230131"])))
    answer = forecast_file(file, 4, "--time-format", form)
    assert answer.code in (1, 2) and "--time-format" in answer.said and form in answer.said


def test_1_day_or_month_first_is_asked_and_either_answer_works(folder: Any) -> None:
    text = table(Date=DAYS.strftime("%d/%m/%Y")[:10], y=range(10))  # 2 to 11 January: both ways
    answer = check_file(text, Pattern("y", [9.0], "2023-01-12"))
    assert isinstance(answer.error, WrongTime)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_1_offsets_that_change_are_said(folder: Any, zone: str, door: str) -> None:
    hours = pd.date_range("2024-03-01", periods=24 * 40, freq="h", tz=zone)
    text = table(time=[one.isoformat() for one in hours], y=np.resize(np.arange(24) + 1, 960))
    answer = (
        forecast_file(written(text), 4)
        if door == "file"
        else forecast_frame(pd.read_csv(io.StringIO(text)), 4)
    )
    assert "UTC" in answer.said or "zone" in answer.said


PARQUET = {"unnamed": DAYS, "named": DAYS.rename("day"), "in other units": DAYS.as_unit("ms")}


@pytest.mark.parametrize("kind", PARQUET)
def test_1_an_index_in_parquet_keeps_its_place(folder: Any, kind: str) -> None:
    frame = pd.DataFrame({"y": values(ROWS["20230131"])}, index=PARQUET[kind])
    frame.to_parquet("sales.parquet")
    answer = forecast_file("sales.parquet", 4, "--output", "made.parquet")
    assert answer.code == 0, answer.said
    made = pd.read_parquet("made.parquet")
    assert list(made.columns) == ["y"] and made.index.name == frame.index.name
    assert made.index[0] == pd.Timestamp("2023-03-27")
    assert "row" not in forecast_file("sales.parquet", 4).made.columns


def half_hours() -> np.ndarray:
    """Six weeks of load: days of 48 rows, weeks of 336."""
    steps = np.arange(336 * 6)
    work = np.where(steps // 48 % 7 >= 5, 0.6, 1.0)
    return 100 + 30 * np.sin(2 * np.pi * steps / 48) * work - 40 * (1 - work)


@pytest.mark.parametrize("door", DOORS)
def test_1_seasons_are_found_where_stamps_tell_none(folder: Any, door: str) -> None:
    load = half_hours()
    noisy = load + np.random.default_rng(0).normal(size=len(load))
    text = table(load=np.round(noisy, 2))
    answer = (
        forecast_file(written(text), 48, "--model", "linear", "--no-plot", "--quantiles", "")
        if door == "file"
        else heard(lambda: monday(pd.read_csv(io.StringIO(text))))
    )
    error = np.abs(answer.made["load"].to_numpy() - load[:48]).max()
    assert error < 5, "a Monday is no Sunday"
    assert "48" in answer.said and "336" in answer.said


def monday(frame: pd.DataFrame) -> pd.DataFrame:
    made: pd.DataFrame = Forecaster(Linear(), horizon=48).fit(frame).predict()
    return made
