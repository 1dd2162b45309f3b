import sys

import pytest

from tsformer.errors import DataWarning, MissingDependency, ParameterError
from tsformer.time.countries import country_days


@pytest.mark.parametrize(
    ("name", "day", "held"),
    [
        ("DE", "2024-10-03", True),
        ("de", "2024-10-03", True),
        ("DEU", "2024-10-03", True),
        ("Germany", "2024-10-03", True),
        ("DE", "2024-01-06", False),
        ("DE-BY", "2024-01-06", True),
        ("Germany-Bayern", "2024-01-06", True),
        ("United States", "2024-07-04", True),
        ("US", "2025-03-31", False),
        ("US-CA", "2025-03-31", True),
        ("us-california", "2025-03-31", True),
        ("UK", "2024-12-26", True),
        ("Guinea-Bissau", "2024-09-24", True),
        ("Curaçao", "2024-10-10", True),
    ],
)
def test_a_country_by_any_of_its_names(name, day, held):
    days = country_days(name, 2024, 2025)
    assert (day in days) is held
    assert days == tuple(sorted(days)) and days[0][:4] == "2024" and days[-1][:4] == "2025"


@pytest.mark.parametrize(
    ("name", "said", "cure"),
    [
        ("Grmany", "close: Germany", "DE"),
        ("Untied States", "United States", "US"),
        ("Atlantis", "no country", None),
        ("US-ZZ", "no part 'ZZ'; there are AK, AL", "US"),
        ("DE-Bayren", "no part 'Bayren'", "DE-BY"),
        ("Nowhere-ZZ", "no country", None),
        ("VA-X", "no parts of VA", "VA"),
    ],
)
def test_an_unknown_country_is_answered_with_names_that_work(name, said, cure):
    with pytest.raises(ParameterError, match=said) as refused:
        country_days(name, 2024, 2024)
    offered = [one.settings["schema__holidays"] for one in refused.value.cures]
    assert cure is None or cure in offered
    for one in offered:
        assert country_days(one, 2024, 2024)
    assert refused.value.cures[-1].options().endswith(f"--holidays {offered[-1]}.")


def test_years_before_those_that_are_known_are_said():
    with pytest.warns(DataWarning, match="days off of DE are known from 1991 on, not from 1989"):
        assert country_days("DE", 1989, 1991)[0] == "1991-01-01"


def test_without_the_package_its_line_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(MissingDependency, match=r"pip install 'tsformer\[holidays\]'"):
        country_days("DE", 2024, 2024)
