"""Steps of whole months on one day of the month."""

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import WrongFrequency
from tsformer.panels import Policy, Schema
from tsformer.reading import read_panel
from tsformer.time.freq import advance, as_freq, name_of, ticks
from tsformer.time.season import season_length


def dates(day, months=1, count=40, unit="us", zone=None):
    first = pd.period_range("2019-01", periods=count * months, freq="M")[::months]
    stamps = [pd.Timestamp(one.year, one.month, min(day, one.days_in_month)) for one in first]
    return pd.DatetimeIndex(stamps).as_unit(unit).tz_localize(zone)


@pytest.mark.parametrize("day", [2, 15, 28, 29, 30])
@pytest.mark.parametrize(("months", "season"), [(1, 12), (2, 6), (3, 4), (6, 2), (12, 1)])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_the_same_day_of_months(day, months, season, zone):
    stamps = dates(day, months, zone=zone)
    panel = read_panel(pd.DataFrame({"y": np.arange(30.0)}, index=stamps[:30]))
    assert panel.schema.freq == f"{months if months > 1 else ''}M-{day}"
    assert panel.index.future_stamps(10).equals(stamps[30:])
    assert season_length(panel.index.freq) == season
    assert np.isfinite(panel.calendar).all()


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_gaps_and_units(unit):
    stamps = dates(30, unit=unit)
    frame = pd.DataFrame({"y": np.arange(40.0)}, index=stamps).drop(stamps[[5, 13]])
    panel = read_panel(frame, policy=Policy(gaps="mask", missing="mask"))
    assert panel.index.stamps.equals(stamps)
    with pytest.raises(WrongFrequency, match=r"2019-05-30.*'M-30' expects 2019-06-30"):
        read_panel(frame)


def test_spellings():
    assert name_of(as_freq("M-15")) == "M-15"
    assert name_of(as_freq(pd.DateOffset(years=1, day=30))) == "12M-30"
    for wrong in ("M-0", "M-32", "0M-3"):
        with pytest.raises(WrongFrequency):
            as_freq(wrong)
    asked = pd.DataFrame({"y": 1.0}, index=dates(15))
    assert read_panel(asked, Schema(freq="M-15")).schema.freq == "M-15"
    with pytest.raises(WrongFrequency):
        read_panel(asked, Schema(freq="M-14"))


def test_ends_of_months_keep_their_name():
    assert read_panel(pd.DataFrame({"y": 1.0}, index=dates(31))).schema.freq == "ME"
    assert read_panel(pd.DataFrame({"y": 1.0}, index=dates(1))).schema.freq == "MS"


def test_steps_by_hand():
    last = pd.DatetimeIndex(["2024-02-29 10:00"])
    made = advance(last.repeat(3), np.array([-1, 0, 1]), as_freq("M-30"))
    assert made.tolist() == [
        pd.Timestamp("2024-01-30 10:00"), last[0], pd.Timestamp("2024-03-30 10:00"),
    ]  # fmt: skip
    with pytest.raises(WrongFrequency, match="not on the frequency 'M-15'"):
        advance(last, np.array([1]), as_freq("M-15"))
    count, off = ticks(last.append(last + pd.Timedelta(days=3)), np.array([0, 2]), as_freq("M-30"))
    assert (count.tolist(), off.tolist()) == ([0, 1], [False, True])
