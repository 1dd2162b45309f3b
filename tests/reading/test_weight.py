import numpy as np
import pandas as pd
import pytest

from tsformer.errors import (
    InfiniteValues,
    MissingColumn,
    MissingValues,
    ParameterError,
    WrongType,
    WrongWeight,
)
from tsformer.panels import Policy, Schema
from tsformer.reading import extended, read_panel, write_frame

SCHEMA = Schema(target="y", weight="w")


def frame(weight=(1.0, 2.0, 0.0, 4.0, 5.0, 6.0)):
    days = pd.date_range("2024-01-01", periods=3)
    return pd.DataFrame(
        {"shop": list("bbbaaa"), "when": [*days, *days], "y": 1.0, "w": list(weight)}
    )


def test_weights_follow_their_rows():
    panel = read_panel(frame(), SCHEMA)
    assert panel.weight.tolist() == [4, 5, 6, 1, 2, 0]
    assert (panel.schema.weight, panel.schema.target) == ("w", ("y",))
    assert panel.tail(1).weight.tolist() == [6, 0]
    assert panel.select([1]).weight.tolist() == [1, 2, 0]
    assert extended(panel, 1).weight.tolist() == [4, 5, 6, 1, 1, 2, 0, 1]
    assert write_frame(panel)["w"].tolist() == [4, 5, 6, 1, 2, 0]


def test_no_weight_is_one():
    assert read_panel(frame().drop(columns="w")).weight.tolist() == [1] * 6


def test_a_weight_is_no_target_and_no_covariate():
    assert read_panel(frame(), Schema(weight="w")).schema.target == ("y",)
    assert read_panel(frame(), Schema(target="y", weight="w", past="rest")).schema.past == ()
    counts = frame().assign(w=[1, 2, 3, 4, 5, 6])
    assert read_panel(counts, SCHEMA).weight.tolist() == [4, 5, 6, 1, 2, 3]


def test_rows_that_are_put_back_weigh_one():
    panel = read_panel(frame().drop(index=1), SCHEMA, Policy(gaps="mask"))
    assert panel.weight.tolist() == [4, 5, 6, 1, 1, 0]


def test_later_data_may_lack_the_column():
    panel = read_panel(frame(), SCHEMA)
    later = read_panel(frame().drop(columns="w"), like=panel)
    assert later.weight.tolist() == [1] * 6
    assert later.schema.weight == "w"
    assert "w" not in write_frame(later)
    assert read_panel(frame(), like=later).weight.tolist() == panel.weight.tolist()
    zero = frame().assign(w=0.0)
    assert read_panel(zero, like=panel).weight.tolist() == [0] * 6


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        (np.nan, MissingValues, "'w' holds NaN: first of series 'a' at 2024-01-02.*row 4.*1 in"),
        (np.inf, InfiniteValues, "'w' holds inf: first of series 'a'.*row 4"),
        (-1.0, WrongWeight, "'w' holds a negative number: first of series 'a'.*row 4"),
    ],
)
@pytest.mark.parametrize("policy", [Policy(), Policy(missing="mask")])
def test_no_weight_at_all(value, kind, found, policy):
    weight = [1.0, 2.0, 3.0, 4.0, value, 6.0]
    with pytest.raises(kind, match=found):
        read_panel(frame(weight), SCHEMA, policy)


def test_other_wrong_weights():
    with pytest.raises(WrongWeight, match="'w' is 0 in all 6 rows"):
        read_panel(frame([0.0] * 6), SCHEMA)
    with pytest.raises(WrongType, match="'w' holds text"):
        read_panel(frame().assign(w="heavy"), SCHEMA)
    with pytest.raises(MissingColumn, match="'v'"):
        read_panel(frame(), Schema(target="y", weight="v"))
    with pytest.raises(ParameterError, match="two roles to 'w'"):
        read_panel(frame(), Schema(target="w", weight="w"))
    with pytest.raises(ParameterError, match="weight"):
        read_panel(frame(), Schema(weight=True))
    with pytest.raises(MissingColumn, match="'3'"):
        read_panel(frame(), Schema(weight=3))
