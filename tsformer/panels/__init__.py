"""What is held once a frame has been read: panels, their schema, scales, transforms and splits."""

from tsformer.panels.asinh import Asinh
from tsformer.panels.panel import Panel
from tsformer.panels.policy import Policy
from tsformer.panels.scales import Scales
from tsformer.panels.schema import Schema
from tsformer.reading.splits import Holdout, RollingOrigin
from tsformer.panels.transforms import BoxCox, Clip, Log1p, Shift, Transform

__all__ = [
    "Asinh",
    "BoxCox",
    "Clip",
    "Holdout",
    "Log1p",
    "Panel",
    "Policy",
    "RollingOrigin",
    "Scales",
    "Schema",
    "Shift",
    "Transform",
]
