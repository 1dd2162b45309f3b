"""The seasons of a panel: as the caller said, as its stamps tell, as its rows show."""

import logging
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tsformer.panels.panel import Panel
from tsformer.panels.schema import Schema
from tsformer.time.season import find_seasons, season_length

__all__ = ["seasons", "with_seasons"]

Ints = NDArray[np.int64]
_LOG = logging.getLogger("tsformer")


def seasons(panel: Panel, ends: Ints | None = None) -> tuple[int, ...]:
    """Steps in each season of the targets, the main one first; ``(1,)`` where there is none.

    What ``Schema(season=)`` says. Else the usual season of the frequency, if the longest series
    holds two of it, and a longer one that the rows show beside it. Else, where stamps tell
    nothing, what the rows show.

    Parameters
    ----------
    ends
        ``(series,)`` how many rows of each series may be looked at; all by default.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> seasons(read_panel(np.tile([1.0, 5.0, 3.0, 2.0], 12)))
    (4,)
    """
    said = panel.schema.season
    if said is not None:
        return (int(said),) if isinstance(said, int | np.integer) else tuple(map(int, said))
    usual = season_length(panel.freq)
    lengths = panel.lengths if ends is None else np.minimum(ends, panel.lengths)
    if usual > 1 and 2 * usual > lengths.max():
        return (1,)
    if panel.irregular:  # rows are no steps
        return (usual,)
    known = usual if usual > 1 else None
    return find_seasons(panel.target, panel.starts, ends, known=known) or (1,)


def with_seasons(panel: Panel) -> Panel:
    """The panel with its seasons in the schema, so that all that comes of it uses the same."""
    found = seasons(panel)
    if panel.schema.season is None and found != (1,):
        first, *longer = (f"{one:,} rows" for one in found)
        told = season_length(panel.freq) > 1
        beside = f", and {longer[0]} found in the data" if longer else ""
        _LOG.info(
            "season: %s %s%s", first, "by the stamps" if told else "found in the data", beside
        )
    schema = Schema(**{**panel.schema.get_params(), "season": found})
    return replace(panel, schema=schema)
