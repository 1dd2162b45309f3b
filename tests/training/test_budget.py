"""Time is told by a clock that only the work itself moves, so that every count is exact."""

import logging

import numpy as np
import pytest
from torch import nn

from tsformer.heads import Point
from tsformer.reading import read_panel
from tsformer.training import ForecastModule, Training, WindowDataModule, budget, module, train
from tsformer.training.budget import Budget, InTime


class Clock:
    """Seconds as they are spent, by what they were spent on."""

    def __init__(self):
        self.spent = {"prepare": 0.0, "train": 0.0, "judge": 0.0}

    def monotonic(self):
        return sum(self.spent.values())

    def share(self, kind):
        return self.spent[kind] / self.monotonic()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    monkeypatch.setattr(module, "time", clock)
    return clock


def wrapped(network, clock, *, window=0.001):
    """The same network; a window takes three milliseconds to train on and one to look at."""

    class Timed(type(network)):
        def forward(self, batch):
            kind, seconds = ("train", 3 * window) if self.training else ("judge", window)
            clock.spent[kind] += seconds * len(batch.origin)
            return super().forward(batch)

        def prepare(self, train, validation, standardise):
            for batch in (batch for loader in (train, validation) for batch in loader):
                clock.spent["prepare"] += window * len(batch.origin)

    network.__class__ = Timed
    return network


@pytest.fixture
def train_timed(clock, train_level, make_data):
    """Train one weight on 40 series for so many seconds of the clock."""
    frame = np.random.default_rng(0).normal(size=(1000, 8))
    data = make_data(panel=read_panel(frame), validation=400)

    def run(max_time, **settings):
        level = train_level(epochs=0, data=make_data()).network
        level.sizes = data.sizes
        level.shape = (data.sizes.horizon, data.sizes.target, 1)
        level.level = nn.Parameter(level.level.detach() * 0)
        training = Training(**{"epochs": 50, "max_time": max_time, "patience": None, **settings})
        one = ForecastModule(wrapped(level, clock), Point("squared"), training)
        clock.spent = dict.fromkeys(clock.spent, 0.0)
        train(one, data, training)
        return one

    return run


@pytest.mark.parametrize("seconds", [5, 20, 60])
def test_a_fit_keeps_to_its_time_and_trains_for_most_of_it(seconds, train_timed, clock):
    one = train_timed(seconds)
    assert clock.monotonic() <= seconds + 0.256  # the batch in hand is finished
    assert clock.monotonic() > 0.7 * seconds
    assert clock.share("train") > 0.5
    assert clock.share("judge") < 0.3
    assert "training ended in epoch" in one.budget.notes[-1]
    assert one.best.epoch is not None


def test_a_fit_without_time_to_train_is_whole(train_timed, clock):
    one = train_timed(0.1)
    assert clock.monotonic() < 2
    assert one.best.epoch in (0, 1)
    assert one.history[0]["epoch"] == 0


def test_time_that_suffices_changes_nothing(train_timed, clock):
    free = train_timed(None, epochs=3)
    level, best = free.network.level.item(), free.best.epoch
    bound = train_timed(10_000, epochs=3)
    assert (bound.network.level.item(), bound.best.epoch) == (level, best)
    assert bound.budget.notes == free.budget.notes == []
    assert bound.budget.said() == ""


def test_what_was_cut_is_said_once(train_timed, caplog):
    one = train_timed(2)
    with caplog.at_level(logging.WARNING):
        notes = one.budget.said()
    assert notes == "; ".join(one.budget.notes)
    (line,) = [record.message for record in caplog.records]
    assert line.startswith("max_time=2 seconds were not enough: ")
    assert line.endswith("; the next run may come out otherwise")


def test_a_budget_counts_from_when_it_is_made(clock):
    one = Budget(10)
    clock.spent["train"] += 4
    assert one.left == 6
    one.waited(3)
    assert one.left == 9
    assert not Budget().limited
    assert Budget().before_refit().left == Budget().rest().left == float("inf")


def test_a_refit_has_what_the_first_fit_left(clock):
    one = Budget(10)
    clock.spent["train"] += 2
    first = one.before_refit()
    assert first.left == pytest.approx(0.4 * 8)
    first.notes.append("cut")
    clock.spent["train"] += first.left
    assert one.rest().left == pytest.approx(0.6 * 8)
    assert (one.notes, one.rest().notes) == (["cut"], [])
    clock.spent["train"] += 100
    assert one.rest().left == 0


def test_a_pass_ends_in_time_and_later_ones_see_the_same(clock):
    def spending(batches):
        for batch in batches:
            clock.spent["prepare"] += 1
            yield batch

    batches = InTime(range(10), seconds=2.5)
    assert list(spending(batches)) == [0, 1, 2]
    assert batches.cut
    assert list(batches) == [0, 1, 2]  # with time for all ten


def test_a_pass_with_time_is_whole(clock):
    batches = InTime(range(10), seconds=0)
    assert list(batches) == list(range(10))  # the clock stands still
    assert not batches.cut


def test_a_pass_has_one_batch_at_least(clock):
    batches = InTime(range(10), seconds=-1)
    assert list(batches) == [0]


def test_windows_of_a_module_that_was_cut_are_spread(train_timed):
    one = train_timed(2)
    assert any("validation windows were judged" in note for note in one.budget.notes)


def test_a_data_module_keeps_no_more_validation_windows_than_can_be_judged(caplog):
    panel = read_panel(np.random.default_rng(0).normal(size=5000))
    sizes = {"context": 8, "horizon": 2}
    with caplog.at_level(logging.INFO, logger="tsformer"):
        data = WindowDataModule(panel, **sizes, validation=3000)
    assert len(data.train) == 1991
    assert len(data.validation) == 1194  # 0.6 for each
    assert "1194 of 2999 validation windows are judged, spread evenly" in caplog.text
    origins = data.validation.__getitems__(range(1194)).origin.numpy()
    assert (np.diff(origins) >= 1).all()
    assert np.abs(np.histogram(origins, bins=10, range=(2000, 4999))[0] - 119.4).max() < 2
    again = WindowDataModule(panel, **sizes, validation=3000, random_state=7)
    assert (again.validation.__getitems__(range(1194)).origin.numpy() == origins).all()


def test_few_validation_windows_are_all_judged(caplog):
    panel = read_panel(np.random.default_rng(0).normal(size=1100))
    with caplog.at_level(logging.INFO, logger="tsformer"):
        data = WindowDataModule(panel, context=8, horizon=2, validation=1000)
    assert len(data.validation) == 999
    assert "judged" not in caplog.text
