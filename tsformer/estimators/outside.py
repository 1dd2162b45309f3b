"""What is known of the horizon beside what a fit has seen of it."""

import numpy as np

from tsformer.arrays import Floats
from tsformer.cures import ignored, warn
from tsformer.errors import ForecastWarning
from tsformer.panels import Panel

__all__ = ["observed_range", "warn_of_outside"]


def observed_range(values: Floats) -> Floats:
    """``(2, columns)`` the smallest and the largest value of each column; NaN where none is.

    Examples
    --------
    >>> observed_range(np.array([[1.0, 5.0], [3.0, np.nan]])).tolist()
    [[1.0, 5.0], [3.0, 5.0]]
    """
    with ignored(RuntimeWarning):  # of columns without a value
        return np.stack([np.nanmin(values, axis=0), np.nanmax(values, axis=0)])


def warn_of_outside(panel: Panel, horizon: int, seen: Floats | None) -> None:
    """Warn once of known covariates that lie far from all that a fit has seen of them.

    Far is more than twice the range beyond its ends: what grows goes on to grow, but a network
    knows nothing of where it has never been.

    Parameters
    ----------
    panel
        With the rows to forecast at the end of each series.
    seen
        What :func:`observed_range` gave in the fit; ``None`` says that there is nothing to compare.
    """
    ahead = panel.index.within >= (panel.index.lengths - horizon)[panel.index.owner]
    values, rows = panel.known.values[ahead], np.flatnonzero(ahead)
    if seen is None or not values.size:
        return
    low, high = seen
    room = 2 * np.where(high > low, high - low, np.maximum(np.abs(high), 1))
    far = (values < low - room) | (values > high + room)
    found = []
    for place in np.flatnonzero(far.any(axis=0)):
        first = int(np.argmax(far[:, place]))
        row = rows[first]
        where = f"{panel.index.of(int(panel.index.owner[row]))} at {panel.index.stamps[row]}"
        found.append(
            f"column {panel.known.names[place]!r} of the future holds"
            f" {values[first, place]:,.10g}{where} ({int(far[:, place].sum())} such values), far"
            f" outside of {low[place]:,.10g} to {high[place]:,.10g}, which is all that fit has seen"
        )
    if found:
        warn(ForecastWarning(f"{'; '.join(found)}: the forecast goes where nothing was learned"))
