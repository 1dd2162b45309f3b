"""What is said of held-out windows: the error in units, how many there are, and the coverage."""

import numpy as np
import pandas as pd
import pytest

from tsformer.estimators import Forecaster, SeasonalNaive
from tsformer.evaluation.held_out import held_out
from tsformer.models import Linear
from tsformer.panels import Schema
from tsformer.reading import read_panel
from tsformer.training import Training

NOISE = np.random.default_rng(0).normal(size=200)
FRAME = pd.DataFrame(
    {"y": np.tile(np.arange(7.0), 29)[:200] * 10 + NOISE},
    index=pd.date_range("2024-01-01", periods=200),
)


def test_seasonal_persistence_by_hand() -> None:
    forecaster = SeasonalNaive(horizon=7).fit(FRAME)
    held = held_out(forecaster, read_panel(FRAME), None)
    values = FRAME["y"].to_numpy()
    first = 200 - 66  # the last third
    origins = np.arange(first, 200 - 7 + 1)
    errors = [np.abs(values[at : at + 7] - values[at - 7 : at]).mean() for at in origins]
    assert held is not None
    assert held.said == f"mean error {np.mean(errors):,.4g} over {len(origins)} held-out windows"
    np.testing.assert_allclose(held.last, values[None, 186:193])


def test_a_trained_model_on_its_validation_rows() -> None:
    forecaster = Forecaster(Linear(), horizon=7, context=14).fit(FRAME)
    held = held_out(forecaster, read_panel(FRAME), [0.1, 0.9])
    assert held is not None and held.last.shape == (1, 7)
    assert "held-out windows" in held.said and held.said.endswith("inside the 80 % band")
    earlier = forecaster.predict(FRAME[:193])["y"]
    np.testing.assert_allclose(held.last[0], earlier, rtol=1e-5)


def test_series_too_short_to_hold_rows_out_are_left_out() -> None:
    long, short = FRAME.assign(shop="a"), FRAME[-7:].assign(shop="b")
    both = pd.concat([long, short]).reset_index(names="day")
    forecaster = SeasonalNaive(horizon=7, season_length=7, schema=Schema(series="shop")).fit(both)
    held = held_out(forecaster, read_panel(both, forecaster.schema), [0.1, 0.9])
    assert held is not None and "over 60 held-out windows" in held.said
    assert held.last.shape == (2, 7) and held.spread.shape == (2, 7, 2)
    np.testing.assert_allclose(held.last[0], FRAME["y"].to_numpy()[186:193])
    assert np.isnan(held.last[1]).all() and np.isnan(held.spread[1]).all()


@pytest.mark.parametrize("training", [Training(refit_all=True), Training(validation=None)])
def test_nothing_is_said_of_rows_that_training_has_seen(training: Training) -> None:
    forecaster = Forecaster(Linear(), horizon=7, context=14, training=training).fit(FRAME)
    assert held_out(forecaster, read_panel(FRAME), [0.1, 0.9]) is None
