"""The columns of one role: those of numbers, and those of words as codes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tsformer.arrays import Floats, Ints

__all__ = ["Columns"]


@dataclass(frozen=True, eq=False)
class Columns:
    """Values of all columns of one role, one row a row of the panel (for statics: a series).

    Attributes
    ----------
    names
        The columns of numbers.
    values
        ``(rows, names)``, NaN where missing.
    categories
        Each categorical column to its words; the code of a word is its position, from 1.
    codes
        ``(rows, categories)``, 0 where unknown or missing.

    Examples
    --------
    >>> codes = np.array([[1], [2]])
    >>> columns = Columns(("rain",), np.ones((2, 1)), {"sky": ("blue", "grey")}, codes)
    >>> columns.take(slice(1, 2)).codes.tolist(), columns.coded
    ([[2]], ('sky',))
    """

    names: tuple[str, ...]
    values: Floats
    categories: Mapping[str, tuple[str, ...]]
    codes: Ints

    @cached_property
    def coded(self) -> tuple[str, ...]:
        """The categorical columns, in the order of ``codes``."""
        return tuple(self.categories)

    def with_values(self, values: Floats) -> "Columns":
        """The same columns with other numbers."""
        return replace(self, values=values)

    def take(self, rows: Any) -> "Columns":
        """These rows, by position or as a slice."""
        return replace(self, values=self.values[rows], codes=self.codes[rows])

    def blank(self, rows: int) -> "Columns":
        """So many rows of the same columns in which nothing is known."""
        values = np.full((rows, self.values.shape[1]), np.nan)
        return replace(self, values=values, codes=np.zeros((rows, self.codes.shape[1]), np.int64))

    def append(self, more: "Columns", order: Ints) -> "Columns":
        """The rows of both, those of ``more`` behind its own, brought into an order."""
        values = np.concatenate([self.values, more.values])[order]
        return replace(self, values=values, codes=np.concatenate([self.codes, more.codes])[order])
