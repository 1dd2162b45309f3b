"""What to do with data that is not clean: with gaps, short series, and periods to ignore."""

import datetime
import re
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from tsformer.arrays import Flags
from tsformer.cures import Cure
from tsformer.cures import warn as warn_caller
from tsformer.errors import EmptyPeriod, ParameterError, WrongTime
from tsformer.params import KW_ONLY, Params, param, params
from tsformer.time.freq import wall_of

__all__ = ["Policy", "ignored_rows"]

_WHOLE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@params
class Policy(Params):
    """What happens to missing values, missing rows and short series: refused, or handled.

    A mask reaches scaler, embedding, attention and loss: a masked value may be anything, it moves
    nothing.

    Examples
    --------
    >>> Policy(missing="mask").keeps_missing, Policy().keeps_missing
    (True, False)
    >>> Policy(ignore=[("2020-06-30", "2020-03-15")]).check()
    Traceback (most recent call last):
        ...
    tsformer.errors.ParameterError: the period to ignore ('2020-06-30', '2020-03-15') ends before
    it begins. Give first and last stamp, one of which may be left open, such as:
    policy=Policy(ignore=[('2020-03-15', '2020-06-30')]).
    """

    _: KW_ONLY
    missing: Literal["error", "mask", "interpolate"] = param(
        "NaN in a target or a covariate: 'error' names series, column and row; 'mask' trains"
        " around it; 'interpolate' draws a line between the values that a window knows, and never"
        " counts what it drew as an answer.",
        default="error",
        choices=("error", "mask", "interpolate"),
    )
    gaps: Literal["error", "mask"] = param(
        "Absent rows: 'error' names the first gap; 'mask' puts them back as missing values,"
        " which are masked whatever ``missing`` says.",
        default="error",
        choices=("error", "mask"),
    )
    short: Literal["error", "drop", "pad"] = param(
        "Series with fewer rows than context and horizon need: 'error' names the first; 'drop'"
        " leaves them out; 'pad' puts masked rows before them. ``short_`` lists what was done.",
        default="error",
        choices=("error", "drop", "pad"),
    )
    ignore: tuple[Any, ...] | list[Any] = param(
        "Periods that teach nothing, such as ``[('2020-03-15', '2020-06-30')]``, both ends"
        " included, None for an open end: targets and past covariates in them are masked whatever"
        " ``missing`` says. A date, month or year as the last stamp is there to its end; what has"
        " no zone is local time of the data.",
        default=(),
    )

    @property
    def keeps_missing(self) -> bool:
        """Whether NaN may stay in what is read."""
        return self.missing != "error"

    def check(self) -> None:
        """Raise ``ParameterError`` for an option that does not exist or a period that is none."""
        super().check()
        _periods(self.ignore)


class _Period(NamedTuple):
    """Both ends as moments or whole numbers, the whole days of the last one included."""

    begin: Any
    end: Any
    said: str


def ignored_rows(stamps: pd.Index, ignore: Any, *, warn: bool) -> Flags:
    """``(rows,)`` whether each stamp lies in one of the periods, both ends included.

    Stamps without a zone of their own are read as local wall time of the data.

    Parameters
    ----------
    warn
        Whether to warn of a period that holds no row.

    Raises
    ------
    WrongTime
        If a period is of another kind of time than the data.
    """
    inside = np.zeros(len(stamps), np.bool_)
    for period in _periods(ignore):
        rows = _from(stamps, period.begin, period.said) & _until(stamps, period.end, period.said)
        if warn and not rows.any():
            warn_caller(
                EmptyPeriod(
                    f"the period to ignore {period.said} holds no row: the data go"
                    f" from {stamps.min()} to {stamps.max()}"
                )
            )
        inside |= rows
    return inside


def _periods(ignore: Any) -> list[_Period]:
    if not isinstance(ignore, (list, tuple)):
        raise _wrong(ignore, "is no list")
    return [_period(one) for one in ignore]


def _wrong(found: Any, problem: str) -> ParameterError:
    return ParameterError(
        f"the period to ignore {found!r} {problem}.",
        Cure(
            "Give first and last stamp, one of which may be left open, such as",
            code="policy=Policy(ignore=[('2020-03-15', '2020-06-30')])",
            option="--ignore FROM..TO",
        ),
    )


def _period(pair: Any) -> _Period:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise _wrong(pair, "is no pair")
    if pair[0] is None and pair[1] is None:
        raise _wrong(pair, "is open at both ends and covers everything")
    begin, end = _moment(pair[0], pair, last=False), _moment(pair[1], pair, last=True)
    if begin is None or end is None:
        return _Period(begin, end, f"({pair[0]}, {pair[1]})")
    if isinstance(begin, int) != isinstance(end, int):
        raise _wrong(pair, "mixes dates and whole numbers")
    if not isinstance(begin, int) and (begin.tzinfo is None) != (end.tzinfo is None):
        raise _wrong(pair, "has one end with a zone and one without")
    if begin > end:
        raise _wrong(pair, "ends before it begins")
    return _Period(begin, end, f"({pair[0]}, {pair[1]})")


def _moment(given: Any, pair: Any, *, last: bool) -> Any:
    """A whole number, or the first moment of what was given, or its last one."""
    if given is None:
        return None
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return int(given)
    whole: str | None = None
    if isinstance(given, str):
        whole = given.strip() if _WHOLE.fullmatch(given.strip()) else None
    elif isinstance(given, datetime.date) and not isinstance(given, datetime.datetime):
        whole = given.isoformat()
    elif isinstance(given, np.datetime64) and np.datetime_data(given)[0] in "YMD":
        whole = str(given)
    elif not isinstance(given, (datetime.datetime, np.datetime64, pd.Period)):
        raise _wrong(
            pair, f"has the end {given!r} of type {type(given).__name__}, which is no stamp"
        )
    try:
        if whole is not None:
            given = pd.Period(whole)
        if isinstance(given, pd.Period):
            return _last(given) if last else given.start_time
        made: Any = pd.Timestamp(given)
    except (ValueError, TypeError, OverflowError):
        made = pd.NaT
    if pd.isna(made):
        raise _wrong(pair, f"has the end {given!r}, which is no date")
    return made


def _last(period: pd.Period) -> pd.Timestamp:
    """The last microsecond: nanoseconds hold few centuries."""
    following: pd.Timestamp = (period + 1).start_time.as_unit("us")
    return following - pd.Timedelta(1, unit="us")


def _from(stamps: pd.Index, begin: Any, said: str) -> Flags:
    if begin is None:
        return np.ones(len(stamps), np.bool_)
    return np.asarray(_alike(stamps, begin, said) >= begin)


def _until(stamps: pd.Index, end: Any, said: str) -> Flags:
    if end is None:
        return np.ones(len(stamps), np.bool_)
    return np.asarray(_alike(stamps, end, said) <= end)


def _alike(stamps: pd.Index, moment: Any, said: str) -> pd.Index:
    """The stamps as the moment can be compared with: as they are, or as local wall time."""
    dated = isinstance(stamps, pd.DatetimeIndex)
    if dated == isinstance(moment, int):
        kinds = ("dates", "whole numbers")[:: 1 if dated else -1]
        raise WrongTime(
            f"the period to ignore {said} is given in {kinds[1]}, but the time of the"
            f" data is {kinds[0]}"
        )
    if not isinstance(stamps, pd.DatetimeIndex) or moment.tzinfo is not None:
        if isinstance(stamps, pd.DatetimeIndex) and stamps.tz is None:
            raise WrongTime(f"the period to ignore {said} has a zone, but the stamps have none")
        return stamps
    return wall_of(stamps)
