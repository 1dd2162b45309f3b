import numpy as np
import pandas as pd
import pytest

from tsformer.estimators.parameters import default_context, default_model
from tsformer.models import Informer, Linear
from tsformer.reading import read_panel


def panel(rows, freq):
    return read_panel(
        pd.DataFrame(
            {"y": np.arange(float(rows))}, index=pd.date_range("2020", periods=rows, freq=freq)
        )
    )


@pytest.mark.parametrize(
    ("rows", "freq", "horizon", "expected"),
    [
        (5000, "h", 24, 168),  # a week
        (5000, "h", 200, 400),  # two horizons
        (5000, "D", 7, 16),
        (5000, "D", 20, 40),
        (500, "MS", 12, 24),  # two years
        (300, "YS", 3, 16),
        (40, "D", 7, 12),  # as many windows as steps of context
        (5, "D", 1, 1),
        (5, "D", 4, 1),
    ],
)
def test_the_context_suits_frequency_horizon_and_rows(rows, freq, horizon, expected):
    assert default_context(panel(rows, freq), horizon) == expected


def test_the_shortest_series_keeps_a_window():
    frame = pd.concat(
        [
            pd.DataFrame({"id": name, "ds": np.arange(rows), "y": np.arange(float(rows))})
            for name, rows in (("a", 300), ("b", 20), ("c", 300))
        ]
    )
    assert default_context(read_panel(frame), 5) == 15


def test_few_windows_get_the_line_and_many_a_network():
    assert isinstance(default_model(panel(500, "D"), 10, 5), Linear)
    assert isinstance(default_model(panel(600, "D"), 10, 5), Informer)
