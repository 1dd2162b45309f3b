import math

import pytest
import pytorch_lightning as pl
import torch

from tsformer.errors import ParameterError, TrainingFailed
from tsformer.heads import Point, Quantiles
from tsformer.models import Informer, Linear, Transformer
from tsformer.training import (
    ForecastModule,
    InformerModule,
    Training,
    TransformerModule,
    WindowDataModule,
    build_network,
    train,
)
from tsformer.windows import Sizes, window_loader

TINY = {"d_model": 8, "n_heads": 1, "d_ff": 8, "encoder_layers": 1}
SIZES = Sizes(context=8, horizon=2)
QUIET = {
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
    "accelerator": "cpu",
}
pytestmark = [  # what Lightning says when it is used by hand
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),
    pytest.mark.filterwarnings("ignore:.*treespec, LeafSpec"),
]


class Spy(pl.Callback):
    """Keeps what happens at each step."""

    def __init__(self):
        self.norms, self.rates, self.decays = [], [], []

    def on_train_batch_start(self, trainer, module, batch, batch_index):
        groups = trainer.optimizers[0].param_groups
        self.rates.append([group["lr"] for group in groups])
        self.decays.append([group["weight_decay"] for group in groups])

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_index):
        slopes = [w.grad.flatten() for w in module.parameters() if w.grad is not None]
        self.norms.append(torch.cat(slopes).norm().item())


def informer_module(sizes, training=None, **changes):
    return InformerModule(sizes, Informer(**TINY), training=training, **changes)


@pytest.mark.parametrize("sanity", [0, 2])
def test_a_hand_used_trainer_gives_what_fit_gives(sanity, make_data):
    settings = Training(epochs=2)
    fitted, data = informer_module(make_data().sizes, settings), make_data()
    train(fitted, data, settings)
    module, data = informer_module(data.sizes, settings), make_data()
    torch.rand(3)
    pl.Trainer(max_epochs=2, num_sanity_val_steps=sanity, **QUIET).fit(module, datamodule=data)
    expected = fitted.state_dict()
    for name, weight in module.state_dict().items():
        assert torch.equal(weight, expected[name]), name
    for row, other in zip(module.history, fitted.history, strict=True):
        del row["seconds"], other["seconds"]
        assert row == pytest.approx(other, nan_ok=True)


def test_a_hand_used_trainer_fits_the_closed_form(make_data):
    data = make_data()
    network = build_network(Linear(), data.sizes, Quantiles(), random_state=0)
    module = ForecastModule(network, Quantiles())
    with pytest.warns(UserWarning, match="no optimizer"):
        pl.Trainer(max_epochs=2, **QUIET).fit(module, datamodule=data)
    assert network.skip.weight.ne(0).any()
    assert [row["epoch"] for row in module.history] == [0]


def test_lightning_predicts(make_data):
    data = make_data()
    module = informer_module(data.sizes)
    loader = window_loader(data.validation, batch_size=4)
    parts = pl.Trainer(**QUIET).predict(module, loader)
    assert torch.cat(parts).shape == (len(data.validation), 2, 1, 7)


def test_prepare_is_called_once_with_both_sets(train_level, make_data):
    data = make_data()
    module = train_level(data=data)
    assert module.network.prepared == (len(data.train), len(data.validation))


def test_initial_weights_depend_on_the_seed_alone():
    def weights(seed):
        return list(informer_module(SIZES, random_state=seed).state_dict().values())

    before = torch.get_rng_state()
    first = weights(0)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)
    assert all(torch.equal(a, b) for a, b in zip(first, weights(0), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, weights(1), strict=True))


@pytest.mark.parametrize(
    ("leaf", "model"), [(InformerModule, Informer()), (TransformerModule, Transformer())]
)
def test_the_leaves_have_defaults(leaf, model):
    module = leaf(SIZES)
    default = build_network(model, SIZES, Quantiles(), random_state=0).state_dict()
    assert module.network.state_dict().keys() == default.keys()
    assert isinstance(module.head, Quantiles)


def test_forward_forecasts_in_the_units_of_the_panel(make_data):
    data = make_data()
    module = informer_module(data.sizes).eval()
    batch = data.validation[0]
    moved = batch._replace(past_target=batch.past_target * 3 + 7)
    torch.testing.assert_close(module(moved), module(batch) * 3 + 7, atol=1e-4, rtol=1e-4)


def test_without_window_scaling_the_network_sees_the_units(make_data):
    data = make_data()
    module = informer_module(data.sizes, scaling="none").eval()
    batch = data.validation[0]
    torch.testing.assert_close(module(batch), module.network(batch))


class SmallBatches(WindowDataModule):
    def val_dataloader(self):
        return window_loader(self.validation, batch_size=3)


def test_the_validation_loss_is_a_mean_over_observed_steps(train_level, panel):
    target = panel.target.values.copy()
    target[[-1, -2, -9, -15]] = torch.nan
    gappy = panel.with_target(target)
    given = {"context": 8, "horizon": 2, "validation": 20}
    losses = {}
    for kind in (WindowDataModule, SmallBatches):
        data = kind(gappy, **given)
        module = train_level(level=0.5, epochs=1, data=data, learning_rate=1e-3)
        losses[kind] = [row["validation_loss"] for row in module.history]
    assert losses[SmallBatches] == pytest.approx(losses[WindowDataModule], rel=1e-6)
    batch = data.validation.__getitems__(range(len(data.validation)))
    raw = module.head.restore(torch.full((len(batch.origin), 2, 1, 1), 0.5), *scales(module, batch))
    squared = (raw[..., 0] - batch.future_target) ** 2
    expected = squared[batch.future_observed].mean().item()
    assert losses[SmallBatches][0] == pytest.approx(expected, rel=1e-5)


def scales(module, batch):
    normalised = module.scaling.normaliser.normalise(batch)
    return normalised.location, normalised.scale


def test_the_loss_is_in_the_units_of_the_panel(train_level, make_data):
    data = make_data()
    batch = data.validation.__getitems__(range(len(data.validation)))
    module = train_level(level=0.0, epochs=0, data=data)
    location, _ = scales(module, batch)
    expected = ((location - batch.future_target) ** 2).mean().item()
    assert module.history[0]["validation_loss"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed"])
@pytest.mark.parametrize("clip", [1e-3, None])
def test_gradients_are_clipped_by_their_norm(clip, precision, train_level):
    spy = Spy()
    train_level(level=3.0, clip=clip, callbacks=(spy,), epochs=1, precision=precision)
    if clip is None:
        assert max(spy.norms) > 0.1
    else:
        assert max(spy.norms) == pytest.approx(clip, rel=1e-3)


@pytest.mark.parametrize("schedule", ["constant", "cosine", "one_cycle"])
def test_the_schedule_goes_by_steps(schedule, train_level, make_data):
    spy, data = Spy(), make_data()
    settings = {"schedule": schedule, "learning_rate": 0.01, "epochs": 3, "patience": None}
    train_level(callbacks=(spy,), data=data, **settings)
    steps = 3 * len(data.train_dataloader())
    factors = [Training(**settings).learning_rate_at(step, steps) for step in range(steps)]
    assert [rates[0] for rates in spy.rates] == pytest.approx([0.01 * f for f in factors])


def test_the_skip_is_trained_at_a_tenth_of_the_rate_without_decay(make_data):
    spy, data = Spy(), make_data()
    settings = Training(epochs=1, schedule="constant", weight_decay=0.5, callbacks=(spy,))
    train(informer_module(data.sizes, settings), data, settings)
    rates, decays = spy.rates[0], spy.decays[0]
    order = sorted(range(2), key=rates.__getitem__)
    assert rates[order[0]] == pytest.approx(rates[order[1]] / 10)
    assert [decays[at] for at in order] == [0.0, 0.5]


def test_a_loss_that_is_not_a_number_stops_with_a_cure(train_level):
    with pytest.raises(TrainingFailed, match=r"loss became nan in epoch 0, step 0.*learning_rate"):
        train_level(level=float("nan"))


def test_no_epochs_fit_the_closed_form_alone(train_level, make_data):
    data = make_data()
    module = train_level(level=0.7, epochs=0, data=data)
    assert module.network.prepared == (len(data.train), len(data.validation))
    assert module.network.level.item() == pytest.approx(0.7)
    assert [row["epoch"] for row in module.history] == [0]


@pytest.mark.parametrize("head", [Point(), Quantiles()], ids=str)
@pytest.mark.parametrize("decoding", ["one_shot", "autoregressive"])
def test_a_transformer_learns_under_any_head(head, decoding, make_data):
    data, settings = make_data(), Training(epochs=1)
    model = Transformer(**TINY, decoding=decoding)
    module = TransformerModule(data.sizes, model, head=head, training=settings)
    train(module, data, settings)
    assert len(module.history) == 2


def kept(module):
    weights = {name: weight.clone() for name, weight in module.state_dict().items()}
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in module.history]
    return weights, rows, module.best.epoch, module.best.loss


class Saves(pl.callbacks.Checkpoint):
    """Saves a checkpoint at the end of an epoch, before or after Lightning counts it."""

    def __init__(self, path, hook):
        self.path, self.hook = path, hook

    def save(self, trainer, hook):
        if (hook, trainer.current_epoch, trainer.sanity_checking) == (self.hook, 1, False):
            trainer.save_checkpoint(self.path)

    def on_validation_end(self, trainer, module):
        self.save(trainer, "validation")

    def on_train_epoch_end(self, trainer, module):
        self.save(trainer, "train")


@pytest.mark.parametrize("hook", ["validation", "train"])
def test_a_resumed_run_equals_an_uninterrupted_one(hook, make_data, tmp_path):
    settings = Training(epochs=4, patience=None, learning_rate=0.03)
    path = tmp_path / "run.ckpt"

    def run(callbacks=(), resume=None):
        data = make_data()
        module = InformerModule(data.sizes, Informer(**TINY, dropout=0.2), training=settings)
        quiet = {**QUIET, "enable_checkpointing": bool(callbacks)}
        trainer = pl.Trainer(max_epochs=4, callbacks=list(callbacks), **quiet)
        trainer.fit(module, datamodule=data, ckpt_path=resume, weights_only=True)
        return kept(module)

    weights, rows, epoch, loss = run([Saves(path, hook)])
    resumed, resumed_rows, resumed_epoch, resumed_loss = run(resume=path)
    assert (resumed_epoch, resumed_loss) == (epoch, loss)
    for name, weight in resumed.items():
        assert torch.equal(weight, weights[name]), name
    assert len(resumed_rows) == len(rows) == 5
    for row, other in zip(resumed_rows, rows, strict=True):
        assert row == pytest.approx(other, nan_ok=True)


class Last(pl.Callback):
    """Keeps the weights of each epoch's end: at last those of the last."""

    def on_train_epoch_end(self, trainer, module):
        self.weights = {name: weight.clone() for name, weight in module.state_dict().items()}


@pytest.mark.parametrize(
    "rhythm",
    [
        {"check_val_every_n_epoch": 10},
        {"val_check_interval": 100, "check_val_every_n_epoch": None},
    ],
    ids=str,
)
def test_untrained_weights_are_not_best_without_a_rival(rhythm, make_data, caplog):
    data, last = make_data(), Last()
    module = informer_module(data.sizes, Training(epochs=4))
    trainer = pl.Trainer(max_epochs=4, callbacks=[last], **rhythm, **QUIET)
    trainer.fit(module, datamodule=data)
    assert module.best.epoch is None
    assert "last weights are kept" in caplog.text
    for name, weight in module.state_dict().items():
        assert torch.equal(weight, last.weights[name]), name


def test_epochs_without_validation_record_none(make_data):
    data = make_data()
    module = informer_module(data.sizes, Training(epochs=4))
    pl.Trainer(max_epochs=4, check_val_every_n_epoch=2, **QUIET).fit(module, datamodule=data)
    missing = [math.isnan(row["validation_loss"]) for row in module.history]
    assert missing == [False, True, False, True, False]


def test_several_devices_are_refused(make_data):
    module = informer_module(SIZES)
    module.trainer = pl.Trainer(devices=2, strategy="ddp", **QUIET)
    with pytest.raises(ParameterError, match=r"has 2 devices.*not supported"):
        module.setup("fit")


class Breaks(pl.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_index):
        with torch.no_grad():
            module.network.level.fill_(float("nan"))


def test_a_last_step_into_nothing_is_a_failure(train_level, make_data):
    data = make_data(validation=None, batch_size=1000)
    with pytest.raises(TrainingFailed, match=r"'level' are not finite.*learning_rate"):
        train_level(data=data, epochs=1, callbacks=[Breaks()])


def test_validation_judges_what_forecasting_does(make_data):
    data = make_data()
    model = Transformer(**TINY, decoding="autoregressive")
    module = TransformerModule(data.sizes, model, head=Point(), training=Training(epochs=1))
    train(module, data, module.training_settings)
    batch = next(iter(data.val_dataloader()))
    with torch.no_grad():
        raw = module.eval()(batch)
        expected = module.head.loss(raw, batch.future_target, batch.future_observed.float())
    assert module.best.loss == pytest.approx(expected.item(), rel=1e-4)
