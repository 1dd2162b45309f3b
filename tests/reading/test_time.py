"""Forecasts continue the stamps of the data exactly: every frequency, zone, unit and spelling."""

import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, Schema, SeasonalNaive, Training
from tsformer.models import Linear
from tsformer.reading import extended, future_frame, read_panel

ROWS, HORIZON = 36, 7

# spellings in pandas' new and old fashion, and the first stamps after the data by hand
SPELLINGS = {
    "min": ["min", "T", "1min"],
    "15min": ["15min", "15T"],
    "h": ["h", "H", "60min"],
    "D": ["D", "d", "1D"],
    "2D": ["2D", "2d"],
    "B": ["B"],
    "W-SUN": ["W", "W-SUN", "w", "W-sun"],
    "W-FRI": ["W-FRI"],
    "MS": ["MS"],
    "ME": ["ME", "M"],
    "QS-JAN": ["QS", "QS-JAN", "QS-OCT"],
    "QE-DEC": ["QE", "Q", "Q-DEC", "QE-MAR"],
    "YS-JAN": ["YS", "AS", "YS-JAN"],
    "YE-DEC": ["YE", "Y", "A", "A-DEC"],
}
BY_HAND = {
    "min": ("2023-02-28 23:58", ["2023-02-28 23:59", "2023-03-01 00:00"]),
    "15min": ("2023-12-31 23:30", ["2023-12-31 23:45", "2024-01-01 00:00"]),
    "h": ("2024-02-28 22:00", ["2024-02-28 23:00", "2024-02-29 00:00"]),
    "D": ("2024-02-28", ["2024-02-29", "2024-03-01"]),
    "2D": ("2023-02-27", ["2023-03-01", "2023-03-03"]),
    "B": ("2024-02-29", ["2024-03-01", "2024-03-04"]),
    "W-SUN": ("2024-02-25", ["2024-03-03", "2024-03-10"]),
    "W-FRI": ("2024-02-23", ["2024-03-01", "2024-03-08"]),
    "MS": ("2023-12-01", ["2024-01-01", "2024-02-01"]),
    "ME": ("2024-01-31", ["2024-02-29", "2024-03-31"]),
    "QS-JAN": ("2023-10-01", ["2024-01-01", "2024-04-01"]),
    "QE-DEC": ("2023-09-30", ["2023-12-31", "2024-03-31"]),
    "YS-JAN": ("2023-01-01", ["2024-01-01", "2025-01-01"]),
    "YE-DEC": ("2023-12-31", ["2024-12-31", "2025-12-31"]),
}
ASKED = [(freq, one) for freq, all_ in SPELLINGS.items() for one in (None, *all_)]


def framed(stamps):
    return pd.DataFrame({"y": np.sin(np.arange(len(stamps)))}, index=stamps)


def forecast(data, *, horizon=HORIZON, freq=None):
    return SeasonalNaive(horizon=horizon, schema=Schema(freq=freq)).fit(data).predict()


def exactly(found, expected):
    """Same stamps, unit and zone."""
    expected = pd.DatetimeIndex(expected)
    assert found.dtype == expected.dtype
    assert found.equals(expected)


@pytest.mark.parametrize(("freq", "asked"), ASKED)
def test_every_frequency_inferred_and_given(freq, asked):
    full = pd.date_range("2021-11-05 10:00", periods=ROWS + HORIZON, freq=freq)
    exactly(forecast(framed(full[:ROWS]), freq=asked).index, full[ROWS:])


@pytest.mark.parametrize("freq", BY_HAND)
def test_the_next_stamps_by_hand(freq):
    last, following = BY_HAND[freq]
    history = pd.date_range(end=last, periods=ROWS, freq=freq)
    exactly(forecast(framed(history), horizon=2).index, following)


@pytest.mark.parametrize("freq", ["15min", "h", "D", "B", "W-FRI", "MS", "ME", "QE", "YE", "2D"])
def test_a_trained_model(freq):
    full = pd.date_range("2021-11-05", periods=ROWS + HORIZON, freq=freq)
    model = Forecaster(
        Linear(), horizon=HORIZON, context=8, training=Training(epochs=1, validation=None)
    )
    exactly(model.fit(framed(full[:ROWS])).predict().index, full[ROWS:])


@pytest.mark.parametrize("step", [1, 10])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("start", [0, -20, 5])
def test_whole_numbers(step, given, start):
    full = start + step * np.arange(ROWS + HORIZON)
    expected = full[ROWS:].tolist()
    data = framed(pd.Index(full[:ROWS], name="step"))
    freq = step if given else None
    made = forecast(data, freq=freq)
    assert made.index.tolist() == expected
    assert (made.index.dtype, made.index.name) == (np.int64, "step")
    assert forecast(data.reset_index(), freq=freq)["step"].tolist() == expected


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("month", ["2023-03", "2023-10", "2023-11"])
@pytest.mark.parametrize("freq", ["h", "15min", "D", "B", "W-SUN"])
@pytest.mark.parametrize("given", [True, False])
def test_zones_over_both_clock_changes(zone, month, freq, given):
    periods = {"h": 24 * 40, "15min": 96 * 40, "D": 40, "B": 40, "W-SUN": 20}[freq]
    full = pd.date_range(f"{month}-01", periods=periods, freq=freq, tz=zone)
    # cuts before, in and after the night in which clocks change
    offsets = np.array([one.utcoffset().total_seconds() for one in full])
    nights = [int(night) for night in np.flatnonzero(np.diff(offsets))[:1]]
    cuts = {periods // 2, periods - HORIZON, *(night + on for night in nights for on in (-1, 1, 2))}
    for cut in sorted(cuts):
        if 5 <= cut <= periods - HORIZON:
            made = forecast(framed(full[:cut]), freq=freq if given else None)
            exactly(made.index, full[cut : cut + HORIZON])


def test_the_hours_of_a_clock_change_by_hand():
    spring = pd.date_range("2023-03-25 12:00", "2023-03-26 01:00", freq="h", tz="Europe/Berlin")
    hours = forecast(framed(spring), horizon=3).index
    assert [one.isoformat() for one in hours] == [
        "2023-03-26T03:00:00+02:00", "2023-03-26T04:00:00+02:00", "2023-03-26T05:00:00+02:00",
    ]  # fmt: skip
    autumn = pd.date_range("2023-11-04 12:00", "2023-11-05 00:00", freq="h", tz="America/New_York")
    hours = forecast(framed(autumn), horizon=3).index
    assert [one.isoformat() for one in hours] == [
        "2023-11-05T01:00:00-04:00", "2023-11-05T01:00:00-05:00", "2023-11-05T02:00:00-05:00",
    ]  # fmt: skip
    days = pd.date_range("2023-03-15", "2023-03-25", freq="D", tz="Europe/Berlin")
    assert [one.isoformat() for one in forecast(framed(days), horizon=2).index] == [
        "2023-03-26T00:00:00+01:00", "2023-03-27T00:00:00+02:00",
    ]  # fmt: skip


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("freq", ["min", "h", "D", "B", "W-SUN", "ME", "QS", "YE"])
def test_units_stay(unit, zone, freq):
    full = pd.date_range("2021-11-05", periods=ROWS + HORIZON, freq=freq, tz=zone).as_unit(unit)
    exactly(forecast(framed(full[:ROWS])).index, full[ROWS:])
    column = forecast(framed(full[:ROWS]).rename_axis("when").reset_index(), freq=freq)
    exactly(pd.DatetimeIndex(column["when"]), full[ROWS:])


@pytest.mark.parametrize(
    "freq", ["min", "15min", "h", "D", "W-SUN", "W-FRI", "M", "2M", "Q", "Q-FEB", "Y", "Y-JUN"]
)
def test_periods(freq):
    full = pd.period_range("2021-11-05", periods=ROWS + HORIZON, freq=freq)
    for asked in (None, freq):
        made = forecast(framed(full[:ROWS]), freq=asked)
        assert made.index.equals(full[ROWS:])
        assert made.index.dtype == full.dtype
    column = forecast(framed(full[:ROWS]).rename_axis("when").reset_index())
    assert pd.PeriodIndex(column["when"]).equals(full[ROWS:])


@pytest.mark.parametrize(("year", "unit"), [(1600, "s"), (2262, "us"), (3000, "ms")])
@pytest.mark.parametrize(
    "freq", ["min", "h", "D", "B", "W-FRI", "MS", "ME", "QS", "QE", "YS", "YE", "2D"]
)
@pytest.mark.parametrize("given", [True, False])
def test_years_beyond_nanoseconds(year, unit, freq, given):
    full = pd.date_range(f"{year}-01-15", periods=ROWS + HORIZON, freq=freq, unit=unit)
    exactly(forecast(framed(full[:ROWS]), freq=freq if given else None).index, full[ROWS:])
    panel = read_panel(framed(full[:ROWS]), Schema(freq=freq if given else None))
    assert np.isfinite(panel.calendar).all()
    exactly(panel.pad(3).index.stamps[3:], full[:ROWS])


@pytest.mark.parametrize("year", ["1600", "3000"])
def test_future_frames_of_far_years(year):
    full = pd.date_range(f"{year}-01-01", periods=12, freq="MS", unit="s")
    data = framed(full[:10]).assign(price=np.arange(10.0))
    panel = read_panel(data, Schema(target="y", known="price"))
    future = future_frame(panel, 2).assign(price=[7.0, 8.0])
    exactly(future.index, full[10:])
    assert extended(panel, 2, future).known.values[-2:, 0].tolist() == [7, 8]
    later = future.set_axis(future.index.as_unit("us"))
    assert extended(panel, 2, later).known.values[-2:, 0].tolist() == [7, 8]


def test_many_series_that_end_apart():
    full = pd.date_range("2024-01-31", periods=30, freq="ME")
    parts = [
        framed(full[begin:end]).rename_axis("ds").reset_index().assign(unique_id=name)
        for name, begin, end in (("a", 0, 12), ("b", 5, 20), ("c", 3, 4))
    ]
    made = forecast(pd.concat(parts), horizon=2)
    ends = {name: own["ds"].tolist() for name, own in made.groupby("unique_id")}
    assert ends == {
        name: list(full[end : end + 2]) for name, end in (("a", 12), ("b", 20), ("c", 4))
    }
