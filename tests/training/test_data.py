import numpy as np
import pandas as pd
import pytest

from tsformer.errors import ParameterError, SeriesTooShort
from tsformer.panels import Schema
from tsformer.reading import read_panel
from tsformer.training import WindowDataModule
from tsformer.training.data import validation_rows

TWO = np.array([100, 30])


def rows(validation, lengths=TWO, context=10, horizon=5):
    return validation_rows(lengths, validation, context=context, horizon=horizon).tolist()


@pytest.mark.parametrize("nothing", [None, 0, 0.0])
def test_nothing_is_kept(nothing):
    assert rows(nothing) == [0, 0]


def test_auto_keeps_a_fifth_and_at_least_a_horizon():
    assert rows("auto") == [20, 6]
    assert rows("auto", horizon=12) == [20, 0]
    assert rows("auto", horizon=9) == [20, 9]
    assert rows("auto", lengths=np.array([16])) == [0]


def test_a_fraction_is_of_each_series():
    assert rows(0.3) == [30, 9]
    assert rows(0.01) == [5, 5]


def test_a_number_is_of_rows():
    assert rows(12) == [12, 12]
    assert rows(20) == [20, 0]  # the short series goes to training whole


def test_rows_without_a_window_are_refused():
    with pytest.raises(ParameterError, match="give at least 5"):
        rows(4)


@pytest.mark.parametrize("too_much", [95, 0.9])
def test_rows_that_leave_nothing_to_train_on_are_refused(too_much):
    with pytest.raises(
        ParameterError, match="leaves no training window: the longest series has 100"
    ):
        rows(too_much)


def test_training_ends_where_validation_begins(make_data):
    data = make_data(validation=20)
    assert data.validation_rows.tolist() == [20]
    batch = data.train.__getitems__(range(len(data.train)))
    assert int(batch.origin.max()) + 2 == 70
    assert len(data.train) == 70 - 8 - 2 + 1
    batch = data.validation.__getitems__(range(len(data.validation)))
    assert batch.origin.tolist() == list(range(70, 89))


def test_scales_come_from_the_training_rows(make_data, panel):
    data = make_data(validation=20)
    assert data.scales.target.offset[0, 0] == pytest.approx(panel.target.values[:70].mean())
    assert data.scales.target.scale[0, 0] == pytest.approx(panel.target.values[:70].std())
    assert data.validation._target is data.train._target


def test_rows_may_differ_by_series(frame):
    long = pd.concat([frame.assign(id="a"), frame[:50].assign(id="b")])
    panel = read_panel(long, Schema(series="id"))
    data = WindowDataModule(panel, context=8, horizon=2, validation=np.array([0, 10]))
    batch = data.validation.__getitems__(range(len(data.validation)))
    assert set(batch.series.tolist()) == {1}
    assert batch.origin.tolist() == list(range(40, 49))


@pytest.mark.parametrize("gap", [0, 3])
@pytest.mark.parametrize("validation", [None, 20, 23])
def test_origins_keep_the_phase_of_a_forecast_after_the_data(gap, validation, make_data):
    every, some = (make_data(stride=stride, gap=gap, validation=validation) for stride in (1, 7))
    for name in ("train", "validation"):
        origins = [
            getattr(one, name).index.locate(np.arange(len(getattr(one, name))))[1]
            for one in (every, some)
        ]
        assert origins[1].tolist() == [one for one in origins[0] if (90 + gap - one) % 7 == 0]
    assert every.ends.tolist() == some.ends.tolist()


def test_a_stride_that_leaves_no_window_says_so(make_data):
    with pytest.raises(SeriesTooShort, match="and a stride of 100 up to 99 more"):
        make_data(stride=100, validation=None)


def test_without_validation_there_is_no_loader(make_data):
    data = make_data(validation=None)
    assert len(data.validation) == 0
    assert list(data.val_dataloader()) == []
    assert len(data.train) == 81


def test_loaders_give_every_window_once(make_data):
    data = make_data(batch_size=16)
    loaders = [(data.train_dataloader(), data.train), (data.val_dataloader(), data.validation)]
    for loader, windows in loaders:
        origins = np.concatenate([batch.origin.numpy() for batch in loader])
        assert len(set(origins.tolist())) == len(origins) == len(windows)


def test_the_order_comes_from_the_seed(make_data):
    def order(seed):
        loader = make_data(random_state=seed).train_dataloader()
        return np.concatenate([batch.origin.numpy() for batch in loader]).tolist()

    assert order(0) == order(0) != order(1)


def test_a_series_that_is_too_short_says_how_much_is_needed():
    panel = read_panel(np.arange(9.0))
    with pytest.raises(SeriesTooShort, match=r"has 9 rows.*context 8 \+ horizon 2 need 10"):
        WindowDataModule(panel, context=8, horizon=2)


def test_sizes_are_those_of_the_windows(make_data):
    data = make_data()
    assert (data.sizes.context, data.sizes.horizon) == (8, 2)
    assert data.sizes.known > 0


def test_a_stride_leaves_a_window_to_validate_by():
    lengths = np.array([400])
    cut = {"context": 30, "horizon": 7}
    for stride, gap, least in ((1, 0, 7), (24, 0, 24), (5, 0, 10), (24, 3, 21), (7, 2, 12)):
        with pytest.raises(ParameterError, match=f"give at least {least}"):
            validation_rows(lengths, least - 1 if least > 7 else 6, **cut, stride=stride, gap=gap)
        panel = read_panel(np.arange(400.0))
        data = WindowDataModule(panel, **cut, gap=gap, stride=stride, validation=least)
        assert len(data.validation) == 1
        assert validation_rows(lengths, 0.001, **cut, stride=stride, gap=gap).tolist() == [least]
