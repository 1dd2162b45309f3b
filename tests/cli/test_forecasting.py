"""``forecast``, ``fit`` and ``predict``."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Run = Any


def rewritten(source: Path, name: str, **more: Any) -> Path:
    """The same table in another file."""
    path = source.with_name(name)
    frame = pd.read_csv(source, parse_dates=["day"])
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, **more)
    return path


def test_only_a_horizon_gives_a_table_and_a_picture(run: Run, sales: Path) -> None:
    done = run("forecast", sales, "--horizon", 7)
    assert (done.code, done.err) == (0, "")
    made = pd.read_csv("forecast.csv", parse_dates=["day"])
    assert made.columns.tolist()[:4] == ["day", "sold", "sold_q0.1", "sold_q0.9"]
    assert made["day"].tolist() == pd.date_range("2024-04-30", periods=7).tolist()
    assert np.isfinite(made.drop(columns="day").to_numpy()).all()
    assert Path("forecast.png").read_bytes().startswith(b"\x89PNG")
    assert "'sold', 'price'" in done.out and "Linear, 16 steps of context" in done.out
    assert "the first of 2 columns, 'sold'" in done.out


def test_a_second_run_replaces_its_own_files_but_not_yours(run: Run, sales: Path) -> None:
    common = ("forecast", sales, "-n", 2, "--model", "seasonal-naive")
    assert [run(*common).code for _ in range(2)] == [0, 0]
    Path("mine.csv").write_text("mine", encoding="utf-8")
    refused = run(*common, "--output", "mine.csv", "--no-plot")
    assert refused.code == 2
    assert refused.err == "error: mine.csv exists; --force replaces it\n"
    assert Path("mine.csv").read_text(encoding="utf-8") == "mine"
    assert run(*common, "--output", "mine.csv", "--no-plot", "--force").code == 0
    assert len(pd.read_csv("mine.csv")) == 2


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_the_input_is_never_written_over(run: Run, sales: Path, force: tuple[str, ...]) -> None:
    before = sales.rename(sales.with_name("forecast.csv")).read_bytes()
    refused = run("forecast", "forecast.csv", "-n", 2, *force)
    assert refused.code == 2 and "is the input" in refused.err
    assert Path("forecast.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["sales.csv.gz", "sales.tsv", "sales.parquet"])
def test_other_kinds_of_files(run: Run, sales: Path, name: str) -> None:
    path = rewritten(sales, name, **({"sep": "\t"} if name.endswith("tsv") else {}))
    common = ("-n", 2, "--model", "drift", "--no-plot", "--quantiles", "")
    assert run("forecast", sales, *common).code == 0
    plain = Path("forecast.csv").read_text(encoding="utf-8")
    assert run("forecast", path, *common).code == 0
    assert Path("forecast.csv").read_text(encoding="utf-8") == plain


def test_a_parquet_file_comes_out(run: Run, sales: Path) -> None:
    options = ("-n", 2, "--model", "drift", "--no-plot", "--output", "out.parquet")
    assert run("forecast", sales, *options).code == 0
    assert pd.read_parquet("out.parquet")["day"].dtype.kind == "M"


def test_dates_semicolons_and_decimal_commas(run: Run, sales: Path) -> None:
    path = rewritten(sales, "european.csv", sep=";", decimal=",", date_format="%d.%m.%Y")
    common = ("forecast", path, "-n", 2, "--model", "drift", "--no-plot")
    first = run(*common)
    assert first.code == 0 and "separated by ';'" in first.err
    assert "decimal mark ','" in first.err
    alone = Path("forecast.csv").read_text(encoding="utf-8")
    second = run(*common, "--separator", ";", "--decimal", ",")
    assert second.code == 0, second.err  # no other usual format reads every row
    found = Path("forecast.csv").read_text(encoding="utf-8")
    third = run(*common, "--separator", ";", "--decimal", ",", "--time-format", "%d.%m.%Y")
    assert third.code == 0, third.err
    assert Path("forecast.csv").read_text(encoding="utf-8") == found == alone
    early = pd.read_csv(path, sep=";", nrows=12)
    early.to_csv("early.csv", sep=";", index=False)
    both = run("forecast", "early.csv", *common[2:], "--separator", ";", "--decimal", ",")
    assert both.code == 1 and '--time day --time-format "%d.%m.%Y"' in both.err
    wrong = run(*common, "--separator", ";", "--decimal", ",", "--time-format", "%m.%d.%Y")
    assert wrong.code == 1 and "'13.01.2024' in row 12" in wrong.err


def test_a_first_column_that_counts_rows_is_left_out(run: Run, sales: Path) -> None:
    pd.read_csv(sales).to_csv("counted.csv")
    done = run("forecast", "counted.csv", "-n", 2, "--model", "drift", "--no-plot")
    assert done.code == 0 and done.err.startswith("note: counted.csv: the first column")
    assert "Unnamed" not in Path("forecast.csv").read_text(encoding="utf-8")


def test_row_numbers_come_along_where_they_are_the_time(run: Run) -> None:
    pd.DataFrame({"y": np.tile([1.0, 2.0, 3.0], 10)}).to_csv("rows.csv", index=False)
    assert run("forecast", "rows.csv", "-n", 2, "--model", "drift").code == 0
    assert pd.read_csv("forecast.csv")["row"].tolist() == [30, 31]


def test_roles_known_covariates_and_their_future(run: Run, sales: Path) -> None:
    common = ("forecast", sales, "-n", 3, "--target", "sold", "--known", "price", "--no-plot")
    absent = run(*common, "--model", "linear")
    assert absent.code == 1 and absent.err.startswith("error: ") and "price" in absent.err
    days = pd.date_range("2024-04-30", periods=3)
    pd.DataFrame({"day": days, "price": 10.0}).to_csv("plan.csv", index=False)
    done = run(*common, "--model", "linear", "--future", "plan.csv")
    assert done.code == 0, done.err
    assert "price" not in pd.read_csv("forecast.csv").columns


def test_a_long_table_of_series(run: Run, sales: Path) -> None:
    frame = pd.read_csv(sales)
    both = pd.concat([frame.assign(shop=shop) for shop in ("north", "south")])
    both.to_csv("shops.csv", index=False)
    options = ("-n", 2, "--target", "sold,price", "--model", "seasonal-naive")
    done = run("forecast", "shops.csv", *options)
    assert done.code == 0, done.err
    assert "2 series by 'shop'" in done.out and "the first of 2 columns, 'sold'" in done.out
    assert pd.read_csv("forecast.csv")["shop"].tolist() == ["north"] * 2 + ["south"] * 2


def test_gaps_and_missing_values_are_masked_and_said_or_refused(run: Run, sales: Path) -> None:
    frame = pd.read_csv(sales)
    frame.drop(index=[40]).to_csv("gaps.csv", index=False)
    frame.loc[50, "sold"] = np.nan
    frame.to_csv("missing.csv", index=False)
    common = ("-n", 2, "--model", "seasonal-naive", "--no-plot")
    said = run("forecast", "missing.csv", *common)
    assert said.code == 0 and "'sold' has no value in 1 of 120 rows" in said.err
    said = run("forecast", "gaps.csv", *common)
    assert said.code == 0 and "has no value in 1 of 120 rows" in said.err.replace("have", "has")
    missing = run("forecast", "missing.csv", *common, "--missing", "error")
    assert missing.code == 1 and "--missing mask" in missing.err
    assert run("forecast", "missing.csv", *common, "--missing", "mask").code == 0
    gaps = run("forecast", "gaps.csv", *common, "--gaps", "error")
    assert gaps.code == 1 and "--gaps mask" in gaps.err
    assert run("forecast", "gaps.csv", *common, "--gaps", "mask").code == 0


def test_a_saved_model_forecasts_the_same(run: Run, sales: Path) -> None:
    options = ("-n", 3, "--target", "sold", "--model", "linear")
    assert run("forecast", sales, *options, "--no-plot").code == 0
    done = run("fit", sales, *options, "--save", "model.safetensors")
    assert done.code == 0 and "model written to model.safetensors" in done.out
    printed = run("predict", "model.safetensors")
    assert printed.code == 0
    assert printed.out == Path("forecast.csv").read_text(encoding="utf-8")
    assert run("predict", "model.safetensors", sales, "-o", "later.csv").code == 0
    assert Path("later.csv").read_bytes() == Path("forecast.csv").read_bytes()
    again = run("fit", sales, *options, "--save", "model.safetensors")
    assert again.code == 2 and "--force" in again.err


def test_options_and_paths_reach_the_model(run: Run, sales: Path) -> None:
    done = run(
        "forecast", sales, "-n", 2, "--model", "Informer", "--context", 8, "--epochs", 1,
        "--seed", 3, "--set", "model__d_model=8", "--set", "model__n_heads=2",
        "--set", "training__validation=None", "--no-plot",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Informer, 8 steps of context" in done.out
