import numpy as np
import pandas as pd

from tsformer.frames import Panel, Policy, Schema
from tsformer.windows import WindowDataset, late_rows

MASK = Policy(missing="mask")


def late_panel(rain=2, sky=1, target=0):
    parts = []
    for name, rows in (("a", 12), ("b", 9), ("c", 10)):
        part = pd.DataFrame({"id": name, "day": pd.date_range("2024-01-01", periods=rows)})
        part["y"] = np.where(np.arange(rows) < rows - target, np.arange(1.0, rows + 1), np.nan)
        part["rain"] = np.where(np.arange(rows) < rows - rain, 5.0, np.nan)
        part["sky"] = np.where(np.arange(rows) < rows - sky, "dry", None)
        parts.append(part)
    schema = Schema(series="id", target="y", past=["rain", "sky"])
    return Panel.from_frame(pd.concat(parts, ignore_index=True), schema, MASK)


def test_what_ends_early_is_late():
    assert late_rows(late_panel()) == (2, 1)
    assert late_rows(late_panel(rain=0, sky=0)) == (0, 0)


def test_what_ends_with_the_target_is_not_late():
    assert late_rows(late_panel(rain=3, sky=2, target=3)) == (0, 0)


def test_without_covariates_nothing_is_late():
    assert late_rows(Panel.from_frame(np.arange(5.0))) == ()


def test_late_rows_are_hidden_from_every_context():
    panel = late_panel(rain=0, sky=0)
    plain = WindowDataset(panel, context=4, horizon=2)
    hidden = WindowDataset(panel, context=4, horizon=2, edges=(2, 1))
    numbers = range(len(plain))
    before, after = plain.__getitems__(numbers), hidden.__getitems__(numbers)
    assert after.past_present[:, :2].all() and not after.past_present[:, 2:].any()
    assert (after.past[:, 2:] == 0).all()
    assert (after.past_codes[:, :3] == before.past_codes[:, :3]).all()
    assert (after.past_codes[:, 3:] == 0).all()
    assert (after.past_target == before.past_target).all()
