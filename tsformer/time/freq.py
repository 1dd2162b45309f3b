"""Frequencies: naming them, and stepping along them."""

import re
from datetime import timedelta
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from pandas.tseries.frequencies import to_offset

from tsformer.arrays import Flags, Ints
from tsformer.cures import Cure
from tsformer.errors import WrongFrequency
from tsformer.time.monthly import as_monthly, month_name, month_places, months_of, on_months

__all__ = ["Freq", "advance", "as_freq", "label_of", "name_of", "per_second", "ticks", "wall_of"]

Freq: TypeAlias = pd.offsets.BaseOffset | int

# spellings that pandas 3 refuses or warns about
_RENAMED = {
    "H": "h", "T": "min", "S": "s", "L": "ms", "U": "us", "N": "ns", "d": "D", "w": "W",
    "M": "ME", "Q": "QE", "Y": "YE", "A": "YE", "AS": "YS", "BM": "BME", "BQ": "BQE",
    "BY": "BYE", "BA": "BYE", "BAS": "BYS", "SM": "SME", "CBM": "CBME",
}  # fmt: skip
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_UNITS: tuple[Literal["s", "ms", "us", "ns"], ...] = ("s", "ms", "us", "ns")
_CUSTOM = (
    pd.offsets.CustomBusinessDay,
    pd.offsets.CustomBusinessMonthBegin,
    pd.offsets.CustomBusinessMonthEnd,
)
_TRADING = re.compile(r"(\d*)(C|CBMS|CBME):([A-Za-z ]+):([\d,-]*)")
_WEEK = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY = 86_400


def as_freq(freq: str | int | pd.offsets.BaseOffset) -> Freq:
    """Read a frequency in pandas' new or old spelling, an offset, or a whole number.

    >>> as_freq("15T"), as_freq("Q-MAR"), as_freq(10)
    (<15 * Minutes>, <QuarterEnd: startingMonth=3>, 10)
    >>> as_freq("C:Mon Tue Wed Thu Fri:2024-12-25") == as_freq(
    ...     pd.offsets.CustomBusinessDay(holidays=["2024-12-25"])
    ... )
    True
    """
    if isinstance(freq, (int, np.integer)):
        if isinstance(freq, bool) or freq < 1:
            raise WrongFrequency(f"freq={freq}: a whole-number step must be at least 1")
        return int(freq)
    monthly = as_monthly(freq)
    if monthly is not None:
        return monthly
    try:
        offset = _parsed(freq) if isinstance(freq, str) else to_offset(freq)
    except (ValueError, TypeError) as problem:
        raise WrongFrequency(
            f"freq={freq!r} is not a frequency pandas knows; examples: 'h', '15min', 'D', 'B',"
            " 'W-FRI', 'MS', 'ME', 'QS', 'YE', a whole number for integer time, or 'irregular'"
        ) from problem
    if offset is None or offset.n < 1 or "BusinessHour" in type(offset).__name__:
        raise WrongFrequency(f"freq={freq!r}: not a step that time can be counted in")
    if isinstance(offset, _CUSTOM):
        offset = _with_days(offset)
    if not isinstance(freq, str) and not _can_be_named(offset):
        raise WrongFrequency(
            f"freq={freq!r} cannot be written as text, and so not be saved.",
            Cure(
                "Say it as one of pandas' frequencies, such as 'D', 'MS' or",
                code="pd.offsets.CustomBusinessDay(holidays=[...])",
            ),
        )
    return offset


def name_of(freq: Freq) -> str | int:
    """Canonical spelling, as stored in a resolved schema; :func:`as_freq` reads it back.

    Trading days are written with their weekdays and their days off.

    >>> name_of(pd.offsets.MonthEnd(2))
    '2ME'
    >>> name_of(as_freq(pd.offsets.CustomBusinessDay(holidays=["2024-12-25", "2024-12-26"])))
    'C:Mon Tue Wed Thu Fri:2024-12-25,2024-12-26'
    """
    if isinstance(freq, int):
        return freq
    if not isinstance(freq, _CUSTOM):
        return month_name(freq) or str(freq.freqstr)
    week, off = _days_of(freq)
    return f"{freq.freqstr}:{' '.join(week)}:{','.join(off)}"


def label_of(freq: Freq) -> str | int:
    """Short spelling for messages: trading days without their days off."""
    return freq if isinstance(freq, int) else month_name(freq) or str(freq.freqstr)


def advance(anchors: pd.Index, counts: Ints, freq: Freq) -> pd.Index:
    """``counts`` steps after each anchor (before it, if negative), in the anchors' unit and zone.

    Sub-daily steps are counted in UTC, days and longer in local wall time; a wall time that a
    clock change skips moves forward, as in pandas.

    >>> last = pd.DatetimeIndex(["2024-01-31"])
    >>> [str(day.date()) for day in advance(last.repeat(2), np.array([1, 2]), as_freq("ME"))]
    ['2024-02-29', '2024-03-31']
    """
    if len(anchors) == 0:
        return anchors
    if not isinstance(freq, pd.offsets.BaseOffset) or not isinstance(anchors, pd.DatetimeIndex):
        return pd.Index(anchors.to_numpy() + counts * _whole(freq), name=anchors.name)
    if isinstance(freq, pd.offsets.Tick):
        # no finer than the step needs: nanoseconds hold few centuries
        units = _UNITS[_UNITS.index(anchors.unit) :]
        unit = next(one for one in units if freq.nanos % (10**9 // _PER_SECOND[one]) == 0)
        fine = anchors.as_unit(unit)
        step = freq.nanos * _PER_SECOND[unit] // 10**9
        return _instants(fine.asi8 + counts * step, fine)
    wall = wall_of(anchors)
    if isinstance(freq, pd.offsets.Day):
        step = freq.n * _DAY * _PER_SECOND[wall.unit]
        return _local(wall.asi8 + counts * step, anchors)
    day = wall.normalize()
    monthly = months_of(freq)
    if monthly is not None:
        months, date = monthly
        place, off = month_places(day, date)
        if off.any():
            raise _off_the_steps(anchors[int(np.argmax(off))], freq)
        return _local(
            on_months(place + counts * months, date, day).asi8 + (wall - day).asi8, anchors
        )
    before, beyond = int(counts.min(initial=0)) * freq.n, int(counts.max(initial=0)) * freq.n
    grid = _grid(day, freq, -before, beyond)
    place = grid.get_indexer(day)
    if (place < 0).any():
        raise _off_the_steps(anchors[int(np.argmin(place))], freq)
    return _local(grid.asi8[place + counts * freq.n] + (wall - day).asi8, anchors)


def _off_the_steps(stamp: Any, freq: Freq) -> WrongFrequency:
    return WrongFrequency(f"{stamp} is not on the frequency {label_of(freq)!r}")


def ticks(stamps: pd.Index, starts: Ints, freq: Freq) -> tuple[Ints, Flags]:
    """Number of steps since the series' first stamp, and which stamps are off the grid.

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


def _whole(freq: Freq) -> int:
    if isinstance(freq, int):
        return freq
    raise WrongFrequency(f"freq={freq.freqstr!r} does not go with time that is whole numbers")


def wall_of(stamps: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Local wall time, without a zone."""
    return stamps if stamps.tz is None else stamps.tz_localize(None)


def per_second(stamps: pd.DatetimeIndex) -> int:
    """How many of the stamps' units make a second."""
    return _PER_SECOND[stamps.unit]


def _parsed(freq: str) -> pd.offsets.BaseOffset | None:
    trading = _TRADING.fullmatch(freq.strip())
    if trading is None:
        return to_offset(_respelt(freq))
    count, unit, week, off = trading.groups()
    made: Any = to_offset(unit)
    days = {"weekmask": week, "holidays": [day for day in off.split(",") if day]}
    return type(made)(int(count or 1), **days)  # type: ignore[no-any-return]


def _days_of(freq: Any) -> tuple[list[str], list[str]]:
    """Working days of the week, and sorted days off that fall on them."""
    week = [name for name, works in zip(_WEEK, freq.calendar.weekmask, strict=True) if works]
    return week, [str(day) for day in freq.calendar.holidays]


def _with_days(freq: Any) -> pd.offsets.BaseOffset:
    """Write working days and days off in one way, whatever they were given as."""
    week, off = _days_of(freq)
    extras = {"offset": freq.offset, "normalize": freq.normalize}
    return type(freq)(freq.n, weekmask=" ".join(week), holidays=off, **extras)  # type: ignore[no-any-return]


def _can_be_named(freq: Any) -> bool:
    if freq.normalize or getattr(freq, "offset", timedelta(0)) != timedelta(0):
        return False
    try:
        return bool(as_freq(str(name_of(freq))) == freq)
    except WrongFrequency:
        return False


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


def _grid(
    days: pd.DatetimeIndex, freq: pd.offsets.BaseOffset, before: int, beyond: int
) -> pd.DatetimeIndex:
    """Every date of the unit of ``freq``, so many before the first day and beyond the last."""
    base: Any = freq.base
    first, last = days.min(), days.max()
    if before:
        first = pd.date_range(end=first, periods=before + 1, freq=base)[0]
    if beyond:
        last = pd.date_range(last, periods=beyond + 1, freq=base)[-1]
    return pd.date_range(first, last, freq=base).as_unit(days.unit)


def _calendar_ticks(
    stamps: pd.DatetimeIndex, first: Ints, freq: pd.offsets.BaseOffset
) -> tuple[Ints, Flags]:
    wall = wall_of(stamps)
    day = wall.normalize()
    monthly = months_of(freq)
    if monthly is not None:
        place, outside = month_places(day, monthly[1])
    elif isinstance(freq, pd.offsets.Day):
        place = day.asi8 // (_DAY * _PER_SECOND[wall.unit])
        outside = np.zeros(len(stamps), np.bool_)
    else:
        place = _grid(day, freq, 0, 0).get_indexer(day).astype(np.int64)
        outside = place < 0
    count, rest = np.divmod(place - place[first], freq.n if monthly is None else monthly[0])
    off = outside | (rest != 0)
    hour = wall.asi8 - day.asi8
    odd = (hour != hour[first]) & ~off
    if odd.any() and stamps.tz is not None:
        # a clock change may have skipped this wall time
        good = odd & ~outside[first]
        moved = advance(stamps[first[good]], count[good], freq)
        odd[good] = wall_of(pd.DatetimeIndex(moved)).asi8 != wall.asi8[good]
    return count, off | odd
