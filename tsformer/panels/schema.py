"""Which column plays which role: as the caller says it, and as it was found in a frame."""

from numbers import Integral
from typing import Any

import pandas as pd

from tsformer.errors import ParameterError
from tsformer.panels.names import as_text
from tsformer.params import KW_ONLY, Params, param, params

__all__ = ["Name", "ResolvedSchema", "Schema"]

Name = str | int | float


@params
class Schema(Params):
    """The roles of a frame's columns.

    Only what cannot be guessed needs to be said. ``fit`` resolves the rest against the frame, logs
    what it inferred and keeps the full answer as ``schema_``, where a column that is named by a
    number has its text.

    Examples
    --------
    >>> Schema(target="load", known=["price"], past="rest").get_params()["known"]
    ['price']
    """

    _: KW_ONLY
    series: Name | None = param("Column that tells series apart (long frames).", default=None)
    time: Name | None = param("Column, or name of the index level, with the stamps.", default=None)
    target: Name | tuple[Name, ...] | list[Name] | None = param(
        "Column or columns to forecast; None takes every numeric column without a role.",
        default=None,
    )
    known: Name | tuple[Name, ...] | list[Name] = param(
        "Covariates known over the horizon too: plans, prices, forecasts of others.", default=()
    )
    past: Name | tuple[Name, ...] | list[Name] = param(
        "Covariates known only up to now; 'rest' takes every column without a role.", default=()
    )
    static: Name | tuple[Name, ...] | list[Name] = param(
        "Columns that are constant within a series.", default=()
    )
    weight: Name | None = param(
        "Column with how much each row counts as an answer in training; 0 leaves it out of them."
        " Without it every row counts 1.",
        default=None,
    )
    freq: str | int | pd.offsets.BaseOffset | None = param(
        "Step between rows: a pandas frequency, trading days as"
        " ``pd.offsets.CustomBusinessDay(holidays=[...])``, a whole number for integer time, or"
        " 'irregular' for stamps without a steady step, whose horizon is counted in median gaps.",
        default=None,
    )
    season: int | tuple[int, ...] | list[int] | None = param(
        "Rows in a season, or in each of several, the main one first; None takes what stamps tell"
        " and what the data show. 1 says that there is none.",
        default=None,
    )
    late: dict[Any, int] | None = param(
        "Past covariate to how many rows it arrives after the target; more are found where its"
        " latest rows are missing. A forecast does without them, in training as well.",
        default=None,
    )
    holidays: Any = param(
        "Days off as a known covariate: a country or a part of one, such as 'DE' or 'US-CA' (by the"
        " package ``holidays``), dates, a mapping from dates, or a pandas holiday calendar. Rules"
        " are written out to 10 years past the data, or to as many as they span.",
        default=(),
    )

    def check(self) -> None:
        """Raise ``ParameterError`` for a season that is no whole number of rows."""
        super().check()
        given: Any = self.season
        if given is None:
            return
        listed = given if isinstance(given, (tuple, list)) else (given,)
        whole = [isinstance(one, Integral) and not isinstance(one, bool) for one in listed]
        if not listed or not all(whole) or min(listed) < 1:
            raise ParameterError(
                f"Schema(season={given!r}): give the rows of a season as a whole number of at least"
                " 1, or several of them, such as (48, 336)"
            )

    def by_text(self) -> "Schema":
        """The same roles; a column that is named by a number is named by its text.

        Examples
        --------
        >>> Schema(target=[1, 2], time="day").by_text()
        Schema(target=['1', '2'], time='day')
        """
        given = self.get_params(deep=False)
        for role in ("series", "time", "target", "known", "past", "static", "weight"):
            named = given[role]
            listed = isinstance(named, (tuple, list))
            given[role] = type(named)(map(as_text, named)) if listed else as_text(named)
        if isinstance(self.late, dict):
            given["late"] = {as_text(name): rows for name, rows in self.late.items()}
        return type(self)(**given)


@params
class ResolvedSchema(Schema):
    """The role of every column of a frame that was read: nothing in it is left open.

    Made by ``tsformer.reading.read_panel``. It says what a :class:`Schema` can say, so that
    another frame can be read by it.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> days = pd.date_range("2024-01-01", periods=3)
    >>> read_panel(pd.DataFrame({"load": [1.0, 2.0, 3.0]}, index=days)).schema
    ResolvedSchema(freq='D', late={}, target=('load',))
    """

    _: KW_ONLY
    series: str | None = param("Column that tells series apart.", default=None)
    time: str | None = param("Column, or name of the index level, with the stamps.", default=None)
    target: tuple[str, ...] = param("Columns to forecast.")
    known: tuple[str, ...] = param("Covariates known over the horizon too.", default=())
    past: tuple[str, ...] = param("Covariates known only up to now.", default=())
    static: tuple[str, ...] = param("Columns that are constant within a series.", default=())
    weight: str | None = param("Column with the weight of each row.", default=None)
    freq: str | int = param("Step between rows by its name; 'irregular' without a steady one.")
    season: tuple[int, ...] | None = param(
        "Rows in each season, the main one first; None before a fit has looked for them.",
        default=None,
    )
    late: dict[str, int] = param("Past covariate to how many rows it arrives after the target.")
    holidays: tuple[str, ...] = param("Days off as ISO 8601 dates.", default=())

    @property
    def covariates(self) -> tuple[str, ...]:
        """The columns with a role that are not forecast."""
        return (*self.past, *self.known, *self.static)
