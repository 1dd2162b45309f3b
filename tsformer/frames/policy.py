"""What to do with data that is not clean."""

from typing import Literal

from tsformer.params import KW_ONLY, Params, param, params

__all__ = ["Policy"]


@params
class Policy(Params):
    """What happens to missing values and to missing rows: refused, or masked.

    A mask reaches scaler, embedding, attention and loss: a masked value may be anything, it moves
    nothing.
    """

    _: KW_ONLY
    missing: Literal["error", "mask"] = param(
        "NaN in a target or a covariate: 'error' names series, column and row; 'mask' trains"
        " around it.",
        default="error",
        choices=("error", "mask"),
    )
    gaps: Literal["error", "mask"] = param(
        "Absent rows: 'error' names the first gap; 'mask' puts them back as missing values,"
        " which are masked whatever ``missing`` says.",
        default="error",
        choices=("error", "mask"),
    )
