"""A data set as a value: where its bytes come from and how they become a frame.

A ``recipe.toml`` describes, it does not program. Its whole vocabulary for changing a file is:
``strip_names``, ``join`` columns to a name of series, ``rename`` and ``drop`` columns, parse or
compose the stamp (``time``), and turn a file with one series a row into a long frame (``wide``).
"""

import dataclasses
import io
import re
import tomllib
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeVar

import numpy as np
import pandas as pd
from pandas import DataFrame

from tsformer.errors import DatasetError, MissingDependency
from tsformer.panels import Schema
from tsformer.reading import Holdout

__all__ = ["Column", "Recipe", "SourceFile", "TimeColumn", "Variant", "Wide"]

Made = TypeVar("Made")

_PARQUET = b"PAR1"


@dataclass(frozen=True)
class Variant:
    """Other bytes with the same values, such as the other kind of line end."""

    sha256: str
    size: int


@dataclass(frozen=True)
class SourceFile:
    """One file a data set is made of; ``sha256`` and ``size`` are of the decompressed bytes."""

    name: str
    sha256: str
    size: int
    url: str | None = None
    member: str | None = None
    variants: tuple[Variant, ...] = ()

    @property
    def accepted(self) -> dict[str, int]:
        """Every checksum that will do, with the size in bytes that goes with it."""
        return {self.sha256: self.size, **{other.sha256: other.size for other in self.variants}}


@dataclass(frozen=True)
class Column:
    """What one column of the frame holds, and its role in the schema."""

    role: Literal["series", "target", "known", "past", "static"]
    unit: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class TimeColumn:
    """The stamp: text in ``format``, composed of number columns, or a column as it is.

    ``compose`` takes columns called year, month, day and so on; with a ``format``, any columns,
    whose text is joined by blanks.
    """

    column: str
    format: str | None = None
    compose: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wide:
    """Names for the long form of files with one series a row, its name first, ragged right."""

    series: str
    step: str
    value: str


@dataclass(frozen=True)
class Recipe:
    """Everything known about one data set but its values; read from a ``recipe.toml``.

    Attributes
    ----------
    name, title
        The key of ``load_dataset`` and a headline.
    files
        The files it is made of, with checksums.
    columns
        Column of the finished frame to role, unit and meaning.
    time
        The stamp, or ``"row"`` where the row number is the only trustworthy time.
    freq
        Nominal step; part of the schema only where there is a time column.
    rows
        Rows of the finished frame.
    license, license_note
        SPDX expression (``NOASSERTION`` where the origin states none) and where it was read.
    missing
        Codes that stand for a gap in a text file.
    join
        New column to the columns whose text, joined by ``/``, it holds; these stay unless dropped.
    splits
        Row counts of named splits. Empty for panels, whose ``horizon`` says how many rows at the
        end of each series are the test.
    """

    name: str
    title: str
    bundled: bool
    files: tuple[SourceFile, ...]
    columns: dict[str, Column]
    time: TimeColumn | Literal["row"]
    rows: int
    license: str
    citation: str
    homepage: str
    license_note: str = ""
    freq: str | int | None = None
    horizon: int | None = None
    missing: tuple[str, ...] = ()
    strip_names: bool = False
    join: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rename: dict[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    wide: Wide | None = None
    splits: dict[str, Holdout] = field(default_factory=dict)

    @classmethod
    def from_toml(cls, name: str, text: str) -> Self:
        """Read a recipe strictly: an unknown, absent or mistyped key is a ``DatasetError``.

        Examples
        --------
        >>> Recipe.from_toml("mine", 'titel = "typo"')
        Traceback (most recent call last):
            ...
        tsformer.errors.DatasetError: Recipe 'mine': unknown key 'titel'; allowed are ...
        """
        where = f"Recipe {name!r}"
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise DatasetError(f"{where}: not valid TOML: {error}") from error
        if "name" in table:
            raise DatasetError(f"{where}: the name is the folder's; remove the key 'name'")
        recipe = _made(cls, {"name": name, **table}, where)
        recipe._check(where)
        return recipe

    def schema(self) -> Schema:
        """Return the roles of the frame's columns as a ``Schema``."""
        roles: dict[str, tuple[str, ...]] = {}
        for name, column in self.columns.items():
            roles[column.role] = (*roles.get(column.role, ()), name)
        targets = roles["target"]
        time = self.time.column if isinstance(self.time, TimeColumn) else None
        return Schema(
            series=roles["series"][0] if "series" in roles else None,
            time=time,
            target=targets[0] if len(targets) == 1 else targets,
            known=roles.get("known", ()),
            past=roles.get("past", ()),
            static=roles.get("static", ()),
            freq=self.freq if time else None,
        )

    def frame(self, payloads: Sequence[bytes]) -> DataFrame:
        """Make the frame from the bytes of ``files``, in their order.

        Values are kept as written; only the codes in ``missing`` become NaN.
        """
        tables = [self._table(payload) for payload in payloads]
        frame = _long(tables, self.wide) if self.wide else tables[0]
        if self.strip_names:
            frame.columns = frame.columns.str.strip()
        for name, parts in self.join.items():
            frame = frame.assign(**{name: _pasted(frame, parts, "/")})
        frame = frame.drop(columns=list(self.drop)).rename(columns=self.rename)
        order = list(self.columns)
        if isinstance(self.time, TimeColumn):
            frame = _stamped(frame, self.time)
            # a panel reads naturally as series, time, values
            place = sum(column.role == "series" for column in self.columns.values())
            order.insert(place, self.time.column)
        unlike = sorted(set(order) ^ set(frame.columns))
        if unlike:
            raise DatasetError(f"Recipe {self.name!r} and its file disagree on columns {unlike}")
        return frame[order]

    def _table(self, payload: bytes) -> DataFrame:
        if payload.startswith(_PARQUET):
            return _read_parquet(payload, self.name)
        return pd.read_csv(
            io.BytesIO(payload),
            keep_default_na=False,
            na_values=list(self.missing),
        )

    def _check(self, where: str) -> None:
        targets = [name for name, column in self.columns.items() if column.role == "target"]
        problems = [
            (not targets, "no column has the role 'target'"),
            (not self.files, "no files"),
            (len(self.files) > 1 and not self.wide, "only wide files can be joined"),
        ]
        for file in self.files:
            sums = list(file.accepted)
            good = all(re.fullmatch(r"[0-9a-f]{64}", checksum) for checksum in sums)
            secure = file.url is None or file.url.startswith("https://")
            problems += [
                (not good, f"a sha256 of {file.name!r} is not 64 hexadecimal digits"),
                (not secure, f"the url of {file.name!r} must begin with https://"),
                ("/" in file.name or "\\" in file.name, f"{file.name!r} must be a bare file name"),
            ]
        for wrong, problem in problems:
            if wrong:
                raise DatasetError(f"{where}: {problem}")


def _read(hint: Any, value: Any, where: str) -> Any:
    """Turn one TOML value into what a type hint asks for, or say why it cannot be."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        # a table can only be the dataclass among the choices, anything else only the others
        fitting = [one for one in inner if dataclasses.is_dataclass(one) is isinstance(value, dict)]
        return _read(fitting[0], value, where) if len(fitting) == 1 else _plain(inner, value, where)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(inner[0], one, f"{where}[{place}]") for place, one in enumerate(value))
    if origin is dict and isinstance(value, dict):
        return {key: _read(inner[1], one, f"{where}.{key}") for key, one in value.items()}
    if origin is Literal and value in inner:
        return value
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return _made(typing.cast("type[Any]", hint), value, where)
    return _plain((hint,), value, where)


def _plain(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if any(type(value) is kind for kind in kinds):  # not isinstance: true is no row count
        return value
    names = [getattr(kind, "__name__", str(kind)) for kind in kinds if kind is not type(None)]
    wanted = " or ".join({"tuple": "list", "dict": "table"}.get(name, name) for name in names)
    raise DatasetError(f"{where}: {value!r} should be {wanted}")


def _made(cls: type[Made], table: dict[str, Any], where: str) -> Made:
    """Build a dataclass from a table, every key of which it must know."""
    hints = typing.get_type_hints(cls)
    fields = {one.name: one for one in dataclasses.fields(cls) if one.init}  # type: ignore[arg-type]
    for key in table:
        if key not in fields:
            raise DatasetError(f"{where}: unknown key {key!r}; allowed are {', '.join(fields)}")
    read = {key: _read(hints[key], value, f"{where}, {key}") for key, value in table.items()}
    for key, one in fields.items():
        required = one.default is one.default_factory is dataclasses.MISSING
        if required and key not in table:
            raise DatasetError(f"{where}: the key {key!r} is missing")
    return cls(**read)


def _stamped(frame: DataFrame, time: TimeColumn) -> DataFrame:
    if time.compose:
        parts = list(time.compose)
        if time.format is None:
            stamps = pd.to_datetime(frame[parts])
        else:
            stamps = pd.to_datetime(_pasted(frame, parts, " "), format=time.format)
        return frame.drop(columns=parts).assign(**{time.column: stamps})
    if time.format is not None:
        stamps = pd.to_datetime(frame[time.column], format=time.format)
        return frame.assign(**{time.column: stamps})
    return frame


def _pasted(frame: DataFrame, columns: Sequence[str], mark: str) -> pd.Series:
    """Text of several columns, joined."""
    absent = sorted(set(columns) - set(frame.columns))
    if absent:
        raise DatasetError(f"the file has no columns {absent}, of which the recipe makes one")
    text, *others = (frame[name].astype("str") for name in columns)
    for other in others:
        text = text + mark + other
    return text


def _read_parquet(payload: bytes, name: str) -> DataFrame:
    """Read a Parquet file; the index that pandas keeps in one is of no use to a data set."""
    try:
        return pd.read_parquet(io.BytesIO(payload)).reset_index(drop=True)
    except ImportError as problem:
        raise MissingDependency(
            f"{name}: its file is Parquet, which needs pyarrow: pip install 'tsformer[scale]'"
        ) from problem


def _long(tables: list[DataFrame], names: Wide) -> DataFrame:
    """One row a value; later files continue the series of the first, blanks are padding."""
    joined = pd.concat([table.set_index(table.columns[0]) for table in tables], axis=1)
    values = joined.to_numpy(dtype="float64")
    present = ~np.isnan(values)
    columns = {
        names.series: joined.index.repeat(present.sum(axis=1)),
        names.step: present.cumsum(axis=1)[present],
        names.value: values[present],
    }
    return DataFrame(columns)
