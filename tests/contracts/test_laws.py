"""Laws: what must come out unchanged, or changed in a known way, when the input is changed."""

import numpy as np
import pandas as pd
import pytest
import registry
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tsformer import Forecaster, Policy, Schema, models
from tsformer.heads import Quantiles
from tsformer.models import Architecture, WindowScaling
from tsformer.panels import Scales
from tsformer.reading import read_panel
from tsformer.training import ForecastModule
from tsformer.windows import PanelScales, WindowDataset

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")

MODELS = registry.gathered(registry.MODELS, "laws")
LEVELS = [0.1, 0.9]
# without weights, in closed form, and by gradient with and without dropped queries
FORECASTERS = {
    "naive": registry.gathered(registry.BASELINES, "forecasters")["seasonal_naive"],
    "linear": Forecaster(MODELS["linear"], **registry.FIT),
    "informer": registry.trained(MODELS["informer"]),
    "transformer": registry.trained(MODELS["transformer"]),
}
NETWORKS = {name: one for name, one in FORECASTERS.items() if name != "naive"}
every = pytest.mark.parametrize("forecaster", FORECASTERS.values(), ids=FORECASTERS)
every_network = pytest.mark.parametrize("forecaster", NETWORKS.values(), ids=NETWORKS)

NO_SHRINKING = [Phase.explicit, Phase.reuse, Phase.generate]  # each example may be a fit
few = settings(max_examples=5, deadline=None)
many = settings(max_examples=40, deadline=None)


def wave(rows, seed=0):
    noise, steps = np.random.default_rng(seed).normal(size=rows), np.arange(rows)
    return 3 * np.sin(steps * 0.9 + seed) + 0.02 * steps + 0.5 * noise


def daily(values):
    return pd.DataFrame({"y": values}, index=pd.date_range("2024-01-01", periods=len(values)))


def shops(rows=(50, 60, 70), names="bca"):
    parts = [
        pd.DataFrame(
            {"shop": name, "day": pd.date_range("2024-01-01", periods=n), "y": wave(n, at) * 9**at}
        )
        for at, (name, n) in enumerate(zip(names, rows, strict=True))
    ]
    return pd.concat(parts, ignore_index=True)


def forecasts(forecaster, history=None, future=None):
    """Shop to its forecast, as an array of steps and columns."""
    quantiles = LEVELS if hasattr(forecaster, "head") else None
    made = forecaster.predict(history, future=future, quantiles=quantiles)
    return {
        shop: rows.drop(columns=["shop", "day"]).to_numpy() for shop, rows in made.groupby("shop")
    }


def near(one, other, tolerance):
    """Equal to a share of what the values themselves vary by."""
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * max(np.ptp(other), 1e-300))


# windows


@many
@given(
    lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5),
    context=st.integers(1, 6),
    horizon=st.integers(1, 6),
)
def test_every_window_lies_in_one_series_and_all_are_there(lengths, context, horizon):
    parts = [
        pd.DataFrame({"shop": f"s{at}", "day": np.arange(rows), "y": at * 100.0 + np.arange(rows)})
        for at, rows in enumerate(lengths)
    ]
    schema = Schema(series="shop", time="day", target="y", freq=1)
    panel = read_panel(pd.concat(parts), schema)
    windows = WindowDataset(
        panel, context=context, horizon=horizon, scales=PanelScales.fit(panel, kind="none")
    )
    counts = [max(0, rows - context - horizon + 1) for rows in lengths]
    assert len(windows) == sum(counts)
    if not len(windows):
        return
    batch = windows.__getitems__(range(len(windows)))
    series, origin = batch.series.numpy(), batch.origin.numpy()
    # the values say which series and row they are from
    past, future = batch.past_target[..., 0].numpy(), batch.future_target[..., 0].numpy()
    start = series[:, None] * 100 + origin[:, None]
    assert (past == start + np.arange(-context, 0)).all()
    assert (future == start + np.arange(horizon)).all()
    assert batch.past_observed.all() and batch.future_observed.all()
    assert (origin >= context).all()
    assert (origin + horizon <= np.array(lengths)[series]).all()
    assert np.bincount(series, minlength=len(lengths)).tolist() == counts
    for one in set(series.tolist()):
        assert origin[series == one].max() + horizon == lengths[one]
    assert len(set(zip(series.tolist(), origin.tolist(), strict=True))) == len(windows)


# scales


@many
@given(
    kind=st.sampled_from(["series", "global", "robust", "none"]),
    exponents=st.lists(st.integers(-30, 30), min_size=1, max_size=3),
    level=st.floats(-1e3, 1e3),
    constant=st.booleans(),
    seed=st.integers(0, 99),
)
def test_scaling_is_undone_from_1e_30_to_1e30(kind, exponents, level, constant, seed):
    random, rows = np.random.default_rng(seed), 12
    starts = np.arange(len(exponents) + 1) * rows
    sizes = 10.0 ** np.repeat(np.array(exponents, float), rows)[:, None]
    values = (level + (0 if constant else 1) * random.normal(size=(len(sizes), 2))) * sizes
    scales = Scales.fit(values, starts, kind=kind)
    scaled = scales.apply(values, starts)
    assert scaled.dtype == np.float32 and np.isfinite(scaled).all()
    back = scales.restore(scaled, np.arange(len(exponents)).repeat(rows))
    away = np.abs(values - scales.offset.repeat(rows, axis=0))
    # float32 after scaling, float64 before; below 1e-38 scaled values lose digits
    allowed = 1e-6 * away + 1e-14 * np.abs(values) + 1e-37 * scales.scale.repeat(rows, axis=0)
    assert (np.abs(back - values) <= allowed).all()
    if constant and kind in ("series", "robust"):
        np.testing.assert_array_equal(back, values)


# the units of the target


def in_units_of(values, forecast, *, size, level):
    """A forecast of ``size * values + level``, in deviations of the values."""
    return (forecast.to_numpy() - level) / (size * values.std())


@pytest.mark.parametrize("scaling", ["window", "last", "series", "robust"])
@pytest.mark.parametrize("name", ["linear", "informer"])
def test_other_units_give_the_same_forecast_in_other_units(name, scaling):
    values = wave(80)
    forecaster = clone(FORECASTERS[name]).set_params(scaling=scaling)
    plain = forecaster.fit(daily(values)).predict(quantiles=LEVELS).to_numpy() / values.std()

    @settings(max_examples=5 if name == "linear" else 3, deadline=None, phases=NO_SHRINKING)
    @given(exponent=st.floats(-12, 12), levels=st.floats(-20, 20))
    def law(exponent, levels):
        size = 10.0**exponent
        level = levels * size * values.std()
        other = forecaster.fit(daily(size * values + level)).predict(quantiles=LEVELS)
        made = in_units_of(values, other, size=size, level=level)
        np.testing.assert_allclose(made, plain, rtol=0, atol=1e-4)

    law()


@every
def test_a_history_in_other_units_does_too(forecaster):
    values = wave(80)
    forecaster = clone(forecaster).fit(daily(values))
    plain = forecaster.predict(daily(values)).to_numpy() / values.std()

    @settings(max_examples=10, deadline=None, phases=NO_SHRINKING)
    @given(size=st.floats(0.01, 100), level=st.floats(-50, 50))
    def law(size, level):
        # scaled as the fitted series was: what varies 100 times less has as many digits less
        other = forecaster.predict(daily(size * values + level))
        made = in_units_of(values, other, size=size, level=level)
        np.testing.assert_allclose(made, plain, rtol=0, atol=1e-4 * max(1, abs(level) / size))

    law()


# the order of rows, series and columns


@every
def test_the_order_of_rows_and_series_changes_nothing(forecaster):
    frame = shops()
    forecaster = clone(forecaster)
    plain = forecasts(forecaster.fit(frame))
    shuffled = frame.sample(frac=1, random_state=3)
    again = forecasts(forecaster.fit(shuffled))
    turned = forecasts(forecaster, frame[::-1])
    for shop, expected in plain.items():
        np.testing.assert_array_equal(again[shop], expected)
        np.testing.assert_array_equal(turned[shop], expected)


@pytest.mark.parametrize("name", ["naive", "linear"])  # no shuffled training, so one result
@few
@given(names=st.permutations("pqr"))
def test_the_names_of_series_change_nothing(name, names):
    forecaster = clone(FORECASTERS[name])
    plain = forecasts(forecaster.fit(shops(names="pqr")))
    renamed = forecasts(forecaster.fit(shops(names=names)))
    for shop, other in zip("pqr", names, strict=True):
        near(renamed[other], plain[shop], 1e-4)


@every
def test_a_forecast_does_not_depend_on_the_series_beside_it(forecaster):
    frame = shops()
    forecaster = clone(forecaster).fit(frame)
    together = forecasts(forecaster)
    for chosen in (["a"], ["b", "c"], ["c"]):
        alone = forecasts(forecaster, frame[frame["shop"].isin(chosen)])
        assert list(alone) == chosen
        for shop in chosen:
            near(alone[shop], together[shop], 1e-5)


@every_network
def test_the_order_of_columns_changes_nothing(forecaster):
    frame = shops()
    random = np.random.default_rng(0)
    roles = {"known": ["promo", "price"], "past": ["wind", "visitors"], "static": ["size", "age"]}
    for name in roles["known"] + roles["past"]:
        frame[name] = random.normal(size=len(frame))
    frame["size"], frame["age"] = frame["shop"].map(ord) % 5, frame["shop"].map(ord) % 3
    schema = Schema(series="shop", time="day", target="y", **roles)
    forecaster = clone(forecaster).set_params(schema=schema)
    future = frame.groupby("shop").tail(4)[["shop", "day", *roles["known"]]].copy()
    future["day"] += pd.Timedelta(days=4)
    plain = forecasts(forecaster.fit(frame), future=future)

    @settings(max_examples=2, deadline=None, phases=NO_SHRINKING)
    @given(order=st.permutations(list(frame)), later=st.permutations(list(future)))
    def law(order, later):
        again = forecasts(forecaster.fit(frame[order]), future=future[later])
        for shop, expected in plain.items():
            np.testing.assert_array_equal(again[shop], expected)
        turned = forecasts(forecaster, frame[order[::-1]], future=future[later[::-1]])
        for shop, expected in plain.items():
            np.testing.assert_array_equal(turned[shop], expected)

    law()


# what is masked


def test_every_public_model_is_here():
    assert {type(model) for model in MODELS.values()} == registry.public(models, Architecture)


def batch_with_gaps():
    frame = shops((30, 26, 34))
    random = np.random.default_rng(1)
    for name in ("price", "wind"):
        frame[name] = random.normal(size=len(frame))
    for name in ("y", "price", "wind"):
        frame.loc[random.random(len(frame)) < 0.25, name] = np.nan
    schema = Schema(series="shop", time="day", target="y", known=["price"], past=["wind"])
    panel = read_panel(frame, schema, Policy(missing="mask"))
    windows = WindowDataset(panel, context=8, horizon=4)
    return windows.sizes, windows.__getitems__(range(0, len(windows), 5))


@pytest.mark.parametrize("scaling", ["window", "last", "none"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_what_is_masked_may_be_anything(model, scaling):
    sizes, batch = batch_with_gaps()
    for mask in (batch.past_observed, batch.past_present, batch.future_observed):
        assert not mask.all()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = model.build(sizes, Quantiles())
        with torch.no_grad():
            for weight in network.parameters():
                if not weight.any():  # what starts at 0 would hide what it is multiplied with
                    weight.normal_(std=0.3)
        network.prepare([batch], [batch], WindowScaling(scaling).normaliser)
        module = ForecastModule(network, network.head, scaling=scaling)

    def forecast_and_loss(batch):
        with torch.no_grad():
            forecast = module.eval()(batch)
        return forecast, module.train().training_step(batch, 0).detach()

    forecast, loss = forecast_and_loss(batch)
    assert forecast.isfinite().all() and loss.isfinite()

    @few
    @given(values=st.lists(st.floats(-(2.0**99), 2.0**99, width=32), min_size=4, max_size=4))
    def law(values):
        changed = batch._replace(
            past_target=batch.past_target.where(batch.past_observed, values[0]),
            past=batch.past.where(batch.past_present, values[1]),
            known=batch.known.where(batch.known_present, values[2]),
            future_target=batch.future_target.where(batch.future_observed, values[3]),
        )
        again, same_loss = forecast_and_loss(changed)
        assert torch.equal(again, forecast)
        assert torch.equal(same_loss, loss)

    law()
