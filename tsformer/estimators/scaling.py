"""What ``scaling`` stands for: how columns are scaled, and how each window is after that."""

from typing import Literal

from tsformer.models.scaling import WindowKind
from tsformer.panels.scales import ScalesKind

__all__ = ["ForecasterScaling", "column_scales", "window_kind"]

ForecasterScaling = Literal["window", "last", "asinh", "series", "global", "robust", "none"]


def column_scales(scaling: ForecasterScaling) -> ScalesKind:
    """How the columns are scaled, by their training rows; each series by itself before windows are.

    Examples
    --------
    >>> column_scales("asinh"), column_scales("global")
    ('series', 'global')
    """
    match scaling:
        case "window" | "last" | "asinh":
            return "series"
        case _:
            return scaling


def window_kind(scaling: ForecasterScaling) -> WindowKind:
    """How each window of the scaled series is normalised by its own context.

    Examples
    --------
    >>> window_kind("asinh"), window_kind("global")
    ('asinh', 'none')
    """
    match scaling:
        case "window" | "last" | "asinh":
            return scaling
        case _:
            return "none"
