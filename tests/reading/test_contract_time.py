"""Rows 41 to 58: time."""

from typing import Any

import numpy as np
import pandas as pd
from contract_rows import (
    BAD,
    BEGIN,
    EXPECTED,
    HORIZON,
    LENGTH,
    MASK,
    at_the_doors,
    fit,
    fitted,
    forecaster,
    future,
    good,
    heard,
    one,
    panel,
    plain,
    predict,
    put,
    refused,
    right,
    schema,
    tells,
    wave,
)  # fmt: skip

from tsformer import Policy
from tsformer.errors import DuplicateTimestamp, WrongFrequency, WrongTime

LAST = 2 * LENGTH


def timed(days: Any, **columns: Any) -> pd.DataFrame:
    """The panel in which only series b has these stamps."""
    made = panel(**columns)
    when = made["when"].astype(object) if getattr(days, "tz", None) else made["when"].copy()
    when[BEGIN:LAST] = days
    return made.assign(when=when)


def ahead(after: Any, freq: Any) -> Any:
    """The stamps that follow, by pandas."""
    return pd.date_range(after, periods=HORIZON + 1, freq=freq)[1:]


def follows(days: Any, freq: Any, given: Any = None) -> None:
    """Check values and stamps of a panel and of one series with these stamps."""
    later = ahead(days[-1], freq)
    made = forecaster(schema=schema(freq=given)).fit(panel(days=days))
    forecast = made.predict(future=future(days=later))
    right(forecast)
    assert forecast["when"].tolist() == [*later] * 3
    assert forecast["when"].dtype == days.dtype
    alone = plain(schema=schema(series=None, past=(), known=(), static=(), freq=given))
    forecast = alone.fit(one(wave(LENGTH)).set_axis(days, axis=0)).predict()
    right(forecast, EXPECTED[:HORIZON])
    assert forecast.index.equals(later.as_unit(days.unit))


def test_41_unsorted() -> None:
    sorted_ = fitted().predict(future=future())
    for seed in range(3):
        mixed = panel().sample(frac=1, random_state=seed)
        made, lines = heard(fit(mixed))
        assert sum("rows sorted by time" in line for line in lines) == 1
        assert made.predict(future=future().sample(frac=1, random_state=seed)).equals(sorted_)
    swapped = panel().iloc[[*range(BAD), BAD + 1, BAD, *range(BAD + 2, 3 * LENGTH)]]
    said = "rows sorted by time: 1 came after a later one, the first is row 45"
    assert tells(fit(swapped), said).predict(future=future()).equals(sorted_)
    turned = pd.concat([panel()[BEGIN:], panel()[:BEGIN]])
    made, lines = heard(fit(turned))
    assert not [line for line in lines if "sorted" in line]
    assert made.predict(future=future()).equals(sorted_)


def test_42_duplicate_stamps() -> None:
    twice = put("when", panel()["when"][BAD + 1])
    for call in at_the_doors(twice):
        said = r"first of series 'b' at 2024-01-06 00:00:00 \(row 45\), 1 in all"
        refused(call, "more than once", said, "Keep one", kind=DuplicateTimestamp)


def test_43_equal_stamps_in_different_series() -> None:
    good(panel())


def test_44_gap() -> None:
    holed = panel().drop(index=[BAD + 1, BAD + 10])
    said = r"after 2024-01-05 00:00:00 comes 2024-01-07 00:00:00 in series 'b' \(row 45\)"
    for call in at_the_doors(holed):
        refused(call, said, "expects 2024-01-06.*2 such", 'gaps="mask"', kind=WrongFrequency)
    back = forecaster(policy=Policy(gaps="mask")).fit(holed).predict(future=future())
    empty = panel()
    empty.loc[[BAD + 1, BAD + 10], ["y", "temp", "price"]] = np.nan
    masked = forecaster(policy=MASK).fit(empty).predict(future=future())
    assert back.equals(masked)
    np.testing.assert_allclose(back["y"], EXPECTED, atol=0.5)


def test_45_mixed_frequencies() -> None:
    days = panel()["when"][:LENGTH]
    for tail, said in (
        (pd.date_range(days[19], periods=20, freq="2D"), r"comes .* in series 'b' \(row \d+\)"),
        (pd.date_range(days[19], periods=20, freq="h"), r"in series 'b' \(row \d+\) is not a step"),
    ):
        mixed = timed([*days[:20], *(tail + pd.Timedelta("1D"))])
        for call in at_the_doors(mixed):
            refused(call, said, r"\d+ such", "freq=", kind=WrongFrequency)
    slow = timed(pd.date_range(days[0], periods=LENGTH, freq="2D"))
    for call in at_the_doors(slow):
        refused(call, "different.*'b' goes by '2D'", "1 such", "resample", kind=WrongFrequency)


def test_46_another_frequency_than_said() -> None:
    for freq, said in (
        ("h", "series 'a' goes by 'D', not by 'h' .3 such"),
        ("MS", "2024-01-02 .* in series 'a' .row 1. is not a step of 'MS' .* such"),
        ("2D", "in series 'a' .row 1. is not a step of '2D'"),
        (1, "freq=1 does not go with time that is dates"),
    ):
        refused(fit(panel(), schema=schema(freq=freq)), said, kind=WrongFrequency)
    for unit, wrong, same in (("M", ["D", "h", "QS", "YE", 1], ["M", "ME", "MS"]),
                              ("D", ["MS", "h", "B"], ["D"])):  # fmt: skip
        periods = pd.period_range("2020-01", periods=LENGTH, freq=unit)
        frame = one(wave(LENGTH)).set_axis(periods, axis=0)
        bare = schema(series=None, past=(), known=(), static=())
        for freq in wrong:
            roles = schema(**{**bare.get_params(), "freq": freq})
            said = f"freq={freq!r} does not go with"
            refused(lambda r=roles, f=frame: plain(schema=r).fit(f), said, kind=WrongFrequency)
        for freq in same:
            roles = schema(**{**bare.get_params(), "freq": freq})
            assert plain(schema=roles).fit(frame).predict().index[0] == periods[-1] + 1


def test_47_no_stamp() -> None:
    for call in at_the_doors(put("when", pd.NaT, BAD, BAD + 6)):
        said = r"'when' has no stamp \(NaT\) in row 44 of series 'b' \(2 such rows\)"
        refused(call, said, "Drop", kind=WrongTime)
    text = panel().assign(when=panel()["when"].astype("str"))
    refused(fit(put("when", None, frame=text)), "'when' has no stamp.*row 44", kind=WrongTime)


def test_48_text_in_the_time_column() -> None:
    for kind in ("str", object, "string[pyarrow]", "category"):
        iso = panel().assign(when=panel()["when"].dt.strftime("%Y-%m-%d").astype(kind))
        said = "time column 'when': ISO 8601 text converted to datetime64[us]"
        made = tells(fit(iso), said).predict(future=future())
        assert made.equals(fitted().predict(future=future()))
    for style in ("%d/%m/%Y", "%b %d, %Y"):
        other = panel().assign(when=panel()["when"].dt.strftime(style))
        said = f"time column 'when': text as {style!r} converted to datetime64[us]"
        assert tells(fit(other), said).predict(future=future()).equals(made)
    stray = put("when", "5 Jan", frame=iso.astype({"when": object}))
    refused(fit(stray), "in 1 of 120 rows; .*'5 Jan' in row 44 of series 'b'", kind=WrongTime)


def test_49_zones() -> None:
    # the clocks change on 31 March and 27 October 2024
    for first in ("2024-02-20", "2024-09-17"):
        days = pd.date_range(first, periods=LENGTH, tz="Europe/Berlin")
        follows(days, "D")
    hours = pd.date_range("2024-10-25 13:00", periods=LENGTH, freq="h", tz="Europe/Berlin")
    follows(hours, "h")
    assert len({moment.utcoffset() for moment in ahead(hours[-1], "h").union(hours)}) == 2


def test_50_mixed_zones() -> None:
    days = pd.date_range("2024-01-01", periods=LENGTH, tz="Europe/Berlin")
    base = panel(days=days).astype({"when": object})
    for odd in (days[4].tz_localize(None), days[4].tz_convert("Asia/Tokyo")):
        mixed = put("when", odd, frame=base)
        for call in at_the_doors(mixed):
            said = "'when' mixes zones, .*row 0 of series 'a', .*row 44 of series 'b'"
            refused(call, said, "utc=True", kind=WrongTime)
    refused(predict(history=panel(days=days)), "zone Europe/Berlin here.*no zone", kind=WrongTime)


def test_51_repeated_hour_of_summer_time() -> None:
    hours = pd.date_range("2024-10-26 10:00", periods=LENGTH, freq="h")
    local = hours.tz_localize("UTC").tz_convert("Europe/Berlin").tz_localize(None)
    naive = panel(days=hours)
    naive.loc[BEGIN : LAST - 1, "when"] = local
    said = r"first of series 'b' at 2024-10-27 02:00:00 \(row \d+\), 1 in all"
    refused(fit(naive), said, "summer time ended.*tz_localize", kind=DuplicateTimestamp)


def test_52_years_beyond_nanoseconds() -> None:
    for year in (1600, 3000):
        follows(pd.date_range(f"{year}-02-01", periods=LENGTH, unit="us"), "D")


def test_53_units() -> None:
    for unit in ("s", "ms", "us", "ns"):
        follows(pd.date_range("2024-01-01", periods=LENGTH, unit=unit), "D")
        finer = future(days=pd.date_range("2024-02-10", periods=HORIZON, unit="ns"))
        days = pd.date_range("2024-01-01", periods=LENGTH, unit=unit)
        right(forecaster().fit(panel(days=days)).predict(future=finer))


def test_54_periods() -> None:
    said = "time column 'when': periods of 'D' converted to their first moments; forecasts are"
    daily = panel(days=pd.period_range("2024-01-01", periods=LENGTH, freq="D"))
    later = pd.period_range("2024-02-10", periods=HORIZON, freq="D")
    made = tells(fit(daily), f"{said} periods again").predict(future=future(days=later))
    right(made)
    assert made["when"].tolist() == [*later] * 3
    monthly = one(wave(LENGTH)).set_axis(pd.period_range("2020-11", periods=LENGTH, freq="M"))
    made = plain().fit(monthly).predict()
    right(made, EXPECTED[:HORIZON])
    assert made.index.equals(pd.period_range("2024-03", periods=HORIZON, freq="M"))


def test_55_whole_number_time() -> None:
    roles = schema(time="when")
    steps = np.arange(LENGTH) * 10
    later = future(days=400 + 10 * np.arange(HORIZON))
    made = forecaster(schema=roles).fit(panel(days=steps)).predict(future=later)
    right(made)
    assert made["when"].tolist() == [400, 410, 420] * 3
    uneven = put("when", 45, frame=panel(days=steps))
    said = r"45 after 30 in series 'b' \(row 44\) is not a step of 10 \(1 such"
    refused(fit(uneven, schema=roles), said, "Correct", kind=WrongFrequency)


def test_56_fractions_as_time() -> None:
    roles = schema(time="when")
    fractions = panel(days=np.arange(LENGTH) / 2)
    said = "'when' holds fractions .first: 0.0 in row 0 of series 'a'"
    refused(fit(fractions, schema=roles), said, "round", kind=WrongTime)
    refused(predict(history=fractions), said, kind=WrongTime)
    bare = one(wave(LENGTH)).set_axis(np.arange(LENGTH) / 2, axis=0)
    refused(lambda: plain().fit(bare), "the index holds fractions", kind=WrongTime)


def test_57_calendars() -> None:
    for first, freq in (
        ("2024-01-01", "B"), ("2021-01-31", "ME"), ("2020-12-01", "MS"), ("1985-12-31", "YE"),
        ("2015-03-31", "QE"), ("2023-06-04", "W-SUN"), ("2024-01-17", "D"), ("2021-01-01", "BMS"),
    ):  # fmt: skip
        follows(pd.date_range(first, periods=LENGTH, freq=freq), freq)
    holidays = pd.offsets.CustomBusinessDay(holidays=["2024-01-15", "2024-02-29"])
    follows(pd.date_range("2024-01-02", periods=LENGTH, freq=holidays), holidays, holidays)


def test_58_two_rows_of_no_frequency() -> None:
    each = panel().iloc[[0, 1, BEGIN, BEGIN + 1]]
    said = "cannot be inferred: the longest series has 2 rows"
    small = {"context": 1, "horizon": 1}
    refused(fit(each, **small), said, 'Schema.freq="D"', kind=WrongFrequency)
    ready = forecaster(schema=schema(freq="D", past=(), known=(), static=()), **small).fit(each)
    assert ready.predict()["when"].tolist() == [pd.Timestamp("2024-01-03")] * 2
