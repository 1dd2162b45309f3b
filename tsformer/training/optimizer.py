"""Which weights take steps of which size."""

from typing import Any

from torch import nn

from tsformer.training.settings import Training

__all__ = ["parameter_groups"]


def parameter_groups(network: nn.Module, settings: Training) -> list[dict[str, Any]]:
    """One group for each rate: a module's ``rate`` scales the steps of its parameters."""
    rates: dict[int, float] = {}
    for module in network.modules():
        rate = getattr(module, "rate", None)
        if isinstance(rate, float):
            rates.update((id(parameter), rate) for parameter in module.parameters())
    groups: dict[float, list[nn.Parameter]] = {}
    for parameter in network.parameters():
        if parameter.requires_grad:
            groups.setdefault(rates.get(id(parameter), 1.0), []).append(parameter)
    return [
        {
            "params": members,
            "lr": settings.learning_rate * rate,
            # pulling a ridge solution to zero would undo it
            "weight_decay": settings.weight_decay if rate == 1.0 else 0.0,
        }
        for rate, members in groups.items()
    ]
