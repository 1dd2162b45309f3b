"""What a fit promises later on: nothing set afterwards moves it, nothing unknown is used."""

import numpy as np
import pandas as pd
import pytest
import torch

from tsformer import Drift, Forecaster, Policy, Schema, SeasonalNaive, backtest
from tsformer.errors import ParameterError, SeriesTooShort
from tsformer.models import InvertedTransformer, Linear
from tsformer.panels import Shift
from tsformer.reading import read_panel
from tsformer.training import Training
from tsformer.windows import WindowDataset

WEEK = np.array([0.0, 1.0, 4.0, 2.0, 6.0, 3.0, 5.0])


def weekly(rows: int) -> pd.DataFrame:
    stamps = pd.date_range("2024-01-01", periods=rows, name="day")
    return pd.DataFrame({"y": WEEK[np.arange(rows) % 7] + 10}, index=stamps)


def test_what_is_set_later_moves_no_fit():
    shift = Shift(lag=7)
    policy = Policy(missing="mask")
    frame = weekly(98) + np.arange(98)[:, None]
    frame.iloc[30] = np.nan
    fitted = Forecaster(Linear(), horizon=3, context=14, transforms=shift, policy=policy).fit(frame)
    before = fitted.predict(frame)
    shift.lag = 14
    policy.missing = "interpolate"
    policy.ignore = [("2024-03-01", None)]
    pd.testing.assert_frame_equal(fitted.predict(frame), before)
    pd.testing.assert_frame_equal(fitted.predict(), before)


def test_a_series_shorter_than_what_a_shift_looks_back_at():
    parts = [weekly(rows).assign(id=name) for rows, name in ((120, "a"), (40, "b"))]
    panel = pd.concat(parts).reset_index()
    options = {"horizon": 3, "context": 14, "transforms": Shift(lag=56)}
    with pytest.raises(SeriesTooShort, match=r"'b' has 40 rows; .*look back at need 56"):
        Forecaster(Linear(), policy=Policy(short="pad"), **options).fit(panel)
    with pytest.warns(UserWarning, match="left out"):
        fitted = Forecaster(Linear(), policy=Policy(short="drop"), **options).fit(panel)
    assert fitted.reach_ == 56 and fitted.predict()["id"].unique().tolist() == ["a"]
    result = backtest(Forecaster(Linear(), **options), panel, folds=2)
    assert result.skipped["series"].tolist() == ["b", "b"]


def test_interpolation_leaves_ignored_and_absent_rows_out():
    frame = weekly(98)
    ignored = [("2024-02-10", "2024-02-12")]
    policy = Policy(missing="interpolate", gaps="mask", ignore=ignored)
    panel = read_panel(frame.drop(index=frame.index[60:62]), None, policy)
    assert np.flatnonzero(panel.masked).tolist() == [40, 41, 42, 60, 61]
    panel.target.values[50] = np.nan
    batch = WindowDataset(panel, context=30, horizon=1).gather(
        torch.tensor([0]), torch.tensor([65])
    )
    seen = batch.past_observed[0, :, 0]
    assert np.flatnonzero(~seen.numpy()).tolist() == [5, 6, 7, 25, 26]


def test_a_weight_of_nothing_is_no_answer():
    frame = weekly(60).assign(w=2.0)
    frame.iloc[[50, 52], 1] = 0.0
    panel = read_panel(frame, Schema(target="y", weight="w"))
    windows = WindowDataset(panel, context=14, horizon=4)
    batch = windows.gather(torch.zeros(2, dtype=torch.int64), torch.tensor([49, 20]))
    assert batch.future_observed[:, :, 0].tolist() == [[True, False, True, False], [True] * 4]
    assert batch.weight.tolist() == [2.0, 2.0]


def test_strides_keep_the_phase_of_the_folds():
    ends = []

    class Watched(Forecaster):
        def fit(self, data, y=None):
            ends.append(len(data))
            return super().fit(data)

    one = Watched(Linear(), horizon=2, context=7, training=Training(stride=7))
    backtest({"a": one, "b": SeasonalNaive(horizon=2, gap=3)}, weekly(98), folds=1)
    assert (98 - 2 - ends[0]) % 7 == 0 and 98 - 2 - ends[0] >= 3


def test_the_gap_is_kept_in_rows_where_series_interleave():
    parts = []
    for name, hour in (("a", 6), ("b", 18)):
        part = weekly(60).assign(id=name)
        part.index = part.index + pd.Timedelta(hours=hour)
        parts.append(part)
    frame = pd.concat(parts).reset_index()
    seen = []

    class Watched(SeasonalNaive):
        def fit(self, data, y=None):
            seen.append(data.groupby("id").size().tolist())
            return super().fit(data)

    backtest(Watched(horizon=1, gap=2, schema=Schema(series="id")), frame, folds=1)
    assert seen == [[58, 57]]


def test_candidates_that_ignore_different_rows_are_not_compared():
    policy = Policy(ignore=[("2024-02-01", "2024-02-10")])
    with pytest.raises(ParameterError, match="leave out different rows"):
        backtest(
            {"a": SeasonalNaive(horizon=2, policy=policy), "b": Drift(horizon=2)},
            weekly(98),
        )


def test_half_precision_is_judged_as_full_precision_is():
    random = np.random.default_rng(0)
    frame = weekly(200).assign(x=random.normal(size=200))
    frame["y"] = 100 * frame["x"] + 0.01 * random.normal(size=200)
    model = InvertedTransformer(d_model=8, n_heads=1, d_ff=8, encoder_layers=1)
    losses = [
        Forecaster(
            model, horizon=2, context=7, schema=Schema(target="y", known="x"),
            training=Training(epochs=2, learning_rate=1e-6, precision=precision),
        ).fit(frame).history_["validation_loss"].to_numpy()
        for precision in ("32-true", "bf16-mixed")
    ]  # fmt: skip
    np.testing.assert_allclose(losses[1], losses[0], rtol=0.1)
