"""Training under Lightning: settings, data, module and one quiet fit.

Only this room imports pytorch_lightning, and only when something other than ``Training`` is
asked for.
"""

from typing import TYPE_CHECKING, Any

from tsformer.training.settings import Training

if TYPE_CHECKING:
    from tsformer.training.callbacks import BestWeights
    from tsformer.training.data import WindowDataModule
    from tsformer.training.fit import train
    from tsformer.training.module import (
        ForecastModule,
        InformerModule,
        TransformerModule,
        build_network,
    )

__all__ = [
    "BestWeights",
    "ForecastModule",
    "InformerModule",
    "Training",
    "TransformerModule",
    "WindowDataModule",
    "build_network",
    "train",
]

_HOMES = {
    "BestWeights": "callbacks",
    "WindowDataModule": "data",
    "train": "fit",
    "ForecastModule": "module",
    "InformerModule": "module",
    "TransformerModule": "module",
    "build_network": "module",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
