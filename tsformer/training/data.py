"""A panel as Lightning sees it: training windows, and the latest rows for validation."""

import logging
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytorch_lightning as pl
from torch.utils.data import DataLoader

from tsformer.arrays import Ints
from tsformer.errors import ParameterError, SeriesTooShort
from tsformer.panels import Panel
from tsformer.panels.scales import ScalesKind
from tsformer.windows import (
    Batch,
    PanelScales,
    WindowDataset,
    WindowIndex,
    window_loader,
)

__all__ = ["WindowDataModule", "validation_rows"]

log = logging.getLogger("tsformer")


_JUDGED = 0.6
"""Most validation windows for each training window: a forecast costs a third of a step, so that
judging an epoch takes a fifth of training it."""
_FEW = 1000
"""So many validation windows are never too many."""


class WindowDataModule(pl.LightningDataModule):
    """Loaders of training and validation windows; works with any Lightning ``Trainer``.

    Validation windows forecast the latest rows of each series, with earlier rows as context;
    training windows end before them. Of more validation windows than 0.6 for each training window
    (and than 1,000) so many are kept, spread evenly, and the log says so. Scales are
    fitted on the training rows alone.

    Parameters
    ----------
    panel
        The data.
    context, horizon
        Steps before and after an origin.
    batch_size
        Windows a batch.
    gap, lags, edges
        How windows are cut; see ``WindowDataset``.
    scaling
        How columns are scaled by the training rows; see ``Scales.fit``.
    sampling
        What an epoch is; see ``window_loader``.
    validation
        Rows, fraction, ``"auto"`` or None: see :func:`validation_rows`; or the number of rows of
        each series.
    stride
        Rows between origins, see ``Training``.
    random_state
        Seed of the order of the training windows.

    Attributes
    ----------
    sizes : Sizes
        Shapes of the batches; what a model needs to build its network.
    scales : PanelScales
        Fitted on the training rows.
    ends : ndarray
        (series,) number of training rows.
    train, validation : WindowDataset
        The windows; ``validation`` may be empty.

    Raises
    ------
    SeriesTooShort
        If no series has a training window.
    """

    def __init__(
        self,
        panel: Panel,
        *,
        context: int,
        horizon: int,
        batch_size: int = 32,
        gap: int = 0,
        lags: Sequence[int] = (),
        edges: Sequence[int] = (),
        scaling: ScalesKind = "series",
        sampling: Literal["windows", "series"] = "windows",
        validation: float | int | str | Ints | None = "auto",
        stride: int = 1,
        random_state: int = 0,
    ) -> None:
        super().__init__()
        self.batch_size = batch_size
        self.sampling = sampling
        self.random_state = random_state
        rows = validation
        if not isinstance(rows, np.ndarray):
            rows = validation_rows(
                panel.index.lengths, rows, context=context, horizon=horizon, gap=gap, stride=stride
            )
        self.validation_rows = rows
        self.ends = panel.index.lengths - rows
        cut: dict[str, Any] = {"context": context, "horizon": horizon, "gap": gap}
        # the phase at which a forecast after the data is made
        phase: dict[str, Any] = {"step": stride, "anchor": panel.index.lengths + gap}
        index = WindowIndex.of_rows(panel.index.starts, end=self.ends, **cut, **phase)
        if len(index) == 0:
            raise _too_short(panel, self.ends, context + gap, horizon, stride)
        self.scales = PanelScales.fit(panel, self.ends, kind=scaling)
        self.train = WindowDataset(
            panel, scales=self.scales, index=index, lags=lags, edges=edges, **cut
        )
        begin = np.where(rows > 0, self.ends, panel.index.lengths)
        judged = WindowIndex.of_rows(panel.index.starts, begin=begin, **cut, **phase)
        self.validation = self.train.at(judged)
        self._thin(max(_FEW, int(_JUDGED * len(self.train))))
        self.sizes = self.train.sizes

    def _thin(self, most: int) -> None:
        every = len(self.validation)
        self.validation.index = self.validation.index.thinned(most)
        if every > most:
            log.info(
                "%d of %d validation windows are judged, spread evenly: judging an epoch should "
                "take no more than a fifth of training it",
                most,
                every,
            )

    def train_dataloader(self) -> "DataLoader[Batch]":
        """The training windows of an epoch, in an order made of seed and epoch."""
        return window_loader(
            self.train,
            batch_size=self.batch_size,
            shuffle=True,
            seed=self.random_state,
            sampling=self.sampling,
        )

    def val_dataloader(self) -> "DataLoader[Batch] | list[Batch]":
        """The validation windows, in order."""
        if len(self.validation) == 0:
            return []
        # no gradients are kept, so a batch may be larger
        return window_loader(self.validation, batch_size=max(256, self.batch_size))


def validation_rows(
    lengths: Ints,
    validation: float | int | str | None,
    *,
    context: int,
    horizon: int,
    gap: int = 0,
    stride: int = 1,
) -> Ints:
    """How many of the latest rows of each series are kept for validation.

    Parameters
    ----------
    lengths
        (series,) rows of each series.
    validation
        None or 0: none. A fraction below 1: that share, at least one window. A number of rows.
        ``"auto"``: a fifth of the rows, at least one window; none in a series that would be
        left without a training window.
    context, horizon, gap, stride
        Of the windows. With a stride the latest one may end before the data do.

    Raises
    ------
    ParameterError
        If the rows hold no window, or leave none for training.

    Examples
    --------
    >>> validation_rows(np.array([100, 30]), "auto", context=20, horizon=8)
    array([20,  0])
    """
    if validation is None or validation == 0:
        return np.zeros_like(lengths)
    least = -(-(gap + horizon) // stride) * stride - gap  # the first row of the latest window
    needed = context + gap + horizon
    if validation == "auto":
        rows = np.maximum(np.ceil(0.2 * lengths).astype(np.int64), least)
        return np.where(lengths - rows >= needed, rows, 0)
    share = float(validation)
    if share < 1:
        rows = np.maximum(np.ceil(share * lengths).astype(np.int64), least)
    else:
        rows = np.full_like(lengths, int(share))
    if share >= 1 and share < least:
        steps = f" at a stride of {stride}" if stride > 1 else ""
        raise ParameterError(
            f"validation={validation!r} rows hold no window of horizon {horizon}{steps}: "
            f"give at least {least}"
        )
    fits = lengths - rows >= needed
    if not fits.any():
        raise ParameterError(
            f"validation={validation!r} leaves no training window: the longest series has "
            f"{lengths.max()} rows, context {context + gap} + horizon {horizon} need "
            f"{needed} before the validation rows"
        )
    return np.where(fits, rows, 0)


def _too_short(panel: Panel, ends: Ints, context: int, horizon: int, stride: int) -> SeriesTooShort:
    longest = int(np.argmax(ends))
    name = f"series {panel.index.ids[longest]!r}" if panel.n_series > 1 else "the series"
    least = "the longest, " if panel.n_series > 1 else ""
    spare = f", and a stride of {stride} up to {stride - 1} more" if stride > 1 else ""
    return SeriesTooShort(
        f"{least}{name}, has {ends[longest]} rows for training; context {context} + horizon "
        f"{horizon} need {context + horizon}{spare}. Lower context or horizon, or give more rows."
    )
