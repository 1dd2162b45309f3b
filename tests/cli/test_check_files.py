"""Files of real data as they were published: what ``check`` says of each, and with which code."""

from pathlib import Path
from typing import Any

import pytest

Run = Any

pytestmark = [pytest.mark.shared_data, pytest.mark.slow]

STRICT = ("--missing", "error", "--gaps", "error")  # by default both are masked, and said
SMALL = ("-n", 6, "--context", 12)  # the cost of an epoch is measured, and a long one takes long


def check(run: Run, code: int, *arguments: object) -> str:
    """The report of a file, which must be readable and end with this code."""
    done = run("check", *arguments, *SMALL)
    assert done.code == code, done.out + done.err
    lines = done.out.splitlines()
    assert len(lines) < 40 and max(map(len, lines)) < 500
    assert done.out.count("error: ") == 0 if code < 2 else done.out.count("error: ") >= 1
    verdict = ("clean: fit takes it as it is", "fit takes it; see the warnings", "fit refuses it")
    assert lines[-1].startswith(verdict[code])
    return str(done.out)


def test_weather(run: Run, shared_data: Path) -> None:
    file = shared_data / "ltsf" / "weather.csv.gz"
    out = check(run, 2, file, *STRICT)
    assert "first at 2020-05-12 06:00:00 (row 19044), 1 in all" in out
    assert "after 2020-05-29 09:30:00 comes 2020-05-29 11:10:00" in out
    for found in ("'wv (m/s)' holds -9999 in 1 rows", "-9999 in 30 rows", "'OT' holds -9999 in 50"):
        assert found in out
    with_options = check(run, 2, file, "--missing", "mask", "--gaps", "mask")
    assert out.count("error: ") == 2 and with_options.count("error: ") == 1  # the duplicate


def test_metro_traffic(run: Run, shared_data: Path) -> None:
    file = shared_data / "covariates" / "metro_traffic_volume.csv.gz"
    out = check(run, 2, file, *STRICT)
    assert "stamps occur more than once: first at 2012-10-10 07:00:00 (row 179), 7629 in all" in out
    assert "comes 2012-10-03 08:00:00 (row 22)" in out and "--gaps mask --missing mask" in out
    assert "in 11,976 of 52,551 rows (22.8%, at most 7386 in a row)" in out
    assert "series apart" not in out
    target = ("--target", "traffic_volume", "--past", "rest")
    masked = check(run, 2, file, *target, "--missing", "mask", "--gaps", "mask")
    assert masked.count("error: ") == 1 and "7629 in all" in masked


def test_air_quality(run: Run, shared_data: Path) -> None:
    file = shared_data / "covariates" / "air_quality_valencia.csv.gz"
    assert "'so2' holds NaN: first at 2019-01-09 14:00:00 (row 206)" in check(run, 2, file, *STRICT)
    out = check(run, 1, file, "--missing", "mask")
    counts = {"'so2'": "1,836", "'co'": "3,269", "'no', 'no2', 'nox'": "618", "'o3'": "1,210"}
    counts |= {"'pm10', 'pm2.5'": "1,992", "'veloc.'": "837", "'direc.'": "272"}
    for names, count in counts.items():
        has = "have" if "," in names else "has"
        assert f"{names} {has} no value in {count} of 43,824 rows" in out


def test_nn5_daily(run: Run, shared_data: Path) -> None:
    file = shared_data / "panels" / "nn5_daily.parquet"
    assert "series 'NN5-001' at 1996-04-07 00:00:00 (row 20), 1677 in all" in check(
        run, 2, file, *STRICT
    )
    out = check(run, 1, file, "--missing", "mask")
    assert "87,801, 791 each" in out and "no value in 1,677 of 87,801 rows" in out


def test_carparts(run: Run, shared_data: Path) -> None:
    file = shared_data / "panels" / "carparts_monthly.parquet"
    assert "6122 in all" in check(run, 2, file, *STRICT)
    out = check(run, 1, file, "--missing", "mask")
    assert "target 'y' is 0 in 75% of its rows and never negative" in out


def test_stallion(run: Run, shared_data: Path) -> None:
    out = check(run, 2, shared_data / "covariates" / "stallion.parquet")
    assert "none of the columns 'agency', 'sku' alone tells the series apart" in out
    assert "--series series" in out
    assert "350" in check(run, 0, "stallion")


def test_walmart(run: Run, shared_data: Path) -> None:
    file = shared_data / "covariates" / "walmart_weekly.parquet"
    out = check(run, 2, file, *STRICT)
    assert "6292 in all. Does column 'Store' tell series apart? Say so: --series Store" in out
    roles = ("--target", "Weekly_Sales", "--known", "Holiday_Flag", "--past", "rest")
    assert "6,435, 143 each" in check(run, 0, file, "--series", "Store", *roles)


def test_m4_hourly(run: Run, shared_data: Path) -> None:
    file = shared_data / "m4" / "Hourly-train.csv.gz"
    out = check(run, 2, file, *STRICT)
    assert "column 'V1' names each of the 414 rows: if a row is a series" in out
    assert out.splitlines()[0].endswith("count them: --freq 1.")
    assert "'V702' holds NaN" in check(run, 2, file, *STRICT, "--freq", "1")
    out = check(run, 1, file, "--missing", "mask", "--freq", "1")
    assert "column 'V1' names each of the 414 rows: if a row is a series" in out
    assert "169 of 414 series end before 1008" in check(run, 1, "m4_hourly")


def test_m5_small(run: Run, shared_data: Path) -> None:
    file = shared_data / "covariates" / "m5_sales_exog_small.csv.gz"
    assert "15,752, 1,969 each" in check(run, 0, file)
    priced = (file, "--known", "sell_price")
    assert "of series 'FOODS_1_004'" in check(run, 2, *priced, *STRICT)
    assert "no value in 1,057 of 15,752 rows" in check(run, 1, *priced, "--missing", "mask")


def test_bike_sharing(run: Run, shared_data: Path) -> None:
    out = check(run, 2, shared_data / "covariates" / "bike_sharing_hour.csv.gz", *STRICT)
    assert "'dteday' with 'hr'" in out and "75 such places" in out
    assert "75 such places" in check(run, 2, "bike_sharing", *STRICT)
    assert "no value in 165 of 17,544 rows" in check(run, 1, "bike_sharing", "--gaps", "mask")


def test_nord_pool(run: Run, shared_data: Path) -> None:
    file = shared_data / "epf" / "NP.csv.gz"
    roles = ("--target", "OT", "--known", " Grid load forecast", "--known", " Wind power forecast")
    for form in ((), ("--time-format", "%Y/%m/%d %H:%M")):
        out = check(run, 0, file, *form, *roles)
        assert "2013-01-01 to 2018-12-24 23:00:00" in out and "52,416" in out
