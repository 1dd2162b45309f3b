"""What the rows of the contract share: a panel of three series, and what is said of it."""

import functools
import logging
import re
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, Policy, Schema
from tsformer.errors import FrameError
from tsformer.models import Linear

HORIZON, CONTEXT, LENGTH = 3, 14, 40
BEGIN = LENGTH  # first row of series b, which has the faults
BAD = BEGIN + 4
ROLES = {"y": "target", "temp": "past", "price": "known", "size": "static"}
ALL = {"series": "shop", "target": "y", "past": "temp", "known": "price", "static": "size"}
MASK = Policy(missing="mask")
AT = r"series 'b' at 2024-01-05 00:00:00 \(row 44\)"
PATIENCE = 20
"""Seconds, on a machine that does other things too: a refusal comes before any training."""
LOG = logging.getLogger("tsformer")


def wave(rows: int, first: int = 0) -> np.ndarray:
    return np.arange(first, first + rows) % 7 + 1.0


def panel(rows: int = LENGTH, *, days: Any = None, **columns: Any) -> pd.DataFrame:
    """Series a, b and c: a week of 1 to 7, each 10 higher than the one before."""
    days = pd.date_range("2024-01-01", periods=rows) if days is None else days
    steps = np.arange(rows)
    parts = [
        pd.DataFrame(
            {
                "shop": name,
                "when": days,
                "y": wave(rows) + 10.0 * number,
                "temp": np.cos(steps),
                "price": np.sin(steps) + 2,
                "size": float(number),
            }
        )
        for number, name in enumerate("abc")
    ]
    return pd.concat(parts, ignore_index=True).assign(**columns)


def future(rows: int = HORIZON, *, days: Any = None, **columns: Any) -> pd.DataFrame:
    """The known covariate after the end of :func:`panel`."""
    days = pd.date_range("2024-02-10", periods=rows) if days is None else days
    price = np.sin(np.arange(LENGTH, LENGTH + rows)) + 2
    parts = [pd.DataFrame({"shop": name, "when": days, "price": price}) for name in "abc"]
    return pd.concat(parts, ignore_index=True).assign(**columns)


EXPECTED = np.concatenate([wave(HORIZON, LENGTH) + 10 * number for number in range(3)])


def put(column: str, value: Any, *rows: int, to: Any = None, frame: Any = None) -> pd.DataFrame:
    """A copy with another value in these rows, in a column of type ``to``."""
    made = (panel() if frame is None else frame).copy()
    if to is not None:
        made[column] = made[column].astype(to)
    made.loc[list(rows or (BAD,)), column] = value
    return made


def one(values: Any, **columns: Any) -> pd.DataFrame:
    """One series by the index."""
    index = pd.date_range("2024-01-01", periods=len(values))
    return pd.DataFrame({"y": values, **columns}, index=index)


def schema(**given: Any) -> Schema:
    return Schema(**{**ALL, **given})


def forecaster(**given: Any) -> Forecaster:
    return Forecaster(
        Linear(), **{"horizon": HORIZON, "context": CONTEXT, "schema": schema(), **given}
    )


def plain(**given: Any) -> Forecaster:
    """One that infers the roles."""
    return forecaster(**{"schema": None, **given})


def fit(frame: Any, **given: Any) -> Callable[[], Forecaster]:
    return lambda: forecaster(**given).fit(frame)


@functools.cache
def fitted() -> Forecaster:
    return forecaster().fit(panel())


def predict(**given: Any) -> Callable[[], pd.DataFrame]:
    return lambda: fitted().predict(**{"future": future(), **given})


def at_the_doors(frame: Any, **given: Any) -> list[Callable[[], Any]]:
    """A fit on the frame, and a forecast from it."""
    return [fit(frame, **given), predict(history=frame)]


def right(made: pd.DataFrame, expected: Any = EXPECTED, *, scale: float = 1.0) -> None:
    """Check the values of a forecast."""
    np.testing.assert_allclose(made["y"].to_numpy() / scale, expected, atol=0.02)


def good(frame: Any, ahead: Any = None, **given: Any) -> None:
    """Check that a frame is accepted, and what is forecast from it."""
    made = forecaster(**given).fit(frame).predict(future=future() if ahead is None else ahead)
    right(made)
    assert made["shop"].tolist() == list("aaabbbccc")
    assert made["when"].tolist() == [*pd.date_range("2024-02-10", periods=HORIZON)] * 3


def refused(call: Callable[[], Any], *found: str, kind: type[Exception] = FrameError) -> str:
    """Check that a call is refused at once, and that the message has all of this."""
    begin = time.perf_counter()
    with pytest.raises(kind) as caught:
        call()
    assert time.perf_counter() - begin < PATIENCE
    said = str(caught.value)
    assert "np." not in said
    for one in found:
        assert re.search(one, said), (one, said)
    return said


def heard(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What a call returns, and what it logs at INFO."""
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        return call(), records
    finally:
        LOG.setLevel(level)
        LOG.removeHandler(handler)


def tells(call: Callable[[], Any], said: str) -> Any:
    """Check that a call logs this line, once; what it returns."""
    made, lines = heard(call)
    assert lines.count(said) == 1, lines
    return made


def warned(call: Callable[[], Any], *found: str) -> Any:
    """Check that a call gives one warning, which has all of this; what it returns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = call()
    assert len(caught) == 1, [str(one.message) for one in caught]
    for part in found:
        assert part in str(caught[0].message)
    return made
