"""Values of parameters are compared by what they hold."""

import copy

import numpy as np
import pandas as pd
import pytest

from tsformer.panels import Policy, Schema
from tsformer.panels.equality import same_value

DAYS = pd.DatetimeIndex(list(pd.date_range("2024-01-01", periods=300)))
OTHER = DAYS.delete(150)  # they print the same but for the length
MOVED = DAYS.where(np.arange(300) != 150, pd.Timestamp("1999-01-01"))


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "day",
        ["a", ("b", 2)],
        {"x": {"y": 1.5}},
        DAYS,
        np.arange(2000.0),
        pd.Series([1.0, np.nan], index=["a", "b"]),
        pd.DataFrame({"a": ["x", "y"]}),
        Schema(target="y", holidays=DAYS),
        Policy(ignore=[("2020-01-01", None)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_copy_is_the_same(value):
    assert same_value(value, copy.deepcopy(value))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        ([1], (1,)),
        ([1], [1, 2]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        (np.zeros(2000), np.r_[np.zeros(1000), 1, np.zeros(999)]),
        (np.zeros(2), np.zeros(2, int)),
        (np.zeros(2), np.zeros((2, 1))),
        (DAYS, OTHER),
        (DAYS, MOVED),
        (DAYS, DAYS.tz_localize("UTC")),
        (DAYS, DAYS.rename("x")),
        (pd.Series([1.0, 2.0]), pd.Series([1.0, 2.0], index=[1, 2])),
        (Schema(holidays=DAYS), Schema(holidays=MOVED)),
        (Schema(target="y"), Schema(target=["y"])),
        (Schema(), Policy()),
        (Schema(), None),
        (lambda: 1, lambda: 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_differs_anywhere_is_not(one, other):
    assert not same_value(one, other)
    assert not same_value(other, one)


def test_the_dates_that_differ_print_alike():
    assert repr(DAYS) == repr(MOVED)
