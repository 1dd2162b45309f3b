"""Which column plays which role; what is not said is inferred."""

from tsformer.params import KW_ONLY, Params, param, params

__all__ = ["Schema"]


@params
class Schema(Params):
    """The roles of a frame's columns.

    Only what cannot be guessed needs to be said. ``fit`` resolves the rest against the frame, logs
    what it inferred and keeps the full answer as ``schema_``.

    Examples
    --------
    >>> Schema(target="load", known=["price"], past="rest").get_params()["known"]
    ['price']
    """

    _: KW_ONLY
    series: str | None = param("Column that tells series apart (long frames).", default=None)
    time: str | None = param("Column, or name of the index level, with the stamps.", default=None)
    target: str | tuple[str, ...] | list[str] | None = param(
        "Column or columns to forecast; None takes every numeric column without a role.",
        default=None,
    )
    known: str | tuple[str, ...] | list[str] = param(
        "Covariates known over the horizon too: plans, prices, forecasts of others.", default=()
    )
    past: str | tuple[str, ...] | list[str] = param(
        "Covariates known only up to now; 'rest' takes every column without a role.", default=()
    )
    static: str | tuple[str, ...] | list[str] = param(
        "Columns that are constant within a series.", default=()
    )
    freq: str | int | None = param(
        "Step between rows: a pandas frequency, or a whole number for integer time.", default=None
    )
