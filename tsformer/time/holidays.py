"""Days off: reading them, and the share of days off in each row."""

import datetime
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.tseries.holiday import AbstractHolidayCalendar

from tsformer.arrays import Floats, Ints
from tsformer.cures import Cure
from tsformer.errors import ParameterError
from tsformer.threads import ignored
from tsformer.time.countries import country_days
from tsformer.time.freq import Freq, advance, per_second, wall_of
from tsformer.time.monthly import months_of

__all__ = ["holiday_share", "read_holidays"]


_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})([T ]00:00(:00)?)?")
# how far rules are written out at least; as far as the data reach back, if that is further
_YEARS_AHEAD = 10
# pandas labels these by their last day
_BY_THE_END = ("W", "ME", "QE", "YE", "SME", "BME", "BQE", "BYE", "CBME")


def read_holidays(given: Any, stamps: pd.Index) -> tuple[str, ...]:
    """Read days off as sorted ISO 8601 dates.

    Parameters
    ----------
    given
        Dates or ISO text, a mapping from them, a country such as ``"DE"`` or ``"US-CA"`` (see
        :func:`country_days`), a list of such, or a pandas holiday calendar. Countries and calendars
        are written out from the year of the first stamp to 10 years past the last, or to as many
        as the data span.
    stamps
        ``(rows,)``.

    Raises
    ------
    ParameterError
        If there is anything else among them, or time is whole numbers.
    MissingDependency
        If a country is named and the package ``holidays`` is not installed.

    Examples
    --------
    >>> days = pd.date_range("2024-01-01", periods=3)
    >>> read_holidays({"2024-12-26": "Boxing Day", datetime.date(2024, 12, 25): "Christmas"}, days)
    ('2024-12-25', '2024-12-26')
    >>> read_holidays("US", days)[:2]
    ('2024-01-01', '2024-01-15')
    """
    if given is None or (isinstance(given, (list, tuple)) and not given):
        return ()
    if not isinstance(stamps, pd.DatetimeIndex):
        raise ParameterError(
            "holidays need dates, but the time of the data is whole numbers.",
            Cure("Leave them out, or give them as a column of 0 and 1", {"schema__known": ...}),
        )
    if isinstance(given, AbstractHolidayCalendar):
        return _written_out(given, stamps)
    if isinstance(given, str) and _names_a_country(given):
        given = (given,)
    if isinstance(given, (str, type)) or not isinstance(given, Iterable):
        raise ParameterError(
            f"holidays={given!r}: give a list of dates, such as ['2024-12-25'], a mapping"
            " from dates, a country, such as 'DE', or a pandas holiday calendar, such as"
            " USFederalHolidayCalendar().",
            *([Cure("For one", {"schema__holidays": [given]})] if _is_date(given) else []),
        )
    found: set[str] = set()
    for one in given:
        if isinstance(one, str) and _names_a_country(one):
            found.update(country_days(one, *_years(stamps)))
        else:
            found.add(_date(one))
    if not found and isinstance(given, Mapping):
        raise ParameterError(
            f"holidays: the mapping of type {type(given).__name__} holds no date. If it"
            " fills itself by year, say the years when it is made."
        )
    return tuple(sorted(found))


def holiday_share(
    stamps: pd.DatetimeIndex, freq: Freq, holidays: tuple[str, ...], *, periods: bool = False
) -> Floats:
    """``(rows,)`` 1 on a day off and 0 elsewhere, in local time; for longer steps, their share.

    A step of more than a day counts the days off in the period that its stamp names, divided by
    the days of the period. As in ``DataFrame.resample`` that is the period up to the stamp for
    weeks and ends of months, quarters and years, and the one from the stamp on for all others.
    Business days and trading days are days. The stamps of ``periods`` are their first moments.
    """
    off = np.array(sorted(holidays), "datetime64[D]").astype(np.int64)
    day = wall_of(stamps).normalize()
    number = _numbered(day)
    if isinstance(freq, int) or _is_a_day(freq):
        first, last = number, number + 1
    elif not periods and months_of(freq) is None and freq.rule_code.split("-")[0] in _BY_THE_END:
        first, last = _numbered(_moved(day, freq, -1)) + 1, number + 1
    else:
        first, last = number, _numbered(_moved(day, freq, 1))
    last = np.maximum(last, first + 1)
    share: Floats = (np.searchsorted(off, last) - np.searchsorted(off, first)) / (last - first)
    return share


def _written_out(calendar: AbstractHolidayCalendar, stamps: pd.DatetimeIndex) -> tuple[str, ...]:
    first, last = _years(stamps)
    with ignored():  # pandas says which rules are slow, and which ways of its own will change
        days = calendar.holidays(pd.Timestamp(first, 1, 1), pd.Timestamp(last, 12, 31))
    return tuple(sorted({_date(day) for day in days}))


def _years(stamps: pd.DatetimeIndex) -> tuple[int, int]:
    """The first and the last year that a forecast from these data may look at."""
    first, last = int(stamps.min().year), int(stamps.max().year)
    return first, min(last + max(_YEARS_AHEAD, last - first), 9999)


def _names_a_country(text: str) -> bool:
    """Whether a text is no date, well written or not."""
    return text.strip()[:1].isalpha()


def _is_date(given: Any) -> bool:
    return isinstance(given, str) and _ISO.fullmatch(given.strip()) is not None


def _date(given: Any) -> str:
    """ISO 8601, or an error that names what was given."""
    text = given.strip() if isinstance(given, str) else None
    plain = isinstance(given, (datetime.date, np.datetime64, pd.Period))
    if (text is None and not plain) or (text is not None and not _ISO.fullmatch(text)):
        raise _no_day(given, f"of type {type(given).__name__} is no date")
    try:
        moment: Any = (
            given.start_time if isinstance(given, pd.Period) else pd.Timestamp(text or given)
        )
    except (ValueError, OverflowError):
        raise _no_day(given, "is no date") from None
    if moment is pd.NaT:
        raise _no_day(given, "is no date")
    if moment.tzinfo is not None or moment != moment.normalize():
        raise _no_day(given, "is a moment, not a day")
    return str(moment.date().isoformat())


def _no_day(given: Any, problem: str) -> ParameterError:
    return ParameterError(
        f"holidays: {given!r} {problem}. Days off are dates without a clock time or"
        " zone, such as '2024-12-25', and hold in the local time of the data."
    )


def _is_a_day(freq: pd.offsets.BaseOffset) -> bool:
    if isinstance(freq, pd.offsets.Tick):
        return pd.Timedelta(freq) <= pd.Timedelta(days=1)
    daily = (pd.offsets.Day, pd.offsets.BusinessDay, pd.offsets.CustomBusinessDay)
    return isinstance(freq, daily) and freq.n == 1


def _moved(days: pd.DatetimeIndex, freq: pd.offsets.BaseOffset, count: int) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(advance(days, np.full(len(days), count, np.int64), freq))


def _numbered(days: pd.DatetimeIndex) -> Ints:
    """Days since 1970."""
    numbers: Ints = days.asi8 // (86_400 * per_second(days))
    return numbers
