"""Numbers as people write them: thousands marks, decimal commas, currencies, percent."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsformer.cures import Cure
from tsformer.errors import WrongType

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EMPTY_TEXT", "Marks", "as_numbers", "find_marks", "in_groups"]

EMPTY_TEXT = frozenset(["#N/A", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "<NA>"])
"""What stands for an empty value in any column, as pandas has it."""
_EMPTY = EMPTY_TEXT.union(
    ("-", "--", ".", "..", "...", "?", "*", "\u2013", "\u2014", "\u2212", "missing"),
    ("n.a.", "na", "NAN", "#NA", "Null", "none", "#VALUE!", "#DIV/0!"),
)
"""What does among numbers."""
_SPACES = "\u00a0\u202f\u2009 '\u2019"
_BARE = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.I)
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\ufeff]")
_MONEY = "[$€£¥]|USD|EUR|GBP|CHF"
_UNIT = re.compile(rf"^([-+]?)\s*(?:{_MONEY})\s*|\s*(?:{_MONEY}|%)$")


@dataclass(frozen=True)
class Marks:
    """Decimal and thousands marks of one column; ``said`` tells where they were not plain."""

    decimal: str = "."
    thousands: str = ""
    said: str = ""


def find_marks(
    values: list[str], *, column: str, separator: str, decimal: str | None, thousands: str | None
) -> Marks:
    """Marks that read the values, or plain ones where they hold none.

    Raises
    ------
    WrongType
        If two readings are as likely, with both as options.

    Examples
    --------
    >>> how = {"column": "y", "separator": ";", "decimal": None, "thousands": None}
    >>> find_marks(["990", "1.000"], **how).thousands
    '.'
    """
    if decimal is not None or thousands is not None:
        taken = decimal or ("," if thousands == "." else ".")
        other = "," if taken == "." else "."
        marked = [one for one in values if other in one]
        is_grouped = bool(marked) and all(in_groups(one.split(taken)[0], other) for one in marked)
        return Marks(taken, thousands or (other if is_grouped else ""))
    commas = [one for one in values if "," in one]
    dots = [one for one in values if "." in one]
    if any("." in one and "," in one for one in values):
        one = next(one for one in values if "." in one and "," in one)
        last = max(".,", key=one.rfind)
        return _taken(last, ",." if last == "." else ".,", one)
    if not commas and not dots:
        return Marks()
    mark, marked = (",", commas) if commas else (".", dots)
    if commas and dots:
        grouped = [one for one in ".," if all(in_groups(v, one) for v in values if one in v)]
        if len(grouped) != 1:
            return Marks()
        other = "," if grouped[0] == "." else "."
        return _taken(other, other + grouped[0], next(v for v in values if grouped[0] in v))
    if not all(in_groups(one, mark) for one in marked):
        return Marks() if mark == "." else _taken(",", ",", marked[0])
    return _of_groups(values, marked, mark, column, separator)


def as_numbers(
    values: "pd.Series", marks: Marks, empty: frozenset[str] = frozenset()
) -> "tuple[pd.Series, pd.Series]":
    """Text as floats, and which rows could not be read; empty cells are NaN and were read."""
    import pandas as pd

    bare = values.str.replace(_UNSEEN, "", regex=True).str.strip()
    plain = bare.str.replace(r"^\u2013(?=.)|\u2212", "-", regex=True)
    plain = plain.str.replace(r"^\((.+)\)$", r"-\1", regex=True)
    plain = plain.map(lambda one: _UNIT.sub(r"\1", _UNIT.sub(r"\1", one)))
    plain = plain.str.replace(r"^(\d.*)-$", r"-\1", regex=True)
    plain = plain.str.replace(rf"(?<=\d)[{_SPACES}](?=\d{{3}}(?!\d))", "", regex=True)
    if marks.thousands:
        mark = re.escape(marks.thousands)
        plain = plain.str.replace(rf"(?<=\d){mark}(?=\d{{3}}(?!\d))", "", regex=True)
        plain = plain.str.replace(marks.thousands, "x", regex=False)  # out of place
    if marks.decimal != ".":
        plain = plain.str.replace(marks.decimal, ".", regex=False)
    absent = (values.str.strip() == "") | values.str.strip().isin(_EMPTY | empty)
    bad = ~absent & ~plain.str.fullmatch(_BARE)
    return pd.to_numeric(plain.where(~absent & ~bad), errors="coerce"), bad


def in_groups(text: str, mark: str) -> bool:
    """Whether every mark stands before three digits, as thousands do."""
    mark = re.escape(mark)
    return bool(re.fullmatch(rf"\D*[1-9]\d{{0,2}}(?:{mark}\d{{3}})+\D*", text))


def _taken(decimal: str, marks: str, example: str) -> Marks:
    thousands = marks.replace(decimal, "")
    said = f"{example!r} is read with decimal mark {decimal!r}"
    return Marks(decimal, thousands, said + (f", thousands {thousands!r}" if thousands else ""))


def _of_groups(
    values: list[str], marked: list[str], mark: str, column: str, separator: str
) -> Marks:
    """Marks of a column whose every mark stands before three digits."""
    other = "," if mark == "." else "."
    if any(one.count(mark) > 1 for one in marked) or (mark == "," and separator == ","):
        return _taken(other, other + mark, marked[0])
    whole = [len(re.sub(r"\D", "", one)) for one in values if mark not in one]
    near = [one for one in whole if one == 3]
    if mark == "." and separator != ";" and not near:
        return Marks()  # decimals of one width, as programs write them
    if near and max(whole) <= 3:
        return _taken(other, other + mark, marked[0])
    raise WrongType(
        f"column {column!r} holds {marked[0]!r}, which may be thousands or decimals.",
        Cure("Say that they are thousands", option=f'--thousands "{mark}"'),
        Cure("Or decimals", option=f'--decimal "{mark}"'),
    )
