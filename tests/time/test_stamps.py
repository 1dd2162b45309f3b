import datetime

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import WrongTime
from tsformer.panels import Panel, Schema
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
    panel = Panel.from_frame(frame)
    assert isinstance(panel.stamps, pd.DatetimeIndex)
    assert panel.stamps[0] == pd.Timestamp(text[0])
    assert Panel.from_frame(frame.set_index("when")).stamps.equals(panel.stamps)


def test_offsets_that_change_meet_in_utc():
    text = ["2024-03-31T00:00:00+01:00", "2024-03-31T01:00:00+01:00", "2024-03-31T03:00:00+02:00"]
    panel = Panel.from_frame(pd.DataFrame({"when": text, "y": 1.0}))
    assert str(panel.stamps.tz) == "UTC"
    assert panel.freq == pd.offsets.Hour()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (["04/30/2021", "04/23/2021"], 'format="%m/%d/%Y"'),
        (["30/04/2021", "23/04/2021"], 'format="%d/%m/%Y"'),
        (["1.4.2021 10:30", "23.4.2021 11:30"], 'format="%d.%m.%Y %H:%M"'),
        (["2021/04/01", "2021/05/01"], 'format="%Y/%m/%d"'),
        (["04/05/21", "04/06/21"], r'"%d/%m/%y"\)  or .*"%m/%d/%y"'),
        (["1/30/2021 9:05:00 PM", "1/31/2021 9:05:00 PM"], 'format="%m/%d/%Y %I:%M:%S %p"'),
        (["20210430", "20210501"], 'format="%Y%m%d"'),
        (["30 Apr 2021", "01 May 2021"], 'format="%d %b %Y"'),
    ],
)
def test_other_text_is_refused_with_the_line(text, line):
    frame = pd.DataFrame({"Date": text, "y": [1.0, 2.0]})
    with pytest.raises(WrongTime, match=rf"'Date'.*row 0.*frame\[\"Date\"\] = .*{line}"):
        Panel.from_frame(frame)
    with pytest.raises(WrongTime, match=rf"frame.index = .*{line}"):
        Panel.from_frame(frame.set_index("Date"))


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
        Panel.from_frame(frame, Schema(time="when"))


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
        Panel.from_frame(plain, like=Panel.from_frame(zoned))
    with pytest.raises(WrongTime, match="the zone Europe/Amsterdam here, but no zone"):
        Panel.from_frame(zoned, like=Panel.from_frame(plain))
    with pytest.raises(WrongTime, match="whole numbers here, but was dates"):
        Panel.from_frame(plain.reset_index(drop=True), like=Panel.from_frame(plain))


def test_long_frames_with_text_stamps():
    text = ["2024-01-01", "2024-01-02", "2024-01-03"]
    frame = pd.DataFrame({"unique_id": list("aaabbbccc"), "ds": text * 3, "y": 1.0})
    assert Panel.from_frame(frame).lengths.tolist() == [3, 3, 3]
    frame.loc[7, "ds"] = "2/1/2024"
    with pytest.raises(WrongTime, match="in row 7"):
        Panel.from_frame(frame)


def test_dates_as_objects_are_found_as_the_time():
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    for kind in (datetime.date, pd.Timestamp, np.datetime64):
        when = pd.Series([kind(str(one)) if kind is np.datetime64 else one for one in days])
        panel = Panel.from_frame(pd.DataFrame({"when": when, "y": 1.0}))
        assert panel.schema.time == "when"
        assert panel.stamps[2] == pd.Timestamp("2024-01-03")
    arrow = pytest.importorskip("pyarrow")
    for kind in (arrow.date32(), arrow.date64(), arrow.timestamp("s")):
        when = pd.Series(pd.array(days, dtype=pd.ArrowDtype(kind)))
        panel = Panel.from_frame(pd.DataFrame({"when": when, "y": 1.0}))
        assert panel.stamps.equals(pd.DatetimeIndex(days))
        assert Panel.from_frame(pd.DataFrame({"y": 1.0}, index=pd.Index(when))).n_rows == 3
