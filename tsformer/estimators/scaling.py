"""What ``scaling`` stands for: how columns are scaled, and how each window is after that."""

from typing import Literal

import numpy as np

from tsformer.arrays import Ints
from tsformer.models.scaling import WindowKind
from tsformer.panels import Panel
from tsformer.panels.scales import ScalesKind
from tsformer.windows import PanelScales

__all__ = ["ForecasterScaling", "column_scales", "scales_at", "window_kind"]

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


def scales_at(
    places: Ints,
    fitted: PanelScales,
    panel: Panel,
    ends: Ints,
    kind: ScalesKind,
) -> PanelScales:
    """Scales as fitted; for a series that ``fit`` has not seen, of its own rows so far.

    Parameters
    ----------
    places
        (series,) where each series of the panel stands among those fitted; -1 if it does not.
    ends
        (series,) how many rows of each may be looked at.
    """
    if (places >= 0).all():
        return fitted.match(places, fitted)
    if kind == "global":  # one for all
        return fitted.match(np.zeros_like(places), fitted)
    return fitted.match(places, PanelScales.fit(panel, ends, kind=kind))
