"""What is in a frame, what is wrong with it and what a fit would cost, before anything runs."""

from tsformer.preflight.describe import Description, describe
from tsformer.preflight.findings import Finding

__all__ = ["Description", "Finding", "describe"]
