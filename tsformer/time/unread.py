"""What keeps text from being read as stamps, and what to do about it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tsformer.cures import Cure
from tsformer.errors import WrongTime
from tsformer.time.formats import Spelling, fitting, names_periods, zone_word

__all__ = ["not_read", "share_read"]

_PERIODS = ("quarters", "ISO weeks", "months", "names of months")


def not_read(
    text: pd.Series,
    bad: list[int],
    spelt: list[Spelling],
    name: Any,
    what: str,
    where: Callable[[int], str],
) -> WrongTime:
    """What keeps text from being read as stamps, and what to do about it."""
    shown = "" if len(bad) == len(text) else f" in {len(bad)} of {len(text)} rows"
    start = (
        f"{what} is text that is not ISO 8601{shown}; the first is {text[bad[0]]!r} in"
        f" {where(bad[0])}."
    )
    if len(spelt) > 1:
        return WrongTime(
            f"{start} {_mistaken(spelt)} cannot be told apart.",
            *(_by_format(name, one.kind) for one in spelt),
        )
    word = zone_word(text[bad[0]])
    if word:
        return WrongTime(
            f"{start} The word {word!r} after the time of day is no zone that can be read.",
            *_without_word(text, word, name),
            Cure("Take it off, and give the column its zone", code="dt.tz_localize(...)"),
            Cure("Or write it as an offset, such as +01:00"),
        )
    periods = [row for row in bad if names_periods(text[row])]
    if 2 * len(periods) > len(text):
        wrong = _unread(text.iloc[bad])
        return WrongTime(
            f"{what} names quarters, weeks or months, but {text[wrong]!r} in {where(wrong)} cannot"
            " be read like the others (months are read by number or by their English names)."
            " Write all rows in one way, such as 2018-03."
        )
    return WrongTime(start, _by_format(name, "..."))


def _mistaken(spelt: list[Spelling]) -> str:
    first = any(one.kind.startswith("%y") for one in spelt)
    return "Day, month and year" if first else "Day and month"


def share_read(text: pd.Series) -> float:
    """Share of the rows that some one way of writing reads.

    >>> share_read(pd.Series(["Jan 2018", "Mai 2018"]))
    0.5
    """
    iso = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce").notna()
    return float(max(iso.mean(), *(read.mean() for read in _read(text))))


def _without_word(text: pd.Series, word: str, name: Any) -> list[Cure]:
    """A format that holds the word, where it stands in every row and one format reads the rest."""
    if not text.str.endswith(word).all():
        return []
    bare = text.str.slice(0, -len(word)).str.strip()
    space = " " if text.str.endswith(f" {word}").all() else ""
    return [
        _by_format(name, f"{one.kind}{space}{word}")
        for one in fitting(bare)
        if one.kind.startswith("%")
    ]


def _read(text: pd.Series) -> list[pd.Series]:
    """Which rows each way to name quarters, weeks or months reads."""
    return [Spelling(kind).read(text).notna() for kind in _PERIODS]


def _by_format(name: Any, form: str) -> Cure:
    """Parsing by a format, as a line of Python and as options."""
    place = "frame.index" if name is None else f'frame["{name}"]'
    said = "FORMAT" if form == "..." else f'"{form}"'
    return Cure(
        f"If {form} is meant" if form != "..." else "Say how it is written",
        {} if name is None else {"schema__time": name},
        code=f'{place} = pd.to_datetime({place}, format="{form}")',
        option=f"--time-format {said}",
    )


def _unread(text: pd.Series) -> int:
    """The first row that the spelling which reads most rows cannot read."""
    best = max(_read(text), key=lambda good: int(good.sum()))
    return int(text.index[int(np.argmin(best.to_numpy()))])
