"""JSON records, one a line or in a list, as a frame."""

import json
from typing import TYPE_CHECKING, Any

from tsformer.errors import EmptyFrame, FrameError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_records"]


def read_records(text: str, name: str, *, lines: bool) -> "pd.DataFrame":
    """Read records; a list that stands under the only key of an object is taken, too.

    Raises
    ------
    FrameError
        If a line is not a record, by its number.
    """
    import pandas as pd

    rows = _of_lines(text, name) if lines else _of_document(text, name)
    if not rows:
        raise EmptyFrame(f"{name} is empty.")
    wrong = next((place for place, row in enumerate(rows, 1) if not isinstance(row, dict)), None)
    if wrong is not None:
        raise FrameError(f"{name}: record {wrong} is {rows[wrong - 1]!r}, not names and values.")
    return pd.DataFrame(rows)


def _of_lines(text: str, name: str) -> list[Any]:
    rows = []
    for line, one in enumerate(text.split("\n"), 1):
        if one.strip():
            try:
                rows.append(json.loads(one))
            except ValueError as problem:
                raise FrameError(f"{name}, line {line} is not JSON: {problem}.") from problem
    return rows


def _of_document(text: str, name: str) -> list[Any]:
    try:
        held = json.loads(text)
    except ValueError as problem:
        try:
            return _of_lines(text, name)
        except FrameError:
            raise FrameError(f"{name} is not JSON: {problem}.") from problem
    if isinstance(held, dict) and len(held) == 1:
        held = next(iter(held.values()))
    if not isinstance(held, list):
        raise FrameError(f"{name} holds no list of records.")
    return held
