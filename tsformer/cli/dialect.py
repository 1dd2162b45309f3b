"""What a text table is made of: separator, header, and rows that are none of the table's."""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field

from tsformer.cures import Cure
from tsformer.errors import EmptyFrame, FrameError

__all__ = ["TextTable", "find_separator", "find_table", "is_value", "read_rows"]

_SEPARATORS = (",", ";", "\t", "|")
_PREAMBLE = 30
_UNUSUAL = "^~:&*!#"
_MARKUP = re.compile(r"\s*<(?:!doctype|html|\?xml|table)\b", re.I)
_SAMPLE = 200
_LONGEST = 20  # lines of one value in quotes; more, and a quote was not closed
_VALUE = re.compile(
    r"[-+(]?[$€£¥]?\s?[-+]?[\d.,'\u00a0\u202f\u2009 ]*\d(?:e[-+]?\d+)?\s?[%€)]?", re.I
)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?(?:[T ]\d{1,2}:\d{2}.*)?")
_TOTAL = re.compile(r"(?:grand )?(?:total|sum|summe|gesamt|totale|average|mean)s?:?", re.I)


@dataclass
class TextTable:
    """Rows of text under their names, and what was said of the file.

    Attributes
    ----------
    lines
        Line of the file each row ends at, counted from 1.
    notes
        What was found that a plain table has not, a sentence each.
    """

    separator: str
    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    notes: list[str] = field(default_factory=list)


def is_value(text: str) -> bool:
    """Whether a cell is a number or a date, and so no name.

    Examples
    --------
    >>> [is_value(text) for text in ("1.000,5", "$900", "2024-01-01", "sales", "")]
    [True, True, True, False, False]
    """
    text = text.strip()
    return bool(_VALUE.fullmatch(text) or _DATE.fullmatch(text))


def find_separator(text: str) -> str:
    """The mark that cuts the first lines into the same number of cells.

    Examples
    --------
    >>> find_separator("day;sold" + chr(10) + "2024-01-01;1,5" + chr(10) + "2024-01-02;2,5")
    ';'
    """
    head = "\n".join(text.splitlines()[:_SAMPLE])
    first, best = (0.0, 0), ","
    for mark in _SEPARATORS:
        counts = Counter(len(row) for row in csv.reader(io.StringIO(head), delimiter=mark) if row)
        wide = {width: count for width, count in counts.items() if width > 1}
        if wide:
            width, count = max(wide.items(), key=lambda one: one[1])
            score = (round(count / sum(counts.values()), 1), width)
            # a decimal comma also cuts all lines but the header
            if score[0] > first[0] or (score[0] == first[0] and best == "," and mark in ";\t|"):
                first, best = score, mark
    return best if first[1] or not _is_spaced(head) else " "


def _refuse_unusual(text: str, name: str) -> None:
    """Ask where another mark stands equally often in every line, and none of the usual does."""
    lines = [line for line in text.splitlines()[:_SAMPLE] if line.strip()]
    for mark in _UNUSUAL:
        counts = {line.count(mark) for line in lines}
        if len(lines) > 2 and len(counts) == 1 and min(counts) > 0 and "," not in lines[0]:
            raise FrameError(
                f"{name}: no comma, semicolon, tab or bar separates values, but every line holds"
                f" {mark!r} {min(counts)} times.",
                Cure("If that separates them, say so", option=f'--separator "{mark}"'),
            )


def _is_spaced(head: str) -> bool:
    """Whether blanks cut every line, the header too, into the same number of cells."""
    widths = {len(line.split()) for line in head.splitlines() if line.strip()}
    return len(widths) == 1 and max(widths) > 1


def read_rows(
    text: str,
    name: str,
    *,
    separator: str | None = None,
    skip_rows: int | None = None,
    comment: str | None = None,
    no_header: bool = False,
) -> TextTable:
    """Cut a text into rows, without those that are none of the table's.

    Raises
    ------
    FrameError
        If a row has more cells than the table has columns, or a quote is never closed.
    """
    text = text.removeprefix("\ufeff")
    if _MARKUP.match(text):
        raise FrameError(f"{name} is a page of HTML or XML, not a table: download it again.")
    declared = re.match(r"sep=(.)\r?\n", text, re.I)
    if declared:
        text, separator = text[declared.end() :], separator or declared[1]
    start = 1 if declared else 0
    mark = separator or find_separator(text)
    if not separator and mark == ",":
        _refuse_unusual(text, name)
    notes = [] if separator or mark == "," else [f"values are separated by {_shown(mark)}"]
    numbered = _numbered(text, mark, name, start)
    return find_table(
        numbered, name, mark, notes, skip_rows=skip_rows, comment=comment, no_header=no_header
    )


def find_table(
    numbered: list[tuple[int, list[str]]],
    name: str,
    mark: str,
    notes: list[str],
    *,
    skip_rows: int | None = None,
    comment: str | None = None,
    no_header: bool = False,
) -> TextTable:
    """The table among rows that are numbered by their lines; what is left out is noted."""
    if skip_rows:
        numbered = [one for one in numbered if one[0] > skip_rows]
    if not numbered:
        raise EmptyFrame(f"{name} is empty.")
    numbered = _without_comments(numbered, comment, notes)
    width = Counter(len(row) for _, row in numbered).most_common(1)[0][0]
    numbered = _without_preamble(numbered, width, notes)
    first = [cell.strip() for cell in numbered[0][1]]
    if no_header or _is_headless(first):
        if not no_header:
            notes.append(f"no header in line {numbered[0][0]}: columns are named by their place")
        names = [f"column {place}" for place in range(1, width + 1)]
    else:
        names, numbered = first, numbered[1:]
        if len(names) == width - 1:  # as R writes row names
            names = ["", *names]
    if not numbered:
        raise EmptyFrame(f"{name} has a header and no rows.")
    kept = _of_the_table(numbered, names, name, notes)
    return TextTable(mark, names, [row for _, row in kept], [line for line, _ in kept], notes)


def _numbered(text: str, mark: str, name: str, start: int) -> list[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=True)
    opened = 0
    try:
        rows = []
        for row in reader:
            if reader.line_num > opened + _LONGEST:
                raise csv.Error("a quote that is not closed")
            opened = reader.line_num
            if any(row) and any(cell.strip() for cell in row):
                rows.append((reader.line_num + start, row))
        return rows
    except csv.Error as problem:
        raise FrameError(f"{name}, line {opened + start + 1}: {problem}.") from problem


def _shown(mark: str) -> str:
    return {"\t": "tabs", " ": "blanks"}.get(mark, repr(mark))


def _is_headless(cells: list[str]) -> bool:
    """Whether a first row holds values; whole numbers that count up are names all the same."""
    if not all(is_value(cell) for cell in cells):
        return False
    counts = [int(cell) if cell.isdigit() else None for cell in cells]
    return len(cells) < 2 or counts != [
        None if counts[0] is None else counts[0] + place for place in range(len(cells))
    ]


def _without_comments(
    numbered: list[tuple[int, list[str]]], comment: str | None, notes: list[str]
) -> list[tuple[int, list[str]]]:
    usual = Counter(len(row) for _, row in numbered).most_common(1)[0][0]
    said = [
        line
        for line, row in numbered
        if row[0].lstrip().startswith(comment or "#") and (comment or len(row) != usual)
    ]
    if said:
        notes.append(f"comments are left out: {len(said)}, the first in line {said[0]}")
    dropped = set(said)
    return [one for one in numbered if one[0] not in dropped]


def _without_preamble(
    numbered: list[tuple[int, list[str]]], width: int, notes: list[str]
) -> list[tuple[int, list[str]]]:
    """The rows from the first that is as wide as the table, and has more than one cell filled."""
    for place, (_, row) in enumerate(numbered):
        filled = sum(1 for cell in row if cell.strip())
        named = len(row) == width - 1 >= 2 and filled == len(row) and place == 0
        if (len(row) == width and (width == 1 or filled > 1)) or named:
            break
    else:
        place = 0
    place = _header_below(numbered, place)
    if place:
        lines = ", ".join(str(line) for line, _ in numbered[:place][:5])
        notes.append(f"what stands before the header is left out: line {lines}")
    return numbered[place:]


def _header_below(numbered: list[tuple[int, list[str]]], place: int) -> int:
    """Where the header is, if names and values as wide as the table stand before it."""
    sample = numbered[:: -(-len(numbered) // (10 * _SAMPLE))]
    usual = Counter(_kinds(row) for _, row in sample).most_common(1)[0][0]
    kinds = [_kinds(row) for _, row in numbered[: place + _PREAMBLE + 1]]
    if usual not in kinds:
        return place
    header = kinds.index(usual) - 1
    row = [cell.strip() for cell in numbered[header][1]] if header > place else []
    if not (row and any(usual) and all(row) and not any(kinds[header])):
        return place
    before = kinds[place:header]
    named = any(any(kind) for kind in before) and header - place < _PREAMBLE
    return header if named else place


def _kinds(row: list[str]) -> tuple[bool, ...]:
    """Which cells hold values."""
    return tuple(is_value(cell) for cell in row)


def _of_the_table(
    numbered: list[tuple[int, list[str]]], names: list[str], name: str, notes: list[str]
) -> list[tuple[int, list[str]]]:
    """Rows without units, totals and repeated headers; a ragged row is refused by its line."""
    width, kept = len(names), []
    for place, (line, row) in enumerate(numbered):
        cells = [cell.strip() for cell in row]
        if len(cells) > width and not any(cells[width:]):
            cells = cells[:width]
        last = place >= len(numbered) - 3
        if cells == names:
            notes.append(f"line {line} repeats the header and is left out")
        elif place == 0 and len(numbered) > 1 and _is_units(cells, numbered[1][1]):
            notes.append(
                f"line {line} holds units and is left out: {', '.join(filter(None, cells))}"
            )
        elif last and _is_total(cells, [row for _, row in numbered[: len(numbered) - 3]]):
            notes.append(f"line {line} is a total and is left out")
        elif len(cells) != width:
            raise FrameError(
                f"{name}, line {line}: {len(cells)} values where the header has {width} names.",
                Cure("Correct the line"),
                Cure("Or leave out what stands above", option=f"--skip-rows {line - 1}"),
                *_as_comment(row),
            )
        else:
            kept.append((line, cells))
    return kept


def _as_comment(row: list[str]) -> list[Cure]:
    """Leaving out the lines that begin as this one does, where that is with a mark."""
    mark = row[0].lstrip()[:1]
    if not mark or mark.isalnum() or mark in "-+.\"'":
        return []
    return [Cure("Or take it as a comment", option=f'--comment "{mark}"')]


def _is_total(cells: list[str], above: list[list[str]]) -> bool:
    """Whether the first word is one for totals, and none of the rows above is called so."""
    word = next(filter(None, cells), "")
    return bool(_TOTAL.fullmatch(word)) and all(word not in map(str.strip, row) for row in above)


def _is_units(cells: list[str], below: list[str]) -> bool:
    """Whether no cell is a value where the row below has values in the same columns."""
    pairs = [(cell, other) for cell, other in zip(cells, below, strict=False) if cell]
    return (
        bool(pairs)
        and all(not is_value(cell) and len(cell) < 20 and is_value(other) for cell, other in pairs)
        and (not cells[0] or not is_value(cells[0]))
    )
