"""Quantile regression: several levels at once, sorted so that they never cross."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from tsformer.cures import Cure
from tsformer.errors import ParameterError
from tsformer.heads.base import Head, counted, weighted_mean
from tsformer.params import param, params

__all__ = ["Quantiles", "pinball_loss"]


def pinball_loss(
    forecast: Float[Tensor, "*batch level"],
    target: Float[Tensor, "*batch"],
    levels: Float[Tensor, " level"],
) -> Float[Tensor, "*batch level"]:
    """Loss of a quantile forecast, ``max(level * e, (level - 1) * e)`` with ``e = y - forecast``.

    References
    ----------
    Koenker and Bassett (1978), "Regression Quantiles", Econometrica 46.
    """
    error = target.unsqueeze(-1) - forecast
    return torch.maximum(levels * error, (levels - 1) * error)


@params
class Quantiles(Head):
    """Forecasts at fixed levels, trained with the pinball loss.

    The network's numbers are sorted, so quantiles never cross; the point forecast is the level
    nearest the median. A level the head was not trained for is an error.

    Examples
    --------
    >>> Quantiles().width
    7
    >>> raw = torch.tensor([[[[3.0, 1.0, 2.0]]]])
    >>> Quantiles((0.1, 0.5, 0.9)).quantiles(raw, [0.1, 0.9])
    tensor([[[[1., 3.]]]])
    """

    levels: tuple[float, ...] | list[float] = param(
        "Levels in ascending order, each inside (0, 1).",
        default=(0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95),
    )

    def check(self) -> None:
        """Raise ``ParameterError`` unless the levels ascend inside (0, 1)."""
        super().check()
        levels = tuple(self.levels)
        inside = all(isinstance(level, float) and 0 < level < 1 for level in levels)
        if not levels or not inside or sorted(set(levels)) != list(levels):
            raise ParameterError(
                f"Quantiles(levels={self.levels!r}): levels must ascend inside (0, 1)"
            )

    @property
    def width(self) -> int:
        """One number a level."""
        return len(self.levels)

    def loss(
        self,
        raw: Float[Tensor, "batch horizon target width"],
        target: Float[Tensor, "batch horizon target"],
        weight: Float[Tensor, "batch horizon target"],
    ) -> Float[Tensor, ""]:
        """Pinball loss, averaged over the levels."""
        levels = raw.new_tensor(self.levels)
        loss = pinball_loss(raw.sort(dim=-1).values, counted(target, weight), levels)
        return weighted_mean(loss.mean(dim=-1), weight)

    def point(
        self, raw: Float[Tensor, "batch horizon target width"]
    ) -> Float[Tensor, "batch horizon target"]:
        """The level nearest the median."""
        nearest = min(range(self.width), key=lambda at: abs(self.levels[at] - 0.5))
        return raw.sort(dim=-1).values[..., nearest]

    def quantiles(
        self, raw: Float[Tensor, "batch horizon target width"], levels: Sequence[float]
    ) -> Float[Tensor, "batch horizon target level"]:
        """Forecasts at these levels; each must be one of ``levels``."""
        places = [_position(self.levels, level) for level in levels]
        absent = [level for level, place in zip(levels, places, strict=True) if place is None]
        if absent:
            several = len(absent) > 1
            raise ParameterError(
                f"level{'s' * several} {', '.join(map(str, absent))} {'were' if several else 'was'}"
                f" not trained: this forecast has {', '.join(map(str, self.levels))}.",
                Cure("Fit with all of them", {"head__levels": sorted({*self.levels, *absent})}),
            )
        return raw.sort(dim=-1).values[..., places]

    def fit_spread(
        self,
        residuals: Float[Tensor, "window horizon target"],
        raw: Float[Tensor, "window horizon target width"] | None = None,
    ) -> Float[Tensor, "horizon target width"]:
        """The empirical quantiles of the residuals, where the pinball loss is least.

        Where a network forecasts ``raw`` already, each level is shifted by the quantile of what is
        left of the residuals at that level.
        """
        levels = residuals.new_tensor(self.levels)
        if raw is None:
            found = residuals.nanquantile(levels, dim=0)
        else:
            left = (residuals.unsqueeze(-1) - raw).unbind(-1)
            pairs = zip(left, levels, strict=True)
            found = torch.stack([part.nanquantile(level, dim=0) for part, level in pairs])
        return found.nan_to_num(nan=0.0).movedim(0, -1)


def _position(levels: Sequence[float], level: float) -> int | None:
    near = (place for place, own in enumerate(levels) if abs(own - level) < 1e-9)
    return next(near, None)
