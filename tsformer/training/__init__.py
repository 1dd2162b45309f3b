"""Training under Lightning: settings, data, module and one quiet fit.

Only this room imports pytorch_lightning, and only when something other than ``Training`` is
asked for.
"""

from typing import TYPE_CHECKING

from tsformer._lazy import attach
from tsformer.training.groups import Device, Optimizer, Reports, Windows
from tsformer.training.settings import Training

if TYPE_CHECKING:
    from tsformer.training.callbacks import BestWeights
    from tsformer.training.data import WindowDataModule, validation_rows
    from tsformer.training.fit import build_network, train
    from tsformer.training.leaves import InformerModule, TransformerModule
    from tsformer.training.module import ForecastModule

__all__ = [
    "BestWeights",
    "Device",
    "ForecastModule",
    "InformerModule",
    "Optimizer",
    "Reports",
    "Training",
    "TransformerModule",
    "WindowDataModule",
    "Windows",
    "build_network",
    "train",
    "validation_rows",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "BestWeights": "tsformer.training.callbacks",
            "ForecastModule": "tsformer.training.module",
            "InformerModule": "tsformer.training.leaves",
            "TransformerModule": "tsformer.training.leaves",
            "WindowDataModule": "tsformer.training.data",
            "build_network": "tsformer.training.fit",
            "train": "tsformer.training.fit",
            "validation_rows": "tsformer.training.data",
        },
    )
