"""Room in a panel: rows without values, after its series or before them."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from tsformer.errors import ParameterError
from tsformer.panels.ragged import row_within_series
from tsformer.time.freq import advance

if TYPE_CHECKING:
    from tsformer.panels.panel import Panel

__all__ = ["blank_known", "earlier_stamps", "rows_before", "with_rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def with_rows(
    panel: "Panel",
    counts: Ints,
    stamps: pd.Index,
    known: tuple[Floats, Ints],
    *,
    before: bool = False,
) -> dict[str, Any]:
    """Fields of a panel that has more rows: no target, no past covariate, a weight of 1.

    Parameters
    ----------
    counts
        ``(series,)`` how many rows each series gets, after its own or ``before`` them.
    stamps
        ``(counts.sum(),)`` their stamps, series by series.
    known
        Their known covariates, as numbers and as codes.
    """
    own = np.arange(panel.n_series, dtype=np.int64)
    series = [own.repeat(panel.lengths), own.repeat(counts)]
    order = np.argsort(np.concatenate(series[::-1] if before else series), kind="stable")

    def joined(values: NDArray[Any], added: NDArray[Any]) -> NDArray[Any]:
        both = [added, values] if before else [values, added]
        together: NDArray[Any] = np.concatenate(both)[order]
        return together

    def longer(values: NDArray[Any], fill: Any) -> NDArray[Any]:
        return joined(values, np.full((len(stamps), *values.shape[1:]), fill, values.dtype))

    index = stamps.append(panel.stamps) if before else panel.stamps.append(stamps)
    return {
        "starts": np.concatenate([[0], np.cumsum(panel.lengths + counts)]).astype(np.int64),
        "stamps": index[order],
        "target": longer(panel.target, np.nan),
        "past": longer(panel.past, np.nan),
        "past_codes": longer(panel.past_codes, 0),
        "known": joined(panel.known, known[0]),
        "known_codes": joined(panel.known_codes, known[1]),
        "weight": longer(panel.weight, 1.0),
        "masked": longer(panel.masked, True),
    }


def blank_known(panel: "Panel", rows: int) -> tuple[Floats, Ints]:
    """Known covariates of rows about which nothing is known."""
    numbers = np.full((rows, panel.known.shape[1]), np.nan)
    return numbers, np.zeros((rows, panel.known_codes.shape[1]), np.int64)


def rows_before(panel: "Panel", rows: ArrayLike) -> Ints:
    """``(series,)`` how many rows each series gets, from one number or one for each."""
    given = np.asarray(rows)
    if given.dtype.kind not in "iu" or given.ndim > 1 or (given < 0).any():
        raise ParameterError(
            f"rows={rows!r}: must be a whole number of at least 0, or one a series"
        )
    if given.ndim and len(given) != panel.n_series:
        raise ParameterError(f"rows has {len(given)} numbers for {panel.n_series} series")
    return np.broadcast_to(given.astype(np.int64), (panel.n_series,))


def earlier_stamps(panel: "Panel", counts: Ints) -> pd.Index:
    """``(counts.sum(),)`` stamps that come before the first of each series."""
    first = panel.stamps[panel.starts[:-1]].repeat(counts)
    place = row_within_series(counts)
    return advance(first, place - np.repeat(counts, counts), panel.freq)
