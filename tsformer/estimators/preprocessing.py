"""What happens to the values of a frame before a network sees them, and is undone after it."""

from typing import get_args

from tsformer.estimators.parameters import ForecasterScaling
from tsformer.panels import Transform
from tsformer.params import KW_ONLY, Params, param, params

__all__ = ["Preprocessing"]


@params
class Preprocessing(Params):
    """How targets are transformed and scaled, and whether forecasts may be negative.

    Examples
    --------
    >>> Preprocessing(nonnegative=True).scaling
    'window'
    """

    _: KW_ONLY
    scaling: ForecasterScaling = param(
        "By training rows: 'series' (mean and deviation of each), 'global' (of all), 'robust'"
        " (median and quartiles of each), 'none'. 'window' standardises each window of the scaled"
        " series by its own context, 'last' measures it from its last value, 'asinh' standardises"
        " the asinh of its distance from the median in median deviations: for spikes, negatives and"
        " a level that drifts. Losses are then of asinh values.",
        default="window",
        choices=get_args(ForecasterScaling),
    )
    transforms: Transform | tuple[Transform, ...] | list[Transform] | None = param(
        "What happens to the targets before scaling and is undone after it: Asinh(), Log1p(),"
        " BoxCox(), Shift(lag), Clip(low, high), or several in order.",
        default=None,
    )
    nonnegative: bool = param("Forecasts below 0 become 0.", default=False)
