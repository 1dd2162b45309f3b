"""What the name of a column says of time: which unit it holds, in the usual languages."""

import re
import unicodedata
from typing import Any

__all__ = ["counts_rows", "tells_time", "unit_of"]

_UNITS = {
    "date": "date dates datum ds fecha jour dia giorno tag dato pvm yyyymmdd",
    "moment": "time datetime timestamp zeit zeitstempel zeitpunkt ts epoch unix unixtime moment"
    " when period periode periodo horodatage tijd tijdstip tempo temps tiempo tid stamp orario"
    " yyyymm yearmonth",
    "year": "year years yr jahr annee an ano anno jaar rok ar yyyy",
    "quarter": "quarter qtr quartal trimestre trimester kvartal kwartaal",
    "month": "month months mon monat mois mes mese maand manad mesiac mm",
    "week": "week weeks wk woche kw semaine semana settimana weeknumber isoweek kalenderwoche"
    " weekofyear",
    "day": "day days dd dayofmonth",
    "day of the year": "doy yday dayofyear julianday",
    "weekday": "weekday dayofweek dow wochentag",
    "hour": "hour hours hr hrs hh h stunde std heure hora ora uur hourending he hourofday hhmm",
    "minute": "minute minutes min mi",
    "second": "second seconds sec ss",
}
_UNIT = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_SHORT = frozenset(("an", "ar", "h", "he", "mm", "dd", "ss", "mi", "min", "mon", "mes"))
_LOOSE = {*_UNIT, "data"} - _SHORT
_COUNTERS = frozenset((
    "step", "t", "index", "idx", "row", "rows", "rowid", "id", "nr", "no", "num", "number", "n",
    "obs", "observation", "lfd", "record", "rownum", "unnamed",
))  # fmt: skip


def unit_of(name: Any) -> str:
    """Unit of time that a name stands for as a whole; empty if none.

    >>> [unit_of(name) for name in ("Jahr", "day_of_year", "Année", "fiscal year", 3)]
    ['year', 'day of the year', 'year', '', '']
    """
    return _UNIT.get("".join(_words(name)), "")


def tells_time(name: Any) -> bool:
    """Whether any word of a name stands for time.

    >>> [tells_time(name) for name in ("orderDate", "fiscal year", "Umsatz", "lifetime")]
    [True, True, False, False]
    """
    return bool(unit_of(name)) or any(word in _LOOSE for word in _words(name))


def counts_rows(name: Any) -> bool:
    """Whether a name is one that numbers of rows go by, or none at all.

    >>> [counts_rows(name) for name in ("Unnamed: 0", "step", "", "sales")]
    [True, True, True, False]
    """
    words = [word for word in _words(name) if not word.isdigit()]
    return not words or (len(words) == 1 and words[0] in _COUNTERS)


def _words(name: Any) -> list[str]:
    """Words of a name in small letters without accents, apart at marks and inner capitals."""
    if not isinstance(name, str):
        return []
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    return [
        one.casefold() for one in re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+", plain)
    ]
