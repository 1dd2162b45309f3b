"""Reading a time column: dates, periods, ISO 8601 text, whole numbers; all else is refused."""

import datetime
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_float_dtype, is_integer_dtype

from tsformer.arrays import Floats, Ints
from tsformer.cures import Cure
from tsformer.errors import WrongTime
from tsformer.time.formats import Spelling, fitting, is_spelling, names_periods, reads_like
from tsformer.time.unread import not_read
from tsformer.time.whole import WholeTime

__all__ = [
    "Stamps", "as_moment", "elapsed", "how_spelt", "is_dates", "is_text", "looks_like_dates",
    "looks_like_periods", "read_stamps",
]  # fmt: skip

_ISO = re.compile(
    r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(?P<zone>Z|[+-]\d{2}(:?\d{2})?)?)?)?"
)
_MIDNIGHT = r"([T ])24:00(:00)?$"
_SAMPLE = 200


class Stamps(NamedTuple):
    """Stamps as they were read.

    Attributes
    ----------
    stamps
        A ``DatetimeIndex`` in the caller's unit and zone, or an int64 index.
    period
        Frequency of the caller's periods, which are read as their first moment.
    spelling
        How text or whole numbers spelt them, to read later ones in the same way; ``None`` for
        dates, plain whole numbers and ISO 8601.
    """

    stamps: pd.Index
    period: str | None = None
    spelling: str | None = None


def read_stamps(
    values: pd.Index,
    name: Any = None,
    *,
    spelling: str | None = None,
    of: Callable[[int], str] = lambda row: "",
) -> Stamps:
    """Read stamps as dates or whole numbers.

    Parameters
    ----------
    values
        The column, or the index level.
    name
        Name of the column; ``None`` for an index.
    spelling
        How earlier stamps of the same column were spelt, which goes before any other way; and what
        makes dates of whole numbers.
    of
        Names the series of a row in messages.

    Raises
    ------
    WrongTime
        If a stamp is missing, a fraction, or text that is not ISO 8601; the message has the line
        that converts it.
    """
    what = "the index" if name is None else f"time column {name!r}"

    def where(row: int) -> str:
        return f"row {row}{of(row)}"

    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.dtype.categories.dtype)
    if spelling is not None and not is_dates(values):
        as_before = _as_before(values, spelling, what, where)
        if as_before is not None:
            return as_before
    period = None
    if isinstance(values.dtype, pd.PeriodDtype) or infer_dtype(values) == "period":
        periods = pd.PeriodIndex(values)
        period = str(periods.freqstr)
        values = periods.to_timestamp()
    if is_text(values):
        return _from_text(values, name, what, where)
    if values.dtype == np.dtype(object) or str(values.dtype).startswith("date32"):
        values = _from_objects(values.astype(object), what, where)
    _refuse_missing(values, what, where)
    if is_integer_dtype(values.dtype) and not is_bool_dtype(values.dtype):
        return Stamps(pd.Index(values.to_numpy(dtype=np.int64)))
    if isinstance(values, pd.DatetimeIndex):
        return Stamps(pd.DatetimeIndex(values.array.copy()), period)
    if getattr(values.dtype, "kind", "") == "M":  # pyarrow timestamps
        return Stamps(pd.DatetimeIndex(pd.to_datetime(values)), period)
    kind = "fractions" if is_float_dtype(values.dtype) else f"values of type {values.dtype}"
    raise WrongTime(
        f"{what} holds {kind} (first: {values[0]!s} in {where(0)}); time is dates, periods or whole"
        " numbers.",
        Cure("Convert it", code="pd.to_datetime(...)"),
        Cure("Or round it to whole steps"),
    )


def as_moment(stamp: Any, stamps: pd.Index) -> Any:
    """Read one stamp as those of a panel can be compared with.

    Raises
    ------
    WrongTime
        If it is a number where the stamps are dates, or has a zone where they have none.
    """
    if not isinstance(stamps, pd.DatetimeIndex):
        return stamp
    if isinstance(stamp, (int, float, np.number)):
        raise WrongTime(f"{stamp!r} is a number, but the time of this panel is dates")
    if isinstance(stamp, pd.Period):
        stamp = stamp.to_timestamp()
    made = pd.Timestamp(stamp)
    if made.tzinfo is None and stamps.tz is not None:
        made = made.tz_localize(stamps.tz)
    if made.tzinfo is not None and stamps.tz is None:
        raise WrongTime(f"{made} has a zone, but the stamps of this panel have none")
    return made


def elapsed(stamps: pd.Index, since: Ints, step: Any) -> Floats:
    """Time from the rows ``since`` to each row, in steps of a fixed length."""
    if not isinstance(stamps, pd.DatetimeIndex):
        values = stamps.to_numpy()
        return np.asarray((values - values[since]) / step, np.float64)
    passed: Any = stamps - stamps[since]
    return np.asarray(passed / pd.Timedelta(step), np.float64)


def is_dates(values: pd.Index | pd.Series) -> bool:
    """Whether all values are dates or periods, as such and not as text."""
    kind = values.dtype
    if getattr(kind, "kind", "") == "M" or isinstance(kind, pd.PeriodDtype):
        return True
    if isinstance(kind, pd.ArrowDtype):
        return str(kind).startswith("date")
    found = infer_dtype(values, skipna=True) if kind == np.dtype(object) else ""
    return found in ("date", "datetime", "datetime64", "period")


def is_text(values: pd.Index | pd.Series) -> bool:
    """Whether all values are text, whatever the type of the column."""
    if isinstance(values.dtype, pd.StringDtype):
        return True
    if isinstance(values.dtype, pd.CategoricalDtype):
        return is_text(pd.Series(values.dtype.categories))
    if isinstance(values.dtype, pd.ArrowDtype):
        coded = str(values.dtype).startswith(
            ("dictionary<values=string", "dictionary<values=large")
        )
        return coded or bool(pd.api.types.is_string_dtype(values.dtype))
    return values.dtype == np.dtype(object) and infer_dtype(values, skipna=True) == "string"


def looks_like_dates(values: pd.Index | pd.Series) -> bool:
    """Whether text reads like dates, ISO 8601 or not."""
    if not is_text(values):
        return False
    sample = [str(one) for one in pd.Series(values.unique()).dropna()[:_SAMPLE]]
    good = sum(1 for one in sample if _like_a_date(one))
    return bool(sample) and good >= 0.9 * len(sample)


def looks_like_periods(values: pd.Index | pd.Series) -> bool:
    """Whether text names quarters, weeks or months, which a finer column of time goes before."""
    sample = [str(one) for one in pd.Series(values.unique()).dropna()[:_SAMPLE]]
    return is_text(values) and bool(sample) and all(names_periods(one) for one in sample)


def how_spelt(values: pd.Index, spelling: str | None) -> str:
    """What text or whole numbers that :func:`read_stamps` read were written as, in words.

    >>> how_spelt(pd.Index(["30/04/2021"]), "%d/%m/%Y"), how_spelt(pd.Index([20210430]), "%Y%m%d")
    ("text as '%d/%m/%Y'", "whole numbers as '%Y%m%d'")
    """
    if not is_text(values):
        return str(WholeTime(spelling or ""))
    if spelling is None:
        zones = {match["zone"] for one in values.unique() if (match := _ISO.fullmatch(str(one)))}
        if len(zones) < 2:
            return "ISO 8601 text"
        return f"ISO 8601 text (offsets {' and '.join(sorted(map(str, zones)))}; answers in UTC)"
    return str(Spelling(spelling) if is_spelling(spelling) else WholeTime(spelling))


def _as_before(
    values: pd.Index, spelling: str, what: str, where: Callable[[int], str]
) -> Stamps | None:
    """Stamps spelt as they were before; ``None`` for text that now is spelt in another way."""
    _refuse_missing(values, what, where)
    if not is_text(values) or not is_spelling(spelling):
        return Stamps(WholeTime(spelling).read(values, what, where), None, spelling)
    text, late, utc = _plain(pd.Series(values.astype("str")))
    spelt = Spelling(spelling)
    stamps = pd.DatetimeIndex(spelt.read(text))
    if stamps.isna().any():
        return None
    return Stamps(_finished(stamps, late, utc=utc), spelt.period, spelling)


def _finished(stamps: pd.DatetimeIndex, late: pd.Series, *, utc: bool) -> pd.DatetimeIndex:
    """Stamps with what :func:`_plain` took away from their text."""
    if utc and stamps.tz is None:
        stamps = stamps.tz_localize("UTC")
    return stamps + pd.to_timedelta(late.to_numpy().astype(np.int64), unit="D")


def _like_a_date(text: str) -> bool:
    return _ISO.fullmatch(text) is not None or reads_like(text)


def _from_text(values: pd.Index, name: Any, what: str, where: Callable[[int], str]) -> Stamps:
    codes, distinct = pd.factorize(values)
    if 2 * len(distinct) < len(values) and (codes >= 0).all():
        try:  # the series of a long frame share their stamps
            read = _parsed(pd.Series(distinct.astype("str")), name, what, where)
            return read._replace(stamps=read.stamps[codes])
        except WrongTime:
            pass  # the full column tells the row
    return _parsed(pd.Series(values.astype("str")), name, what, where)


def _plain(text: pd.Series) -> tuple[pd.Series, pd.Series, bool]:
    """Text without surplus: 24:00 is the next day's midnight, and UTC at the end of all a zone."""
    text = text.str.strip()
    utc = bool(text.str.endswith((" UTC", " GMT")).all())
    if utc:
        text = text.str.slice(0, -4)
    late = text.str.contains(r"[T ]24:00(?::00)?$", regex=True)
    if late.any():
        text = text.str.replace(_MIDNIGHT, r"\g<1>00:00\g<2>", regex=True)
    return text, late, utc


def _parsed(text: pd.Series, name: Any, what: str, where: Callable[[int], str]) -> Stamps:
    _refuse_missing(text, what, where)
    text, late, utc = _plain(text)
    matches = [_ISO.fullmatch(one) for one in text]
    bad = [row for row, match in enumerate(matches) if match is None]
    if not bad:
        return Stamps(_finished(_iso(text, matches, what, where), late, utc=utc))
    spelt = fitting(text) if len(bad) == len(text) else []
    if len(spelt) != 1:
        spelt = [Spelling(f"{one.kind} %Z") for one in spelt] if utc else spelt
        raise not_read(text, bad, spelt, name, what, where)
    stamps = pd.DatetimeIndex(spelt[0].read(text))
    return Stamps(_finished(stamps, late, utc=utc), spelt[0].period, spelt[0].kind)


def _iso(
    text: pd.Series, matches: list[re.Match[str] | None], what: str, where: Callable[[int], str]
) -> pd.DatetimeIndex:
    zones = [match.group("zone") is not None for match in matches if match is not None]
    if any(zones) and not all(zones):
        row = zones.index(not zones[0])
        raise WrongTime(
            f"{what} mixes stamps with and without a zone: {text[0]!r} in row 0, {text[row]!r} in"
            f" {where(row)}. Give all of them one."
        )
    try:
        return pd.DatetimeIndex(pd.to_datetime(text, format="ISO8601"))
    except ValueError:
        parsed = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
        wrong = parsed.isna()
        if wrong.any():
            row = int(wrong.argmax())
            raise WrongTime(
                f"{what} holds {text[row]!r} in {where(row)}, which is no date ({int(wrong.sum())}"
                " such rows). Correct it."
            ) from None
        return pd.DatetimeIndex(parsed)  # several offsets: one zone, UTC


def _from_objects(values: pd.Index, what: str, where: Callable[[int], str]) -> pd.Index:
    absent = np.asarray(values.isna())
    for row, one in enumerate(values):
        good = isinstance(one, (datetime.date, np.datetime64, int, np.integer))
        if not (good or absent[row]):
            raise WrongTime(
                f"{what} holds {one!r} of type {type(one).__name__} in {where(row)}; time is dates,"
                " periods or whole numbers.",
                Cure("Convert it", code="pd.to_datetime(...)"),
            )
    if infer_dtype(values) == "integer":
        return pd.Index(values.to_numpy().astype(np.int64))
    try:
        return pd.DatetimeIndex(pd.to_datetime(values))
    except (ValueError, TypeError) as problem:
        zones = [getattr(one, "tzinfo", None) for one in values]
        row = next((row for row, zone in enumerate(zones) if str(zone) != str(zones[0])), 0)
        raise WrongTime(
            f"{what} mixes zones, or stamps with and without one: {values[0]} in {where(0)},"
            f" {values[row]} in {where(row)}.",
            Cure("Convert it", code="pd.to_datetime(..., utc=True)"),
            Cure("Or give all of them one zone"),
        ) from problem


def _refuse_missing(values: pd.Index | pd.Series, what: str, where: Callable[[int], str]) -> None:
    missing = np.asarray(values.isna())
    if missing.any():
        raise WrongTime(
            f"{what} has no stamp (NaT) in {where(int(missing.argmax()))}"
            f" ({int(missing.sum())} such rows). Drop these rows or fill the stamps in."
        )
