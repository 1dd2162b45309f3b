"""Where time stands in a frame: whole numbers, several columns, several series."""

import numpy as np
import pandas as pd
import pytest

from tsformer import SeasonalNaive
from tsformer.errors import MissingColumn, WrongTime
from tsformer.panels import Schema
from tsformer.reading import extended, future_frame, read_panel

DAYS = pd.date_range("2023-01-02", periods=28)
HOURS = pd.date_range("2023-01-12", periods=24 * 5, freq="h")
MONTHS = pd.date_range("2018-01-01", periods=30, freq="MS")
WEEKS = pd.date_range("2019-01-07", periods=60, freq="W-MON")
QUARTERS = pd.date_range("2010-01-01", periods=20, freq="QS")


def numbers(stamps, form):
    return [int(one.strftime(form)) for one in stamps]


SPELT = {
    "days": ({"Date": numbers(DAYS, "%Y%m%d")}, DAYS, "D"),
    "days under another name": ({"x": numbers(DAYS, "%Y%m%d")}, DAYS, "D"),
    "days as text": ({"Date": [f"{day:%Y%m%d}" for day in DAYS]}, DAYS, "D"),
    "months": ({"period": numbers(MONTHS, "%Y%m")}, MONTHS, "MS"),
    "months as text": ({"period": [f"{day:%Y%m}" for day in MONTHS]}, MONTHS, "MS"),
    "hours": ({"von": numbers(HOURS, "%Y%m%d%H")}, HOURS, "h"),
    "seconds": ({"Zeit": [int(one.timestamp()) for one in HOURS]}, HOURS, "h"),
    "milliseconds": ({"ts": [int(one.timestamp()) * 1000 for one in HOURS]}, HOURS, "h"),
    "Excel": ({"Datum": [44928 + day for day in range(28)]}, DAYS, "D"),
    "date, time": (
        {"date": [f"{one:%d.%m.%Y}" for one in HOURS], "time": [f"{one:%H:%M}" for one in HOURS]},
        HOURS,
        "h",
    ),
    "date, hour": ({"date": HOURS.normalize(), "hour": HOURS.hour}, HOURS, "h"),
    "hour, whole date": ({"hour": HOURS.hour, "day": numbers(HOURS, "%Y%m%d")}, HOURS, "h"),
    "hours from 1": (
        {"date": HOURS.strftime("%Y-%m-%d"), "hour": HOURS.hour + 1},
        HOURS + pd.Timedelta(hours=1),
        "h",
    ),
    "year, month": ({"year": MONTHS.year, "month": MONTHS.month}, MONTHS, "MS"),
    "month name, year": ({"Month": MONTHS.strftime("%b"), "Year": MONTHS.year}, MONTHS, "MS"),
    "year, month, day": (
        {"year": DAYS.year, "month": DAYS.month, "day": DAYS.day}, DAYS, "D",
    ),
    "year, quarter": ({"year": QUARTERS.year, "quarter": QUARTERS.quarter}, QUARTERS, "QS-JAN"),
    "year, week": (
        {"year": WEEKS.isocalendar().year.array, "week": WEEKS.isocalendar().week.array},
        WEEKS,
        "W-MON",
    ),
}  # fmt: skip


def framed(columns):
    frame = pd.DataFrame(columns).reset_index(drop=True)
    return frame.assign(sales=np.arange(len(frame)) % 7 + 1.0)


@pytest.mark.parametrize("columns", SPELT)
@pytest.mark.parametrize("newest", [False, True])
def test_stamps_of_one_series(columns, newest):
    given, stamps, freq = SPELT[columns]
    frame = framed(given)
    panel = read_panel(frame[::-1] if newest else frame)
    assert panel.index.stamps.tolist() == stamps.tolist()
    assert (panel.target.names, panel.schema.freq) == (("sales",), freq)


@pytest.mark.parametrize("columns", SPELT)
def test_stamps_of_several_series(columns):
    given, stamps, _ = SPELT[columns]
    shops = [framed(given).assign(shop=shop) for shop in ("b", "a", "c")]
    panel = read_panel(pd.concat(shops, ignore_index=True))
    assert panel.index.ids.tolist() == ["a", "b", "c"]
    assert panel.index.stamps.tolist() == stamps.tolist() * 3
    assert panel.target.names == ("sales",)


@pytest.mark.parametrize("columns", SPELT)
def test_forecasts_and_later_rows(columns):
    given, stamps, _ = SPELT[columns]
    frame = framed(given)
    frame["plan"] = 2.0
    schema = Schema(target="sales", known="plan")
    naive = SeasonalNaive(horizon=3, schema=schema, season_length=7).fit(frame[:-3])
    panel = read_panel(frame[:-3], schema)
    ahead = future_frame(panel, 3).assign(plan=1.0)
    made = naive.predict(future=ahead)
    assert made.iloc[:, 0].tolist() == stamps[-3:].tolist()
    assert made["sales"].tolist() == frame["sales"].iloc[-10:-7].tolist()
    assert extended(panel, 3, frame[-3:]).index.stamps[-3:].tolist() == stamps[-3:].tolist()
    later = naive.predict(frame[5:-3], future=ahead)
    assert later["sales"].tolist() == made["sales"].tolist()


def test_years_are_time_and_stay_whole_numbers(caplog):
    frame = pd.DataFrame({"Year": range(1950, 1970), "y": np.arange(20.0)})
    with caplog.at_level("INFO", logger="tsformer"):
        panel = read_panel(frame)
    assert panel.target.names == ("y",)
    assert panel.index.future_stamps(2).tolist() == [1970, 1971]
    assert "time column 'Year': years, which stay whole numbers" in caplog.text
    lands = pd.concat([frame.assign(land=land) for land in ("x", "z")])
    panel = read_panel(lands)
    assert (panel.schema.series, panel.schema.time) == ("land", "Year")
    assert panel.index.lengths.tolist() == [20, 20]


def test_what_was_read_is_said(caplog):
    with caplog.at_level("INFO", logger="tsformer"):
        read_panel(framed(SPELT["days"][0]))
        read_panel(framed(SPELT["year, month"][0]))
        read_panel(framed(SPELT["Excel"][0]))
        read_panel(framed(SPELT["seconds"][0]))
    kind = "converted to datetime64[us]"
    assert f"time column 'Date': whole numbers as '%Y%m%d' {kind}" in caplog.text
    assert "time column 'year': combined with 'month' to datetime64[us]" in caplog.text
    assert f"time column 'Datum': days as Excel counts them {kind}" in caplog.text
    assert f"time column 'Zeit': seconds since 1970 (UTC) {kind}" in caplog.text


def test_a_whole_step_keeps_whole_numbers():
    frame = pd.DataFrame({"Date": [44928 + day for day in range(9)], "y": 1.0})
    panel = read_panel(frame, Schema(time="Date", freq=1))
    assert panel.index.stamps[0] == 44928


def test_time_in_the_index():
    frame = framed(SPELT["days"][0]).set_index("Date")
    assert read_panel(frame).index.stamps.tolist() == DAYS.tolist()
    frame = framed(SPELT["date, hour"][0]).set_index("date")
    assert read_panel(frame).index.stamps.tolist() == HOURS.tolist()
    made = SeasonalNaive(horizon=2, season_length=7).fit(frame).predict(frame[24:])
    assert made.index.tolist() == [HOURS[-1] + pd.Timedelta(hours=hour) for hour in (1, 2)]


def test_a_covariate_of_the_hour_is_no_time_of_day():
    frame = pd.DataFrame({"date": DAYS, "hour": np.arange(28) % 24, "y": 1.0})
    assert read_panel(frame).index.stamps.tolist() == DAYS.tolist()
    frame = framed(SPELT["date, hour"][0])
    with pytest.raises(MissingColumn, match="of which 'hour' is missing here"):
        read_panel(frame[["sales"]], like=read_panel(frame))


def test_a_part_that_is_missing_later_is_named():
    frame = framed(SPELT["year, month"][0])
    with pytest.raises(MissingColumn, match="'month' is missing here"):
        read_panel(frame.drop(columns="month"), like=read_panel(frame))


def test_two_columns_that_could_be_the_time_are_asked_about():
    frame = framed({"made": numbers(DAYS, "%Y%m%d"), "sold": numbers(DAYS, "%Y%m%d")})
    with pytest.raises(WrongTime, match=r"'made', 'sold'.*Schema\(time=\"made\"\)"):
        read_panel(frame)


def test_the_format_of_fit_is_read_later():
    first = pd.DataFrame({"day": [f"{one:%d/%m/%Y}" for one in DAYS], "y": np.arange(28.0)})
    panel = read_panel(first)
    later = pd.DataFrame({"day": ["01/02/2023", "02/02/2023"], "y": 1.0})
    assert read_panel(later, like=panel).index.stamps[0] == pd.Timestamp("2023-02-01")
    iso = later.assign(day=["2023-02-03", "2023-02-04"])
    assert read_panel(iso, like=panel).index.stamps[0] == pd.Timestamp("2023-02-03")
