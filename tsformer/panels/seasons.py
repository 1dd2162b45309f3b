"""The seasons of a panel: as the caller said, as its stamps tell, as its rows show."""

import logging
from dataclasses import replace

from tsformer.arrays import Ints
from tsformer.panels.panel import Panel
from tsformer.time.season import find_seasons, season_length

__all__ = ["known_seasons", "main_season", "seasons", "with_seasons"]

_LOG = logging.getLogger("tsformer")


def main_season(panel: Panel, ends: Ints | None = None) -> int:
    """The first of the :func:`seasons`, without a search where it is known."""
    return known_seasons(panel, ends)[0]


def known_seasons(panel: Panel, ends: Ints | None = None) -> tuple[int, ...]:
    """The :func:`seasons`; before a fit has looked for more, the one that stamps tell."""
    usual = season_length(panel.index.freq)
    searched = usual == 1 or panel.schema.season is not None
    return seasons(panel, ends) if searched else (usual,)


def seasons(panel: Panel, ends: Ints | None = None) -> tuple[int, ...]:
    """Steps in each season of the targets, the main one first; ``(1,)`` where there is none.

    What ``Schema(season=)`` says. Else the usual season of the frequency, and a longer one that
    the rows show beside it. Else, where stamps tell nothing, what the rows show.

    Parameters
    ----------
    ends
        ``(series,)`` how many rows of each series may be looked at; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> from tsformer.reading import read_panel
    >>> seasons(read_panel(np.tile([1.0, 5.0, 3.0, 2.0], 12)))
    (4,)
    """
    if panel.schema.season is not None:
        return panel.schema.season
    usual = season_length(panel.index.freq)
    if panel.index.irregular:  # rows are no steps
        return (usual,)
    known = usual if usual > 1 else None
    return find_seasons(panel.target.values, panel.index.starts, ends, known=known) or (1,)


def with_seasons(panel: Panel) -> Panel:
    """The panel with the seasons its rows show in the schema, so that all use the same."""
    if panel.schema.season is not None:
        return panel
    usual, found = season_length(panel.index.freq), seasons(panel)
    ways = ["by the stamps"] * (usual > 1) + ["found in the data"] * len(found)
    if found != (1,):
        told = (f"{one:,} rows {way}" for one, way in zip(found, ways, strict=False))
        _LOG.info("season: %s", ", ".join(told))
    return replace(panel, schema=replace(panel.schema, season=found))
