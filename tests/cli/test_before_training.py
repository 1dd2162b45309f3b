"""What can be said before any training is said before it, in options that work when followed."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tsformer.estimators import Forecaster

Run = Any


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Any, panel: Any) -> None:
        pytest.fail("it was trained")

    monkeypatch.setattr(Forecaster, "_fit", fail)


def offered(said: str) -> list[str]:
    """The options of each cure: what stands behind a colon, up to the end of its sentence."""
    return re.findall(r": (--.+?)\.(?= [A-Z]|\s*$)", said)


@pytest.mark.usefixtures("no_training")
@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--known", "price"), 1, "--future FILE. Or fit with what is known only up to now"),
        (("--quantiles", "0.025,0.5"), 2, "level 0.025 was not trained"),
        (("--known", "price", "--future", "short.csv"), 1, "2024-05-02"),
        (("--known", "price", "--future", "empty.csv"), 1, "no column 'price'"),
        (("--past", "price", "--future", "short.csv"), 1, "'price' is a past covariate"),
        (("--known", "price", "--future", "absent.csv"), 1, "absent.csv"),
        (("--season", "weekly"), 2, "--season weekly"),
        (("--season", "0"), 2, "--season 0"),
        (("--context", "200"), 1, "120 rows"),
    ],
)
def test_refused_before_any_training(
    run: Run, sales: Path, given: tuple[str, ...], code: int, said: str, request: Any
) -> None:
    if "--context" in given:
        request.getfixturevalue("monkeypatch").undo()  # the fit itself refuses this at once
        request.getfixturevalue("monkeypatch").chdir(sales.parent)
    days = pd.date_range("2024-04-30", periods=2)
    pd.DataFrame({"day": days, "price": 10.0}).to_csv("short.csv", index=False)
    pd.DataFrame({"day": days}).to_csv("empty.csv", index=False)
    done = run("forecast", sales, "-n", 3, "--target", "sold", "--no-plot", *given)
    assert done.code == code and said in done.err, done.err
    assert done.err.startswith("error: ") and done.err.count("\n") == 1
    assert not Path("forecast.csv").exists()


def test_what_is_offered_instead_works(run: Run, sales: Path) -> None:
    common = ("forecast", sales, "-n", 3, "--target", "sold", "--model", "linear", "--no-plot")
    levels = run(*common, "--quantiles", "0.025,0.3")
    (cure,) = offered(levels.err)
    done = run(*common, "--quantiles", "0.025,0.3", *shlex.split(cure))
    assert done.code == 0, done.err
    assert {"sold_q0.025", "sold_q0.3"} <= set(pd.read_csv("forecast.csv"))
    known = run(*common, "--known", "price")
    assert [shlex.split(one)[0] for one in offered(known.err)] == ["--future", "--past"]
    done = run(*common, *shlex.split(offered(known.err)[1]))
    assert done.code == 0 and re.search(r"past +'price'", done.out)


def test_a_saved_model_is_asked_for_no_more_than_it_learned(run: Run, sales: Path) -> None:
    common = ("fit", sales, "--target", "sold", "--model", "linear", "--save", "m.safetensors")
    assert run(*common, "-n", 3).code == 0
    longer = run("predict", "m.safetensors", "-n", 9)
    assert longer.code == 2 and offered(longer.err) == ["--horizon 9"]
    assert run(*common, "--force", *shlex.split(offered(longer.err)[0])).code == 0
    assert len(run("predict", "m.safetensors", "-n", 9).out.splitlines()) == 10
    level = run("predict", "m.safetensors", "--quantiles", "0.3")
    assert level.code == 2
    again = run(*common, "-n", 3, "--force", *shlex.split(offered(level.err)[0]))
    assert again.code == 0, again.err
    assert "sold_q0.3" in run("predict", "m.safetensors", "--quantiles", "0.3").out


def test_the_season_is_said_and_may_be_given(run: Run, sales: Path) -> None:
    common = ("forecast", sales, "-n", 7, "--target", "sold", "--no-plot", "--model")
    found = run(*common, "linear")
    assert "season    7 rows, by the stamps" in found.out
    assert "that of seasonal persistence" in found.out
    none = run(*common, "linear", "--season", 1)
    assert "season    none" in none.out and "seasonal persistence" not in none.out
    assert "that of persistence" in none.out
    several = run(*common, "linear", "--season", "7,14")
    assert several.code == 0 and "season    7 and 14 rows" in several.out
    again = run(*common, "linear", "--season", "7", "--season", "14")
    assert again.out == several.out
    assert run(*common, "seasonal-naive", "--season", 10, "--quantiles", "").code == 0
    last = pd.read_csv(sales)["sold"].to_numpy()[-10:-3]
    np.testing.assert_allclose(pd.read_csv("forecast.csv")["sold"], last)
    assert re.search(r"season +7 rows$", run("check", sales, "--season", 7).out, re.M)


def test_seasons_of_numbered_rows_are_found_and_said(run: Run) -> None:
    pd.DataFrame({"y": np.tile([1.0, 5, 3, 2], 15)}).to_csv("rows.csv", index=False)
    done = run("forecast", "rows.csv", "-n", 4, "--model", "seasonal-naive", "--no-plot")
    assert "season  4 rows, found in the data" in done.out
    assert pd.read_csv("forecast.csv")["y"].tolist() == [1, 5, 3, 2]


def test_every_column_has_its_role_said(run: Run, sales: Path) -> None:
    named = {"day": "ds", "sold": "y", "price": "promo"}
    pd.read_csv(sales).rename(columns=named).to_csv("promo.csv", index=False)
    common = ("forecast", "promo.csv", "-n", 3, "--model", "linear", "--no-plot")
    done = run(*common)
    assert "not used  'promo'; --past promo uses it, or --known promo with its --future" in done.out
    assert "not used" in run("check", "promo.csv", "-n", 3).out
    followed = run(*common, "--past", "promo")
    assert followed.code == 0 and "not used" not in followed.out
