import numpy as np
import pandas as pd
import pytest

from tsformer.errors import WrongTime
from tsformer.panels import Policy, Schema
from tsformer.preflight import describe
from tsformer.preflight.findings import findings, named_rows
from tsformer.reading import read_panel

MASK = Policy(missing="mask")


def texts(frame, *, schema=None, level=None):
    panel = read_panel(frame, schema, MASK)
    return [one.text for one in findings(panel) if level in (None, one.level)]


def wave(rows=50):
    return pd.DataFrame(
        {"y": np.sin(np.arange(rows)) + 3}, index=pd.date_range("2024-01-01", periods=rows)
    )


def test_a_clean_panel_has_none():
    assert texts(wave()) == []


def test_missing_values_are_counted_with_their_longest_stretch():
    frame = wave().assign(z=1.5 + np.arange(50))
    frame.iloc[[3, 10, 11, 12, 49]] = np.nan
    frame.loc[frame.index[20], "y"] = np.nan
    found = texts(frame)
    assert found[0].startswith(
        "column 'y' has no value in 6 of 50 rows (12.0%, at most 3 in a row), first at 2024-01-04"
    )
    assert found[1].startswith("column 'z' has no value in 5 of 50 rows")


def test_columns_that_miss_the_same_rows_share_a_line():
    frame = wave().assign(a=1.0 + np.arange(50), b=2.0 + np.arange(50), c=np.arange(50.0))
    frame.iloc[4:6] = np.nan
    (found,) = texts(frame)
    assert found.startswith("columns 'y', 'a', 'b' and 1 more have no value in 2 of 50 rows")


def test_a_stretch_does_not_cross_series():
    parts = [wave(10).assign(id=name) for name in "ab"]
    parts[0].iloc[8:, 0] = np.nan
    parts[1].iloc[:3, 0] = np.nan
    frame = pd.concat(parts).rename_axis("day").reset_index()
    (found,) = texts(frame, schema=Schema(series="id"))
    assert "at most 3 in a row" in found and "of series 'a' at 2024-01-09" in found


def test_a_code_for_missing_values_is_suspected():
    frame = wave()
    frame.iloc[[7, 9], 0] = -9999.0
    (found,) = texts(frame)
    assert "holds -9999 in 2 rows, first at 2024-01-08" in found
    assert 'frame["y"].replace(-9999, float("nan"))' in found


def test_a_large_number_among_large_numbers_is_no_code():
    frame = wave()
    frame["y"] = np.linspace(9000, 11000, 50)
    frame.iloc[25, 0] = 9999.0
    assert texts(frame) == []


def test_what_never_changes_is_named():
    parts = [wave(10).assign(id="a"), wave(10).assign(id="b", y=4.0)]
    frame = pd.concat(parts).rename_axis("day").reset_index()
    (found,) = texts(frame, schema=Schema(series="id"))
    assert found == "the target 'y' never changes in 1 of 2 series, first 'b'"


def test_series_that_end_early_are_named():
    parts = [wave(10).assign(id="a"), wave(8).assign(id="b")]
    frame = pd.concat(parts).rename_axis("day").reset_index()
    (found,) = texts(frame, schema=Schema(series="id"))
    assert "1 of 2 series end before 2024-01-10" in found and "'b'" in found


def test_many_zeros_are_noted():
    frame = wave()
    frame.iloc[:30, 0] = 0.0
    assert "is 0 in 60% of its rows" in texts(frame, level="note")[0]


def test_many_lines_of_a_kind_are_cut_short():
    frame = wave().assign(**{f"c{at}": 1.0 for at in range(9)})
    found = texts(frame)
    assert len(found) == 7 and found[-1] == "and 3 more like the last"
    assert len(texts(frame.drop(columns=["c7", "c8"]))) == 7  # one more is shown, not counted


def test_a_table_of_one_series_a_row():
    values = np.random.default_rng(0).normal(size=(30, 8))
    wide = pd.DataFrame(values).rename(columns="V{}".format)
    wide.insert(0, "id", [f"H{row}" for row in range(30)])
    with pytest.raises(WrongTime, match="column 'id' names each of the 30 rows"):
        read_panel(wide)
    counted = Schema(freq=1)
    (found,) = named_rows(wide, read_panel(wide, counted))
    assert found.level == "warning" and "column 'id' names each of the 30 rows" in found.text
    assert describe(wide, horizon=3, schema=counted).findings == (found,)
    for other in (
        wide.drop(columns="id"),
        wide.assign(id="H1"),
        wide.assign(id=pd.date_range("2024-01-01", periods=30).astype("str")),
        wide.set_index(pd.date_range("2024-01-01", periods=30)),
    ):
        assert named_rows(other, read_panel(other)) == []
    narrow = wide.iloc[:, :4]
    assert named_rows(narrow, read_panel(narrow, counted)) == []
    assert named_rows(values, read_panel(values)) == []
