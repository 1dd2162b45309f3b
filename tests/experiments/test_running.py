import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from tsformer import Drift, Forecaster, SeasonalNaive, Training, backtest
from tsformer.errors import ParameterError, TsformerWarning
from tsformer.experiments import Experiment, run, stored
from tsformer.models import Informer, Linear

DAYS = np.arange(80)
FRAME = pd.DataFrame(
    {
        "day": pd.date_range("2024-01-01", periods=80),
        "y": np.sin(2 * np.pi * DAYS / 7) + DAYS / 100,
    }
)


def experiment(**changes):
    settings = {
        "datasets": {"toy": FRAME},
        "horizons": [2, 3],
        "forecasters": {
            "drift": Drift(horizon=1),
            "ridge": Forecaster(Linear(), horizon=1, context=14),
        },
        "folds": 3,
        "metrics": ["mae", "mase"],
    }
    return Experiment("Why?", **(settings | changes))


def test_a_cell_has_the_scores_of_a_backtest(tmp_path):
    table = run(experiment(), store=tmp_path)
    own = table.query("horizon == 3 and forecaster == 'ridge'").iloc[0]
    one = Forecaster(Linear(), horizon=3, context=14, random_state=0)
    result = backtest({"ridge": one}, FRAME, folds=3, metrics=["mae", "mase"])
    assert own["mae"] == result.summary().loc["ridge", "mae"]
    assert own["mase"] == result.summary().loc["ridge", "mase"]
    assert (own["windows"], own["context"], own["status"]) == (3, 14, "done")
    assert table.columns[:6].tolist() == [
        "dataset", "horizon", "forecaster", "seed", "status", "reason",
    ]  # fmt: skip


def test_a_finished_cell_is_not_run_again_unless_forced(tmp_path):
    first = run(experiment(), store=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    assert len(before) == 4
    pd.testing.assert_frame_equal(run(experiment(), store=tmp_path), first)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")} == before
    again = run(experiment(), store=tmp_path, cells=["toy/3/ridge"], force=True)
    changed = [path.name for path in before if path.stat().st_mtime_ns != before[path]]
    assert [name.startswith("toy-3-ridge-0") for name in changed] == [True]
    assert (
        again["mae"].tolist()
        == first.query("horizon == 3 and forecaster == 'ridge'")["mae"].tolist()
    )


def test_where_a_cell_comes_from_is_kept(tmp_path):
    run(experiment(), store=tmp_path, cells=["toy/2/ridge"])
    record = json.loads(next(tmp_path.glob("*.json")).read_text())
    assert record["identity"]["parameters"]["model"] == "Linear"
    assert record["identity"]["parameters"]["context"] == 14
    assert len(record["identity"]["data"]) == 64
    assert record["provenance"]["versions"]["torch"]
    assert record["provenance"]["machine"]["cores"] == os.cpu_count()
    assert record["peak_memory"] is None or record["peak_memory"] > 1
    assert 0 < record["fit_seconds"] <= record["seconds"]


def test_one_that_fails_is_recorded_and_the_others_go_on(tmp_path):
    long = Forecaster(Linear(), horizon=1, context=500)
    asked = experiment(forecasters={"long": long, "drift": Drift(horizon=1)})
    with pytest.warns(TsformerWarning, match="2 of 4 cells failed; the first, toy/2/long: Series"):
        table = run(asked, store=tmp_path)
    assert table["status"].tolist() == ["failed", "done", "failed", "done"]
    assert table["mae"].isna().tolist() == [True, False, True, False]
    record = json.loads(next(tmp_path.glob("toy-2-long*.json")).read_text())
    assert "SeriesTooShort" in record["failed"] and "Traceback" not in record["failed"]
    assert "SeriesTooShort" in record["traceback"]


def test_what_is_stored_is_shown_without_a_run(tmp_path):
    run(experiment(), store=tmp_path, cells=["toy/2"])
    table = stored(experiment(), store=tmp_path)
    assert table["status"].tolist() == ["done", "done", "missing", "missing"]
    assert stored(experiment(), store=tmp_path, cells=["toy/2"])["mae"].notna().all()


def test_without_a_store_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (run(experiment(), cells=["toy/2"])["status"] == "done").all()
    assert list(tmp_path.iterdir()) == []


def test_the_metrics_of_windows_are_kept_on_request(tmp_path):
    run(experiment(), store=tmp_path, cells=["toy/2/drift"])
    assert not list(tmp_path.glob("*.csv.gz"))
    table = run(experiment(), store=tmp_path, cells=["toy/2/drift"], keep_windows=True)
    windows = pd.read_csv(next(tmp_path.glob("*.csv.gz")))
    assert windows.columns.tolist() == ["forecaster", "series", "cutoff", "mae", "mase"]
    assert windows["mae"].mean() == pytest.approx(table["mae"].iloc[0], rel=1e-6)


@pytest.mark.filterwarnings("ignore:on the validation rows")
def test_seeds_differ_and_can_be_chosen(tmp_path):
    model = Informer(d_model=8, d_ff=8, skip=False)
    training = Training(epochs=1)
    asked = experiment(
        forecasters={"small": Forecaster(model, horizon=1, context=7, training=training)},
        horizons=[2],
        seeds=(0, 1),
    )
    table = run(asked, store=tmp_path)
    assert table["seed"].tolist() == [0, 1] and table["mae"].nunique() == 2
    assert table["epochs"].tolist() == [1, 1]
    only = run(asked, store=tmp_path, seeds=[1])
    assert only["mae"].tolist() == table["mae"].tolist()[1:]
    with pytest.raises(ParameterError, match=r"the experiment has \[0, 1\]"):
        run(asked, seeds=[5])


def test_several_workers_need_a_store():
    with pytest.raises(ParameterError, match="several need a store"):
        run(experiment(), workers=2)
    with pytest.raises(ParameterError, match="keep_windows needs a store"):
        run(experiment(), keep_windows=True)


SCRIPT = """
import sys, time
import numpy as np, pandas as pd
from pathlib import Path
from tsformer import SeasonalNaive
from tsformer.experiments import Experiment

FRAME = pd.DataFrame({"y": np.tile(np.arange(7.0), 12)})

def slow(name, horizon):
    return SeasonalNaive(horizon=horizon, season_length=7)

EXPERIMENT = Experiment(
    "Why?", datasets={"toy": FRAME}, horizons=range(1, 25), forecasters={"naive": slow}, folds=2,
    metrics=["mae"],
)
"""

COUNTED = """
import atexit, tsformer.experiments.running as at_work
inner, calls = at_work.run_job, []
at_work.run_job = lambda *given: (calls.append(1), time.sleep(0.1), inner(*given))
atexit.register(lambda: print(len(calls)))
"""


def start(script, store):
    command = [sys.executable, "-m", "tsformer", "run", str(script), "--store", str(store)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def moments(store):
    """When each cell was written, by name."""
    return {path.name: path.stat().st_mtime_ns for path in store.glob("*.json")}


@pytest.mark.slow
def test_a_run_that_was_killed_is_finished_and_repeats_no_cell(tmp_path):
    script = tmp_path / "ask.py"
    script.write_text(SCRIPT)
    store = tmp_path / "cells"
    process = start(script, store)
    while len(moments(store)) < 3:
        time.sleep(0.005)
        assert process.poll() is None, "it ended too early to be killed"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = moments(store)
    again = start(script, store)
    said, _ = again.communicate()
    assert again.returncode == 0, said
    after = moments(store)
    assert len(before) < len(after) == 24
    assert {name: after[name] for name in before} == before


@pytest.mark.slow
def test_two_at_once_share_the_cells(tmp_path):
    script = tmp_path / "ask.py"
    script.write_text(SCRIPT)
    store = tmp_path / "cells"
    script.write_text(f"{SCRIPT}{COUNTED}")
    both = [start(script, store) for _ in range(2)]
    counts = [process.communicate()[0].splitlines()[-1] for process in both]
    assert [process.returncode for process in both] == [0, 0], counts
    by = [json.loads(path.read_text())["provenance"]["process"] for path in store.glob("*.json")]
    assert len(by) == 24 and set(by) == {process.pid for process in both}
    assert sum(map(int, counts)) == 24


@pytest.mark.slow
def test_workers_share_the_cells_and_give_what_one_process_gives(tmp_path):
    alone = run(experiment(), store=tmp_path / "alone")
    beside = run(experiment(), store=tmp_path / "beside", workers=2)
    timing = ["seconds", "fit_seconds", "peak_memory"]
    pd.testing.assert_frame_equal(beside.drop(columns=timing), alone.drop(columns=timing))


def test_the_example_of_a_naive_forecaster_is_right():
    table = run(experiment(forecasters={"naive": SeasonalNaive(horizon=1)}, horizons=[7]))
    # each step a week later is seven hundredths higher
    assert table["mae"].iloc[0] == pytest.approx(0.07)
