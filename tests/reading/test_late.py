import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, SeasonalNaive
from tsformer.errors import ParameterError
from tsformer.evaluation import backtest
from tsformer.models import Linear
from tsformer.panels import Policy, Schema
from tsformer.reading import read_panel
from tsformer.windows import WindowDataset

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
    return read_panel(pd.concat(parts, ignore_index=True), schema, MASK)


def test_what_ends_early_is_late():
    assert late_panel().schema.late == {"rain": 2, "sky": 1}
    assert late_panel(rain=0, sky=0).schema.late == {}


def test_what_ends_with_the_target_is_not_late():
    assert late_panel(rain=3, sky=2, target=3).schema.late == {}


def test_without_covariates_nothing_is_late():
    assert read_panel(np.arange(5.0)).schema.late == {}


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


def numbered(rows=60, rain=2):
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=rows)})
    frame["y"] = np.sin(np.arange(rows)) + 5
    frame["rain"] = np.where(np.arange(rows) < rows - rain, np.arange(rows) % 3.0, np.nan)
    return frame


def test_nine_in_ten_series_decide():
    parts = [numbered(20, rain=rows).assign(id=f"s{rows:02}") for rows in (0, 0, 0, 0, 0, 3, 3, 3)]
    frame = pd.concat([part.assign(id=f"s{at}") for at, part in enumerate(parts)])
    schema = Schema(series="id", target="y", past="rain")
    assert read_panel(frame, schema, MASK).schema.late == {"rain": 3}
    dead = [numbered(20, rain=15 if at == 7 else 0).assign(id=f"s{at:02}") for at in range(20)]
    assert read_panel(pd.concat(dead), schema, MASK).schema.late == {}


def test_what_is_said_counts_where_it_is_more():
    schema = Schema(target="y", past="rain", late={"rain": 4})
    assert read_panel(numbered(), schema, MASK).schema.late == {"rain": 4}
    assert read_panel(numbered(rain=6), schema, MASK).schema.late == {"rain": 6}


@pytest.mark.parametrize("late", [{"y": 1}, {"rain": -1}, {"rain": 1.5}, {"rain": True}, ["rain"]])
def test_what_is_no_number_of_rows_is_refused(late):
    with pytest.raises(ParameterError, match="late"):
        read_panel(numbered(rain=0), Schema(target="y", past="rain", late=late), MASK)


def test_a_forecast_does_without_what_is_late():
    frame = numbered(rain=0)
    frame["rain"] = np.random.default_rng(0).normal(size=60)
    frame["y"] = frame["rain"].shift(2, fill_value=0.0) + 5
    schema = Schema(target="y", past="rain", late={"rain": 1})
    fitted = Forecaster(Linear(), horizon=2, context=10, schema=schema).fit(frame)
    other = frame.copy()
    other.loc[59, "rain"] = 1e3
    pd.testing.assert_frame_equal(fitted.predict(other), fitted.predict(frame))
    other.loc[58, "rain"] = 1e3
    assert not fitted.predict(other).equals(fitted.predict(frame))


class Watched(SeasonalNaive):
    """Notes what each fit of a backtest found to be late."""

    seen: list[dict[str, int]] = []  # noqa: RUF012

    def fit(self, data, y=None):
        super().fit(data)
        self.seen.append(self.schema_.late)
        return self


@pytest.mark.parametrize(
    ("said", "found"), [(None, [{}, {}, {}]), ({"rain": 3}, [{"rain": 3}] * 3)]
)
def test_each_fold_finds_what_is_late_in_its_own_rows_and_keeps_what_is_said(said, found):
    Watched.seen.clear()
    schema = Schema(target="y", past="rain", late=said)
    backtest(Watched(horizon=2, schema=schema, policy=MASK), numbered(), folds=3, refit=True)
    assert Watched.seen == found


def test_what_is_missing_at_the_end_of_all_data_moves_no_earlier_fold():
    schema, splits = Schema(target="y", past="rain"), {"folds": 3, "refit": True}
    first = []
    for rain in (0, 3):
        frame = numbered(rain=rain)
        frame["y"] += frame["rain"].fillna(1.0).shift(2, fill_value=0.0)
        forecaster = Forecaster(Linear(), horizon=4, context=10, schema=schema, policy=MASK)
        made = backtest(forecaster, frame, **splits).forecasts
        first.append(made[made["cutoff"] == made["cutoff"].min()]["forecast"].to_numpy())
    np.testing.assert_array_equal(first[0], first[1])
