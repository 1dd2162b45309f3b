"""Where a transformer learns when its steps are: which position parts it has, and at what place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import nn

from tsformer.nn import (
    LearnedPositions,
    NoPositions,
    RelativeBias,
    RotaryPositions,
    SinusoidalPositions,
)

__all__ = ["PLACEMENTS", "Placement", "Positions"]

Positions = Literal["sinusoidal", "learned", "every_layer", "relative", "rotary", "none"]


@dataclass(frozen=True)
class Placement:
    """Makers of position parts, one for each place; parts that learn are never shared.

    Parameters
    ----------
    at_input
        Called with ``d_model``: the part that embedded steps go through.
    at_layers
        The part before each block, or None.
    rotate
        The part that turns queries and keys, or None.
    bias
        Called with the number of heads: the part that adds to the scores, or None.

    Examples
    --------
    >>> PLACEMENTS["relative"].bias
    <class 'tsformer.nn.relative.RelativeBias'>
    """

    at_input: Callable[[int], nn.Module] = lambda d_model: NoPositions()
    at_layers: Callable[[], nn.Module] | None = None
    rotate: Callable[[], nn.Module] | None = None
    bias: Callable[[int], nn.Module] | None = None


PLACEMENTS: dict[Positions, Placement] = {
    "sinusoidal": Placement(at_input=lambda d_model: SinusoidalPositions()),
    "learned": Placement(at_input=LearnedPositions),
    "every_layer": Placement(at_layers=SinusoidalPositions),
    "relative": Placement(bias=RelativeBias),
    "rotary": Placement(rotate=RotaryPositions),
    "none": Placement(),
}
"""What each name stands for."""
