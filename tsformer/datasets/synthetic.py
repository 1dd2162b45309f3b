"""Small synthetic series for documentation and tests: the same arguments give the same frame."""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray
from pandas import DataFrame

from tsformer.arrays import Floats
from tsformer.errors import ParameterError

__all__ = ["Kind", "make_series"]

Kind = Literal["seasonal", "trend", "steps", "random_walk", "panel"]


def make_series(
    kind: Kind,
    rows: int,
    *,
    seed: int = 0,
    series: int = 3,
    period: int = 24,
    noise: float = 0.1,
    start: str = "2024-01-01",
    freq: str = "h",
) -> DataFrame:
    """Make a series, or a panel of them, whose structure is known.

    The first rows do not depend on ``rows``, nor the first series on ``series``; the global
    generators are left alone.

    Parameters
    ----------
    kind
        ``"seasonal"``: a sine of length ``period`` and amplitude 1 around 10.
        ``"trend"``: the same, rising by 1 each ``period``.
        ``"steps"``: a level that jumps every ``period`` rows.
        ``"random_walk"``: a sum of standard normal steps; nothing beats its last value.
        ``"panel"``: ``series`` seasonal series, each with its own level, amplitude and phase.
    rows
        Rows of each series.
    seed
        Another seed, another series.
    series
        Number of series of a panel.
    period
        Length of the season or of a step, in rows.
    noise
        Standard deviation of the white noise that is added.
    start, freq
        First stamp and pandas frequency of the rows.

    Returns
    -------
    DataFrame
        Columns ``time`` and ``value``; a panel is long and has ``series`` in front of them.

    Raises
    ------
    ParameterError
        If the kind is unknown or a number is out of range.

    Examples
    --------
    >>> make_series("seasonal", 3, period=4, noise=0.0)
                     time  value
    0 2024-01-01 00:00:00   10.0
    1 2024-01-01 01:00:00   11.0
    2 2024-01-01 02:00:00   10.0
    >>> make_series("panel", 100, series=2).groupby("series").size().to_dict()
    {'s0': 100, 's1': 100}
    """
    _check(kind, rows=rows, series=series, period=period, noise=noise)
    stamps = pd.date_range(start, periods=rows, freq=freq)
    count = series if kind == "panel" else 1
    parts = []
    for place in range(count):
        # two streams a series, so that neither the noise nor other series move with the shape
        shape, error = np.random.default_rng([seed, place]).spawn(2)
        values = _SHAPES[kind](np.arange(rows), period, shape) + noise * error.standard_normal(rows)
        parts.append(DataFrame({"series": f"s{place}", "time": stamps, "value": values}))
    frame = pd.concat(parts, ignore_index=True)
    return frame if kind == "panel" else frame.drop(columns="series")


def _check(kind: str, *, rows: int, series: int, period: int, noise: float) -> None:
    if kind not in get_args(Kind):
        allowed = ", ".join(map(repr, get_args(Kind)))
        raise ParameterError(f"make_series({kind!r}): the kind must be one of {allowed}")
    for name, number in (("rows", rows), ("series", series), ("period", period)):
        if number < 1:
            raise ParameterError(f"make_series({name}={number}): {name} must be at least 1")
    if not 0 <= noise < np.inf:
        raise ParameterError(f"make_series(noise={noise}): noise must be finite and at least 0")


def _seasonal(steps: NDArray[np.int_], period: int, shape: Generator) -> Floats:
    return 10 + np.sin(2 * np.pi * steps / period)


def _trend(steps: NDArray[np.int_], period: int, shape: Generator) -> Floats:
    return _seasonal(steps, period, shape) + steps / period


def _steps(steps: NDArray[np.int_], period: int, shape: Generator) -> Floats:
    blocks = steps // period
    levels: Floats = 10 + 3 * shape.standard_normal(int(blocks[-1]) + 1)
    return levels[blocks]


def _random_walk(steps: NDArray[np.int_], period: int, shape: Generator) -> Floats:
    return np.cumsum(shape.standard_normal(len(steps)))


def _member(steps: NDArray[np.int_], period: int, shape: Generator) -> Floats:
    level, amplitude, phase = shape.uniform([5, 0.5, 0], [50, 5, 1])
    return np.asarray(level + amplitude * np.sin(2 * np.pi * (steps / period + phase)))


_SHAPES: dict[str, Callable[[NDArray[np.int_], int, Generator], Floats]] = {
    "seasonal": _seasonal,
    "trend": _trend,
    "steps": _steps,
    "random_walk": _random_walk,
    "panel": _member,
}
