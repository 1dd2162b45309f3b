"""What keeps text from being read as stamps, and what to do about it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tsformer.cures import Cure
from tsformer.errors import WrongTime
from tsformer.time.formats import Spelling, names_periods, zone_word

__all__ = ["not_read"]


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
            f"{start} Day and month cannot be told apart.",
            *(_by_format(name, one.kind) for one in spelt),
        )
    word = zone_word(text[bad[0]])
    if word:
        return WrongTime(
            f"{start} The word {word!r} after the time of day is no zone that can be read.",
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
    kinds = ("quarters", "ISO weeks", "months", "names of months")
    read = [Spelling(kind).read(text).notna() for kind in kinds]
    best = max(read, key=lambda good: int(good.sum()))
    return int(text.index[int(np.argmin(best.to_numpy()))])
