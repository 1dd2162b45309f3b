"""Every named data set, made from the files that ``TSFORMER_DATA`` names."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tsformer.datasets import dataset_names, load_dataset, read_recipe

SHARED = os.environ.get("TSFORMER_DATA", "")
GAPS = {
    "air_quality_valencia": 13_262,
    "beijing_air": 2_067,
    "carparts": 6_122,
    "m5_small": 1_057,
    "nn5_daily": 1_677,
}


pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED, reason="TSFORMER_DATA is not set"),
]


@pytest.fixture(autouse=True)
def search_path(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder the run was started with, which ``cache`` hides."""
    monkeypatch.setenv("TSFORMER_DATA", SHARED)


@pytest.mark.parametrize("name", dataset_names())
def test_every_recipe_makes_its_frame(name: str) -> None:
    recipe, loaded = read_recipe(name), load_dataset(name, download=False)
    assert len(loaded.frame) == recipe.rows
    assert int(loaded.frame.isna().sum().sum()) == GAPS.get(name, 0)
    uneven = name in ("bike_sharing", "metro_traffic")
    if loaded.schema.time and loaded.schema.series is None and not uneven:
        stamps = pd.DatetimeIndex(loaded.frame[loaded.schema.time])
        expected = pd.date_range(stamps[0], periods=len(stamps), freq=loaded.schema.freq)
        assert stamps.equals(expected.as_unit(stamps.unit))


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("etth1", (8640, 2880, 2880)),
        ("etth2", (8640, 2880, 2880)),
        ("ettm1", (34560, 11520, 11520)),
        ("ettm2", (34560, 11520, 11520)),
        ("weather", (36887, 5270, 10539)),
        ("exchange_rate", (5311, 760, 1517)),
        ("national_illness", (676, 97, 193)),
        ("epf_np", (52416 - 1092 * 24, 364 * 24, 728 * 24)),
        ("air_quality_valencia", (26304, 8760, 8760)),
        ("bike_sharing", (11539, 2952, 2888)),
        ("metro_traffic", (29650, 10605, 7949)),
    ],
)
def test_canonical_splits(name: str, rows: tuple[int, int, int]) -> None:
    split = load_dataset(name).splits["canonical"]
    assert (split.train, split.validation, split.test) == rows


def test_percentages_are_rounded_as_the_field_does() -> None:
    for name in ("weather", "exchange_rate", "national_illness"):
        recipe = read_recipe(name)
        split = recipe.splits["canonical"]
        assert (split.train, split.test) == (recipe.rows * 7 // 10, recipe.rows * 2 // 10)
        assert split.train + split.validation + split.test == recipe.rows


def test_air_passengers_are_the_published_ones() -> None:
    published = pd.read_csv(next(Path(SHARED).rglob("AirPassengers.csv")))
    ours = load_dataset("air_passengers").frame
    assert ours["passengers"].tolist() == published["#Passengers"].tolist()
    assert ours["month"].dt.strftime("%Y-%m").tolist() == published["Month"].tolist()


def test_values_are_exact() -> None:
    lines = next(Path(SHARED).rglob("ETTh1.csv")).read_text().splitlines()[1:]
    exact = np.array([[float(cell) for cell in line.split(",")[1:]] for line in lines])
    assert np.array_equal(load_dataset("etth1").frame.iloc[:, 1:].to_numpy(), exact)


def test_weather_keeps_its_codes_and_gets_its_units_back() -> None:
    frame = load_dataset("weather").frame
    codes = frame.eq(-9999).sum()
    assert codes[codes > 0].to_dict() == {
        "wv (m/s)": 1,
        "max. PAR (µmol/m²/s)": 30,
        "OT": 50,
    }


@pytest.mark.parametrize(("name", "count"), [("m4_hourly", 414), ("m4_weekly", 359)])
def test_m4_joins_training_and_test(name: str, count: int) -> None:
    loaded = load_dataset(name)
    groups = loaded.frame.groupby("series", sort=False)["step"]
    assert groups.ngroups == count
    assert (groups.max() == groups.size()).all()
    if name == "m4_hourly":
        first = loaded.frame[loaded.frame["series"] == "H1"]["value"].to_numpy()
        assert read_recipe(name).horizon == 48
        assert first[:2].tolist() == [605, 586]
        assert first[-48:-46].tolist() == [619, 565]


@pytest.mark.parametrize(
    ("name", "count", "rows"),
    [
        ("nn5_daily", 111, 791),
        ("carparts", 2_674, 51),
        ("stallion", 350, 60),
        ("walmart", 45, 143),
        ("m5_small", 8, 1_969),
    ],
)
def test_panels_are_complete(name: str, count: int, rows: int) -> None:
    loaded = load_dataset(name)
    schema = loaded.schema
    for _, one in loaded.frame.groupby(schema.series):
        stamps = pd.DatetimeIndex(one[schema.time])
        expected = pd.date_range(stamps[0], periods=rows, freq=schema.freq)
        assert stamps.equals(expected.as_unit(stamps.unit))
    assert loaded.frame[schema.series].nunique() == count
    assert 0 < (read_recipe(name).horizon or 0) < rows // 2


def test_sums_of_the_targets() -> None:
    sums = {"walmart": 6_737_218_987.11, "bike_sharing": 3_292_679}
    for name, total in sums.items():
        loaded = load_dataset(name)
        assert loaded.frame[loaded.schema.target].sum() == pytest.approx(total, abs=0.01)


def test_splits_by_year_and_month() -> None:
    for name, months in (
        ("air_quality_valencia", [(2022, 1), (2023, 1)]),
        ("bike_sharing", [(2012, 5), (2012, 9)]),
        ("metro_traffic", [(2017, 1), (2018, 1)]),
    ):
        loaded = load_dataset(name)
        split, stamps = loaded.splits["canonical"], loaded.frame[loaded.schema.time]
        borders = (split.train, split.train + split.validation)
        assert [(stamps[row].year, stamps[row].month) for row in borders] == months
        assert [(stamps[row - 1].year, stamps[row - 1].month) for row in borders] != months


def test_stallion_is_named_by_agency_and_product() -> None:
    frame = load_dataset("stallion").frame
    parts = frame["series"].str.split("/", expand=True)
    assert (parts[0] == frame["agency"].astype("str")).all()
    assert (parts[1] == frame["sku"].astype("str")).all()


def test_traffic_is_as_published() -> None:
    frame = load_dataset("metro_traffic").frame
    assert int(frame["time"].duplicated().sum()) == 7_629
    assert (frame.groupby("time")["traffic_volume"].nunique() == 1).all()
    assert int((frame["holiday"] == "None").sum()) == 48_143
