"""Keep the best weights, and stop when they no longer get better."""

import logging
import math

import pytorch_lightning as pl
from torch import Tensor

__all__ = ["BestWeights"]

log = logging.getLogger("tsformer")


class BestWeights(pl.Callback):
    """Keep the weights of the best epoch in memory, go back to them at the end, stop early.

    Epoch 0 is the state before the first step. A fit without validation keeps the last weights.

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

    def consider(self, epoch: int, loss: float, module: pl.LightningModule) -> None:
        """Keep the module's weights if this loss is the smallest so far."""
        if loss < self.loss:
            self.epoch, self.loss = epoch, loss
            state = module.state_dict()
            self._weights = {name: tensor.detach().clone() for name, tensor in state.items()}

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Compare this epoch with the best so far."""
        loss = trainer.callback_metrics.get("validation_loss")
        if trainer.sanity_checking or loss is None or math.isnan(loss):
            return
        epoch = trainer.current_epoch + 1
        self.consider(epoch, float(loss), pl_module)
        if self.patience is not None and epoch - (self.epoch or 0) >= self.patience:
            trainer.should_stop = True

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Go back to the best weights."""
        if self._weights:
            pl_module.load_state_dict(self._weights)
            self._weights = {}
            log.info("kept the weights of epoch %s: validation loss %.5g", self.epoch, self.loss)
