import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster
from tsformer.models import Linear
from tsformer.panels import Schema
from tsformer.reading import read_panel


def weather(kind):
    day = pd.date_range("2024-01-01", periods=40)
    words = np.array(["dry", "wet"] * 19 + ["hail", "wet"])
    sky = pd.Series(words, dtype="category" if kind == "category" else "str")
    return pd.DataFrame({"day": day, "y": np.sin(np.arange(40.0)) + 5, "sky": sky})


@pytest.mark.parametrize("kind", ["text", "category"])
def test_a_word_of_later_rows_changes_nothing_that_is_learnt(kind):
    schema = Schema(target="y", past="sky")
    early = weather(kind).iloc[:38]
    panel = read_panel(early, schema)
    assert panel.categories == {"sky": ("dry", "wet")}
    assert panel.past.codes.ravel().tolist() == [1, 2] * 19
    plain = early.assign(sky=early["sky"].astype("str"))
    forecaster = Forecaster(Linear(), horizon=2, context=8, schema=schema)
    pd.testing.assert_frame_equal(
        forecaster.fit(early).predict(), forecaster.fit(plain).predict(), check_exact=True
    )


@pytest.mark.parametrize("kind", ["text", "category"])
def test_a_word_that_fit_has_not_seen_is_unknown_and_said(kind):
    panel = read_panel(weather(kind).iloc[:38], Schema(target="y", past="sky"))
    with pytest.warns(UserWarning, match="'sky' holds words that fit has not seen .'hail'"):
        later = read_panel(weather(kind), like=panel)
    assert later.past.codes.ravel().tolist()[-2:] == [0, 2]
