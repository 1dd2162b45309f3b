"""Frame to panel and back: the only door."""

from tsformer.reading.reader import as_frame, stamps_of

__all__ = ["as_frame", "stamps_of"]
