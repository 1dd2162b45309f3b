"""Where in a panel something is, as messages say it."""

from typing import TYPE_CHECKING

import numpy as np

from tsformer.reading.checks import shown

if TYPE_CHECKING:
    from tsformer.panels.panel import Panel

__all__ = ["in_row", "in_series"]


def in_series(panel: "Panel", series: int) -> str:
    """Name a series by its position, or nothing where there is one without a name."""
    return "" if panel.layout.series_in == "nowhere" else f" of series {shown(panel.ids[series])}"


def in_row(panel: "Panel", row: int) -> str:
    """Name series and stamp of a row.

    Examples
    --------
    >>> import pandas as pd
    >>> from tsformer.panels import Panel
    >>> frame = pd.DataFrame({"unique_id": ["a", "a", "b", "b"], "ds": [1, 2, 1, 2], "y": 1.0})
    >>> in_row(Panel.from_frame(frame), 2)
    " of series 'b' at 1"
    """
    series = int(np.searchsorted(panel.starts, row, side="right")) - 1
    return f"{in_series(panel, series)} at {panel.stamps[row]}"
