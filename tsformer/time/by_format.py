"""Text read by a format that the caller gave, periods and seconds included."""

import re

import pandas as pd

from tsformer.time.whole import WholeTime, whole_numbers

__all__ = ["read_by_format"]

_WEEKDAYS = ("%u", "%w", "%a", "%A")


def read_by_format(text: pd.Series, form: str) -> pd.Series:
    """Stamps of text by a format of ``strptime``, NaT where it is written in another way.

    Beyond ``pandas.to_datetime``, ``%s`` is seconds since 1970, ``%q`` beside ``%Y`` the quarter,
    and weeks (``%G`` and ``%V``) without a weekday are their Mondays.

    Raises
    ------
    ValueError
        If the format has a directive that there is none of.

    Examples
    --------
    >>> [str(read_by_format(pd.Series([text]), form)[0].date()) for text, form in (
    ...     ("2019-W02", "%G-W%V"), ("1600000000", "%s"), ("Q3/2019", "Q%q/%Y"),
    ... )]
    ['2019-01-07', '2020-09-13', '2019-07-01']
    """
    if form == "%s":
        numbers = whole_numbers(pd.Index(text))
        if numbers is None:
            return pd.Series(pd.NaT, index=text.index)
        return pd.Series(WholeTime("seconds since 1970 (UTC)").read(pd.Index(numbers)), text.index)
    if "%q" in form:
        return _quarters(text, form)
    if "%G" in form and "%V" in form and not any(day in form for day in _WEEKDAYS):
        text, form = text + " 1", form + " %u"
    return pd.to_datetime(text, format=form, errors="coerce")


def _quarters(text: pd.Series, form: str) -> pd.Series:
    pattern = re.escape(form).replace("%Y", r"(?P<year>\d{4})", 1)
    pattern = pattern.replace("%q", "(?P<quarter>[1-4])", 1)
    if "%" in pattern or "(?P<year>" not in pattern:
        raise ValueError(f"'q' goes with %Y alone, not as in format {form!r}")
    found = text.str.extract(f"^{pattern}$")
    month = (3 * pd.to_numeric(found["quarter"]) - 2).astype("Int64").astype("str").str.zfill(2)
    return pd.to_datetime(found["year"] + "-" + month, format="%Y-%m", errors="coerce")
