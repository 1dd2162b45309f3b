"""A sheet of an Excel file as rows of text."""

import datetime
from pathlib import Path
from typing import Any

from tsformer.cures import Cure
from tsformer.errors import FrameError, MissingDependency, ParameterError

__all__ = ["read_workbook"]


def read_workbook(path: Path, sheet: str | None) -> tuple[str | None, list[tuple[int, list[str]]]]:
    """Rows that are not empty, by their numbers; and the sheet's name where there was a choice.

    Raises
    ------
    MissingDependency
        If openpyxl is not installed.
    ParameterError
        If there is no such sheet.
    """
    try:
        from openpyxl import load_workbook
    except ImportError as problem:
        raise MissingDependency(
            "Excel files need openpyxl: pip install 'tsformer[excel]'"
        ) from problem
    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except Exception as problem:  # openpyxl raises whatever zip and XML raise
        raise FrameError(f"{path.name} cannot be read as Excel: {problem}") from problem
    try:
        names = book.sheetnames
        if sheet is not None and sheet not in names:
            raise ParameterError(
                f"--sheet {sheet}: {path.name} has the sheets {', '.join(names)}.",
                Cure("Name one", option=f'--sheet "{names[0]}"'),
            )
        rows = [
            (line, [_text(cell) for cell in row])
            for line, row in enumerate(book[sheet or names[0]].iter_rows(values_only=True), 1)
        ]
    finally:
        book.close()
    width = max((place + 1 for _, row in rows for place, one in enumerate(row) if one), default=0)
    filled = [(line, row[:width]) for line, row in rows if any(row)]
    return names[0] if sheet is None and len(names) > 1 else None, filled


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime):
        return cell.date().isoformat() if cell.time() == datetime.time() else cell.isoformat(" ")
    return repr(cell) if isinstance(cell, float) else str(cell).strip()
