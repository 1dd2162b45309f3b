"""Files in and out: a table with the roles of its columns, and forecasts that lose nothing."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tsformer.cli.exits import note
from tsformer.cli.options import Format, Roles
from tsformer.cli.text_tables import READ_AS_TEXT, read_text_table
from tsformer.errors import (
    FrameError,
    MissingDependency,
    ParameterError,
    UnknownDataset,
    WrongTime,
)

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.panels import Policy, Schema
    from tsformer.reading import Holdout

__all__ = [
    "Data",
    "check_output",
    "check_picture",
    "check_table",
    "read_data",
    "read_table",
    "write_table",
]

_PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": ",", ".tab": "\t"}
_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, kw_only=True)
class Data:
    """A table and all that is known about it.

    Attributes
    ----------
    name
        Of the file or the data set.
    split
        The canonical split of a data set that has one.
    """

    name: str
    frame: "pd.DataFrame"
    schema: "Schema"
    policy: "Policy"
    split: "Holdout | None" = None


def read_data(source: str, form: Format, roles: Roles) -> Data:
    """Read a file or a named data set.

    Raises
    ------
    FrameError
        If the file is not a table, or its dates are not as ``--time-format`` says.
    DatasetError
        If it is neither a file nor a data set, or a data set whose files are not here.
    """
    from tsformer.datasets import dataset_names, load_dataset
    from tsformer.panels import Policy, Schema

    given: dict[str, Any] = {name: getattr(roles, name) for name in ("missing", "gaps", "short")}
    given["ignore"] = _periods(roles.ignore)
    policy = Policy(missing="mask", gaps="mask")  # said by those who forecast
    policy.set_params(**{name: value for name, value in given.items() if value is not None})
    policy.check()
    if Path(source).is_file() or source not in dataset_names():
        frame = read_table(source, form)
        return Data(
            name=Path(source).name,
            frame=frame,
            schema=_schema(Schema(), frame, form.time, roles),
            policy=policy,
        )
    dataset = load_dataset(source)
    return Data(
        name=source,
        frame=dataset.frame,
        schema=_schema(dataset.schema, dataset.frame, form.time, roles),
        policy=policy,
        split=dataset.splits.get("canonical"),
    )


def read_table(source: str, form: Format) -> "pd.DataFrame":
    """Read a text, Excel or Parquet file; dates in another format than ISO 8601 are parsed."""
    path = Path(source)
    if not path.is_file():
        raise UnknownDataset(_not_there(source))
    kind = _kind(path)
    if kind in _PARQUET:
        frame = _read_parquet(path)
    elif kind in READ_AS_TEXT:
        frame, notes = read_text_table(path, kind, form)
        for found in notes:
            note(f"{path.name}: {found}")
    else:
        raise ParameterError(
            f"{path.name}: its name must end in .csv, .tsv, .txt, .xlsx, .json, .jsonl (also .gz)"
            " or .parquet"
        )
    return _parsed(frame, form) if form.time_format is not None else frame


def write_table(frame: "pd.DataFrame", path: Path | None) -> None:
    """Write a forecast, to stdout without a path.

    An index that says something stays the index in Parquet, and becomes a column in text.
    """
    import pandas as pd

    from tsformer.time.stamps import is_dates

    if path is not None and _kind(path) in _PARQUET:
        frame.to_parquet(path)
        return
    if not isinstance(frame.index, pd.RangeIndex) or frame.index.start != 0:
        levels = [frame.index.get_level_values(level) for level in range(frame.index.nlevels)]
        names = [one.name or ("time" if is_dates(one) else "row") for one in levels]
        frame = frame.rename_axis(names).reset_index()
    separator = "," if path is None else _SEPARATORS[_kind(path)]
    # ten digits keep a level of 1e9 and what moves around it
    text = frame.to_csv(path, index=False, sep=separator, float_format="%.10g")
    if text is not None:
        typer.echo(text, nl=False)


def check_output(
    path: Path, *, force: bool, inputs: Iterable[str | None], default: bool = False
) -> None:
    """Refuse, before any work, to write over an input or over a file that was there.

    Parameters
    ----------
    default
        Whether the name is our own; such a file is replaced, for a second run is no accident.
    """
    for source in inputs:
        there = source is not None and path.exists() and Path(source).exists()
        if source is not None and there and path.samefile(source):
            raise ParameterError(f"{path} is the input; write to another file")
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {str(path.parent)!r}; make it first")
    if path.exists() and not (force or default):
        raise ParameterError(f"{path} exists; --force replaces it")


def check_table(path: Path) -> None:
    """Refuse a name for a table that does not say how to write it."""
    if _kind(path) not in (*_SEPARATORS, *_PARQUET):
        raise ParameterError(f"{path.name}: its name must end in .csv, .tsv or .parquet")


def check_picture(path: Path) -> None:
    """Refuse a name for a picture that does not say how to draw it."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ParameterError(f"{path.name}: its name must end in .png, .svg or .pdf")


def _named(given: list[str] | None, columns: Iterable[str]) -> tuple[str, ...]:
    """Names of columns as given, repeated or separated by commas."""
    have = set(columns)
    return tuple(
        one
        for name in given or ()
        for one in ([name] if name in have else map(str.strip, name.split(",")))
    )


def _listed(given: list[str]) -> tuple[str, ...]:
    """Words as given, repeated or separated by commas."""
    return tuple(one.strip() for text in given for one in text.split(",") if one.strip())


def _rows(given: list[str]) -> tuple[int, ...]:
    """Lengths of seasons, repeated or separated by commas."""
    words = _listed(given)
    if not words or not all(one.isdigit() and int(one) > 0 for one in words):
        raise ParameterError(
            f"--season {','.join(given)}: give rows of a season as a whole number of at least 1, or"
            " several, such as 48,336"
        )
    return tuple(map(int, words))


def _periods(given: list[str] | None) -> list[tuple[str | None, str | None]] | None:
    """Periods written as ``FROM..TO``; an end left out is open."""
    if not given:
        return None
    periods = []
    for period in given:
        first, dots, last = period.partition("..")
        if not dots:
            raise ParameterError(f"--ignore {period}: write it as FROM..TO")
        periods.append((first or None, last or None))
    return periods


def _not_there(source: str) -> str:
    from tsformer.datasets import dataset_names

    names = dataset_names()
    close = difflib.get_close_matches(source.lower().replace("-", "_"), names, n=1, cutoff=0.75)
    nearby = [path.name for path in Path(source).parent.glob("*") if path.is_file()]
    beside = difflib.get_close_matches(Path(source).name, nearby, n=1, cutoff=0.75)
    hint = f" Did you mean {(beside or close)[0]!r}?" if beside or close else ""
    return (
        f"no file and no data set is called {source!r}.{hint} `tsformer datasets` lists the sets."
    )


def _kind(path: Path) -> str:
    suffixes = [one.lower() for one in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _read_parquet(path: Path) -> "pd.DataFrame":
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError as problem:
        raise MissingDependency("Parquet needs pyarrow: pip install 'tsformer[scale]'") from problem
    except (ValueError, OSError) as problem:
        raise FrameError(f"{path.name} cannot be read as Parquet: {problem}") from problem


def _parsed(frame: "pd.DataFrame", form: Format) -> "pd.DataFrame":
    """The frame with its time column parsed by ``--time-format``."""
    from tsformer.time.by_format import read_by_format
    from tsformer.time.stamps import looks_like_dates

    name = form.time or next((one for one in frame if looks_like_dates(frame[one])), None)
    if name is None:
        raise ParameterError("--time-format: no column holds dates as text; name it with --time")
    if name not in frame:
        return frame  # the schema says so, with the columns there are
    try:
        stamps = read_by_format(frame[name].astype("str"), str(form.time_format))
    except (ValueError, TypeError) as problem:
        raise ParameterError(
            f"--time-format {form.time_format!r} cannot be used: {problem}. Without it, the"
            " usual ways to write dates, quarters, weeks, months and seconds since 1970 are read."
        ) from problem
    bad = stamps.isna()
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise WrongTime(
            f"time column {name!r} holds {frame[name].iloc[row]!r} in row {row}, which is not"
            f" written as --time-format {form.time_format!r} says ({int(bad.sum())} such rows)"
        )
    return frame.assign(**{str(name): stamps})


def _schema(base: "Schema", frame: "pd.DataFrame", time: str | None, roles: Roles) -> "Schema":
    """The roles a data set has, or none, with those that were given on top."""
    columns = [str(name) for name in frame.columns]
    given: dict[str, Any] = {
        role: _named(getattr(roles, role), columns)
        for role in ("target", "known", "past", "static")
        if getattr(roles, role)
    }
    if given.get("past") == ("rest",) and "rest" not in columns:
        given["past"] = "rest"
    single = {"time": time, "series": roles.series, "weight": roles.weight}
    given |= {role: value for role, value in single.items() if value is not None}
    taken: set[str] = set()
    for value in given.values():
        taken |= {value} if isinstance(value, str) else set(value or ())
    for role in {"known", "past", "static"} - set(given):  # one column, one role
        before = getattr(base, role)
        kept = before if isinstance(before, str) else [one for one in before if one not in taken]
        given[role] = kept
    if roles.freq is not None:
        given["freq"] = int(roles.freq) if roles.freq.isdigit() else roles.freq
    if roles.season is not None:
        given["season"] = _rows(roles.season)
    if roles.holidays is not None:
        given["holidays"] = _listed(roles.holidays)
    return type(base)(**{**base.get_params(), **given})
