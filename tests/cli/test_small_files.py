"""Twenty-two files as people have them: a forecast from the horizon alone, or a cure."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Run = Any


@pytest.mark.slow
@pytest.mark.shared_data
def test_most_files_need_no_option(run: Run, shared_data: Path) -> None:
    files = sorted((shared_data / "small").glob("*.csv*"))
    assert len(files) == 22
    forecast = 0
    for file in files:
        done = run("forecast", file, "--horizon", 12, "--max-time", 5)
        if done.code == 0:
            made = pd.read_csv("forecast.csv")
            assert len(made) == 12, file.name
            assert np.isfinite(made.select_dtypes("number").to_numpy()).all(), file.name
            assert Path("forecast.png").stat().st_size > 10_000, file.name
            Path("forecast.png").unlink()
            forecast += 1
        else:
            assert done.code in (1, 2) and done.err.count("\n") == 1, file.name
            assert "--" in done.err, f"{file.name}: {done.err} names no option"
    assert forecast >= 15
