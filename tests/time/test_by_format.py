"""Formats that the caller gave."""

import pandas as pd
import pytest

from tsformer.time.by_format import read_by_format


@pytest.mark.parametrize(
    ("form", "text", "stamp"),
    [
        ("%d.%m.%Y", "05.02.2024", "2024-02-05"),
        ("%G-W%V", "2020-W53", "2020-12-28"),
        ("%G-W%V-%u", "2020-W53-3", "2020-12-30"),
        ("%s", "1704067200", "2024-01-01"),
        ("%YQ%q", "2024Q2", "2024-04-01"),
        ("Q%q %Y", "Q4 2023", "2023-10-01"),
        ("%Y-%m-%d %H:%M DST", "2024-02-05 10:30 DST", "2024-02-05 10:30"),
    ],
)
def test_what_is_read(form, text, stamp):
    read = read_by_format(pd.Series([text, "x"] if form != "%s" else [text]), form)
    assert read[0] == pd.Timestamp(stamp)
    assert read[1:].isna().all()


def test_what_is_not():
    assert read_by_format(pd.Series(["1704067200", "soon"]), "%s").isna().all()
    for form in ("%", "%k", "%q", "%m %q", "%Y-%m %q"):
        with pytest.raises(ValueError):
            read_by_format(pd.Series(["2024-01-01"]), form)
