from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, RandomSampler

from tsformer.panels import Policy, Schema
from tsformer.reading import read_panel
from tsformer.windows import PanelScales, WindowDataset, WindowIndex, sizes_of

CONTEXT, HORIZON = 4, 2


@pytest.fixture
def windows(full_panel):
    return WindowDataset(full_panel, context=CONTEXT, horizon=HORIZON)


def whole(windows):
    return windows.__getitems__(range(len(windows)))


def sliced(panel, values, batch, begin, end):
    """Rows origin + begin to origin + end of each window, cut out one by one."""
    rows = [
        values[
            panel.index.starts[series] + origin + begin : panel.index.starts[series] + origin + end
        ]
        for series, origin in zip(batch.series.tolist(), batch.origin.tolist(), strict=True)
    ]
    return np.stack(rows)


def scaled(values, scales, panel):
    series = np.arange(panel.n_series).repeat(panel.index.lengths)
    return (values - scales.offset[series]) / scales.scale[series]


@pytest.mark.parametrize("role", ["target", "past", "known"])
def test_rows_are_slices_of_the_scaled_panel(full_panel, windows, role):
    batch, scales = whole(windows), PanelScales.fit(full_panel)
    values = scaled(full_panel.roles[role].values, getattr(scales, role), full_panel)
    if role == "known":
        values = np.concatenate([full_panel.calendar, values], axis=1)
        found, present = batch.known, batch.known_present
        expected = sliced(full_panel, values, batch, -CONTEXT, HORIZON)
    elif role == "past":
        found, present = batch.past, batch.past_present
        expected = sliced(full_panel, values, batch, -CONTEXT, 0)
    else:
        found = torch.cat([batch.past_target, batch.future_target], dim=1)
        present = torch.cat([batch.past_observed, batch.future_observed], dim=1)
        expected = sliced(full_panel, values, batch, -CONTEXT, HORIZON)
    assert found.dtype == torch.float32
    np.testing.assert_array_equal(present.numpy(), ~np.isnan(expected))
    np.testing.assert_array_equal(found.numpy(), np.nan_to_num(expected).astype(np.float32))


def test_codes_are_slices_of_the_panel(full_panel, windows):
    batch = whole(windows)
    np.testing.assert_array_equal(
        batch.past_codes.numpy(), sliced(full_panel, full_panel.past.codes, batch, -CONTEXT, 0)
    )
    np.testing.assert_array_equal(
        batch.known_codes.numpy(),
        sliced(full_panel, full_panel.known.codes, batch, -CONTEXT, HORIZON),
    )
    np.testing.assert_array_equal(
        batch.static_codes.numpy(), full_panel.static.codes[batch.series.numpy()]
    )
    assert batch.past_codes.dtype == torch.int64


def test_statics_tell_series_apart(windows):
    batch = whole(windows)
    first, second = batch.static[batch.series == 0], batch.static[batch.series == 1]
    assert (first == -1).all()
    assert (second == 1).all()


def test_time_is_counted_from_the_origin(windows):
    assert whole(windows).time[0].tolist() == [-4, -3, -2, -1, 0, 1]


def test_the_horizon_is_never_in_the_context(full_panel, windows):
    batch = whole(windows)
    target = full_panel.target.values.copy()
    changed = full_panel.with_target(target)
    for number in range(len(windows)):
        series, origin = int(batch.series[number]), int(batch.origin[number])
        target[:] = full_panel.target.values
        target[full_panel.index.starts[series] + origin :] = 1e6
        other = WindowDataset(
            changed, context=CONTEXT, horizon=HORIZON, scales=PanelScales.fit(full_panel)
        )[number]
        assert torch.equal(other.past_target[0], batch.past_target[number])
        assert not torch.equal(other.future_target[0], batch.future_target[number])


def test_one_window_is_a_batch_of_one(windows):
    everything = whole(windows)
    for number in (0, 3, len(windows) - 1):
        one = windows[number]
        for name, field in zip(one._fields, one, strict=True):
            assert field.shape[0] == 1, name
            assert torch.equal(field[0], getattr(everything, name)[number]), name


def test_negative_numbers_count_from_the_end(windows):
    assert torch.equal(windows[-1].past_target, windows[len(windows) - 1].past_target)


@pytest.mark.parametrize("beyond", [11, -12])
def test_a_number_beyond_the_end_is_an_error(windows, beyond):
    assert len(windows) == 11
    with pytest.raises(IndexError, match="of 11"):
        windows[beyond]


def test_absent_covariates_have_width_0():
    windows = WindowDataset(read_panel(np.arange(10.0)), context=4, horizon=2)
    batch = windows[0]
    assert batch.past.shape == (1, 4, 0)
    assert batch.known.shape == (1, 6, 0)
    assert batch.static.shape == (1, 0)
    assert batch.past_codes.shape == (1, 4, 0)
    assert batch.known_codes.shape == (1, 6, 0)
    assert batch.static_codes.shape == (1, 0)


def test_the_calendar_is_first_among_what_is_known(full_panel, windows):
    batch = whole(windows)
    width = full_panel.calendar.shape[1]
    assert width > 0
    expected = sliced(full_panel, full_panel.calendar, batch, -CONTEXT, HORIZON)
    np.testing.assert_array_equal(batch.known[..., :width].numpy(), expected)
    assert batch.known_present[..., :width].all()


def test_sizes_say_what_the_batch_holds(full_panel, windows):
    sizes, batch = windows.sizes, windows[0]
    assert sizes == sizes_of(full_panel, context=CONTEXT, horizon=HORIZON)
    assert batch.past_target.shape[1:] == (sizes.context, sizes.target)
    assert batch.past.shape[-1] == sizes.past == 1
    assert batch.known.shape[1:] == (sizes.steps, sizes.known)
    assert batch.static.shape[-1] == sizes.static == 1
    assert (sizes.past_cardinalities, sizes.known_cardinalities, sizes.static_cardinalities) == (
        (4,),
        (3,),
        (3,),
    )


def test_other_windows_share_the_tensors(full_panel, windows):
    index = WindowIndex.of_rows(full_panel.index.starts, context=CONTEXT, horizon=HORIZON, begin=8)
    other = windows.at(index)
    assert len(other) < len(windows)
    assert other._target is windows._target
    assert len(windows) == 11


def test_scales_come_from_the_rows_before_the_ends(full_panel):
    ends = np.array([6, 5])
    target = full_panel.target.values.copy()
    changed = full_panel.with_target(target)
    for series, end in enumerate(ends):
        target[full_panel.index.starts[series] + end : full_panel.index.starts[series + 1]] = 1e9
    before, after = PanelScales.fit(full_panel, ends), PanelScales.fit(changed, ends)
    np.testing.assert_array_equal(before.target.offset, after.target.offset)
    np.testing.assert_array_equal(before.target.scale, after.target.scale)


def test_scales_follow_series_to_other_places(full_panel):
    own = PanelScales.fit(full_panel)
    other = PanelScales.fit(full_panel.select([1, 0, 1]))
    matched = own.match(np.array([1, -1, 0]), other)
    np.testing.assert_array_equal(matched.target.offset[0], own.target.offset[1])
    np.testing.assert_array_equal(matched.target.offset[1], other.target.offset[1])
    np.testing.assert_array_equal(matched.target.offset[2], own.target.offset[0])
    assert matched.static is own.static


def test_the_panel_is_not_touched(full_panel):
    before = full_panel.target.values.copy()
    batch = whole(WindowDataset(full_panel, context=CONTEXT, horizon=HORIZON))
    batch.past_target.fill_(7)
    batch.past_codes.fill_(0)
    np.testing.assert_array_equal(full_panel.target.values, before)


def test_a_stock_loader_works(windows):
    loader = DataLoader(
        windows,
        batch_size=4,
        sampler=RandomSampler(windows, generator=torch.Generator().manual_seed(1)),
        collate_fn=lambda batch: batch,
        generator=torch.Generator(),
    )
    batches = list(loader)
    assert [len(batch.origin) for batch in batches] == [4, 4, 3]
    seen = {
        (int(s), int(o))
        for batch in batches
        for s, o in zip(batch.series, batch.origin, strict=True)
    }
    assert len(seen) == len(windows)


def test_no_row_is_built_in_python(windows, monkeypatch):
    calls = []
    gather = WindowDataset.gather
    monkeypatch.setattr(WindowDataset, "gather", lambda *rest: calls.append(1) or gather(*rest))
    assert len(windows.__getitems__(list(range(11))).origin) == 11
    assert len(calls) == 1


@given(
    st.lists(st.integers(1, 10), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(1, 3),
    st.data(),
)
def test_any_windows_in_any_order_are_what_was_asked_for(lengths, context, horizon, data):
    starts = np.concatenate([[0], np.cumsum(lengths)])
    index = WindowIndex.of_rows(starts, context=context, horizon=horizon)
    rows = int(starts[-1])
    if len(index) == 0:
        return
    panel = read_panel(np.arange(float(rows))[:, None]) if rows > 1 else None
    if panel is None:
        return
    ids, starts = pd.RangeIndex(len(lengths)), starts.astype(np.int64)
    panel = replace(
        panel,
        index=replace(panel.index, ids=ids, starts=starts),
        static=panel.static.blank(len(lengths)),
    )
    ones = PanelScales.fit(panel)
    windows = WindowDataset(panel, context=context, horizon=horizon, scales=ones)
    numbers = data.draw(st.lists(st.integers(0, len(index) - 1), min_size=1, max_size=6))
    batch = windows.__getitems__(numbers)
    restored = ones.target.restore(
        torch.cat([batch.past_target, batch.future_target], 1).numpy(), batch.series
    )[..., 0]
    first = starts[batch.series] + batch.origin.numpy() - context
    expected = first[:, None] + np.arange(context + horizon)
    np.testing.assert_allclose(restored, expected, atol=1e-4)


# a gap, lags, weights, filling, uneven steps


def test_a_gap_is_not_looked_at(full_panel):
    gap = 3
    windows = WindowDataset(full_panel, context=CONTEXT, horizon=HORIZON, gap=gap)
    lengths = full_panel.index.lengths
    assert len(windows) == sum(lengths - CONTEXT - gap - HORIZON + 1)
    batch, plain = whole(windows), WindowDataset(full_panel, context=CONTEXT, horizon=HORIZON)
    early = plain.gather(batch.series, batch.origin - gap)
    late = plain.gather(batch.series, batch.origin)
    for name in ("past_target", "past_observed", "past", "past_present", "past_codes"):
        assert torch.equal(getattr(batch, name), getattr(early, name)), name
    for name in ("future_target", "future_observed"):
        assert torch.equal(getattr(batch, name), getattr(late, name)), name
    for name in ("known", "known_present", "known_codes"):
        found = getattr(batch, name)
        assert torch.equal(found[:, :CONTEXT], getattr(early, name)[:, :CONTEXT]), name
        assert torch.equal(found[:, CONTEXT:], getattr(late, name)[:, CONTEXT:]), name
    assert batch.time[0].tolist() == [-4, -3, -2, -1, 3, 4]


def test_lags_are_earlier_targets(full_panel):
    windows = WindowDataset(full_panel, context=CONTEXT, horizon=HORIZON, lags=(2, 5))
    plain = WindowDataset(full_panel, context=CONTEXT, horizon=HORIZON)
    batch, before = whole(windows), whole(plain)
    own = before.known.shape[-1]
    assert windows.sizes.known == batch.known.shape[-1] == own + 2 * 2
    assert torch.equal(batch.known[..., :own], before.known)
    scales = PanelScales.fit(full_panel).target
    values = scaled(full_panel.target.values, scales, full_panel)
    for place, lag in enumerate((2, 5)):
        moved = np.full_like(values, np.nan)
        for first, last in zip(full_panel.index.starts, full_panel.index.starts[1:], strict=False):
            moved[first + lag : last] = values[first : last - lag]
        expected = sliced(full_panel, moved, batch, -CONTEXT, HORIZON)
        columns = slice(own + 2 * place, own + 2 * place + 2)
        there = batch.known_present[..., columns].numpy()
        np.testing.assert_array_equal(there, ~np.isnan(expected))
        found = batch.known[..., columns].numpy()
        np.testing.assert_array_equal(found, np.nan_to_num(expected).astype(np.float32))


def test_a_window_weighs_what_its_forecast_rows_do(full_panel):
    weights = np.arange(full_panel.n_rows, dtype=np.float64)
    panel = replace(full_panel, weight=weights)
    batch = whole(WindowDataset(panel, context=CONTEXT, horizon=HORIZON))
    expected = sliced(panel, weights[:, None], batch, 0, HORIZON).mean(axis=(1, 2))
    np.testing.assert_allclose(batch.weight.numpy(), expected)


def test_what_is_interpolated_is_seen_but_never_an_answer(full_panel):
    panel = replace(full_panel, policy=Policy(missing="interpolate"))
    windows = WindowDataset(panel, context=CONTEXT, horizon=HORIZON)
    batch, masked = whole(windows), whole(WindowDataset(full_panel, context=CONTEXT, horizon=2))
    assert torch.equal(batch.future_observed, masked.future_observed)
    assert torch.equal(batch.future_target, masked.future_target)
    # rows 3 and 4 of the first target are missing: origin 6 sees rows 2 to 5
    at = batch.origin.tolist().index(6)
    line = batch.past_target[at, :, 0]
    np.testing.assert_allclose(line[1:3], np.interp([1, 2], [0, 3], line[[0, 3]]), rtol=1e-5)
    assert batch.past_observed[at, :, 0].all() and not masked.past_observed[at, 1:3, 0].any()
    # origin 5 ends in the gap: what comes after it is not looked at
    assert batch.past_observed[at - 1, :, 0].tolist() == [True, True, False, False]


def test_uneven_steps_are_told_by_the_stamps():
    stamps = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-05", "2024-01-06", "2024-01-07"])
    frame = pd.DataFrame({"y": np.arange(5.0)}, index=stamps)
    panel = read_panel(frame, Schema(freq="irregular"))
    batch = whole(WindowDataset(panel, context=3, horizon=1))
    np.testing.assert_allclose(batch.time.numpy(), [[-5, -4, -1, 0], [-5, -2, -1, 0]])


def test_scales_of_another_kind(full_panel):
    shared = PanelScales.fit(full_panel, kind="global")
    assert np.ptp(shared.target.offset, axis=0).max() == np.ptp(shared.known.scale, axis=0).max()
    raw = PanelScales.fit(full_panel, kind="none")
    assert (raw.target.scale == 1).all() and (raw.known.scale != 1).all()


def test_sizes_say_which_of_the_known_are_calendar_and_lags():
    stamps = pd.date_range("2024-01-01", periods=60, freq="h")
    table = pd.DataFrame({"y": np.arange(60.0), "plan": np.arange(60.0) * 2}, index=stamps)
    panel = read_panel(table, Schema(target="y", known=["plan"]))
    windows = WindowDataset(panel, context=4, horizon=2, lags=[3, 5])
    sizes, batch = windows.sizes, windows[0]
    assert sizes.calendar == panel.calendar.shape[1] > 0
    assert (sizes.known, sizes.lagged) == (sizes.calendar + 1 + 2, 2)
    plan = batch.known[0, :, sizes.calendar]
    torch.testing.assert_close(plan[1:] - plan[:-1], (plan[1] - plan[0]).expand(5))
    assert batch.location.shape == batch.scale.shape == (1, 1, 1)


def test_days_off_count_as_a_covariate_and_not_as_a_cycle_of_the_calendar():
    stamps = pd.date_range("2024-01-01", periods=60)
    table = pd.DataFrame({"y": np.arange(60.0), "plan": np.arange(60.0)}, index=stamps)
    schema = Schema(target="y", known=["plan"], holidays=["2024-01-05"])
    windows = WindowDataset(read_panel(table, schema), context=4, horizon=2)
    sizes, batch = windows.sizes, windows[0]
    assert sizes.known == sizes.calendar + 2
    assert batch.known[0, :, sizes.calendar].tolist() == [0, 0, 0, 0, 1, 0]
