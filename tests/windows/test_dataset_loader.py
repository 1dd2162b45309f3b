import random

import numpy as np
import pytest
import torch

from tsformer.reading import read_panel
from tsformer.windows import SeededSampler, SeriesSampler, WindowDataset, WindowIndex, window_loader


@pytest.fixture
def windows():
    return WindowDataset(read_panel(np.arange(20.0)), context=4, horizon=2)


def order(loader, epoch=None):
    if epoch is not None:
        loader.batch_sampler.sampler.set_epoch(epoch)
    return torch.cat([batch.origin for batch in loader]).tolist()


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_window_comes_once_an_epoch(windows, shuffle):
    found = order(window_loader(windows, batch_size=4, shuffle=shuffle))
    assert sorted(found) == list(range(4, 19))
    assert (found == sorted(found)) is not shuffle


def test_the_last_batch_is_kept(windows):
    loader = window_loader(windows, batch_size=4, shuffle=True)
    assert [len(batch.origin) for batch in loader] == [4, 4, 4, 3]
    assert len(loader) == 4


def test_the_order_is_a_function_of_seed_and_epoch(windows):
    orders = {
        (seed, epoch): order(window_loader(windows, batch_size=4, shuffle=True, seed=seed), epoch)
        for seed in (0, 1)
        for epoch in (0, 1, 2)
    }
    assert len({tuple(one) for one in orders.values()}) == 6
    torch.rand(7)
    np.random.rand(7)
    again = window_loader(windows, batch_size=4, shuffle=True, seed=1)
    order(again, 0)
    assert order(again, 2) == orders[1, 2]
    assert order(again, 2) == orders[1, 2]


def test_the_batch_size_does_not_change_the_order(windows):
    small = window_loader(windows, batch_size=2, shuffle=True, seed=3)
    large = window_loader(windows, batch_size=100, shuffle=True, seed=3)
    assert order(small) == order(large)


def test_the_global_generators_are_left_alone(windows):
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    order(window_loader(windows, batch_size=4, shuffle=True))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()
    assert random.getstate() == before[2]


def test_a_sampler_of_nothing_yields_nothing():
    assert list(SeededSampler(0, seed=0)) == []


def test_a_sampler_knows_its_size():
    assert len(SeededSampler(5, seed=0)) == 5


def test_series_come_up_equally_often_whatever_their_length():
    index = WindowIndex(first=np.array([4, 4, 4, 9]), last=np.array([94, 14, 7, 9]))
    sampler = SeriesSampler(index, seed=0)
    numbers = np.array(list(sampler))
    assert len(numbers) == len(index) == len(sampler) == 103
    series, origins = index.locate(numbers)
    assert sorted(np.bincount(series, minlength=4).tolist()) == [0, 34, 34, 35]
    assert set(origins[series == 2]) == {4, 5, 6}
    assert (origins < index.last[series]).all()


def test_series_are_drawn_from_seed_and_epoch():
    index = WindowIndex(first=np.array([0, 0]), last=np.array([50, 5]))
    sampler = SeriesSampler(index, seed=1)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first
    assert list(SeriesSampler(index, seed=2)) != first


def test_the_loader_takes_series_when_asked(windows):
    loader = window_loader(windows, batch_size=4, shuffle=True, sampling="series")
    assert isinstance(loader.batch_sampler.sampler, SeriesSampler)
    assert len(order(loader)) == len(windows)


@pytest.mark.parametrize(
    ("size", "batches"),
    [(7, [7, 8]), (14, [15]), (5, [5, 5, 5]), (13, [13, 2]), (1, [1] * 15), (20, [15])],
)
def test_a_single_last_window_joins_the_batch_before(windows, size, batches):
    loader = window_loader(windows, batch_size=size, shuffle=True)
    assert [len(batch.origin) for batch in loader] == batches
    assert len(loader) == len(batches)
    assert sorted(order(loader)) == list(range(4, 19))


def test_windows_in_order_keep_their_batches(windows):
    loader = window_loader(windows, batch_size=14)
    assert [len(batch.origin) for batch in loader] == [14, 1]
