"""What repeated stamps may mean: a column tells series apart, or rows are there twice."""

import re
from collections.abc import Sequence

import pandas as pd
from pandas.api.types import is_bool_dtype, is_integer_dtype

from tsformer.cures import Cure
from tsformer.reading.spots import Roles
from tsformer.time.formats import names_months
from tsformer.time.names import tells_time, unit_of
from tsformer.time.stamps import is_text

__all__ = ["hint", "is_name", "names_rows", "tells_apart", "tells_stamps"]

_CODE = re.compile(r"(?i)[a-z]{0,2}\.? ?\d{1,2}\.?|[ivx]{1,4}\.?")
_UNITS = ("quarter", "month", "week", "day", "day of the year", "weekday", "hour", "minute")

_A_STAMP = 1.5
"""Rows at a stamp below which a few of them are rather there twice."""
_FILLED = 0.2
"""Of all pairs of a series and a stamp, what must be there: values of a target are all over."""


def is_name(values: pd.Series) -> bool:
    """Whether a column is text or categorical, as names of series mostly are, or mostly text."""
    if values.dtype == object and len(values):
        return sum(isinstance(one, str) for one in values) > len(values) / 2
    return is_text(values) or isinstance(values.dtype, pd.CategoricalDtype)


def names_rows(keys: pd.Series | pd.DataFrame) -> bool:
    """Whether the values are rather names of rows, with less than two rows each."""
    return 2 * len(keys.drop_duplicates()) > len(keys)


def tells_apart(frame: pd.DataFrame, names: Sequence[str], stamps: pd.Index) -> bool:
    """Whether no stamp repeats where these columns are the same, and they name no single rows.

    Examples
    --------
    >>> frame = pd.DataFrame({"shop": ["a", "a", "b", "b"], "row": [1, 2, 3, 4]})
    >>> day = pd.to_datetime(["2024-01-01", "2024-01-02"] * 2)
    >>> tells_apart(frame, ["shop"], day), tells_apart(frame, ["row"], day)
    (True, False)
    """
    keys = frame[list(names)].reset_index(drop=True)
    if names_rows(keys):
        return False
    return not keys.assign(**{"".join(names) + " at": stamps}).duplicated().any()


def tells_stamps(values: pd.Series, name: str) -> bool:
    """Whether text that would tell series apart rather tells the rest of their stamps.

    Examples
    --------
    >>> tells_stamps(pd.Series(["Januar", "Februar", "März"]), "Monat")
    True
    >>> tells_stamps(pd.Series(["north", "south"]), "shop")
    False
    """
    words = [str(one).strip() for one in values.dropna().unique()]
    if names_months(words):
        return True
    coded = all(_CODE.fullmatch(one) for one in words)
    return unit_of(name) in _UNITS or (bool(unit_of(name)) and coded)


def hint(frame: pd.DataFrame, roles: Roles) -> tuple[str, Cure]:
    """Ask what a caller may have forgotten whose stamps repeat and who named no series."""
    given = {*roles.covariates, roles.weight, roles.time.column}
    free = [name for name in frame.columns if name not in given]
    whole = [
        name
        for name in free
        if is_integer_dtype(frame[name].dtype) and not is_bool_dtype(frame[name].dtype)
    ]
    names = [name for name in free if name in whole or is_name(frame[name])]
    keys = [name for name in names if _is_series(frame, name, roles.stamps)]
    series = next((name for name in keys if not tells_time(name)), None)
    if series is None and keys:
        said = f"Column {keys[0]!r} has the name of a time: it may tell the rest of the stamps."
        return said, Cure("Write whole stamps into one column, such as 2018-03-01 13:30")
    if series is None:
        return "Is a series column missing?", Cure("Name it", {"schema__series": ...})
    said = f"Does column {series!r} tell series apart?"
    return said, Cure("Say so", {"schema__series": series})


def _is_series(frame: pd.DataFrame, name: str, stamps: pd.Index) -> bool:
    rows, moments = len(frame), stamps.nunique()
    full = frame[name].nunique(dropna=False) * moments
    dense = rows >= _A_STAMP * moments and rows >= _FILLED * full
    return dense and tells_apart(frame, [name], stamps)
