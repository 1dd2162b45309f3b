"""Tuning: a space of parameters by path, searched with Optuna on rows that come later.

The only room that imports Optuna.
"""

from tsformer.tuning.search import OptunaSearch
from tsformer.tuning.space import Choice, Dimension, Float, Int, auto_space

__all__ = ["Choice", "Dimension", "Float", "Int", "OptunaSearch", "auto_space"]
