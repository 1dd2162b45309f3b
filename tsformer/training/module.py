"""The one LightningModule of all networks, and its two named leaves."""

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins import Precision
from pytorch_lightning.utilities import GradClipAlgorithmType
from torch import Tensor, nn

from tsformer.errors import ParameterError, TrainingFailed
from tsformer.heads import Head, Quantiles
from tsformer.models import Architecture, Informer, Network, Transformer, WindowScaling
from tsformer.nn.scaling import Scaling
from tsformer.training.callbacks import BestWeights
from tsformer.training.randomness import seeded
from tsformer.training.settings import Training
from tsformer.windows import Batch, Sizes

__all__ = ["ForecastModule", "InformerModule", "TransformerModule"]


class ForecastModule(pl.LightningModule):
    """Trains any network under any head; works with any Lightning ``Trainer``.

    Weights are a function of ``random_state`` and the data: noise in step ``n`` depends on
    (``random_state``, ``n``) and nothing is drawn from the global generators. The optimizer, the
    schedule, gradient clipping, early stopping and the return to the best weights come from
    ``training``; give the ``Trainer`` the same number of epochs.

    Parameters
    ----------
    network
        What to train; see ``Network``.
    head
        Gives the loss.
    training
        Learning rate, schedule, patience and the like; ``Training()`` by default.
    scaling
        ``"window"`` standardises each window by its own context; a ``WindowScaling`` says more.
    random_state
        Seed of all noise in training.
    """

    def __init__(
        self,
        network: Network,
        head: Head,
        training: Training | None = None,
        *,
        scaling: Scaling | WindowScaling = "window",
        random_state: int = 0,
    ) -> None:
        super().__init__()
        self.network = network
        self.head = head
        self.training_settings = training or Training()
        self.scale_windows = (
            scaling if isinstance(scaling, WindowScaling) else WindowScaling(scaling)
        )
        self.random_state = random_state
        self.best = BestWeights(patience=self.training_settings.patience)
        self.history: list[dict[str, float]] = []
        self._sums: dict[str, list[Tensor]] = {"train": [], "validation": []}
        self._epoch_began = 0.0
        self._validation_loss = math.nan
        self._resumed = False

    def setup(self, stage: str) -> None:
        """Refuse what is not built: each device would fit closed forms to its own windows."""
        if self.trainer.world_size > 1 and stage == "fit":
            raise ParameterError(
                f"the Trainer has {self.trainer.world_size} devices; training on more than one is "
                "not supported: use Trainer(devices=1)"
            )

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add what a resumed run needs to equal an uninterrupted one."""
        checkpoint["tsformer"] = {
            "history": [dict(row) for row in self.history],
            "sums": {stage: list(sums) for stage, sums in self._sums.items()},
            "validation_loss": self._validation_loss,
        }

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on from a checkpoint: its weights are not prepared a second time."""
        kept = checkpoint.get("tsformer")
        if kept is not None:
            self.history = [dict(row) for row in kept["history"]]
            self._sums = {stage: list(sums) for stage, sums in kept["sums"].items()}
            self._validation_loss = kept["validation_loss"]
            self._resumed = True

    def forward(self, batch: Batch) -> Tensor:
        """Raw forecasts (batch, horizon, target, width) in the panel's units."""
        standardised, location, scale = self.scale_windows(batch)
        return self.head.restore(self.network(standardised), location, scale)

    def on_train_start(self) -> None:
        """Fit what has a closed form, and let the weights so far compete as epoch 0."""
        resumed, self._resumed = self._resumed, False
        if not resumed:
            self._prepare()
        if self.training_settings.epochs == 0 or not _parameter_groups(
            self.network, self.training_settings
        ):
            self.trainer.should_stop = True  # nothing is left to train by gradient

    def on_train_end(self) -> None:
        """Refuse to end with weights that forecast nothing."""
        for name, weight in self.network.named_parameters():
            if not torch.isfinite(weight).all():
                raise TrainingFailed(
                    f"the weights {name!r} are not finite after epoch {self.current_epoch}: lower "
                    "training__learning_rate, or look for outliers in the data"
                )

    def _prepare(self) -> None:
        began = time.monotonic()
        train = _Moved(self.trainer.train_dataloader or [], self.device)
        validation = _Moved(self.trainer.val_dataloaders or [], self.device)
        with seeded(self.random_state, -1, device=self.device), torch.no_grad():
            self.network.prepare(
                _Moved(train, self.device),
                _Moved(validation or [], self.device),
                self.scale_windows,
            )
            self.eval()
            with self.trainer.precision_plugin.val_step_context():  # judged as later epochs are
                for index, batch in enumerate(validation):
                    self.validation_step(batch, index)
            self.train()
        loss = float(self._mean("validation"))
        if not math.isnan(loss):
            self.best.consider(0, loss, self)
            self._record(0, math.nan, loss, time.monotonic() - began)

    def on_train_epoch_start(self) -> None:
        """Start the epoch's clock."""
        self._epoch_began = time.monotonic()

    def training_step(self, batch: Batch, batch_index: int) -> Tensor:
        """Loss of one batch, in the panel's units."""
        with seeded(self.random_state, self.global_step, device=self.device):
            loss = self._loss(batch, "train")
        if not torch.isfinite(loss):
            raise TrainingFailed(
                f"the loss became {loss.item()} in epoch {self.current_epoch}, step "
                f"{self.global_step}: lower training__learning_rate, or look for outliers in the "
                "data"
            )
        return loss

    def validation_step(self, batch: Batch, batch_index: int) -> None:
        """Add one batch to the epoch's validation loss."""
        if not self.trainer.sanity_checking:
            # a network that hides or samples something must hide the same each time
            with seeded(self.random_state, -2, batch_index, device=self.device):
                self._loss(batch, "validation")

    def on_validation_epoch_end(self) -> None:
        """Log the mean over all observed steps: not the mean of the batches' means."""
        if not self.trainer.sanity_checking:
            mean = self._mean("validation")
            self._validation_loss = float(mean)
            self.log("validation_loss", mean, sync_dist=True)

    def on_train_epoch_end(self) -> None:
        """Add the epoch to ``history`` and report it."""
        train, seconds = float(self._mean("train")), time.monotonic() - self._epoch_began
        # none from an earlier epoch: a Trainer may validate every few epochs only
        loss, self._validation_loss = self._validation_loss, math.nan
        self.log("train_loss", train)
        self._record(self.current_epoch + 1, train, loss, seconds)

    def predict_step(self, batch: Batch, batch_index: int) -> Tensor:
        """Raw forecasts in the panel's units."""
        forecast: Tensor = self(batch)
        return forecast

    def configure_optimizers(self) -> Any:
        """AdamW, with slower steps for parts that say so, and the schedule by step."""
        groups = _parameter_groups(self.network, self.training_settings)
        if not groups:
            return None
        # one pass over the weights: four times as fast on a CPU, where nothing scales gradients
        on_cpu = all(weight.device.type == "cpu" for weight in self.network.parameters())
        optimizer = torch.optim.AdamW(groups, fused=on_cpu)
        # infinite without a number of epochs: a hand-used Trainer may stop by time alone
        total = self.trainer.estimated_stepping_batches
        steps = int(total) if total < float("inf") else 1_000_000
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: self.training_settings.learning_rate_at(step, steps)
        )
        return {
            "optimizer": optimizer,
            "lr_scheduler": {"scheduler": schedule, "interval": "step"},
        }

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: int | float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip by norm, as ``training`` says, unless the ``Trainer`` says something itself."""
        largest = gradient_clip_val or self.training_settings.clip
        way = gradient_clip_algorithm or "norm"
        if largest and optimizer.defaults.get("fused"):
            # mixed precision refuses to clip for fused optimizers, which may unscale gradients
            Precision.clip_gradients(
                self.trainer.precision_plugin, optimizer, largest, GradClipAlgorithmType(way)
            )
        else:
            self.clip_gradients(optimizer, gradient_clip_val=largest, gradient_clip_algorithm=way)

    def configure_callbacks(self) -> list[pl.Callback]:
        """Best weights with early stopping, and the Lightning callbacks of ``training``."""
        given = self.training_settings.callbacks
        return [self.best, *(call for call in given if isinstance(call, pl.Callback))]

    def _record(self, epoch: int, train: float, validation: float, seconds: float) -> None:
        row = {
            "epoch": float(epoch),
            "train_loss": train,
            "validation_loss": validation,
            "seconds": seconds,
        }
        self.history.append(row)
        for call in self.training_settings.callbacks:
            if not isinstance(call, pl.Callback):
                call(dict(row))

    def _loss(self, batch: Batch, stage: str) -> Tensor:
        standardised, location, scale = self.scale_windows(batch)
        raw, target, weight = self.network.supervise(standardised)
        # in the panel's units: standardised windows would let flat ones dominate
        raw = self.head.restore(raw, location, scale)
        target = target * scale + location
        loss = self.head.loss(raw, target, weight)
        counted = weight.sum()
        self._sums[stage].append(torch.stack([loss.detach() * counted, counted]))
        return loss

    def _mean(self, stage: str) -> Tensor:
        sums, self._sums[stage] = self._sums[stage], []
        if not sums:
            return torch.tensor(float("nan"))
        loss, counted = torch.stack(sums).double().sum(dim=0)
        mean: Tensor = loss / counted  # NaN where nothing was observed
        return mean


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
        scaling: Scaling = "window",
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
        scaling: Scaling = "window",
        random_state: int = 0,
    ) -> None:
        head = head or Quantiles()
        network = build_network(model or Transformer(), sizes, head, random_state=random_state)
        super().__init__(network, head, training, scaling=scaling, random_state=random_state)


def build_network(model: Architecture, sizes: Sizes, head: Head, *, random_state: int) -> Network:
    """A network whose initial weights depend on ``random_state`` alone."""
    with seeded(random_state):
        return model.build(sizes, head)


def _parameter_groups(network: nn.Module, settings: Training) -> list[dict[str, Any]]:
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


class _Moved:
    """Batches on a device; may be iterated more than once."""

    def __init__(self, batches: Iterable[Batch], device: torch.device) -> None:
        self.batches, self.device = batches, device

    def __iter__(self) -> Iterator[Batch]:
        for batch in self.batches:
            yield Batch(*(field.to(self.device) for field in batch))
