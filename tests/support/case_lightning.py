"""Section 4: Lightning by hand."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytorch_lightning as pl
import torch
from doors import heard
from pytorch_lightning.loggers import CSVLogger

from tsformer import Forecaster, Training
from tsformer.errors import ParameterError, ShapeError
from tsformer.models import Informer, PatchTransformer, Transformer
from tsformer.reading import read_panel
from tsformer.training import InformerModule, TransformerModule, WindowDataModule

by_hand = [  # what Lightning says when it is used by hand
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
    pytest.mark.filterwarnings("ignore:.*treespec, LeafSpec"),
    pytest.mark.filterwarnings("ignore:.*is smaller than the logging interval"),
]
TINY: dict[str, Any] = {"d_model": 8, "n_heads": 1, "d_ff": 8, "encoder_layers": 1}
QUIET: dict[str, Any] = {
    "logger": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
    "accelerator": "cpu",
}
MODULES = {
    "informer": lambda sizes, **more: InformerModule(sizes, Informer(**TINY, dropout=0.2), **more),
    "transformer": lambda sizes, **more: TransformerModule(sizes, Transformer(**TINY), **more),
}


def weekly(rows: int = 84, **columns: Any) -> pd.DataFrame:
    days = pd.date_range("2023-01-02", periods=rows)
    return pd.DataFrame({"sold": np.resize(np.arange(7.0) + 1, rows), **columns}, index=days)


def windows() -> WindowDataModule:
    return WindowDataModule(read_panel(weekly()), context=14, horizon=3)


class Last(pl.Callback):
    """Keeps the weights of the last epoch's end."""

    def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
        self.weights = {name: weight.clone() for name, weight in module.state_dict().items()}


class Saves(pl.callbacks.Checkpoint):
    """Saves a checkpoint at the end of the second epoch."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
        if trainer.current_epoch == 1:
            trainer.save_checkpoint(self.path)


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


class TestLightningByHand:
    pytestmark = by_hand

    @pytest.mark.parametrize(
        "rhythm",
        [
            {"check_val_every_n_epoch": 10},
            {"val_check_interval": 100, "check_val_every_n_epoch": None},
            {"limit_val_batches": 0},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("module", MODULES)
    def test_4_untrained_weights_are_never_the_best(
        self, rhythm: dict[str, Any], module: str, caplog: Any
    ) -> None:
        data, last = windows(), Last()
        trained = MODULES[module](data.sizes, training=Training(epochs=4))
        more = {**rhythm, "enable_checkpointing": False}
        pl.Trainer(max_epochs=4, callbacks=[last], **more, **QUIET).fit(trained, datamodule=data)
        assert trained.best.epoch is None
        assert "limit_val_batches" in rhythm or "last weights are kept" in caplog.text
        assert same(trained.state_dict(), last.weights)

    @pytest.mark.parametrize("module", MODULES)
    def test_4_resumed_is_straight(self, module: str, tmp_path: Path) -> None:
        path, settings = tmp_path / "run.ckpt", Training(epochs=4, patience=None)

        def run(*callbacks: pl.Callback, resume: Path | None = None) -> Any:
            data = windows()
            trained = MODULES[module](data.sizes, training=settings)
            trainer = pl.Trainer(
                max_epochs=4,
                callbacks=list(callbacks),
                enable_checkpointing=bool(callbacks),
                **QUIET,
            )
            trainer.fit(trained, datamodule=data, ckpt_path=resume, weights_only=True)
            return trained

        straight, resumed = run(Saves(path)), run(resume=path)
        assert same(straight.state_dict(), resumed.state_dict())
        assert (straight.best.epoch, straight.best.loss) == (resumed.best.epoch, resumed.best.loss)

    @pytest.mark.parametrize("verb", ["fit", "validate"])
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"target": 4}, "4"),
            ({"context": 20}, "20"),
            ({"horizon": 5}, "5"),
            ({"known": 10}, "10"),
        ],
        ids=str,
    )
    def test_4_sizes_of_other_data_are_named(
        self, change: dict[str, int], said: str, verb: str
    ) -> None:
        data = windows()
        (name, own), theirs = next(iter(change.items())), data.sizes
        module = InformerModule(dataclasses.replace(theirs, **change), Informer(**TINY))
        trainer = pl.Trainer(max_epochs=1, enable_checkpointing=False, **QUIET)
        with pytest.raises(ShapeError) as caught:
            getattr(trainer, verb)(module, datamodule=data)
        message = str(caught.value)
        assert name in message and str(own) in message and str(getattr(theirs, name)) in message


def of_lightning(name: str) -> Any:
    """As an object of the other package looks, which need not be installed."""
    base = type(name, (), {"__module__": f"lightning.pytorch.{name.lower()}s"})
    return type(f"Early{name}", (base,), {})()


NOT_TAKEN = {
    "a logger as a callback": ({"callbacks": [CSVLogger("here")]}, "logger="),
    "a logger by name": ({"logger": "csv"}, "must be a Lightning logger"),
    "a number as a callback": ({"callbacks": [3]}, "callbacks"),
    "a callback without a list": ({"callbacks": 3}, "list"),
    "a callback by name": ({"callbacks": ["EarlyStopping"]}, "'EarlyStopping'"),
    "a class as a callback": ({"callbacks": [pl.Callback]}, "callbacks"),
    "a callback of lightning": ({"callbacks": [of_lightning("Callback")]}, "do not mix"),
    "an accelerator misspelt": ({"accelerator": "cpuu"}, "'cpu'"),
    "a precision misspelt": ({"precision": "garbage"}, "'bf16-mixed'"),
    "bf16-true": ({"precision": "bf16-true"}, "bf16-true"),
    "16-true": ({"precision": "16-true"}, "16-true"),
    "64-true": ({"precision": "64-true"}, "64-true"),
    "two devices": ({"devices": 2}, "more than one device"),
}


@pytest.mark.parametrize("door", ["fit", "check"])
@pytest.mark.parametrize("name", NOT_TAKEN)
def test_4_what_cannot_work_is_refused_before_anything_runs(
    name: str, door: str, monkeypatch: Any
) -> None:
    def train(*_: Any, **__: Any) -> None:
        raise AssertionError("trained")

    monkeypatch.setattr("tsformer.training.train", train)
    wrong, said = NOT_TAKEN[name]
    training = Training(epochs=1, **wrong)
    forecaster = Forecaster(Informer(**TINY), horizon=3, context=14, training=training)
    answer = heard(lambda: forecaster.fit(weekly()) if door == "fit" else training.check())
    assert isinstance(answer.error, ParameterError)
    assert next(iter(wrong)) in answer.said and said in answer.said


BATCHED = {
    "one window left over": (
        PatchTransformer,
        {"patch": 4, "stride": 4, "patch_norm": "batch"},
        14,
    ),
    "a context of one": (Informer, {"distilling_norm": "batch"}, 1),
    "a context of two": (Informer, {"distilling_norm": "batch"}, 2),
}


@pytest.mark.parametrize("name", BATCHED)
def test_4_batch_norm_of_one_value(name: str) -> None:
    kind, norm, context = BATCHED[name]
    layers = 2 if kind is Informer else 1
    model = kind(**{**TINY, "encoder_layers": layers}, **norm, skip=False)
    training = Training(epochs=1, validation=None, batch_size=16)
    rows = context + 3 + 16  # 17 windows
    forecaster = Forecaster(model, horizon=3, context=context, training=training)
    answer = heard(lambda: forecaster.fit(weekly(rows)).predict())
    if answer.error is None:
        assert np.isfinite(answer.made["sold"]).all()
    else:
        assert "batch" in answer.said
