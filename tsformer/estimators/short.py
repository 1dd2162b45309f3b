"""Series with too few rows: refused, left out, or padded, as the policy says."""

import numpy as np
import pandas as pd

from tsformer.arrays import Flags, Ints
from tsformer.cures import Cure, warn
from tsformer.errors import SeriesLeftOut, SeriesTooShort
from tsformer.panels import Panel
from tsformer.panels.index import shown

__all__ = ["long_enough", "padded", "without_short"]


def without_short(
    panel: Panel, context: int, ahead: int, *, memory: int = 0
) -> tuple[Panel, pd.DataFrame]:
    """The panel to fit on, in which every series holds a window, and a report of what was done.

    Parameters
    ----------
    context, ahead
        Rows of a window before its end: those looked back at, and gap and horizon.
    memory
        Rows that transforms look back at from the first row of a forecast; they cannot be padded.

    Returns
    -------
    panel
        Without the short series, or with masked rows before them.
    report
        One row a short series: ``series, rows, needed, done``.

    Raises
    ------
    SeriesTooShort
        Naming the first short series, if the policy refuses them or none is left.
    """
    needed = max(context + ahead, memory)
    short = panel.index.lengths < needed
    how = panel.policy.short
    report = pd.DataFrame(
        {
            "series": panel.index.ids[short].to_numpy(),
            "rows": panel.index.lengths[short],
            "needed": np.full(int(short.sum()), needed),
            "done": pd.Series(np.full(int(short.sum()), _DONE.get(how, how)), dtype="str"),
        }
    )
    if not short.any():
        return panel, report
    forgetful = panel.index.lengths < memory
    if forgetful.any() and how != "drop":
        raise SeriesTooShort(
            _found(panel, forgetful, "what transforms look back at", memory),
            Cure("Take a shorter lag, or leave such series out", _DROP),
        )
    if how == "pad":
        return panel.pad(np.maximum(needed - panel.index.lengths, 0)), report
    if how == "drop" and not short.all():
        _warn_left_out(panel, short, needed, "left out", "; short_ lists them")
        return panel.select(~short), report
    raise _refusal(panel, short, f"context {context} + horizon {ahead}", needed)


def long_enough(panel: Panel, context: int) -> Panel:
    """The series that can be forecast from their end: all, unless the policy drops short ones."""
    short = panel.index.lengths < context
    if not short.any() or panel.policy.short != "drop":
        return panel
    if short.all():
        raise _refusal(panel, short, f"context {context}", context)
    _warn_left_out(panel, short, context, "not forecast")
    return panel.select(~short)


def padded(panel: Panel, ends: Ints, context: int) -> tuple[Panel, int]:
    """The panel with so many masked rows before each series that every context fits.

    Parameters
    ----------
    ends
        (series,) rows before the first origin of each; -1 for a series that is not forecast.

    Returns
    -------
    panel
        As it is where all contexts fit.
    added
        How many rows were put before each series.

    Raises
    ------
    SeriesTooShort
        If a context does not fit and the policy does not pad.
    """
    short = (ends >= 0) & (ends < context)
    if not short.any():
        return panel, 0
    if panel.policy.short == "pad":
        added = context - int(ends[short].min())
        return panel.pad(added), added
    first = int(np.argmax(short))
    who = panel.index.of(first).removeprefix(" of ") or "the series"
    raise SeriesTooShort(
        f"{who} has {ends[first]} rows before the forecast, the context "
        f"needs {context} ({int(short.sum())} of {int((ends >= 0).sum())} series are too "
        "short).",
        Cure("Give more history, or fit again with a shorter context", {"context": ...}),
        Cure("Or pad them", _PAD),
        Cure("Or leave them out", _DROP),
    )


_DONE = {"drop": "dropped", "pad": "padded"}
_DROP, _PAD = {"policy__short": "drop"}, {"policy__short": "pad"}


def _warn_left_out(panel: Panel, short: Flags, needed: int, done: str, more: str = "") -> None:
    warn(
        SeriesLeftOut(
            f"{int(short.sum())} of {panel.n_series} series have fewer than {needed} rows and are"
            f" {done}, the first is {_name(panel, short)}{more}"
        )
    )


def _refusal(panel: Panel, short: Flags, what: str, needed: int) -> SeriesTooShort:
    found = _found(panel, short, what, needed)
    if panel.n_series == 1:
        return SeriesTooShort(found, Cure("Lower context or horizon, or give more rows"))
    return SeriesTooShort(
        found,
        Cure("Lower context or horizon, or leave such series out", _DROP),
        Cure("Or pad them", _PAD),
    )


def _found(panel: Panel, short: Flags, what: str, needed: int) -> str:
    rows = int(panel.index.lengths[int(np.argmax(short))])
    if panel.n_series == 1:
        return f"the series has {rows} rows; {what} need {needed}."
    return (
        f"series {_name(panel, short)} has {rows} rows; {what} need {needed} ({int(short.sum())} of"
        f" {panel.n_series} series are too short)."
    )


def _name(panel: Panel, short: Flags) -> str:
    return shown(panel.index.ids[int(np.argmax(short))])
