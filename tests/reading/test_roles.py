import logging

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import FrameError, MissingColumn, ParameterError, WrongTime, WrongType
from tsformer.panels import Schema
from tsformer.reading import read_panel


def days(n=8):
    return pd.date_range("2024-01-01", periods=n, freq="D")


def schema_of(frame, schema=None):
    return read_panel(frame, schema).schema


def test_months_as_text(caplog):
    frame = pd.DataFrame(
        {"Month": ["1949-01", "1949-02", "1949-03"], "#Passengers": [112, 118, 132]}
    )
    with caplog.at_level(logging.INFO, logger="tsformer"):
        found = schema_of(frame)
    assert (found.time, found.target, found.freq, found.series) == (
        "Month", ("#Passengers",), "MS", None,
    )  # fmt: skip
    assert caplog.messages == [
        "schema: time 'Month', target '#Passengers', freq 'MS'",
        "time column 'Month': ISO 8601 text converted to datetime64[us]",
    ]


def test_time_may_be_the_last_column():
    frame = pd.DataFrame({"Y": [284, 213, 227], "date": ["1956-01-01", "1956-04-01", "1956-07-01"]})
    assert schema_of(frame).target == ("Y",)
    assert schema_of(frame).freq == "QS-JAN"


def test_rows_without_stamps():
    assert schema_of(pd.DataFrame({"Heart rate": [84.2, 84.3]})).target == ("Heart rate",)
    wide = pd.DataFrame(np.arange(36 * 96).reshape(36, 96)).rename(columns="c{}".format)
    panel = read_panel(wide)
    assert panel.target.values.shape == (36, 96)
    assert panel.index.future_stamps(2).tolist() == [36, 37]


@pytest.mark.parametrize(
    ("series", "time", "target"), [("unique_id", "ds", "y"), ("item_id", "timestamp", "target")]
)
def test_usual_names(series, time, target):
    frame = pd.DataFrame({series: list("aabb"), time: [*days(2), *days(2)], target: 1.0, "more": 2})
    found = schema_of(frame, Schema(freq="D"))
    assert (found.series, found.time, found.target) == (series, time, (target,))


def test_one_series_in_the_long_form():
    frame = pd.DataFrame({"unique_id": "a", "ds": days(), "y": 1.0})
    assert schema_of(frame).series == "unique_id"


def test_whole_number_time_in_the_long_form():
    frame = pd.DataFrame({"unique_id": list("aabb"), "ds": [1, 2, 1, 2], "y": 1.0})
    assert schema_of(frame).time == "ds"
    assert schema_of(frame.rename(columns={"unique_id": "shop", "ds": "step"})).series == "shop"


def test_repeated_stamps_and_one_text_column():
    frame = pd.DataFrame({"when": [*days(4), *days(4)], "shop": list("aaaabbbb"), "sales": 1.0})
    found = schema_of(frame)
    assert (found.series, found.time, found.target) == ("shop", "when", ("sales",))


def test_text_without_a_role_is_left_out(caplog):
    frame = pd.DataFrame({"when": days(), "note": list("abcdefgh"), "open": True, "y": 1.0})
    with caplog.at_level(logging.INFO, logger="tsformer"):
        assert schema_of(frame).target == ("y",)
    assert "without a role 'note' 'open'" in caplog.messages[0]


def test_the_text_that_tells_series_apart_is_found():
    frame = pd.DataFrame(
        {"when": [*days(4), *days(4)], "shop": list("aaaabbbb"), "city": "x", "sales": 1.0}
    )
    assert schema_of(frame).series == "shop"
    with pytest.raises(FrameError, match=r"'shop', 'twin'.*Schema\(series=\"shop\"\)"):
        schema_of(frame.assign(twin=frame["shop"]))


def test_two_columns_together():
    frame = pd.DataFrame(
        {"when": [*days(2)] * 4, "shop": list("aaaabbbb"), "item": list("xxyyxxyy"), "sales": 1.0}
    )
    with pytest.raises(FrameError, match=r"'shop', 'item' alone.*frame\[\"series\"\] = "):
        schema_of(frame)


def test_two_columns_of_dates():
    frame = pd.DataFrame({"made": days(), "sold": days(), "y": 1.0})
    with pytest.raises(WrongTime, match=r"'made', 'sold'.*Schema\(time=\"made\"\)"):
        schema_of(frame)
    assert schema_of(frame, Schema(time="sold")).time == "sold"


def test_missing_columns_are_all_listed():
    frame = pd.DataFrame({"when": days(), "price": 1.0})
    with pytest.raises(MissingColumn, match=r"'prise' \(did you mean 'price'\?\), 'plan'"):
        schema_of(frame, Schema(target="prise", known=["plan"]))


def test_past_rest_needs_a_target():
    frame = pd.DataFrame({"when": days(), "a": 1.0, "b": 2.0})
    with pytest.raises(ParameterError, match="past"):
        schema_of(frame, Schema(past="rest"))
    assert schema_of(frame, Schema(past="rest", target="a")).past == ("b",)


def test_one_role_each():
    frame = pd.DataFrame({"when": days(), "a": 1.0, "b": 2.0})
    with pytest.raises(ParameterError, match="'a'"):
        schema_of(frame, Schema(target="a", known=["a"]))


def test_nothing_to_forecast():
    with pytest.raises(WrongType, match="no numeric column"):
        schema_of(pd.DataFrame({"when": days(), "note": list("abcdefgh")}))
    with pytest.raises(WrongType, match=r"pd\.to_numeric"):
        schema_of(pd.DataFrame({"when": days(), "y": list("12345678")}))


def test_booleans_are_no_targets():
    frame = pd.DataFrame({"when": days(), "open": [True, False] * 4})
    with pytest.raises(WrongType, match="no numeric column"):
        schema_of(frame)
    with pytest.raises(WrongType, match="'open' holds true and false: first at 2024-01-01"):
        schema_of(frame, Schema(target="open"))


@pytest.mark.parametrize("role", ["target", "known"])
def test_roles_are_names(role):
    frame = pd.DataFrame({"when": days(), "a": 1.0})
    with pytest.raises(ParameterError, match="names of columns"):
        schema_of(frame, Schema(**{role: True}))
    with pytest.raises(MissingColumn, match="no column '3'"):
        schema_of(frame, Schema(**{role: 3}))


def test_fractions_are_no_time():
    frame = pd.DataFrame({"unique_id": list("aabb"), "ds": [0.5, 1.5, 0.5, 1.5], "y": 1.0})
    with pytest.raises(WrongTime, match="'ds' holds fractions"):
        schema_of(frame)


def test_rows_by_series_and_whole_number():
    index = pd.MultiIndex.from_product([["a", "b"], [1, 2, 3]])
    panel = read_panel(pd.DataFrame({"y": np.arange(6.0)}, index=index))
    assert list(panel.index.ids) == ["a", "b"]
    assert panel.index.stamps[:3].tolist() == [1, 2, 3]


def test_a_time_column_that_is_text_but_no_date():
    frame = pd.DataFrame({"ds": ["soon", "later"], "y": 1.0})
    with pytest.raises(WrongTime, match=r"'ds' is text that is not ISO 8601.*'soon' in row 0"):
        schema_of(frame)
