"""Windows of a panel, gathered a whole batch at a time."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from tsformer.frames import Panel, Scales
from tsformer.windows.batch import Batch, Sizes
from tsformer.windows.index import WindowIndex

__all__ = ["PanelScales", "WindowDataset"]


@dataclass(frozen=True, eq=False)
class PanelScales:
    """Location and scale of every series and column, by role; fitted on training rows only."""

    target: Scales
    past: Scales
    known: Scales
    static: Scales

    @classmethod
    def fit(cls, panel: Panel, ends: NDArray[np.int64] | None = None) -> "PanelScales":
        """Fit on the first ``ends`` rows of each series (all rows when None)."""
        series = np.array([0, panel.n_series], dtype=np.int64)
        return cls(
            target=Scales.fit(panel.target, panel.starts, ends),
            past=Scales.fit(panel.past, panel.starts, ends),
            known=Scales.fit(panel.known, panel.starts, ends),
            # one location for all series: statics tell series apart
            static=Scales.fit(panel.static, series),
        )

    def match(self, places: NDArray[np.int64], otherwise: "PanelScales") -> "PanelScales":
        """Scales of other series: those at ``places`` here, where that is -1 from ``otherwise``."""
        new = (places < 0)[:, None]

        def matched(own: Scales, other: Scales) -> Scales:
            if not new.any():
                return Scales(own.offset[places], own.scale[places])
            return Scales(
                np.where(new, other.offset, own.offset[places]),
                np.where(new, other.scale, own.scale[places]),
            )

        return PanelScales(
            target=matched(self.target, otherwise.target),
            past=matched(self.past, otherwise.past),
            known=matched(self.known, otherwise.known),
            static=self.static,
        )


class _Rows:
    """The rows of one tensor, from which windows are gathered through a strided view."""

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows.contiguous()

    def gather(self, begin: Tensor, steps: int) -> Tensor:
        """(batch, steps, columns) of the windows that begin at these rows."""
        length, columns = self.rows.shape
        if columns == 0:
            return self.rows.new_zeros((len(begin), steps, 0))
        # one row of the view is one window: index_select copies it as a block
        shape = (length - steps + 1, steps * columns)
        windows = self.rows.as_strided(shape, (columns, 1))
        return windows.index_select(0, begin).view(-1, steps, columns)


class WindowDataset(Dataset[Batch]):
    """The windows of a panel as batches, in float32 and in the panel's units.

    ``__getitems__`` gathers all rows of a batch in a few tensor operations, so stock samplers and
    loaders work with ``collate_fn=identity`` and no row is built in Python. Missing values become
    0 with a False mask.

    Parameters
    ----------
    panel
        The data. Rows of the horizon must exist in it; see ``Panel.extend``.
    context, horizon
        Steps before and after the origin.
    scales
        Fitted on training rows; by default fitted on all rows of ``panel``.
    index
        Which windows; by default every full one.

    Examples
    --------
    >>> import numpy as np
    >>> from tsformer.frames import Panel
    >>> windows = WindowDataset(Panel.from_frame(np.arange(10.0)), context=4, horizon=2)
    >>> len(windows)
    5
    >>> batch = windows[0]
    >>> batch.past_target.shape, batch.future_target.shape
    (torch.Size([1, 4, 1]), torch.Size([1, 2, 1]))
    """

    def __init__(
        self,
        panel: Panel,
        *,
        context: int,
        horizon: int,
        scales: PanelScales | None = None,
        index: WindowIndex | None = None,
    ) -> None:
        scales = scales or PanelScales.fit(panel)
        self.index = index or WindowIndex.of_rows(panel.starts, context=context, horizon=horizon)
        self.sizes = sizes_of(panel, context=context, horizon=horizon)
        self._starts = torch.from_numpy(panel.starts[:-1].copy())
        self._target, self._observed = _masked(panel.target, scales.target, panel.starts)
        self._past, self._past_present = _masked(panel.past, scales.past, panel.starts)
        known, present = _masked(panel.known, scales.known, panel.starts)
        calendar = torch.from_numpy(np.array(panel.calendar, dtype=np.float32))
        self._known = _Rows(torch.cat([calendar, known.rows], dim=1))
        always = torch.ones(calendar.shape, dtype=torch.bool)
        self._known_present = _Rows(torch.cat([always, present.rows], dim=1))
        one = np.array([0, panel.n_series], dtype=np.int64)
        static = scales.static.apply(panel.static, one)
        self._static = torch.from_numpy(np.nan_to_num(static, nan=0.0))
        self._past_codes = _Rows(torch.from_numpy(panel.past_codes.copy()))
        self._known_codes = _Rows(torch.from_numpy(panel.known_codes.copy()))
        self._static_codes = torch.from_numpy(panel.static_codes.copy())
        self._time = torch.arange(-context, horizon, dtype=torch.float32)

    def at(self, index: WindowIndex) -> "WindowDataset":
        """Other windows of the same data; the tensors are shared."""
        other = copy.copy(self)
        other.index = index
        return other

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, number: int) -> Batch:
        """A batch of one window."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"window {number} of {len(self)}")
        return self.__getitems__([number % len(self)])

    def __getitems__(self, numbers: Sequence[int]) -> Batch:
        """These windows as one batch."""
        series, origins = self.index.locate(np.asarray(numbers, dtype=np.int64))
        return self.gather(torch.from_numpy(series), torch.from_numpy(origins))

    def gather(self, series: Tensor, origin: Tensor) -> Batch:
        """The windows of these series at these origins as one batch."""
        context, steps = self.sizes.context, self.sizes.steps
        begin = self._starts[series] + origin - context
        target = self._target.gather(begin, steps)
        observed = self._observed.gather(begin, steps)
        return Batch(
            past_target=target[:, :context],
            past_observed=observed[:, :context],
            past=self._past.gather(begin, context),
            past_present=self._past_present.gather(begin, context),
            known=self._known.gather(begin, steps),
            known_present=self._known_present.gather(begin, steps),
            static=self._static[series],
            past_codes=self._past_codes.gather(begin, context),
            known_codes=self._known_codes.gather(begin, steps),
            static_codes=self._static_codes[series],
            time=self._time.expand(len(series), steps),
            future_target=target[:, context:],
            future_observed=observed[:, context:],
            weight=torch.ones(len(series)),
            series=series,
            origin=origin,
        )


def sizes_of(panel: Panel, *, context: int, horizon: int) -> Sizes:
    """The sizes of a panel's batches."""
    schema, levels = panel.schema, panel.levels

    def counts(names: Sequence[str]) -> tuple[int, ...]:
        return tuple(len(levels[name]) + 1 for name in names if name in levels)

    return Sizes(
        context=context,
        horizon=horizon,
        target=panel.target.shape[1],
        past=panel.past.shape[1],
        known=panel.calendar.shape[1] + panel.known.shape[1],
        static=panel.static.shape[1],
        past_levels=counts(schema.past),
        known_levels=counts(schema.known),
        static_levels=counts(schema.static),
    )


def _masked(
    values: NDArray[np.float64], scales: Scales, starts: NDArray[np.int64]
) -> tuple[_Rows, _Rows]:
    scaled = torch.from_numpy(scales.apply(values, starts))
    present = ~torch.isnan(scaled)
    return _Rows(scaled.nan_to_num_(nan=0.0)), _Rows(present)
