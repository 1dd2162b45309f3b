"""Files that are refused: no Python is advised, and every option offered gets further."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cli.test_no_python import PYTHON
from tsformer.cli.app import app
from tsformer.cli.options import Format, Roles
from tsformer.cli.trying import that_work
from tsformer.cures import Cure, as_options
from tsformer.errors import TsformerError

Run = Any

DAYS = pd.date_range("2023-01-02", periods=60)
SOLD = 100.0 + np.arange(60) % 7
COMMON = ("-n", "2", "--model", "drift", "--no-plot", "--quantiles", "")
PLAIN = pd.DataFrame({"day": DAYS.strftime("%Y-%m-%d"), "sold": SOLD})


def lines(frame: pd.DataFrame = PLAIN, **more: Any) -> list[str]:
    return frame.to_csv(index=False, **more).splitlines()


def put(at: int, *rows: str) -> list[str]:
    """The plain table with further lines."""
    plain = lines()
    return [*plain[:at], *rows, *plain[at:]]


def with_values(**columns: Any) -> list[str]:
    return lines(PLAIN.assign(**columns))


def sold(at: int, value: Any) -> list[str]:
    return with_values(sold=[value if row == at else int(one) for row, one in enumerate(SOLD)])


def shops(**keys: Any) -> list[str]:
    """Two series; whatever tells them apart is given by its two values."""
    both = [PLAIN.assign(**{name: pair[part] for name, pair in keys.items()}) for part in (0, 1)]
    return lines(pd.concat(both))


EARLY = pd.date_range("2023-01-01", periods=60)
THREE = [f"{one / 99.1 + 1:.3f}" for one in SOLD]
REFUSED: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "day and month": (lines(PLAIN.assign(day=EARLY.strftime("%d/%m/%Y"))[:12]), ()),
    "unknown dates": (with_values(day=DAYS.strftime("%d of %B in %Y")), ()),
    "a zone's name": (with_values(day=DAYS.strftime("%Y-%m-%d 00:00 XYZ")), ()),
    "one bad date": (with_values(day=["2023-02-31", *DAYS[1:].strftime("%Y-%m-%d")]), ()),
    "no stamp": (with_values(day=["", *DAYS[1:].strftime("%Y-%m-%d")]), ()),
    "fractions as time": (with_values(day=np.arange(60) / 3), ("--time", "day")),
    "a word among numbers": (sold(9, "closed"), ()),
    "two words among numbers": (with_values(sold=["shut", "closed", *map(int, SOLD[2:])]), ()),
    "three decimals": (lines(PLAIN.assign(sold=[f"1,{one[2:]}" for one in THREE]), sep=";"), ()),
    "thousands or decimals": (lines(PLAIN.assign(sold=THREE), sep=";"), ()),
    "infinite": (sold(9, "inf"), ()),
    "a line too long": (put(9, "2023-01-11,1,2,3"), ()),
    "a line too short": (put(9, "2023-01-11"), ()),
    "a comment with commas": (put(9, "% bought, sold, kept, given"), ()),
    "a title with commas": (put(0, "shop,3,north,2023"), ()),
    "two times": (with_values(sent=(DAYS + pd.Timedelta(days=1)).strftime("%Y-%m-%d")), ()),
    "no numbers": (lines(PLAIN.assign(sold="many")), ()),
    "two of a name": (lines(PLAIN.assign(more=1.0).set_axis(["day", "sold", "sold"], axis=1)), ()),
    "a name of a quantile": (lines(PLAIN.assign(**{"sold_q0.1": 1.0 + np.arange(60)})), ()),
    "gaps": (lines(PLAIN.drop(index=[9, 20])), ("--gaps", "error")),
    "missing": (sold(9, ""), ("--missing", "error")),
    "all missing": (lines(PLAIN.assign(sold=np.nan, cost=np.nan)), ("--target", "sold")),
    "shops by number": (shops(shop=(1, 2)), ()),
    "shops by two names": (shops(shop=("a", "b"), town=("c", "d")), ()),
    "a row twice": ([*lines(), lines()[-1]], ()),
    "uneven steps": (lines(PLAIN.iloc[np.cumsum(np.arange(1, 11)) - 1]), ("--gaps", "error")),
    "months by the day": (lines(), ("--freq", "MS")),
    "unknown step": (lines(), ("--freq", "banana")),
    "number as step": (lines(), ("--freq", "3")),
    "the rest without a target": (with_values(cost=SOLD + 1, kept=SOLD - 1), ("--past", "rest")),
    "negative weight": (with_values(cost=-SOLD), ("--weight", "cost")),
    "no weight": (with_values(cost=SOLD * 0), ("--weight", "cost")),
    "two roles": (with_values(cost=SOLD + 1), ("--past", "cost", "--known", "cost")),
    "a static that moves": (with_values(cost=SOLD + 1), ("--static", "cost")),
    "known without a future": (with_values(cost=SOLD + 1), ("--known", "cost")),
    "absent column": (lines(), ("--target", "sould")),
    "an ignored end": (lines(), ("--ignore", "2023-02-10..2023-02-01")),
    "an ignored word": (lines(), ("--ignore", "winter..spring")),
    "ignored numbers": (lines(), ("--ignore", "3..9")),
    "all ignored": (lines(), ("--ignore", "2022..2024")),
    "another encoding": (with_values(größe=SOLD), ("--encoding", "ascii")),
    "another separator": (lines(), ("--separator", ";")),
    "another decimal mark": (lines(PLAIN.assign(sold=SOLD + 0.25)), ("--decimal", ",")),
    "another format": (lines(), ("--time-format", "%d.%m.%Y")),
    "absent time": (lines(), ("--time", "date")),
    "absent series": (lines(), ("--series", "shop")),
    "too short": (lines(PLAIN[:2]), ("--context", "5", "--model", "linear")),
    "one row": (lines(PLAIN[:1]), ()),
    "a level not learned": (lines(), ("--model", "linear", "--quantiles", "0.01")),
    "a wrong word": (lines(), ("--missing", "drop")),
    "a wrong number": (lines(), ("--model", "linear", "--epochs", "-1")),
    "a wrong path": (lines(), ("--model", "linear", "--set", "training__epoch=3")),
    "a word for a number": (lines(), ("--model", "linear", "--set", "training__epochs=many")),
}  # fmt: skip
READ = {"unknown dates", "a title with commas", "another decimal mark", "uneven steps"}
READ |= {"all missing", "a name of a quantile"}
"""Those that may be read, with a note."""


def refused(file: str, options: tuple[str, ...]) -> TsformerError | None:
    """The error of a forecast, None if there is none."""
    try:
        app(["forecast", file, *COMMON, *options], prog_name="tsformer", standalone_mode=False)
    except TsformerError as error:
        return error
    except Exception as error:  # typer's own, for the options it reads
        assert hasattr(error, "format_message"), error
        return None
    return None


def words(cure: Cure) -> tuple[str, ...] | None:
    """The options of a cure; None where it has none, or they are to be filled in."""
    found = shlex.split(f"{as_options(cure.settings)} {cure.option}")
    filled = not any(one.isupper() and len(one) > 2 for one in found)
    return tuple(found) if found and filled and found[0].startswith("--") else None


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refused_file_advises_no_python_and_what_it_offers_gets_further(
    run: Run, kind: str
) -> None:
    rows, options = REFUSED[kind]
    Path("sales.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = run("forecast", "sales.csv", *COMMON, *options)
    assert done.code in ((0, 1, 2) if kind in READ else (1, 2)), done.err
    assert not PYTHON.search(done.err), done.err
    error = refused("sales.csv", options) if done.code else None
    for cure in () if error is None else error.cures:
        offered = words(cure)
        if offered is not None:
            assert cure.options() in done.err
            again = refused("sales.csv", (*options, *offered))
            assert again is None or again.message != error.message, offered  # type: ignore[union-attr]
    checked = run("check", "sales.csv", *(one for one in _of_check(options)))
    assert not PYTHON.search(checked.out + checked.err)


def _of_check(options: tuple[str, ...]) -> tuple[str, ...]:
    pairs = list(zip(options[::2], options[1::2], strict=True))
    other = {"--model", "--set", "--epochs", "--quantiles"}
    return tuple(word for pair in pairs if pair[0] not in other for word in pair)


SOLVED: dict[str, Callable[[list[str]], bool]] = {
    "day and month": lambda offered: sum("--time-format" in one for one in offered) == 2,
    "a word among numbers": lambda offered: '--na "closed"' in offered,
    "two words among numbers": lambda offered: len(offered) == 1,
    "thousands or decimals": lambda offered: len(offered) == 2,
    "a comment with commas": lambda offered: '--comment "%"' in offered,
    "two times": lambda offered: "--time day" in offered,
    "gaps": lambda offered: "--gaps mask --missing mask" in offered,
    "missing": lambda offered: "--missing mask" in offered,
    "shops by number": lambda offered: offered == ["--series shop"],
    "shops by two names": lambda offered: offered == ["--series shop"],
    "another separator": lambda offered: offered == ['--separator ","'],
    "another encoding": lambda offered: offered == ["--encoding utf-8"],
}


@pytest.mark.parametrize("kind", SOLVED)
def test_the_file_is_forecast_when_the_offer_is_followed(run: Run, kind: str) -> None:
    rows, options = REFUSED[kind]
    Path("sales.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    error = refused("sales.csv", options)
    assert error is not None
    offered = [one for one in map(words, error.cures) if one]
    shown = [cure.options().partition(": ")[2].removesuffix(".") for cure in error.cures]
    assert SOLVED[kind]([one for one in shown if one]), shown
    for one in offered:
        done = run("forecast", "sales.csv", *COMMON, *options, *one)
        assert done.code == 0, done.err
        assert len(pd.read_csv("forecast.csv")) >= 2


def test_what_does_not_help_is_not_offered(run: Run) -> None:
    Path("sales.csv").write_text("\n".join(REFUSED["shops by number"][0]), encoding="utf-8")
    error = refused("sales.csv", ())
    assert error is not None
    said = error.message
    good, bad = Cure("Right", {"schema__series": "shop"}), Cure("Wrong", {"schema__freq": "MS"})
    kept = (
        Cure("Ask"),
        Cure("Say it", {"schema__freq": ...}),
        Cure("Plan", option="--future FILE"),
    )
    tried = that_work(said, (bad, good, *kept), "sales.csv", Format(), Roles())
    assert tried == (good, *kept)
    odd = (bad, Cure("Nearer", {"schema__time": "sold"}), Cure("Odd", option='--na "a'))
    assert that_work(said, odd, "sales.csv", Format(), Roles()) == odd[1:]


def test_a_role_in_a_cure_takes_the_place_of_another(run: Run) -> None:
    Path("sales.csv").write_text("\n".join(with_values(cost=SOLD)), encoding="utf-8")
    roles = Roles(known=["cost"], target=["sold"])
    cure = Cure("Up to now", {"schema__past": ("cost",)})
    assert that_work("known", (cure,), "sales.csv", Format(), roles) == (cure,)
