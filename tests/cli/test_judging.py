"""``backtest``, ``tune`` and ``datasets``."""

import re
from pathlib import Path
from typing import Any

import pytest

from tsformer.errors import MissingDependency

Run = Any


def test_a_backtest_stands_beside_seasonal_naive(run: Run, sales: Path) -> None:
    done = run("backtest", sales, "-n", 7, "--folds", 2, "--target", "sold", "--model", "linear")
    assert done.code == 0, done.err
    table = done.out.splitlines()
    assert table[2].split()[:3] == ["forecaster", "MAE", "MASE"]
    assert {line.split()[0] for line in table[3:]} == {"Linear", "SeasonalNaive"}
    assert all(line.split()[3] == "2" for line in table[3:])


def test_a_data_set_is_judged_on_its_canonical_split(run: Run) -> None:
    done = run("backtest", "air_passengers", "-n", 12, "--model", "linear", "--quick")
    assert done.code == 0, done.err
    assert "scaled\nby the mean and standard deviation of the training rows" in done.out
    assert "MSE (scaled)" in done.out and "MAE (scaled)" in done.out
    windows = [line.split()[-2] for line in done.out.splitlines() if "Linear" in line]
    assert windows == ["13"]


def test_other_origins_of_a_data_set_are_asked_for(run: Run) -> None:
    refused = run("backtest", "air_passengers", "-n", 12, "--step", 6)
    assert refused.code == 2 and "--folds" in refused.err
    options = ("-n", 12, "--step", 6, "--folds", 2, "--model", "drift")
    assert run("backtest", "air_passengers", *options).code == 0


def test_several_models_stand_under_their_own_names(run: Run, sales: Path) -> None:
    common = ("backtest", sales, "-n", 7, "--folds", 2, "--target", "sold")
    several = run(*common, "--model", "linear", "--model", "drift,seasonal-naive", "--seed", 1)
    assert several.code == 0, several.err
    rows = {line.split()[0]: line.split()[1:] for line in several.out.splitlines()[3:]}
    assert set(rows) == {"Linear", "Drift", "SeasonalNaive"}
    alone = run(*common, "--model", "drift")
    assert rows["Drift"] in [line.split()[1:] for line in alone.out.splitlines()]
    chosen = run(*common)
    assert {line.split()[0] for line in chosen.out.splitlines()[3:]} == {"Linear", "SeasonalNaive"}
    twice = run(*common, "--model", "drift,drift")
    assert twice.code == 2 and "each model once" in twice.err and ":context=" in twice.err
    wrong = run(*common, "--model", "drift", "--model", "lineer")
    assert wrong.code == 2 and "linear" in wrong.err


def test_one_model_with_several_settings_has_a_row_for_each(run: Run, sales: Path) -> None:
    common = (
        "backtest",
        sales,
        "-n",
        7,
        "--folds",
        2,
        "--target",
        "sold",
        "--set",
        "training__epochs=1",
    )
    several = (
        "linear:context=14, Linear:context=21:model__centre=last,seasonal-naive:season_length=5"
    )
    done = run(*common, "--model", several, "--model", "linear:head__levels=(0.2,0.5)")
    assert done.code == 0, done.err
    rows = [re.split(r"  +| (?=\d)", line.strip()) for line in done.out.splitlines()[3:]]
    assert sorted(row[0] for row in rows) == [
        "Linear(context=14)",
        "Linear(context=21, model__centre=last)",
        "Linear(head__levels=(0.2,0.5))",
        "SeasonalNaive(season_length=5)",
    ]
    assert len({tuple(row[1:3]) for row in rows}) == 4
    twice = run(*common, "--model", "linear:context=14", "--model", "linear:context=14")
    assert twice.code == 2 and "--model linear:context=14 is given twice" in twice.err
    wrong = run(*common, "--model", "linear:contxt=14")
    assert wrong.code == 2 and "contxt" in wrong.err
    missing = run(*common, "--model", "linear:context")
    assert missing.code == 2 and "PATH=VALUE" in missing.err


def test_tuning_prints_options_to_paste(run: Run, sales: Path) -> None:
    done = run("tune", sales, "-n", 3, "--target", "sold", "--model", "linear", "--trials", 2)
    assert done.code == 0, done.err
    pasted = [word for line in done.out.splitlines() for word in line.split() if "=" in word]
    assert re.search(r"the best has a mase of [\d.]+, untuned it is [\d.]+\.", done.out)
    assert "2 trials" in done.out and any(word.startswith("context=") for word in pasted)
    again = ("--set", pasted[-1], "--no-plot")
    assert (
        run("forecast", sales, "-n", 3, "--target", "sold", "--model", "linear", *again).code == 0
    )


def test_tuning_goes_on_with_a_study_that_is_kept(run: Run, sales: Path, tmp_path: Path) -> None:
    kept = ("--storage", f"journal:{tmp_path}/study.log")
    common = ("tune", sales, "-n", 3, "--target", "sold", "--model", "linear", *kept)
    first = run(*common, "--trials", 2)
    assert first.code == 0 and first.out.startswith("2 trials")
    lines = len((tmp_path / "study.log").read_text().splitlines())
    assert run(*common, "--trials", 2).out == first.out
    assert len((tmp_path / "study.log").read_text().splitlines()) - lines <= 3  # no trial
    assert run(*common, "--trials", 3).out.startswith("3 trials")
    other = run(*common, "--trials", 3, "--metric", "mae")
    assert other.code == 2 and "metric was 'mase', is 'mae'" in other.err and "--study" in other.err
    assert run(*common, "--trials", 1, "--metric", "mae", "--study", "by mae").code == 0


def test_the_list_of_data_sets(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TSFORMER_DATA", raising=False)
    monkeypatch.setenv("TSFORMER_CACHE", "nowhere")
    done = run("datasets")
    rows = {line.split()[0]: line for line in done.out.splitlines()}
    assert done.code == 0
    assert "bundled" in rows["beijing_air"] and "43,824" in rows["beijing_air"]
    assert "download" in rows["etth1"] and "TSFORMER_DATA" in rows["epf_be"]


def test_a_data_set_that_needs_more_than_is_installed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str, *, download: bool) -> None:
        raise MissingDependency(f"{name} needs pyarrow")

    monkeypatch.setattr("tsformer.datasets.load_dataset", absent)
    rows = {line.split()[0]: line for line in run("datasets").out.splitlines()}
    assert "needs pyarrow" in rows["nn5_daily"] and "bundled" in rows["beijing_air"]


def test_the_card_of_one(run: Run) -> None:
    assert run("datasets", "air_passengers").out.startswith("#")
    unknown = run("datasets", "beijing_aer")
    assert unknown.code == 1 and "'beijing_air'" in unknown.err


@pytest.mark.slow
@pytest.mark.shared_data
def test_every_window_of_a_published_split(run: Run, shared_data: Path) -> None:
    options = ("--model", "informer", "--horizon", 96, "--context", 96, "--quick")
    done = run("backtest", "etth1", *options)
    assert done.code == 0, done.err
    rows = {line.split()[0]: line.split() for line in done.out.splitlines() if "2785" in line}
    assert float(rows["Informer"][1]) < float(rows["SeasonalNaive"][1])
