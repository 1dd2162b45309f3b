"""The program as a person runs it, in a folder of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from tsformer.cli import main


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def ended(*arguments: object) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(one) for one in arguments])
        out, err = capsys.readouterr()
        code = stop.value.code
        return Ended(code if isinstance(code, int) else -1, out, err)

    return ended


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """Four months of days with a weekly pattern and a price that is known in advance."""
    days = pd.date_range("2024-01-01", periods=120)
    noise = np.random.default_rng(0).normal(size=120)
    price = np.where(np.arange(120) % 10 == 0, 8.0, 10.0)
    frame = pd.DataFrame(
        {"day": days, "sold": 50 + 5.0 * (days.day_of_week == 5) + noise, "price": price}
    )
    path = tmp_path / "sales.csv"
    frame.to_csv(path, index=False)
    return path
