"""What is held once a frame has been read: panels, their schema, scales and transforms."""

from tsformer.panels.asinh import Asinh
from tsformer.panels.panel import Panel
from tsformer.panels.policy import Policy
from tsformer.panels.scales import Scales
from tsformer.panels.schema import ResolvedSchema, Schema
from tsformer.panels.transforms import BoxCox, Clip, Log1p, Shift, Transform

__all__ = [
    "Asinh",
    "BoxCox",
    "Clip",
    "Log1p",
    "Panel",
    "Policy",
    "ResolvedSchema",
    "Scales",
    "Schema",
    "Shift",
    "Transform",
]
