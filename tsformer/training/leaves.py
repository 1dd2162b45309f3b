"""Lightning modules of named models, built straight from hyper-parameters and sizes."""

from tsformer.heads import Head, Quantiles
from tsformer.models import Informer, Transformer
from tsformer.models.scaling import WindowKind
from tsformer.training.fit import build_network
from tsformer.training.module import ForecastModule
from tsformer.training.settings import Training
from tsformer.windows import Sizes

__all__ = ["InformerModule", "TransformerModule"]


class InformerModule(ForecastModule):
    """An Informer under Lightning, straight from hyper-parameters and sizes.

    Parameters
    ----------
    sizes
        Shapes of the data: ``WindowDataModule.sizes``.
    model
        Hyper-parameters; ``Informer()`` by default.
    head, training, scaling, random_state
        As in ``ForecastModule``; initial weights depend on ``random_state`` alone.
    """

    def __init__(
        self,
        sizes: Sizes,
        model: Informer | None = None,
        *,
        head: Head | None = None,
        training: Training | None = None,
        scaling: WindowKind = "window",
        random_state: int = 0,
    ) -> None:
        head = head or Quantiles()
        network = build_network(model or Informer(), sizes, head, random_state=random_state)
        super().__init__(network, head, training, scaling=scaling, random_state=random_state)


class TransformerModule(ForecastModule):
    """A Transformer under Lightning, straight from hyper-parameters and sizes.

    Parameters
    ----------
    sizes
        Shapes of the data: ``WindowDataModule.sizes``.
    model
        Hyper-parameters; ``Transformer()`` by default.
    head, training, scaling, random_state
        As in ``ForecastModule``; initial weights depend on ``random_state`` alone.
    """

    def __init__(
        self,
        sizes: Sizes,
        model: Transformer | None = None,
        *,
        head: Head | None = None,
        training: Training | None = None,
        scaling: WindowKind = "window",
        random_state: int = 0,
    ) -> None:
        head = head or Quantiles()
        network = build_network(model or Transformer(), sizes, head, random_state=random_state)
        super().__init__(network, head, training, scaling=scaling, random_state=random_state)
