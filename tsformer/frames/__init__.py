"""Frames in, panels out: roles, checks, time, scales, transforms and splits."""

from tsformer.frames.asinh import Asinh
from tsformer.frames.calendar import calendar_features
from tsformer.frames.panel import Panel
from tsformer.frames.policy import Policy
from tsformer.frames.scales import Scales
from tsformer.frames.schema import Schema
from tsformer.frames.split import Holdout, RollingOrigin
from tsformer.frames.transforms import BoxCox, Clip, Log1p, Shift, Transform

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
    "calendar_features",
]
