import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, Policy
from tsformer.errors import SeriesTooShort
from tsformer.models import Linear
from tsformer.reading import read_panel, write_frame


def ragged(*lengths: int) -> pd.DataFrame:
    parts = [
        pd.DataFrame(
            {
                "id": f"s{at}",
                "day": pd.date_range("2024-01-01", periods=rows),
                "y": np.sin(np.arange(rows) * 0.9) * (at + 1) + at,
            }
        )
        for at, rows in enumerate(lengths)
    ]
    return pd.concat(parts, ignore_index=True)


def forecaster(short: str, **given) -> Forecaster:
    options = {"horizon": 3, "context": 12, **given}
    return Forecaster(Linear(), **options, policy=Policy(short=short))


def test_a_short_series_is_named_with_what_it_needs():
    with pytest.raises(SeriesTooShort, match=r"'s1' has 14 rows; context 12 \+ horizon 3 need 15"):
        forecaster("error").fit(ragged(60, 14, 9))
    with pytest.raises(SeriesTooShort, match=r"2 of 3 series.*short=\"drop\""):
        forecaster("error").fit(ragged(60, 14, 9))
    assert forecaster("error").fit(ragged(60, 15)).short_.empty


def test_a_short_series_may_be_left_out():
    with pytest.warns(UserWarning, match=r"2 of 3 series have fewer than 15 rows .*'s1'"):
        fitted = forecaster("drop").fit(ragged(60, 14, 9))
    assert fitted.short_.to_dict("list") == {
        "series": ["s1", "s2"], "rows": [14, 9], "needed": [15, 15], "done": ["dropped"] * 2,
    }  # fmt: skip
    alone = forecaster("error").fit(ragged(60))
    assert fitted.predict()["id"].unique().tolist() == ["s0"]
    np.testing.assert_array_equal(fitted.predict()["y"], alone.predict()["y"])


def test_what_is_too_short_to_forecast_is_left_out_of_a_forecast():
    fitted = forecaster("drop").fit(ragged(60, 50))
    with pytest.warns(UserWarning, match=r"1 of 2 series have fewer than 12 rows"):
        found = fitted.predict(ragged(60, 11))
    assert found["id"].unique().tolist() == ["s0"]
    with pytest.raises(SeriesTooShort, match="context 12 need 12"):
        fitted.predict(ragged(11, 5))


def test_nothing_left_is_an_error():
    with pytest.raises(SeriesTooShort, match="2 of 2"):
        forecaster("drop").fit(ragged(9, 8))


def test_a_short_series_may_be_padded():
    fitted = forecaster("pad").fit(ragged(60, 14, 9))
    assert fitted.short_["done"].tolist() == ["padded", "padded"]
    found = fitted.predict()
    assert found["id"].tolist() == ["s0"] * 3 + ["s1"] * 3 + ["s2"] * 3
    assert found["day"].tolist()[-3:] == list(pd.date_range("2024-01-10", periods=3))
    assert np.isfinite(found["y"]).all()


def test_padding_changes_no_forecast_of_a_long_series():
    short, both = ragged(60, 14), ragged(60, 50)
    fitted = forecaster("pad").fit(both)
    alone = fitted.predict(ragged(60))["y"]
    np.testing.assert_allclose(fitted.predict(short)["y"][:3], alone, rtol=1e-6)


def test_a_padded_window_holds_what_there_is():
    fitted = forecaster("pad").fit(ragged(60, 50))
    history = ragged(60, 5)
    lone = history[history["id"] == "s1"]
    masked = read_panel(lone, fitted.schema_).pad(7)
    assert masked.index.lengths.tolist() == [12]
    padded = fitted.predict(lone)["y"].to_numpy()
    direct = forecaster("error").set_params(policy__missing="mask").fit(ragged(60, 50))
    by_hand = write_frame(masked)
    np.testing.assert_allclose(direct.predict(by_hand)["y"].to_numpy(), padded, rtol=1e-6)


def test_a_padding_forecaster_scores_from_the_first_row_on():
    fitted = forecaster("pad").fit(ragged(60, 50))
    assert np.isfinite(fitted.score(ragged(62, 4)))
