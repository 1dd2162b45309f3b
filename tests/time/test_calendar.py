import numpy as np
import pandas as pd
import pytest

from tsformer.time import calendar_features
from tsformer.time.freq import as_freq


def cycles(freq, **options):
    stamps = pd.date_range("2024-01-01", periods=50, freq=freq, **options)
    names, values = calendar_features(stamps, as_freq(freq))
    assert values.shape == (50, len(names))
    assert values.dtype == np.float32
    assert np.abs(values).max(initial=0) <= 1
    return {name.removesuffix("_sin").removesuffix("_cos") for name in names}


@pytest.mark.parametrize(
    ("freq", "expected"),
    [
        (
            "10s",
            {"second", "minute", "hour", "day_of_week", "day_of_month", "day_of_year", "month"},
        ),
        ("15min", {"minute", "hour", "day_of_week", "day_of_month", "day_of_year", "month"}),
        ("h", {"hour", "day_of_week", "day_of_month", "day_of_year", "month"}),
        ("D", {"day_of_week", "day_of_month", "day_of_year", "month"}),
        ("B", {"day_of_week", "day_of_month", "day_of_year", "month"}),
        ("W-FRI", {"day_of_month", "day_of_year", "month"}),
        ("MS", {"month"}),
        ("ME", {"month"}),
        ("QS", {"quarter"}),
        ("YE", set()),
    ],
)
def test_features_by_frequency(freq, expected):
    assert cycles(freq) == expected


def test_whole_numbers_have_no_calendar():
    assert calendar_features(pd.RangeIndex(5), 1)[1].shape == (5, 0)


def test_local_wall_time_counts():
    zoned = pd.date_range("2024-03-30", periods=96, freq="h", tz="Europe/Amsterdam")
    names, values = calendar_features(zoned, as_freq("h"))
    hour = values[:, names.index("hour_sin")]
    np.testing.assert_allclose(hour, np.sin(2 * np.pi * zoned.hour / 24), atol=1e-6)


def test_a_cycle_closes():
    stamps = pd.date_range("2024-01-01", periods=49, freq="h")
    names, values = calendar_features(stamps, as_freq("h"))
    at = names.index("hour_cos")
    np.testing.assert_allclose(values[0, at], values[24, at])
    assert values[12, at] == -1
