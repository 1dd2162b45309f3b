"""What to do with data that is not clean."""

from typing import Any, Literal

from tsformer.panels.ignored import check_ignore
from tsformer.params import KW_ONLY, Params, param, params

__all__ = ["Policy"]


@params
class Policy(Params):
    """What happens to missing values, missing rows and short series: refused, or handled.

    A mask reaches scaler, embedding, attention and loss: a masked value may be anything, it moves
    nothing.

    Examples
    --------
    >>> Policy(missing="mask").keeps_missing, Policy().keeps_missing
    (True, False)
    >>> Policy(ignore=[("2020-06-30", "2020-03-15")]).check()
    Traceback (most recent call last):
        ...
    tsformer.errors.ParameterError: the period to ignore ('2020-06-30', '2020-03-15') ends before
    it begins. Give first and last stamp, one of which may be left open, such as:
    policy=Policy(ignore=[('2020-03-15', '2020-06-30')]).
    """

    _: KW_ONLY
    missing: Literal["error", "mask", "interpolate"] = param(
        "NaN in a target or a covariate: 'error' names series, column and row; 'mask' trains"
        " around it; 'interpolate' draws a line between the values that a window knows, and never"
        " counts what it drew as an answer.",
        default="error",
        choices=("error", "mask", "interpolate"),
    )
    gaps: Literal["error", "mask"] = param(
        "Absent rows: 'error' names the first gap; 'mask' puts them back as missing values,"
        " which are masked whatever ``missing`` says.",
        default="error",
        choices=("error", "mask"),
    )
    short: Literal["error", "drop", "pad"] = param(
        "Series with fewer rows than context and horizon need: 'error' names the first; 'drop'"
        " leaves them out; 'pad' puts masked rows before them. ``short_`` lists what was done.",
        default="error",
        choices=("error", "drop", "pad"),
    )
    ignore: tuple[Any, ...] | list[Any] = param(
        "Periods that teach nothing, such as ``[('2020-03-15', '2020-06-30')]``, both ends"
        " included, None for an open end: targets and past covariates in them are masked whatever"
        " ``missing`` says. A date, month or year as the last stamp is there to its end; what has"
        " no zone is local time of the data.",
        default=(),
    )

    @property
    def keeps_missing(self) -> bool:
        """Whether NaN may stay in what is read."""
        return self.missing != "error"

    def check(self) -> None:
        """Raise ``ParameterError`` for an option that does not exist or a period that is none."""
        super().check()
        check_ignore(self.ignore)
