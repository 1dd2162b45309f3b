"""One number a step: absolute, squared or Huber loss."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from tsformer.cures import Cure
from tsformer.errors import ParameterError
from tsformer.heads.base import Head, counted, weighted_mean
from tsformer.params import KW_ONLY, param, params

__all__ = ["Point"]


@params
class Point(Head):
    """One value for each step and target; no intervals.

    The absolute loss is minimised by the median, the squared one by the mean; Huber's lies
    between: squared below ``delta``, absolute above.

    Examples
    --------
    >>> head = Point("squared")
    >>> raw, target = torch.zeros(1, 2, 1, 1), torch.tensor([[[1.0], [3.0]]])
    >>> head.loss(raw, target, torch.ones(1, 2, 1))
    tensor(5.)
    """

    has_spread: ClassVar[bool] = False

    kind: Literal["absolute", "squared", "huber"] = param(
        "Loss to minimise.", default="absolute", choices=("absolute", "squared", "huber")
    )
    _: KW_ONLY
    delta: float = param("Where Huber's loss turns from squared to absolute.", default=1.0, above=0)

    @property
    def width(self) -> int:
        """One."""
        return 1

    def loss(
        self,
        raw: Float[Tensor, "batch horizon target width"],
        target: Float[Tensor, "batch horizon target"],
        weight: Float[Tensor, "batch horizon target"],
    ) -> Float[Tensor, ""]:
        """Mean absolute, squared or Huber error."""
        point, target = self.point(raw), counted(target, weight)
        if self.kind == "absolute":
            loss = (point - target).abs()
        elif self.kind == "squared":
            loss = (point - target) ** 2
        else:
            loss = functional.huber_loss(point, target, reduction="none", delta=self.delta)
        return weighted_mean(loss, weight)

    def point(
        self, raw: Float[Tensor, "batch horizon target width"]
    ) -> Float[Tensor, "batch horizon target"]:
        """The value itself."""
        return raw[..., 0]

    def quantiles(
        self, raw: Float[Tensor, "batch horizon target width"], levels: Sequence[float]
    ) -> Float[Tensor, "batch horizon target level"]:
        """Always an error, unless no level is asked for."""
        if len(levels):
            raise ParameterError(
                "a Point head has no quantiles.",
                Cure("Fit with another one", code="head=Quantiles()"),
                Cure("Or ask for none", code="quantiles=None", option='--quantiles ""'),
            )
        return torch.empty((*raw.shape[:-1], 0), dtype=raw.dtype, device=raw.device)
