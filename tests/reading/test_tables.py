import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import MissingValues, WrongType
from tsformer.panels import Policy, Schema
from tsformer.reading import extended, future_frame, read_panel, write_frame
from tsformer.reading.tables import as_pandas

FRAME = pd.DataFrame(
    {
        "shop": ["b", "b", "b", "a", "a"],
        "when": pd.to_datetime(
            ["2024-03-30", "2024-03-31", "2024-04-01", "2024-03-30", "2024-03-31"]
        ).tz_localize("Europe/Berlin"),
        "sales": [1.0, 2.0, 3.0, 4.0, 5.0],
        "count": [1, 2, 3, 4, 5],
        "plan": ["x", "y", "x", "y", "x"],
        "open": [True, False, True, True, False],
    }
)
SCHEMA = Schema(series="shop", target=["sales", "count"], known=["plan", "open"], freq="D")


def same(one, other):
    pd.testing.assert_frame_equal(write_frame(one), write_frame(other))
    assert one.index.ids.equals(other.index.ids)
    assert one.categories == other.categories
    np.testing.assert_array_equal(one.known.values, other.known.values)


class TestPolars:
    def frame(self, pl, **columns):
        data = {name: FRAME[name].tolist() for name in FRAME if name != "when"}
        when = FRAME["when"].dt.tz_convert("UTC").dt.tz_localize(None).tolist()
        zoned = pl.Series(when, dtype=pl.Datetime("us")).dt.replace_time_zone("UTC")
        return pl.DataFrame(
            {**data, "when": zoned.dt.convert_time_zone("Europe/Berlin"), **columns}
        )

    @pytest.mark.parametrize("unit", ["ms", "us", "ns"])
    def test_the_panel_is_the_same(self, unit):
        pl = pytest.importorskip("polars")
        frame = self.frame(pl).with_columns(pl.col("when").dt.cast_time_unit(unit))
        panel = read_panel(frame, SCHEMA)
        same(panel, read_panel(FRAME.assign(when=FRAME["when"].dt.as_unit(unit)), SCHEMA))
        assert panel.index.stamps.unit == unit
        assert str(panel.index.stamps.tz) == "Europe/Berlin"
        assert isinstance(future_frame(panel, 2), pd.DataFrame)

    def test_no_pyarrow_is_needed(self, monkeypatch):
        pl = pytest.importorskip("polars")

        def refuse(*_args, **_options):
            raise ModuleNotFoundError("pyarrow")

        monkeypatch.setattr(pl.DataFrame, "to_pandas", refuse)
        monkeypatch.setattr(pl.DataFrame, "to_arrow", refuse)
        same(read_panel(self.frame(pl), SCHEMA), read_panel(FRAME, SCHEMA))

    def test_columns_of_every_type(self):
        pl = pytest.importorskip("polars")
        made = as_pandas(
            pl.DataFrame(
                {
                    "text": ["a", None],
                    "category": pl.Series(["x", None], dtype=pl.Categorical),
                    "enum": pl.Series(["x", None], dtype=pl.Enum(["y", "x"])),
                    "date": [datetime.date(2024, 1, 1), None],
                    "second": pl.Series(
                        [datetime.datetime(1600, 1, 1), None], dtype=pl.Datetime("ms")
                    ),
                    "whole": pl.Series([2**60 + 1, None], dtype=pl.Int64),
                    "small": pl.Series([1, 2], dtype=pl.UInt8),
                    "real": pl.Series([1.5, None], dtype=pl.Float32),
                    "flag": [True, None],
                    "sure": [True, False],
                    "money": [Decimal("1.5"), None],
                    "nothing": pl.Series([None, None]),
                }
            )
        )
        kinds = {name: str(kind) for name, kind in made.dtypes.items()}
        assert kinds == {
            "text": "str", "category": "category", "enum": "category", "date": "datetime64[s]",
            "second": "datetime64[ms]", "whole": "Int64", "small": "uint8", "real": "float32",
            "flag": "boolean", "sure": "bool", "money": "object", "nothing": "object",
        }  # fmt: skip
        row = {name: made[name].iloc[0] for name in made}
        assert (row["text"], row["category"], row["enum"]) == ("a", "x", "x")
        assert (row["whole"], row["real"], row["flag"]) == (2**60 + 1, 1.5, True)
        assert row["date"] == pd.Timestamp("2024-01-01")
        assert row["second"] == pd.Timestamp("1600-01-01")
        absent = made.columns.difference(["small", "sure"])
        assert made[absent].iloc[1].isna().all()

    def test_missing_values_are_named_and_masked(self):
        pl = pytest.importorskip("polars")
        frame = self.frame(pl, count=[1, None, 3, 4, 5])
        with pytest.raises(MissingValues, match=r"'count' holds NaN: first of series 'b'.*row 1"):
            read_panel(frame, SCHEMA)
        panel = read_panel(frame, SCHEMA, Policy(missing="mask"))
        assert np.isnan(panel.target.values[:, 1]).sum() == 1

    def test_series_and_future(self):
        pl = pytest.importorskip("polars")
        panel = read_panel(pl.Series("load", [1.0, 2.0, 3.0]))
        assert panel.target.names == ("load",)
        assert read_panel(pl.Series([1, 2, 3])).target.names == ("y",)
        panel = read_panel(self.frame(pl), SCHEMA)
        filled = future_frame(panel, 1).assign(plan="y", open=1.0)
        filled["when"] = filled["when"].dt.tz_convert("UTC").dt.tz_localize(None)
        future = pl.DataFrame({name: filled[name].tolist() for name in filled})
        future = future.with_columns(pl.col("when").dt.replace_time_zone("UTC"))
        assert extended(panel, 1, future).tail(1).known.codes[:, 0].tolist() == [2, 2]

    def test_a_lazy_frame_is_collected_first(self):
        pl = pytest.importorskip("polars")
        with pytest.raises(WrongType, match=r"polars.*LazyFrame cannot be read.*data.collect\(\)"):
            read_panel(self.frame(pl).lazy(), SCHEMA)


class TestArrow:
    @pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
    def test_the_panel_is_the_same(self, unit):
        pa = pytest.importorskip("pyarrow")
        expected = FRAME.assign(when=FRAME["when"].dt.as_unit(unit))
        table = pa.Table.from_pandas(expected, preserve_index=False)
        panel = read_panel(table, SCHEMA)
        same(panel, read_panel(expected, SCHEMA))
        same(read_panel(table.to_batches()[0], SCHEMA), panel)

    def test_columns_of_every_type(self):
        pa = pytest.importorskip("pyarrow")
        days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
        table = pa.table(
            {
                "day": days,
                "y": pa.array([1, None, 3], pa.int32()),
                "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
                "money": pa.array([Decimal("1.5"), None, Decimal("2.5")]),
                "open": pa.array([True, None, False]),
            }
        )
        schema = Schema(target=["y", "money"], past=["kind", "open"])
        panel = read_panel(table, schema, Policy(missing="mask"))
        np.testing.assert_array_equal(panel.target.values, [[1, 1.5], [np.nan, np.nan], [3, 2.5]])
        np.testing.assert_array_equal(panel.past.values[:, 0], [1, np.nan, 0])
        assert panel.past.codes[:, 0].tolist() == [1, 2, 1]
        assert panel.index.stamps.equals(pd.DatetimeIndex(days))

    def test_any_stream_of_arrow(self):
        pa = pytest.importorskip("pyarrow")

        class Relation:
            def __init__(self, frame):
                self.table = pa.Table.from_pandas(frame, preserve_index=False)

            def __arrow_c_stream__(self, requested_schema=None):
                return self.table.__arrow_c_stream__(requested_schema)

        same(read_panel(Relation(FRAME), SCHEMA), read_panel(FRAME, SCHEMA))

    def test_a_stream_without_pyarrow(self, monkeypatch):
        class Relation:
            def __arrow_c_stream__(self, requested_schema=None):
                raise AssertionError

        def refuse(_data):
            raise ImportError("pyarrow")

        monkeypatch.setattr(pd.DataFrame, "from_arrow", refuse)
        with pytest.raises(WrongType, match=r"Relation is read through pyarrow.*pip install"):
            read_panel(Relation())


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"y": [1, 2]}, r"type dict cannot be read.*pd.DataFrame\(data\)"),
        (None, "type NoneType cannot be read"),
        ("frame.csv", "type str cannot be read"),
        (3.0, "type float cannot be read"),
        ({1.0, 2.0}, "type set cannot be read"),
        (object(), "type object cannot be read"),
        ((one for one in (1, 2)), "type generator cannot be read"),
    ],
)
def test_what_is_no_table(data, found):
    with pytest.raises(WrongType, match=found):
        read_panel(data)


@pytest.mark.parametrize("data", [[[1, 2], [3, 4], [5, 6]], ((1, 2), (3, 4), (5, 6))])
def test_lists_of_lists_are_arrays(data):
    panel = read_panel(data)
    assert panel.layout.array
    assert panel.target.values.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert read_panel(range(3)).target.values[:, 0].tolist() == [0, 1, 2]
