"""What a script leaves behind: question, command, versions, tables and seconds."""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from tsformer import __version__
from tsformer.evaluation.pages import write_page

__all__ = ["store_result", "versions"]

_PACKAGES = ("torch", "pytorch-lightning", "optuna", "pandas", "numpy", "scikit-learn")


def store_result(
    script: str | Path,
    tables: Mapping[str, pd.DataFrame],
    *,
    question: str,
    quick: bool,
    seconds: float,
    seeds: Sequence[int] = (0,),
    facts: Mapping[str, Any] | None = None,
) -> Path:
    """Write ``results/<script>[-quick].json`` beside a script, and a page of it.

    Parameters
    ----------
    script
        The script: ``__file__``.
    tables
        Name, such as data and horizon, to table; numbers keep 15 digits, NaN becomes null.
    question
        What was asked, in one sentence.
    quick
        Whether this was the short run.
    seconds
        How long it took.
    seeds
        Seeds of the runs behind the tables.
    facts
        Whatever else a reader needs: best parameters, counts.

    Returns
    -------
    Path
        The file; the page has the same name with ``.md``.

    Examples
    --------
    >>> import tempfile
    >>> table = pd.DataFrame({"model": ["Linear"], "mae": [0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = store_result(
    ...         Path(folder) / "ask.py", {"toy": table}, question="Why?", quick=True, seconds=1.23
    ...     )
    ...     path.name, json.loads(path.read_text())["tables"]
    ('ask-quick.json', {'toy': [{'model': 'Linear', 'mae': 0.5}]})
    """
    script = Path(script)
    record = {
        "question": question,
        "command": f"python {script.parent.name}/{script.name}{' --quick' if quick else ''}",
        "versions": versions(),
        "seeds": list(seeds),
        "tables": {name: _records(table) for name, table in tables.items()},
        "facts": dict(facts or {}),
        "seconds": round(seconds, 1),
    }
    target = script.parent / "results" / f"{script.stem}{'-quick' if quick else ''}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    write_page(target)
    return target


def versions() -> dict[str, str]:
    """Versions of Python, of this library, and of what its numbers depend on."""
    return {
        "python": platform.python_version(),
        "tsformer": __version__,
        **{package: version(package) for package in _PACKAGES},
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    plain = table if isinstance(table.index, pd.RangeIndex) else table.reset_index()
    # 15 digits are the most pandas writes; NaN becomes null
    records: list[dict[str, Any]] = json.loads(plain.to_json(orient="records", double_precision=15))
    return records
