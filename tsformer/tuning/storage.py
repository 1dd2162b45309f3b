"""Where a study is kept: in memory, in a journal on one host, or in a database for many."""

import importlib.util
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any, BinaryIO

import optuna
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

from tsformer.cures import Cure
from tsformer.errors import MissingDependency, ParameterError

__all__ = ["mend_journal", "open_storage"]

_LOCK_GRACE = 10
"""Seconds after which a lock is taken from whoever left it; an append takes milliseconds."""

_BLOCK = 4096

_TRIES = 5
"""Hosts that start at once on an empty database get into each other's way; one of them is first."""

_RECORD = b'{"op_code"'
"""How each line of a journal begins."""


def open_storage(url: str | None, *, workers: int = 1) -> BaseStorage:
    """The storage of a URL.

    Parameters
    ----------
    url
        None keeps the study in memory. ``"journal:FOLDER/study.log"`` is a file that many
        processes of one host may share; its folder is made, and a last line that a process did
        not live to finish is cut off, with a copy as ``study.log.bak``.
        ``"postgresql://USER@HOST/DATABASE"`` is for many hosts and needs
        ``tsformer[postgresql]``. ``"sqlite:///FILE"`` is for one worker.
    workers
        How many processes will use it.

    Raises
    ------
    ParameterError
        If the URL is none of these, or what it names is no study's.
    MissingDependency
        If the database needs a package that is not installed.

    Examples
    --------
    >>> type(open_storage(None)).__name__
    'InMemoryStorage'
    >>> open_storage("mongodb://localhost")
    Traceback (most recent call last):
    tsformer.errors.ParameterError: storage='mongodb:...': must be None, "journal:FOLDER/study.log",
    "postgresql://USER@HOST/DATABASE" or, for one worker, "sqlite:///FILE"
    """
    if url is None:
        return InMemoryStorage()
    scheme, _, rest = str(url).partition(":")
    if scheme == "journal" and rest:
        return _journal(Path(rest).expanduser().resolve())
    if scheme in ("postgresql", "postgresql+psycopg"):
        return _postgresql("postgresql+psycopg:" + rest)
    if scheme == "sqlite":
        if workers > 1:
            raise ParameterError(
                f"storage of scheme sqlite with workers={workers}: processes that open one SQLite "
                "file at once fail on each other's tables and locks.",
                Cure("Take a journal", code='storage="journal:study.log"'),
            )
        return RDBStorage(str(url))
    raise ParameterError(  # the rest may hold a password
        f'storage={scheme + ":..."!r}: must be None, "journal:FOLDER/study.log", '
        '"postgresql://USER@HOST/DATABASE" or, for one worker, "sqlite:///FILE"'
    )


def mend_journal(path: Path) -> bool:
    """Cut off a last line that was not written to its end; whoever calls this holds the lock.

    The file as it was found is kept beside it, as ``.bak``. Another line written after such a
    one would make the whole study unreadable.

    Returns whether there was something to cut.

    Raises
    ------
    ParameterError
        If the file is not a journal.
    """
    with open(path, "r+b") as file:
        if not _RECORD.startswith(file.read(len(_RECORD))):
            raise ParameterError(f"storage: {path} is not the journal of a study")
        size = file.seek(0, os.SEEK_END)
        whole = _end_of_last_line(file, size)
        if whole == size:
            return False
        shutil.copyfile(path, f"{path}.bak")
        file.truncate(whole)
        file.flush()
        os.fsync(file.fileno())
    return True


def _end_of_last_line(file: BinaryIO, size: int) -> int:
    """How many bytes of a file are whole lines."""
    end = size
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


class _Lock(JournalFileOpenLock):
    """A lock that a process which stood still for long may have lost by the time it goes on."""

    def release(self) -> None:
        """Give the lock back, if it is still ours."""
        try:
            super().release()
        except RuntimeError:
            return  # taken after the grace period: what the other process waited for is written


class _Journal(JournalFileBackend):
    """A file that is mended before each record, not only when it is opened.

    A worker that is killed while it writes leaves half a line to those that go on.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, _Lock(str(path), grace_period=_LOCK_GRACE)
        super().__init__(str(path), self.lock)
        self._locked(mend_journal, path)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append records, after a whole line."""
        lines = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
        self._locked(self._append, lines.encode())

    def _append(self, lines: bytes) -> None:
        mend_journal(self.path)
        with open(self.path, "ab") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())

    def _locked(self, act: Any, argument: Any) -> None:
        self.lock.acquire()
        try:
            act(argument)
        finally:
            self.lock.release()


def _journal(path: Path) -> JournalStorage:
    if path.is_dir():
        raise ParameterError(f"storage: {path} is a folder; name a file in it, such as study.log")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return JournalStorage(_Journal(path))
    except ValueError as error:  # of a line in the middle, which only another program can leave
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"storage: {path} holds a line that is no record: {error}") from error


def _postgresql(url: str) -> RDBStorage:
    if importlib.util.find_spec("psycopg") is None:
        raise MissingDependency(
            "a study in PostgreSQL needs psycopg: pip install 'tsformer[postgresql]'"
        )
    for left in reversed(range(_TRIES)):
        try:
            return RDBStorage(url, engine_kwargs={"pool_pre_ping": True})
        except optuna.exceptions.StorageInternalError:
            if not left:
                raise
            time.sleep(1)
    raise AssertionError
