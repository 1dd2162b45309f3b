"""Frames in, panels out: roles, checks, time, scales and splits."""

from tsformer.frames.calendar import calendar_features
from tsformer.frames.panel import Panel
from tsformer.frames.policy import Policy
from tsformer.frames.scales import Scales
from tsformer.frames.schema import Schema
from tsformer.frames.split import Holdout, RollingOrigin

__all__ = [
    "Holdout",
    "Panel",
    "Policy",
    "RollingOrigin",
    "Scales",
    "Schema",
    "calendar_features",
]
