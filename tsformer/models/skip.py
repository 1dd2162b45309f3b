"""The linear skip of a network that is trained, and the networks that carry one."""

from collections.abc import Iterable

from torch import nn

from tsformer.models.base import Network, WindowScaler
from tsformer.nn import LinearSkip
from tsformer.windows import Batch, Sizes

__all__ = ["SkipNetwork", "TrainedSkip"]


class TrainedSkip(LinearSkip):
    """A linear skip that is trained at a tenth of the rate: ridge has brought it close already."""

    rate = 0.1


class SkipNetwork(Network):
    """A network that forecasts what a linear skip leaves; a base, not a network.

    Attributes
    ----------
    skip : TrainedSkip or None
        None where the model wants none.
    """

    skip: TrainedSkip | None

    def carry_skip(self, sizes: Sizes, *outputs: nn.Linear, wanted: bool) -> None:
        """Add the skip and silence the last layers: what is fresh forecasts what the skip does."""
        self.skip = TrainedSkip(sizes.context, sizes.horizon) if wanted else None
        for output in outputs if wanted else ():
            nn.init.zeros_(output.weight)
            nn.init.zeros_(output.bias)

    def prepare(
        self, train: Iterable[Batch], validation: Iterable[Batch], standardise: WindowScaler
    ) -> None:
        """Fit the linear skip."""
        if self.skip is not None:
            self.skip.fit_ridge(train, validation)
