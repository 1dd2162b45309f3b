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
    return panel.layout.build(ordered, stamps=panel.stamps, ids=panel.ids, counts=panel.lengths)


def _columns(panel: Panel) -> dict[str, Any]:
    """Every column with a role, one value per row, as the reader would read them."""
    columns: dict[str, Any] = {}
    lengths = panel.lengths
    for role in ("target", "past", "known", "static"):
        values: Any = getattr(panel, role)
        codes: Any = getattr(panel, f"{role}_codes", None)
        if role == "static":
            values, codes = values.repeat(lengths, axis=0), codes.repeat(lengths, axis=0)
        for position, name in enumerate(panel.names(role)):
            columns[name] = values[:, position]
        for position, name in enumerate(panel.code_names(role)):
            columns[name] = decode(codes[:, position], panel.levels[name])
    if panel.schema.weight is not None:
        columns[panel.schema.weight] = panel.weight
    return columns
