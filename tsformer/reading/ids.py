"""Names of series: all text or all whole numbers, and the same in every frame."""

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype, is_bool_dtype, is_integer_dtype

from tsformer.arrays import Ints
from tsformer.cures import Cure
from tsformer.errors import WrongType
from tsformer.panels.index import shown
from tsformer.panels.panel import Panel
from tsformer.reading.spots import Spot
from tsformer.time.stamps import is_text

__all__ = ["read_ids", "refuse_other_ids"]


def read_ids(spot: Spot, frame: pd.DataFrame) -> tuple[Ints, pd.Index]:
    """Number the series of the rows by their sorted names."""
    values, name = spot.values(frame), spot.name(frame)
    what = "the series level" if name is None else f"series column {name!r}"
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.dtype.categories.dtype)
    missing = np.asarray(values.isna())
    if missing.any():
        raise WrongType(
            f"{what} has no name in row {int(missing.argmax())} ({int(missing.sum())} such rows)."
            " Name them or drop them."
        )
    if is_text(values):
        values = values.astype("str")
    elif values.dtype == np.dtype(object) and infer_dtype(values) == "integer":
        values = values.astype(np.int64)
    elif is_integer_dtype(values.dtype) and not is_bool_dtype(values.dtype):
        values = pd.Index(values.to_numpy(dtype=np.int64))
    else:
        types = [type(one).__name__ for one in values]
        other = np.array([one != types[0] for one in types])
        row = int(np.argmax(other))
        mixed = f", {types[row]} first in row {row}" if other.any() else ""
        raise WrongType(
            f"{what} holds {' and '.join(sorted(set(types)))}{mixed} ({shown(values[row])},"
            f" {int(other.sum()) or len(types)} such rows); names of series are all text or all"
            " whole numbers.",
            Cure("Convert it", code=f'frame["{name}"] = frame["{name}"].astype("str")'),
        )
    codes, ids = pd.factorize(values, sort=True)
    return codes.astype(np.int64), pd.Index(ids)


def refuse_other_ids(ids: pd.Index, like: Panel) -> None:
    """Refuse names of another type: the series 1 and the series '1' are not the same."""
    if like.index.named and is_text(ids) != is_text(like.index.ids):
        kinds = ("text", "number")[:: 1 if is_text(ids) else -1]
        name = like.layout.series_name
        what = "the series level" if name is None else f"series column {name!r}"
        place = "series" if name is None else f'frame["{name}"]'
        kind = "str" if is_text(like.index.ids) else "int64"
        raise WrongType(
            f"{what} holds {shown(ids[0])} ({kinds[0]}) here, but {shown(like.index.ids[0])}"
            f" ({kinds[1]}) in fit.",
            Cure("Convert it", code=f'{place} = {place}.astype("{kind}")'),
        )
