"""What a window leaves out, fills and weighs: late covariates, weights, lines between values."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from tsformer.errors import InfiniteValues
from tsformer.panels import Panel, Policy, Schema
from tsformer.reading import read_panel
from tsformer.windows import Batch, PanelScales, WindowDataset, WindowIndex

CONTEXT, HORIZON = 4, 2
INTERPOLATE = Policy(missing="interpolate")


def whole(panel: Panel, **given: object) -> Batch:
    windows = WindowDataset(panel, context=CONTEXT, horizon=HORIZON, **given)
    return windows.__getitems__(range(len(windows)))


def of_window(batch: Batch, origin: int) -> int:
    """Position of the window of the first series that forecasts from this row on."""
    return batch.origin.tolist().index(origin)


@pytest.mark.parametrize("edges", [(1, 2), (3, 0), (0, 4)])
def test_the_latest_rows_of_what_arrives_late_are_hidden(full_panel, edges):
    plain, batch = whole(full_panel), whole(full_panel, edges=edges)
    numbers, codes = (CONTEXT - edge for edge in edges)
    assert torch.equal(batch.past[:, :numbers], plain.past[:, :numbers])
    assert torch.equal(batch.past_present[:, :numbers], plain.past_present[:, :numbers])
    assert not batch.past[:, numbers:].any() and not batch.past_present[:, numbers:].any()
    assert torch.equal(batch.past_codes[:, :codes], plain.past_codes[:, :codes])
    assert (
        not batch.past_codes[:, codes:].any() and plain.past_codes[:, codes:].any(dim=(0, 2)).all()
    )
    for name in ("past_target", "known", "known_codes", "future_target"):
        assert torch.equal(getattr(batch, name), getattr(plain, name)), name


def test_rows_that_weigh_nothing_are_no_answer(full_panel):
    weights = np.resize([0.0, 0.25, 3.0, 0.0, 0.0], full_panel.n_rows)
    batch = whole(replace(full_panel, weight=weights))
    plain = whole(full_panel)
    starts = full_panel.index.starts[batch.series.numpy()] + batch.origin.numpy()
    own = torch.from_numpy(weights[starts[:, None] + np.arange(HORIZON)])[..., None]
    counts = own > 0
    assert torch.equal(batch.future_observed, plain.future_observed & counts)
    assert torch.equal(batch.future_target, plain.future_target * counts)
    means = own.sum(dim=(1, 2)) / counts.sum(dim=(1, 2)).clamp(min=1)
    torch.testing.assert_close(batch.weight, means.float())
    assert {round(one, 3) for one in batch.weight.tolist()} == {0.25, 1.625, 3.0, 0.0}
    assert torch.equal(batch.past_target, plain.past_target)


@pytest.mark.parametrize("lags", [(), (2,)])
def test_lines_are_drawn_in_covariates_too(full_panel, lags):
    panel = replace(full_panel, policy=INTERPOLATE)
    batch, plain = whole(panel, lags=lags), whole(full_panel, lags=lags)
    own = plain.known.shape[-1] - 2 * len(lags)
    price = own - 1  # row 7 of the first series is missing, as is row 6 of the wind
    at = of_window(batch, 8)  # rows 4 to 9
    wind = batch.past[at, :, 0]
    assert not plain.past_present[at, 2, 0] and batch.past_present[at].all()
    torch.testing.assert_close(wind[2], (wind[1] + wind[3]) / 2)
    line = batch.known[at, :, price]
    assert batch.known_present[at, 3, price] and not plain.known_present[at, 3, price]
    torch.testing.assert_close(line[3], (line[2] + line[4]) / 2)
    assert torch.equal(batch.known[..., own:], plain.known[..., own:])
    assert torch.equal(batch.known_present[..., own:], plain.known_present[..., own:])
    assert torch.equal(batch.known[..., : own - 1], plain.known[..., : own - 1])


def test_rows_that_were_put_back_are_never_filled(full_panel):
    never = np.zeros(full_panel.n_rows, np.bool_)
    never[7] = True  # the price of this row is missing
    panel = replace(full_panel, policy=INTERPOLATE, masked=never)
    batch = whole(panel)
    assert not batch.known_present[of_window(batch, 8), 3, -1]
    other = whole(replace(panel, masked=np.roll(never, 1)))
    assert other.known_present[of_window(other, 8), 3, -1]


def test_behind_a_gap_lines_and_stamps_are_those_of_the_forecast_rows():
    days = pd.date_range("2024-01-01", periods=16)
    frame = pd.DataFrame({"y": np.arange(16.0), "plan": np.arange(16.0) * 2}, index=days)
    frame.iloc[9, 1] = np.nan
    panel = read_panel(frame, Schema(target="y", known="plan"), INTERPOLATE)
    never = np.zeros(16, np.bool_)
    never[9] = True
    for masked, seen in ((np.zeros(16, np.bool_), True), (never, False)):
        one = replace(panel, masked=masked)
        windows = WindowDataset(one, context=4, horizon=3, gap=2)
        batch = windows.gather(torch.tensor([0]), torch.tensor([8]))  # rows 2 to 5 and 8 to 10
        assert bool(batch.known_present[0, 5, -1]) is seen
        assert batch.time[0].tolist() == [-4, -3, -2, -1, 2, 3, 4]


def test_uneven_stamps_behind_a_gap():
    stamps = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-05", "2024-01-09"])
    panel = read_panel(pd.DataFrame({"y": np.arange(5.0)}, index=stamps), Schema(freq="irregular"))
    windows = WindowDataset(panel, context=2, horizon=1, gap=2)
    step = 1.5  # days between rows, by the median
    np.testing.assert_allclose(windows[0].time[0] * step, [-1 - step, -step, 7 - step], rtol=1e-5)


def test_scales_of_all_roles_follow_series(full_panel):
    own, other = PanelScales.fit(full_panel), PanelScales.fit(full_panel.select([1, 0, 1]))
    for places in ([1, 0, 1], [1, -1, 0]):
        matched = own.match(np.array(places), other)
        for role in ("target", "past", "known"):
            for part in ("offset", "scale"):
                held = getattr(getattr(own, role), part)
                new = getattr(getattr(other, role), part)
                expected = [new[row] if at < 0 else held[at] for row, at in enumerate(places)]
                found = getattr(getattr(matched, role), part)
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("role", ["past", "known"])
def test_scales_of_covariates_come_from_the_rows_before_the_ends(full_panel, role):
    ends = np.array([6, 5])
    columns = full_panel.roles[role]
    values = columns.values.copy()
    for series, end in enumerate(ends):
        values[full_panel.index.starts[series] + end : full_panel.index.starts[series + 1]] = 1e9
    changed = replace(full_panel, **{role: columns.with_values(values)})
    for kind in ("series", "global", "none"):
        before = getattr(PanelScales.fit(full_panel, ends, kind=kind), role)
        after = getattr(PanelScales.fit(changed, ends, kind=kind), role)
        np.testing.assert_array_equal(before.offset, after.offset)
        np.testing.assert_array_equal(before.scale, after.scale)
    apart = getattr(PanelScales.fit(full_panel, ends), role).scale
    shared = getattr(PanelScales.fit(full_panel, ends, kind="global"), role).scale
    assert np.ptp(shared, axis=0).max() == 0 < np.ptp(apart, axis=0).max()


def test_a_value_beyond_float32_is_named_by_column_series_and_place(full_panel):
    scales = PanelScales.fit(full_panel)
    values = full_panel.past.values.copy()
    values[14] = 1e300
    broken = replace(full_panel, past=full_panel.past.with_values(values))
    with pytest.raises(InfiniteValues, match=r"column 'wind'.*'b'.*2024-01-03.*1e\+300 .1 such"):
        WindowDataset(broken, context=CONTEXT, horizon=HORIZON, scales=scales)
    static = full_panel.static.with_values(np.array([[1.0], [1e300]]))
    with pytest.raises(InfiniteValues, match=r"static column 'size'.*'b'"):
        WindowDataset(
            replace(full_panel, static=static), context=CONTEXT, horizon=HORIZON, scales=scales
        )


def test_a_static_that_is_not_known_is_0_in_its_scaled_units(full_panel):
    static = full_panel.static.with_values(np.array([[np.nan], [4.0]]))
    scales = PanelScales.fit(full_panel)
    batch = whole(replace(full_panel, static=static), scales=scales)
    assert set(batch.static[batch.series == 0].ravel().tolist()) == {0.0}
    assert set(batch.static[batch.series == 1].ravel().tolist()) == {1.0}


def test_the_first_window_from_the_end(full_panel):
    windows = WindowDataset(full_panel, context=CONTEXT, horizon=HORIZON)
    first = windows[-len(windows)]
    assert (int(first.series), int(first.origin)) == (0, CONTEXT)


def test_as_many_windows_as_there_are_are_all_of_them():
    index = WindowIndex.of_rows(np.array([0, 30]), context=4, horizon=2)
    assert index.thinned(len(index)) is index
    thin = index.thinned(10)
    assert len(thin) == 10 and thin.thinned(10) is thin and len(thin.thinned(9)) == 9


def test_a_fresh_index_begins_with_the_first_full_window():
    index = WindowIndex.of_rows(np.array([0, 9]), context=0, horizon=2)
    assert index.locate(np.array([0]))[1].tolist() == [0]
