"""Every exception tsformer raises on purpose, as one tree.

::

    TsformerError
    ├── FrameError(ValueError)            something in the data; raised before any training
    │   ├── EmptyFrame                    no rows at all
    │   ├── MissingColumn                 a named column is not there
    │   ├── DuplicateColumn               one name, several columns
    │   ├── WrongType(TypeError)          a column or an input of a type that cannot be forecast
    │   ├── WrongTime                     stamps that are missing, text, float or ambiguous
    │   ├── WrongFrequency                no steady step: gaps, mixed or contradicting frequencies
    │   ├── DuplicateTimestamp            one stamp twice in one series
    │   ├── MissingValues                 NaN where none may be
    │   ├── InfiniteValues                inf, or too large for float32 after scaling
    │   ├── WrongWeight                   a weight below 0, or none above 0
    │   ├── SeriesTooShort                fewer rows than context + horizon
    │   ├── UnknownSeries                 a series that fit has not seen, where that matters
    │   └── MissingFuture                 known-future covariates absent, late or incomplete
    ├── ParameterError(ValueError)        a value out of range, or two that cannot go together
    ├── ShapeError(ValueError)            a network or a head broke its contract (for authors)
    ├── DatasetError
    │   ├── UnknownDataset(KeyError)
    │   ├── DownloadFailed(OSError)
    │   └── ChecksumMismatch
    ├── TrainingFailed(RuntimeError)      the loss became NaN, or there is nothing to train on
    ├── ForecastError(RuntimeError)       a forecast would have held NaN or inf
    └── ModelFileError                    not ours, newer, corrupt or incomplete

    MissingDependency(ImportError)        names the extra to install

    TsformerWarning(UserWarning)
    ├── DataWarning                       something in the data that was read, but not as it stands
    │   ├── EmptyPeriod                   a period to ignore that holds no row
    │   └── SeriesLeftOut                 series too short to fit on or to forecast, left out
    └── ForecastWarning                   a forecaster that is worse than it looks
        ├── LookAhead                     what is scored was known to what the weights started from
        └── NoSkill                       no better than seasonal persistence on validation rows

A message says what was found (series, column in quotes, first bad row or stamp, count), what is
allowed, and what to do. What to do is kept as data, too: see :class:`tsformer.cures.Cure`.
"""

from tsformer.cures import Cure

__all__ = [
    "ChecksumMismatch",
    "DataWarning",
    "DatasetError",
    "DownloadFailed",
    "DuplicateColumn",
    "DuplicateTimestamp",
    "EmptyFrame",
    "EmptyPeriod",
    "ForecastError",
    "ForecastWarning",
    "FrameError",
    "InfiniteValues",
    "LookAhead",
    "MissingColumn",
    "MissingDependency",
    "MissingFuture",
    "MissingValues",
    "ModelFileError",
    "NoSkill",
    "ParameterError",
    "SeriesLeftOut",
    "SeriesTooShort",
    "ShapeError",
    "TrainingFailed",
    "TsformerError",
    "TsformerWarning",
    "UnknownDataset",
    "UnknownSeries",
    "WrongFrequency",
    "WrongTime",
    "WrongType",
    "WrongWeight",
]


class _Curable(Exception):
    """A message followed by what can be done, which is also kept as data."""

    def __init__(self, message: object = "", *cures: Cure) -> None:
        super().__init__(" ".join([str(message), *(cure.python() for cure in cures)]))
        self.message = str(message)
        self.cures = cures

    @property
    def cure(self) -> Cure | None:
        """The first of ``cures``, if there is any."""
        return self.cures[0] if self.cures else None


class TsformerError(_Curable):
    """Base of every error of this library.

    Attributes
    ----------
    message : str
        What was found, without the cures.
    cures : tuple of Cure
        What can be done, best first; ``str(error)`` ends with them as lines of Python.

    Examples
    --------
    >>> error = WrongTime("two columns could be it.", Cure("Say which", {"schema__time": "d"}))
    >>> str(error)
    'two columns could be it. Say which: schema=Schema(time="d").'
    >>> error.cure.options()
    'Say which: --time d.'
    """


class FrameError(TsformerError, ValueError):
    """Something in the data; the message names series, column and first bad row."""


class EmptyFrame(FrameError):
    """There are no rows."""


class MissingColumn(FrameError):
    """A named column is not in the frame."""


class DuplicateColumn(FrameError):
    """Two columns share one name."""


class WrongType(FrameError, TypeError):
    """A column, or the whole input, has a type that cannot be forecast."""


class WrongTime(FrameError):
    """Stamps are missing, text, float or ambiguous."""


class WrongFrequency(FrameError):
    """There is no steady step between the stamps, or not the one that was declared."""


class DuplicateTimestamp(FrameError):
    """One series holds one stamp more than once."""


class MissingValues(FrameError):
    """NaN where the policy allows none."""


class InfiniteValues(FrameError):
    """Infinite values, or values that do not fit float32 after scaling."""


class WrongWeight(FrameError):
    """A row's weight is negative, or no row has a positive one."""


class SeriesTooShort(FrameError):
    """A series has fewer rows than one window needs."""


class UnknownSeries(FrameError):
    """A series that ``fit`` has not seen, where that matters."""


class MissingFuture(FrameError):
    """Known-future covariates are absent, late or incomplete."""


class ParameterError(TsformerError, ValueError):
    """A parameter is out of range, misspelt, or cannot go together with another."""


class ShapeError(TsformerError, ValueError):
    """A network or a head broke its contract; for authors of models."""


class DatasetError(TsformerError):
    """Base of what can go wrong with a named data set."""


class UnknownDataset(DatasetError, KeyError):
    """No recipe has this name."""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0]) if self.args else ""


class DownloadFailed(DatasetError, OSError):
    """The file could not be fetched."""


class ChecksumMismatch(DatasetError):
    """The bytes are not the ones the recipe promises."""


class TrainingFailed(TsformerError, RuntimeError):
    """The loss became NaN, or there is nothing to train on."""


class ForecastError(TsformerError, RuntimeError):
    """A forecast would have held NaN or inf; it is never returned in silence."""


class ModelFileError(TsformerError):
    """A model file is not ours, newer than this library, corrupt or incomplete."""


class MissingDependency(ImportError):
    """An optional package is needed; the message names the extra to install."""


class TsformerWarning(_Curable, UserWarning):
    """Base of every warning of this library; it has cures as errors have."""


class DataWarning(TsformerWarning):
    """Something in the data was read, but not as it stands."""


class EmptyPeriod(DataWarning):
    """A period of ``Policy(ignore=...)`` holds no row."""


class SeriesLeftOut(DataWarning):
    """Series have too few rows to fit on or to forecast from, and the policy drops them."""


class ForecastWarning(TsformerWarning):
    """A forecaster is worse, or less sure, than it looks."""


class LookAhead(ForecastWarning):
    """A score is too good: the weights started from ones that have seen what is scored."""


class NoSkill(ForecastWarning):
    """On the validation rows the forecaster is no better than seasonal persistence."""
