"""Bytes of a file as text: unpacked, and in the encoding that fits."""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
from pathlib import Path

from tsformer.cures import Cure
from tsformer.errors import FrameError, ParameterError

__all__ = ["decoded", "unpacked"]

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # begins as UTF-16 does: first
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAMPLE = 4096


def unpacked(path: Path) -> bytes:
    """The bytes of a file, unpacked where its name says that it is packed."""
    raw = path.read_bytes()
    openers = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    kind = path.suffix.lower()
    try:
        if kind in openers:
            return openers[kind](raw)
        return _from_zip(path.name, raw) if kind == ".zip" else raw
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as problem:
        raise FrameError(f"{path.name} cannot be unpacked: {problem}") from problem


def decoded(raw: bytes, name: str, encoding: str | None = None) -> tuple[str, str | None]:
    """Text of bytes, and its encoding where that is not UTF-8.

    Examples
    --------
    >>> decoded("größe".encode("utf-16"), "a.csv")
    ('größe', 'utf-16')
    >>> decoded("größe".encode("cp1252"), "a.csv")
    ('größe', 'cp1252')
    >>> decoded("größe".encode(), "a.csv")
    ('größe', None)
    """
    if encoding is not None:
        return _as_asked(raw, name, encoding), None
    for mark, marked in _MARKS.items():
        if raw.startswith(mark):
            return _as_asked(raw, name, marked), None if marked == "utf-8-sig" else marked
    sample = raw[:_SAMPLE]
    zeros = [sample[start::2].count(0) for start in (0, 1)]
    if max(zeros) > 0.3 * len(sample) / 2 and min(zeros) == 0:  # text without its mark
        guess = "utf-16-be" if zeros[0] else "utf-16-le"
        return _as_asked(raw, name, guess), guess
    if any(zeros):
        raise FrameError(f"{name} is not text: it holds zero bytes.")
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError:
        guess = "latin-1" if any(raw.count(byte) for byte in b"\x81\x8d\x8f\x90\x9d") else "cp1252"
        return raw.decode(guess), guess


def _as_asked(raw: bytes, name: str, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except LookupError as problem:
        raise ParameterError(f"--encoding {encoding}: there is no such encoding") from problem
    except UnicodeDecodeError as problem:
        row = raw.count(b"\n", 0, problem.start) + 1
        raise FrameError(
            f"{name} is not written in {encoding}: line {row} cannot be read.",
            Cure("Say another one", option=f"--encoding {_fitting(raw)}"),
        ) from problem


def _fitting(raw: bytes) -> str:
    """The first of the usual encodings in which the bytes are text."""
    for encoding in ("utf-8", "cp1252"):
        try:
            raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _from_zip(name: str, raw: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(raw)) as folder:
        inside = [one for one in folder.namelist() if not one.endswith("/")]
        if len(inside) != 1:
            raise FrameError(f"{name} holds {len(inside)} files; one table is needed.")
        return folder.read(inside[0])
