"""Rows 59 to 75: series, and what is passed to predict."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import torch
from contract_rows import (
    BAD,
    BEGIN,
    EXPECTED,
    HORIZON,
    LENGTH,
    at_the_doors,
    fit,
    fitted,
    forecaster,
    future,
    good,
    panel,
    plain,
    predict,
    put,
    refused,
    right,
    schema,
    wave,
)  # fmt: skip
from sklearn.exceptions import NotFittedError

from tsformer import Schema, SeasonalNaive, Training, backtest
from tsformer.errors import (
    DuplicateTimestamp,
    ForecastError,
    InfiniteValues,
    MissingFuture,
    WrongFrequency,
    WrongTime,
    WrongType,
)

NEW = "at 2024-02-11 00:00:00"  # the second row to forecast


def test_59_series_without_a_name() -> None:
    for call in at_the_doors(put("shop", None, BAD, BAD + 6)):
        refused(call, "'shop' has no name in row 44 .2 such", "Name them", kind=WrongType)
    usual = panel().rename(columns={"shop": "unique_id"}).assign(unique_id=1.0)
    nameless = put("unique_id", np.nan, frame=usual)
    said = "'unique_id' has no name in row 44 .1 such"
    refused(fit(nameless, schema=schema(series=None)), said, kind=WrongType)


def test_60_names_of_mixed_types() -> None:
    mixed = put("shop", 1, BAD, BAD + 6, to=object)
    said = "'shop' holds int and str, int first in row 44 .1, 2 such"
    for call in (*at_the_doors(mixed), fit(mixed, schema=schema(series=None))):
        refused(call, said, "astype", kind=WrongType)


def test_61_number_or_text_as_a_name() -> None:
    numbers = panel().assign(shop=np.repeat([1, 2, 3], LENGTH))
    later = future(shop=np.repeat([1, 2, 3], HORIZON))
    by_number = forecaster().fit(numbers)
    text, later_text = (one.astype({"shop": "str"}) for one in (numbers, later))
    said = "'shop' holds '1' .text. here, but 1 .number. in fit"
    refused(lambda: by_number.predict(text, future=later), said, "astype", kind=WrongType)
    refused(lambda: by_number.predict(future=later_text), said, "astype", kind=WrongType)
    by_text = forecaster().fit(text)
    refused(lambda: by_text.predict(numbers, future=later_text), "but '1' .text", kind=WrongType)


def test_62_unknown_series() -> None:
    names = {"a": "a", "b": "new", "c": "c"}
    history, later = (one.assign(shop=one["shop"].map(names)) for one in (panel(), future()))
    order = [0, 1, 2, 6, 7, 8, 3, 4, 5]
    for scaling in ("window", "series", "global"):
        made = forecaster(scaling=scaling).fit(panel()).predict(history, future=later)
        right(made, EXPECTED[order])
        assert made["shop"].tolist() == ["a", "a", "a", "c", "c", "c", "new", "new", "new"]


def test_63_a_million_series() -> None:
    count = 1_000_000
    small = Schema(series="id", time="t", target="y", freq=1)
    times = Training(validation=None)
    trend = forecaster(schema=small, context=2, horizon=1, training=times)
    trend.fit(pd.DataFrame({"id": 0, "t": range(9), "y": np.arange(9.0)}))
    many = pd.DataFrame(
        {
            "id": np.arange(count).repeat(2),
            "t": np.tile([5, 6], count),
            "y": np.arange(count).repeat(2) + np.tile([0.0, 1.0], count),
        }
    )
    made = trend.predict(many)
    assert made["id"].tolist() == list(range(count))
    assert (made["t"] == 7).all()
    np.testing.assert_allclose(made["y"], np.arange(count) + 2, atol=0.02)


def test_64_unequal_series() -> None:
    uneven = panel().drop(index=[*range(10), *range(BEGIN + 35, BEGIN + LENGTH)])
    days = future()["when"].where(future()["shop"] != "b", future()["when"] - pd.Timedelta("5D"))
    made = forecaster().fit(uneven).predict(future=future(when=days))
    expected = EXPECTED.copy()
    expected[3:6] = wave(HORIZON, 35) + 10
    right(made, expected)
    assert made["when"].tolist() == days.tolist()


def test_65_future_too_short_late_or_early() -> None:
    for later, said in (
        (future().drop(index=5), "2 of the 3 rows.*'b' for 'price'.*2024-02-12.*1 in all"),
        (future().drop(index=3), "2 of the 3 rows.*'b'.*missing is 2024-02-10.*1 in all"),
        (future(2), "2 of the 3 rows.*'a'.*missing is 2024-02-12.*3 in all"),
        (future(days=pd.date_range("2024-02-11", periods=3)), "missing is 2024-02-10.*3 in all"),
        (future(days=pd.date_range("2024-02-01", periods=3)), "0 of the 3.*02-10.*9 in all"),
        (None, "'price' are known in advance.*3 more rows of series 'a', from 2024-02-10.*Pass"),
    ):
        refused(predict(future=later), said, "Add them|Pass them", kind=MissingFuture)


def test_66_future_too_long() -> None:
    made = fitted().predict(future=future(30))
    assert made.equals(fitted().predict(future=future()))
    right(made)


def test_67_future_with_duplicates() -> None:
    twice = pd.concat([future(), future().iloc[[4]]], ignore_index=True)
    said = rf"repeats rows: first of series 'b' {NEW} \(row 9\), 1 in all"
    refused(predict(future=twice), said, "Keep one", kind=DuplicateTimestamp)


def test_68_future_with_holes() -> None:
    for value, what, kind in (
        (np.nan, "NaN", MissingFuture), (np.inf, "inf", InfiniteValues),
        (-np.inf, "inf", InfiniteValues),
    ):  # fmt: skip
        later = put("price", value, 4, 5, frame=future())
        said = f"'price' of the future frame holds {what} of series 'b' {NEW} .2 such"
        refused(predict(future=later), said, "needs numbers there", kind=kind)


def test_69_future_of_a_past_covariate() -> None:
    said = "'temp' is a past covariate.*holds it in 9 rows"
    refused(predict(future=future(temp=1.0)), said, "Leave it out", kind=WrongType)
    right(fitted().predict(future=future(temp=np.nan)))


def test_70_another_type_than_in_fit() -> None:
    for name in ("y", "temp", "price", "size"):
        text = panel().assign(**{name: "word"})
        said = f"'{name}' holds text.*'word' of series 'a' at 2024-01-01 .*row 0"
        refused(predict(history=text), said, "[Cc]onvert it", kind=WrongType)
    for word in ("word", "1.5"):
        said = f"'price' of the future frame is str; in fit it was numbers .*'{word}' of series 'a'"
        refused(predict(future=future(price=word)), said, "Convert it", kind=WrongType)
    worded = forecaster().fit(panel(temp="x", price="x", size="x"))
    for name in ("temp", "price", "size"):
        history = panel(temp="x", price="x", size="x").assign(**{name: 1.0})
        said = f"'{name}' holds numbers here .float64, first: 1.0 of series 'a' .*held text in fit"
        refused(lambda h=history: worded.predict(h, future=future(price="x")), said, kind=WrongType)
    said = "'price' of the future frame is float64; in fit it was text"
    refused(lambda: worded.predict(future=future(price=1.0)), said, kind=WrongType)


def test_71_another_frequency_than_in_fit() -> None:
    for freq, said in (
        ("h", "2024-01-01 01:00:00 .* in series 'a' .row 1. is not a step of 'D' .* such"),
        ("2D", "series 'a' goes by '2D', not by 'D' .3 such"),
        ("ME", "series 'a' goes by 'ME', not by 'D' .3 such"),
    ):
        days = pd.date_range("2024-01-01", periods=LENGTH, freq=freq)
        refused(predict(history=panel(days=days)), said, kind=WrongFrequency)
    numbered = panel(days=np.arange(LENGTH))
    refused(predict(history=numbered), "whole numbers here, but was dates in fit", kind=WrongTime)


def test_72_before_fit() -> None:
    for each in (forecaster(), SeasonalNaive(horizon=HORIZON)):
        for call in (
            each.predict,
            each.make_future_frame,
            lambda each=each: each.score(panel()),
            lambda each=each: each.save("nowhere"),
        ):
            refused(call, "not fitted yet", kind=NotFittedError)


def fingerprint(frame: pd.DataFrame) -> list[Any]:
    rows = pd.util.hash_pandas_object(frame).tolist()
    return [rows, frame.dtypes.tolist(), [*frame.columns], frame.index.names, dict(frame.attrs)]


def test_73_the_frame_is_never_changed() -> None:
    values = np.random.default_rng(0).normal(size=(LENGTH, 3))
    days = pd.date_range("2024-01-01", periods=LENGTH)
    shared = pd.DataFrame(values, columns=["y", "temp", "price"], index=days, copy=False)
    mixed = panel().sample(frac=1, random_state=0).astype({"temp": object})
    kept, before = values.copy(), (fingerprint(shared), fingerprint(mixed))
    roles = schema(series=None, static=())
    later = pd.DataFrame({"price": values[:HORIZON, 2]}, index=days[-1:].shift(1).union(
        pd.date_range("2024-02-11", periods=2)))  # fmt: skip
    ahead = fingerprint(later)
    for frame, given, what in ((shared, roles, later), (mixed, schema(), future())):
        made = forecaster(schema=given, nonnegative=True).fit(frame)
        forecast = made.predict(frame, future=what)
        forecast.loc[:, "y"] = 0.0
        made.score(frame)
        backtest(forecaster(schema=given), frame, folds=2)
        for parameter in made.network_.parameters():
            parameter.data.fill_(99.0)
    plain().fit(values)
    assert np.array_equal(values, kept)
    assert np.shares_memory(values, shared["y"].to_numpy())
    assert (fingerprint(shared), fingerprint(mixed)) == before
    assert fingerprint(later) == ahead


def test_74_read_only_memory() -> None:
    values = np.stack([wave(LENGTH), wave(LENGTH, 2)], axis=1)
    expected = np.stack([wave(HORIZON, LENGTH), wave(HORIZON, LENGTH + 2)], axis=1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "values.npy"
        np.save(path, values)
        values.flags.writeable = False
        for array in (values, np.load(path, mmap_mode="r")):
            frame = pd.DataFrame(array, columns=["y", "z"], copy=False)
            for data in (array, frame):
                made = plain().fit(data)
                np.testing.assert_allclose(made.predict(data), expected, atol=0.02)
                assert np.isfinite(made.score(data))
            del frame, data, array
    good(panel())


def test_75_a_forecast_that_is_not_finite() -> None:
    for value in (float("nan"), float("inf")):
        broken = forecaster().fit(panel())
        inner = broken.network_.forward

        def spoilt(batch: Any, inner: Any = inner, value: float = value) -> torch.Tensor:
            out = inner(batch)
            at = torch.arange(len(out)) == 1  # series b
            return torch.where(at.view(-1, *[1] * (out.ndim - 1)), value, out)

        broken.network_.forward = spoilt
        said = "the forecast of column 'y' of series 'b' is not finite from step 1 on .3 such"
        refused(lambda one=broken: one.predict(future=future()), said, kind=ForecastError)
        refused(lambda one=broken: one.score(panel()), said, kind=ForecastError)
    alone = plain().fit(pd.DataFrame({"y": wave(LENGTH)}))
    for parameter in alone.network_.parameters():
        parameter.data.fill_(float("nan"))
    refused(alone.predict, "forecast of column 'y' is not finite from step 1", kind=ForecastError)
