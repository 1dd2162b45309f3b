"""From a panel back to a frame: every column with a role, in the caller's layout."""

from typing import Any

import pandas as pd

from tsformer.panels.panel import Panel
from tsformer.reading.values import decode

__all__ = ["write_frame"]


def write_frame(panel: Panel) -> pd.DataFrame:
    """Everything with a role, in the caller's layout; numbers are float64.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> frame = pd.DataFrame({"ds": pd.date_range("2024-01-01", periods=4), "y": [1, 2, 3, 4]})
    >>> write_frame(read_panel(frame).tail(2))
              ds    y
    0 2024-01-03  3.0
    1 2024-01-04  4.0
    """
    columns = _columns(panel)
    ordered = {name: columns[name] for name in panel.layout.columns if name in columns}
    index = panel.index
    return panel.layout.build(ordered, stamps=index.stamps, ids=index.ids, counts=index.lengths)


def _columns(panel: Panel) -> dict[str, Any]:
    """Every column with a role, one value per row, as the reader would read them."""
    columns: dict[str, Any] = {}
    for role, own in panel.roles.items():
        own = own.take(panel.index.owner) if role == "static" else own
        for position, name in enumerate(own.names):
            columns[name] = own.values[:, position]
        for position, name in enumerate(own.coded):
            columns[name] = decode(own.codes[:, position], own.categories[name])
    if panel.schema.weight is not None:
        columns[panel.schema.weight] = panel.weight
    return columns
