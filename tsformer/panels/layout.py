"""How the caller's frame was laid out, so that answers come back in the same form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
from numpy.typing import NDArray

from tsformer.arrays import Ints
from tsformer.cures import Cure
from tsformer.errors import DuplicateColumn

__all__ = ["Layout", "refuse_output_names"]


@dataclass(frozen=True)
class Layout:
    """Where series and time stood in the caller's frame, and under which names.

    Attributes
    ----------
    array
        The caller passed an array: no names, no stamps.
    time_in, series_in
        A column, the index (or one of its levels), or for the series nowhere: there is one only.
    time_name, series_name
        The name of that column or level; may be ``None`` for an index.
    time_parts
        Name and unit of each column that told a part of the stamps, where several did.
    time_spelling
        How text or whole numbers spelt the stamps; ``None`` for dates and ISO 8601.
    series_first
        For two index levels: the series is the outer one.
    period
        Frequency of the caller's periods, where time was a ``PeriodIndex``.
    id_dtype
        Type of the caller's series column, where it differs from the one ``Panel.ids`` has.
    columns
        The caller's other columns in order, those without a role included.
    numbered
        Columns that the caller names by a number: the name in this library to that number.
    """

    array: bool = False
    time_in: Literal["column", "index"] = "index"
    series_in: Literal["nowhere", "column", "index"] = "nowhere"
    time_name: Any = None
    series_name: Any = None
    time_parts: tuple[tuple[str, str], ...] = ()
    time_spelling: str | None = None
    series_first: bool = True
    period: str | None = None
    id_dtype: Any = None
    columns: tuple[str, ...] = ()
    numbered: Mapping[str, float] = field(default_factory=dict)

    def build(
        self,
        columns: dict[str, NDArray[Any] | pd.Series],
        *,
        stamps: pd.Index,
        ids: pd.Index,
        counts: Ints,
    ) -> pd.DataFrame:
        """Lay value columns out as the caller had them.

        Parameters
        ----------
        columns
            Name to values, one per row; rows of one series stand together.
        stamps
            One stamp per row.
        ids, counts
            The series and how many rows each has.
        """
        made = self._laid_out(columns, stamps=stamps, ids=ids, counts=counts)
        if self.numbered:
            made.columns = pd.Index([self.numbered.get(name, name) for name in made.columns])
        return made

    def _laid_out(
        self, columns: dict[str, Any], *, stamps: pd.Index, ids: pd.Index, counts: Ints
    ) -> pd.DataFrame:
        time = self._time(stamps)
        if self.series_in == "nowhere":
            return self._placed({}, columns, time)
        series = ids.repeat(counts)
        if self.id_dtype is not None:
            series = series.astype(self.id_dtype)
        if self.series_in == "index" and self.time_in == "index":
            levels, names = [series, time], [self.series_name, self.time_name]
            if not self.series_first:
                levels, names = levels[::-1], names[::-1]
            index = pd.MultiIndex.from_arrays(levels, names=names)
            return pd.DataFrame(columns, index=index)
        if self.series_in == "index":
            frame = pd.DataFrame({self.time_name: time, **columns})
            return frame.set_axis(series.rename(self.series_name), axis=0)
        return self._placed({self.series_name: series}, columns, time)

    def _placed(
        self, series: dict[Any, Any], columns: dict[str, Any], time: pd.Index
    ) -> pd.DataFrame:
        """Series and time as columns before the values, or time as the index."""
        if self.time_in == "column":
            return pd.DataFrame({**series, self.time_name: time, **columns})
        return pd.DataFrame({**series, **columns}, index=time.rename(self.time_name))

    def _time(self, stamps: pd.Index) -> pd.Index:
        if self.period is None or not isinstance(stamps, pd.DatetimeIndex):
            return stamps
        return stamps.to_period(self.period)


def refuse_output_names(targets: Sequence[str], layout: Layout) -> None:
    """Refuse columns of a forecast that have the name of a quantile of one of its targets.

    Examples
    --------
    >>> refuse_output_names(("y", "y_q0.1"), Layout())
    Traceback (most recent call last):
        ...
    tsformer.errors.DuplicateColumn: column 'y_q0.1' has the name that a forecast gives to the 0.1
    quantile of 'y'. Rename it: frame = frame.rename(columns={"y_q0.1": "y_at_0.1"}).
    """
    for name in (*targets, layout.series_name, layout.time_name):
        for target in targets:
            level = str(name).removeprefix(f"{target}_q")
            if level != str(name) and _is_level(level):
                named = f'{{"{name}": "{target}_at_{level}"}}'
                raise DuplicateColumn(
                    f"column {name!r} has the name that a forecast gives to the {level} quantile of"
                    f" {target!r}.",
                    Cure("Rename it", code=f"frame = frame.rename(columns={named})"),
                )


def _is_level(text: str) -> bool:
    try:
        return 0 < float(text) < 1 and f"{float(text):g}" == text
    except ValueError:
        return False
