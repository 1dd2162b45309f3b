"""Section 3: files on the command line."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from doors import Answer, as_options, cures, forecast_file, run, written

from tsformer.errors import TsformerError

DAYS = pd.date_range("2023-01-02", periods=84)
LEVELS = [900, 940, 990, 1000, 1010, 1250, 1330]
SOLD = np.resize(LEVELS, 84)
HEAD = "day,sold"
ROWS = [f"{day:%Y-%m-%d},{value}" for day, value in zip(DAYS, SOLD, strict=True)]
TOTAL = SOLD.sum()
PYTHON = ("frame[", "frame.", "pd.", "dt.", "schema=", "Schema(", "Policy(", "future=frame")


def lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


def is_right(answer: Answer, column: str = "sold") -> None:
    assert answer.made is not None, answer.said
    assert answer.made[column].tolist() == LEVELS
    assert answer.made.iloc[0, 0] == "2023-03-27"


def no_python(answer: Answer) -> None:
    """An error on the command line advises no Python."""
    assert answer.error is None or not any(one in answer.said for one in PYTHON), answer.said


@pytest.mark.parametrize(("mark", "said"), [(";", "';'"), ("\t", "tabs"), ("|", "'|'")])
@pytest.mark.parametrize("name", ["sales.csv", "sales.txt"])
def test_3_separators_are_found_and_said(folder: Any, name: str, mark: str, said: str) -> None:
    answer = forecast_file(written(lines(HEAD, *ROWS).replace(",", mark), name), 7)
    is_right(answer)
    assert f"separated by {said}" in answer.said


@pytest.mark.parametrize("mark", ["^", ":", "~"])
def test_3_another_separator_is_asked_for(folder: Any, mark: str) -> None:
    file = written(lines(HEAD, *ROWS).replace(",", mark))
    answer = forecast_file(file, 7)
    assert answer.made is None and "--separator" in answer.said
    cured = [as_options(cure) for cure in cures(answer.error)]
    is_right(forecast_file(file, 7, *cured[0]))


ENCODED = {
    "utf-8": "",
    "utf-8-sig": "",
    "utf-16": "utf-16",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "utf-32": "utf-32",
    "cp1252": "cp1252",
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_3_encodings_are_found_and_said(folder: Any, encoding: str) -> None:
    file = written(lines("Tag,Größe", *ROWS), encoding=encoding)
    answer = forecast_file(file, 7)
    is_right(answer, "Größe")
    assert (ENCODED[encoding] or "data") in answer.said and answer.made.columns[0] == "Tag"


@pytest.mark.parametrize(
    ("encoding", "head"),
    [("cp932", "日,売上"), ("cp1251", "день,продажи"), ("cp1250", "den,útržek")],
)
def test_3_an_encoding_that_was_guessed_is_said_with_its_option(
    folder: Any, encoding: str, head: str
) -> None:
    file = written(lines(head, *ROWS), encoding=encoding)
    assert "--encoding" in forecast_file(file, 7).said
    is_right(forecast_file(file, 7, "--encoding", encoding), head.split(",")[1])


def test_3_an_encoding_that_is_none(folder: Any) -> None:
    file = written(lines("Tag,Größe", *ROWS))
    assert forecast_file(file, 7, "--encoding", "klingon").code == 2
    answer = forecast_file(file, 7, "--encoding", "ascii")
    assert answer.code == 1 and "line 1" in answer.said


LAYOUTS = {
    "one line of preamble": ((), ["Report of 2023", "", HEAD, *ROWS], "before the header"),
    "a preamble with commas": ((), ["Report,of,2023", HEAD, *ROWS], "before the header"),
    "names and values before it": (
        (),
        ["Station,Nord", "From,2023", HEAD, *ROWS],
        "before the header",
    ),
    "a preamble that is said": (("--skip-rows", 2), ["Report", "", HEAD, *ROWS], ""),
    "comments": ((), ["# by hand", HEAD, *ROWS[:9], "# later", *ROWS[9:]], "comment"),
    "comments that are said": (
        ("--comment", "!"),
        ["! by hand", HEAD, *ROWS[:9], "! later", *ROWS[9:]],
        "comments are left out: 2",
    ),
    "units": ((), ["day,sold", ",m3/s", *ROWS], "m3/s"),
    "units in brackets": ((), ["day,sold", "(day),(m3/s)", *ROWS], "units"),
    "units with a format": ((), ["day,sold", "yyyy-mm-dd,m3/s", *ROWS], "units"),
    "sep=": ((), ["sep=;", *(row.replace(",", ";") for row in (HEAD, *ROWS))], ""),
    "a total": ((), [HEAD, *ROWS, f"Total,{TOTAL}"], "line 86 is a total"),
    "a total in German": ((), [HEAD, *ROWS, "", f"Gesamt:,{TOTAL}"], "is a total"),
    "a mean": ((), [HEAD, *ROWS, "Average,1060"], "line 86"),
    "the header again": ((), [HEAD, *ROWS[:30], HEAD, *ROWS[30:]], "line 32 repeats the header"),
    "the header twice": ((), [HEAD, HEAD, *ROWS], "repeats the header"),
    "commas at the ends": ((), [f"{HEAD},", *(f"{row}," for row in ROWS)], ""),
    "no line end": ((), [f"{HEAD}\r", *(f"{row}\r" for row in ROWS)], ""),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_3_rows_that_are_none_of_the_table(folder: Any, name: str) -> None:
    options, rows, said = LAYOUTS[name]
    answer = forecast_file(written(lines(*rows)), 7, *options)
    is_right(answer)
    assert said in answer.said and ("note: " in answer.said) == bool(said)


def test_3_without_a_header_no_row_is_lost(folder: Any) -> None:
    file = written(lines(*ROWS))
    answer = forecast_file(file, 7)
    assert "no header in line 1" in answer.said and "84 rows" in answer.said
    is_right(answer, "column 2")
    said = forecast_file(file, 7, "--no-header")
    is_right(said, "column 2")
    assert "note: " not in said.said
    numbers = forecast_file(written(lines(*map(str, SOLD))), 7)
    assert numbers.made["column 1"].tolist() == LEVELS and "no header" in numbers.said


BROKEN = {
    "a row too long": ([HEAD, *ROWS[:5], ROWS[5] + ",7", *ROWS[6:]], "line 7"),
    "a row too short": ([HEAD, *ROWS[:5], "2023-01-07", *ROWS[6:]], "line 7"),
    "a quote that stays open": ([HEAD, *ROWS[:5], '2023-01-07,"12', *ROWS[6:]], "line 7"),
    "a source at the end": ([HEAD, *ROWS, "Source: office"], "line 86"),
    "a sum without a name": ([HEAD, *ROWS, f",{TOTAL}"], "row 84"),
    "a page of the web": (["<!DOCTYPE html><html><body>Not found</body></html>"], "HTML"),
    "nothing": ([""], "empty"),
    "names alone": ([HEAD], "no rows"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_3_what_is_no_table_is_refused_by_its_line(folder: Any, name: str) -> None:
    rows, said = BROKEN[name]
    file = written(lines(*rows))
    answer = forecast_file(file, 7)
    assert answer.code == 1 and answer.made is None and said in answer.said, answer.said
    assert "tokenizing" not in answer.said
    no_python(answer)
    checked = run("check", file)
    assert checked.code == 2 and said in checked.said


@pytest.mark.parametrize(
    "rows",
    [
        [HEAD, *ROWS[:40], *ROWS[39:]],  # a stamp twice
        [HEAD, *ROWS[:40], ROWS[40].replace("-11", "-31"), *ROWS[41:]],
        ["a,b", *(f"x{n},y" for n in range(9))],
        [f"{HEAD},kind", *(f"{row},{'ab'[n % 2]}" for n, row in enumerate(ROWS))],
        [HEAD, *ROWS[:7]],
    ],
    ids=["stamp twice", "no such day", "no number", "text beside", "too short"],
)
@pytest.mark.parametrize("model", ["seasonal-naive", "linear"])
def test_3_errors_advise_options(folder: Any, rows: list[str], model: str) -> None:
    no_python(forecast_file(written(lines(*rows)), 30, "--model", model, "--no-plot"))


def test_3_known_without_a_future_advises_an_option(folder: Any) -> None:
    file = written(lines(f"{HEAD},plan", *(f"{row},1" for row in ROWS)))
    options = ("--known", "plan", "--target", "sold", "--model", "linear", "--no-plot")
    answer = forecast_file(file, 3, *options)
    assert answer.made is None and "--future" in answer.said
    no_python(answer)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437"])
def test_3_a_console_without_the_letters(folder: Any, encoding: str) -> None:
    file = written(lines("日,売上", *ROWS))
    done = subprocess.run(
        [sys.executable, "-m", "tsformer", "forecast", file, "-n", "7", "--model", "drift"],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert pd.read_csv("forecast.csv").columns.tolist()[:2] == ["日", "売上"]


def test_3_excel(folder: Any) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["day", "sold"])
    for day, value in zip(DAYS, SOLD, strict=True):
        book.active.append([day.to_pydatetime(), int(value)])
    book.save("sales.xlsx")
    is_right(forecast_file("sales.xlsx", 7))
    asked = forecast_file("sales.xlsx", 7, "--sheet", "none")
    assert asked.code == 2 and "Sheet" in asked.said


def test_3_excel_without_its_extra(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sales.xlsx").write_bytes(b"PK\3\4")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    answer = forecast_file("sales.xlsx", 7)
    assert answer.code == 1 and "tsformer[excel]" in answer.said


@pytest.mark.parametrize("name", ["sales.xls", "sales.ods", "sales.html", "sales"])
def test_3_other_kinds_are_named(folder: Any, name: str) -> None:
    Path(name).write_bytes(b"\xd0\xcf\x11\xe0" + bytes(2000))
    answer = forecast_file(name, 7)
    assert answer.code == 2 and ".xlsx" in answer.said


@pytest.mark.parametrize("name", ["sales.jsonl", "sales.ndjson", "sales.json"])
def test_3_json_lines(folder: Any, name: str) -> None:
    frame = pd.DataFrame({"day": DAYS.strftime("%Y-%m-%d"), "sold": SOLD})
    frame.to_json(name, orient="records", lines=name != "sales.json")
    is_right(forecast_file(name, 7))
    Path(name).write_text(Path(name).read_text()[:-9])
    broken = forecast_file(name, 7)
    assert broken.code == 1 and ("line 84" in broken.said or "JSON" in broken.said)


WIDE = {
    "days": (DAYS, "%Y-%m-%d", "2023-03-27", 7),
    "days, month first": (DAYS, "%m/%d/%Y", "2023-03-27", 7),
    "German days": (DAYS, "%d.%m.%Y", "2023-03-27", 7),
    "months": (pd.date_range("2019-01-01", periods=48, freq="MS"), "%Y-%m", "2023-01", 12),
    "named months": (pd.date_range("2019-01-01", periods=48, freq="MS"), "%b %Y", "2023-01", 12),
    "months first": (pd.date_range("2019-01-01", periods=48, freq="MS"), "%m/%Y", "2023-01", 12),
    "years": (pd.date_range("1970-01-01", periods=48, freq="YS"), "%Y", "2018", 1),
}


@pytest.mark.parametrize("many", [1, 9])
@pytest.mark.parametrize("name", WIDE)
def test_3_dates_as_columns_are_made_long(folder: Any, name: str, many: int) -> None:
    stamps, form, first, season = WIDE[name]
    pattern = np.resize(np.arange(season) + 5.0, len(stamps) + season)
    names = [f"shop {number:02}" for number in range(many)]
    heads = ",".join(["shop", *stamps.strftime(form)])
    cells = ",".join(map(str, pattern[: len(stamps)]))
    file = written(lines(heads, *(f"{shop},{cells}" for shop in names)))
    answer = forecast_file(file, season)
    assert answer.made is not None, answer.said
    assert "columns are dates" in answer.said
    assert answer.made["value"].tolist() == pattern[len(stamps) :].tolist() * many
    assert str(answer.made["date"].iloc[0]).startswith(first)
    assert many == 1 or answer.made["shop"].tolist() == sorted(names * season)


def test_3_two_names_beside_dates_as_columns(folder: Any) -> None:
    heads = ",".join(["country", "code", *map(str, range(1970, 2018))])
    cells = ",".join(["7"] * 48)
    answer = forecast_file(written(lines(heads, *(f"c{n},{n},{cells}" for n in range(5)))), 2)
    assert answer.made is not None and answer.made["value"].tolist() == [7.0] * 10
    assert "columns are dates" in answer.said


def test_3_every_error_is_of_the_tree(folder: Any) -> None:
    for text in (lines(*BROKEN["a row too long"][0]), lines(*BROKEN["nothing"][0])):
        assert isinstance(forecast_file(written(text), 7).error, TsformerError)
