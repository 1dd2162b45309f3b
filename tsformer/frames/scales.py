"""Offset and scale per series and column, so that float32 is enough in between."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tsformer.errors import InfiniteValues

__all__ = ["Scales"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Scales:
    """Mean and standard deviation of each series and column, in float64.

    A level of 1e9 with a swing of 50, or values of 1e-50, would drown in float32; scaled first, and
    restored in float64, they survive. A constant column has scale 1 and comes back exactly; one
    that was never observed has offset 0 and scale 1.

    Attributes
    ----------
    offset, scale
        ``(series, columns)``; the scale is positive.

    Examples
    --------
    >>> values = np.array([[1e9], [1e9 + 100], [7.0], [7.0]])  # two series of two rows
    >>> scales = Scales.fit(values, np.array([0, 2, 4]))
    >>> scales.scale.tolist()
    [[50.0], [1.0]]
    >>> scales.apply(values, np.array([0, 2, 4])).ravel().tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """

    offset: Floats
    scale: Floats

    @classmethod
    def fit(cls, values: Floats, starts: Ints, ends: ArrayLike | None = None) -> "Scales":
        """Take mean and standard deviation of the observed rows.

        Parameters
        ----------
        values
            ``(rows, columns)``, series end to end, NaN where unobserved.
        starts
            ``(series + 1,)`` first row of each series, and the number of rows.
        ends
            ``(series,)`` rows of each series that may be looked at, from its start; all if
            ``None``. What stands behind them changes nothing.
        """
        lengths = np.diff(starts)
        seen = ~np.isnan(values)
        if ends is not None:
            row = np.arange(len(values)) - np.repeat(starts[:-1], lengths)
            seen &= (row < np.repeat(np.broadcast_to(ends, lengths.shape), lengths))[:, None]
        count = _per_series(np.add, seen.astype(np.float64), starts, 0.0)
        low = _per_series(np.minimum, np.where(seen, values, np.inf), starts, np.inf)
        high = _per_series(np.maximum, np.where(seen, values, -np.inf), starts, -np.inf)
        constant = low >= high  # or nothing seen
        # in units near the largest value, so that no square under- or overflows; a power of two
        # divides without rounding
        size = np.where(count > 0, np.maximum(np.abs(low), np.abs(high)), 1.0)
        unit = np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1] - 1)
        divisor = np.maximum(count, 1.0)
        share = np.where(seen, values, 0.0) / np.repeat(unit, lengths, axis=0)
        mean = _per_series(np.add, share, starts, 0.0) / divisor
        share -= np.repeat(mean, lengths, axis=0)
        share[~seen] = 0.0
        deviation = np.sqrt(_per_series(np.add, share * share, starts, 0.0) / divisor) * unit
        offset = np.where(count > 0, np.where(constant, low, mean * unit), 0.0)
        usable = ~constant & (deviation > np.finfo(np.float64).tiny)
        return cls(offset=offset, scale=np.where(usable, deviation, 1.0))

    def apply(self, values: Floats, starts: Ints) -> NDArray[np.float32]:
        """Scale ``(rows, columns)`` values; NaN stays NaN.

        Raises
        ------
        InfiniteValues
            If a value is so far from what was fitted that float32 cannot hold it.
        """
        lengths = np.diff(starts)
        scaled = values - np.repeat(self.offset, lengths, axis=0)
        scaled /= np.repeat(self.scale, lengths, axis=0)
        far = np.abs(scaled) > np.finfo(np.float32).max
        if far.any():
            row, column = (int(place) for place in np.argwhere(far)[0])
            raise InfiniteValues(
                f"column {column} holds {values[row, column]:g} in row {row} ({int(far.sum())} such"
                " values), which does not fit float32 after scaling with the mean and deviation of"
                " the rows that were fitted. Correct the value, or take logarithms first."
            )
        return scaled.astype(np.float32)

    def restore(self, values: NDArray[np.floating], series: ArrayLike) -> Floats:
        """Undo :meth:`apply` in float64.

        Parameters
        ----------
        values
            ``(batch, ..., columns)`` scaled values.
        series
            ``(batch,)`` which series each belongs to.
        """
        chosen = np.asarray(series, np.int64)
        between = tuple(range(1, values.ndim - 1))
        scale = np.expand_dims(self.scale[chosen], between)
        offset = np.expand_dims(self.offset[chosen], between)
        restored: Floats = values.astype(np.float64) * scale + offset
        return restored


def _per_series(reduce: np.ufunc, values: Floats, starts: Ints, empty: float) -> Floats:
    """Reduce each series' rows to one; ``reduceat`` alone would misread a series without rows."""
    lengths = np.diff(starts)
    out = np.full((len(lengths), values.shape[1]), empty)
    filled = lengths > 0
    if filled.any() and values.shape[1]:
        out[filled] = reduce.reduceat(values, starts[:-1][filled], axis=0)
    return out
