"""How many windows a second ``WindowDataset`` gathers, and how much memory it takes for them.

Context 96, horizon 24, 7 variables, one thread; with and without calendar features (10 columns for
hourly stamps), in batches of three sizes. Wall-clock time suffers on a busy machine, processor
time hardly. Run from a checkout::

    python experiments/window_speed.py [--quick]

``--quick`` goes through the windows 5 times rather than 25.
"""

import math
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import torch

from tsformer.evaluation import store_result
from tsformer.reading import read_panel
from tsformer.windows import WindowDataset, window_loader

QUESTION = "How many windows a second are gathered, and in how much memory?"
ROWS, VARIABLES, CONTEXT, HORIZON = 20_000, 7, 96, 24


def windows_of(*, calendar: bool) -> WindowDataset:
    """Windows of 7 random walks, hourly, or numbered without a calendar."""
    walks = np.random.default_rng(0).normal(size=(ROWS, VARIABLES)).cumsum(axis=0)
    frame = pd.DataFrame(walks, columns=[f"y{number}" for number in range(VARIABLES)])
    if calendar:
        frame.index = pd.date_range("2020-01-01", periods=ROWS, freq="h")
    return WindowDataset(read_panel(frame), context=CONTEXT, horizon=HORIZON)


def resident(field: str) -> float:
    """Memory of this process in megabytes: now (VmRSS), or at its peak (VmHWM); NaN off Linux."""
    if sys.platform != "linux":
        return math.nan
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def gathered(windows: WindowDataset, size: int, repeats: int) -> dict[str, Any]:
    """Rates and memory of batches of one size, in random order."""
    order = np.random.default_rng(0).permutation(len(windows))
    batches = [order[at : at + size].tolist() for at in range(0, len(order), size)]
    bytes_of = sum(field.nbytes for field in windows.__getitems__(batches[0]))
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = resident("VmRSS")
    walls, rates = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        for numbers in batches:
            windows.__getitems__(numbers)
        walls.append(len(order) / (time.perf_counter() - wall))
        rates.append(len(order) / (time.process_time() - cpu))
    peak = resident("VmHWM") - before
    cpu = time.process_time()
    loaded = sum(len(batch.origin) for batch in window_loader(windows, batch_size=size))
    return {
        "batch": size,
        "windows/s": median(walls),
        "windows/s of processor": median(rates),
        "through the loader": loaded / (time.process_time() - cpu),
        "batch MB": bytes_of / 2**20,
        "extra MB": peak,
    }


def main(quick: bool) -> None:
    """Measure, print and store."""
    began = time.monotonic()
    torch.set_num_threads(1)
    rows = [
        {"calendar": calendar} | gathered(windows, size, 5 if quick else 25)
        for calendar in (False, True)
        for windows in (windows_of(calendar=calendar),)
        for size in (32, 256, 1024)
    ]
    table = pd.DataFrame(rows)
    print(f"{QUESTION}\n\n{table.round(2).to_string(index=False)}")
    taken = time.monotonic() - began
    store_result(__file__, {"windows": table}, question=QUESTION, quick=quick, seconds=taken)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
