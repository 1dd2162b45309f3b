import numpy as np
import pandas as pd
import pytest

from tsformer.panels import Policy, Schema
from tsformer.preflight import describe
from tsformer.preflight.roles import role_facts, unused_columns, usable_covariate
from tsformer.reading import read_panel

DAYS = pd.date_range("2024-01-01", periods=60)
FRAME = pd.DataFrame(
    {
        "ds": DAYS,
        "y": np.random.default_rng(0).normal(size=60),
        "promo": np.arange(60) % 9,
        "colour": ["red", "blue"] * 30,
        "sent": DAYS + pd.Timedelta(days=3),
    }
)


def test_every_column_has_its_place():
    schema = Schema(time="ds", target="y", past=["promo"])
    facts = role_facts(read_panel(FRAME, schema))
    assert facts == {
        "season": "7 rows, by the stamps",
        "target": "'y'",
        "past": "'promo'",
        "not used": "'colour', 'sent'",
    }
    weighted = Schema(time="ds", target="y", weight="promo", static="colour")
    facts = role_facts(read_panel(FRAME.assign(colour="red"), weighted))
    assert facts["weight"] == "'promo'" and facts["static"] == "'colour'"
    assert facts["not used"] == "'sent'"


@pytest.mark.parametrize(
    ("holidays", "said"),
    [
        ("US-CA", "US-CA, 4 days off in the data, the next one on 2024-03-31"),
        (["US", "FR"], "US, FR, 3 days off in the data, the next one on 2024-04-01"),
        (["2024-01-06"], "1 days off in the data, none after them"),
    ],
)
def test_whose_days_off_and_the_next_one(holidays, said):
    schema = Schema(time="ds", target="y", holidays=holidays)
    assert role_facts(read_panel(FRAME, schema), schema)["holidays"] == said
    report = str(describe(FRAME, schema=schema, horizon=3))
    assert f"holidays       {said}" in report


@pytest.mark.parametrize(
    ("frame", "season", "said"),
    [
        (FRAME[["ds", "y"]], None, "7 rows, by the stamps"),
        (FRAME[["ds", "y"]], (7, 30), "7 and 30 rows"),
        (FRAME[["ds", "y"]], 1, "none"),
        (pd.DataFrame({"y": np.tile([1.0, 5, 3, 2], 12)}), None, "4 rows, found in the data"),
        (pd.DataFrame({"y": np.arange(40.0)}), None, "none"),
    ],
)
def test_the_season_and_where_it_is_from(frame, season, said):
    assert role_facts(read_panel(frame, Schema(season=season)))["season"] == said


def test_many_names_are_counted():
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 11)))
    wide = wide.rename(columns="c{}".format)
    assert role_facts(read_panel(wide))["target"].endswith("'c7' and 3 more")


def test_a_covariate_is_proposed_that_can_be_read():
    schema = Schema(time="ds", target="y")
    panel = read_panel(FRAME, schema)
    assert unused_columns(panel) == ("promo", "colour", "sent")
    assert usable_covariate(FRAME, panel, schema) == "promo"
    holes = FRAME.assign(promo=np.nan)
    assert usable_covariate(holes, read_panel(holes, schema), schema) == "colour"  # NaN is refused
    mask = Policy(missing="mask", gaps="mask")
    only = FRAME[["ds", "y", "sent"]]
    assert usable_covariate(only, read_panel(only, schema, mask), schema) is None
