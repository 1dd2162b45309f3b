"""The contract of a head: it gives meaning to the last axis and owns no weights."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from tsformer.params import Params

__all__ = ["Head"]


class Head(Params, ABC):
    """What the ``width`` numbers are that a network gives for each step and target.

    A network returns ``raw`` of shape (batch, horizon, target, width); a head turns it into a
    loss, a point forecast and quantiles. All values are in the units of ``raw``.

    Attributes
    ----------
    has_spread : bool
        False where ``raw`` is the point forecast and nothing more.
    """

    has_spread: ClassVar[bool] = True

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers the network gives for each step and target."""

    @abstractmethod
    def loss(
        self,
        raw: Float[Tensor, "batch horizon target width"],
        target: Float[Tensor, "batch horizon target"],
        weight: Float[Tensor, "batch horizon target"],
    ) -> Float[Tensor, ""]:
        """Mean loss over all entries, weighted; entries of weight 0 may hold anything."""

    @abstractmethod
    def point(
        self, raw: Float[Tensor, "batch horizon target width"]
    ) -> Float[Tensor, "batch horizon target"]:
        """The point forecast: what autoregressive decoding feeds back."""

    @abstractmethod
    def quantiles(
        self, raw: Float[Tensor, "batch horizon target width"], levels: Sequence[float]
    ) -> Float[Tensor, "batch horizon target level"]:
        """Forecasts at these levels, never crossing.

        Raises
        ------
        ParameterError
            If the head cannot give one of the levels.
        """

    def shift(
        self,
        raw: Float[Tensor, "batch horizon target width"],
        point: Float[Tensor, "batch horizon target"],
    ) -> Float[Tensor, "batch horizon target width"]:
        """Add a point forecast to what is forecast: how a linear skip meets any head.

        As it stands it is right where all numbers of ``raw`` are values of the target; a head with
        other numbers, such as the logarithm of a scale, replaces this method and ``restore``.
        """
        return raw + point.unsqueeze(-1)

    def restore(
        self,
        raw: Float[Tensor, "batch horizon target width"],
        location: Float[Tensor, "batch 1 target"],
        scale: Float[Tensor, "batch 1 target"],
    ) -> Float[Tensor, "batch horizon target width"]:
        """Undo a window's scaling: ``raw`` of values standardised by location and scale."""
        return raw * scale.unsqueeze(-1) + location.unsqueeze(-1)

    def fit_spread(
        self,
        residuals: Float[Tensor, "window horizon target"],
        raw: Float[Tensor, "window horizon target width"] | None = None,
    ) -> Float[Tensor, "horizon target width"]:
        """What to shift by a point forecast whose errors were these; NaN is an error not known.

        As it stands, the numbers at which the loss over the residuals is least, found by descent
        from 0. Steps without any residual get 0.

        Parameters
        ----------
        residuals
            The truth less the point forecast.
        raw
            What a network forecasts of the residuals already, to which the numbers are added; None
            where it forecasts nothing yet.
        """
        known = ~residuals.isnan()
        already = residuals.new_zeros(()) if raw is None else raw.where(known.unsqueeze(-1), 0)
        spread = residuals.new_zeros((*residuals.shape[1:], self.width))
        with torch.enable_grad():
            spread.requires_grad_()
            descent = torch.optim.LBFGS([spread], max_iter=200, line_search_fn="strong_wolfe")

            def loss() -> float:
                descent.zero_grad()
                shifted = already + spread.expand(len(residuals), -1, -1, -1)
                # each step and target has numbers of its own, so their losses don't compete
                total = self.loss(shifted, residuals, known.to(residuals.dtype))
                total = total * known.any(0).sum()
                total.backward()
                return float(total.detach())

            descent.step(loss)
        return spread.detach()


def counted(target: Tensor, weight: Tensor) -> Tensor:
    """The target, 0 where it does not count: a NaN there would reach the gradient."""
    return target.where(weight > 0, 0)


def weighted_mean(loss: Tensor, weight: Tensor) -> Tensor:
    """Mean of ``loss`` over the entries that count; 0 where none does.

    ``where`` rather than a product: an entry of weight 0 may hold NaN.
    """
    counted = weight > 0
    total = (loss.where(counted, 0) * weight).sum()
    return total / weight.sum().clamp_min(1e-12)
