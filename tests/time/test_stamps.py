import datetime

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import WrongTime
from tsformer.panels import Schema
from tsformer.reading import read_panel
from tsformer.time.stamps import looks_like_dates, read_stamps


@pytest.mark.parametrize(
    "text",
    [
        ["1949-01", "1949-02", "1949-03"],
        ["2014-07-01", "2014-07-02", "2014-07-03"],
        ["2014-07-01 00:00:00", "2014-07-01 00:30:00", "2014-07-01 01:00:00"],
        ["2014-07-01T00:00", "2014-07-01T00:30", "2014-07-01T01:00"],
        ["2014-07-01T00:00:00Z", "2014-07-01T00:30:00Z", "2014-07-01T01:00:00Z"],
        ["2014-07-01 00:00:00+02:00", "2014-07-01 00:30:00+02:00", "2014-07-01 01:00:00+02:00"],
    ],
)
@pytest.mark.parametrize("kind", ["str", "object", "category", "string"])
def test_iso_text(text, kind):
    frame = pd.DataFrame({"when": pd.Series(text).astype(kind), "y": [1.0, 2.0, 3.0]})
    panel = read_panel(frame)
    assert isinstance(panel.index.stamps, pd.DatetimeIndex)
    assert panel.index.stamps[0] == pd.Timestamp(text[0])
    assert read_panel(frame.set_index("when")).index.stamps.equals(panel.index.stamps)


def test_offsets_that_change_meet_in_utc(caplog):
    text = ["2024-03-31T00:00:00+01:00", "2024-03-31T01:00:00+01:00", "2024-03-31T03:00:00+02:00"]
    with caplog.at_level("INFO", logger="tsformer"):
        panel = read_panel(pd.DataFrame({"when": text, "y": 1.0}))
    assert "'when': ISO 8601 text (offsets +01:00 and +02:00; answers in UTC)" in caplog.text
    assert str(panel.index.stamps.tz) == "UTC"
    assert panel.index.freq == pd.offsets.Hour()


@pytest.mark.parametrize(
    ("text", "spelt", "first"),
    [
        (["04/30/2021", "04/23/2021"], "%m/%d/%Y", "2021-04-30"),
        (["30/04/2021", "23/04/2021"], "%d/%m/%Y", "2021-04-30"),
        (["1/1/1981", "1/13/1981"], "%m/%d/%Y", "1981-01-01"),
        (["1.4.2021 10:30", "23.4.2021 11:30"], "%d.%m.%Y %H:%M", "2021-04-01 10:30"),
        (["2021/04/01", "2021/05/21"], "%Y/%m/%d", "2021-04-01"),
        (["04/05/21", "04/26/21"], "%m/%d/%y", "2021-04-05"),
        (["1/30/2021 9:05 PM", "1/31/2021 9:05 PM"], "%m/%d/%Y %I:%M %p", "2021-01-30 21:05"),
        (["20210430", "20210501"], "%Y%m%d", "2021-04-30"),
        (["30 Apr 2021", "01 May 2021"], "%d %b %Y", "2021-04-30"),
    ],
)  # fmt: skip
def test_the_one_format_that_reads_every_row_is_taken(text, spelt, first, caplog):
    frame = pd.DataFrame({"Date": text, "y": [1.0, 2.0]})
    with caplog.at_level("INFO", logger="tsformer"):
        panel = read_panel(frame, Schema(freq="irregular"))
    assert pd.Timestamp(first) in panel.index.stamps
    assert panel.schema.time == "Date"
    assert f"time column 'Date': text as '{spelt}' converted" in caplog.text
    assert read_panel(frame.set_index("Date"), Schema(freq="irregular")).index.stamps.equals(
        panel.index.stamps
    )


@pytest.mark.parametrize("text", [["04/05/21", "04/06/21"], ["2021/04/01", "2021/05/01"]])
def test_two_formats_that_read_every_row_are_asked_about(text):
    frame = pd.DataFrame({"Date": text, "y": [1.0, 2.0]})
    lines = r'format="%d/%m/%y"\)\. .*"%m/%d/%y"'
    if text[0].startswith("20"):
        lines = r'format="%Y/%m/%d"\)\. .*"%Y/%d/%m"'
    with pytest.raises(WrongTime, match=rf"'Date'.*row 0.*frame\[\"Date\"\] = .*{lines}"):
        read_panel(frame)
    with pytest.raises(WrongTime, match=rf"frame.index = .*{lines}"):
        read_panel(frame.set_index("Date"))


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([pd.Timestamp("2024-01-01"), pd.NaT], r"NaT\) in row 1 \(1 such"),
        (["2024-01-01", None], r"no stamp \(NaT\) in row 1"),
        (["2024-01-01", "2024-02-30"], "'2024-02-30' in row 1"),
        (["2024-01-01", "soon"], "'soon' in row 1"),
        (["2024-01-01T00:00Z", "2024-01-02T00:00"], "with and without a zone"),
        ([0.5, 1.5], "fractions"),
        ([pd.Timedelta(days=1), pd.Timedelta(days=2)], "timedelta"),
        ([True, False], "bool"),
        (
            [pd.Timestamp("2024-01-01", tz="UTC"), pd.Timestamp("2024-01-01", tz="Asia/Tokyo")],
            "mixes zones",
        ),
        ([pd.Timestamp("2024-01-01", tz="UTC"), pd.Timestamp("2024-01-01")], "mixes zones"),
    ],
)
def test_no_stamps(values, found):
    frame = pd.DataFrame({"when": values, "y": [1.0, 2.0]})
    with pytest.raises(WrongTime, match=f"'when'.*{found}"):
        read_panel(frame, Schema(time="when"))


def test_dates_and_timestamps_as_objects():
    for kind in (datetime.date, datetime.datetime):
        values = pd.Series([kind(2024, 1, day) for day in (1, 2, 3)], dtype=object)
        assert read_stamps(pd.Index(values))[0][2] == pd.Timestamp("2024-01-03")
    arrow = pd.Series(pd.date_range("2024-01-01", periods=3)).astype("timestamp[us][pyarrow]")
    assert isinstance(read_stamps(pd.Index(arrow))[0], pd.DatetimeIndex)
    assert read_stamps(pd.Index(pd.array([1, 2], dtype="Int64")))[0].dtype == np.int64


def test_words_are_no_dates():
    assert not looks_like_dates(pd.Series(["a", "b"]))
    assert not looks_like_dates(pd.Series(["sku-1234", "item 7"]))
    assert not looks_like_dates(pd.Series([2020, 2021]))


def test_the_zone_must_be_the_same_kind():
    plain = pd.DataFrame({"y": np.arange(5.0)}, index=pd.date_range("2024-01-01", periods=5))
    zoned = plain.tz_localize("Europe/Amsterdam")
    with pytest.raises(WrongTime, match="no zone here, but the zone Europe/Amsterdam"):
        read_panel(plain, like=read_panel(zoned))
    with pytest.raises(WrongTime, match="the zone Europe/Amsterdam here, but no zone"):
        read_panel(zoned, like=read_panel(plain))
    with pytest.raises(WrongTime, match="whole numbers here, but was dates"):
        read_panel(plain.reset_index(drop=True), like=read_panel(plain))


def test_long_frames_with_text_stamps():
    text = ["2024-01-01", "2024-01-02", "2024-01-03"]
    frame = pd.DataFrame({"unique_id": list("aaabbbccc"), "ds": text * 3, "y": 1.0})
    assert read_panel(frame).index.lengths.tolist() == [3, 3, 3]
    frame.loc[7, "ds"] = "2/1/2024"
    with pytest.raises(WrongTime, match="in row 7"):
        read_panel(frame)


def test_dates_as_objects_are_found_as_the_time():
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    for kind in (datetime.date, pd.Timestamp, np.datetime64):
        when = pd.Series([kind(str(one)) if kind is np.datetime64 else one for one in days])
        panel = read_panel(pd.DataFrame({"when": when, "y": 1.0}))
        assert panel.schema.time == "when"
        assert panel.index.stamps[2] == pd.Timestamp("2024-01-03")
    arrow = pytest.importorskip("pyarrow")
    for kind in (arrow.date32(), arrow.date64(), arrow.timestamp("s")):
        when = pd.Series(pd.array(days, dtype=pd.ArrowDtype(kind)))
        panel = read_panel(pd.DataFrame({"when": when, "y": 1.0}))
        assert panel.index.stamps.equals(pd.DatetimeIndex(days))
        assert read_panel(pd.DataFrame({"y": 1.0}, index=pd.Index(when))).n_rows == 3


YEAR = ["2022-01-01", "2022-04-01", "2022-07-01", "2022-10-01"]
MONTHS = ["2018-01-01", "2018-02-01", "2018-03-01"]
WEEKS = ["2019-01-07", "2019-01-14", "2019-01-21"]


@pytest.mark.parametrize(
    ("text", "stamps", "freq"),
    [
        (["2022Q4", "2022Q3", "2022Q2", "2022Q1"], YEAR, "QS-JAN"),
        (["2022-Q1", "2022-Q2", "2022-Q3", "2022-Q4"], YEAR, "QS-JAN"),
        (["Q1 2022", "Q2 2022", "Q3 2022", "Q4 2022"], YEAR, "QS-JAN"),
        (["2022 Q1", "2022 Q2", "2022 Q3", "2022 Q4"], YEAR, "QS-JAN"),
        (["1Q2022", "2Q2022", "3Q2022", "4Q2022"], YEAR, "QS-JAN"),
        (["2022q1", "2022q2", "2022q3", "2022q4"], YEAR, "QS-JAN"),
        (["2019-W02", "2019-W03", "2019-W04"], WEEKS, "W-MON"),
        (["2019W02", "2019W03", "2019W04"], WEEKS, "W-MON"),
        (["2019-W02-1", "2019-W03-1", "2019-W04-1"], WEEKS, "W-MON"),
        (["Jan 2018", "Feb 2018", "Mar 2018"], MONTHS, "MS"),
        (["January 2018", "February 2018", "March 2018"], MONTHS, "MS"),
        (["2018 Jan", "2018 Feb", "2018 Mar"], MONTHS, "MS"),
        (["Mar-18", "Feb-18", "Jan-18"], MONTHS, "MS"),
        (["01/2018", "02/2018", "03/2018"], MONTHS, "MS"),
        (["2018/01", "2018/02", "2018/03"], MONTHS, "MS"),
        (["2018M01", "2018M02", "2018M03"], MONTHS, "MS"),
    ],
)
def test_periods_as_text(text, stamps, freq):
    rows = len(text)
    wide = pd.DataFrame({"when": text, "sales": np.arange(float(rows))})
    panel = read_panel(wide)
    assert (panel.schema.time, panel.schema.freq) == ("when", freq)
    assert panel.index.stamps.equals(pd.DatetimeIndex(stamps))
    assert read_panel(wide.set_index("when")).index.stamps.equals(panel.index.stamps)
    long = pd.concat([wide.assign(shop=shop) for shop in "ab"], ignore_index=True)
    panel = read_panel(long[["shop", "when", "sales"]])
    assert (panel.schema.series, panel.schema.time) == ("shop", "when")
    assert panel.index.lengths.tolist() == [rows, rows]
    assert panel.index.stamps.equals(pd.DatetimeIndex(stamps * 2))


def test_quarters_come_back_as_quarters():
    frame = pd.DataFrame({"quarter": ["2022Q1", "2022Q2", "2022Q3"], "gdp": 1.0})
    assert read_panel(frame).layout.period == "Q-DEC"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (["Jan 2018", "Feb 2018", "Mär 2018", "Apr 2018"], "'Mär 2018' in row 2"),
        (["Okt 2018", "Nov 2018", "Dez 2018"], "'Okt 2018' in row 0"),
        (["2019-W51", "2019-W52", "2019-W53"], "'2019-W53' in row 2"),
        (["2022-Q1", "Jan 2022", "2022-Q2"], "'Jan 2022' in row 1"),
        (["2018-05-19 00:00 DST", "2018-05-19 01:00 DST"], "'DST' after the time of day"),
    ],
)
def test_periods_that_cannot_be_read_are_named(text, found):
    frame = pd.DataFrame({"when": text, "y": np.arange(float(len(text)))})
    with pytest.raises(WrongTime, match=rf"'when'.*{found}"):
        read_panel(frame)


def test_one_odd_quarter_among_many_is_named():
    text = [f"{year}Q{quarter}" for year in range(2000, 2010) for quarter in (1, 2, 3, 4)]
    text[7] = "2001Q5"
    with pytest.raises(WrongTime, match="'2001Q5' in row 7"):
        read_panel(pd.DataFrame({"when": text, "y": 1.0}))


@pytest.mark.parametrize("style", ["%Y-%m-%d", "%d/%m/%Y"])
def test_twenty_four_is_midnight_of_the_next_day(style):
    hours = pd.date_range("2018-05-19 21:00", periods=6, freq="h")
    text = hours.strftime(f"{style} %H:%M").tolist()
    text[3] = f"{hours[0].strftime(style)} 24:00"
    assert read_panel(pd.DataFrame({"when": text, "y": 1.0})).index.stamps.equals(
        hours.as_unit("us")
    )


def test_utc_after_every_stamp_is_a_zone():
    text = ["2018-05-19 00:00 UTC", "2018-05-19 01:00 UTC", "2018-05-19 02:00 UTC"]
    panel = read_panel(pd.DataFrame({"when": text, "y": 1.0}))
    assert panel.index.stamps[1] == pd.Timestamp("2018-05-19 01:00", tz="UTC")


def test_a_quarter_beside_a_date_is_no_second_time():
    days = pd.date_range("2022-01-01", periods=4).strftime("%Y-%m-%d")
    frame = pd.DataFrame({"quarter": "2022Q1", "date": days, "y": 1.0})
    assert read_panel(frame).schema.time == "date"
