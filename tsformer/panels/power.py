"""The power transform of Box and Cox, its inverse, and the power that data ask for."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tsformer.arrays import Floats, Ints

__all__ = ["from_power", "likeliest_power", "to_power"]


_LOWEST, _HIGHEST = -1.0, 2.0
_ZERO = 1e-100
"""Powers nearer to 0 are the logarithm: their quotient would underflow, the limit is exact."""
_DIGITS = 4


def to_power(logs: Floats, power: ArrayLike) -> Floats:
    """Box and Cox (1964), equation 1, ``(y ** power - 1) / power``, of the logarithm of ``y``.

    Written with ``expm1``, which keeps its digits where the power is near 0; there it becomes the
    logarithm.

    Examples
    --------
    >>> to_power(np.log([1.0, 4.0]), 0.5).tolist(), to_power(np.array([3.0]), 0).tolist()
    ([0.0, 2.0], [3.0])
    """
    power = np.asarray(power, np.float64)
    none = np.abs(power) < _ZERO
    with np.errstate(over="ignore"):
        transformed: Floats = np.where(
            none, logs, np.expm1(power * logs) / np.where(none, 1.0, power)
        )
    return transformed


def from_power(transformed: Floats, power: ArrayLike) -> Floats:
    """The logarithm of ``y`` from what :func:`to_power` made of it.

    No ``y`` is transformed to beyond ``-1 / power``; there the answer is the edge of the range: the
    logarithm of 0 for a positive power, infinity for a negative one. It is never NaN.

    Examples
    --------
    >>> np.exp(from_power(np.array([0.0, 2.0, -9.0]), 0.5)).tolist()
    [1.0, 4.0, 0.0]
    """
    power = np.asarray(power, np.float64)
    none = np.abs(power) < _ZERO
    with np.errstate(divide="ignore", over="ignore"):
        base = np.log1p(np.maximum(power * transformed, -1.0))
        logs: Floats = np.where(none, transformed, base / np.where(none, 1.0, power))
    return logs


def likeliest_power(logs: Floats, owner: Ints) -> float:
    """The power in [-1, 2] after which each series is most nearly normal.

    The profile likelihood of Box and Cox (1964), equation 8, with a mean and a variance for each
    series. The logarithm of the Jacobian, ``(power - 1) * sum(logs)``, vanishes once a series is
    divided by its geometric mean, and the rest differs by nothing that depends on the power.

    Parameters
    ----------
    logs
        ``(values,)`` logarithms of the values of all series.
    owner
        ``(values,)`` which series each belongs to, from 0.

    Returns
    -------
    float
        With four decimals; 1 where every series is constant or has one value.

    Examples
    --------
    >>> logs = np.random.default_rng(0).normal(size=500)
    >>> abs(likeliest_power(logs, np.zeros(500, np.int64))) < 0.1
    True
    """
    number = np.bincount(owner)
    low, high = np.full(len(number), np.inf), np.full(len(number), -np.inf)
    np.minimum.at(low, owner, logs)
    np.maximum.at(high, owner, logs)
    varied = high > low
    if not varied.any():
        return 1.0
    kept = varied[owner]
    logs, owner, count = logs[kept], owner[kept], np.maximum(number, 1)
    centred = logs - (np.bincount(owner, logs, len(number)) / count)[owner]

    def likelihood(power: float) -> float:
        transformed = to_power(centred, power)
        with np.errstate(all="ignore"):  # a power that overflows is no candidate
            mean = np.bincount(owner, transformed, len(number)) / count
            variance = np.bincount(owner, (transformed - mean[owner]) ** 2, len(number)) / count
            total = float(-0.5 * (number * np.log(variance))[varied].sum())
        return total if np.isfinite(total) else -np.inf

    return round(_highest(likelihood, _LOWEST, _HIGHEST), _DIGITS)


def _highest(score: Callable[[float], float], low: float, high: float) -> float:
    """Where a function is highest: the best of a grid, then golden section around it."""
    grid = np.linspace(low, high, 13)
    best = int(np.argmax([score(float(place)) for place in grid]))
    low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
    ratio = (5**0.5 - 1) / 2
    while high - low > 10.0**-_DIGITS:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if score(left) > score(right):
            high = right
        else:
            low = left
    return (low + high) / 2
