"""What ``None`` becomes: a context and a model that suit the amount of data."""

import pandas as pd

from tsformer.models import Architecture, Informer, Linear
from tsformer.panels import Panel
from tsformer.panels.seasons import seasons

__all__ = ["default_context", "default_model"]

_LONGEST = 512
_FEW_WINDOWS = 500
"""Below it a network has too few windows to learn more than the ridge regression finds."""


def default_context(panel: Panel, horizon: int, *, short: str = "error") -> int:
    """Two seasons or horizons, and the longest season; less where the data are short.

    A week for steps below a day.
    At least as many training windows as steps of context are left in the median series, and one
    in the shortest unless a policy drops or pads what is ``short``.
    """
    found = seasons(panel)
    season = found[0]
    wanted = max(2 * season, found[-1], 2 * horizon, 16)
    if isinstance(panel.index.freq, pd.offsets.Tick) and season > 1:
        wanted = max(wanted, 7 * season)
    median, shortest = int(pd.Series(panel.index.lengths).median()), int(panel.index.lengths.min())
    validation = max(horizon, -(-median // 5))
    room = (median - validation - horizon) // 2
    if short == "error":
        room = min(room, shortest - horizon)
    return max(1, min(wanted, room, max(_LONGEST, 2 * horizon)))


def default_model(panel: Panel, context: int, horizon: int) -> Architecture:
    """A ridge regression for little data, an Informer for more."""
    windows = int((panel.index.lengths - context - horizon + 1).clip(min=0).sum())
    return Linear() if windows < _FEW_WINDOWS else Informer()
