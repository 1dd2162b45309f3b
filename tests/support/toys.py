"""A model, a head and a baseline that the library lacks, entered as any new one would be.

A class each, a name in its room, a row of the registry, and nothing else: the shared tests run over
them with ``pytest -p with_toys``. See ``tests/architecture/test_registries.py``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import registry
import torch
from scipy.stats import norm
from torch import nn

from tsformer import estimators, heads, models
from tsformer.estimators import PanelForecaster
from tsformer.estimators.persistence import savable
from tsformer.heads import Head
from tsformer.heads.base import counted, weighted_mean
from tsformer.models import Architecture, Network
from tsformer.panels import Policy, Schema
from tsformer.params import KW_ONLY, param, params

__all__ = ["ToyBaseline", "ToyHead", "ToyModel"]


@params
class ToyModel(Architecture):
    """One matrix from context to horizon."""

    def build(self, sizes: Any, head: Head) -> "ToyNetwork":
        self.check()
        return ToyNetwork(sizes, head)


class ToyNetwork(Network):
    def __init__(self, sizes: Any, head: Head) -> None:
        super().__init__()
        self.head, self.sizes, self.shape = head, sizes, (sizes.horizon, head.width)
        self.map = nn.Linear(sizes.context, sizes.horizon * head.width, bias=False)

    def forward(self, batch: Any) -> torch.Tensor:
        raw = self.map(batch.past_target.mT).unflatten(-1, self.shape)
        return raw.movedim(1, 2)


@params
class ToyHead(Head):
    """A normal distribution: its mean and the logarithm of its deviation."""

    width = 2

    def loss(self, raw: Any, target: Any, weight: Any) -> torch.Tensor:
        mean, log = raw.unbind(-1)
        error = (counted(target, weight) - mean) / log.exp()
        return weighted_mean(log + error.square() / 2, weight)

    def point(self, raw: Any) -> torch.Tensor:
        return raw[..., 0]

    def quantiles(self, raw: Any, levels: Sequence[float]) -> torch.Tensor:
        steps = torch.special.ndtri(raw.new_tensor(levels))
        return raw[..., :1] + raw[..., 1:].exp() * steps

    def shift(self, raw: Any, point: Any) -> torch.Tensor:
        return torch.stack([raw[..., 0] + point, raw[..., 1]], -1)

    def restore(self, raw: Any, location: Any, scale: Any) -> torch.Tensor:
        mean, log = raw.unbind(-1)
        return torch.stack([mean * scale + location, log + scale.log()], -1)


@savable
@params
class ToyBaseline(PanelForecaster):
    """The mean of what was observed, and its deviation."""

    _: KW_ONLY
    horizon: int = param("Steps to forecast.", low=1)
    gap: int = param("Rows before the first one to forecast.", default=0, low=0)
    schema: Schema | None = param("Roles of the columns.", default=None, part=Schema)
    policy: Policy | None = param("What to do with gaps.", default=None, part=Policy)

    def _fit(self, panel: Any) -> None:
        self._tail = panel

    def _forecasting(self, panel: Any, ends: Any) -> Any:
        def forecast(series: Any, origins: Any, levels: Any) -> tuple[Any, Any]:
            means, deviations = [], []
            for begin, origin in zip(panel.index.starts[series], origins - self.gap_, strict=True):
                seen = pd.DataFrame(panel.target.values[begin : begin + origin])
                first = seen.bfill().iloc[0]  # so that a constant stays what it is
                means.append((seen - first).mean() + first)
                deviations.append(seen.std(ddof=0))
            point = np.repeat(np.stack(means)[:, None], self.horizon_, axis=1)
            spread = np.stack(deviations)[:, None, :, None] * norm.ppf(levels)
            return point, point[..., None] + spread

        return forecast


def enter(room: Any, kind: type[Any]) -> None:
    """Put a class among the public names of its room, as its ``__init__`` would."""
    setattr(room, kind.__name__, kind)
    room.__all__.append(kind.__name__)


def enter_all() -> None:
    """All three: a name in the room each, and a row of the registry each."""
    enter(models, ToyModel)
    enter(heads, ToyHead)
    enter(estimators, ToyBaseline)
    estimators.BASELINES += (ToyBaseline,)
    networks = {"toy": ToyModel()}
    forecasters = {"toy": registry.trained(ToyModel())}
    registry.MODELS += (
        registry.ModelRow(
            kind=ToyModel,
            networks=networks,
            laws=networks,
            forecasters=forecasters,
            learners=networks,
            papers={},
        ),
    )
    registry.HEADS += (
        registry.HeadRow(kind=ToyHead, values=(ToyHead(),), networks={"toy_head": ToyHead()}),
    )
    registry.BASELINES += (
        registry.BaselineRow(
            kind=ToyBaseline, forecasters={"toy_baseline": ToyBaseline(horizon=registry.HORIZON)}
        ),
    )
