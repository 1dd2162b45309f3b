"""From a panel to batches: sliding windows, gathered whole."""

from tsformer.panels.scales import PanelScales
from tsformer.windows.batch import Batch, Sizes
from tsformer.windows.dataset import WindowDataset, sizes_of
from tsformer.windows.index import WindowIndex
from tsformer.windows.loaders import SeededSampler, SeriesSampler, window_loader

__all__ = [
    "Batch",
    "PanelScales",
    "SeededSampler",
    "SeriesSampler",
    "Sizes",
    "WindowDataset",
    "WindowIndex",
    "sizes_of",
    "window_loader",
]
