import math

import pytest
import torch

from tsformer.training import BestWeights


class Watch:
    """A function-like callback that keeps the rows of the history."""

    def __init__(self):
        self.rows = []

    def __call__(self, row):
        self.rows.append(row)


def test_the_best_weights_come_back(train_level):
    # the best level is near 0: it gets better, then the constant step overshoots for ever
    module = train_level(level=-0.9, learning_rate=0.4, epochs=8, patience=None)
    losses = [row["validation_loss"] for row in module.history]
    best = min(range(len(losses)), key=losses.__getitem__)
    assert module.best.epoch == best
    assert 0 < best < 8
    assert module.best.loss == pytest.approx(losses[best])
    again = train_level(level=-0.9, learning_rate=0.4, epochs=best, patience=None)
    assert torch.equal(again.network.level, module.network.level)


def test_epoch_0_counts(train_level):
    module = train_level(level=0.0, learning_rate=5.0, epochs=2)
    assert module.best.epoch == 0
    assert module.network.level.item() == 0.0
    first = module.history[0]
    assert first["epoch"] == 0
    assert math.isnan(first["train_loss"])


@pytest.mark.parametrize("patience", [1, 2])
def test_training_stops_when_it_gets_no_better(train_level, patience):
    module = train_level(level=0.0, learning_rate=5.0, epochs=9, patience=patience)
    assert [row["epoch"] for row in module.history] == list(range(patience + 1))


def test_no_patience_never_stops(train_level):
    module = train_level(level=0.0, learning_rate=5.0, epochs=5, patience=None)
    assert len(module.history) == 6


def test_without_validation_the_last_weights_are_kept(train_level, make_data):
    data = make_data(validation=None)
    module = train_level(level=0.0, learning_rate=5.0, epochs=3, patience=1, data=data)
    assert module.best.epoch is None
    assert [row["epoch"] for row in module.history] == [1, 2, 3]
    assert module.network.level.item() != 0.0


def test_validation_rows_without_any_observation_choose_nothing(train_level, make_data, panel):
    target = panel.target.values.copy()
    target[-20:] = torch.nan
    blank = panel.with_target(target)
    data = make_data(panel=blank, validation=12)
    module = train_level(level=3.0, epochs=3, patience=1, data=data)
    assert module.best.epoch is None
    assert len(module.history) == 3
    assert module.network.level.item() != 3.0


def test_only_a_smaller_loss_is_better():
    best, module = BestWeights(), torch.nn.Linear(1, 1)
    for epoch, loss in enumerate([2.0, 1.0, 1.0, math.nan, 3.0]):
        best.consider(epoch, loss, module)
    assert (best.epoch, best.loss) == (1, 1.0)


def test_functions_get_each_row_of_the_history(train_level):
    watch = Watch()
    module = train_level(callbacks=(watch,), epochs=2, patience=None)
    assert [row["epoch"] for row in watch.rows] == [0, 1, 2]
    assert watch.rows[1:] == module.history[1:]
    assert set(watch.rows[0]) == {"epoch", "train_loss", "validation_loss", "seconds"}
    watch.rows[2]["epoch"] = -1
    assert module.history[2]["epoch"] == 2
