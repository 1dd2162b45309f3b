import re
import subprocess
import sys

import pytest

from tsformer.cli import main

SCRIPT = """
import sys
import numpy as np, pandas as pd
from tsformer import Drift, Forecaster, SeasonalNaive
from tsformer.experiments import Experiment
from tsformer.models import Linear

EXPERIMENT = Experiment(
    "Is drift better?",
    datasets={"toy": pd.DataFrame({"y": np.tile(np.arange(7.0), 12)})},
    horizons=[2, 3],
    forecasters={
        "drift": Drift(horizon=1),
        "naive": SeasonalNaive(horizon=1, season_length=7),
    },
    folds=3,
    metrics=["mae"],
)
QUICK = Experiment(**{**EXPERIMENT.get_params(deep=False), "horizons": [1]})

if __name__ == "__main__":
    from tsformer.cli import main

    main(["run", __file__, *sys.argv[1:]])
"""


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "ask.py"
    file.write_text(SCRIPT)
    return file


def ran(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["run", *map(str, arguments)])
    return ended.value.code


def test_cells_are_run_and_printed_and_kept_beside_the_script(script, capsys):
    assert ran(script) == 0
    said = capsys.readouterr().out
    assert said.startswith("Is drift better?\n\nMAE\n")
    assert "windows: toy 2: 3; toy 3: 3" in said
    assert len(list((script.parent / "results" / "ask").glob("*.json"))) == 4


def test_quick_and_chosen_cells_and_another_folder(script, capsys, tmp_path):
    assert ran(script, "--quick", "--cells", "toy/1/drift,toy/1/naive") == 0
    assert len(list((script.parent / "results" / "ask-quick").glob("toy-1-*.json"))) == 2
    assert ran(script, "--cells", "toy/2/drift", "--store", tmp_path / "else") == 0
    assert len(list((tmp_path / "else").glob("*.json"))) == 1


def test_a_report_runs_nothing_and_writes_a_page(script, capsys):
    assert ran(script, "--cells", "toy/2") == 0
    assert ran(script, "--report") == 0
    said = capsys.readouterr().out
    assert "2 of 4 cells were not run yet" in said
    assert "- 2 cells were not run" in (script.parent / "results" / "ask.md").read_text()


def test_cells_that_fail_end_with_three(script, capsys):
    long = "Forecaster(Linear(), horizon=1, context=500)"
    script.write_text(re.sub(r'"drift": .*\n', f'"drift": {long},\n', SCRIPT))
    assert ran(script) == 3
    said = capsys.readouterr()
    assert "error: 2 of 4 cells failed; see " in said.err
    assert "note: 2 of 4 cells failed; the first, toy/2/drift: SeriesTooShort" in said.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cells", "toy/9"], "no cell matches 'toy/9'"),
        (["--seeds", "a"], "--seeds a: give whole numbers, such as 0,1,2"),
        (["--seeds", "4"], "the experiment has"),
    ],
)
def test_what_is_no_part_of_the_experiment_is_refused(script, capsys, arguments, said):
    assert ran(script, *arguments) == 2
    assert said in capsys.readouterr().err


def test_a_file_without_an_experiment_is_refused(tmp_path, capsys):
    assert ran(tmp_path / "none.py") == 2
    (tmp_path / "empty.py").write_text("x = 1\n")
    assert ran(tmp_path / "empty.py") == 2
    said = capsys.readouterr().err
    assert "none.py: there is no such file" in said
    assert "empty.py defines no EXPERIMENT that is a tsformer Experiment" in said


def test_a_fault_of_the_file_is_told_with_its_line(tmp_path, capsys):
    (tmp_path / "broken.py").write_text("x = 1\nx.fit()\n")
    assert ran(tmp_path / "broken.py") == 2
    said = capsys.readouterr().err
    assert "broken.py, line 2: AttributeError: 'int' object has no attribute 'fit'" in said


@pytest.mark.slow
def test_the_script_itself_does_the_same(script):
    done = subprocess.run(
        [sys.executable, str(script), "--quick"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Is drift better?") and done.stderr == ""
