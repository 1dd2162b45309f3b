"""Where a study is kept: what a URL means, and half a line at the end of a journal."""

import importlib.util
import os
from pathlib import Path

import optuna
import pytest
from optuna.storages import InMemoryStorage, JournalStorage, RDBStorage

from tsformer.errors import MissingDependency, ParameterError
from tsformer.tuning import storage
from tsformer.tuning.storage import mend_journal, open_storage

TORN = b'{"op_code":6,"worker_id":"abc","trial_id":1,"sta'


def study_in(path: Path) -> optuna.Study:
    url = f"journal:{path}"
    return optuna.create_study(storage=open_storage(url), study_name="s", load_if_exists=True)


def told(study: optuna.Study, value: float) -> None:
    study.tell(study.ask(), value)


def values(path: Path) -> list[float]:
    return [trial.value for trial in study_in(path).trials]


def test_nothing_is_memory() -> None:
    assert isinstance(open_storage(None), InMemoryStorage)


def test_a_journal_in_a_folder_that_is_yet_to_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path stays the same file after a change of folder."""
    monkeypatch.chdir(tmp_path)
    opened = open_storage("journal:runs/study.log")
    assert isinstance(opened, JournalStorage)
    study = optuna.create_study(storage=opened)
    monkeypatch.chdir("/")
    told(study, 1.0)
    told(study, 2.0)
    assert len(study.trials) == 2
    assert os.listdir(tmp_path / "runs") == ["study.log"]


def test_sqlite_is_for_one_worker(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    assert isinstance(open_storage(url), RDBStorage)
    with pytest.raises(ParameterError, match="workers=2: processes that open one SQLite"):
        open_storage(url, workers=2)


@pytest.mark.parametrize("url", ["study.log", "journal:", "redis://localhost", "mysql://u:pw@h"])
def test_an_unknown_scheme_is_one_clear_error(url: str) -> None:
    with pytest.raises(ParameterError, match='must be None, "journal:FOLDER/') as caught:
        open_storage(url)
    assert "pw" not in str(caught.value)


def test_postgresql_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"tsformer\[postgresql\]"):
        open_storage("postgresql://u:pw@localhost/d")


def test_half_a_line_is_cut_when_the_journal_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "study.log"
    told(study_in(path), 1.0)
    whole = path.read_bytes()
    path.write_bytes(whole + TORN)
    assert values(path) == [1.0]
    assert path.read_bytes().startswith(whole + b'{"op_code":0,')
    assert (tmp_path / "study.log.bak").read_bytes() == whole + TORN
    told(study_in(path), 2.0)
    assert values(path) == [1.0, 2.0]


def test_half_a_line_that_another_leaves_is_cut_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "study.log"
    ours = study_in(path)
    told(ours, 1.0)
    with path.open("ab") as file:
        file.write(TORN)
    told(ours, 2.0)
    assert values(path) == [1.0, 2.0]
    assert [trial.value for trial in ours.trials] == [1.0, 2.0]


@pytest.mark.parametrize("keep", [0, 5, 60, 5000])
def test_every_length_of_a_torn_first_line(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "study.log"
    path.write_bytes((b'{"op_code":0,"x":"' + b"a" * 6000)[:keep])
    assert mend_journal(path) == bool(keep)
    assert path.read_bytes() == b""


def test_a_long_tail_keeps_every_line_before_it(tmp_path: Path) -> None:
    path = tmp_path / "study.log"
    path.write_bytes(b'{"op_code":0}\n{"op_code":1}\n' + b"a" * 10_000)
    assert mend_journal(path)
    assert path.read_bytes() == b'{"op_code":0}\n{"op_code":1}\n'
    assert not mend_journal(path)


def test_what_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("day,y\n2024-01-01,1\n2024-01-02")
    with pytest.raises(ParameterError, match=r"data\.csv is not the journal of a study"):
        open_storage(f"journal:{path}")
    assert path.read_text() == "day,y\n2024-01-01,1\n2024-01-02"
    assert os.listdir(tmp_path) == ["data.csv"]
    with pytest.raises(ParameterError, match="is a folder; name a file in it"):
        open_storage(f"journal:{tmp_path}")


def test_a_line_that_is_no_record_is_said(tmp_path: Path) -> None:
    path = tmp_path / "study.log"
    told(study_in(path), 1.0)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + TORN + b"".join(lines[1:]))
    with pytest.raises(ParameterError, match="holds a line that is no record"):
        open_storage(f"journal:{path}")


def test_a_lock_left_behind_is_taken_after_the_grace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_LOCK_GRACE", 1)
    path = tmp_path / "study.log"
    (tmp_path / "study.log.lock").touch()
    with pytest.warns(UserWarning, match="grace_period"):
        told(study_in(path), 1.0)
    assert os.listdir(tmp_path) == ["study.log"]


def test_a_lock_that_was_taken_from_us_is_no_error(tmp_path: Path) -> None:
    lock = storage._Lock(str(tmp_path / "study.log"))
    lock.acquire()
    (tmp_path / "study.log.lock").unlink()
    lock.release()
