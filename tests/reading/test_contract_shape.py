"""Rows 1 to 18: shape and columns."""

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from contract_rows import (
    ALL,
    BEGIN,
    EXPECTED,
    HORIZON,
    LENGTH,
    fit,
    fitted,
    forecaster,
    future,
    good,
    panel,
    plain,
    predict,
    refused,
    right,
    tells,
    warned,
    wave,
)  # fmt: skip
from scipy import sparse

from tsformer import Policy, Schema
from tsformer.errors import (
    DuplicateColumn,
    EmptyFrame,
    MissingColumn,
    SeriesTooShort,
    WrongType,
)

SHORT = panel().drop(index=range(BEGIN + 5, BEGIN + LENGTH))


def test_01_empty_frame() -> None:
    for empty in (panel().iloc[:0], pd.DataFrame(), np.empty((0, 1))):
        refused(fit(empty), "frame is empty: 0 rows", "at least as many rows", kind=EmptyFrame)
    refused(predict(history=panel().iloc[:0]), "frame is empty", kind=EmptyFrame)


def test_02_one_row() -> None:
    each = panel().iloc[[0, BEGIN, 2 * LENGTH]]
    refused(fit(each), "series 'a' has 1 row and no", "Give more", kind=SeriesTooShort)
    daily = Schema(**ALL, freq="D")
    refused(fit(each, schema=daily), "'a' has 1 row.*need 17 .3 of 3", kind=SeriesTooShort)
    refused(fit(panel().drop(index=range(BEGIN + 1, 80))), "'b' has 1 row", kind=SeriesTooShort)
    refused(fit(pd.DataFrame({"y": [1.0]}), schema=None), "has 1 row", kind=SeriesTooShort)
    refused(fit([[1.0]], schema=None), "has 1 sample", kind=SeriesTooShort)


def test_03_shorter_than_context_and_horizon() -> None:
    said = "'b' has 5 rows; context 14 .* need 17 .1 of 3.*Policy.short=\"drop\""
    refused(fit(SHORT), said, kind=SeriesTooShort)
    dropped = warned(fit(SHORT, policy=Policy(short="drop")), "1 of 3 series", "'b'")
    rest = future().query("shop != 'b'")
    right(dropped.predict(future=rest), EXPECTED[[0, 1, 2, 6, 7, 8]])
    assert dropped.short_["series"].tolist() == ["b"]


def test_04_shorter_than_context_at_predict() -> None:
    said = "'b' has 5 rows before the forecast.*needs 14 .1 of 3.*short=\"pad\""
    days = future()["when"].where(future()["shop"] != "b", future()["when"] - pd.Timedelta("35D"))
    refused(predict(history=SHORT, future=future(when=days)), said, kind=SeriesTooShort)
    pads = forecaster(policy=Policy(short="pad")).fit(panel())
    made = pads.predict(SHORT, future=future(when=days))
    right(made[made["shop"] != "b"], EXPECTED[[0, 1, 2, 6, 7, 8]])
    assert made["when"].tolist() == days.tolist()
    assert np.isfinite(made["y"]).all()


def test_05_repeated_column_names() -> None:
    twice = panel().assign(extra=1.0).rename(columns={"extra": "temp"})
    for call in (fit(twice), predict(history=twice), lambda: fitted().score(twice)):
        refused(call, "'temp' is there 2 times .1 such", "Keep one", kind=DuplicateColumn)


def test_06_missing_columns() -> None:
    less = panel().drop(columns=["temp", "price"])
    for call in (fit(less), predict(history=less), lambda: fitted().score(less)):
        refused(call, "no column", "'temp'", "'price'", "its columns are", kind=MissingColumn)
    close = panel().rename(columns={"price": "prices"})
    refused(fit(close), "'price' .did you mean 'prices'", kind=MissingColumn)
    refused(predict(future=future().drop(columns="price")), "'price'", kind=MissingColumn)


def test_07_further_columns() -> None:
    more = panel(new=1, other="x")
    good(more)
    right(warned(predict(history=more), "not seen are ignored: 'new', 'other'"))
    right(fitted().predict(future=future(new=1)))


def test_08_columns_in_another_order() -> None:
    turned, ahead = panel()[panel().columns[::-1]], future()[future().columns[::-1]]
    good(turned, ahead)
    right(fitted().predict(turned, future=ahead))
    known = forecaster(schema=Schema(**{**ALL, "known": ["price", "temp"], "past": ()}))
    known.fit(panel())
    both = future(temp=np.tile(np.cos(np.arange(LENGTH, LENGTH + HORIZON)), 3))
    assert known.predict(future=both).equals(known.predict(future=both[both.columns[::-1]]))


def test_09_names_that_are_not_text() -> None:
    odd = panel().set_axis(["shop", "when", "y", "temp", 5, 6], axis=1)
    for call in (fit(odd), predict(history=odd)):
        refused(call, "must be text, 5 is int .2 such", "frame.columns.astype", kind=WrongType)


def test_10_columns_of_several_levels() -> None:
    deep = panel().set_axis(pd.MultiIndex.from_product([["x"], panel().columns]), axis=1)
    for call in (fit(deep), predict(history=deep)):
        refused(call, "columns have several levels", "join", kind=WrongType)


def test_11_rows_by_series_and_time() -> None:
    keys = ["shop", "when"]
    made = forecaster().fit(panel().set_index(keys)).predict(future=future().set_index(keys))
    right(made)
    assert made.index.equals(pd.MultiIndex.from_frame(future()[keys]))


def test_12_rows_by_number() -> None:
    made = plain().fit(pd.DataFrame({"y": wave(LENGTH)})).predict()
    right(made, wave(HORIZON, LENGTH))
    assert made.index.tolist() == [40, 41, 42]


def test_13_array_by_position() -> None:
    array = np.stack([wave(LENGTH), wave(LENGTH, 3)], axis=1)
    by_position = plain().fit(array)
    expected = np.stack([wave(HORIZON, LENGTH), wave(HORIZON, LENGTH + 3)], axis=1)
    np.testing.assert_allclose(by_position.predict(), expected, atol=0.02)
    refused(lambda: by_position.predict(array[:, :1]), "1 features.*2 features", kind=WrongType)
    refused(lambda: plain().fit(array[:, 0]), "Reshape your data", kind=WrongType)
    holed = array.copy()
    holed[5, 1] = np.nan
    refused(lambda: plain().fit(holed), r"'y1' holds NaN: first \(row 5\), 1 in all", "Fill")


def test_14_list_of_lists() -> None:
    listed = [[value] for value in wave(LENGTH).tolist()]
    made = tells(lambda: plain().fit(listed), "list of 40 rows converted to an array")
    np.testing.assert_allclose(made.predict()[:, 0], wave(HORIZON, LENGTH), atol=0.02)
    listed[5] = ["bad"]
    refused(lambda: plain().fit(listed), r"'y0' holds .*'bad'.*\(row 5\)", kind=WrongType)


def test_15_sparse_data() -> None:
    for name in ("y", "temp", "price", "size"):
        thin = panel()
        thin[name] = pd.arrays.SparseArray(thin[name])
        refused(fit(thin), f"'{name}' is sparse", "to_dense", kind=WrongType)
        refused(predict(history=thin), f"'{name}' is sparse", kind=TypeError)
    for kind in (sparse.csr_matrix, sparse.coo_array):
        refused(fit(kind(np.eye(LENGTH))), "sparse", "toarray", kind=WrongType)
        refused(lambda kind=kind: fitted().predict(kind(np.eye(5))), "sparse", kind=TypeError)


class _Stream:
    def __arrow_c_stream__(self, requested: object = None) -> object:
        raise AssertionError("never asked for")


def test_16_tables_of_other_libraries() -> None:
    for make in (polars.from_pandas, pyarrow.Table.from_pandas):
        table = make(panel())
        kind = f"{type(table).__module__}.DataFrame" if make is polars.from_pandas else None
        name = kind or f"{type(table).__module__}.Table"
        said = f"table of type {name} converted to a pandas frame"
        right(tells(lambda table=table: forecaster().fit(table), said).predict(future=future()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pd.DataFrame, "from_arrow", _no_pyarrow)
        refused(fit(_Stream()), "_Stream", "pip install pyarrow", kind=WrongType)
    refused(fit({"y": [1.0]}), "type dict", "pd.DataFrame.data", kind=WrongType)


def _no_pyarrow(data: object) -> None:
    raise ImportError("No module named 'pyarrow'")


def test_17_names_of_the_output() -> None:
    said = "has the name that a forecast gives to the 0.1 quantile of 'y'"
    twins = panel().rename(columns={"temp": "y_q0.1"})
    taken = Schema(series="shop", target=["y", "y_q0.1"])
    refused(fit(twins, schema=taken), "'y_q0.1'", said, "rename", kind=DuplicateColumn)
    for name in ("shop", "when"):
        named = panel().rename(columns={name: "y_q0.1"})
        roles = Schema(series="y_q0.1" if name == "shop" else "shop", target="y")
        refused(fit(named, schema=roles), "'y_q0.1'", said, kind=DuplicateColumn)
    good(twins, schema=Schema(**{**ALL, "past": "y_q0.1"}))  # a covariate is in no forecast


def test_18_columns_without_variance() -> None:
    good(panel(temp=3.0))
    good(panel(size=3.0))
    good(panel(price=0.1), future(price=0.1))
