import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tsformer.errors import MissingColumn, WrongTime, WrongType
from tsformer.panels import Policy, Schema
from tsformer.reading import extended, read_panel, write_frame


def stamps(periods=6, freq="D", **options):
    return pd.date_range("2024-01-01", periods=periods, freq=freq, **options)


def long_frame(series="unique_id", time="ds"):
    parts = [
        pd.DataFrame({series: name, time: stamps(rows), "y": np.arange(rows) + start})
        for name, rows, start in (("b", 6, 0.0), ("a", 4, 100.0))
    ]
    return pd.concat(parts, ignore_index=True)


def layouts():
    values = {"a": np.arange(6.0), "b": np.arange(6.0) * 2}
    wide = pd.DataFrame(values, index=stamps())
    named = wide.rename_axis("when")
    yield "wide index", wide
    yield "wide named index", named
    yield "wide column", named.reset_index()
    yield "time column not first", pd.DataFrame({**values, "when": stamps()})
    yield "period index", wide.set_axis(pd.period_range("2024-01", periods=6, freq="M"))
    yield "zone", wide.set_axis(stamps(tz="Asia/Kolkata"))
    yield "integer index", pd.DataFrame(values)
    yield "integer column", pd.DataFrame({"step": np.arange(10, 70, 10), **values})
    tall = long_frame().sort_values(["unique_id", "ds"], ignore_index=True)
    yield "long", tall
    yield "long with integer ids", tall.assign(unique_id=tall["unique_id"].map({"a": 1, "b": 2}))
    yield "long with category ids", tall.astype({"unique_id": "category"})
    yield "rows by series and time", tall.set_index(["unique_id", "ds"])
    yield "rows by time and series", tall.set_index(["ds", "unique_id"])
    yield "series column and time index", tall.set_index("ds")
    yield "unnamed levels", tall.set_index(["unique_id", "ds"]).rename_axis([None, None])


LAYOUTS = list(layouts())


@pytest.mark.parametrize("frame", [f for _, f in LAYOUTS], ids=[name for name, _ in LAYOUTS])
class TestLayouts:
    def test_comes_back(self, frame):
        back = write_frame(read_panel(frame))
        expected = frame[[*back.columns]]
        pd.testing.assert_frame_equal(back, expected, check_freq=False, check_column_type=False)

    def test_shuffled_rows_give_the_same_panel(self, frame):
        one = read_panel(frame)
        other = read_panel(frame.sample(frac=1, random_state=3))
        np.testing.assert_array_equal(one.target.values, other.target.values)
        np.testing.assert_array_equal(one.index.starts, other.index.starts)
        assert one.index.stamps.equals(other.index.stamps)
        assert one.index.ids.equals(other.index.ids)

    def test_the_callers_frame_is_untouched_and_shares_nothing(self, frame):
        before = frame.copy(deep=True)
        panel = read_panel(frame)
        panel.target.values[:] = -1
        extended(panel, 2).target.values[:] = -1
        pd.testing.assert_frame_equal(frame, before)

    def test_forecasts_look_like_the_frame(self, frame):
        panel = read_panel(frame)
        values = np.zeros((panel.n_series, 2, 1))
        made = panel.frame_of(values, ["y"], stamps=panel.index.future_stamps(2))
        assert len(made) == 2 * panel.n_series
        assert list(made.index.names) == list(frame.index.names)
        assert isinstance(frame.index, type(made.index)) or panel.layout.time_in == "column"
        for name in made.columns.intersection(frame.columns):
            if name != "y":
                assert made[name].dtype == frame[name].dtype

    def test_reading_again_like_itself(self, frame):
        panel = read_panel(frame)
        again = read_panel(frame, like=panel)
        np.testing.assert_array_equal(panel.target.values, again.target.values)
        assert again.schema.get_params() == panel.schema.get_params()


def test_ragged_series_are_sorted_and_laid_end_to_end():
    panel = read_panel(long_frame())
    assert list(panel.index.ids) == ["a", "b"]
    assert panel.index.starts.tolist() == [0, 4, 10]
    assert panel.index.lengths.tolist() == [4, 6]
    assert panel.target.values[:5, 0].tolist() == [100, 101, 102, 103, 0]
    assert (panel.n_series, panel.n_rows, panel.target.names) == (2, 10, ("y",))
    assert panel.known.values.shape == (10, 0)
    assert panel.static.codes.shape == (2, 0)


def test_series_and_arrays_and_lists():
    series = pd.Series(np.arange(5.0), index=stamps(5), name="load")
    assert read_panel(series).target.names == ("load",)
    assert read_panel(series.rename(None)).target.names == ("y",)
    for data in (np.arange(5.0), np.arange(5)[:, None], [[1.0], [2.0], [3.0]]):
        panel = read_panel(data)
        assert panel.layout.array
        assert panel.target.names == ("y0",)
        assert panel.index.stamps[0] == 0
        assert panel.index.freq == 1


def test_read_only_memory_is_fine():
    values = np.arange(6.0)[:, None]
    values.flags.writeable = False
    read_panel(values).target.values[0] = 3


class TestCutting:
    panel = read_panel(long_frame())

    def test_scalars_are_like_slices(self):
        assert self.panel.take(1, -1).target.values[:, 0].tolist() == [101, 102, 1, 2, 3, 4]
        assert self.panel.tail(2).target.values[:, 0].tolist() == [102, 103, 4, 5]
        assert self.panel.tail(5).index.lengths.tolist() == [4, 5]

    def test_arrays_cut_each_series(self):
        cut = self.panel.take(np.array([0, 2]), np.array([1, 4]))
        assert cut.target.values[:, 0].tolist() == [100, 2, 3]
        assert cut.index.starts.tolist() == [0, 1, 3]

    def test_empty_series_leave(self):
        cut = self.panel.take(4)
        assert list(cut.index.ids) == ["b"]
        assert cut.index.stamps[0] == pd.Timestamp("2024-01-05")

    def test_head_and_select(self):
        assert self.panel.head_until([1, 2]).index.lengths.tolist() == [1, 2]
        assert list(self.panel.select([1]).index.ids) == ["b"]
        assert list(self.panel.select([1, 0]).target.values[:, 0][[0, -1]]) == [0, 103]
        assert list(self.panel.select(np.array([False, True])).index.ids) == ["b"]

    def test_rows_of_a_stamp(self):
        assert self.panel.index.row_of("2024-01-03").tolist() == [2, 2]
        assert self.panel.index.row_of("2024-01-06").tolist() == [-1, 5]
        assert self.panel.index.count_before("2024-01-05").tolist() == [4, 4]
        assert self.panel.index.count_through("2024-01-05").tolist() == [4, 5]
        with pytest.raises(WrongTime):
            self.panel.index.row_of(3)

    def test_statics_follow_their_series(self):
        frame = long_frame().assign(size=[1] * 6 + [2] * 4, kind=["x"] * 6 + ["z"] * 4)
        panel = read_panel(frame, Schema(static=["size", "kind"]))
        assert panel.static.values.tolist() == [[2], [1]]
        assert panel.static.codes.tolist() == [[2], [1]]
        assert panel.select([1]).static.values.tolist() == [[1]]


class TestCovariates:
    frame = pd.DataFrame(
        {
            "ds": stamps(),
            "y": np.arange(6.0),
            "price": [1, 2, 3, 4, 5, 6],
            "holiday": [True, False, False, True, False, False],
            "plan": ["a", "b", "a", "c", "a", "b"],
            "rain": np.linspace(0, 1, 6),
            "sky": pd.Categorical(["blue", "grey", "blue", "blue", "grey", "grey"]),
        }
    )
    schema = Schema(target="y", known=["price", "plan", "holiday"], past="rest")

    def test_roles_and_codes(self):
        panel = read_panel(self.frame, self.schema)
        assert panel.known.names == ("price", "holiday")
        assert panel.known.values[:, 1].tolist() == [1, 0, 0, 1, 0, 0]
        assert panel.known.coded == ("plan",)
        assert panel.categories == {"plan": ("a", "b", "c"), "sky": ("blue", "grey")}
        assert panel.known.codes[:, 0].tolist() == [1, 2, 1, 3, 1, 2]
        assert panel.past.names == ("rain",)
        assert panel.past.codes[:, 0].tolist() == [1, 2, 1, 1, 2, 2]
        assert panel.schema.past == ("rain", "sky")
        pd.testing.assert_frame_equal(
            write_frame(panel)[["plan", "rain"]], self.frame[["plan", "rain"]]
        )

    def test_columns_are_matched_by_name(self):
        panel = read_panel(self.frame, self.schema)
        turned = read_panel(self.frame[self.frame.columns[::-1]], like=panel)
        np.testing.assert_array_equal(panel.known.values, turned.known.values)
        with pytest.warns(UserWarning, match="ignored: 'extra'"):
            more = read_panel(self.frame.assign(extra=1), like=panel)
        np.testing.assert_array_equal(panel.past.values, more.past.values)
        with pytest.raises(MissingColumn, match="'rain', 'price'"):
            read_panel(self.frame.drop(columns=["price", "rain"]), like=panel)

    def test_an_unseen_word_is_unknown(self):
        panel = read_panel(self.frame, self.schema)
        odd = self.frame.assign(plan=["a", "b", "a", "new", "a", "b"])
        with pytest.warns(UserWarning, match="'plan'.*'new'"):
            again = read_panel(odd, like=panel)
        assert again.known.codes[:, 0].tolist() == [1, 2, 1, 0, 1, 2]

    @pytest.mark.parametrize("column", ["price", "plan"])
    def test_a_column_that_changed_its_type_is_refused(self, column):
        panel = read_panel(self.frame, self.schema)
        odd = self.frame.assign(**{column: self.frame["plan" if column == "price" else "price"]})
        with pytest.raises(WrongType, match=f"'{column}'"):
            read_panel(odd, like=panel)

    def test_missing_words_are_masked(self):
        frame = self.frame.assign(sky=["blue", None, "blue", "blue", "grey", "grey"])
        panel = read_panel(frame, self.schema, Policy(missing="mask"))
        assert panel.past.codes[1, 0] == 0

    def test_constructors_only_store(self):
        known = ["price"]
        schema = Schema(target="y", known=known)
        assert schema.known is known
        assert read_panel(self.frame, schema).schema.known == ("price",)
        assert schema.known is known


def test_an_array_of_another_width_is_refused():
    panel = read_panel(np.zeros((5, 2)))
    with pytest.raises(MissingColumn, match="X has 1 features, but 2"):
        read_panel(np.zeros((5, 1)), like=panel)


def test_names_of_another_type_are_refused():
    frame = long_frame().assign(unique_id=[1] * 6 + [2] * 4)
    panel = read_panel(frame)
    with pytest.raises(WrongType, match=r"'1' \(text\).* 1 \(number\)"):
        read_panel(frame.astype({"unique_id": "str"}), like=panel)


def test_ids_are_equal_whatever_holds_their_text():
    panel = read_panel(long_frame())
    for kind in ("category", "object", "string"):
        other = read_panel(long_frame().astype({"unique_id": kind}), like=panel)
        assert other.index.ids.equals(panel.index.ids)


def test_calendar_belongs_to_the_panel():
    panel = read_panel(long_frame())
    assert panel.calendar.shape == (10, len(panel.calendar_names))
    assert panel.calendar.dtype == np.float32
    assert extended(panel, 2).calendar.shape[0] == 14


def test_the_series_may_be_the_index_and_time_a_column():
    frame = long_frame().set_index("unique_id")
    panel = read_panel(frame, Schema(series="unique_id"))
    pd.testing.assert_frame_equal(write_frame(panel), frame.sort_index(kind="stable"))
    made = panel.frame_of(np.zeros((2, 1, 1)), ["y"], stamps=panel.index.future_stamps(1))
    assert made.index.name == "unique_id"
    assert list(made.columns) == ["ds", "y"]


def test_the_layout_may_change_between_fit_and_predict():
    panel = read_panel(long_frame())
    turned = read_panel(long_frame().set_index(["unique_id", "ds"]), like=panel)
    np.testing.assert_array_equal(turned.target.values, panel.target.values)
    assert write_frame(turned).index.names == ["unique_id", "ds"]
    wide = pd.DataFrame({"when": stamps(), "y": np.arange(6.0)})
    fitted = read_panel(wide)
    assert read_panel(wide.set_index("when"), like=fitted).n_rows == 6
    assert read_panel(wide.set_index("when").tail(1), like=fitted).n_rows == 1


def test_a_panel_survives_pickling():
    panel = read_panel(long_frame().astype({"unique_id": "category"}))
    again = pickle.loads(pickle.dumps(panel))
    pd.testing.assert_frame_equal(write_frame(again), write_frame(panel))
    assert again.index.freq == panel.index.freq


def test_other_libraries_tables():
    pa = pytest.importorskip("pyarrow")
    frame = long_frame()
    panel = read_panel(pa.Table.from_pandas(frame))
    np.testing.assert_array_equal(panel.target.values, read_panel(frame).target.values)


@settings(max_examples=50, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    begin=st.integers(-7, 7),
    end=st.one_of(st.none(), st.integers(-7, 7)),
)
def test_take_is_a_slice_of_each_series(lengths, begin, end):
    frame = pd.concat(
        [
            pd.DataFrame({"unique_id": f"s{place}", "ds": np.arange(rows), "y": np.arange(rows)})
            for place, rows in enumerate(lengths)
        ]
    )
    panel = read_panel(frame, Schema(freq=1))
    expected = [list(range(rows))[begin:end] for rows in lengths]
    cut = panel.take(begin, end)
    found = [cut.target.values[a:b, 0].tolist() for a, b in itertools.pairwise(cut.index.starts)]
    assert found == [rows for rows in expected if rows]
    assert list(cut.index.ids) == [f"s{place}" for place, rows in enumerate(expected) if rows]


def test_columns_by_role():
    frame = long_frame().assign(size=[1] * 6 + [2] * 4, kind=["x"] * 6 + ["z"] * 4, sky="blue")
    panel = read_panel(frame, Schema(static=["size", "kind"], past="sky"))
    assert panel.static.names == ("size",)
    assert panel.static.coded == ("kind",)
    assert panel.past.coded == ("sky",)
    pd.testing.assert_frame_equal(
        write_frame(panel)[["kind", "sky"]].iloc[4:].reset_index(drop=True),
        frame[["kind", "sky"]].iloc[:6],
    )


def test_a_stamp_is_read_in_the_zone_of_the_panel():
    frame = pd.DataFrame({"y": np.arange(6.0)}, index=stamps(tz="Asia/Kolkata"))
    panel = read_panel(frame)
    assert panel.index.row_of("2024-01-02").tolist() == [1]
    assert panel.index.row_of(pd.Timestamp("2024-01-01 18:30", tz="UTC")).tolist() == [1]
    assert panel.index.row_of(pd.Period("2024-01-02")).tolist() == [1]
    plain = read_panel(frame.tz_localize(None))
    with pytest.raises(WrongTime, match="zone"):
        plain.index.row_of(pd.Timestamp("2024-01-02", tz="UTC"))
    assert read_panel(np.zeros((5, 1))).index.row_of(3).tolist() == [3]
