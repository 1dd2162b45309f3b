"""What ``scaling`` stands for: how series are scaled, and how each window is after that."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsformer.nn.scaling import Scaling as WindowKind
from tsformer.panels import Panel
from tsformer.panels.scales import ScalesKind
from tsformer.windows import PanelScales

__all__ = ["SCALINGS", "Scaling", "Steps", "scales_at"]

Scaling = Literal["window", "last", "asinh", "series", "global", "robust", "none"]


class Steps(NamedTuple):
    """Columns are scaled by their training rows first, windows by their own context then."""

    series: ScalesKind
    window: WindowKind
    bent: bool = False
    """Whether windows are bent by an asinh in between, see ``tsformer.windows.bend``."""


SCALINGS: dict[Scaling, Steps] = {
    "window": Steps("series", "window"),
    "last": Steps("series", "last"),
    "asinh": Steps("series", "window", bent=True),
    "series": Steps("series", "none"),
    "global": Steps("global", "none"),
    "robust": Steps("robust", "none"),
    "none": Steps("none", "none"),
}


def scales_at(
    places: NDArray[np.int64],
    fitted: PanelScales,
    panel: Panel,
    ends: NDArray[np.int64],
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
