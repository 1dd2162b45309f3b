"""Days off of a country, or of a part of one, from the package ``holidays``."""

import difflib
import re
import unicodedata
from typing import Any

from tsformer.cures import Cure, warn
from tsformer.errors import DataWarning, MissingDependency, ParameterError

__all__ = ["country_days"]


def country_days(name: str, first: int, last: int) -> tuple[str, ...]:
    """Public days off of these years, as sorted ISO 8601 dates.

    Parameters
    ----------
    name
        A country by its code or English name, with a part of it behind a hyphen: ``"DE"``,
        ``"DEU"``, ``"Germany"``, ``"DE-BY"``, ``"US-California"``.
    first, last
        Years, both included.

    Warns
    -----
    DataWarning
        If the days off of the first years are not known.

    Raises
    ------
    ParameterError
        If there is no such country, with the names that are close.
    MissingDependency
        If the package is not installed.

    Examples
    --------
    >>> country_days("DE-BY", 2024, 2024)[:3]
    ('2024-01-01', '2024-01-06', '2024-03-29')
    """
    try:
        import holidays
    except ImportError as problem:
        raise MissingDependency(
            "the days off of a country need the package holidays: pip install 'tsformer[holidays]'"
        ) from problem
    code, part = _found(name)
    calendar = holidays.country_holidays(code, subdiv=part, years=range(first, last + 1))
    if first < calendar.start_year:
        warn(
            DataWarning(
                f"days off of {name} are known from {calendar.start_year} on, not from {first}:"
                " before, no day counts as one"
            )
        )
    return tuple(sorted(day.isoformat() for day in calendar))


def _found(name: str) -> tuple[str, str | None]:
    """The code of a country and of its part, None for all of it."""
    import holidays

    codes = _codes()
    country, part = codes.get(_plain(name)), ""
    if country is None:
        before, _, part = name.partition("-")
        country = codes.get(_plain(before))
    if country is None:
        raise _unknown(name)
    if not part:
        return country, None
    parts = holidays.list_supported_countries()[country]
    named = holidays.country_holidays(country).subdivisions_aliases
    plain = {_plain(one): code for one, code in named.items()} | {_plain(one): one for one in parts}
    if _plain(part) in plain:
        return country, plain[_plain(part)]
    if not parts:
        raise ParameterError(
            f"holidays={name!r}: no parts of {country} have days off of their own here.",
            Cure("Take the country", {"schema__holidays": country}),
        )
    close = difflib.get_close_matches(_plain(part), plain, n=1)
    offered = plain[close[0]] if close else parts[0]
    raise ParameterError(
        f"holidays={name!r}: {country} has no part {part!r}; there are {', '.join(parts)}.",
        Cure("Name one of them", {"schema__holidays": f"{country}-{offered}"}),
        Cure("Or take the country", {"schema__holidays": country}),
    )


def _unknown(name: str) -> ParameterError:
    names = _names()
    by_plain = {_plain(one): one for one in names}
    close = [by_plain[one] for one in difflib.get_close_matches(_plain(name), by_plain, n=3)]
    hint = f"; names that are close: {', '.join(close)}" if close else ""
    return ParameterError(
        f"holidays={name!r}: no country is called so{hint}.",
        Cure(
            "Give a country by its code or English name, or dates",
            {"schema__holidays": names[close[0]] if close else "DE"},
        ),
    )


def _names() -> dict[str, str]:
    """Every country as people read it, such as ``United States``, to its code."""
    from holidays.registry import COUNTRIES

    return {re.sub("(?<=[a-z])(?=[A-Z])", " ", one[0]): one[1] for one in COUNTRIES.values()}


def _codes() -> dict[str, str]:
    """Plain names and codes of two and of three letters to the code of two."""
    from holidays.registry import COUNTRIES

    known: dict[str, Any] = {
        _plain(name): code for _, code, *more in COUNTRIES.values() for name in (code, *more)
    }
    return known | {_plain(name): code for name, code in _names().items()}


def _plain(name: str) -> str:
    """Letters and digits without case and accents."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(one for one in letters if one.isalnum())
