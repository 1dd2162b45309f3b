"""The one LightningModule of all networks."""

import math
import time
from typing import Any

import pandas as pd
import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins import Precision
from pytorch_lightning.utilities import GradClipAlgorithmType
from torch import Tensor

from tsformer.errors import ParameterError, TrainingFailed
from tsformer.heads import Head
from tsformer.models import Network, WindowScaling
from tsformer.models.scaling import WindowKind
from tsformer.training.budget import Budget, InTime
from tsformer.training.callbacks import BestWeights
from tsformer.training.optimizer import parameter_groups
from tsformer.training.passes import Converted, Judge, Moved
from tsformer.training.randomness import seeded
from tsformer.training.settings import Training
from tsformer.windows import Batch, WindowDataset, window_loader

__all__ = ["ForecastModule"]

_LEAST_JUDGED = 64
"""Validation windows that are judged however short the time."""


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
        How windows are normalised by their own context; see ``WindowScaling``.
    random_state
        Seed of all noise in training.

    Attributes
    ----------
    budget : Budget
        The time that ``train`` gives a fit; without limit under a ``Trainer`` of your own, which
        has a ``max_time`` itself.
    judge : Judge or None
        Told of all forecasts of validation windows, by epoch.
    history : list of dict
        One row an epoch.
    best : BestWeights
        What keeps the best weights.
    """

    def __init__(
        self,
        network: Network,
        head: Head,
        training: Training | None = None,
        *,
        scaling: WindowKind | WindowScaling = "window",
        random_state: int = 0,
    ) -> None:
        super().__init__()
        self.network = network
        self.head = head
        self.training_settings = training or Training()
        if not isinstance(scaling, WindowScaling):
            scaling = WindowScaling(scaling, lagged=network.sizes.lagged)
        self.scaling = scaling
        self.random_state = random_state
        self.best = BestWeights(patience=self.training_settings.patience)
        self.budget = Budget()
        self.judge: Judge | None = None
        self.history: list[dict[str, float]] = []
        self._sums: dict[str, list[Tensor]] = {"train": [], "validation": []}
        self._epoch_began = 0.0
        self._seconds_to_judge = 0.0
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
        in_loss_units = self._in_loss_units(batch)
        normalised = self.scaling.normaliser.normalise(in_loss_units)
        raw = self.head.restore(self.network(normalised), normalised.location, normalised.scale)
        return self.scaling.in_panel_units(raw, in_loss_units).to(raw.dtype)

    def on_train_start(self) -> None:
        """Fit what has a closed form, and let the weights so far compete as epoch 0."""
        resumed, self._resumed = self._resumed, False
        if not resumed:
            self._prepare()
        if self.training_settings.epochs == 0 or not parameter_groups(
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
        train = InTime(Moved(self.trainer.train_dataloader or [], self.device), self.budget.a_pass)
        loader = self.trainer.val_dataloaders or []
        validation = InTime(Moved(self._shuffled(loader), self.device), self.budget.a_pass)
        with seeded(self.random_state, -1, device=self.device), torch.no_grad():
            self.network.prepare(
                Converted(train, self._in_loss_units),
                Converted(validation, self._in_loss_units),
                self.scaling.normaliser,
            )
            if train.cut or validation.cut:
                self.budget.notes.append("the closed form was fitted to a part of the windows")
            self.eval()
            with self.trainer.precision_plugin.val_step_context():  # judged as later epochs are
                self._thin(loader)
                before = time.monotonic()
                self.on_validation_epoch_start()
                for index, batch in enumerate(Moved(loader, self.device)):
                    self.validation_step(batch, index)
                if self.judge is not None:
                    self.judge.finish(0)
                self._seconds_to_judge = time.monotonic() - before
            self.train()
        loss = float(self._mean("validation"))
        if not math.isnan(loss):
            self.best.consider(0, loss, self)
            self._record(0, math.nan, loss, time.monotonic() - began)

    def _in_loss_units(self, batch: Batch) -> Batch:
        self.network.sizes.check(batch)
        return self.scaling.in_loss_units(batch)

    def _shuffled(self, loader: Any) -> Any:
        """The same windows so that the first ones, should time end, stand for all."""
        windows = getattr(loader, "dataset", None)
        if not (self.budget.limited and isinstance(windows, WindowDataset)):
            return loader
        return window_loader(windows, batch_size=256, shuffle=True, seed=self.random_state)

    def _thin(self, loader: Any) -> None:
        """Leave as many validation windows as a pass has time for."""
        windows = getattr(loader, "dataset", None)
        if not (self.budget.limited and isinstance(windows, WindowDataset)):
            return
        for _ in range(2):  # the first one takes longer than those that follow
            began = time.monotonic()
            batch = next(iter(Moved(loader, self.device)))
            self.validation_step(batch, 0)
            seconds = max(1e-9, time.monotonic() - began)
        self._sums["validation"] = []
        every = len(windows)
        most = max(_LEAST_JUDGED, int(len(batch.origin) * self.budget.a_pass / seconds))
        windows.index = windows.index.thinned(most)
        if every > most:
            self.budget.notes.append(f"{most:,} of {every:,} validation windows were judged")

    def on_train_batch_end(self, outputs: Any, batch: Batch, batch_index: int) -> None:
        """Stop while there is time to judge the weights once more."""
        enough = 2 * self._seconds_to_judge
        if self.budget.left <= enough and not self.trainer.should_stop:
            total = self.trainer.estimated_stepping_batches
            if self.global_step < total:
                self.trainer.should_stop = True
                self.budget.notes.append(
                    f"training ended in epoch {self.current_epoch + 1} of at most "
                    f"{self.training_settings.epochs}, at step {self.global_step:,}"
                )

    def on_train_epoch_start(self) -> None:
        """Start the epoch's clock."""
        self._epoch_began = time.monotonic()

    def training_step(self, batch: Batch, batch_index: int) -> Tensor:
        """Loss of one batch, in the panel's units or, with ``scaling="asinh"``, of asinh values."""
        with seeded(self.random_state, self.global_step, device=self.device):
            loss = self._loss(batch, "train")
        if not torch.isfinite(loss):
            raise TrainingFailed(
                f"the loss became {loss.item()} in epoch {self.current_epoch}, step "
                f"{self.global_step}: lower training__learning_rate, or look for outliers in the "
                "data"
            )
        return loss

    def on_validation_epoch_start(self) -> None:
        """Tell the judge that a pass begins."""
        if self.judge is not None:
            self.judge.begin()

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
            if self.judge is not None:
                self.judge.finish(self.current_epoch + 1)

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
        groups = parameter_groups(self.network, self.training_settings)
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

    def history_frame(self) -> pd.DataFrame:
        """``history`` as a frame; empty for a closed form without validation windows."""
        columns = ["epoch", "train_loss", "validation_loss", "seconds"]
        return pd.DataFrame(self.history, columns=columns).astype({"epoch": int})

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

    def _show(self, raw: Tensor, target: Tensor, normalised: Batch, batch: Batch) -> None:
        """Show the judge point forecasts in the panel's units, if that is what was compared."""
        if self.judge is not None and target is normalised.future_target:
            point = self.scaling.in_panel_units(self.head.point(raw)[..., None], batch)[..., 0]
            where = batch.series.cpu().numpy(), batch.origin.cpu().numpy()
            self.judge.add(*where, point.detach().cpu().double().numpy())

    def _loss(self, batch: Batch, stage: str) -> Tensor:
        normaliser = self.scaling.normaliser
        in_loss_units = self._in_loss_units(batch)
        normalised = normaliser.normalise(in_loss_units)
        raw, target, weight = self.network.supervise(normalised)
        # restored first: in normalised units flat windows would dominate
        raw = self.head.restore(raw, normalised.location, normalised.scale)
        if stage == "validation":
            self._show(raw, target, normalised, in_loss_units)
        target = normaliser.restore(target, normalised)
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
