"""Where time, series and roles stand in a frame."""

from typing import Any, NamedTuple

import pandas as pd

from tsformer.time.parts import Part

__all__ = ["Roles", "Spot"]


class Spot(NamedTuple):
    """A column by name, or a level of the index by number.

    Attributes
    ----------
    parts
        Further columns that tell the rest of the stamps, for time in several columns; the first
        of them is the column itself where that holds a year.
    spelling
        How text or whole numbers spell the stamps, where it is known.
    """

    column: str | None
    level: int = 0
    parts: tuple[Part, ...] = ()
    spelling: str | None = None

    def values(self, frame: pd.DataFrame) -> pd.Index:
        """Read what stands there."""
        found: pd.Index
        if self.column is not None:
            found = pd.Index(frame[self.column])
        else:
            found = frame.index.get_level_values(self.level)
        return found

    def name(self, frame: pd.DataFrame) -> Any:
        """Name of the column or of the level."""
        return self.column if self.column is not None else frame.index.names[self.level]

    @property
    def columns(self) -> frozenset[str]:
        """All columns that it takes."""
        return frozenset(filter(None, (self.column, *(part.column for part in self.parts))))


class Roles(NamedTuple):
    """Where everything is: the columns of each role, and the stamps as they were read."""

    target: tuple[str, ...]
    known: tuple[str, ...]
    past: tuple[str, ...]
    static: tuple[str, ...]
    weight: str | None
    time: Spot
    series: Spot | None
    stamps: pd.Index
    period: str | None

    @property
    def covariates(self) -> tuple[str, ...]:
        """The columns with a role that are not forecast."""
        return (*self.past, *self.known, *self.static)
