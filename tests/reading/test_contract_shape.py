"""Rows 1 to 18: shape and columns."""

from pathlib import Path

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
from sklearn.model_selection import cross_val_score

import tsformer
from tsformer import Policy, RollingOrigin, Schema, SeasonalNaive, backtest
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


def test_09_names_that_are_numbers() -> None:
    names = {"shop": 0, "when": 1, "y": 2022, "temp": 3, "price": 4.5, "size": np.int64(6)}
    roles = Schema(series=0, target=2022, past=3, known=[4.5], static=(6,), late={3: 1})
    ahead = future().rename(columns=names)
    fresh = forecaster(schema=roles).fit(panel().rename(columns=names))
    blank = fresh.make_future_frame()
    assert blank.columns.tolist() == [0, 1, 4.5]
    made = fresh.predict(future=blank.fillna({4.5: ahead[4.5]}), quantiles=[0.1])
    assert made.columns.tolist() == [0, 1, 2022, "2022_q0.1"]
    right(made.rename(columns={2022: "y"}))
    again = fresh.predict(panel().rename(columns=names), future=ahead)
    assert again[2022].tolist() == made[2022].tolist()


def test_09_names_that_are_numbers_are_kept_in_a_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({2022: wave(LENGTH), 0.5: wave(LENGTH)}, index=panel()["when"][:LENGTH])
    fresh = plain(schema=Schema(target=[2022, 0.5])).fit(frame)
    read = tsformer.load(fresh.save(tmp_path / "numbers.safetensors"))
    assert read.predict().columns.tolist() == [2022, 0.5]
    assert read.predict().equals(fresh.predict())


def test_09_names_that_are_numbers_in_a_backtest_and_a_search() -> None:
    frame = pd.DataFrame({7: wave(LENGTH), 1: panel()["when"][:LENGTH]})
    naive = SeasonalNaive(horizon=HORIZON, schema=Schema(target=7, time=1))
    result = backtest(naive, frame, folds=2)
    assert result.scores["mae"].max() == 0 and set(result.forecasts["target"]) == {"7"}
    folds = RollingOrigin(folds=2, horizon=HORIZON, time=1)
    assert cross_val_score(naive, frame, cv=folds).tolist() == [0, 0]


def test_09_names_that_are_neither_text_nor_numbers() -> None:
    for name in (True, pd.Timestamp("2024-01-01"), np.nan):
        odd = panel().set_axis(["shop", "when", "y", "temp", "price", name], axis=1)
        said = f"must be text or numbers, .* is {type(name).__name__} .1 such"
        for call in (fit(odd), predict(history=odd)):
            refused(call, said, "frame.columns.astype", kind=WrongType)


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
