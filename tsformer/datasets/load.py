"""``load_dataset``: find the bytes of a data set, prove they are the right ones, make the frame."""

import gzip
import hashlib
import io
import logging
import os
import struct
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from pandas import DataFrame

from tsformer.atomic import write_atomically
from tsformer.bars import progress_bar
from tsformer.datasets.catalog import data_folder, read_card, read_recipe
from tsformer.datasets.recipe import Recipe, SourceFile
from tsformer.errors import ChecksumMismatch, DownloadFailed
from tsformer.panels import Schema
from tsformer.reading import Holdout

__all__ = ["Dataset", "load_dataset"]

_log = logging.getLogger("tsformer")

_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 1 << 16
_UNREADABLE = (OSError, EOFError, zlib.error)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named data set in memory.

    Attributes
    ----------
    frame
        The values, as published; gaps are NaN.
    schema
        The roles of its columns, ready for ``Forecaster(schema=...)``.
    splits
        Name to ``Holdout``; the field's usual one is ``"canonical"``. Empty for panels whose test
        is a number of rows at the end of each series (``read_recipe(name).horizon``).
    card
        What was measured, quirks, licence and citation, as Markdown.
    name
        The key it was loaded by.
    """

    frame: DataFrame
    schema: Schema
    splits: dict[str, Holdout]
    card: str
    name: str

    def __repr__(self) -> str:
        schema = self.schema
        freq = "rows as time" if schema.time is None else f"freq {schema.freq!r}"
        targets = schema.target or ()
        if isinstance(targets, (tuple, list)):
            shown = f"{len(targets)} targets"
        else:
            shown = f"target {targets!r}"
        return f"Dataset({self.name!r}, {len(self.frame):,} rows, {shown}, {freq})"


def load_dataset(name: str, *, download: bool = True) -> Dataset:
    """Load a data set by name.

    Its files are looked for among those bundled with the library, then in the folders that
    ``TSFORMER_DATA`` names (separated as in ``PATH``, searched recursively, never written to; by
    file name, plain or with ``.gz``, then by checksum under any name), then in the user's cache
    (``TSFORMER_CACHE``, or ``tsformer`` in the platform's cache folder), and at last downloaded
    into that cache. Bytes whose sha256 is not the recipe's are never used.

    Parameters
    ----------
    name
        One of :func:`dataset_names`.
    download
        False never touches the network.

    Returns
    -------
    Dataset
        Frame, schema, splits and card. The frame is the caller's own: nothing is shared between
        calls.

    Raises
    ------
    UnknownDataset
        If no recipe has this name.
    DownloadFailed
        If the file is nowhere on this machine and could not be fetched.
    ChecksumMismatch
        If the only file found, or the one that was served, is not the one the recipe describes.

    Examples
    --------
    >>> air = load_dataset("air_passengers")
    >>> air.frame.head(2)
           month  passengers
    0 1949-01-01         112
    1 1949-02-01         118
    >>> air.splits["canonical"].test
    24
    """
    recipe = read_recipe(name)
    payloads = [_payload(recipe, file, download=download) for file in recipe.files]
    return Dataset(
        frame=recipe.frame(payloads),
        schema=recipe.schema(),
        splits=dict(recipe.splits),
        card=read_card(name),
        name=name,
    )


def _payload(recipe: Recipe, file: SourceFile, *, download: bool) -> bytes:
    cached = _cache_folder() / recipe.name / file.name
    wrong: list[Path] = []
    for path in _candidates(recipe, file, cached):
        payload = _content(path, limit=max(file.accepted.values()))
        if _matches(payload, file):
            _log.debug("%s: using %s", recipe.name, path)
            return payload
        if path == cached:
            _log.warning("%s: the cached copy %s is damaged and not used", recipe.name, cached)
        elif path.name in _names(file):
            wrong.append(path)
    if wrong:
        raise ChecksumMismatch(
            f"{recipe.name}: {wrong[0]} has the right name but not the bytes the recipe describes "
            f"({_identity(file)}). Rename or remove it, or put the original beside it."
        )
    payload = _fetched(recipe, file, download=download)
    _store(payload, cached)
    return payload


def _candidates(recipe: Recipe, file: SourceFile, cached: Path) -> Iterator[Path]:
    """Yield the places to look in, best first; only a matching checksum ends the search."""
    names = _names(file)
    for name in names:
        if (bundled := data_folder() / recipe.name / name).is_file():
            yield bundled
    shelf = list(_shelf())
    yield from (path for path in shelf if path.name in names)
    sizes = file.accepted.values()
    yield from (path for path in shelf if path.name not in names and _raw_size(path) in sizes)
    if cached.is_file():
        yield cached


def _names(file: SourceFile) -> tuple[str, str]:
    return file.name, f"{file.name}.gz"


def _shelf() -> Iterator[Path]:
    """Every file below the folders of ``TSFORMER_DATA``, in a fixed order."""
    for entry in filter(None, os.environ.get("TSFORMER_DATA", "").split(os.pathsep)):
        top = Path(entry).expanduser()
        if not top.is_dir():
            _log.warning("TSFORMER_DATA names %s, which is not a folder", top)
        for folder, subfolders, files in os.walk(top):
            subfolders.sort()
            yield from (Path(folder, name) for name in sorted(files))


def _cache_folder() -> Path:
    if chosen := os.environ.get("TSFORMER_CACHE"):
        return Path(chosen).expanduser()
    usual = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    return (Path(usual) if usual else Path.home() / ".cache") / "tsformer"


def _raw_size(path: Path) -> int:
    """Size once decompressed, without reading the file: a cheap reason not to hash it."""
    try:
        if path.suffix != ".gz":
            return path.stat().st_size
        with path.open("rb") as stream:
            stream.seek(-4, os.SEEK_END)
            size: int = struct.unpack("<I", stream.read(4))[0]
            return size
    except _UNREADABLE:
        return -1


def _content(path: Path, *, limit: int) -> bytes:
    """Read at most one byte more than could be right; what cannot be read is empty."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return stream.read(limit + 1)
    except _UNREADABLE as error:
        _log.warning("cannot read %s: %s", path, error)
        return b""


def _matches(payload: bytes, file: SourceFile) -> bool:
    return file.accepted.get(hashlib.sha256(payload).hexdigest()) == len(payload)


def _identity(file: SourceFile) -> str:
    return f"{file.name!r}, {file.size} bytes, sha256 {file.sha256}"


def _fetched(recipe: Recipe, file: SourceFile, *, download: bool) -> bytes:
    if file.url is None or not download:
        reason = "it has no public url" if file.url is None else f"download=False, from {file.url}"
        raise DownloadFailed(f"{recipe.name}: the file is not here ({reason}). {_cure(file)}")
    try:
        served = _download(file.url)
    except (OSError, HTTPException) as error:
        raise DownloadFailed(
            f"{recipe.name}: {file.url} could not be fetched ({error}). {_cure(file)}"
        ) from error
    payload = _unpacked(served, file)
    if not _matches(payload, file):
        found = hashlib.sha256(payload).hexdigest()
        raise ChecksumMismatch(
            f"{recipe.name}: {file.url} served {len(payload)} bytes with sha256 {found}, which the "
            f"recipe does not describe; nothing was kept. {_cure(file)}"
        )
    return payload


def _cure(file: SourceFile) -> str:
    return (
        f"Get the file by other means ({_identity(file)}), put it, plain or as {file.name}.gz, in "
        f"a folder and name the folder in TSFORMER_DATA: export TSFORMER_DATA=/path/to/folder"
    )


def _download(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "tsformer"})
    received = bytearray()
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
        length = response.headers.get("Content-Length")
        total = int(length) if length else None
        with progress_bar(url.rsplit("/", 1)[-1], total) as advance:
            while chunk := response.read(_CHUNK_BYTES):
                received += chunk
                advance(len(chunk))
    if total is not None and len(received) < total:
        raise ConnectionError(f"the connection closed after {len(received)} of {total} bytes")
    return bytes(received)


def _unpacked(served: bytes, file: SourceFile) -> bytes:
    if file.member is None:
        return served
    try:
        with zipfile.ZipFile(io.BytesIO(served)) as archive:
            packed = archive.read(file.member)
            return gzip.decompress(packed) if file.member.endswith(".gz") else packed
    except (zipfile.BadZipFile, KeyError, *_UNREADABLE):
        return served  # the checksum will say so


def _store(payload: bytes, target: Path) -> None:
    """Write the whole file or nothing; a cache that cannot be written costs only time."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, payload)
    except OSError as error:
        _log.warning("cannot cache %s: %s", target, error)
