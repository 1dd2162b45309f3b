"""Frequencies: naming them, finding them, and stepping along them."""

import re
import warnings
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.tseries.frequencies import to_offset

from tsformer.errors import WrongFrequency

__all__ = ["Freq", "advance", "as_freq", "guess", "name_of", "ticks"]

Freq: TypeAlias = pd.offsets.BaseOffset | int
Ints = NDArray[np.int64]

# spellings that pandas 3 refuses or warns about
_RENAMED = {
    "H": "h", "T": "min", "S": "s", "L": "ms", "U": "us", "N": "ns", "d": "D", "w": "W",
    "M": "ME", "Q": "QE", "Y": "YE", "A": "YE", "AS": "YS", "BM": "BME", "BQ": "BQE",
    "BY": "BYE", "BA": "BYE", "BAS": "BYS", "SM": "SME", "CBM": "CBME",
}  # fmt: skip
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DAY = 86_400


def as_freq(freq: str | int | pd.offsets.BaseOffset) -> Freq:
    """Read a frequency in pandas' new or old spelling, or a whole number.

    >>> as_freq("15T"), as_freq("Q-MAR"), as_freq(10)
    (<15 * Minutes>, <QuarterEnd: startingMonth=3>, 10)
    """
    if isinstance(freq, (int, np.integer)):
        if isinstance(freq, bool) or freq < 1:
            raise WrongFrequency(f"freq={freq}: a whole-number step must be at least 1")
        return int(freq)
    try:
        offset = to_offset(_respelt(freq) if isinstance(freq, str) else freq)
    except (ValueError, TypeError) as problem:
        raise WrongFrequency(
            f"freq={freq!r} is not a frequency pandas knows; examples: 'h', '15min', 'D', 'B',"
            " 'W-FRI', 'MS', 'ME', 'QS', 'YE', or a whole number for integer time"
        ) from problem
    if offset is None or offset.n < 1 or "BusinessHour" in type(offset).__name__:
        raise WrongFrequency(f"freq={freq!r}: not a step that time can be counted in")
    return offset


def name_of(freq: Freq) -> str | int:
    """Canonical spelling, as stored in a resolved schema."""
    return freq if isinstance(freq, int) else str(freq.freqstr)


def advance(anchors: pd.Index, counts: Ints, freq: Freq) -> pd.Index:
    """``counts`` steps after each anchor, in the anchors' unit and zone.

    Sub-daily steps are counted in UTC, days and longer in local wall time; a wall time that a
    clock change skips moves forward, as in pandas.

    >>> last = pd.DatetimeIndex(["2024-01-31"])
    >>> [str(day.date()) for day in advance(last.repeat(2), np.array([1, 2]), as_freq("ME"))]
    ['2024-02-29', '2024-03-31']
    """
    if not isinstance(freq, pd.offsets.BaseOffset) or not isinstance(anchors, pd.DatetimeIndex):
        return pd.Index(anchors.to_numpy() + counts * _whole(freq), name=anchors.name)
    if isinstance(freq, pd.offsets.Tick):
        fine = anchors
        if freq.nanos % (10**9 // _PER_SECOND[anchors.unit]):
            fine = anchors.as_unit("ns")
        step = freq.nanos * _PER_SECOND[fine.unit] // 10**9
        return _instants(fine.asi8 + counts * step, fine)
    wall = wall_of(anchors)
    if isinstance(freq, pd.offsets.Day):
        step = freq.n * _DAY * _PER_SECOND[wall.unit]
        return _local(wall.asi8 + counts * step, anchors)
    day = wall.normalize()
    grid = _grid(day, freq, int(counts.max(initial=0)) * freq.n)
    place = grid.get_indexer(day)
    if (place < 0).any():
        bad = anchors[int(np.argmin(place))]
        raise WrongFrequency(f"{bad} is not on the frequency {freq.freqstr!r}")
    return _local(grid.asi8[place + counts * freq.n] + (wall - day).asi8, anchors)


def ticks(stamps: pd.Index, starts: Ints, freq: Freq) -> tuple[Ints, NDArray[np.bool_]]:
    """Number of steps since the series' first stamp, and which stamps are off the beat.

    Parameters
    ----------
    stamps
        ``(rows,)``, sorted within each series.
    starts
        ``(series + 1,)``.

    Returns
    -------
    count, off
        ``(rows,)`` each; the count of a row that is off is rounded down.
    """
    lengths = np.diff(starts)
    first = np.repeat(starts[:-1], lengths)
    if not isinstance(freq, pd.offsets.BaseOffset) or not isinstance(stamps, pd.DatetimeIndex):
        value = stamps.to_numpy().astype(np.int64)
        count, rest = np.divmod(value - value[first], _whole(freq))
        return count, rest != 0
    if isinstance(freq, pd.offsets.Tick):
        unit_nanos = 10**9 // _PER_SECOND[stamps.unit]
        elapsed = stamps.asi8 - stamps.asi8[first]
        if freq.nanos % unit_nanos:
            elapsed, unit_nanos = elapsed * unit_nanos, 1
        count, rest = np.divmod(elapsed, freq.nanos // unit_nanos)
        return count, rest != 0
    return _calendar_ticks(stamps, first, freq)


def guess(stamps: pd.Index, starts: Ints) -> Freq | None:
    """Find the step between rows; ``None`` where there are too few rows to tell.

    pandas reasons about the longest series; where that has gaps, the most frequent difference of
    all series decides. Whether the rows follow it is for :func:`ticks` to say.
    """
    lengths = np.diff(starts)
    longest = int(np.argmax(lengths))
    one = stamps[starts[longest] : starts[longest + 1]]
    if not isinstance(one, pd.DatetimeIndex):
        steps = _steps(stamps.to_numpy().astype(np.int64), starts)
        return _most_frequent(steps) if len(steps) else None
    if len(one) < 3:
        return None
    return _inferred(one) or _from_differences(pd.DatetimeIndex(stamps), starts)


def _whole(freq: Freq) -> int:
    if isinstance(freq, int):
        return freq
    raise WrongFrequency(f"freq={freq.freqstr!r} does not go with time that is whole numbers")


def wall_of(stamps: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Local wall time, without a zone."""
    return stamps if stamps.tz is None else stamps.tz_localize(None)


def _respelt(freq: str) -> str:
    match = re.fullmatch(r"(\d*\.?\d*)([A-Za-z]+)(-[A-Za-z]+)?", freq.strip())
    if match is None:
        return freq
    count, unit, anchor = match.groups(default="")
    return f"{count}{_RENAMED.get(unit, unit)}{anchor.upper()}"


def _instants(values: Ints, like: pd.DatetimeIndex) -> pd.DatetimeIndex:
    made = pd.DatetimeIndex(values.view(f"datetime64[{like.unit}]"), name=like.name)
    return made if like.tz is None else made.tz_localize("UTC").tz_convert(like.tz)


def _local(values: Ints, like: pd.DatetimeIndex) -> pd.DatetimeIndex:
    made = pd.DatetimeIndex(values.view(f"datetime64[{like.unit}]"), name=like.name)
    if like.tz is None:
        return made
    summer = np.ones(len(made), np.bool_)
    return made.tz_localize(like.tz, ambiguous=summer, nonexistent="shift_forward")


def _grid(days: pd.DatetimeIndex, freq: pd.offsets.BaseOffset, beyond: int) -> pd.DatetimeIndex:
    """Every date of the unit of ``freq`` from the first day to ``beyond`` units after the last."""
    base: Any = freq.base
    first, last = days.min(), days.max()
    if beyond:
        last = pd.date_range(last, periods=beyond + 1, freq=base)[-1]
    return pd.date_range(first, last, freq=base).as_unit(days.unit)


def _calendar_ticks(
    stamps: pd.DatetimeIndex, first: Ints, freq: pd.offsets.BaseOffset
) -> tuple[Ints, NDArray[np.bool_]]:
    wall = wall_of(stamps)
    day = wall.normalize()
    if isinstance(freq, pd.offsets.Day):
        place = day.asi8 // (_DAY * _PER_SECOND[wall.unit])
        outside = np.zeros(len(stamps), np.bool_)
    else:
        place = _grid(day, freq, 0).get_indexer(day).astype(np.int64)
        outside = place < 0
    count, rest = np.divmod(place - place[first], freq.n)
    off = outside | (rest != 0)
    hour = wall.asi8 - day.asi8
    odd = (hour != hour[first]) & ~off
    if odd.any() and stamps.tz is not None:
        # a clock change may have skipped this wall time
        good = odd & ~outside[first]
        moved = advance(stamps[first[good]], count[good], freq)
        odd[good] = wall_of(pd.DatetimeIndex(moved)).asi8 != wall.asi8[good]
    return count, off | odd


def _inferred(stamps: pd.DatetimeIndex) -> Freq | None:
    wall = wall_of(stamps)
    if stamps.tz is None:
        tries = [wall]
    elif (np.diff(wall.asi8) >= 23 * 3600 * _PER_SECOND[wall.unit]).all():
        tries = [wall, wall.normalize()]
    else:
        tries = [stamps.tz_convert("UTC").tz_localize(None)]
    for one in tries:
        with warnings.catch_warnings():
            # the return type changes in pandas 4; both are read
            warnings.simplefilter("ignore")
            found = pd.infer_freq(one)
        if found is not None:
            return as_freq(found)
    return None


def _from_differences(stamps: pd.DatetimeIndex, starts: Ints) -> Freq | None:
    per_day = _DAY * _PER_SECOND[stamps.unit]
    wall = wall_of(stamps)
    step = _most_frequent(_steps(wall.asi8, starts))
    if step < per_day * 23 // 24:
        step = _most_frequent(_steps(stamps.asi8, starts))
        return _tick(step, stamps)
    days = round(step / per_day)
    for name in _candidates(days, wall):
        freq = as_freq(name)
        if not ticks(stamps, starts, freq)[1].any():
            return freq
    whole = step % per_day == 0 or stamps.tz is not None
    return pd.offsets.Day(days) if whole else _tick(step, stamps)


def _tick(step: int, stamps: pd.DatetimeIndex) -> Freq:
    offset = to_offset(pd.Timedelta(step, unit=stamps.unit))
    return as_freq(offset)  # refuses a step of zero


def _candidates(days: int, wall: pd.DatetimeIndex) -> list[str]:
    month = _MONTHS[int(wall[0].month) - 1]
    if days == 1:
        weekend = bool((wall.day_of_week >= 5).any())
        return ["B"] if not weekend and wall[-1] - wall[0] >= pd.Timedelta(days=7) else []
    if days == 7:
        return [f"W-{_WEEKDAYS[int(wall[0].day_of_week)]}"]
    if 28 <= days <= 31:
        return ["MS", "ME", "BMS", "BME"]
    if 89 <= days <= 92:
        return [f"{kind}-{month}" for kind in ("QS", "QE", "BQS", "BQE")]
    if 365 <= days <= 366:
        return [f"{kind}-{month}" for kind in ("YS", "YE", "BYS", "BYE")]
    return []


def _steps(values: Ints, starts: Ints) -> Ints:
    """Differences within series."""
    steps = np.diff(values)
    borders = starts[1:-1]
    inside = np.ones(len(steps), np.bool_)
    inside[borders - 1] = False
    return steps[inside]


def _most_frequent(steps: Ints) -> int:
    values, counts = np.unique(steps, return_counts=True)
    return int(values[np.argmax(counts)])
