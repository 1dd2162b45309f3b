"""What a forecaster's parameters come to: what None becomes, and what the others stand for."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from tsformer.errors import ParameterError
from tsformer.models import Architecture, Informer, Linear
from tsformer.models.scaling import WindowKind
from tsformer.panels import Clip, Panel, Transform
from tsformer.panels.scales import ScalesKind
from tsformer.panels.seasons import seasons

__all__ = [
    "COLUMN_SCALES",
    "WINDOW_KINDS",
    "ForecasterScaling",
    "checked_lags",
    "default_context",
    "default_model",
    "listed_transforms",
]

ForecasterScaling = Literal["window", "last", "asinh", "series", "global", "robust", "none"]
COLUMN_SCALES: Mapping[ForecasterScaling, ScalesKind] = {
    "window": "series", "last": "series", "asinh": "series",
    "series": "series", "global": "global", "robust": "robust", "none": "none",
}  # fmt: skip
"""How columns are scaled by their training rows; each series by itself before windows are."""
WINDOW_KINDS: Mapping[ForecasterScaling, WindowKind] = {
    "window": "window", "last": "last", "asinh": "asinh",
    "series": "none", "global": "none", "robust": "none", "none": "none",
}  # fmt: skip
"""How each window of the scaled series is normalised by its own context."""
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


def checked_lags(lags: Any, ahead: int) -> tuple[int, ...]:
    """The lags in order; each must be known ``ahead`` steps (gap and horizon) in advance.

    Raises
    ------
    ParameterError
        Naming the first one that is not.
    """
    if not isinstance(lags, Sequence) or isinstance(lags, str):
        raise ParameterError(f"lags={lags!r}: give whole numbers of rows, such as [168]")
    for lag in lags:
        if isinstance(lag, bool) or int(lag) != lag or lag < ahead:
            raise ParameterError(
                f"lags={list(lags)}: {lag!r} is not a whole number of at least {ahead} rows (gap +"
                " horizon), so the value it points at is not known for the whole forecast"
            )
    return tuple(sorted({int(lag) for lag in lags}))


def listed_transforms(
    transforms: Any, *, nonnegative: bool = False, ahead: int
) -> tuple[Transform, ...]:
    """The transforms in the order in which they are applied.

    Raises
    ------
    ParameterError
        If something else is among them, or one of them needs values that are not yet known.
    """
    given = () if transforms is None else transforms
    if isinstance(given, str) or not isinstance(given, Transform | Sequence):
        raise ParameterError(f"transforms={given!r}: give one or several of {_offered()}")
    # copies, so that what is set later moves no fit
    listed = copy.deepcopy((given,) if isinstance(given, Transform) else tuple(given))
    for one in listed:
        if not isinstance(one, Transform):
            raise ParameterError(f"transforms holds {one!r}; give one or several of {_offered()}")
        one.check()
        one.check_reach(ahead)
    # undone last: nothing comes between the clipped values and the caller
    return (Clip(low=0.0), *listed) if nonnegative else listed


def _offered() -> str:
    return ", ".join(sorted(f"{kind.__name__}()" for kind in Transform.__subclasses__()))
