import subprocess
import sys

import pandas as pd

from tsformer.experiments import Cell
from tsformer.experiments.store import Store

CELL = Cell("toy", 3, "näive/1", 0)
KEY = "0123456789abcdef"


def test_a_record_comes_back_under_its_key(tmp_path):
    store = Store(tmp_path / "cells")
    assert store.read(KEY) is None and not store.has_windows(KEY)
    store.write(KEY, CELL, {"failed": None, "scores": {"mae": 0.1}})
    assert store.read(KEY) == {"failed": None, "scores": {"mae": 0.1}}
    assert [path.name for path in (tmp_path / "cells").glob("*")] == [
        "toy-3-näive_1-0-0123456789ab.json"
    ]


def test_a_later_record_takes_the_place_of_the_earlier_one(tmp_path):
    store = Store(tmp_path)
    store.write(KEY, CELL, {"failed": "once"})
    store.write(KEY, CELL._replace(forecaster="renamed"), {"failed": None})
    assert store.read(KEY) == {"failed": None}
    assert len(list(tmp_path.iterdir())) == 1


def test_windows_are_kept_compressed_and_the_same_bytes_each_time(tmp_path):
    table = pd.DataFrame({"series": ["a", "a"], "mae": [0.25, 1 / 3]})
    store = Store(tmp_path)
    store.write(KEY, CELL, {}, table)
    first = next(tmp_path.glob("*.csv.gz")).read_bytes()
    kept = pd.read_csv(next(tmp_path.glob("*.csv.gz")))
    pd.testing.assert_frame_equal(kept, table, atol=1e-9)
    assert store.has_windows(KEY)
    store.write(KEY, CELL, {}, table)
    assert next(tmp_path.glob("*.csv.gz")).read_bytes() == first


def test_a_cell_is_claimed_by_one_at_a_time_and_freed_by_the_end_of_its_process(tmp_path):
    holds = (
        "import sys, time; from tsformer.experiments.store import Store\n"
        f"with Store({str(tmp_path)!r}).claimed({KEY!r}) as mine:\n"
        "    print(mine, flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", holds], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "True\n"
    with Store(tmp_path).claimed(KEY) as mine:
        assert not mine
    child.kill()
    child.wait()
    child.stdout.close()
    with Store(tmp_path).claimed(KEY) as mine:
        assert mine
