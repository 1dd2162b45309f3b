"""Windows of a panel, gathered a whole batch at a time."""

import copy
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from tsformer.panels import Panel, Scales
from tsformer.panels.columns import Columns
from tsformer.panels.index import PanelIndex
from tsformer.panels.scales import PanelScales
from tsformer.windows.batch import Batch, Sizes
from tsformer.windows.filling import interpolated
from tsformer.windows.index import WindowIndex

__all__ = ["WindowDataset", "sizes_of"]


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
    0 with a False mask; where the panel's policy says ``missing="interpolate"``, those between
    two values that the window knows are filled first. A window weighs what its forecast rows weigh
    on average; those that weigh nothing are no answer.

    Parameters
    ----------
    panel
        The data. Rows of the horizon must exist in it; see ``Panel.extend``.
    context, horizon
        Steps of the past and of the forecast.
    gap
        Rows between the two, which are not looked at. An origin is the first row of the forecast.
    lags
        Rows back, each at least ``gap + horizon``: the targets so long before are further known
        covariates, over the forecast as well.
    edges
        (past covariates,) how many of the latest rows of the context are hidden, numbers first and
        codes after them: what arrives late is no longer there when a forecast is made.
    scales
        Fitted on training rows; by default fitted on all rows of ``panel``.
    index
        Which windows; by default every full one.

    Examples
    --------
    >>> import numpy as np
    >>> from tsformer.reading import read_panel
    >>> windows = WindowDataset(read_panel(np.arange(10.0)), context=4, horizon=2)
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
        gap: int = 0,
        lags: Sequence[int] = (),
        edges: Sequence[int] = (),
        scales: PanelScales | None = None,
        index: WindowIndex | None = None,
    ) -> None:
        scales = scales or PanelScales.fit(panel)
        self.index = index or WindowIndex.of_rows(
            panel.index.starts, context=context, horizon=horizon, gap=gap
        )
        self.sizes = sizes_of(panel, context=context, horizon=horizon, lags=len(lags))
        self._gap = gap
        self._starts = torch.from_numpy(panel.index.starts[:-1].copy())
        self._target, self._observed = _masked(panel.index, panel.target, scales.target)
        self._past, self._past_present = _masked(panel.index, panel.past, scales.past)
        known, present = _masked(panel.index, panel.known, scales.known)
        calendar = torch.from_numpy(np.array(panel.calendar, dtype=np.float32))
        always = torch.ones(calendar.shape, dtype=torch.bool)
        earlier = [self._lagged(panel, lag) for lag in lags]
        self._known = _Rows(torch.cat([calendar, known.rows, *(one for one, _ in earlier)], 1))
        self._known_present = _Rows(
            torch.cat([always, present.rows, *(there for _, there in earlier)], dim=1)
        )
        one = np.array([0, panel.n_series], dtype=np.int64)
        static = scales.static.apply(panel.static.values, one, where=partial(_static_at, panel))
        self._static = torch.from_numpy(np.nan_to_num(static, nan=0.0))
        self._past_codes = _Rows(torch.from_numpy(panel.past.codes.copy()))
        self._known_codes = _Rows(torch.from_numpy(panel.known.codes.copy()))
        self._static_codes = torch.from_numpy(panel.static.codes.copy())
        ahead = torch.arange(gap, gap + horizon, dtype=torch.float32)
        self._time = torch.cat([torch.arange(-context, 0, dtype=torch.float32), ahead])
        self._times = (
            _Rows(torch.from_numpy(panel.index.times[:, None])) if panel.index.irregular else None
        )
        self._weight = None
        if (panel.weight != 1).any():
            self._weight = _Rows(torch.from_numpy(panel.weight[:, None].astype(np.float32)))
        self._masked: _Rows | None = None
        if panel.policy.missing == "interpolate":
            self._masked = _Rows(torch.from_numpy(panel.masked[:, None].copy()))
        late = torch.tensor(edges, dtype=torch.int64)
        self._timely = torch.arange(-context, 0)[:, None] < -late if late.any() else None

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
        context = self.sizes.context
        first = self._starts[series] + origin
        begin = first - self._gap - context
        target = self._window(self._target, begin, first)
        observed = self._window(self._observed, begin, first)
        batch = Batch(
            past_target=target[:, :context],
            past_observed=observed[:, :context],
            past=self._past.gather(begin, context),
            past_present=self._past_present.gather(begin, context),
            known=self._window(self._known, begin, first),
            known_present=self._window(self._known_present, begin, first),
            static=self._static[series],
            past_codes=self._past_codes.gather(begin, context),
            known_codes=self._window(self._known_codes, begin, first),
            static_codes=self._static_codes[series],
            time=self._window_time(begin, first),
            future_target=target[:, context:],
            future_observed=observed[:, context:],
            weight=torch.ones(len(series)),
            series=series,
            origin=origin,
            location=target.new_zeros(len(series), 1, self.sizes.target),
            scale=target.new_ones(len(series), 1, self.sizes.target),
        )
        return self._weighted(self._filled(self._without_late(batch), begin, first), first)

    def _weighted(self, batch: Batch, first: Tensor) -> Batch:
        """Leave out of the answer what weighs nothing, and weigh the window as the rest does."""
        if self._weight is None:
            return batch
        weight = self._weight.gather(first, self.sizes.horizon)
        counts = weight > 0
        return batch._replace(
            future_target=batch.future_target.masked_fill(~counts, 0),
            future_observed=batch.future_observed & counts,
            weight=weight.sum(dim=(1, 2)) / counts.sum(dim=(1, 2)).clamp(min=1),
        )

    def _window(self, rows: "_Rows", begin: Tensor, first: Tensor) -> Tensor:
        """(batch, context + horizon, column) of the context and of the forecast."""
        context, horizon = self.sizes.context, self.sizes.horizon
        if not self._gap:
            return rows.gather(begin, context + horizon)
        return torch.cat([rows.gather(begin, context), rows.gather(first, horizon)], dim=1)

    def _window_time(self, begin: Tensor, first: Tensor) -> Tensor:
        if self._times is None:
            return self._time.expand(len(begin), -1)
        time = self._window(self._times, begin, first).squeeze(-1)
        last = self.sizes.context - 1
        return (
            time - time[:, last : last + 1] - 1
        ).float()  # as on a regular grid, that row is at -1

    def _without_late(self, batch: Batch) -> Batch:
        """Hide the latest rows of what arrives late."""
        if self._timely is None:
            return batch
        numbers = batch.past.shape[-1]
        timely, timely_codes = self._timely[:, :numbers], self._timely[:, numbers:]
        return batch._replace(
            past=batch.past.masked_fill(~timely, 0),
            past_present=batch.past_present & timely,
            past_codes=batch.past_codes * timely_codes,
        )

    def _filled(self, batch: Batch, begin: Tensor, first: Tensor) -> Batch:
        """Draw lines between what the window knows, if the policy asks for it."""
        if self._masked is None:
            return batch
        context, own = self.sizes.context, self.sizes.known - self.sizes.lagged
        never = self._window(self._masked, begin, first)
        past = batch.time[:, :context], never[:, :context]
        target, target_there = interpolated(batch.past_target, batch.past_observed, *past)
        other, other_there = interpolated(batch.past, batch.past_present, *past)
        known, known_there = interpolated(
            batch.known[..., :own], batch.known_present[..., :own], batch.time, never
        )
        return batch._replace(
            past_target=target,
            past_observed=target_there,
            past=other,
            past_present=other_there,
            known=torch.cat([known, batch.known[..., own:]], dim=-1),
            known_present=torch.cat([known_there, batch.known_present[..., own:]], dim=-1),
        )

    def _lagged(self, panel: Panel, lag: int) -> tuple[Tensor, Tensor]:
        """The scaled targets ``lag`` rows before each row, and which of them are there."""
        row = np.arange(panel.n_rows)
        within = torch.from_numpy(panel.index.within >= lag)[:, None]
        earlier = torch.from_numpy(np.maximum(row - lag, 0))
        there = self._observed.rows[earlier] & within
        return self._target.rows[earlier].masked_fill(~there, 0), there


def sizes_of(panel: Panel, *, context: int, horizon: int, lags: int = 0) -> Sizes:
    """The sizes of a panel's batches, with so many lags of the targets among the known."""

    def counts(columns: Columns) -> tuple[int, ...]:
        return tuple(len(words) + 1 for words in columns.categories.values())

    lagged = lags * panel.target.values.shape[1]
    return Sizes(
        context=context,
        horizon=horizon,
        target=panel.target.values.shape[1],
        past=panel.past.values.shape[1],
        known=panel.calendar.shape[1]
        + panel.known.values.shape[1]
        + lags * panel.target.values.shape[1],
        calendar=sum(name != "holiday" for name in panel.calendar_names),
        lagged=lagged,
        static=panel.static.values.shape[1],
        past_cardinalities=counts(panel.past),
        known_cardinalities=counts(panel.known),
        static_cardinalities=counts(panel.static),
    )


def _masked(index: PanelIndex, columns: Columns, scales: Scales) -> tuple[_Rows, _Rows]:
    def where(row: int, column: int) -> str:
        return f"column {columns.names[column]!r}{index.where(row)}"

    scaled = torch.from_numpy(scales.apply(columns.values, index.starts, where=where))
    present = ~torch.isnan(scaled)
    return _Rows(scaled.nan_to_num_(nan=0.0)), _Rows(present)


def _static_at(panel: Panel, series: int, column: int) -> str:
    return f"static column {panel.static.names[column]!r}{panel.index.of(series)}"
