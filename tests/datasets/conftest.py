import hashlib
import io
import urllib.request
from collections.abc import Callable
from email.message import Message
from pathlib import Path

import pytest

PAYLOAD = b"day,sales\n2024-01-01,3\n2024-01-02,NA\n2024-01-03,5\n"

RECIPE = """
title = "Three days of a shop"
bundled = false
homepage = "https://example.org"
citation = "Nobody"
license = "CC0-1.0"
freq = "D"
rows = 3
missing = ["NA"]
time = {{ column = "day", format = "%Y-%m-%d" }}
columns = {{ sales = {{ role = "target", unit = "pieces" }} }}
splits = {{ canonical = {{ train = 2, test = 1 }} }}

[[files]]
name = "shop.csv"
url = "https://example.org/files/shop.csv"
size = {size}
sha256 = "{sha256}"
"""


class Response(io.BytesIO):
    def __init__(self, payload: bytes, length: int | None = None) -> None:
        super().__init__(payload)
        self.headers = Message()
        self.headers["Content-Length"] = str(len(payload) if length is None else length)


@pytest.fixture
def payload() -> bytes:
    return PAYLOAD


@pytest.fixture
def recipe_text() -> str:
    return RECIPE.format(size=len(PAYLOAD), sha256=hashlib.sha256(PAYLOAD).hexdigest())


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads the user's folders or reaches the network."""

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a test tried to reach the network")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    monkeypatch.delenv("TSFORMER_DATA", raising=False)
    monkeypatch.setenv("TSFORMER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe_text: str) -> Path:
    """A data folder with one recipe, ``shop``, and no data."""
    folder = tmp_path / "folder"
    (folder / "shop").mkdir(parents=True)
    (folder / "README.md").write_text("# Data sets\n")
    (folder / "shop" / "recipe.toml").write_text(recipe_text)
    (folder / "shop" / "card.md").write_text("# shop\n")
    for module in ("catalog", "load"):
        monkeypatch.setattr(f"tsformer.datasets.{module}.data_folder", lambda: folder)
    return folder


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that ``TSFORMER_DATA`` names."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("TSFORMER_DATA", str(folder))
    return folder


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Let the network serve these bytes, or raise; returns the list of urls asked for."""

    def install(answer: bytes | Exception, length: int | None = None) -> list[str]:
        asked: list[str] = []

        def urlopen(request: urllib.request.Request, timeout: float) -> Response:
            asked.append(request.full_url)
            if isinstance(answer, Exception):
                raise answer
            return Response(answer, length)

        monkeypatch.setattr(urllib.request, "urlopen", urlopen)
        return asked

    return install
