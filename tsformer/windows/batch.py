"""The one batch type: every tensor's name, shape, unit and meaning."""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from tsformer.errors import ShapeError

__all__ = ["Batch", "Sizes"]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How long and how wide the tensors of a :class:`Batch` are; what ``build`` needs to know.

    Absent covariates have width 0.

    Examples
    --------
    >>> Sizes(context=48, horizon=24, target=1).steps
    72
    """

    context: int
    horizon: int
    target: int = 1
    past: int = 0
    known: int = 0
    calendar: int = 0
    """How many of the known are cycles of the calendar; they stand first. Days off are not counted:
    a forecast needs them as it needs any known covariate."""
    lagged: int = 0
    """How many of the known are targets of earlier rows; they stand last."""
    static: int = 0
    past_cardinalities: tuple[int, ...] = ()
    """Number of codes of each categorical past covariate, 0 ("unknown") included."""
    known_cardinalities: tuple[int, ...] = ()
    static_cardinalities: tuple[int, ...] = ()

    @property
    def steps(self) -> int:
        """Steps in a window: context and horizon."""
        return self.context + self.horizon

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """Numbers of codes of all categorical columns: past, known, static."""
        return (*self.past_cardinalities, *self.known_cardinalities, *self.static_cardinalities)

    def check(self, batch: "Batch") -> None:
        """Raise ``ShapeError`` for a batch of other sizes, naming both."""
        context, target = batch.past_target.shape[1:]
        held = {
            "context": (self.context, context),
            "horizon": (self.horizon, batch.future_target.shape[1]),
            "target": (self.target, target),
            "past": (self.past, batch.past.shape[-1]),
            "known": (self.known, batch.known.shape[-1]),
            "static": (self.static, batch.static.shape[-1]),
            "past categories": (len(self.past_cardinalities), batch.past_codes.shape[-1]),
            "known categories": (len(self.known_cardinalities), batch.known_codes.shape[-1]),
            "static categories": (len(self.static_cardinalities), batch.static_codes.shape[-1]),
        }
        wrong = [f"{name} {own}, not {its}" for name, (own, its) in held.items() if own != its]
        if wrong:
            raise ShapeError(
                f"the network is built for {'; '.join(wrong)} as in the batch. Build it with the"
                " sizes of its data: WindowDataModule.sizes"
            )


class Batch(NamedTuple):
    """Some windows of some series; shapes are given behind the leading ``batch`` axis.

    Values are in the panel's units: ``(value - offset) / scale`` of the series and column. Where
    something is not present its value is 0 and its mask is False; ``True`` always means visible.
    """

    past_target: Tensor
    """(context, target) float32: values before the origin."""
    past_observed: Tensor
    """(context, target) bool: really measured."""
    past: Tensor
    """(context, past) float32: covariates known only up to the origin."""
    past_present: Tensor
    """(context, past) bool."""
    known: Tensor
    """(context + horizon, known) float32: calendar and planned covariates."""
    known_present: Tensor
    """(context + horizon, known) bool."""
    static: Tensor
    """(static,) float32: features of the series."""
    past_codes: Tensor
    """(context, columns) int64: categories; 0 is "unknown"."""
    known_codes: Tensor
    """(context + horizon, columns) int64."""
    static_codes: Tensor
    """(columns,) int64."""
    time: Tensor
    """(context + horizon,) float32: stamps in steps of the frequency; the last row of the context
    is at -1, and the first of the forecast at 0 unless there is a gap between them."""
    future_target: Tensor
    """(horizon, target) float32: the answer; zeros when predicting."""
    future_observed: Tensor
    """(horizon, target) bool: which of the answer counts."""
    weight: Tensor
    """() float32: sample weight, the mean of the positive weights of the rows to forecast."""
    series: Tensor
    """() int64: row of the panel's ``ids``."""
    origin: Tensor
    """() int64: row within the series of the first forecast step."""
    location: Tensor
    """(1, target) float32: what a normaliser has taken off the targets of this window, and"""
    scale: Tensor
    """(1, target) float32: what it divided them by then; 0 and 1 as windows are gathered."""
