"""Pages of results as Markdown: tables a person reads, and the record of a script as a page."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["markdown_table", "write_page"]

_ROWS = 30
"""Rows of a table that a page shows."""
_COLUMNS = 14
"""Columns beyond which a table with fewer rows is turned on its side."""
_LONGEST = 120
"""Letters of a fact that a page shows."""


def markdown_table(table: pd.DataFrame) -> str:
    """Text of a table; the first column to the left, the others to the right.

    Examples
    --------
    >>> print(markdown_table(pd.DataFrame({"model": ["Linear"], "mae": ["0.5"]})))
    | model | mae |
    |---|--:|
    | Linear | 0.5 |
    """
    head = "| " + " | ".join(map(str, table.columns)) + " |"
    rule = "|" + "|".join("---" if at == 0 else "--:" for at in range(table.shape[1])) + "|"
    rows = ["| " + " | ".join(map(str, row)) + " |" for row in table.to_numpy().tolist()]
    return "\n".join([head, rule, *rows])


def write_page(record: str | Path) -> Path:
    """Write the page of a script's stored result beside it: question, tables, where from.

    Parameters
    ----------
    record
        The ``.json`` file that ``store_result`` wrote; a picture of the same name is shown.

    Returns
    -------
    Path
        The page, ``.md``.
    """
    record = Path(record)
    held = json.loads(record.read_text(encoding="utf-8"))
    parts = [f"# {record.stem}", held["question"]]
    for name, rows in held["tables"].items():
        parts += [f"## {name}", *_table(rows, record.name)]
    picture = record.with_suffix(".png")
    if picture.exists():
        parts.append(f"![{record.stem}]({picture.name})")
    facts = [f"- {name}: {_fact(value)}" for name, value in held["facts"].items()]
    parts += ["## Beside", "\n".join(facts)] if facts else []
    versions = ", ".join(f"{name} {one}" for name, one in held["versions"].items())
    seeds = ", ".join(map(str, held["seeds"]))
    lines = [
        f"- `{held['command']}`, {held['seconds']:,.0f} s, seeds {seeds}; all digits are in "
        f"[{record.name}]({record.name})",
        f"- {versions}",
    ]
    parts += ["## Where this comes from", "\n".join(lines)]
    page = record.with_suffix(".md")
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def _table(rows: Sequence[Mapping[str, Any]], source: str) -> list[str]:
    shown = pd.DataFrame([{name: _shown(value) for name, value in row.items()} for row in rows])
    shown = shown.fillna("-")
    if shown.shape[1] > max(_COLUMNS, len(shown)):  # a column a row: narrow enough to read
        first = shown.columns[0]
        shown = shown.set_index(first).T.rename_axis(first).reset_index()
        return [markdown_table(shown)]
    parts = [markdown_table(shown.head(_ROWS))]
    if len(rows) > _ROWS:
        parts.append(f"{len(rows) - _ROWS} more rows are in [{source}]({source}).")
    return parts


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        text = ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
    elif isinstance(value, list):
        text = ", ".join(map(_shown, value))
    else:
        text = _shown(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
