import subprocess
import sys
from pathlib import Path

import pytest

from tsformer.datasets import catalog, data_folder, dataset_names, read_recipe
from tsformer.errors import DatasetError, TsformerError, UnknownDataset

NAMES = [
    "air_passengers",
    "air_quality_valencia",
    "beijing_air",
    "bike_sharing",
    "carparts",
    "epf_be",
    "epf_np",
    "epf_pjm",
    "etth1",
    "etth2",
    "ettm1",
    "ettm2",
    "exchange_rate",
    "m4_hourly",
    "m4_weekly",
    "m5_small",
    "metro_traffic",
    "national_illness",
    "nn5_daily",
    "stallion",
    "walmart",
    "weather",
]


def test_every_promised_name_is_there() -> None:
    assert dataset_names() == NAMES


@pytest.mark.parametrize(
    ("typed", "meant"), [("ETTh1", "etth1"), ("bejing_air", "beijing_air"), ("epf-np", "epf_np")]
)
def test_an_unknown_name_is_met_with_the_closest(typed: str, meant: str) -> None:
    with pytest.raises(UnknownDataset, match=f"Did you mean '{meant}'") as caught:
        read_recipe(typed)
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, TsformerError)


@pytest.mark.parametrize("name", ["zzzz", "../pyproject", "", "README.md"])
def test_a_name_like_no_other_lists_them_all(name: str) -> None:
    with pytest.raises(UnknownDataset, match="There are: air_passengers, "):
        read_recipe(name)


def test_the_folder_holds_data_only() -> None:
    kinds = {path.suffix for path in data_folder().rglob("*") if path.is_file()}
    assert kinds <= {".toml", ".md", ".csv", ".gz", ""}
    assert not list(data_folder().rglob("*.py"))


def test_the_bundle_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in data_folder().rglob("*") if path.is_file()}
    assert sizes["beijing_pm25.csv.gz"] < 600_000
    assert sum(sizes.values()) < 700_000


def test_a_wheel_reads_the_folder_beside_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "site" / "tsformer" / "datasets" / "catalog.py"
    bundled = module.parent / "bundled"
    bundled.mkdir(parents=True)
    (bundled / "README.md").write_text("# Data sets\n")
    monkeypatch.setattr(catalog, "__file__", str(module))
    assert catalog.data_folder() == bundled.resolve()


def test_a_foreign_folder_of_that_name_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "site" / "tsformer" / "datasets" / "catalog.py"
    (tmp_path / "site" / "datasets").mkdir(parents=True)  # where other packages install theirs
    monkeypatch.setattr(catalog, "__file__", str(module))
    with pytest.raises(DatasetError, match="data folder is missing"):
        catalog.data_folder()


def test_importing_the_room_loads_no_torch() -> None:
    code = "import sys, tsformer.datasets; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
