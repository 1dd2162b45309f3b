"""Files as people write them: each forecasts its pattern, or is refused with a cure."""

import itertools
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Run = Any

DAYS = pd.date_range("2023-01-02", periods=84)
LEVELS = np.array([900.0, 940, 1_010, 1_250, 1_330, 2_400, 3_100])
SOLD = np.tile(LEVELS, 12)
COMMON = ("-n", 7, "--model", "seasonal-naive", "--no-plot", "--quantiles", "")

Mark = Callable[[float], str]


def grouped(mark: str, decimals: int = 0, decimal: str = ".") -> Mark:
    """Numbers with this mark between thousands."""

    def write(value: float) -> str:
        text = f"{value:,.{decimals}f}"
        return text.replace(",", "T").replace(".", decimal).replace("T", mark)

    return write


MARKS: dict[str, Mark] = {
    "plain": lambda value: f"{value:.0f}",
    "decimals": lambda value: f"{value:.1f}",
    "decimal comma": grouped("", 1, ","),
    "thousands dot": grouped("."),
    "thousands comma": grouped(","),
    "both German": grouped(".", 2, ","),
    "both English": grouped(",", 2),
    "blank": grouped(" "),
    "thin space": grouped("\u202f"),
    "no-break space": grouped("\u00a0", 2, ","),
    "apostrophe": grouped("'"),
    "dollars": lambda value: f"${value:,.2f}",
    "euros": lambda value: grouped(".", 2, ",")(value) + " €",
    "percent": lambda value: f"{value:.0f}%",
    "exponent": lambda value: f"{value:.6e}",
}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
SEPARATORS = (",", ";", "\t", "|")
FILES = [
    (mark, separator, "utf-8" if mark == "thin space" else ENCODINGS[place % 4])
    for place, (mark, separator) in enumerate(itertools.product(MARKS, SEPARATORS))
]


def written(name: str, mark: Mark, separator: str, encoding: str) -> Path:
    """A file of twelve weeks, each value in quotes where it holds the separator."""
    cells = [mark(value) for value in SOLD]
    quoted = [f'"{cell}"' if separator in cell else cell for cell in cells]
    lines = [f"Tag{separator}Größe"]
    lines += [f"{day:%Y-%m-%d}{separator}{cell}" for day, cell in zip(DAYS, quoted, strict=True)]
    text = "\n".join(lines) + "\n"
    path = Path(name)
    path.write_bytes(text.encode(encoding))
    return path


def options(said: str) -> list[str]:
    """The first option that an error offers."""
    found = re.search(r'(--[a-z-]+ (?:"[^"]*"|\S+))', said)
    return shlex.split(found[1]) if found else []


def check_forecast(column: str = "Größe") -> None:
    made = pd.read_csv("forecast.csv")
    np.testing.assert_allclose(made[column].to_numpy(), LEVELS, rtol=0.1)
    assert made.iloc[0, 0] == "2023-03-27"


@pytest.mark.parametrize(("mark", "separator", "encoding"), FILES)
def test_spellings_separators_encodings_and_marks(
    run: Run, tmp_path: Path, mark: str, separator: str, encoding: str
) -> None:
    file = written("sales.csv", MARKS[mark], separator, encoding)
    done = run("forecast", file, *COMMON)
    if done.code:
        cure = options(done.err)
        assert done.code in (1, 2) and cure, done.err
        done = run("forecast", file, *COMMON, *cure)
    assert done.code == 0, done.err
    check_forecast()
    plain = mark in ("plain", "decimals", "exponent") and separator == ","
    assert plain <= (encoding.startswith("utf-8") == (done.err == ""))


ROWS = [f"{day:%Y-%m-%d},{value:.0f}" for day, value in zip(DAYS, SOLD, strict=True)]
HEAD = "day,sold"
LAYOUTS = {
    "preamble": (["Sales of shop 3", "made on Monday", "", HEAD, *ROWS], "before the header"),
    "comments": (["# by hand", HEAD, *ROWS[:9], "# later", *ROWS[9:]], "comment"),
    "units": (["day,sold", ",pieces", *ROWS], "units"),
    "sep": (["sep=;", *(row.replace(",", ";") for row in [HEAD, *ROWS])], ""),
    "total": ([HEAD, *ROWS, "Total,123456"], "total"),
    "sum": ([HEAD, *ROWS, "", "Summe:,123456"], "total"),
    "repeated header": ([HEAD, *ROWS[:30], HEAD, *ROWS[30:]], "repeats the header"),
    "trailing separators": ([HEAD + ",", *(row + "," for row in ROWS)], ""),
    "blank lines": ([HEAD, *(line for row in ROWS for line in (row, ""))], ""),
    "blanks": ([row.replace(",", "  ") for row in [HEAD, *ROWS]], "blanks"),
    "empty values": ([HEAD, *ROWS[:20], ROWS[20].split(",")[0] + ",-", *ROWS[21:]], "empty"),
    "dates as columns": (
        [
            ",".join(["shop", *(f"{day:%Y-%m-%d}" for day in DAYS)]),
            "north," + ",".join(f"{value:.0f}" for value in SOLD),
        ],
        "columns are dates",
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_that_are_none_of_the_table(run: Run, layout: str) -> None:
    lines, said = LAYOUTS[layout]
    Path("sales.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run("forecast", "sales.csv", *COMMON)
    assert done.code == 0, done.err
    assert said in done.err and ("note: " in done.err) == bool(said)
    check_forecast("value" if layout == "dates as columns" else "sold")


def test_without_a_header_the_first_row_is_not_lost(run: Run) -> None:
    Path("sales.csv").write_text("\n".join(ROWS), encoding="utf-8")
    done = run("forecast", "sales.csv", *COMMON)
    assert done.code == 0 and "no header" in done.err and "84 rows" in done.out
    check_forecast("column 2")
    assert run("forecast", "sales.csv", *COMMON, "--no-header").err == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (HEAD, "no rows"),
        ("\n".join([HEAD, *ROWS[:9], ROWS[9] + ",5", *ROWS[10:]]), "line 11: 3 values"),
        ("\n".join([HEAD, *ROWS[:9], "2023-01-11", *ROWS[10:]]), "line 11: 1 values"),
        ("\n".join([HEAD, ROWS[0].replace(",", ',"'), *ROWS[1:]]), "line 2: a quote"),
        ("\n".join([HEAD + ",sold", *(row + ",1" for row in ROWS)]), "two columns"),
        ("\0\1\2" * 500, "not text"),
        ("\n".join([HEAD, *ROWS[:9], "2023-01-11,closed", *ROWS[10:]]), '--na "closed"'),
    ],
)
def test_what_is_no_table_is_refused_by_its_line(run: Run, text: str, said: str) -> None:
    Path("sales.csv").write_text(text, encoding="utf-8")
    done = run("forecast", "sales.csv", *COMMON)
    assert done.code == 1 and said in done.err and done.err.count("\n") == 1
    checked = run("check", "sales.csv")
    assert checked.code == 2 and said in checked.out


def test_a_word_among_numbers_is_empty_where_that_is_said(run: Run) -> None:
    lines = [HEAD, *ROWS[:9], "2023-01-11,closed", *ROWS[10:]]
    Path("sales.csv").write_text("\n".join(lines), encoding="utf-8")
    done = run("forecast", "sales.csv", *COMMON, "--na", "closed")
    assert done.code == 0 and "no value in 1 of 84 rows" in done.err
    check_forecast("sold")


@pytest.mark.parametrize("mark", [".", ","])
def test_three_decimals_or_thousands_are_asked_for(run: Run, mark: str) -> None:
    three = grouped("", 3, mark)
    file = written("sales.csv", lambda value: three(value / 100 + 1), ";", "utf-8")
    asked = run("forecast", file, *COMMON)
    assert asked.code == 1
    assert f'--thousands "{mark}"' in asked.err and f'--decimal "{mark}"' in asked.err
    for option, factor in (("--thousands", 1000), ("--decimal", 1)):
        assert run("forecast", file, *COMMON, option, mark).code == 0
        made = pd.read_csv("forecast.csv")["Größe"]
        np.testing.assert_allclose(made, (LEVELS / 100 + 1) * factor)


def test_a_code_for_missing_values_is_repeated_by_forecast(run: Run) -> None:
    lines = [HEAD, *ROWS[:9], "2023-01-11,-9999", *ROWS[10:]]
    Path("sales.csv").write_text("\n".join(lines), encoding="utf-8")
    done = run("forecast", "sales.csv", *COMMON)
    assert done.code == 0 and "-9999 in 1 rows" in done.err and "--na -9999" in done.err
    assert "frame[" not in done.err
    cured = run("forecast", "sales.csv", *COMMON, "--na", "-9999", "--missing", "mask")
    assert cured.code == 0 and "9999" not in cured.err
    check_forecast("sold")


def test_rows_that_seem_to_be_series_are_said_by_both(run: Run) -> None:
    wide = pd.DataFrame(np.tile(SOLD[:9], (30, 1)), columns=[f"V{step}" for step in range(9)])
    wide.insert(0, "shop", [f"shop {number}" for number in range(30)])
    wide.to_csv("sales.csv", index=False)
    said = "column 'shop' names each of the 30 rows"
    checked = run("check", "sales.csv")
    assert checked.code == 2 and said in checked.out
    refused = run("forecast", "sales.csv", *COMMON)
    assert refused.code == 1 and said in refused.err


@pytest.mark.parametrize("ending", ["tsv", "txt", "dat", "psv"])
def test_names_of_text_files(run: Run, ending: str) -> None:
    file = written(f"sales.{ending}", MARKS["plain"], "\t", "utf-8")
    assert run("forecast", file, *COMMON).code == 0
    check_forecast()


def test_negative_in_brackets_and_letters_of_latin_1(run: Run) -> None:
    lines = ["Größe\x81,sold", *ROWS[:83], f"{DAYS[83]:%Y-%m-%d},(9)"]
    Path("sales.csv").write_bytes("\n".join(lines).encode("latin-1"))
    done = run("forecast", "sales.csv", *COMMON)
    assert done.code == 0 and "read as latin-1" in done.err and "'(9)' is read as -9" in done.err
    assert pd.read_csv("forecast.csv")["sold"].iloc[-1] == -9


def test_excel(run: Run) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["read the other sheet"])
    sheet = book.create_sheet("Sales")
    sheet.append(["Report"])
    sheet.append(["day", "sold"])
    for day, value in zip(DAYS, SOLD, strict=True):
        sheet.append([day.to_pydatetime(), value])
    book.save("sales.xlsx")
    done = run("forecast", "sales.xlsx", *COMMON, "--sheet", "Sales")
    assert done.code == 0 and "before the header" in done.err, done.err
    check_forecast("sold")
    absent = run("forecast", "sales.xlsx", *COMMON, "--sheet", "Sold")
    assert absent.code == 2 and "Sales" in absent.err


@pytest.mark.parametrize("name", ["sales.jsonl", "sales.ndjson", "sales.json", "sales.jsonl.gz"])
def test_json_records(run: Run, name: str) -> None:
    frame = pd.DataFrame({"day": DAYS.strftime("%Y-%m-%d"), "sold": SOLD})
    frame.to_json(name, orient="records", lines=name[-5:] != ".json")
    assert run("forecast", name, *COMMON).code == 0
    check_forecast("sold")


def test_a_line_of_json_ends_at_its_line_feed(run: Run) -> None:
    lines = [
        f'{{"day": "{day:%Y-%m-%d}", "sold": {value:.0f}, "said": "a\u2028b"}}'
        for day, value in zip(DAYS, SOLD, strict=True)
    ]
    Path("sales.jsonl").write_text("\r\n".join(lines), encoding="utf-8")
    assert run("forecast", "sales.jsonl", *COMMON, "--target", "sold").code == 0
    check_forecast("sold")


def test_a_line_that_is_not_json_is_named(run: Run) -> None:
    Path("sales.jsonl").write_text('{"day": "2024-01-01", "sold": 3}\n{"day": \n')
    done = run("forecast", "sales.jsonl", *COMMON)
    assert done.code == 1 and "line 2" in done.err


@pytest.mark.parametrize("packed", ["gz", "bz2", "xz", "zip"])
def test_packed_files(run: Run, packed: str) -> None:
    frame = pd.DataFrame({"day": DAYS, "sold": SOLD})
    frame.to_csv(f"sales.csv.{packed}", index=False)
    assert run("forecast", f"sales.csv.{packed}", *COMMON).code == 0
    check_forecast("sold")
    Path(f"broken.csv.{packed}").write_bytes(b"no such thing")
    done = run("forecast", f"broken.csv.{packed}", *COMMON)
    assert done.code == 1 and "cannot be unpacked" in done.err


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--time-format", "%s"), (0, 1, 2), ""),
        (("--time-format", "%YQ%q"), (1, 2), "--time-format"),
        (("--time-format", "%G-W%V"), (1, 2), "--time-format"),
        (("--encoding", "klingon"), (2,), "no such encoding"),
        (("--encoding", "ascii"), (1,), "line 1"),
    ],
)
def test_no_option_ends_as_a_defect(
    run: Run, given: tuple[str, ...], code: tuple[int, ...], said: str
) -> None:
    file = written("sales.csv", MARKS["plain"], ",", "utf-8")
    done = run("forecast", file, *COMMON, *given)
    assert done.code in code and said in done.err
