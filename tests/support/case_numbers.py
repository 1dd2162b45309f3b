"""Section 2: numbers."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from doors import (
    Answer,
    as_options,
    cures,
    forecast_file,
    forecast_frame,
    heard,
    run,
    written,
)

from tsformer import Forecaster, Schema
from tsformer.errors import DuplicateColumn, WrongType
from tsformer.models import Linear

DAYS = pd.date_range("2023-01-02", periods=84)
LEVELS = np.array([900.0, 940, 990, 1000, 1010, 1250, 1330])
SOLD = np.resize(LEVELS, 84)
TEXT = [f"{value:.0f}" for value in SOLD]


def grouped(mark: str) -> Callable[[float], str]:
    return lambda value: f"{value:,.0f}".replace(",", mark)


def file_of(cells: list[str], *, separator: str = ",", head: str = "day,sold") -> str:
    quoted = [f'"{cell}"' if separator in cell else cell for cell in cells]
    rows = [f"{day:%Y-%m-%d}{separator}{cell}" for day, cell in zip(DAYS, quoted, strict=False)]
    return "\n".join([head.replace(",", separator), *rows])


def with_cell(cell: str, *places: int) -> list[str]:
    return [cell if place in places else text for place, text in enumerate(TEXT)]


def is_right(answer: Answer, column: str = "sold") -> None:
    assert answer.made is not None, answer.said
    assert answer.made[column].tolist() == LEVELS.tolist()
    assert answer.made.iloc[0, 0] == "2023-03-27"


MARKS = {
    "1.000 by semicolons": (grouped("."), ";", "'1.000'"),
    "1.000 by commas": (grouped("."), ",", "'1.000'"),
    "1,000 in quotes": (grouped(","), ",", "'1,000'"),
    "1,000 by tabs": (grouped(","), "\t", "'1,000'"),
    "1 234": (grouped(" "), ",", "'1 000'"),
    "1'234": (grouped("'"), ",", '"1\'000"'),
    "$900": (lambda value: f"${value:.0f}", ",", "'$900'"),
    "€ 900": (lambda value: f"€ {value:.0f}", ";", "'€ 900'"),
    "45%": (lambda value: f"{value:.0f}%", ",", "'900%'"),
}


@pytest.mark.parametrize("name", MARKS)
def test_2_marks_in_numbers_are_read_and_said(folder: Any, name: str) -> None:
    mark, separator, said = MARKS[name]
    text = file_of([mark(value) for value in SOLD], separator=separator)
    answer = forecast_file(written(text), 7)
    is_right(answer)
    assert "'sold'" in answer.said and said in answer.said


def test_2_four_rows_of_990_and_1000(folder: Any) -> None:
    answer = forecast_file(written(file_of(["990", "1.000", "1.010", "995"], separator=";")), 1)
    assert answer.made is not None and answer.made["sold"].iloc[0] > 100
    assert "'1.000'" in answer.said


def test_2_three_decimals_or_thousands_are_asked(folder: Any) -> None:
    cells = [f"{value / 100 + 1:.3f}" for value in SOLD]
    file = written(file_of(cells, separator=";"))
    answer = forecast_file(file, 7)
    assert isinstance(answer.error, WrongType) and answer.made is None
    offered = [as_options(cure) for cure in cures(answer.error)]
    assert [one[0] for one in offered] == ["--thousands", "--decimal"]
    for options, factor in zip(offered, (1000, 1), strict=True):
        made = forecast_file(file, 7, *options).made
        np.testing.assert_allclose(made["sold"], (LEVELS / 100 + 1) * factor)


@pytest.mark.parametrize("cell", ["-", ".", "n/a", "..", "#N/A"])
def test_2_a_usual_sign_of_nothing_is_empty_and_said(folder: Any, cell: str) -> None:
    answer = forecast_file(written(file_of(with_cell(cell, 20))), 7)
    is_right(answer)
    assert "no value in 1 of 84 rows" in answer.said and "2023-01-22" in answer.said


@pytest.mark.parametrize("cell", ["closed", "zu", "ca. 900", "900 (est.)"])
def test_2_a_word_among_numbers_is_named_with_its_row(folder: Any, cell: str) -> None:
    file = written(file_of(with_cell(cell, 20, 30)))
    answer = forecast_file(file, 7)
    assert answer.made is None and repr(cell) in answer.said
    assert "'sold'" in answer.said and "line 22" in answer.said and "rows like it: 2" in answer.said
    cure = as_options(cures(answer.error)[0])
    assert cure == ["--na", cell]
    is_right(forecast_file(file, 7, *cure))


@pytest.mark.parametrize("cell", ["1,000 in one", "-", "$900"])
def test_2_text_in_a_frame_names_the_culprit(cell: str) -> None:
    frame = pd.DataFrame({"day": DAYS, "sold": with_cell(cell, 20), "x": 1.0})
    answer = heard(lambda: Forecaster(Linear(), horizon=3, schema=Schema(target="sold")).fit(frame))
    assert answer.error is not None and "'sold'" in answer.said
    assert repr(cell) in answer.said and "row 20" in answer.said


CODES = [
    ("-9999", 1), ("-999", 2), ("99999", 3), ("-999.9", 1), ("32767", 2), ("-1e+30", 1),
    ("1e+20", 2), ("2147483647", 1),
]  # fmt: skip


@pytest.mark.parametrize("cell", ["-9999.0", "-9999.000", "-9.999e3"])
def test_2_a_code_is_masked_however_it_is_written(folder: Any, cell: str) -> None:
    file = written(file_of(with_cell(cell, 20, 40)))
    answer = forecast_file(file, 7, "--na", "-9999")
    is_right(answer)
    assert "no value in 2 of 84 rows" in answer.said and "code for" not in answer.said


def test_2_the_fill_of_a_measuring_program_is_exact_in_the_cure(folder: Any) -> None:
    file = written(file_of(with_cell("9.9692099683868690e+36", 20)))
    said = forecast_file(file, 7).said
    code = said.partition("--na ")[2].split()[0]
    assert "no value in 1 of 84 rows" in forecast_file(file, 7, "--na", code).said


@pytest.mark.parametrize("mark", ["-{}", "{}-", "({})", "\u2212{}", "\u2013{}", "(${})", "-{}%"])
def test_2_signs_of_negative_numbers(folder: Any, mark: str) -> None:
    rows = [mark.format(cell) if place % 7 == 3 else cell for place, cell in enumerate(TEXT)]
    answer = forecast_file(written(file_of(rows)), 7)
    right = LEVELS * np.where(np.arange(7) == 3, -1, 1)
    assert answer.made is not None and answer.made["sold"].tolist() == right.tolist()
    assert mark == "-{}" or mark.format("1000") in answer.said


@pytest.mark.parametrize(("code", "rows"), CODES)
def test_2_forecast_repeats_what_check_finds(folder: Any, code: str, rows: int) -> None:
    file = written(file_of(with_cell(code, *range(20, 20 + rows))))
    checked, answer = run("check", file), forecast_file(file, 7)
    for said in (checked.said, answer.said):
        assert f"in {rows} rows" in said and "2023-01-22" in said and "code for a missing" in said
    assert checked.code == 1 and answer.code == 0
    assert f"--na {code}" in answer.said
    is_right(forecast_file(file, 7, "--na", code, "--missing", "mask"))


PLAN = pd.date_range("2023-03-27", periods=3)


def planned(role: str = "known") -> Forecaster:
    price = np.arange(84) % 2 + 0.0
    frame = pd.DataFrame({"sold": SOLD + 50 * price, "price": price}, index=DAYS.rename("day"))
    schema = Schema(target="sold", **{role: "price"})
    return Forecaster(Linear(), horizon=3, context=14, schema=schema).fit(frame)


def plan(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"price": values}, index=PLAN)


@pytest.mark.parametrize("value", [1e6, -1e6, 40.0])
def test_2_a_plan_outside_what_fit_has_seen_is_said(value: float) -> None:
    forecaster = planned()
    answer = heard(lambda: forecaster.predict(future=plan(0.0, value, 1.0)))
    assert answer.made is not None
    assert "'price'" in answer.said and "2023-03-28" in answer.said
    assert "0 to 1" in answer.said and f"{value:,.10g}" in answer.said
    assert answer.said.count("outside") == 1


def test_2_a_plan_within_what_fit_has_seen_is_not() -> None:
    forecaster = planned()
    assert heard(lambda: forecaster.predict(future=plan(0.0, 1.0, 1.2))).said == ""


def test_2_a_plan_outside_in_a_file(folder: Any) -> None:
    forecaster = planned()
    forecaster.save("model.safetensors")
    plan(0.0, 1e6, 0.0).rename_axis("day").to_csv("plan.csv")
    answer = run("predict", "model.safetensors", "--future", "plan.csv", "--quantiles", "")
    assert answer.code == 0 and "'price'" in answer.said and "1,000,000" in answer.said


@pytest.mark.parametrize("again", ["sold", "day"])
def test_2_two_columns_of_one_name(folder: Any, again: str) -> None:
    text = file_of([f"{cell},{cell}" for cell in TEXT], separator=",", head=f"day,sold,{again}")
    file = written(text.replace('"', ""))
    answer = forecast_file(file, 7)
    assert answer.made is None and answer.code == 1
    assert f"two columns are called '{again}'" in answer.said
    assert run("check", file).code == 2


def test_2_two_columns_of_one_name_in_a_frame() -> None:
    frame = pd.DataFrame(np.ones((84, 2)), index=DAYS, columns=["sold", "sold"])
    answer = forecast_frame(frame, 3)
    assert isinstance(answer.error, DuplicateColumn) and "'sold'" in answer.said
    cured = forecast_frame(frame.loc[:, ~frame.columns.duplicated()], 3)
    assert cured.made["sold"].tolist() == [1.0] * 3


NAMES = {
    "numbers": [0, 1],
    "years": [2022, 2023],
    "NumPy numbers": list(np.array([3, 4])),
    "numbers and text": [0, "b"],
    "fractions": [0.5, 1.5],
}


@pytest.mark.parametrize("name", NAMES)
def test_2_columns_named_by_numbers_are_given_back(name: str) -> None:
    names = NAMES[name]
    frame = pd.DataFrame({names[0]: SOLD, names[1]: SOLD * 2}, index=DAYS)
    made = forecast_frame(frame, 7).made
    assert made.columns.tolist() == names
    assert [type(one) for one in made.columns] == [type(one) for one in frame.columns]
    assert made[names[1]].tolist() == (LEVELS * 2).tolist()


def test_2_columns_named_by_numbers_have_roles() -> None:
    frame = pd.DataFrame({7: np.resize(["b", "a"], 84), 0: DAYS.repeat(2)[:84], 1: SOLD})
    frame[0] = np.resize(DAYS[:42].repeat(2), 84)
    schema = Schema(series=7, time=0, target=1)
    made = forecast_frame(frame, 2, schema=schema).made
    assert made.columns.tolist() == [7, 0, 1]
    assert made[7].tolist() == ["a", "a", "b", "b"]
    assert made[0].iloc[0] == DAYS[42]


def test_2_text_and_number_of_one_spelling_are_two_columns() -> None:
    frame = pd.DataFrame({0: SOLD, "0": SOLD * 2}, index=DAYS)
    answer = forecast_frame(frame, 7)
    assert isinstance(answer.error, DuplicateColumn) and "'0'" in answer.said


def test_2_a_header_of_numbers(folder: Any) -> None:
    text = file_of([f"{cell},{cell}" for cell in TEXT], separator=",", head="day,2022,2023")
    is_right(forecast_file(written(text.replace('"', "")), 7), "2022")


def test_2_a_frame_read_back_from_a_file_is_the_file(folder: Any) -> None:
    file = written(file_of(TEXT))
    frame = pd.read_csv(io.StringIO(Path(file).read_text()))
    assert forecast_frame(frame, 7).made["sold"].tolist() == LEVELS.tolist()
