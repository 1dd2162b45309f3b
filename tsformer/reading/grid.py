"""A regular grid: one frequency for all series, without gaps or with gaps put back."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tsformer.arrays import Flags, Ints
from tsformer.cures import Cure
from tsformer.errors import SeriesTooShort, WrongFrequency
from tsformer.panels.columns import Columns
from tsformer.panels.index import row_within_series
from tsformer.panels.policy import Policy
from tsformer.reading.rows import Rows
from tsformer.time.freq import Freq, advance, label_of, ticks
from tsformer.time.infer import guess, median_gap

__all__ = ["Grid", "find_freq", "full_grid"]


# a lone stray stamp would otherwise turn into millions of empty rows
_MOST_ABSENT = 20
_LISTED = 3


@dataclass(frozen=True, eq=False)
class Grid:
    """Every row that should be there, and where the rows that are there stand in it."""

    starts: Ints
    stamps: pd.Index
    rows: Ints | None

    @property
    def added(self) -> Flags:
        """``(rows,)`` which rows were put back."""
        back = np.zeros(len(self.stamps), np.bool_)
        if self.rows is not None:
            back[:] = True
            back[self.rows] = False
        return back

    def full(self, columns: Columns) -> Columns:
        """Put rows where they belong; nothing is known of the others."""
        values, codes = self.placed(columns.values, np.nan), self.placed(columns.codes, 0)
        return replace(columns, values=values, codes=codes)

    def placed(self, values: NDArray[Any], fill: Any) -> NDArray[Any]:
        """Put rows where they belong, and ``fill`` into the others."""
        if self.rows is None:
            return values
        out = np.full((len(self.stamps), *values.shape[1:]), fill, values.dtype)
        out[self.rows] = values
        return out


def find_freq(rows: Rows, *, asked: Freq | None, irregular: bool = False) -> Freq:
    """Take the frequency that was asked for, or infer it; the median gap of irregular stamps."""
    if asked is not None:
        return asked
    stamps, starts = rows.stamps, rows.starts
    found = median_gap(stamps, starts) if irregular else guess(stamps, starts)
    if found is not None:
        return found
    if not isinstance(stamps, pd.DatetimeIndex) and not rows.stamped:
        return 1
    longest = int(np.diff(starts).max())
    if irregular:
        raise WrongFrequency(
            "irregular stamps are counted in median gaps, but no series has 2 rows.",
            Cure("Give more rows, or say the frequency", {"schema__freq": ...}),
        )
    if longest == 1:
        raise SeriesTooShort(
            f"{rows.of(0).removeprefix(' of ') or 'the series'} has 1 row"
            f"{' and no other has more' if len(starts) > 2 else ''}; at least as many as context"
            " and horizon have together are needed. Give more rows."
        )
    raise WrongFrequency(
        f"the frequency cannot be inferred: the longest series has {longest} rows.",
        Cure("Say it", {"schema__freq": "D"}),
    )


def full_grid(rows: Rows, *, freq: Freq, policy: Policy) -> Grid:
    """Check that all rows follow the frequency, and put absent ones back if the policy says so.

    Raises
    ------
    WrongFrequency
        Naming the first gap or the first stamp off the grid, how many there are, and the cures.
    """
    stamps, starts = rows.stamps, rows.starts
    count, off = ticks(stamps, starts, freq)
    step = np.ones(len(stamps), np.int64)
    step[1:] = np.diff(count)
    step[starts[:-1]] = 1
    if not off.any() and (step == 1).all():
        return Grid(starts, stamps, None)
    other = _other_freq(rows, step, freq)
    if off.any() or other or policy.gaps != "mask":
        _refuse(rows, freq, off, step, other)
    lengths = np.diff(starts)
    totals = count[starts[1:] - 1] + 1
    if totals.sum() > _MOST_ABSENT * len(stamps) + 1000:
        worst = int(np.argmax(step))
        raise WrongFrequency(
            f"putting back absent rows would make {totals.sum()} rows out of {len(stamps)}; the"
            f" largest gap is {_gap(stamps, worst)}{_who(rows, worst)}. Is a stamp wrong, or"
            f" another frequency than {label_of(freq)!r} meant?",
            Cure("Say so", {"schema__freq": ...}),
        )
    full = np.concatenate([[0], np.cumsum(totals)]).astype(np.int64)
    place = np.repeat(full[:-1], lengths) + count
    return Grid(full, _filled(stamps, starts, full, place, freq), place)


def _filled(stamps: pd.Index, starts: Ints, full: Ints, rows: Ints, freq: Freq) -> pd.Index:
    totals = np.diff(full)
    first = stamps[np.repeat(starts[:-1], totals)]
    made = advance(first, row_within_series(totals), freq)
    if not isinstance(made, pd.DatetimeIndex) or not isinstance(stamps, pd.DatetimeIndex):
        return made
    # stamps that are there stay as they are, the second pass of a repeated hour included
    values = made.as_unit(stamps.unit).asi8.copy()
    values[rows] = stamps.asi8
    instants = pd.DatetimeIndex(values.view(f"datetime64[{stamps.unit}]"))
    return instants if stamps.tz is None else instants.tz_localize("UTC").tz_convert(stamps.tz)


def _other_freq(rows: Rows, step: Ints, freq: Freq) -> WrongFrequency | None:
    """Say which series goes at its own steady pace rather than having gaps."""
    stamps, starts = rows.stamps, rows.starts
    lengths = np.diff(starts)
    inner = step.copy()
    inner[starts[:-1]] = np.iinfo(np.int64).max
    least = np.minimum.reduceat(inner, starts[:-1])
    slow = np.flatnonzero((lengths >= 3) & (least > 1))
    name, all_slow = label_of(freq), len(slow) == len(lengths)
    for series in slow[:1]:
        begin, end = int(starts[series]), int(starts[series + 1])
        own = guess(stamps[begin:end], np.array([0, end - begin]))
        if own is not None:
            who = rows.of(int(series)).removeprefix(" of ") or "the series"
            if all_slow:
                return WrongFrequency(
                    f"{who} goes by {label_of(own)!r}, not by {name!r} ({len(slow)} such series).",
                    Cure("Say the frequency of the data", {"schema__freq": label_of(own)}),
                    Cure(f"Or resample them to {name!r}"),
                )
            return WrongFrequency(
                f"the series have different frequencies: {who} goes by {label_of(own)!r}, the"
                f" others by {name!r} ({len(slow)} such series). Forecast them apart, or resample"
                " them to one."
            )
    return None


def _refuse(
    rows: Rows,
    freq: Freq,
    off: Flags,
    step: Ints,
    other: WrongFrequency | None,
) -> None:
    stamps, starts = rows.stamps, rows.starts
    bad = off | (step != 1)
    row = int(np.argmax(bad))
    name = label_of(freq)
    if other:
        raise other
    first_row = row in starts[:-1]
    if off[row] and (first_row or not (step[row] > 1)):
        before = "" if first_row else f" after {stamps[row - 1]}"
        problem = f"{stamps[row]}{before}{_who(rows, row)} is not a step of {name!r}"
        cures = [
            Cure("Correct the stamps, or say another frequency", {"schema__freq": ...}),
            Cure("For stamps without a steady step", {"schema__freq": "irregular"}),
        ]
    else:
        expected = advance(stamps[row - 1 : row], np.ones(1, np.int64), freq)[0]
        problem = (
            f"after {stamps[row - 1]} comes {stamps[row]}{_who(rows, row)}, where {name!r}"
            f" expects {expected}"
        )
        masks = {"policy__gaps": "mask", "policy__missing": "mask"}
        cures = [
            Cure("Put the absent rows back as missing", masks),
            Cure("Or say another frequency", {"schema__freq": ...}),
        ]
        if isinstance(freq, pd.offsets.BusinessDay) and freq.n == 1:
            cures += _trading_days(_absent(stamps, step, off, freq), freq)
        if _summer_time(stamps[row - 1], stamps[row]):
            zone = "If summer time began there, give the stamps a zone"
            cures.append(Cure(zone, code="dt.tz_localize(...)"))
    raise WrongFrequency(f"{problem} ({int(bad.sum())} such places).", *cures)


def _trading_days(absent: str, freq: pd.offsets.BusinessDay) -> list[Cure]:
    """What to do where absent rows are days off."""
    free = Cure("Or take the rows as they come", {"schema__freq": "irregular"})
    if isinstance(freq, pd.offsets.CustomBusinessDay):
        days = "If these are days off, add them to the holidays of the frequency"
        return [Cure(days, code=absent), free]
    days = f"Schema(freq=pd.offsets.CustomBusinessDay(holidays={absent}))"
    return [Cure("If these are trading days, name the days off", code=days), free]


def _absent(stamps: pd.Index, step: Ints, off: Flags, freq: Freq) -> str:
    """The first days that no series has, as a list to paste."""
    good = (step > 1) & ~off
    good[1:] &= ~off[:-1]
    rows = np.flatnonzero(good)[:_LISTED]
    if not len(rows):
        return "[...]"
    before = stamps[rows - 1].repeat(step[rows] - 1)
    counts = np.concatenate([np.arange(1, step[row]) for row in rows])
    missing = advance(before, counts, freq).unique().difference(stamps)
    days = [str(day.date()) for day in missing[:_LISTED]]
    more = ", ..." if int(good.sum()) > len(rows) or len(missing) > len(days) else ""
    return f"[{', '.join(map(repr, days))}{more}]"


def _summer_time(before: Any, after: Any) -> bool:
    """Whether a gap is where clocks move forward, in stamps without a zone."""
    if not isinstance(before, pd.Timestamp) or before.tz is not None:
        return False
    return before.month in (3, 9, 10) and pd.Timedelta(hours=1) < after - before <= pd.Timedelta(
        hours=2
    )


def _gap(stamps: pd.Index, row: int) -> str:
    return f"from {stamps[row - 1]} to {stamps[row]}"


def _who(rows: Rows, row: int) -> str:
    caller = int(rows.order[row])
    return f"{rows.of(int(rows.series[caller]))} (row {caller})".replace(" of ", " in ", 1)
