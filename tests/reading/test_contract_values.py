"""Rows 19 to 40: values."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
from contract_rows import (
    AT,
    BAD,
    BEGIN,
    EXPECTED,
    HORIZON,
    LENGTH,
    MASK,
    ROLES,
    at_the_doors,
    fit,
    fitted,
    forecaster,
    future,
    good,
    heard,
    panel,
    plain,
    predict,
    put,
    refused,
    right,
    tells,
    warned,
    wave,
)  # fmt: skip

from tsformer.errors import InfiniteValues, MissingValues, WrongType

LAST = 2 * LENGTH - 1  # of series b
COVARIATES = ("temp", "price", "size")


def whole(name: str, kind: Any) -> pd.DataFrame:
    """The panel with whole numbers of a type in one column."""
    made = panel()
    made[name] = (made[name].round() + 5).astype(kind)
    return made


def ahead(name: str, change: Any) -> pd.DataFrame:
    """The future frame, changed if it holds this column."""
    return future().assign(price=change) if name == "price" else future()


def test_19_missing_in_the_target() -> None:
    holed = put("y", np.nan, BAD, BAD + 6)
    for call in at_the_doors(holed):
        refused(call, f"'y' holds NaN: first of {AT}, 2 in all", "Fill.*mask", kind=MissingValues)
    good(holed, policy=MASK)


def test_20_missing_in_a_covariate() -> None:
    for name in COVARIATES:
        holed = put(name, np.nan, BAD, BAD + 6)
        for call in at_the_doors(holed):
            said = f"'{name}' holds NaN: first of {AT}, 2 in all"
            refused(call, said, 'policy=Policy.missing="mask"', kind=MissingValues)
        good(holed, policy=MASK)


def test_21_infinite() -> None:
    for name in ROLES:
        for value, policy in ((np.inf, None), (-np.inf, MASK)):
            broken = put(name, value, BAD, BAD + 6)
            for call in at_the_doors(broken, policy=policy):
                said = f"'{name}' holds inf: first of {AT}, 2 in all"
                refused(call, said, "Correct", kind=InfiniteValues)


def test_22_beyond_float32() -> None:
    said = "such values.*float32 after scaling.*Correct"
    for name in ("y", "temp", "price"):
        far = put(name, 1e300, LAST)
        place = f"column '{name}' of series 'b' at 2024-02-09 00:00:00 holds 1e.300"
        for call in at_the_doors(far):
            refused(call, place, said, kind=InfiniteValues)
    far = put("size", 1e300, *range(BEGIN, LAST + 1))
    refused(predict(history=far), "'size' of series 'b' holds 1e.300", said, kind=InfiniteValues)
    place = "'price' of series 'b' at 2024-02-11 00:00:00 holds 1e.300"
    far = put("price", 1e300, 4, frame=future())
    refused(predict(future=far), place, said, kind=InfiniteValues)
    place = f"'y' of {AT[:-10]}.*holds -1e.39"
    refused(fit(put("y", -1e39), scaling="none"), place, said, kind=InfiniteValues)


def test_23_large() -> None:
    for name in ("temp", "price"):
        large = panel()
        large[name] *= 1e30
        good(large, ahead(name, lambda frame: frame["price"] * 1e30))
    grown = forecaster().fit(panel(y=lambda frame: frame["y"] * 1e30, size=1e30))
    right(grown.predict(future=future()), scale=1e30)


def test_24_small() -> None:
    for size in (1e-50, 1e-310):
        for name in ("temp", "price"):
            small = panel()
            small[name] *= size
            good(small, ahead(name, lambda frame, size=size: frame["price"] * size))
        shrunk = panel()
        shrunk["y"] *= size
        right(forecaster().fit(shrunk).predict(future=future()), scale=size)


def test_25_whole_numbers_that_float64_rounds() -> None:
    said = "hold whole numbers above 2**53"
    first = "first of series 'b' at 2024-01-01 00:00:00 (row 40), 40 in all"
    for kind in ("int64", "Int64", "uint64", object):
        for name in ROLES:
            big = whole(name, "int64")
            big.loc[BEGIN:LAST, name] += 2**60
            big[name] = big[name].astype(kind)
            warned(fit(big), f"'{name}' {said}", first)
    both = whole("temp", "int64").assign(price=2**60, temp=2**60)
    warned(fit(both), f"columns 'temp', 'price' {said}")
    _, lines = heard(fit(whole("y", "int64")))
    assert not [line for line in lines if "converted" in line]


def converted(kind: Any, name: str, made: str = "float64") -> None:
    """Check a column of integers of this type: its values, and the line about it."""
    frame, later = whole(name, kind), ahead(name, lambda f: (f["price"].round() + 5).astype(kind))
    line = f"column '{name}' converted from {kind} to {made}"
    forecast = tells(fit(frame), line).predict(future=later)
    right(forecast, EXPECTED + 5 * (name == "y"))
    as_floats = frame.assign(**{name: frame[name].astype("float64")})
    same = forecaster().fit(as_floats).predict(future=future(price=later["price"].astype(float)))
    assert forecast.equals(same)


def test_26_unsigned() -> None:
    for name in ROLES:
        converted("uint64", name)


def test_27_true_and_false() -> None:
    for kind in ("bool", "boolean", object, "bool[pyarrow]"):
        flags = panel(y=(panel()["y"] > 3).astype(kind))
        for call in at_the_doors(flags):
            refused(call, "'y' holds true and false: first of series 'a'", "astype", kind=WrongType)
        for name in COVARIATES:
            yes = panel()
            yes[name] = (yes[name] > 1.5).astype(kind)
            later = ahead(name, lambda f, kind=kind: (f["price"] > 1.5).astype(kind))
            word = "bool objects" if kind is object else kind
            line = f"column '{name}' converted from {word} to 0 and 1"
            made = tells(fit(yes), line).predict(future=later)
            right(made)
            as_floats = yes.assign(**{name: yes[name].astype("float64")})
            price = later["price"].astype("float64")
            assert made.equals(
                forecaster().fit(as_floats).predict(future=later.assign(price=price))
            )
    mixed = put("y", True, to=object)
    refused(fit(mixed), f"'y' holds true and false: first of {AT}, 1 in all", kind=WrongType)


def test_28_complex() -> None:
    for name in ROLES:
        for call in at_the_doors(put(name, 1 + 2j, to=complex)):
            said = rf"'{name}' is complex128 .first: \(1\+2j\) of {AT}, 1 in all"
            refused(call, said, "Keep the part", kind=WrongType)
        refused(fit(put(name, 2j, to=object)), f"'{name}' holds 2j of {AT}", kind=WrongType)


def test_29_decimals() -> None:
    for name in ROLES:
        exact = panel()
        exact[name] = [Decimal(repr(value)) for value in exact[name]]
        line = f"column '{name}' converted from Decimal to float64"
        made = tells(fit(exact), line).predict(future=future())
        assert made.equals(fitted().predict(future=future()))


def test_30_objects() -> None:
    for name in ROLES:
        line = f"column '{name}' converted from objects to float64"
        made = tells(fit(panel().astype({name: object})), line).predict(future=future())
        assert made.equals(fitted().predict(future=future()))
        stray = put(name, "bad", to=object)
        for call in at_the_doors(stray):
            refused(call, f"'{name}' holds 'bad' of type str of {AT}", "Correct", kind=WrongType)


def test_31_numbers_as_text() -> None:
    for name in ROLES:
        for kind in ("str", object, "string[pyarrow]"):
            digits = panel()
            digits[name] = digits[name].map(repr).astype(kind)
            said = f"'{name}' holds .*'[0-9.]+'.* of series 'a' at 2024-01-01.*row 0"
            refused(fit(digits), said, "pd.to_numeric", kind=WrongType)
        stray = put(name, "bad", frame=panel().astype({name: "str"}))
        refused(fit(stray), f"'{name}' holds .*'bad' of {AT}", "pd.to_numeric", kind=WrongType)


def words(name: str, kind: Any) -> pd.DataFrame:
    """The panel with two words in one column, or the name of the series where it is static."""
    made = panel()
    high = made[name] > made[name].mean()
    text = made["shop"] if name == "size" else pd.Series(np.where(high, "hi", "lo"))
    return made.assign(**{name: text.astype(kind)})


def test_32_words_as_a_covariate() -> None:
    for kind in ("str", "string[pyarrow]", object):
        for name in COVARIATES:
            good(words(name, kind), ahead(name, "hi"))
        said = "'y' holds .*'lo' .*of series 'a' at 2024-01-01.*row 0"
        refused(fit(words("y", kind)), said, "pd.to_numeric", kind=WrongType)


def test_33_categories() -> None:
    for name in COVARIATES:
        known = words(name, "category")
        learnt = forecaster().fit(known)
        right(learnt.predict(future=ahead(name, pd.Categorical(["lo", "hi", "lo"] * 3))))
        new = known.assign(**{name: known[name].astype("str")})
        new.loc[BEGIN:LAST, name] = "new"
        said = f"column '{name}' holds words that fit has not seen ('new'); they count as unknown"
        made = warned(lambda one=learnt, new=new, name=name: _after(one, new, name), said)
        right(made, EXPECTED)
    planned = forecaster().fit(words("price", "category"))
    said = "column 'price' holds words that fit has not seen ('new')"
    warned(lambda: planned.predict(future=future(price="new")), said)
    two = forecaster().fit(words("temp", "str").assign(price="x"))
    new = words("temp", "str").assign(price="y", temp="z")
    warned(lambda: two.predict(new, future=future(price="x")), "'temp'", "'price'")
    refused(fit(words("y", "category")), "'y' holds text", kind=WrongType)


def _after(learnt: Any, history: pd.DataFrame, name: str) -> pd.DataFrame:
    made: pd.DataFrame = learnt.predict(history, future=ahead(name, "hi"))
    return made


def test_34_nullable_numbers() -> None:
    for kind in ("Int64", "Float64"):
        for name in ROLES:
            full = whole(name, kind)
            made, lines = heard(lambda full=full, name=name: _forecast(full, name))
            right(made, EXPECTED + 5 * (name == "y"))
            assert not [line for line in lines if "converted" in line]
            holed = put(name, pd.NA, frame=full)
            said = f"'{name}' holds NaN: first of {AT}, 1 in all"
            refused(fit(holed), said, kind=MissingValues)
            forecaster(policy=MASK).fit(holed)


def _forecast(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    later = ahead(name, lambda one: one["price"].round() + 5)
    made: pd.DataFrame = forecaster().fit(frame).predict(future=later)
    return made


def test_35_arrow_numbers() -> None:
    for kind in (pyarrow.float64(), pyarrow.decimal128(12, 2), pyarrow.int32()):
        for name in ROLES:
            full = whole(name, "int64")
            values = full[name].map(Decimal) if "decimal" in str(kind) else full[name]
            full[name] = values.astype(pd.ArrowDtype(kind))
            line = f"column '{name}' converted from {full[name].dtype} to float64"
            made = tells(lambda full=full, name=name: _forecast(full, name), line)
            right(made, EXPECTED + 5 * (name == "y"))


def test_36_dates_as_a_value() -> None:
    for name in ROLES:
        for values in (panel()["when"], panel()["when"] - pd.Timestamp("2024-01-01")):
            for call in at_the_doors(panel().assign(**{name: values})):
                said = f"'{name}' is (datetime|timedelta)64.*first: .*of series 'a' at.*row 0"
                refused(call, said, "Leave it out", kind=WrongType)


def test_37_half_precision() -> None:
    for name in ROLES:
        converted("float16", name)


def test_38_constant_series() -> None:
    for level in (7.25, 0.1, 1e9 + 0.1, 1e-310, 0.0):
        made = forecaster().fit(panel(y=level)).predict(future=future(), quantiles=[0.1, 0.9])
        assert (made[["y", "y_q0.1", "y_q0.9"]] == level).all(axis=None)


def test_39_nothing_observed() -> None:
    nothing = put("y", np.nan, *range(BEGIN, LAST + 1))
    said = "'y' holds NaN: first of series 'b' at 2024-01-01 00:00:00 .row 40., 40 in all"
    for call in at_the_doors(nothing):
        refused(call, said, kind=MissingValues)
    said = r"every target \('y'\) of series 'b' is NaN in all 40 rows \(1 such series\). Drop it"
    refused(fit(nothing, policy=MASK), said, kind=MissingValues)
    masking = forecaster(policy=MASK).fit(panel())
    refused(lambda: masking.predict(nothing, future=future()), said, kind=MissingValues)


def test_40_negative_zero() -> None:
    zeros = [pd.DataFrame({"y": (wave(LENGTH) - 1) * sign}) for sign in (1.0, -1.0)]
    zeros[1] = zeros[0].replace(0.0, -0.0)
    assert np.signbit(zeros[1]["y"]).any()
    one, other = (plain().fit(frame).predict() for frame in zeros)
    assert one.equals(other)
    right(one, wave(HORIZON, LENGTH) - 1)
