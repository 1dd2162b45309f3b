"""A file of text, JSON or Excel as a frame: what its cells mean is found, and said."""

from pathlib import Path
from typing import TYPE_CHECKING

from tsformer.cli.decoding import decoded, unpacked
from tsformer.cli.dialect import TextTable, find_separator, find_table, read_rows
from tsformer.cli.melting import melted
from tsformer.cli.numbers import EMPTY_TEXT, Marks, as_numbers, find_marks, in_groups
from tsformer.cli.records import read_records
from tsformer.cli.workbooks import read_workbook
from tsformer.cures import Cure
from tsformer.errors import DuplicateColumn, FrameError, WrongType

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.cli.options import Format

__all__ = ["READ_AS_TEXT", "read_text_table", "typed_column"]

_TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat", ".psv")
_RECORDS = (".json", ".jsonl", ".ndjson")
_BOOKS = (".xlsx", ".xlsm")
READ_AS_TEXT = (*_TEXT, *_RECORDS, *_BOOKS)
_SAMPLE = 2000
_MOSTLY = 0.8  # of a column are numbers: the others are then slips, not names


def read_text_table(path: Path, kind: str, form: "Format") -> "tuple[pd.DataFrame, list[str]]":
    """Read a file; the frame, and a sentence for each thing a plain CSV file has not.

    Raises
    ------
    FrameError
        If it is no table, by line, or a column can be read in two ways.
    """
    if kind in _BOOKS:
        sheet, numbered = read_workbook(path, form.sheet)
        notes = [] if sheet is None else [f"sheet {sheet!r} is read; --sheet names another"]
        table = find_table(
            numbered, path.name, "", notes, skip_rows=form.skip_rows, no_header=form.no_header
        )
        return _typed(table, path.name, form, decimal="."), table.notes
    text, encoding = decoded(unpacked(path), path.name, form.encoding)
    if kind in _RECORDS:
        return read_records(text, path.name, lines=kind != ".json"), []
    table = read_rows(
        text,
        path.name,
        separator="\t" if form.separator in ("\\t", "tab") else form.separator,
        skip_rows=form.skip_rows,
        comment=form.comment,
        no_header=form.no_header,
    )
    _refuse_unseparated(table, text, path.name)
    if kind in (".tsv", ".tab") and table.separator == "\t":
        table.notes = [one for one in table.notes if not one.endswith("by tabs")]
    if encoding is not None:
        table.notes.insert(0, f"read as {encoding}; --encoding says another")
    return _typed(table, path.name, form, decimal=form.decimal), table.notes


def typed_column(
    values: "pd.Series", table: TextTable, form: "Format", *, decimal: str | None
) -> "tuple[pd.Series, str]":
    """A column of text as numbers, truth values or text, and what was said of it."""
    import pandas as pd

    given = frozenset(form.na or ())
    empty = (values == "") | values.isin(given)
    held = values[~empty]
    if held.empty:
        return pd.Series(float("nan"), index=values.index), ""
    text = values.mask(empty | values.isin(EMPTY_TEXT))
    if set(held.unique()[:3]) <= {"True", "False", "TRUE", "FALSE"} and not empty.any():
        return values.str.lower() == "true", ""
    plain = _plain_numbers(text)
    if plain is not None and not _may_be_grouped(held, table.separator, form, decimal):
        return _without_codes(plain, given), ""
    sample = held.iloc[:: -(-len(held) // _SAMPLE)]
    if not _are_mostly_numbers(sample, given):
        return text, ""
    marks = find_marks(
        [one for one in held if any(map(str.isdigit, one))],
        column=str(values.name),
        separator=table.separator,
        decimal=decimal,
        thousands=form.thousands,
    )
    numbers, bad = as_numbers(values, marks, given)
    numbers = _without_codes(numbers, given)
    if bad.sum() > (1 - _MOSTLY) * len(held):
        return text, ""
    if bad.any():
        _refuse(str(values.name), values, bad, table)
    return numbers, _said(str(values.name), values, numbers, given, marks.said)


def _without_codes(numbers: "pd.Series", given: frozenset[str]) -> "pd.Series":
    """Numbers without those that stand for an empty value, however they are written."""
    import pandas as pd

    codes = pd.to_numeric(pd.Series(sorted(given), dtype="object"), errors="coerce").dropna()
    coded = numbers.isin(codes)
    return numbers.mask(coded) if coded.any() else numbers


def _plain_numbers(text: "pd.Series") -> "pd.Series | None":
    """The column as pandas reads it, or None where a value is no plain number."""
    import pandas as pd

    try:
        return pd.to_numeric(text.astype("object"))
    except (ValueError, TypeError):
        return None


def _may_be_grouped(held: "pd.Series", separator: str, form: "Format", decimal: str | None) -> bool:
    """Whether dots in plain numbers may stand between thousands."""
    if decimal == ".":
        return False
    if form.thousands == "." or decimal is not None:
        return True
    dotted = held[held.str.contains(".", regex=False)]
    return len(dotted) > 0 and all(in_groups(one, ".") for one in dotted)


def _are_mostly_numbers(sample: "pd.Series", given: frozenset[str]) -> bool:
    """Whether most values are numbers whatever their marks are."""
    bare = sample.str.replace(r"(?<=\d)[.,'\u2019\s](?=\d)", "", regex=True)
    dates = sample.str.fullmatch(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}.*") & ~sample.map(
        lambda one: in_groups(one, ".")
    )
    numbers, bad = as_numbers(bare, Marks(), given)
    good = int((numbers.notna() & ~dates).sum())
    return good > 0 and good >= _MOSTLY * (good + int((bad | dates).sum()))


def _refuse_unseparated(table: TextTable, text: str, name: str) -> None:
    """Refuse a mark that was given and separates nothing where another one does."""
    found = find_separator(text)
    if len(table.names) == 1 and found in table.names[0].strip() and found != table.separator:
        raise FrameError(
            f"{name}: {table.separator!r} separates nothing.",
            Cure("Leave it to be found, or say the right one", option=f'--separator "{found}"'),
        )


def _refuse(column: str, values: "pd.Series", bad: "pd.Series", table: TextTable) -> None:
    place = int(bad.to_numpy().argmax())
    text = values.iloc[place]
    others = sorted(set(values[bad]))[:3]
    option = " ".join(f'--na "{one}"' for one in others)
    raise WrongType(
        f"column {column!r} holds {text!r} in line {table.lines[place]}, which is no number as the"
        f" others are (rows like it: {int(bad.sum())}).",
        Cure("Correct it, or take it as an empty value", option=option),
    )


def _said(
    column: str, text: "pd.Series", numbers: "pd.Series", given: frozenset[str], marks: str
) -> str:
    """What was read otherwise than as it stands, in one sentence; empty for plain numbers."""
    said = [marks] if marks else []
    held = text[numbers.notna()]
    odd = held[held.str.contains(r"[^\d.,eE+\-]|\d-$")]
    if len(odd):
        said.append(f"{odd.iloc[0]!r} is read as {numbers[odd.index[0]]:.10g}")
    empty = text[numbers.isna() & (text != "") & ~text.isin(EMPTY_TEXT) & ~text.isin(given)]
    if len(empty):
        said.append(f"{empty.iloc[0]!r} is taken as empty (rows: {len(empty)})")
    return f"in column {column!r} {', '.join(said)}" if said else ""


def _typed(table: TextTable, name: str, form: "Format", *, decimal: str | None) -> "pd.DataFrame":
    """The frame of a table, its columns as what they hold; an empty column is left out."""
    import pandas as pd

    columns = {}
    for place, given in enumerate(table.names):
        cells = pd.Series([row[place] for row in table.rows], dtype="str", name=given)
        if not given and (cells == "").all():
            continue
        label = given or f"Unnamed: {place}"
        if label in columns:
            raise DuplicateColumn(f"{name}: two columns are called {label!r}; rename one.")
        column, said = typed_column(cells.rename(label), table, form, decimal=decimal)
        if not given and place == 0 and column.tolist() == list(range(len(column))):
            said = "the first column has no name and counts the rows: left out"
        else:
            columns[label] = column
        table.notes += [said] if said else []
    frame, said = melted(pd.DataFrame(columns))
    table.notes += [said] if said else []
    return frame
