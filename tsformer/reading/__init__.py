"""Frame to panel and back: the only door."""

from tsformer.reading.future import extended, future_frame
from tsformer.reading.reader import read_panel, stamps_of
from tsformer.reading.splits import Holdout, RollingOrigin
from tsformer.reading.writing import write_frame

__all__ = [
    "Holdout",
    "RollingOrigin",
    "extended",
    "future_frame",
    "read_panel",
    "stamps_of",
    "write_frame",
]
