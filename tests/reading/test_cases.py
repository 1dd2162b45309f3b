"""The field cases: what files and sessions of people look like, each with its right answer.

The rows stand in ``tests/support/case_*.py``, a section a file.
"""

from pathlib import Path

import pytest
from case_afternoon import *  # noqa: F403
from case_budgets import *  # noqa: F403
from case_files import *  # noqa: F403
from case_lightning import *  # noqa: F403
from case_numbers import *  # noqa: F403
from case_time import *  # noqa: F403


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
