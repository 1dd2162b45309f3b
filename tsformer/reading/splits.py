"""Cuts along time: a rolling origin, and fixed borders."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from tsformer.arrays import Ints
from tsformer.errors import ParameterError, SeriesTooShort
from tsformer.panels.schema import Name
from tsformer.params import KW_ONLY, Params, param, params
from tsformer.reading.reader import stamps_of

__all__ = ["Holdout", "RollingOrigin"]


@params
class RollingOrigin(Params):
    """Folds that move along time; the last one ends with the data.

    A scikit-learn splitter, for ``GridSearchCV(cv=...)`` and the like. Rows are cut by their
    stamps, so a long frame of many series is cut at one moment. The test rows of a fold hold the
    history too, because a forecaster reads it: only the last ``horizon`` stamps are forecast.

    Examples
    --------
    >>> splitter = RollingOrigin(folds=2, horizon=3)
    >>> for train, test in splitter.split(np.zeros((10, 1))):
    ...     print(len(train), len(test))
    4 7
    7 10
    """

    _: KW_ONLY
    folds: int = param("How many origins.", low=1)
    horizon: int = param("Stamps to forecast after each origin.", low=1)
    step: int | None = param("Stamps between two origins; None: the horizon.", default=None, low=1)
    gap: int = param("Stamps left out between the training rows and the origin.", default=0, low=0)
    time: Name | None = param("Column with the stamps; None: found as Schema would.", default=None)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Yield positions of training rows and of test rows, history included.

        Raises
        ------
        SeriesTooShort
            If the folds do not fit.
        """
        stamps = stamps_of(X, self.time)
        distinct, place = np.unique(np.asarray(_comparable(stamps)), return_inverse=True)
        for train_end, origin in self._cuts(len(distinct)):
            yield (
                np.flatnonzero(place < train_end).astype(np.int64),
                np.flatnonzero(place < origin + self.horizon).astype(np.int64),
            )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.folds

    def origins(self, stamps: pd.Index) -> list[tuple[int, int]]:
        """End of training and origin of each fold.

        Returns
        -------
        list of (train_end, origin)
            Positions in the sorted distinct stamps: training may use those before ``train_end``,
            the forecast begins at ``origin``.
        """
        return self._cuts(stamps.nunique())

    def _cuts(self, count: int) -> list[tuple[int, int]]:
        self.check()
        step = self.horizon if self.step is None else self.step
        needed = self.horizon + (self.folds - 1) * step + self.gap + 1
        if count < needed:
            raise SeriesTooShort(
                f"{count} stamps are too few for {self.folds} folds of horizon {self.horizon}, step"
                f" {step} and gap {self.gap}: at least {needed} are needed. Ask for fewer folds or"
                " a smaller step."
            )
        last = count - self.horizon
        origins = [last - step * (self.folds - 1 - fold) for fold in range(self.folds)]
        return [(origin - self.gap, origin) for origin in origins]


@params
class Holdout(Params):
    """Fixed borders in rows of each series: train, then validation, then test.

    Examples
    --------
    >>> Holdout(train=70, validation=10, test=20).borders(100)
    (70, 80, 100)
    """

    _: KW_ONLY
    train: int = param("Rows to train on.", low=1)
    validation: int = param("Rows after those, to stop and choose by.", default=0, low=0)
    test: int = param("Rows after those, to report.", low=1)

    def borders(self, rows: int) -> tuple[int, int, int]:
        """End of train, of validation and of test, in rows from the start of a series.

        Raises
        ------
        SeriesTooShort
            If a series of so many rows does not reach to the end of test.
        """
        self.check()
        ends = (self.train, self.train + self.validation, self.train + self.validation + self.test)
        if rows < ends[2]:
            raise SeriesTooShort(
                f"a series of {rows} rows does not hold {self.train} to train, {self.validation} to"
                f" validate and {self.test} to test: {ends[2]} rows are needed"
            )
        return ends


def _comparable(stamps: pd.Index) -> Any:
    if isinstance(stamps, pd.DatetimeIndex):
        return stamps.asi8
    if stamps.hasnans:
        raise ParameterError("the stamps to split by hold missing values")
    return stamps
