"""What an analyst should know of a panel before a fit: one line each, and how bad it is."""

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from tsformer.arrays import Flags, Floats
from tsformer.cures import Cure
from tsformer.panels import Panel
from tsformer.panels.index import shown
from tsformer.reading.repeats import is_name

__all__ = ["Finding", "constant_series", "findings", "named_rows"]


_NINES = re.compile(r"-9\.9+|-99(\.9+)?|-?999+(\.9+)?")
_LIMITS = frozenset((2.0**15 - 1, -(2.0**15), 2.0**16 - 1, 2.0**31 - 1, -(2.0**31), 2.0**32 - 1))
_FILL = 1e19
"""Beyond it stand the fill values of measuring programs; nobody counts or measures so much."""
_MOST_CODES = 3
"""Codes looked for at either end of a column."""
_MOST = 6
"""Lines of one kind."""
_WIDE = 6
"""Columns from which on a table may be one of a series a row."""
_FAR = 6.0
"""Spreads between such a code and everything else: a real value is seldom so lonely."""


class Finding(NamedTuple):
    """One line of a report.

    Attributes
    ----------
    level
        ``"error"``: ``fit`` refuses it. ``"warning"``: it is dealt with, or odd. ``"note"``.
    message
        What was found, where and how often.
    cures
        What can be done.

    Examples
    --------
    >>> finding = Finding("error", "rows are absent.", (Cure("Mask", {"policy__gaps": "mask"}),))
    >>> finding.text, finding.as_options()
    ('rows are absent. Mask: policy=Policy(gaps="mask").', 'rows are absent. Mask: --gaps mask.')
    """

    level: Literal["error", "warning", "note"]
    message: str
    cures: tuple[Cure, ...] = ()

    @property
    def text(self) -> str:
        """The message, with cures as lines of Python."""
        return " ".join([self.message, *(cure.python() for cure in self.cures)])

    def as_options(self) -> str:
        """The message, with cures as options of the command line."""
        return " ".join([self.message, *filter(None, (cure.options() for cure in self.cures))])


def findings(panel: Panel) -> list[Finding]:
    """Look at the values of a panel that could be read."""
    found: list[Finding] = []
    for look in (_missing, _codes, _constant, _uneven_ends, _zeros):
        lines = list(look(panel))
        if len(lines) <= _MOST + 1:  # a line that says "one more" would take its place
            found.extend(lines)
        else:
            found.extend(lines[:_MOST])
            more = f"and {len(lines) - _MOST} more like the last"
            found.append(Finding(lines[-1].level, more))
    return found


def named_rows(data: Any, panel: Panel) -> list[Finding]:
    """Look for a table without stamps whose rows seem to be the series."""
    counted = isinstance(data, pd.DataFrame) and isinstance(data.index, pd.RangeIndex)
    if not counted or panel.layout.time_in != "index" or data.shape[1] < _WIDE:
        return []
    names, values = data.iloc[:, 0], data.iloc[:, 1:]
    if not (is_name(names) and names.is_unique and all(map(is_numeric_dtype, values.dtypes))):
        return []
    return [
        Finding(
            "warning",
            f"there are no stamps, and column {names.name!r} names each of the {len(data):,} rows:"
            " if a row is a series, make the table long first, with one row a value and columns for"
            " series, step and value",
        )
    ]


def _columns(panel: Panel) -> Iterator[tuple[str, str, Floats]]:
    for role in ("target", "past", "known"):
        own = panel.roles[role]
        for place, name in enumerate(own.names):
            yield role, name, own.values[:, place]


def _missing(panel: Panel) -> Iterator[Finding]:
    how = {"interpolate": "drawn as lines between neighbours"}.get(panel.policy.missing, "masked")
    places: dict[tuple[int, int, int], list[str]] = {}
    for _, name, values in _columns(panel):
        missing = np.isnan(values)
        if missing.any():
            key = int(missing.sum()), _longest(missing, panel), int(missing.argmax())
            places.setdefault(key, []).append(name)
    for (count, longest, row), names in places.items():
        yield Finding(
            "warning",
            f"{_named(names)} no value in {count:,} of {panel.n_rows:,} rows"
            f" ({count / panel.n_rows:.1%}, at most {longest} in a row), first"
            f" {_place(panel, row)}: {how}",
        )


def _codes(panel: Panel) -> Iterator[Finding]:
    for _, name, values in _columns(panel):
        seen = values[~np.isnan(values)]
        codes = _likely_codes(seen)
        rest = seen[~np.isin(seen, codes)]
        for code in codes if len(rest) else ():
            same = seen == code
            spread = max(float(rest.std()), 1e-9 * abs(code))
            beyond = code < rest.min() - _FAR * spread or code > rest.max() + _FAR * spread
            if beyond:
                row = int(np.argmax(values == code))
                yield Finding(
                    "warning",
                    f"column {name!r} holds {code:g} in {int(same.sum()):,} rows, first"
                    f" {_place(panel, row)}, far from all other values ({rest.min():g} to"
                    f" {rest.max():g}): probably a code for a missing value.",
                    (_without(name, code),),
                )


def _likely_codes(seen: Floats) -> list[float]:
    """The lowest and highest values that are written like a code for "not measured"."""
    distinct = np.unique(seen)
    ends = {*distinct[:_MOST_CODES].tolist(), *distinct[-_MOST_CODES:].tolist()}
    return sorted(one for one in ends if _is_code(one))


def _is_code(value: float) -> bool:
    nines = _NINES.fullmatch(f"{value:.12g}") is not None
    return nines or value in _LIMITS or abs(value) >= _FILL


def _without(name: str, code: float) -> Cure:
    exact = f"{code:g}" if float(f"{code:g}") == code else repr(code)
    return Cure(
        "Mask it",
        code=f'frame["{name}"] = frame["{name}"].replace({exact}, float("nan")), and'
        ' policy=Policy(missing="mask")',
        option=f"--na {exact} --missing mask",
    )


def _constant(panel: Panel) -> Iterator[Finding]:
    for role, name, values in _columns(panel):
        flat = np.flatnonzero(constant_series(panel, values))
        if len(flat):
            what = "the target" if role == "target" else "the covariate"
            where = "" if panel.n_series == 1 else f" in {len(flat)} of {panel.n_series} series"
            which = "" if panel.n_series == 1 else f", first {shown(panel.index.ids[flat[0]])}"
            yield Finding("warning", f"{what} {name!r} never changes{where}{which}")


def _uneven_ends(panel: Panel) -> Iterator[Finding]:
    if panel.n_series == 1:
        return
    last = panel.index.stamps[panel.index.starts[1:] - 1]
    early = np.flatnonzero(np.asarray(last < last.max()))
    if len(early):
        first = int(early[0])
        yield Finding(
            "warning",
            f"{len(early)} of {panel.n_series} series end before {last.max()}, the first is"
            f" {shown(panel.index.ids[first])}, which ends at {last[first]}: each is forecast from"
            " its own end",
        )


def _zeros(panel: Panel) -> Iterator[Finding]:
    for role, name, values in _columns(panel):
        if role != "target":
            continue
        seen = values[~np.isnan(values)]
        if not len(seen) or seen.min() < 0:
            continue
        share = float((seen == 0).mean())
        if share > 0.3:
            yield Finding(
                "note",
                f"target {name!r} is 0 in {share:.0%} of its rows and never negative: the median"
                " may be 0; look at quantiles.",
                (Cure("And consider", {"nonnegative": True}),),
            )


def constant_series(panel: Panel, values: Floats) -> Flags:
    """(series,) which of them have one value only, in at least two rows."""
    low = np.minimum.reduceat(np.where(np.isnan(values), np.inf, values), panel.index.starts[:-1])
    high = np.maximum.reduceat(np.where(np.isnan(values), -np.inf, values), panel.index.starts[:-1])
    flat: Flags = (low == high) & (panel.index.lengths > 1)
    return flat


def _named(names: list[str]) -> str:
    if len(names) == 1:
        return f"column {names[0]!r} has"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"columns {', '.join(map(repr, names[:3]))}{more} have"


def _longest(missing: Flags, panel: Panel) -> int:
    """Rows of the longest run within a series."""
    row = np.arange(len(missing))
    before = np.where(missing, -1, row)
    first = panel.index.starts[:-1]
    before[first] = np.where(missing[first], first - 1, first)  # no run crosses into a series
    return int((row - np.maximum.accumulate(before)).max())


def _place(panel: Panel, row: int) -> str:
    return panel.index.where(row).removeprefix(" ")
