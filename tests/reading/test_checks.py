import os
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import (
    DuplicateColumn,
    EmptyFrame,
    FrameError,
    InfiniteValues,
    MissingValues,
    SeriesTooShort,
    WrongType,
)
from tsformer.panels import Policy, Schema
from tsformer.reading import read_panel

MASK = Policy(missing="mask")


def panel_frame(**columns):
    days = pd.date_range("2024-01-01", periods=4, freq="D")
    frame = pd.DataFrame({"shop": list("bbbbaaaa"), "when": [*days, *days], "y": np.arange(8.0)})
    return frame.assign(**columns)


def one(values):
    index = pd.date_range("2024-01-01", periods=len(values), freq="D")
    return pd.DataFrame({"y": values}, index=index)


@pytest.mark.parametrize("column", ["y", "price"])
def test_missing_values_are_named(column):
    frame = panel_frame(price=1.0)
    frame.loc[[2, 3, 6], column] = np.nan
    schema = Schema(target="y", known="price")
    with pytest.raises(MissingValues) as caught:
        read_panel(frame, schema)
    said = str(caught.value)
    assert f"column '{column}' holds NaN" in said
    assert "first of series 'a' at 2024-01-03 00:00:00 (row 6), 3 in all" in said
    assert 'policy=Policy(missing="mask")' in said
    panel = read_panel(frame, schema, MASK)
    assert np.isnan(panel.target.values if column == "y" else panel.known.values).sum() == 3


@pytest.mark.parametrize("policy", [Policy(), MASK])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_named(policy, value):
    frame = panel_frame()
    frame.loc[5, "y"] = value
    with pytest.raises(InfiniteValues, match=r"'y' holds inf: first of series 'a'.*row 5\), 1 in"):
        read_panel(frame, policy=policy)


def test_a_series_without_any_value():
    frame = panel_frame()
    frame.loc[:3, "y"] = np.nan
    with pytest.raises(MissingValues, match=r"series 'b' is NaN in all 4 rows \(1 such"):
        read_panel(frame, policy=MASK)


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, 2, 3], dtype="Int64"),
        pd.array([1, 2, 3], dtype="Float64"),
        pd.array([1, 2, 3], dtype="uint64"),
        np.array([1, 2, 3], dtype=np.float16),
        pd.array([1, 2, 3], dtype="float64[pyarrow]"),
        pd.Series([Decimal(1), Decimal(2), Decimal(3)]).to_numpy(),
        np.array([1, 2.0, np.int8(3)], dtype=object),
    ],
    ids=str,
)
def test_numbers_of_all_kinds(values):
    panel = read_panel(one(values))
    assert panel.target.values.dtype == np.float64
    assert panel.target.values[:, 0].tolist() == [1, 2, 3]


def test_arrow_decimals():
    pa = pytest.importorskip("pyarrow")
    kind = pd.ArrowDtype(pa.decimal128(5, 2))
    values = pd.array([Decimal("1.5"), Decimal("2.5"), Decimal("3.5")], dtype=kind)
    assert read_panel(one(values)).target.values[:, 0].tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    "values", [pd.array([1, None, 3], dtype="Int64"), np.array([1, None, 3.0], dtype=object)]
)
def test_other_marks_of_missing(values):
    with pytest.raises(MissingValues, match="row 1"):
        read_panel(one(values))
    assert np.isnan(read_panel(one(values), policy=MASK).target.values[1, 0])


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1 + 2j, 2, 3], "Complex data not supported"),
        ([1.0, "two", 3.0], r"'y' holds 'two' of type str at 2024-01-02 00:00:00 \(row 1\)"),
        (["a", "b", "c"], "text"),
        (pd.date_range("2024-01-01", periods=3), "datetime64"),
        (pd.to_timedelta([1, 2, 3], unit="D"), "timedelta64"),
        (pd.Categorical(["a", "b", "a"]), "text"),
        (pd.arrays.SparseArray([0.0, 0.0, 1.0]), "sparse"),
    ],
)
def test_no_numbers(values, found):
    with pytest.raises(WrongType, match=found) as caught:
        read_panel(one(values), Schema(target="y"))
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


def test_numbers_as_text_are_not_guessed():
    frame = panel_frame(price=list("12345678"))
    with pytest.raises(WrongType, match=r"'price'.*pd.to_numeric"):
        read_panel(frame, Schema(target="y", known="price"))


def test_whole_numbers_that_float64_rounds():
    with pytest.warns(UserWarning, match=r"'y'.*2\*\*53"):
        read_panel(one(np.array([2**60, 2**60 + 1, 3])))


@pytest.mark.parametrize(
    ("frame", "kind", "found"),
    [
        (pd.DataFrame(), EmptyFrame, "0 rows"),
        (pd.DataFrame({"y": []}), EmptyFrame, "0 rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), DuplicateColumn, "'a' is there 2 times"),
        (pd.DataFrame([[1, 2]], columns=["a", True]), WrongType, r"astype\(str\)"),
        (pd.DataFrame({("a", "b"): [1]}), WrongType, "several levels"),
        (
            pd.DataFrame({"y": [1]}, index=pd.MultiIndex.from_tuples([(1, 2, 3)])),
            WrongType,
            "3 levels",
        ),
    ],
)
def test_frames_of_no_shape(frame, kind, found):
    with pytest.raises(kind, match=found):
        read_panel(frame)


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (["a", None, "a", "a"], "no name in row 1"),
        (["a", 1, "a", 1], "int and str"),
        ([0.5, 0.5, 1.5, 1.5], "float"),
    ],
)
def test_names_of_series(ids, found):
    days = pd.date_range("2024-01-01", periods=2)
    frame = pd.DataFrame({"shop": ids, "when": [*days, *days], "y": 1.0})
    with pytest.raises(WrongType, match=f"'shop'.*{found}"):
        read_panel(frame, Schema(series="shop", freq="D"))


def test_a_static_that_changes():
    frame = panel_frame(size=[1, 1, 1, 1, 2, 2, 3, 2])
    with pytest.raises(WrongType, match=r"'size' changes.*series 'a'.*\(row 6\)"):
        read_panel(frame, Schema(target="y", static="size"))


@pytest.mark.parametrize(
    ("array", "kind", "found"),
    [
        (np.array([[1.0], [np.nan], [2.0]]), MissingValues, "NaN"),
        (np.array([[1.0], [np.inf], [2.0]]), InfiniteValues, "inf"),
        (np.array([[1j], [2j]]), WrongType, "Complex data not supported"),
        (np.zeros((1, 3)), SeriesTooShort, "1 sample"),
        (np.zeros((0, 3)), EmptyFrame, "0 rows"),
        (np.zeros((3, 0)), EmptyFrame, "0 columns"),
        (np.zeros((3, 3, 3)), WrongType, "dim 3"),
        (np.array([["a"], ["b"]]), WrongType, "numbers"),
    ],
)
def test_arrays(array, kind, found):
    with pytest.raises(kind, match=found) as caught:
        read_panel(array)
    assert isinstance(caught.value, FrameError)


def test_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    for made in (sparse.csr_matrix, sparse.coo_array):
        with pytest.raises(WrongType, match="sparse"):
            read_panel(made(np.eye(3)))


@pytest.mark.parametrize("scale", [1e30, 1e-50, 1e300, -0.0])
def test_any_size_of_number(scale):
    values = np.arange(5.0) * scale
    assert read_panel(one(values)).target.values[:, 0].tolist() == values.tolist()


@pytest.mark.shared_data
@pytest.mark.skipif("TSFORMER_DATA" not in os.environ, reason="needs TSFORMER_DATA")
class TestRealFiles:
    @staticmethod
    def read(name):
        for folder in os.environ["TSFORMER_DATA"].split(os.pathsep):
            for path in Path(folder).rglob(name):
                return pd.read_csv(path)
        pytest.skip(f"no {name}")

    @pytest.mark.parametrize(
        ("name", "freq", "targets"),
        [
            ("AirPassengers.csv", "MS", 1),
            ("SF_hospital_load.csv.gz", "h", 1),
            ("ausbeer.csv", "QS-JAN", 1),
            ("births_us.csv.gz", "D", 1),
            ("gasrate_co2.csv", 1, 2),
            ("ice_cream_heater.csv", "MS", 2),
            ("monthly-sunspots.csv", "MS", 1),
            ("taxi_new_york_passengers.csv.gz", "30min", 1),
            ("yosemite_temps.csv.gz", "5min", 1),
            ("australian_tourism.csv", 1, 96),
        ],
    )
    def test_are_read_with_nothing_said(self, name, freq, targets):
        panel = read_panel(self.read(name), policy=MASK)
        assert (panel.schema.freq, len(panel.target.names)) == (freq, targets)

    def test_gaps_and_missing_values(self):
        ili = self.read("ILINet.csv.gz")
        with pytest.raises(MissingValues, match="'AGE 25-49'"):
            read_panel(ili)
        panel = read_panel(ili, policy=Policy(missing="mask", gaps="mask"))
        assert (panel.schema.freq, len(panel.target.names)) == ("W-SUN", 11)

    @pytest.mark.parametrize("name", ["us_gasoline.csv", "temps.csv"])
    def test_month_first_dates_are_read_as_the_one_format_that_fits(self, name):
        frame, policy = self.read(name), Policy(missing="mask", gaps="mask")
        panel = read_panel(frame, policy=policy)
        frame.iloc[:, 0] = pd.to_datetime(frame.iloc[:, 0], format="%m/%d/%Y").astype("str")
        assert panel.index.stamps.equals(read_panel(frame, policy=policy).index.stamps)
        assert panel.n_rows > 1000
