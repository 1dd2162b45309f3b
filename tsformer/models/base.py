"""The contracts of a model and of the network it builds.

A model is a small value, its hyper-parameters; it knows nothing of training. A network has one
forecasting contract, ``forward``, and two optional ones, ``supervise`` and ``prepare``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tsformer.heads import Head
from tsformer.models.scaling import Normaliser
from tsformer.params import Params
from tsformer.windows import Batch, Sizes

__all__ = ["Architecture", "Network", "Supervision"]

Supervision = tuple[Tensor, Tensor, Tensor]
"""raw (batch, time, target, width), target and weight (batch, time, target)."""


class Network(nn.Module, ABC):
    """A network that turns windows into raw forecasts, in the units of the batch it is given.

    It sees batches whose targets are normalised by window, see ``WindowScaling``; what it returns
    is restored and given its meaning by a head.

    Attributes
    ----------
    sizes : Sizes
        What it was built for; batches of other sizes are refused.
    """

    sizes: Sizes

    @abstractmethod
    def forward(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """Forecast from what is known at the origin; never reads ``batch.future_target``."""

    def supervise(self, batch: Batch, generator: torch.Generator | None = None) -> Supervision:
        """What to compare in training; by default the forecast with the future.

        Parameters
        ----------
        batch
            Normalised windows, the future included.
        generator
            Where a network that hides or samples something draws from.

        Returns
        -------
        tuple
            ``raw`` (batch, time, target, width), ``target`` and ``weight`` (batch, time, target).
        """
        weight = batch.future_observed * batch.weight[:, None, None]
        return self(batch), batch.future_target, weight

    def prepare(
        self, train: Iterable[Batch], validation: Iterable[Batch], normaliser: Normaliser
    ) -> None:
        """Fit what has a closed form, once, before the first step.

        Parameters
        ----------
        train, validation
            Batches in the units of the loss, not normalised; each may be iterated more than once.
            ``validation`` may be empty.
        normaliser
            What the network's own batches will have been through.
        """

    def inherit(self, earlier: "Network") -> None:
        """Take over what a network of the same model has chosen on its validation windows.

        Called before ``prepare`` where a fit is repeated with those windows among the training
        ones.
        """
        return


class Architecture(Params, ABC):
    """Hyper-parameters of a network; one file a model.

    Attributes
    ----------
    closed_form : bool
        Whether everything is fitted in ``Network.prepare``, so that there is no rate to learn at.
    """

    closed_form: ClassVar[bool] = False

    @abstractmethod
    def build(self, sizes: Sizes, head: Head) -> Network:
        """Make the network, with fresh weights from torch's current generator.

        Raises
        ------
        ParameterError
            If the parameters do not fit these sizes.
        """
