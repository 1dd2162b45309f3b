"""Heads: what the numbers a network gives for each step mean."""

from tsformer.heads.base import Head
from tsformer.heads.point import Point
from tsformer.heads.quantiles import Quantiles, pinball_loss

__all__ = ["Head", "Point", "Quantiles", "pinball_loss"]
