import logging
import random
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.utilities.exceptions import SIGTERMException

from tsformer.errors import MissingDependency
from tsformer.models import Informer
from tsformer.training import InformerModule, Training, train

TINY = {"d_model": 8, "n_heads": 1, "d_ff": 8, "encoder_layers": 1}


@pytest.fixture
def run(make_data):
    def fit(seed=0, **settings):
        data = make_data(random_state=seed)
        training = Training(**{"epochs": 2, **settings})
        module = InformerModule(data.sizes, Informer(**TINY), training=training, random_state=seed)
        train(module, data, training)
        return module

    return fit


def same(one, other):
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def disturb(row):
    torch.rand(11)
    np.random.rand(11)
    random.random()


def test_same_seed_same_weights_whatever_is_drawn_in_between(run):
    first = run()
    torch.manual_seed(99)
    assert same(run(callbacks=(disturb,)), first)


def test_another_seed_gives_other_weights(run):
    assert not same(run(seed=1), run(seed=0))


def test_the_generators_of_the_caller_are_left_as_they_were(run, unchecked):
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    run()
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()
    assert random.getstate() == before[2]


def test_nothing_is_written_or_printed(run, tmp_path, monkeypatch, capfd, caplog):
    monkeypatch.chdir(tmp_path)
    with caplog.at_level(logging.INFO):
        run()
    assert list(tmp_path.iterdir()) == []
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")
    assert {record.name for record in caplog.records} <= {"tsformer"}


def test_the_loggers_of_lightning_keep_their_levels(run):
    logger = logging.getLogger("pytorch_lightning")
    before = logger.level
    run()
    assert logger.level == before


def test_training_stops_after_its_time(train_level):
    began = time.monotonic()
    module = train_level(epochs=100_000, max_time=0.3, patience=None)
    assert time.monotonic() - began < 5
    assert 0 < len(module.history) < 5000


def interrupt(row):
    raise KeyboardInterrupt


class Interrupts(pl.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_index):
        raise KeyboardInterrupt


@pytest.mark.parametrize("call", [interrupt, Interrupts()], ids=["function", "lightning"])
def test_an_interrupt_reaches_the_caller(call, train_level):
    with pytest.raises(KeyboardInterrupt):
        train_level(callbacks=(call,))


def fail(row):
    raise OSError("the disk of the caller is full")


def test_an_error_of_a_callback_reaches_the_caller(train_level):
    with pytest.raises(OSError, match="the disk of the caller"):
        train_level(callbacks=(fail,))


class Counts(pl.Callback):
    def __init__(self):
        self.epochs = 0

    def on_train_epoch_end(self, trainer, module):
        self.epochs += 1


def test_callbacks_of_lightning_work(train_level):
    counts = Counts()
    train_level(callbacks=[counts], epochs=2, patience=None)
    assert counts.epochs == 2


def test_no_trainer_is_kept(run):
    with pytest.raises(RuntimeError, match="not attached to a `Trainer`"):
        _ = run().trainer


def test_a_logger_gets_the_losses(train_level, tmp_path):
    logger = pl.loggers.CSVLogger(tmp_path)
    train_level(logger=logger, epochs=1)
    (written,) = tmp_path.rglob("metrics.csv")
    assert "validation_loss" in written.read_text()


def test_a_bar_is_shown_on_request(train_level, capfd):
    train_level(progress=True, epochs=1)
    assert capfd.readouterr().out != ""


def test_half_precision_trains(train_level):
    module = train_level(precision="bf16-mixed", epochs=1)
    assert module.network.level.isfinite()


@pytest.mark.slow
def test_a_compiled_fit_learns_the_same_and_leaves_no_trace():
    # in a process of its own: the shape checks of the test run do not compile
    code = """
        import numpy as np
        from tsformer import Forecaster, Training
        from tsformer.models import Transformer
        model = Transformer(d_model=8, n_heads=1, d_ff=8, encoder_layers=1, dropout=0.0)
        losses = []
        for compiled in (False, True):
            training = Training(epochs=2, compile=compiled)
            forecaster = Forecaster(model, horizon=3, context=12, training=training)
            noise = np.random.default_rng(0).normal(size=120)
            forecaster.fit((np.sin(np.arange(120.0) * 0.7) + noise)[:, None])
            assert "supervise" not in vars(forecaster.network_)
            losses.append(forecaster.history_["validation_loss"])
        np.testing.assert_allclose(*losses, rtol=1e-2)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_compiling_without_a_compiler_says_so(run, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(MissingDependency, match="C\\+\\+ compiler"):
        run(compile=True)


def test_fits_in_threads_equal_fits_in_turn(make_data, unchecked):
    def fit(seed):
        data, training = make_data(random_state=seed), Training(epochs=2)
        model = Informer(**TINY, dropout=0.2)
        module = InformerModule(data.sizes, model, training=training, random_state=seed)
        train(module, data, training)
        return module

    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    in_turn = [fit(seed) for seed in (0, 1, 0, 1)]
    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(fit, (0, 1, 0, 1)))
    assert all(map(same, at_once, in_turn))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()
    assert random.getstate() == before[2]


class Terminates(pl.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_index):
        raise SIGTERMException


def test_a_termination_is_no_success(train_level):
    with pytest.raises(SystemExit) as stopped:
        train_level(callbacks=(Terminates(),))
    assert stopped.value.code == 143
