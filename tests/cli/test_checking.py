"""``check``: 0 for clean, 1 for warnings, 2 for errors."""

from pathlib import Path
from typing import Any

import pandas as pd

Run = Any


def test_a_clean_file(run: Run, sales: Path) -> None:
    done = run("check", sales, "--target", "sold", "-n", 7)
    assert (done.code, done.err) == (0, "")
    assert "2024-01-01 to 2024-04-29" in done.out
    assert done.out.rstrip().endswith("clean: fit takes it as it is")


def test_what_options_deal_with_is_a_warning(run: Run, sales: Path) -> None:
    frame = pd.read_csv(sales)
    frame.loc[5, "sold"] = None
    frame.to_csv(sales, index=False)
    refused = run("check", sales, "--target", "sold", "--missing", "error")
    assert refused.code == 2 and "--missing mask" in refused.out
    masked = run("check", sales, "--target", "sold")
    assert masked.code == 1
    assert "warning: column 'sold' has no value in 1 of 120 rows" in masked.out


def test_every_error_is_printed(run: Run, sales: Path) -> None:
    frame = pd.read_csv(sales).drop(index=[20])
    frame.loc[5, "sold"] = None
    frame.to_csv(sales, index=False)
    done = run("check", sales, "--missing", "error", "--gaps", "error")
    assert done.code == 2
    assert "holds NaN" in done.out and "2024-01-20" in done.out


def test_a_file_that_cannot_be_read_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("day;value\n1.2.2024;3\n")
    assert run("check", tmp_path / "odd.csv").code == 2
    assert run("check", "nothing_of_this_name").code == 2


def test_a_data_set_may_be_checked(run: Run) -> None:
    assert run("check", "air_passengers", "-n", 12).code == 0
    air = run("check", "beijing_air", "--missing", "mask")
    assert air.code == 1 and "masked" in air.out


def test_options_of_the_policy_reach_it(run: Run, sales: Path) -> None:
    frame = pd.read_csv(sales)
    frame.loc[50:59, "sold"] = None
    frame.to_csv(sales, index=False)
    ignored = run("check", sales, "--target", "sold", "--ignore", "2024-02-20..2024-02-29")
    assert ignored.code == 1, ignored.out
    assert "10 of 120 rows" in ignored.out
    assert run("check", sales, "--target", "sold", "--ignore", "2024-02-20").code == 2
    drawn = run("check", sales, "--target", "sold", "--missing", "interpolate")
    assert drawn.code == 1 and "drawn as lines" in drawn.out
    assert run("check", sales, "--short", "never").code == 2


def test_names_may_begin_with_a_blank(run: Run, sales: Path) -> None:
    pd.read_csv(sales).rename(columns={"price": " price"}).to_csv(sales, index=False)
    done = run("check", sales, "--target", "sold", "--known", " price", "-n", 7)
    assert (done.code, done.err) == (0, "")
