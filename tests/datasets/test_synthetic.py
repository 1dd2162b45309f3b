from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsformer.datasets import make_series
from tsformer.datasets.synthetic import Kind
from tsformer.errors import ParameterError

KINDS = get_args(Kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_frame_and_another_another(kind: Kind) -> None:
    once, again = make_series(kind, 50, seed=3), make_series(kind, 50, seed=3)
    pd.testing.assert_frame_equal(once, again)
    assert not once.equals(make_series(kind, 50, seed=4))


@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_stamps(kind: Kind) -> None:
    frame = make_series(kind, 30, freq="D", start="2020-02-20")
    expected = ["series", "time", "value"] if kind == "panel" else ["time", "value"]
    assert list(frame.columns) == expected
    assert frame["time"].iloc[0] == pd.Timestamp("2020-02-20")
    assert frame["time"].iloc[29] == pd.Timestamp("2020-03-20")
    assert np.isfinite(frame["value"]).all()


@given(st.sampled_from(KINDS), st.integers(1, 60), st.integers(1, 60))
def test_the_past_does_not_depend_on_the_length(kind: Kind, short: int, more: int) -> None:
    longer = make_series(kind, short + more, period=7, series=1)["value"].to_numpy()
    assert np.array_equal(longer[:short], make_series(kind, short, period=7, series=1)["value"])


def test_a_series_does_not_depend_on_its_neighbours() -> None:
    few, many = make_series("panel", 40, series=2), make_series("panel", 40, series=5)
    pd.testing.assert_frame_equal(few, many.iloc[:80])
    assert many.groupby("series").size().tolist() == [40] * 5


def test_each_kind_is_what_it_says() -> None:
    seasonal = make_series("seasonal", 96, noise=0.0)["value"].to_numpy()
    np.testing.assert_allclose(seasonal[24:], seasonal[:-24])
    trend = make_series("trend", 96, noise=0.0)["value"].to_numpy()
    np.testing.assert_allclose(trend[24:] - trend[:-24], 1.0)
    steps = make_series("steps", 96, noise=0.0)["value"]
    assert steps.nunique() == 4
    walk = make_series("random_walk", 4000, noise=0.0)["value"]
    assert walk.diff().std() == pytest.approx(1.0, abs=0.05)


def test_the_global_generator_is_left_alone() -> None:
    np.random.seed(0)
    expected = np.random.random()
    np.random.seed(0)
    make_series("panel", 10)
    assert np.random.random() == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "sesonal"}, "must be one of 'seasonal'"),
        ({"rows": 0}, "rows must be at least 1"),
        ({"series": 0}, "series must be at least 1"),
        ({"period": -1}, "period must be at least 1"),
        ({"noise": -0.1}, "noise must be finite"),
        ({"noise": float("nan")}, "noise must be finite"),
    ],
)
def test_what_is_out_of_range_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_series(**{"kind": "seasonal", "rows": 5, **options})
