import gzip
import hashlib
import io
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tsformer.datasets import Dataset, load_dataset
from tsformer.errors import ChecksumMismatch, DownloadFailed, UnknownDataset

Serve = Callable[..., list[str]]


class TestBundled:
    def test_air_passengers(self) -> None:
        air = load_dataset("air_passengers", download=False)
        assert isinstance(air, Dataset)
        assert len(air.frame) == 144
        assert air.frame["month"].iloc[-1] == pd.Timestamp("1960-12-01")
        assert air.frame["passengers"].sum() == 40363
        assert air.schema.target == "passengers"
        assert repr(air) == "Dataset('air_passengers', 144 rows, target 'passengers', freq 'MS')"

    def test_beijing_air(self) -> None:
        air = load_dataset("beijing_air", download=False)
        assert len(air.frame) == 43_824
        assert int(air.frame["pm2.5"].isna().sum()) == 2_067
        assert air.frame.drop(columns="pm2.5").notna().all(axis=None)
        assert air.frame["time"].diff().iloc[1:].eq(pd.Timedelta(hours=1)).all()
        assert sorted(air.frame["cbwd"].unique()) == ["NE", "NW", "SE", "cv"]
        years = air.frame["time"].dt.year
        split = air.splits["canonical"]
        assert (years.iloc[split.train], years.iloc[split.train + split.validation]) == (2013, 2014)
        assert split.train + split.validation + split.test == len(air.frame)

    def test_calls_share_nothing(self) -> None:
        first = load_dataset("air_passengers")
        first.frame["passengers"] = 0
        first.splits.clear()
        again = load_dataset("air_passengers")
        assert again.frame["passengers"].min() == 104
        assert again.splits

    def test_needs_neither_network_nor_cache(self, cache: Path) -> None:
        load_dataset("beijing_air")
        assert not cache.exists()


def test_an_unknown_name() -> None:
    with pytest.raises(UnknownDataset, match="Did you mean 'air_passengers'"):
        load_dataset("air_passenger")


@pytest.mark.usefixtures("shop")
class TestSearchPath:
    def check(self) -> None:
        assert load_dataset("shop", download=False).frame["sales"].iloc[0] == 3

    def test_plain_below_a_subfolder(self, shelf: Path, payload: bytes) -> None:
        (shelf / "a" / "b").mkdir(parents=True)
        (shelf / "a" / "b" / "shop.csv").write_bytes(payload)
        self.check()

    def test_gz(self, shelf: Path, payload: bytes) -> None:
        (shelf / "shop.csv.gz").write_bytes(gzip.compress(payload))
        self.check()

    @pytest.mark.parametrize("name", ["renamed.csv", "renamed.bin.gz"])
    def test_by_checksum_under_another_name(self, shelf: Path, payload: bytes, name: str) -> None:
        packed = gzip.compress(payload) if name.endswith(".gz") else payload
        (shelf / name).write_bytes(packed)
        (shelf / "same_size.csv").write_bytes(bytes(len(payload)))
        self.check()

    def test_a_right_file_beats_a_wrong_one_of_its_name(self, shelf: Path, payload: bytes) -> None:
        (shelf / "shop.csv").write_bytes(b"day,sales\n2024-01-01,9\n")
        (shelf / "z").mkdir()
        (shelf / "z" / "shop.csv").write_bytes(payload)
        self.check()

    def test_several_folders(
        self, shelf: Path, payload: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (shelf / "shop.csv").write_bytes(payload)
        monkeypatch.setenv("TSFORMER_DATA", os.pathsep.join([str(tmp_path / "none"), str(shelf)]))
        self.check()

    def test_is_never_written_to(self, shelf: Path, payload: bytes, serve: Serve) -> None:
        serve(payload)
        load_dataset("shop")
        assert not list(shelf.iterdir())

    def test_another_form_with_the_same_values(
        self, shop: Path, shelf: Path, payload: bytes
    ) -> None:
        windows = payload.replace(b"\n", b"\r\n")
        recipe = shop / "shop" / "recipe.toml"
        entry = f'sha256 = "{hashlib.sha256(windows).hexdigest()}", size = {len(windows)}'
        recipe.write_text(f"{recipe.read_text()}\nvariants = [{{ {entry} }}]\n")
        (shelf / "shop.csv").write_bytes(windows)
        self.check()

    @pytest.mark.parametrize("wrong", [b"day,sales\n2024-01-01,9\n", b"x" * 100, b""])
    def test_a_wrong_file_is_refused(self, shelf: Path, wrong: bytes) -> None:
        (shelf / "shop.csv").write_bytes(wrong)
        with pytest.raises(ChecksumMismatch, match="has the right name but not the bytes"):
            load_dataset("shop")

    @pytest.mark.parametrize(
        "broken", [b"no gzip at all", gzip.compress(b"day" * 99, mtime=0)[:-9]]
    )
    def test_a_broken_gz_is_refused(self, shelf: Path, broken: bytes) -> None:
        (shelf / "shop.csv.gz").write_bytes(broken)
        with pytest.raises(ChecksumMismatch, match="right name"):
            load_dataset("shop")


@pytest.mark.usefixtures("shop")
class TestDownload:
    def test_is_kept_and_used_again(self, cache: Path, payload: bytes, serve: Serve) -> None:
        asked = serve(payload)
        first = load_dataset("shop").frame
        assert (cache / "shop" / "shop.csv").read_bytes() == payload
        pd.testing.assert_frame_equal(load_dataset("shop", download=False).frame, first)
        assert asked == ["https://example.org/files/shop.csv"]

    def test_wrong_bytes_are_never_kept(self, cache: Path, payload: bytes, serve: Serve) -> None:
        serve(payload + b"2024-01-04,6\n")
        with pytest.raises(ChecksumMismatch, match="does not describe; nothing was kept"):
            load_dataset("shop")
        assert not cache.exists()

    def test_a_damaged_copy_is_replaced(self, cache: Path, payload: bytes, serve: Serve) -> None:
        serve(payload)
        load_dataset("shop")
        (cache / "shop" / "shop.csv").write_bytes(payload[:-1])
        with pytest.raises(DownloadFailed):
            load_dataset("shop", download=False)
        serve(payload)
        load_dataset("shop")
        assert (cache / "shop" / "shop.csv").read_bytes() == payload

    def test_a_write_that_fails_leaves_no_trace(
        self, cache: Path, payload: bytes, serve: Serve, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(source: object, target: object) -> None:
            raise OSError("no space left")

        serve(payload)
        monkeypatch.setattr(os, "replace", full)
        assert len(load_dataset("shop").frame) == 3
        assert not list((cache / "shop").iterdir())

    def test_a_cache_that_cannot_be_made_only_costs_time(
        self, cache: Path, payload: bytes, serve: Serve
    ) -> None:
        cache.write_text("a file where the folder should be")
        serve(payload)
        assert len(load_dataset("shop").frame) == 3

    @pytest.mark.parametrize(
        "failure", [ConnectionRefusedError("refused"), TimeoutError("timed out")]
    )
    def test_unreachable_says_how_to_go_on(self, failure: OSError, serve: Serve) -> None:
        serve(failure)
        with pytest.raises(DownloadFailed) as caught:
            load_dataset("shop")
        message = str(caught.value)
        assert isinstance(caught.value, OSError)
        for part in (
            "https://example.org/files/shop.csv",
            "TSFORMER_DATA=",
            "'shop.csv'",
            "sha256",
        ):
            assert part in message

    def test_a_closed_connection_is_a_failed_download(self, payload: bytes, serve: Serve) -> None:
        serve(payload[:10], length=len(payload))
        with pytest.raises(DownloadFailed, match=f"closed after 10 of {len(payload)} bytes"):
            load_dataset("shop")

    def test_a_member_of_a_zip(self, shop: Path, payload: bytes, serve: Serve) -> None:
        recipe = shop / "shop" / "recipe.toml"
        recipe.write_text(recipe.read_text() + '\nmember = "inner/data.csv"\n')
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("inner/data.csv", payload)
        serve(packed.getvalue())
        assert len(load_dataset("shop").frame) == 3

    def test_a_packed_member_of_a_zip(self, shop: Path, payload: bytes, serve: Serve) -> None:
        recipe = shop / "shop" / "recipe.toml"
        recipe.write_text(recipe.read_text() + '\nmember = "data.csv.gz"\n')
        served = io.BytesIO()
        with zipfile.ZipFile(served, "w") as archive:
            archive.writestr("data.csv.gz", gzip.compress(payload))
        serve(served.getvalue())
        assert len(load_dataset("shop").frame) == 3

    def test_no_zip_at_all(self, shop: Path, serve: Serve) -> None:
        recipe = shop / "shop" / "recipe.toml"
        recipe.write_text(recipe.read_text() + '\nmember = "inner/data.csv"\n')
        serve(b"<html>moved</html>")
        with pytest.raises(ChecksumMismatch, match="served"):
            load_dataset("shop")

    def test_progress_shows_on_a_terminal_only(
        self,
        payload: bytes,
        serve: Serve,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        serve(payload)
        load_dataset("shop")
        assert capsys.readouterr() == ("", "")
        terminal = io.StringIO()
        monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("TSFORMER_CACHE", os.environ["TSFORMER_CACHE"] + "2")
        serve(payload)
        load_dataset("shop")
        assert "shop.csv" in terminal.getvalue()


def test_no_public_url_says_which_file_to_get() -> None:
    with pytest.raises(DownloadFailed, match=r"no public url.*'BE\.csv'.*TSFORMER_DATA="):
        load_dataset("epf_be")


def test_the_cache_follows_the_platform(
    tmp_path: Path, payload: bytes, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TSFORMER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "xdg"))
    serve(payload)
    load_dataset("shop")
    assert (tmp_path / "xdg" / "tsformer" / "shop" / "shop.csv").is_file()
