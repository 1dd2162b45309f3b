"""The ways in which text spells dates, months, weeks and quarters, tried on the whole column."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
from pandas.tseries.api import guess_datetime_format

__all__ = [
    "Spelling", "fitting", "is_spelling", "month_number", "names_months", "names_periods",
    "reads_like", "zone_word",
]  # fmt: skip

_NUMERIC = re.compile(r"(\d{1,4})([/. -])(\d{1,2})\2(\d{1,4})(?:[T ]+(\d.*))?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?(\.\d+)?( ?[APap][Mm])?")
_SAMPLE = 200
_YEAR = r"(?P<year>1[5-9]\d\d|2[01]\d\d)"
_MONTH = r"(?P<month>0?[1-9]|1[0-2])"
_NAME = r"(?P<name>[^\W\d]{3,10})\.?"
_PATTERNS = {
    "quarters": (
        rf"{_YEAR}[ ./-]?[Qq](?P<quarter>[1-4])",
        rf"[Qq](?P<quarter>[1-4])[ ./-]?{_YEAR}",
        rf"(?P<quarter>[1-4])[Qq][ ./-]?{_YEAR}",
    ),
    "ISO weeks": (
        rf"{_YEAR}[ -]?[Ww](?P<week>[0-5]\d|\d(?!\d))(?:-?(?P<day>[1-7]))?",
        rf"[Ww](?P<week>[0-5]?\d)[ -]{_YEAR}",
    ),
    "months": (
        rf"{_YEAR}(?:/|[ -]?[Mm]){_MONTH}",
        rf"{_MONTH}[/-]{_YEAR}",
        rf"(?P<month>0[1-9]|1[0-2])\.{_YEAR}",
    ),
    "names of months": (
        rf"{_NAME}[ /-]{_YEAR}",
        rf"{_YEAR}[ /-]{_NAME}",
        rf"{_NAME}[-'](?P<short>\d\d)",
    ),
}
_COMPILED = {
    kind: tuple(re.compile(one) for one in patterns) for kind, patterns in _PATTERNS.items()
}
_ENGLISH = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_NUMBERS = {
    **{name: number for number, name in enumerate(_ENGLISH, 1)},
    **{name[:3]: number for number, name in enumerate(_ENGLISH, 1)},
    "sept": 9,
}
_FOREIGN = (
    "jän", "mär", "mrz", "mae", "mai", "okt", "dez", "fév", "fev", "avr", "juin", "juil", "aoû",
    "aou", "déc", "ene", "abr", "ago", "dic", "gen", "mag", "giu", "lug", "set", "ott", "out",
    "mrt", "maa", "mei", "maj", "ian", "iun", "iul", "noi", "janu", "janv", "janei", "febr", "febb",
    "mars", "marzo", "març", "april", "juni", "junh", "juli", "julh", "augus", "septem", "octob",
    "oktob", "novem", "noviem", "decem", "dezem",
)  # fmt: skip
"""How months begin in other languages: text to be refused by name, not overlooked."""
_ZONE_WORD = re.compile(r".*\d\d:\d\d(?::\d\d(?:\.\d+)?)? ?(?P<word>[A-Z]{2,5})")


class Spelling(NamedTuple):
    """One way to write stamps: quarters, weeks or months, or a format of the clock and calendar.

    Examples
    --------
    >>> Spelling("quarters").read(pd.Series(["2022Q4", "Q1 2023"])).dt.date.astype(str).tolist()
    ['2022-10-01', '2023-01-01']
    >>> str(Spelling("ISO weeks").read(pd.Series(["2019-W02"]))[0].date())
    '2019-01-07'
    >>> str(Spelling("%d/%m/%Y").read(pd.Series(["13/1/1981"]))[0].date())
    '1981-01-13'
    """

    kind: str

    @property
    def period(self) -> str | None:
        """Frequency of the periods it names, where these have a short name of their own."""
        return "Q-DEC" if self.kind == "quarters" else None

    def __str__(self) -> str:
        return self.kind if self.kind in _PATTERNS else f"text as {self.kind!r}"

    def read(self, text: pd.Series) -> pd.Series:
        """Read stamps; ``NaT`` where the text is written in another way."""
        if self.kind not in _PATTERNS:
            return pd.to_datetime(text, format=self.kind, errors="coerce")
        parts = pd.DataFrame(
            {name: None for name in ("year", "quarter", "week", "day", "month", "name", "short")},
            index=text.index,
            dtype=object,
        )
        for pattern in _PATTERNS[self.kind]:
            open_ = parts["year"].isna() & parts["name"].isna()
            if not open_.any():
                break
            found = text[open_].str.extract(f"^{pattern}$").astype(object)
            parts.loc[open_, found.columns] = found
        return _assembled(parts)


def _assembled(parts: pd.DataFrame) -> pd.Series:
    """First day of what the parts of each row name."""
    year = parts["year"].fillna("20" + parts["short"])
    if parts["week"].notna().any():
        week = parts["week"].str.zfill(2)
        text = year + "-" + week + "-" + parts["day"].fillna("1")
        return pd.to_datetime(text.astype("str"), format="%G-%V-%u", errors="coerce")
    month = pd.to_numeric(parts["month"])
    if parts["quarter"].notna().any():
        month = 3 * pd.to_numeric(parts["quarter"]) - 2
    if parts["name"].notna().any():
        month = parts["name"].str.casefold().map(_NUMBERS)
    whole = {"year": pd.to_numeric(year), "month": month, "day": 1}
    return pd.to_datetime(pd.DataFrame(whole, index=parts.index), errors="coerce")


def fitting(text: pd.Series) -> list[Spelling]:
    """Spellings that read every row, and each another way: two if day and month are not told apart.

    >>> [one.kind for one in fitting(pd.Series(["1/1/1981", "1/13/1981"]))]
    ['%m/%d/%Y']
    >>> [one.kind for one in fitting(pd.Series(["1/2/1981", "1/3/1981"]))]
    ['%d/%m/%Y', '%m/%d/%Y']
    """
    sample = text.iloc[:_SAMPLE]
    tried = [Spelling(kind) for kind in (*_PATTERNS, *_formats(list(sample)))]
    likely = [one for one in tried if one.read(sample).notna().all()]
    good = {one: read for one in likely if (read := one.read(text)).notna().all()}
    apart: list[Spelling] = []
    for one, read in good.items():
        if not any(read.equals(good[other]) for other in apart):
            apart.append(one)
    if len(apart) > 1 and any(one.kind.startswith("%y") for one in apart):
        # 23-01-02 may be a day of 2023 or of 2002: with the parts mistaken, rows are out of order
        apart = [one for one in apart if _in_order(good[one])] or apart
    return apart


def names_periods(text: str) -> bool:
    """Whether text spells a quarter, a week or a month, in any language that has such months.

    >>> [names_periods(one) for one in ("2022Q4", "2019-W02", "Mär 2018", "sku-1234", "item 2018")]
    [True, True, True, False, False]
    >>> [names_periods(f"{one} 2018") for one in ("Januar", "febbraio", "octobre", "novela")]
    [True, True, True, False]
    """
    for patterns in _COMPILED.values():
        for pattern in patterns:
            match = pattern.fullmatch(text)
            if match is not None:
                name = match.groupdict().get("name")
                return name is None or _is_month(name)
    return False


def is_spelling(kind: str) -> bool:
    """Whether a kind is one of a :class:`Spelling` of text.

    >>> is_spelling("quarters"), is_spelling("%d/%m/%Y"), is_spelling("years")
    (True, True, False)
    """
    return kind in _PATTERNS or kind.startswith("%")


def month_number(name: str) -> int | None:
    """Number of a month by its English name, or its first three letters.

    >>> month_number("Sept"), month_number("Okt")
    (9, None)
    """
    return _NUMBERS.get(name.casefold().removesuffix("."))


def names_months(words: Sequence[str]) -> bool:
    """Whether words are the names of months, in any language that has such months.

    >>> names_months(["Januar", "März", "Mai", "Okt."]), names_months(["Mai", "Linde", "Out"])
    (True, False)
    """
    return len(words) > 2 and all(_is_month(one.rstrip(".")) for one in words)


def reads_like(text: str) -> bool:
    """Whether text that is not ISO 8601 may spell a moment or a period."""
    if _NUMERIC.fullmatch(text) or names_periods(text) or zone_word(text):
        return True
    if not re.search(r"\d", text) or not re.search(r"[A-Za-z]{3}|[:/]|\d{8}", text):
        return False
    return guess_datetime_format(text) is not None


def zone_word(text: str) -> str:
    """Word for a zone after the time of day; empty without one.

    >>> zone_word("2018-05-19 00:00 DST"), zone_word("2018-05-19 00:00")
    ('DST', '')
    """
    match = _ZONE_WORD.fullmatch(text)
    word = "" if match is None else match.group("word")
    return "" if word in ("AM", "PM") else word


def _is_month(name: str) -> bool:
    name = name.casefold()
    return name in _NUMBERS or name.startswith(_FOREIGN)


def _formats(text: Sequence[str]) -> list[str]:
    """Formats to try, from the first row; those of its kin where the numbers may change places."""
    match = _NUMERIC.fullmatch(text[0])
    if match is None:
        guesses = map(guess_datetime_format, text)
        return sorted({str(one) for one in guesses if one is not None})
    first, mark, _, last, time = match.groups()
    clock = _clock_format(time)
    if len(first) == 4:
        orders = [["%Y", "%m", "%d"], ["%Y", "%d", "%m"]]
        return [mark.join(order) + clock for order in orders]
    year = "%Y" if len(last) == 4 else "%y"
    orders = [["%d", "%m", year], ["%m", "%d", year]]
    if year == "%y" and mark in "-/" and len(first) == 2:
        orders.append(["%y", "%m", "%d"])
    return [mark.join(order) + clock for order in orders]


def _in_order(stamps: pd.Series) -> bool:
    """Whether distinct stamps come one after the other, forward or backward."""
    distinct = stamps.drop_duplicates()
    return bool(distinct.is_monotonic_increasing or distinct.is_monotonic_decreasing)


def _clock_format(clock: str | None) -> str:
    match = _CLOCK.fullmatch(clock or "")
    if match is None:
        return ""
    seconds, fraction, half = match.groups()
    hours = "%I:%M" if half else "%H:%M"
    after = " %p" if half and half.startswith(" ") else ("%p" if half else "")
    return f" {hours}{':%S' if seconds else ''}{'.%f' if fraction else ''}{after}"
