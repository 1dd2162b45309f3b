"""``Store``: a folder with one JSON file a cell, which several processes may fill together."""

import gzip
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from tsformer.experiments.experiment import Cell

__all__ = ["Store"]

_KEY = 12
"""Digits of the hash that a file's name shows."""


class Store:
    """Records of cells by the hash of their identity; in memory where no folder is given.

    A record is written whole or not at all. A cell that is being run is locked, and the lock
    goes with the process that holds it, however that ends.

    Examples
    --------
    >>> store = Store(None)
    >>> with store.claimed("a1") as mine:
    ...     store.write("a1", Cell("toy", 3, "naive", 0), {"scores": {"mae": 1.0}})
    >>> mine, store.read("a1")["scores"]
    (True, {'mae': 1.0})
    """

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[str, dict[str, Any]] = {}
        self._windows: dict[str, pd.DataFrame] = {}

    def read(self, key: str) -> dict[str, Any] | None:
        """The record of a cell, if there is one."""
        if self.folder is None:
            return self._memory.get(key)
        file = self._file(key)
        if file is None:
            return None
        record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return record

    def windows(self, key: str) -> pd.DataFrame | None:
        """The metrics of every window of a cell, if they were kept."""
        if self.folder is None:
            return self._windows.get(key)
        file = self._file(key)
        table = None if file is None else file.with_suffix(".csv.gz")
        return pd.read_csv(table) if table is not None and table.exists() else None

    def write(
        self, key: str, cell: Cell, record: dict[str, Any], windows: pd.DataFrame | None = None
    ) -> None:
        """Keep a record, in place of an earlier one."""
        if self.folder is None:
            self._memory[key] = record
            if windows is not None:
                self._windows[key] = windows
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        target = self._file(key) or self.folder / _file_name(key, cell)
        if windows is not None:
            table = windows.to_csv(index=False, float_format="%.9g").encode()
            _replace(target.with_suffix(".csv.gz"), gzip.compress(table, mtime=0))
        text = json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
        _replace(target, text.encode())

    @contextmanager
    def claimed(self, key: str) -> Iterator[bool]:
        """Whether the cell is ours to run; False where another process is at it."""
        if self.folder is None:
            yield True
            return
        folder = self.folder / ".locks"
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / key[:_KEY])
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def _file(self, key: str) -> Path | None:
        if self.folder is None:
            return None
        return next(self.folder.glob(f"*-{key[:_KEY]}.json"), None)


def _file_name(key: str, cell: Cell) -> str:
    named = "-".join(map(str, cell))
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in named)
    return f"{plain}-{key[:_KEY]}.json"


def _replace(target: Path, payload: bytes) -> None:
    """Write beside the target, then take its name: a reader sees the old file or the new one."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(payload)
        os.chmod(name, 0o644)
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)
