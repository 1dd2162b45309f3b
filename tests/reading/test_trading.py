import pickle

import numpy as np
import pandas as pd
import pytest
from pandas.tseries.holiday import USFederalHolidayCalendar

from tsformer.errors import WrongFrequency
from tsformer.panels import Policy, Schema
from tsformer.reading import extended, read_panel
from tsformer.time.freq import advance, as_freq, label_of, name_of
from tsformer.time.season import season_length

OFF = ["2024-12-25", "2024-12-26", "2025-01-01"]
TRADING = pd.offsets.CustomBusinessDay(holidays=OFF)
EGYPT = pd.offsets.CustomBusinessDay(weekmask="Sun Mon Tue Wed Thu", holidays=OFF)


def framed(index):
    return pd.DataFrame({"y": np.arange(len(index), dtype=float)}, index=index)


@pytest.mark.parametrize(
    ("freq", "name"),
    [
        (TRADING, "C:Mon Tue Wed Thu Fri:2024-12-25,2024-12-26,2025-01-01"),
        (3 * EGYPT, "3C:Mon Tue Wed Thu Sun:2024-12-25,2024-12-26,2025-01-01"),
        (pd.offsets.CustomBusinessDay(), "C:Mon Tue Wed Thu Fri:"),
        (
            pd.offsets.CustomBusinessMonthEnd(holidays=["2024-12-31"]),
            "CBME:Mon Tue Wed Thu Fri:2024-12-31",
        ),
    ],
)
def test_the_name_says_everything(freq, name):
    read = as_freq(freq)
    assert name_of(read) == name
    assert as_freq(name) == read
    assert name_of(as_freq(name)) == name
    full = pd.date_range("2024-11-01", periods=60, freq=freq)
    assert full.equals(pd.date_range("2024-11-01", periods=60, freq=as_freq(name)))
    assert ":" not in str(label_of(read))


def test_one_spelling_whatever_was_given():
    other = pd.offsets.CustomBusinessDay(
        weekmask="1111100", holidays=[*reversed(OFF), "2024-12-28"]
    )  # a Saturday is off anyway
    assert name_of(as_freq(other)) == name_of(as_freq(TRADING))
    assert as_freq(other) == as_freq(TRADING)
    assert name_of(as_freq("C")) == "C:Mon Tue Wed Thu Fri:"


@pytest.mark.parametrize("freq", [TRADING, EGYPT, 2 * TRADING])
@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_forecasts_skip_the_days_off(freq, zone):
    full = pd.date_range("2024-10-21", periods=60, freq=freq, tz=zone)
    for cut in (40, 44, 50):
        panel = read_panel(framed(full[:cut]), Schema(freq=freq))
        assert extended(panel, 10).index.stamps.equals(pd.DatetimeIndex(full[: cut + 10]))
        padded = read_panel(framed(full[5:cut]), Schema(freq=freq)).pad(5)
        assert padded.index.stamps.equals(pd.DatetimeIndex(full[:cut]))


def test_the_stored_schema_is_enough():
    full = pd.date_range("2024-12-02", periods=25, freq=TRADING)
    panel = read_panel(framed(full[:15]), Schema(freq=TRADING))
    assert repr(panel).startswith("Panel(1 series, 15 rows, freq='C', ")
    again = read_panel(framed(full[:15]), panel.schema)
    assert again.index.future_stamps(10).equals(pd.DatetimeIndex(full[15:]))
    assert pickle.loads(pickle.dumps(panel)).index.freq == panel.index.freq
    assert season_length(panel.index.freq) == 5


def test_gaps_and_days_off_the_beat():
    full = pd.date_range("2024-12-02", periods=25, freq=TRADING)
    schema = Schema(freq=TRADING)
    with pytest.raises(WrongFrequency, match=r"after 2024-12-24.* 'C' expects 2024-12-27"):
        read_panel(framed(full.delete(17)), schema)
    panel = read_panel(framed(full.delete(17)), schema, Policy(gaps="mask"))
    assert np.flatnonzero(np.isnan(panel.target.values[:, 0])).tolist() == [17]
    with pytest.raises(WrongFrequency, match=r"2024-12-25.* is not a step of 'C'"):
        read_panel(framed(full.insert(17, pd.Timestamp("2024-12-25"))), schema)


def test_a_calendar_of_holidays():
    freq = pd.offsets.CustomBusinessDay(calendar=USFederalHolidayCalendar())
    full = pd.date_range("2024-06-03", periods=30, freq=freq)
    panel = read_panel(framed(full[:20]), Schema(freq=freq))
    assert panel.index.future_stamps(10).equals(pd.DatetimeIndex(full[20:]))
    assert as_freq(name_of(panel.index.freq)) == panel.index.freq


def test_missing_weekdays_are_told_of_trading_days():
    full = pd.bdate_range("2024-12-02", periods=40)
    missing = full[~full.isin(pd.DatetimeIndex([*OFF, "2025-01-20"]))]
    with pytest.raises(WrongFrequency, match="'B' expects 2024-12-25") as caught:
        read_panel(framed(missing))
    said = str(caught.value)
    line = (
        "Schema(freq=pd.offsets.CustomBusinessDay(holidays="
        "['2024-12-25', '2024-12-26', '2025-01-01', ...]))"
    )
    assert line in said
    assert 'schema=Schema(freq="irregular")' in said
    freq = pd.offsets.CustomBusinessDay(holidays=[*OFF, "2025-01-20"])
    assert read_panel(framed(missing), Schema(freq=freq)).n_rows == 36
    trading = Schema(freq=TRADING)
    with pytest.raises(WrongFrequency, match=r"add them to the holidays.*: \['2025-01-20'\]\. Or"):
        read_panel(framed(missing), trading)
    saturday = full.delete([3, 20]).insert(4, pd.Timestamp("2024-12-07"))
    with pytest.raises(WrongFrequency, match=r"'B' expects 2024-12-05.*holidays=\['2024-12-05', "):
        read_panel(framed(saturday), Schema(freq="B"))
    with pytest.raises(WrongFrequency, match=r"holidays=\['2024-12-25'\]\)\)"):
        read_panel(framed(full.drop("2024-12-25")))


@pytest.mark.parametrize(
    "freq",
    [
        pd.DateOffset(days=1),
        pd.offsets.BDay(offset=pd.Timedelta(hours=2)),
        pd.offsets.CustomBusinessDay(offset=pd.Timedelta(hours=2)),
        pd.offsets.MonthEnd(normalize=True),
    ],
)
def test_offsets_that_have_no_name(freq):
    with pytest.raises(WrongFrequency, match="cannot be written as text"):
        as_freq(freq)


@pytest.mark.parametrize("name", ["C:Mon:2024-13-01", "C:Foo:", "C:Mon Tue:soon", "C::2024-12-25"])
def test_no_trading_days(name):
    with pytest.raises(WrongFrequency):
        as_freq(name)


ALL = ["min", "15min", "h", "D", "2D", "B", "2B", "W-SUN", "W-FRI", "MS", "ME", "2ME", "QS", "QE",
       "QE-FEB", "YS", "YE", "BME", "BQS", "SME", "WOM-3FRI", "C", "36h", "1s", "5ms"]  # fmt: skip


@pytest.mark.parametrize("freq", ALL)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_there_and_back(freq, zone):
    full = pd.date_range(
        "2023-01-31 04:00" if zone else "2023-01-31", periods=40, freq=freq, tz=zone
    )
    counts = np.arange(-20, 20)
    moved = advance(full[[20]].repeat(40), counts, as_freq(freq))
    assert moved.equals(pd.DatetimeIndex(full))
