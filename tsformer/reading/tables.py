"""What a caller has as a pandas frame: tables of other libraries, arrays and lists."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tsformer.cures import Cure
from tsformer.errors import DuplicateColumn, WrongType
from tsformer.panels.names import as_text, is_number

__all__ = ["as_frame", "as_pandas", "numbered_columns", "refuse_unknown"]

_LOG = logging.getLogger("tsformer")
_CATEGORIES = ("Categorical", "Enum")


def as_frame(data: Any) -> tuple[pd.DataFrame, bool]:
    """Take what the caller has as a frame, its columns named by text; and whether it was an array.

    Examples
    --------
    >>> as_frame(pd.DataFrame({0: [1.0], "size": [2.0]}))[0].columns.tolist()
    ['0', 'size']
    """
    data = as_pandas(data)
    if isinstance(data, pd.DataFrame):
        if data.index.nlevels > 2:
            raise WrongType(
                f"the index has {data.index.nlevels} levels; rows are told apart by series and"
                " time at most. Join the outer levels to one, or use frame.reset_index()."
            )
        return _by_text(data), False
    if isinstance(data, pd.Series):
        return _by_text(data.to_frame("y" if data.name is None else data.name)), False
    refuse_unknown(data)
    values = _from_list(data) if isinstance(data, (list, tuple)) else np.asarray(data)
    if np.iscomplexobj(values):
        raise WrongType("Complex data not supported: the array is complex")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise WrongType(
            f"Found array with dim {values.ndim}; rows and columns are needed. Reshape your data"
        )
    if values.dtype.kind not in "biufO":
        raise WrongType(f"the array is {values.dtype}; numbers are needed")
    columns = [f"y{number}" for number in range(values.shape[1])]
    return pd.DataFrame(values, columns=columns), True


def as_pandas(data: Any) -> Any:
    """Bring a table of polars, pyarrow or another library to pandas; anything else stays as it is.

    A polars frame is read column by column, which needs no pyarrow; others by their own
    ``to_pandas``, or by the Arrow stream that they export. Zones and units of stamps, text,
    categories and missing values stay what they are; memory is not shared.

    Raises
    ------
    WrongType
        If a table offers none of these, naming its type.

    Examples
    --------
    >>> as_pandas([[1.0], [2.0]])
    [[1.0], [2.0]]
    """
    if isinstance(data, (pd.DataFrame, pd.Series, np.ndarray, list, tuple)):
        return data
    made = _converted(data)
    if made is not data:
        _LOG.info("table of type %s converted to a pandas frame", _type_of(data))
    return made


def _converted(data: Any) -> Any:
    if hasattr(data, "get_columns") and hasattr(data, "__arrow_c_stream__"):
        return pd.DataFrame({one.name: _column(one) for one in data.get_columns()})
    if hasattr(data, "to_physical") and hasattr(data, "__arrow_c_stream__"):
        return pd.Series(_column(data), name=data.name or None)
    if hasattr(data, "to_pandas"):
        return data.to_pandas()
    if hasattr(data, "__arrow_c_stream__"):
        try:
            read: Any = pd.DataFrame  # the stubs do not know from_arrow yet
            return read.from_arrow(data)
        except ImportError as absent:
            raise WrongType(
                f"a table of type {_type_of(data)} is read through pyarrow, which is not"
                " installed: pip install pyarrow, or convert it to a pandas frame first"
            ) from absent
    return data


def refuse_unknown(data: Any) -> None:
    """Refuse what is no dense array and no list either, naming its type."""
    if data.__class__.__module__.startswith("scipy.sparse") or hasattr(data, "tocsr"):
        raise WrongType(
            f"sparse data of type {_type_of(data)} cannot be read. Make it dense: X.toarray()"
        )
    listed = isinstance(data, Sequence) and not isinstance(data, (str, bytes))
    if listed or hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        return
    if hasattr(data, "collect"):
        cure = "Collect it first: data.collect()"
    elif hasattr(data, "compute"):
        cure = "Compute it first: data.compute()"
    elif isinstance(data, dict):
        cure = "Make a frame of it: pd.DataFrame(data)"
    else:
        cure = "Convert it to a pandas frame first"
    raise WrongType(
        f"data of type {_type_of(data)} cannot be read; a pandas frame or series, a table with"
        f" to_pandas or an Arrow stream, or an array is needed. {cure}."
    )


def numbered_columns(data: Any) -> dict[str, Any]:
    """The columns that the caller names by numbers: the text that is their name inside to these."""
    named = [data.name] if isinstance(data, pd.Series) else getattr(data, "columns", ())
    return {as_text(name): name for name in named if is_number(name)}


def _by_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Name columns by text; a text and a number of one spelling cannot be told apart then."""
    numbered = numbered_columns(frame)
    if not numbered:
        return frame
    for name in frame.columns:
        if isinstance(name, str) and name in numbered:
            number = numbered[name]
            raise DuplicateColumn(
                f"two columns are called {name!r}: one by the text, one by the number {number}.",
                Cure(
                    "Rename one",
                    code=f'frame = frame.rename(columns={{{number}: "number {name}"}})',
                ),
            )
    return frame.set_axis(list(map(as_text, frame.columns)), axis=1)


def _type_of(data: Any) -> str:
    kind = type(data)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _column(values: Any) -> Any:
    """One polars column; its types are known by their names."""
    kind = type(values.dtype).__name__
    kind = values.dtype.__name__ if kind == "DataTypeClass" else kind
    if kind in ("Date", "Datetime"):
        stamps = pd.DatetimeIndex(np.array(values.to_numpy()))
        zone = getattr(values.dtype, "time_zone", None)
        return stamps if zone is None else stamps.tz_localize("UTC").tz_convert(zone)
    if kind == "String":
        return pd.array(values.to_list(), dtype="str")
    if kind in _CATEGORIES:
        return pd.Categorical(values.to_list())
    if kind == "Boolean":
        return pd.array(values.to_list(), dtype="boolean" if values.null_count() else "bool")
    if kind.startswith(("Int", "UInt")) and values.null_count():
        return pd.array(values.to_list(), dtype=kind)
    if kind.startswith(("Int", "UInt", "Float")):
        return np.array(values.to_numpy())
    objects = np.empty(len(values), dtype=object)
    objects[:] = values.to_list()
    return objects


def _from_list(data: Any) -> NDArray[Any]:
    try:
        values = np.asarray(data)
    except ValueError as problem:
        raise WrongType(f"the list is no table: {problem}") from problem
    _LOG.info("list of %d rows converted to an array", len(data))
    # a stray word would make text of all numbers
    return np.asarray(data, dtype=object) if values.dtype.kind in "US" else values
