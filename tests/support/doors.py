"""The two doors of the field cases, a file and a frame: what comes out, and all that is said.

A case is right where its pattern is forecast, or where it is refused with a cure that, followed as
it is offered, makes it so.
"""

import io
import logging
import shlex
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from tsformer import SeasonalNaive
from tsformer.cli.app import app
from tsformer.cli.exits import exit_code
from tsformer.cures import Cure
from tsformer.errors import FrameError, ParameterError

COMMON = ("--model", "seasonal-naive", "--no-plot", "--quantiles", "")
LOG = logging.getLogger("tsformer")


not_yet = pytest.mark.xfail(reason="the right answer is not built yet", strict=True)


def rows(names: Iterable[str], missing: Collection[str] = ()) -> list[Any]:
    """The names as parameters; those whose right answer is not built yet must fail."""
    return [pytest.param(name, marks=[not_yet] if name in missing else []) for name in names]


class Answer(NamedTuple):
    """What a door gave: a forecast or an error, and every line that was said beside it."""

    made: pd.DataFrame | None
    error: Exception | None
    said: str
    code: int = 0


class Pattern(NamedTuple):
    """What is right: the values of a column, and how the first stamp begins, as text."""

    column: str
    values: Sequence[float]
    first: str

    def holds(self, made: pd.DataFrame | None) -> bool:
        """Whether a forecast is this pattern, at these stamps."""
        if made is None or self.column not in made.columns:
            return False
        if not isinstance(made.index, pd.RangeIndex) or self.first.isdigit():
            made = made.reset_index()
        stamps = [str(made[name].iloc[0]) for name in made.columns if name != self.column]
        found = made[self.column].to_numpy(dtype=float)[: len(self.values)]
        right = len(found) == len(self.values) and np.allclose(found, self.values, rtol=0.05)
        return right and any(stamp.startswith(self.first) for stamp in stamps)


def table(**columns: Any) -> str:
    """Text of a file with these columns, as a person would write it."""
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


def run(*arguments: object) -> Answer:
    """Run a command in this folder."""
    errors: list[Exception] = []
    out, err = io.StringIO(), io.StringIO()

    def command() -> Any:
        try:
            return app([str(one) for one in arguments], prog_name="tsformer", standalone_mode=False)
        except Exception as error:
            errors.append(error)
            raise

    with redirect_stdout(out), redirect_stderr(err):
        code = exit_code(command)
    assert code != 70, err.getvalue()
    return Answer(None, errors[0] if errors else None, err.getvalue() + out.getvalue(), code)


def forecast_file(file: str | Path, horizon: int, *options: object) -> Answer:
    """Forecast a file, in this folder, by seasonal persistence unless options say otherwise."""
    Path("forecast.csv").unlink(missing_ok=True)
    given = COMMON if "--model" not in options else COMMON[2:]
    done = run("forecast", file, "-n", horizon, *given, *options)
    made = pd.read_csv("forecast.csv") if Path("forecast.csv").exists() else None
    return done._replace(made=made)


def written(text: str, name: str = "sales.csv", encoding: str = "utf-8") -> str:
    """Write a file in this folder."""
    Path(name).write_bytes(text.encode(encoding))
    return name


def heard(call: Callable[[], Any]) -> Answer:
    """What a call gives, its warnings, and what it logs at INFO."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    level = LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    made, error = None, None
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = call()
    except (FrameError, ParameterError) as refused:
        error = refused
        lines.append(str(refused))
    finally:
        LOG.setLevel(level)
        LOG.removeHandler(handler)
    return Answer(made, error, "\n".join([*(str(one.message) for one in caught), *lines]))


def forecast_frame(frame: pd.DataFrame, horizon: int, **settings: Any) -> Answer:
    """Forecast a frame by seasonal persistence, with parameters by their path."""

    def call() -> pd.DataFrame:
        forecaster = SeasonalNaive(horizon=horizon).set_params(**settings)
        made: pd.DataFrame = forecaster.fit(frame).predict()
        return made

    return heard(call)


def as_options(cure: Cure) -> list[str]:
    """The options of a cure as a person would copy them; none where it has no option."""
    said = cure.options().removeprefix(f"{cure.advice}: ").removesuffix(".")
    return shlex.split(said) if said.startswith("-") and " ..." not in said else []


def cures(error: Exception | None) -> list[Cure]:
    return list(getattr(error, "cures", ()))


def cured_file(file: str | Path, horizon: int, error: Exception | None) -> list[Answer]:
    """The answers after each cure of an error as options."""
    offered = [as_options(cure) for cure in cures(error)]
    return [forecast_file(file, horizon, *options) for options in offered if options]


def cured_frame(frame: pd.DataFrame, horizon: int, error: Exception | None) -> list[Answer]:
    """The answers after each cure of an error as parameters, or as a line on the frame."""
    answers = []
    for cure in cures(error):
        if cure.code:
            names = {"frame": frame.copy(), "pd": pd}
            exec(cure.code, names)
            answers.append(forecast_frame(names["frame"], horizon))
        elif ... not in cure.settings.values():
            answers.append(forecast_frame(frame, horizon, **cure.settings))
    return answers


def check_file(text: str, pattern: Pattern, *options: object) -> Answer:
    """A file is read as its pattern, or refused with a cure that makes it so."""
    file, horizon = written(text), len(pattern.values)
    answer = forecast_file(file, horizon, *options)
    if answer.error is None:
        assert pattern.holds(answer.made), (answer.said, answer.made)
    else:
        after = cured_file(file, horizon, answer.error)
        assert any(pattern.holds(one.made) for one in after), (answer.said, after)
    return answer


def check_frame(frame: pd.DataFrame, pattern: Pattern, **settings: Any) -> Answer:
    """A frame is read as its pattern, or refused with a cure that makes it so."""
    horizon = len(pattern.values)
    answer = forecast_frame(frame, horizon, **settings)
    if answer.error is None:
        assert pattern.holds(answer.made), (answer.said, answer.made)
    else:
        after = cured_frame(frame, horizon, answer.error)
        assert any(pattern.holds(one.made) for one in after), (answer.said, after)
    return answer
