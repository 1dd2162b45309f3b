"""The one form in which data travels: ragged series laid end to end, in the caller's units."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from tsformer.arrays import Flags, Floats
from tsformer.panels.columns import Columns
from tsformer.panels.index import Grown, PanelIndex, Piece
from tsformer.panels.layout import Layout
from tsformer.panels.policy import Policy
from tsformer.panels.schema import ResolvedSchema
from tsformer.time.calendar import calendar_features
from tsformer.time.freq import label_of

__all__ = ["Panel"]


@dataclass(frozen=True, eq=False)
class Panel:
    """Ragged series laid end to end, sorted by series and time, in the caller's units.

    Made by ``tsformer.reading.read_panel``. Values are float64 and NaN where missing; nothing
    shares memory with the caller's frame.

    Attributes
    ----------
    index
        Series and stamp of every row.
    target, past, known
        What is forecast, and the covariates known up to now or in advance: ``(rows, columns)``.
        The calendar is not in ``known``.
    static
        ``(series, columns)``.
    weight
        ``(rows,)`` how much each row counts in training.
    masked
        ``(rows,)`` which rows were put back or are ignored: never filled, whatever the policy.
    schema
        The roles of all columns as they were found, and the step between rows.
    layout
        How the caller's frame was laid out.
    policy
        What was done about missing values and rows, and what windows are to do.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> frame = pd.DataFrame({"ds": pd.date_range("2024-01-01", periods=4), "y": [1, 2, 3, 4]})
    >>> panel = read_panel(frame)
    >>> panel
    Panel(1 series, 4 rows, freq='D', target=('y',))
    >>> panel.tail(2).target.values[:, 0].tolist()
    [3.0, 4.0]
    """

    index: PanelIndex
    target: Columns
    past: Columns
    known: Columns
    static: Columns
    weight: Floats
    masked: Flags
    schema: ResolvedSchema
    layout: Layout
    policy: Policy = field(default_factory=Policy)

    def __repr__(self) -> str:
        freq = "irregular" if self.index.irregular else label_of(self.index.freq)
        return (
            f"Panel({self.n_series} series, {self.n_rows} rows, freq={freq!r},"
            f" target={self.target.names})"
        )

    @property
    def n_series(self) -> int:
        """How many series there are."""
        return len(self.index.ids)

    @property
    def n_rows(self) -> int:
        """How many rows all series have together."""
        return len(self.index.stamps)

    @property
    def roles(self) -> Mapping[str, Columns]:
        """The four roles by name."""
        return {
            "target": self.target,
            "past": self.past,
            "known": self.known,
            "static": self.static,
        }

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """Every categorical column to its words."""
        return {**self.past.categories, **self.known.categories, **self.static.categories}

    @cached_property
    def _calendar(self) -> tuple[tuple[str, ...], NDArray[np.float32]]:
        periods = self.layout.period is not None
        return calendar_features(
            self.index.stamps, self.index.freq, self.schema.holidays, periods=periods
        )

    @property
    def calendar(self) -> NDArray[np.float32]:
        """``(rows, features)`` what the stamps alone say; see :func:`calendar_features`."""
        return self._calendar[1]

    @property
    def calendar_names(self) -> tuple[str, ...]:
        """Names of the columns of ``calendar``."""
        return self._calendar[0]

    def with_target(self, values: Floats) -> "Panel":
        """The same panel with other values of the targets."""
        return replace(self, target=self.target.with_values(values))

    def take(self, begin: ArrayLike, end: ArrayLike | None = None) -> "Panel":
        """Keep rows ``begin`` to ``end`` of each series; a series left empty is dropped.

        Parameters
        ----------
        begin, end
            Row numbers from the start of each series, ``end`` excluded: one number for all, where
            a negative one counts from the end as in a slice, or ``(series,)`` numbers.
        """
        return self._cut(self.index.take(begin, end))

    def head_until(self, ends: ArrayLike) -> "Panel":
        """Keep the first ``ends`` rows of each series."""
        return self._cut(self.index.take(0, ends))

    def tail(self, rows: int) -> "Panel":
        """Keep the last rows of each series, or all it has."""
        return self._cut(self.index.take(np.maximum(self.index.lengths - rows, 0)))

    def select(self, series: ArrayLike) -> "Panel":
        """Keep these series, by position and in this order."""
        return self._cut(self.index.select(series))

    def extend(self, horizon: int, known: Columns | None = None) -> "Panel":
        """Append the rows to forecast to each series.

        Parameters
        ----------
        horizon
            How many rows.
        known
            The known covariates of those rows; missing by default. See
            ``tsformer.reading.extended`` for those of a frame.

        Returns
        -------
        Panel
            Target and past covariates are NaN in the new rows.
        """
        return self._grown(self.index.extend(horizon), known)

    def pad(self, rows: ArrayLike) -> "Panel":
        """Put rows before each series: nothing is known of them but their stamps.

        Parameters
        ----------
        rows
            How many: one number for all, or ``(series,)`` numbers.

        Returns
        -------
        Panel
            The stamps count back along the frequency. Targets and covariates are NaN in the new
            rows, codes 0 and weights 1.

        Examples
        --------
        >>> from tsformer.panels import Schema
        >>> from tsformer.reading import read_panel
        >>> days = pd.date_range("2024-03-04", periods=3, freq="B")  # from a Monday on
        >>> frame = pd.DataFrame({"y": [1, 2, 3]}, index=days)
        >>> panel = read_panel(frame, Schema(freq="B")).pad(2)
        >>> [str(day.date()) for day in panel.index.stamps[:2]], panel.target.values[:3, 0].tolist()
        (['2024-02-29', '2024-03-01'], [nan, nan, 1.0])
        """
        grown = self.index.pad(rows)
        return self if len(grown.order) == self.n_rows else self._grown(grown, None)

    def frame_of(self, values: Floats, names: list[str], *, stamps: pd.Index) -> pd.DataFrame:
        """Lay forecasts out as the caller's frame was.

        Parameters
        ----------
        values
            ``(series, horizon, columns)``.
        names
            One per column.
        stamps
            ``(series * horizon,)``, such as ``index.future_stamps``.
        """
        series, horizon, _ = values.shape
        flat = values.reshape(series * horizon, -1)
        columns: dict[str, Any] = {name: flat[:, place] for place, name in enumerate(names)}
        counts = np.full(series, horizon, np.int64)
        return self.layout.build(columns, stamps=stamps, ids=self.index.ids, counts=counts)

    def _cut(self, piece: Piece) -> "Panel":
        return replace(
            self,
            index=piece.index,
            target=self.target.take(piece.rows),
            past=self.past.take(piece.rows),
            known=self.known.take(piece.rows),
            static=self.static.take(piece.series),
            weight=self.weight[piece.rows],
            masked=self.masked[piece.rows],
        )

    def _grown(self, grown: Grown, known: Columns | None) -> "Panel":
        order = grown.order
        new = len(order) - self.n_rows
        return replace(
            self,
            index=grown.index,
            target=self.target.append(self.target.blank(new), order),
            past=self.past.append(self.past.blank(new), order),
            known=self.known.append(self.known.blank(new) if known is None else known, order),
            weight=np.concatenate([self.weight, np.ones(new)])[order],
            masked=np.concatenate([self.masked, np.ones(new, np.bool_)])[order],
        )
