import numpy as np
import pandas as pd
import pytest

from tsformer.panels import Panel, Policy, Schema
from tsformer.reading import read_panel


@pytest.fixture
def full_panel() -> Panel:
    """Two series of 12 and 9 rows, every role and kind of covariate, and some gaps."""
    random = np.random.default_rng(0)
    parts = []
    for name, rows in (("a", 12), ("b", 9)):
        parts.append(
            pd.DataFrame(
                {
                    "id": name,
                    "day": pd.date_range("2024-01-01", periods=rows),
                    "y": random.normal(size=rows) * 5 + 100,
                    "z": random.normal(size=rows),
                    "wind": random.normal(size=rows) * 3,
                    "price": random.normal(size=rows) + 7,
                    "sky": random.choice(["clear", "rain", "snow"], rows),
                    "promotion": random.choice(["no", "yes"], rows),
                    "size": 1.0 if name == "a" else 4.0,
                    "region": "north" if name == "a" else "south",
                }
            )
        )
    frame = pd.concat(parts, ignore_index=True)
    frame.loc[[3, 4], "y"] = np.nan
    frame.loc[6, "wind"] = np.nan
    frame.loc[7, "price"] = np.nan
    schema = Schema(
        series="id",
        target=["y", "z"],
        past=["wind", "sky"],
        known=["price", "promotion"],
        static=["size", "region"],
    )
    return read_panel(frame, schema, Policy(missing="mask"))
