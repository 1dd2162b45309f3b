"""Keep the best weights, and stop when they no longer get better."""

import logging
import math
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.trainer.states import TrainerFn
from torch import Tensor

__all__ = ["BestWeights"]

log = logging.getLogger("tsformer")


class BestWeights(pl.Callback):
    """Keep the weights of the best epoch in memory, go back to them at the end, stop early.

    Epoch 0 is the state before the first step; it competes where a later state was judged too.
    A fit without validation keeps the last weights. The state is part of Lightning's checkpoints,
    so that a resumed run keeps what an uninterrupted one would.

    Parameters
    ----------
    patience
        Epochs without a better validation loss before training stops; None never stops.

    Attributes
    ----------
    epoch : int or None
        The best epoch; None without validation.
    loss : float
        Its validation loss.
    """

    def __init__(self, *, patience: int | None = None) -> None:
        self.patience = patience
        self.epoch: int | None = None
        self.loss = math.inf
        self._weights: dict[str, Tensor] = {}
        self._judged_later = False

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps: the best epoch, its loss and its weights."""
        return {
            "epoch": self.epoch,
            "loss": self.loss,
            "weights": dict(self._weights),
            "judged_later": self._judged_later,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.epoch, self.loss = state_dict["epoch"], state_dict["loss"]
        self._weights = dict(state_dict["weights"])
        self._judged_later = state_dict["judged_later"]

    def consider(self, epoch: int, loss: float, module: pl.LightningModule) -> None:
        """Keep the module's weights if this loss is the smallest so far."""
        if loss < self.loss:
            self.epoch, self.loss = epoch, loss
            self._weights = _copied(module)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Compare this epoch with the best so far."""
        if trainer.sanity_checking or trainer.state.fn != TrainerFn.FITTING:
            return
        self._judged_later = True
        loss = trainer.callback_metrics.get("validation_loss")
        if loss is None or math.isnan(loss):
            return
        epoch = trainer.current_epoch + 1
        self.consider(epoch, float(loss), pl_module)
        if self.patience is not None and epoch - (self.epoch or 0) >= self.patience:
            trainer.should_stop = True

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """A run that goes on from a finished one begins with its best weights."""
        if self.epoch is not None and not self._weights:
            self._weights = _copied(pl_module)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Go back to the best weights."""
        if self.epoch == 0 and not self._judged_later and trainer.global_step > 0:
            # untrained weights without a rival are not the best of anything
            self.epoch, self.loss, self._weights = None, math.inf, {}
            log.warning(
                "no validation took place after the first step, so the last weights are kept: let "
                "the Trainer validate within its epochs (check_val_every_n_epoch, "
                "val_check_interval) to keep the best ones"
            )
        if self._weights:
            pl_module.load_state_dict(self._weights)
            self._weights = {}
            log.info("kept the weights of epoch %s: validation loss %.5g", self.epoch, self.loss)


def _copied(module: pl.LightningModule) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
