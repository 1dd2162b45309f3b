"""What ``scaling`` stands for: how series are scaled, and how each window is after that."""

from typing import Literal, NamedTuple

from tsformer.nn.scaling import Scaling as WindowKind
from tsformer.panels.scales import ScalesKind

__all__ = ["SCALINGS", "Scaling", "Steps"]

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
