"""``Store``: a folder with one JSON file a cell, which several processes may fill together."""

import gzip
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from tsformer.atomic import write_atomically
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
        self._files: dict[str, Path] = {}

    def read(self, key: str) -> dict[str, Any] | None:
        """The record of a cell, if there is one."""
        if self.folder is None:
            return self._memory.get(key)
        file = self._file(key)
        if file is None:
            return None
        record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return record

    def has_windows(self, key: str) -> bool:
        """Whether the metrics of every window of a cell are kept, as ``.csv.gz`` beside it."""
        file = self._file(key)
        return file is not None and file.with_suffix(".csv.gz").exists()

    def count(self, keys: Collection[str], *, since: float) -> int:
        """How many of these have a record that was written since a moment."""
        if self.folder is None or not self.folder.is_dir():
            return 0
        wanted = {key[:_KEY] for key in keys}
        return sum(
            Path(file.name).stem.rpartition("-")[2] in wanted and file.stat().st_mtime >= since
            for file in os.scandir(self.folder)
            if file.name.endswith(".json")
        )

    def write(
        self, key: str, cell: Cell, record: dict[str, Any], windows: pd.DataFrame | None = None
    ) -> None:
        """Keep a record, in place of an earlier one."""
        if self.folder is None:
            self._memory[key] = record
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        target = self._file(key) or self.folder / _file_name(key, cell)
        if windows is not None:
            table = windows.to_csv(index=False, float_format="%.9g").encode()
            packed = gzip.compress(table, mtime=0)
            write_atomically(target.with_suffix(".csv.gz"), packed, mode=0o644)
        text = json.dumps(record, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
        write_atomically(target, text.encode(), mode=0o644)

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
        if key not in self._files:
            found = next(self.folder.glob(f"*-{key[:_KEY]}.json"), None)
            if found is None:
                return None
            self._files[key] = found
        return self._files[key]


def _file_name(key: str, cell: Cell) -> str:
    named = "-".join(map(str, cell))
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in named)
    return f"{plain}-{key[:_KEY]}.json"
