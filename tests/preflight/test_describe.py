import time

import numpy as np
import pandas as pd
import pytest
import torch

import tsformer
from tsformer import Policy, Schema, describe
from tsformer.models import Informer

STAMPS = pd.date_range("2024-01-01", periods=100)


def clean():
    return pd.DataFrame({"y": np.sin(np.arange(100)) + 3}, index=STAMPS)


def test_a_clean_frame():
    report = describe(clean(), horizon=7)
    assert report.exit_code == 0 and report.findings == ()
    assert report.facts["rows"] == "100"
    assert report.facts["span"] == "2024-01-01 to 2024-04-09"
    assert report.facts["frequency"] == "D"
    assert report.facts["windows"] == "78 of context 16 and horizon 7"
    assert str(report).endswith("clean: fit takes it as it is")


def test_a_notebook_shows_a_table():
    shown = describe(clean(), horizon=7)._repr_html_()
    assert "<th>rows</th>" in shown and "<td>100</td>" in shown and "clean: fit" in shown
    wrong = clean().rename(columns={"y": "a<b"})
    wrong.iloc[3] = np.nan
    said = describe(wrong)._repr_html_()
    assert "<b>error</b>" in said and "a&lt;b" in said and "a<b" not in said


def test_every_error_is_reported_not_the_first_alone():
    frame = clean().reset_index(names="day")
    frame.loc[5, "y"] = np.nan
    frame.loc[9, "y"] = np.inf
    frame = pd.concat([frame.drop(index=[30, 31]), frame.iloc[[50]]])
    report = describe(frame)
    assert report.exit_code == 2
    errors = [one.text for one in report.findings if one.level == "error"]
    assert len(errors) == 4
    for words in ("more than once", "holds inf", "holds NaN", "2024-01-30"):
        assert any(words in one for one in errors), words
    assert report.facts["rows"] == "100"


def test_what_a_policy_deals_with_is_a_warning():
    frame = clean()
    frame.iloc[5] = np.nan
    assert describe(frame).exit_code == 2
    report = describe(frame, policy=Policy(missing="mask"))
    assert report.exit_code == 1
    assert "masked" in report.findings[0].text


def test_what_cannot_be_read_is_reported_alone():
    report = describe(pd.DataFrame({"word": ["a", "b"]}))
    assert report.exit_code == 2 and report.facts == {} and len(report.series) == 0
    assert "no numeric column" in str(report)


def test_short_series_are_errors_or_what_the_policy_says():
    parts = [clean().assign(id="a"), clean()[:9].assign(id="b")]
    frame = pd.concat(parts).reset_index(names="day")
    schema = Schema(series="id")
    report = describe(frame, schema=schema, horizon=7, context=14)
    assert "series 'b' has 9 rows; context 14 + horizon 7 need 21" in str(report)
    assert report.exit_code == 2
    dropped = describe(frame, schema=schema, horizon=7, context=14, policy=Policy(short="drop"))
    assert dropped.exit_code == 1
    assert dropped.facts["windows"].startswith("80 ")
    assert dropped.series["rows"].tolist() == [100, 9]


def test_the_table_of_series():
    frame = clean()
    frame.iloc[5] = np.nan
    (row,) = describe(frame, policy=Policy(missing="mask")).series.to_dict("records")
    assert row == {
        "series": 0, "rows": 100, "start": STAMPS[0], "end": STAMPS[-1], "missing": 1,
        "constant": False,
    }  # fmt: skip


def test_late_covariates_are_noted():
    frame = clean().assign(rain=1.0 + np.arange(100))
    frame.iloc[-2:, 1] = np.nan
    report = describe(frame, schema=Schema(target="y", past="rain"), policy=Policy(missing="mask"))
    assert any("arrive late: rain" in one.text for one in report.findings)


def test_nothing_is_changed_or_fitted():
    frame = clean()
    before, states = frame.copy(), (torch.get_rng_state(), np.random.get_state()[1].copy())
    describe(frame, model=Informer(d_model=8, n_heads=1, d_ff=8))
    pd.testing.assert_frame_equal(frame, before)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert (np.random.get_state()[1] == states[1]).all()


@pytest.mark.parametrize("rows", [2000])
def test_the_time_of_an_epoch_is_about_what_it_takes(rows):
    frame = pd.DataFrame({"y": np.sin(np.arange(rows))})
    model = Informer(d_model=16, n_heads=2, d_ff=32)
    told = describe(frame, horizon=8, context=32, model=model).facts["time an epoch"]
    began = time.perf_counter()
    forecaster = tsformer.Forecaster(model, horizon=8, context=32)
    forecaster.set_params(training__epochs=1, training__validation=None).fit(frame)
    taken = time.perf_counter() - began
    # a factor of ten: the order of magnitude is what one plans by
    assert taken / 10 < float(told.split(" s")[0]) < taken * 10


def test_an_array_and_a_dataset_frame_are_described():
    assert describe(np.arange(60.0)).facts["rows"] == "60"
    assert "passengers" in str(describe(tsformer.load_dataset("air_passengers").frame))


def test_a_value_that_only_the_rows_kept_for_validation_hold():
    frame = clean()
    frame.iloc[-1, 0] = 1e300
    report = describe(frame, horizon=7)
    assert report.exit_code == 2 and "does not fit float32" in str(report)
