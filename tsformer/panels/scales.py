"""Offset and scale per series and column, so that float32 is enough in between."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tsformer.arrays import Flags, Floats, Ints
from tsformer.errors import InfiniteValues, ParameterError
from tsformer.panels.index import row_within_series
from tsformer.panels.panel import Panel

__all__ = ["PanelScales", "Scales", "ScalesKind"]

ScalesKind = Literal["series", "global", "robust", "none"]

_NORMAL_IQR = 1.349
"""Interquartile range of a normal distribution in standard deviations."""
_ROUNDING = 16 * np.finfo(np.float64).eps
"""An interquartile range of so little of the quartiles is rounding, thus 0."""
_NO_RANGE = 1e-30
"""So is one of so little of the mean absolute deviation: float32 would not hold the others."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Location and scale of each series and column, in float64.

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
    def fit(
        cls,
        values: Floats,
        starts: Ints,
        ends: ArrayLike | None = None,
        *,
        kind: ScalesKind = "series",
    ) -> "Scales":
        """Take location and scale of the observed rows.

        Parameters
        ----------
        values
            ``(rows, columns)``, series end to end, NaN where unobserved.
        starts
            ``(series + 1,)`` first row of each series, and the number of rows.
        ends
            ``(series,)`` rows of each series that may be looked at, from its start; all if
            ``None``. What stands behind them changes nothing.
        kind
            ``"series"``: mean and standard deviation of each series. ``"global"``: those of all
            series together, the same for each, so that their levels still tell them apart.
            ``"robust"``: median and interquartile range over 1.349 (the deviation of normal
            values) of each series, which outliers do not move; where that range is 0, the mean
            absolute deviation. ``"none"``: 0 and 1, the caller's units as far as float32 holds
            them.

        Raises
        ------
        ParameterError
            If ``kind`` is unknown.
        """
        if kind not in get_args(ScalesKind):
            known = ", ".join(map(repr, get_args(ScalesKind)))
            raise ParameterError(f"kind={kind!r} is unknown; use one of {known}")
        lengths = np.diff(starts)
        shape = len(lengths), values.shape[1]
        if kind == "none":
            return cls(offset=np.zeros(shape), scale=np.ones(shape))
        seen = ~np.isnan(values)
        if ends is not None:
            row = row_within_series(lengths)
            seen &= (row < np.repeat(np.broadcast_to(ends, lengths.shape), lengths))[:, None]
        if kind == "global":
            one = _fitted(values, seen, np.array([0, len(values)], np.int64), robust=False)
            return cls(*(np.repeat(each, len(lengths), axis=0) for each in one))
        return cls(*_fitted(values, seen, starts, robust=kind == "robust"))

    def apply(
        self, values: Floats, starts: Ints, *, where: Callable[[int, int], str] | None = None
    ) -> NDArray[np.float32]:
        """Scale ``(rows, columns)`` values; NaN stays NaN.

        Parameters
        ----------
        where
            Names the column and the place of a row and a column in messages.

        Raises
        ------
        InfiniteValues
            If a value is so far from what was fitted that float32 cannot hold it.
        """
        lengths = np.diff(starts)
        scaled = values - np.repeat(self.offset, lengths, axis=0)
        with np.errstate(over="ignore"):  # what becomes infinite is refused below
            scaled /= np.repeat(self.scale, lengths, axis=0)
        far = np.abs(scaled) > np.finfo(np.float32).max
        if far.any():
            row, column = (int(place) for place in np.argwhere(far)[0])
            place = f"column {column}, row {row}," if where is None else where(row, column)
            raise InfiniteValues(
                f"{place} holds {values[row, column]:g} ({int(far.sum())} such"
                " values), which does not fit float32 after scaling with the location and scale of"
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


@dataclass(frozen=True, eq=False)
class PanelScales:
    """Location and scale of every series and column, by role; fitted on training rows only."""

    target: Scales
    past: Scales
    known: Scales
    static: Scales

    @classmethod
    def fit(
        cls, panel: Panel, ends: Ints | None = None, *, kind: ScalesKind = "series"
    ) -> "PanelScales":
        """Fit on the first ``ends`` rows of each series (all rows when None).

        ``kind`` is that of :meth:`Scales.fit`; with ``"none"`` covariates are scaled by series all
        the same, since their units have nothing to do with those of the target.
        """
        series = np.array([0, len(panel.index.ids)], np.int64)
        other: ScalesKind = "series" if kind == "none" else kind
        return cls(
            target=Scales.fit(panel.target.values, panel.index.starts, ends, kind=kind),
            past=Scales.fit(panel.past.values, panel.index.starts, ends, kind=other),
            known=Scales.fit(panel.known.values, panel.index.starts, ends, kind=other),
            # one location for all series: statics tell series apart
            static=Scales.fit(panel.static.values, series),
        )

    def match(self, places: Ints, otherwise: "PanelScales") -> "PanelScales":
        """Scales of other series: those at ``places`` here, where that is -1 from ``otherwise``."""
        new = (places < 0)[:, None]

        def matched(own: Scales, other: Scales) -> Scales:
            if not new.any():
                return Scales(own.offset[places], own.scale[places])
            return Scales(
                np.where(new, other.offset, own.offset[places]),
                np.where(new, other.scale, own.scale[places]),
            )

        return PanelScales(
            target=matched(self.target, otherwise.target),
            past=matched(self.past, otherwise.past),
            known=matched(self.known, otherwise.known),
            static=self.static,
        )


def _fitted(values: Floats, seen: Flags, starts: Ints, *, robust: bool) -> tuple[Floats, Floats]:
    """(series, columns) offset and scale of the rows that are seen."""
    lengths = np.diff(starts)
    count = _per_series(np.add, seen.astype(np.float64), starts, 0.0)
    low = _per_series(np.minimum, np.where(seen, values, np.inf), starts, np.inf)
    high = _per_series(np.maximum, np.where(seen, values, -np.inf), starts, -np.inf)
    constant = low >= high  # or nothing seen
    # in units near the largest value, so that no square under- or overflows; a power of two
    # divides without rounding
    size = np.where(count > 0, np.maximum(np.abs(low), np.abs(high)), 1.0)
    unit = np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1] - 1)
    share = np.where(seen, values, 0.0) / np.repeat(unit, lengths, axis=0)
    measure = _median_and_range if robust else _mean_and_deviation
    location, deviation = measure(share, seen, starts, count)
    offset = np.where(count > 0, np.where(constant, low, location * unit), 0.0)
    deviation = deviation * unit
    return offset, np.where(~constant & (deviation > 0), deviation, 1.0)


def _mean_and_deviation(
    share: Floats, seen: Flags, starts: Ints, count: Floats
) -> tuple[Floats, Floats]:
    divisor = np.maximum(count, 1.0)
    mean = _per_series(np.add, share, starts, 0.0) / divisor
    apart = np.where(seen, share - np.repeat(mean, np.diff(starts), axis=0), 0.0)
    return mean, np.sqrt(_per_series(np.add, apart * apart, starts, 0.0) / divisor)


def _median_and_range(
    share: Floats, seen: Flags, starts: Ints, count: Floats
) -> tuple[Floats, Floats]:
    lengths = np.diff(starts)
    series = np.repeat(np.arange(len(lengths)), lengths)
    quarters = np.zeros((3, *count.shape))
    for column in range(share.shape[1]):
        values, owner = share[seen[:, column], column], series[seen[:, column]]
        values = values[np.lexsort((values, owner))]
        number = np.bincount(owner, minlength=len(lengths))
        some = number > 0
        first, last = (np.cumsum(number) - number)[some], number[some] - 1
        for place, level in enumerate((0.25, 0.5, 0.75)):
            below = np.floor(level * last).astype(np.int64)
            under, over = values[first + below], values[first + np.minimum(below + 1, last)]
            quarters[place, some, column] = under + (over - under) * (level * last - below)
    low, median, high = quarters
    apart = np.where(seen, np.abs(share - np.repeat(median, lengths, axis=0)), 0.0)
    mean_apart = _per_series(np.add, apart, starts, 0.0) / np.maximum(count, 1.0)
    rounding = _ROUNDING * np.maximum(np.abs(low), np.abs(high)) + _NO_RANGE * mean_apart
    middle = (high - low) / _NORMAL_IQR
    return median, np.where(middle > rounding, middle, mean_apart)


def _per_series(reduce: np.ufunc, values: Floats, starts: Ints, empty: float) -> Floats:
    """Reduce each series' rows to one; ``reduceat`` alone would misread a series without rows."""
    lengths = np.diff(starts)
    out = np.full((len(lengths), values.shape[1]), empty)
    filled = lengths > 0
    if filled.any() and values.shape[1]:
        out[filled] = reduce.reduceat(values, starts[:-1][filled], axis=0)
    return out
