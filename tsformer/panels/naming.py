"""Where in a panel something is, as messages say it."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tsformer.panels.panel import Panel

__all__ = ["in_row", "in_series", "shown"]


def in_series(panel: "Panel", series: int) -> str:
    """Name a series by its position, or nothing where there is one without a name."""
    return "" if panel.layout.series_in == "nowhere" else f" of series {shown(panel.ids[series])}"


def in_row(panel: "Panel", row: int) -> str:
    """Name series and stamp of a row.

    Examples
    --------
    >>> import pandas as pd
    >>> from tsformer.reading import read_panel
    >>> frame = pd.DataFrame({"unique_id": ["a", "a", "b", "b"], "ds": [1, 2, 1, 2], "y": 1.0})
    >>> in_row(read_panel(frame), 2)
    " of series 'b' at 1"
    """
    series = int(np.searchsorted(panel.starts, row, side="right")) - 1
    return f"{in_series(panel, series)} at {panel.stamps[row]}"


def shown(name: Any) -> str:
    """Write the name of a series as the caller would."""
    return repr(name.item() if isinstance(name, np.generic) else name)
