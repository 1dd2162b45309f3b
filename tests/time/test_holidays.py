import datetime

import numpy as np
import pandas as pd
import pytest
from pandas.tseries.holiday import AbstractHolidayCalendar, Holiday, USFederalHolidayCalendar

from tsformer.errors import ParameterError
from tsformer.panels import Schema
from tsformer.reading import extended, read_panel
from tsformer.time import calendar_features
from tsformer.time.freq import as_freq
from tsformer.time.holidays import holiday_share, read_holidays

CHRISTMAS = ("2024-12-25", "2024-12-26")


def framed(stamps):
    return pd.DataFrame({"y": np.arange(len(stamps), dtype=float)}, index=stamps)


def days_off(stamps, freq, holidays=CHRISTMAS, **options):
    return holiday_share(pd.DatetimeIndex(stamps), as_freq(freq), holidays, **options).tolist()


@pytest.mark.parametrize(
    "given",
    [
        ["2024-12-26", "2024-12-25", "2024-12-25"],
        ("2024-12-25 00:00", "2024-12-26T00:00:00"),
        {"2024-12-25": "Christmas", "2024-12-26": "Boxing Day"},
        {datetime.date(2024, 12, 26), datetime.date(2024, 12, 25)},
        [datetime.datetime(2024, 12, 25), pd.Timestamp("2024-12-26")],
        [np.datetime64("2024-12-25"), pd.Period("2024-12-26", "D")],
        pd.DatetimeIndex(CHRISTMAS),
        pd.Series(CHRISTMAS),
    ],
)
def test_dates_in_any_form(given):
    stamps = pd.date_range("2024-12-20", periods=10)
    panel = read_panel(framed(stamps), Schema(holidays=given))
    assert panel.schema.holidays == CHRISTMAS
    assert panel.calendar_names[-1] == "holiday"
    assert panel.calendar[:, -1].tolist() == [0, 0, 0, 0, 0, 1, 1, 0, 0, 0]
    assert extended(panel, 2).calendar.shape == (12, panel.calendar.shape[1])
    again = read_panel(framed(stamps), panel.schema)
    assert again.schema.holidays == CHRISTMAS
    assert read_panel(framed(stamps[:2]), like=panel).schema.holidays == CHRISTMAS


def test_days_off_beyond_the_data_are_seen_by_the_forecast():
    panel = read_panel(framed(pd.date_range("2024-12-20", periods=4)), Schema(holidays=CHRISTMAS))
    assert extended(panel, 3).calendar[:, -1].tolist() == [0, 0, 0, 0, 0, 1, 1]


def test_none_add_no_column():
    stamps = pd.date_range("2024-12-20", periods=4)
    names = calendar_features(stamps, as_freq("D"))[0]
    for none in ((), [], None):
        panel = read_panel(framed(stamps), Schema(holidays=none))
        assert panel.calendar_names == names
        assert panel.schema.holidays == ()


def test_a_calendar_is_written_out_past_the_data():
    stamps = pd.date_range("2023-06-01", periods=300)
    panel = read_panel(framed(stamps), Schema(holidays=USFederalHolidayCalendar()))
    found = panel.schema.holidays
    assert found[0] == "2023-01-02"
    assert found[-1] == "2034-12-25"
    assert isinstance(found, tuple)
    off = panel.index.stamps[panel.calendar[:, -1] == 1]
    expected = USFederalHolidayCalendar().holidays(stamps[0], stamps[-1])
    assert [*off.strftime("%F")] == [*expected.strftime("%F")]


def test_countries_are_written_out_past_the_data_as_far_as_it_spans():
    found = read_holidays("US", pd.DatetimeIndex(["2000-05-01", "2020-05-01"]))
    assert (found[0], found[-1]) == ("2000-01-01", "2040-12-25")
    stamps = pd.date_range("2023-12-20", periods=30)
    panel = read_panel(framed(stamps), Schema(holidays="DE"))
    off = panel.index.stamps[panel.calendar[:, -1] == 1]
    assert [*off.strftime("%F")] == ["2023-12-25", "2023-12-26", "2024-01-01"]
    ahead = extended(panel, 366).calendar[30:, -1]
    assert ahead.sum() == 8 + 1  # Good Friday to Christmas, and New Year
    assert panel.schema.holidays[-1] == "2034-12-26"


def test_several_countries_and_dates_together():
    days = pd.date_range("2024-12-20", periods=4)
    both = read_holidays(["FR", "2024-12-24", " US-CA "], days)
    assert {"2024-07-14", "2024-07-04", "2024-12-24"} <= set(both)
    assert both == tuple(sorted(set(both)))


def test_a_calendar_of_ones_own():
    class Fair(AbstractHolidayCalendar):
        rules = [Holiday("fair", month=5, day=1)]  # noqa: RUF012

    found = read_holidays(Fair(), pd.DatetimeIndex(["2024-02-01"]))
    assert found == tuple(f"{year}-05-01" for year in range(2024, 2035))


def test_hours_take_the_day_on_the_wall():
    utc = pd.date_range("2024-12-24 22:00", periods=4, freq="h", tz="UTC")
    assert days_off(utc, "h") == [0, 0, 1, 1]
    assert days_off(utc.tz_convert("Europe/Berlin"), "h") == [0, 1, 1, 1]
    panel = read_panel(framed(utc.tz_convert("Europe/Berlin")), Schema(holidays=CHRISTMAS))
    assert panel.calendar[:, -1].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("freq", "stamps", "expected"),
    [
        ("B", ["2024-12-24", "2024-12-25"], [0, 1]),
        ("C", ["2024-12-24", "2024-12-26"], [0, 1]),
        ("2D", ["2024-12-24", "2024-12-26", "2024-12-28"], [0.5, 0.5, 0]),
        ("W-SUN", ["2024-12-22", "2024-12-29"], [0, 2 / 7]),  # the week up to the stamp
        ("W-WED", ["2024-12-25", "2025-01-01"], [1 / 7, 1 / 7]),
        ("MS", ["2024-11-01", "2024-12-01"], [0, 2 / 31]),
        ("ME", ["2024-11-30", "2024-12-31"], [0, 2 / 31]),
        ("QE-DEC", ["2024-12-31"], [2 / 92]),
        ("QS-OCT", ["2024-10-01"], [2 / 92]),
        ("YS", ["2024-01-01"], [2 / 366]),
        ("YE", ["2024-12-31"], [2 / 366]),
        ("48h", ["2024-12-24 00:00", "2024-12-26 00:00"], [0.5, 0.5]),
    ],
)
def test_longer_steps_take_the_share_of_their_period(freq, stamps, expected):
    np.testing.assert_allclose(days_off(stamps, freq), expected)


def test_periods_begin_with_their_stamp():
    weeks = pd.period_range("2024-12-16", periods=3, freq="W-SUN")
    panel = read_panel(framed(weeks), Schema(holidays=CHRISTMAS))
    np.testing.assert_allclose(panel.calendar[:, -1], [0, 2 / 7, 0], atol=1e-7)
    months = read_panel(
        framed(pd.period_range("2024-11", periods=3, freq="M")), Schema(holidays=CHRISTMAS)
    )
    np.testing.assert_allclose(months.calendar[:, -1], [0, 2 / 31, 0], atol=1e-7)


@pytest.mark.parametrize("year", ["1600", "3000"])
def test_far_years(year):
    stamps = pd.date_range(f"{year}-12-24", periods=3, unit="s")
    panel = read_panel(framed(stamps), Schema(holidays=[f"{year}-12-25"]))
    assert panel.calendar[:, -1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("2024-12-25", r"list of dates, such as \['2024-12-25'\]"),
        (USFederalHolidayCalendar, r"such as USFederalHolidayCalendar\(\)"),
        (20241225, "give a list of dates"),
        ([20241225], "20241225 of type int is no date"),
        (["25.12.2024"], "'25.12.2024' of type str is no date"),
        (["2024-02-30"], "'2024-02-30' is no date"),
        (["2024-12"], "'2024-12' of type str is no date"),
        ([pd.NaT], "is no date"),
        (["2024-12-25", None], "None of type NoneType"),
        ([pd.Timestamp("2024-12-25 10:00")], "a moment, not a day"),
        ([pd.Timestamp("2024-12-25", tz="UTC")], "a moment, not a day"),
        ({}, "mapping of type dict holds no date"),
    ],
)
def test_no_holidays(given, found):
    stamps = pd.date_range("2024-12-20", periods=4)
    with pytest.raises(ParameterError, match=rf"^holidays.*{found}"):
        read_panel(framed(stamps), Schema(holidays=given))


def test_whole_numbers_have_no_holidays():
    for given in (CHRISTMAS, "DE"):
        with pytest.raises(ParameterError, match="need dates"):
            read_panel(np.arange(5.0), Schema(holidays=given))
