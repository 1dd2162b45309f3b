import dataclasses

import numpy as np
import pandas as pd
import pytest

from tsformer.panels import Schema
from tsformer.panels.columns import Columns
from tsformer.panels.index import PanelIndex
from tsformer.reading import read_panel

SCHEMA = Schema(target="y", past=["rain", "sky"], known="price", static="size", weight="w")
COLUMNS = ["y", "rain", "price", "size", "w"]


def frame(rows=40):
    values = np.arange(rows * 5.0).reshape(rows, 5)
    values[:, 3] = 1
    data = pd.DataFrame(values, columns=COLUMNS, index=pd.date_range("2024-01-01", periods=rows))
    return data.assign(sky="blue")


def arrays(held):
    """Every array in a panel, its index and its columns."""
    for field in dataclasses.fields(held):
        value = getattr(held, field.name)
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, (PanelIndex, Columns)):
            yield from arrays(value)


def spoil(panel):
    """Write into everything that can be written to."""
    for value in arrays(panel):
        assert value.flags.writeable
        value[...] = 7


def untouched(data, schema=None):
    before = data.copy()
    panel = read_panel(data, schema)
    spoil(panel.extend(2))
    spoil(panel.pad(2))
    spoil(panel)
    return before


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_frames(order):
    data = frame().iloc[order]
    pd.testing.assert_frame_equal(data, untouched(data, SCHEMA))


def test_frames_on_memory_of_the_caller():
    values = np.arange(80.0).reshape(40, 2)
    data = pd.DataFrame(values, columns=["y", "z"], copy=False)
    untouched(data)
    np.testing.assert_array_equal(values.ravel(), np.arange(80.0))
    panel = read_panel(data)
    assert not any(np.shares_memory(values, own) for own in arrays(panel))
    values[:] = -1
    assert panel.target.values[3].tolist() == [6, 7]


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "uint8"])
def test_read_only_arrays(kind):
    values = np.ones((10, 2), kind)
    values.flags.writeable = False
    untouched(values)
    assert (values == 1).all()


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memory_maps(tmp_path, mode):
    np.save(tmp_path / "values.npy", np.arange(20.0).reshape(10, 2))
    values = np.load(tmp_path / "values.npy", mmap_mode=mode)
    untouched(values)
    untouched(pd.DataFrame(values, columns=["a", "b"], copy=False))
    panel = read_panel(values)
    assert all(type(own) is np.ndarray for own in arrays(panel))
    assert not any(np.shares_memory(values, own) for own in arrays(panel))
    np.testing.assert_array_equal(np.load(tmp_path / "values.npy").ravel(), np.arange(20.0))


@pytest.mark.parametrize("kind", ["double[pyarrow]", "int64[pyarrow]", "Float64", "Int64"])
def test_columns_of_other_kinds(kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    data = frame().astype(dict.fromkeys(COLUMNS, kind))
    pd.testing.assert_frame_equal(data, untouched(data, SCHEMA))


def test_stamps_of_the_caller():
    stamps = np.arange(40) * 10
    data = pd.DataFrame({"step": stamps, "y": 1.0}, copy=False)
    panel = read_panel(data)
    assert not np.shares_memory(panel.index.stamps.to_numpy(), stamps)
    days = pd.date_range("2024-01-01", periods=40)
    panel = read_panel(pd.DataFrame({"y": 1.0}, index=days))
    assert not np.shares_memory(panel.index.stamps.asi8, days.asi8)


def test_polars_and_arrow_tables():
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    data = frame()
    for table in (pa.Table.from_pandas(data), pl.DataFrame({n: data[n].tolist() for n in data})):
        panel = read_panel(table, SCHEMA)
        first = panel.target.values[:3, 0].tolist()
        spoil(panel)
        assert read_panel(table, SCHEMA).target.values[:3, 0].tolist() == first
