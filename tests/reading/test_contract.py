"""The contract for tsformer: how each of 75 kinds of data is met, at the public surface.

The rows are the numbered tests of the files beside this one, ``test_contract_*.py``.
"""

import re
from pathlib import Path

import pytest
from contract_rows import forecaster, panel, put

from tsformer import backtest
from tsformer.errors import FrameError
from tsformer.tuning import OptunaSearch

ROW = re.compile(r"^def test_(\d\d)_\w+\(", re.MULTILINE)


def test_each_of_75_rows_has_tests() -> None:
    files = Path(__file__).parent.glob("test_contract_*.py")
    numbers = [int(row) for file in files for row in ROW.findall(file.read_text())]
    assert set(numbers) == set(range(1, 76))


@pytest.mark.parametrize(
    "bad",
    [
        put("y", float("nan"), 44, 50),
        put("when", panel()["when"][45], 44),
        panel().drop(index=[45, 60]),
        put("y", 1j, to=complex),
        put("when", None),
    ],
    ids=["missing", "duplicate", "gap", "complex", "no-stamp"],
)
def test_all_doors_have_one_validator(bad, monkeypatch):
    fitted = forecaster().fit(panel())

    def train(*_, **__):
        raise AssertionError("trained on bad data")

    monkeypatch.setattr("tsformer.training.train", train)
    said = set()
    for door in (
        lambda: forecaster().fit(bad),
        lambda: fitted.predict(bad),
        lambda: fitted.score(bad),
        lambda: backtest(forecaster(), bad, folds=2),
        lambda: OptunaSearch(forecaster(), {"context": [3, 14]}, n_trials=2).fit(bad),
    ):
        with pytest.raises(FrameError, match="series 'b'") as caught:
            door()
        said.add(str(caught.value))
    assert len(said) == 1
