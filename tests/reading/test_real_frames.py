"""Real data sets from the frame to the forecast, each with its roles and its dirt.

Only the rows that a test needs are fitted, with a ridge regression or one epoch of a tiny network;
what is counted is counted in the whole set.
"""

import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, Policy, Training, describe, load_dataset
from tsformer.errors import (
    DuplicateTimestamp,
    MissingColumn,
    MissingFuture,
    MissingValues,
    WrongFrequency,
)
from tsformer.models import Informer, Linear
from tsformer.panels import Schema
from tsformer.reading import read_panel

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.usefixtures("shared_data"),
    # one epoch of a tiny network, or a ridge on a few rows: no skill is promised
    pytest.mark.filterwarnings("ignore:on the validation rows:UserWarning"),
]

MASK = Policy(missing="mask")
LEVELS = [0.1, 0.9]


def tiny():
    return Informer(d_model=8, n_heads=2, d_ff=16, encoder_layers=1)


def quick():
    return Training(epochs=1, max_time=3, batch_size=256)


def in_order(frame, schema):
    return frame.sort_values(keys(schema), ignore_index=True)


def keys(schema):
    return [name for name in (schema.series, schema.time) if name is not None]


def cut(frame, schema, rows):
    """The frame without the last rows of each series, and those rows."""
    if schema.series is None:
        return frame.iloc[:-rows], frame.iloc[-rows:].reset_index(drop=True)
    late = frame.groupby(schema.series, observed=True).cumcount(ascending=False) < rows
    return frame[~late], frame[late].reset_index(drop=True)


def first_series(frame, schema, count, every=1):
    names = pd.unique(frame[schema.series].astype("object"))[::every][:count]
    return frame[frame[schema.series].isin(names)].reset_index(drop=True)


def forecast_of(forecaster, data, held, schema):
    """Fit, predict, and check all that holds for any forecast."""
    forecaster.fit(data)
    future = held[[*keys(schema), *schema.known]] if schema.known else None
    made = forecaster.predict(future=future, quantiles=LEVELS)
    targets = [schema.target] if isinstance(schema.target, str) else list(schema.target)
    names = [name + level for name in targets for level in ("", "_q0.1", "_q0.9")]
    assert sorted(made.columns) == sorted([*keys(schema), *names])
    wanted = held[keys(schema)]
    for name in keys(schema):
        assert made[name].tolist() == wanted[name].tolist(), name
    assert np.isfinite(made[names].to_numpy()).all()
    for name in targets:
        assert (made[f"{name}_q0.1"] <= made[f"{name}_q0.9"]).all()
    return made


def test_weather_names_its_codes_its_duplicate_and_its_gap(shared_data):
    raw = pd.read_csv(shared_data / "ltsf" / "weather.csv.gz")
    report = describe(raw, horizon=24, context=48, model=Linear())
    errors = [one.text for one in report.findings if one.level == "error"]
    assert report.exit_code == 2 and len(errors) == 2
    assert "2020-05-12 06:00:00 (row 19044), 1 in all" in errors[0]
    assert "after 2020-05-29 09:30:00 comes 2020-05-29 11:10:00" in errors[1]
    codes = [one.text.split(", far")[0] for one in report.findings if "-9999" in one.text]
    assert len(codes) == 3
    for text, (name, count, first) in zip(
        codes,
        [
            ("wv (m/s)", 1, "2020-02-20 07:40:00"),
            ("max. PAR", 30, "2020-04-30 11:00:00"),
            ("OT", 50, "2020-02-20 07:30:00"),
        ],
        strict=True,
    ):
        assert f"column '{name}" in text
        assert f"holds -9999 in {count} rows, first at {first}" in text

    part = raw.iloc[18_000:22_000]  # both the duplicate and the gap
    with pytest.raises(DuplicateTimestamp, match=r"2020-05-12 06:00:00 \(row 1044\), 1 in all"):
        Forecaster(Linear(), horizon=6).fit(part)
    part = part.drop_duplicates("date").replace(-9999, np.nan)
    with pytest.raises(WrongFrequency, match="after 2020-05-29 09:30:00"):
        Forecaster(Linear(), horizon=6, policy=MASK).fit(part)
    schema = Schema(time="date", target=("T (degC)", "rh (%)"), past=("wv (m/s)", "OT"))
    policy = Policy(missing="mask", gaps="mask")
    forecaster = Forecaster(Linear(), horizon=6, context=36, schema=schema, policy=policy)
    data, held = cut(part, schema, 6)
    held = held.assign(date=pd.to_datetime(held["date"]))
    made = forecast_of(forecaster, data, held, schema)
    assert made["rh (%)"].between(0, 110).all()


def test_weather_by_name_counts_rows():
    weather = load_dataset("weather", download=False)
    data, held = weather.frame.iloc[-3_000:-6], weather.frame.iloc[-6:]
    made = Forecaster(Linear(), horizon=6, context=36, schema=weather.schema).fit(data).predict()
    assert made.index.tolist() == held.index.tolist()
    assert list(made.columns) == list(weather.schema.target)
    assert np.isfinite(made.to_numpy()).all()


def test_metro_traffic_counts_its_repeated_stamps_and_absent_hours():
    metro = load_dataset("metro_traffic", download=False)
    with pytest.raises(DuplicateTimestamp, match=r"2012-10-10 07:00:00 \(row 179\), 7629 in all"):
        read_panel(metro.frame, metro.schema)
    hours = metro.frame.drop_duplicates("time")
    policy = Policy(missing="mask", gaps="mask")
    panel = read_panel(hours, metro.schema, policy)
    assert (panel.n_rows, int(np.isnan(panel.target.values).sum())) == (52_551, 11_976)
    assert "None" in panel.categories["holiday"]  # a word, not a gap
    data, held = cut(hours.iloc[-3_000:], metro.schema, 24)
    forecaster = Forecaster(
        tiny(), horizon=24, context=48, schema=metro.schema, policy=policy, training=quick()
    )
    forecast_of(forecaster, data, held, metro.schema)


def test_air_quality_trains_around_its_gaps():
    air = load_dataset("air_quality_valencia", download=False)
    with pytest.raises(MissingValues, match=r"'so2' holds NaN: first at 2019-01-09 14:00.*1836 in"):
        read_panel(air.frame, air.schema)
    panel = read_panel(air.frame, air.schema, MASK)
    assert int(np.isnan(panel.target.values).sum()) == 13_262
    data, held = cut(air.frame.iloc[-6_000:], air.schema, 24)
    assert int(data.isna().sum().sum()) > 1_000
    for model in (Linear(), tiny()):
        forecaster = Forecaster(
            model, horizon=24, context=48, schema=air.schema, policy=MASK, training=quick()
        )
        forecast_of(forecaster, data, held, air.schema)


def test_nn5_forecasts_every_machine():
    nn5 = load_dataset("nn5_daily", download=False)
    data, held = cut(nn5.frame, nn5.schema, 14)
    training = Training(batch_size=1024)
    forecaster = Forecaster(
        Linear(), horizon=14, context=28, schema=nn5.schema, policy=MASK, training=training
    )
    made = forecast_of(forecaster, data, held, nn5.schema)
    assert made["series"].nunique() == 111
    error = np.nanmean(np.abs(made["withdrawals"] - held["withdrawals"]))
    level = np.nanmean(np.abs(held["withdrawals"] - data["withdrawals"].mean()))
    assert error < 0.8 * level


def test_carparts_are_mostly_zero_and_never_negative():
    parts = load_dataset("carparts", download=False)
    frame = in_order(parts.frame, parts.schema)
    panel = read_panel(frame, parts.schema, MASK)
    seen = panel.target.values[~np.isnan(panel.target.values)]
    assert (panel.n_series, len(panel.target.values) - len(seen)) == (2_674, 6_122)
    assert (seen == 0).mean() == pytest.approx(0.748, abs=0.0005)
    some = first_series(frame, parts.schema, 300)
    data, held = cut(some, parts.schema, 6)
    low = []
    for nonnegative in (False, True):
        forecaster = Forecaster(
            Linear(), horizon=6, context=12, schema=parts.schema, policy=MASK,
            nonnegative=nonnegative,
        )  # fmt: skip
        made = forecast_of(forecaster, data, held, parts.schema)
        low.append(made.select_dtypes("number").to_numpy().min())
    assert low[0] < 0 and low[1] == 0


def test_stallion_has_roles_of_every_kind():
    stallion = load_dataset("stallion", download=False)
    frame = in_order(stallion.frame, stallion.schema)
    panel = read_panel(frame, stallion.schema)
    assert (panel.n_series, set(panel.index.lengths)) == (350, {60})
    assert [len(panel.categories[name]) for name in ("agency", "sku")] == [58, 25]
    assert panel.static.values.shape == (350, 2) and panel.static.codes.shape == (350, 2)
    data, held = cut(frame, stallion.schema, 6)
    linear = Forecaster(Linear(), horizon=6, context=12, schema=stallion.schema)
    forecast_of(linear, data, held, stallion.schema)
    network = Forecaster(
        tiny(), horizon=6, context=12, schema=stallion.schema, training=quick(), nonnegative=True
    )
    some = first_series(frame, stallion.schema, 60)  # the network, on fewer series
    data, held = cut(some, stallion.schema, 6)
    forecast_of(network, data, held, stallion.schema)
    with pytest.raises(MissingColumn, match="'easter_day'"):
        network.predict(future=held[["series", "date", "christmas"]])


def test_walmart_stores_are_whole_numbers():
    walmart = load_dataset("walmart", download=False)
    data, held = cut(walmart.frame, walmart.schema, 13)
    forecaster = Forecaster(tiny(), horizon=13, context=52, schema=walmart.schema, training=quick())
    made = forecast_of(forecaster, data, held, walmart.schema)
    assert made["store"].dtype == np.int64 and made["store"].nunique() == 45
    assert made["date"].dt.day_name().eq("Friday").all()


def test_m4_hourly_has_series_of_different_lengths():
    m4 = load_dataset("m4_hourly", download=False)
    panel = read_panel(m4.frame, m4.schema)
    lengths, counts = np.unique(panel.index.lengths, return_counts=True)
    assert dict(zip(lengths.tolist(), counts.tolist(), strict=True)) == {748: 169, 1008: 245}
    some = first_series(in_order(m4.frame, m4.schema), m4.schema, 42, every=10)
    data, held = cut(some, m4.schema, 48)
    forecaster = Forecaster(Linear(), horizon=48, context=48, schema=m4.schema)
    made = forecast_of(forecaster, data, held, m4.schema)
    assert set(made.groupby("series")["step"].max()) == {748, 1008}


def test_m5_has_prices_that_begin_late():
    m5 = load_dataset("m5_small", download=False)
    with pytest.raises(MissingValues, match=r"'price' holds NaN.*FOODS_1_004.*1057 in all"):
        read_panel(m5.frame, m5.schema)
    data, held = cut(m5.frame, m5.schema, 28)
    for model in (Linear(), tiny()):
        forecaster = Forecaster(
            model, horizon=28, context=28, schema=m5.schema, policy=MASK, training=quick(),
            nonnegative=True,
        )  # fmt: skip
        made = forecast_of(forecaster, data, held, m5.schema)
        assert made.select_dtypes("number").to_numpy().min() >= 0


def test_bike_sharing_puts_its_absent_hours_back():
    bikes = load_dataset("bike_sharing", download=False)
    with pytest.raises(WrongFrequency, match=r"after 2011-01-02 04:00:00 comes .* \(75 such"):
        read_panel(bikes.frame, bikes.schema)
    policy = Policy(gaps="mask")
    panel = read_panel(bikes.frame, bikes.schema, policy)
    assert panel.n_rows == 17_544 == len(bikes.frame) + 165
    assert int(np.isnan(panel.target.values).sum()) == 165
    data, held = cut(bikes.frame.iloc[-4_000:], bikes.schema, 24)
    assert len(pd.date_range(data["time"].iloc[0], data["time"].iloc[-1], freq="h")) > len(data)
    for model in (Linear(), tiny()):
        forecaster = Forecaster(
            model, horizon=24, context=48, schema=bikes.schema, policy=policy, training=quick(),
            nonnegative=True,
        )  # fmt: skip
        forecast_of(forecaster, data, held, bikes.schema)


def test_prices_follow_what_is_known_in_advance():
    nord = load_dataset("epf_np", download=False)
    assert tuple(nord.schema.known) == ("load_forecast", "wind_forecast")
    data, held = cut(nord.frame.iloc[-5_000:], nord.schema, 24)
    forecaster = Forecaster(Linear(), horizon=24, context=48, schema=nord.schema)
    made = forecast_of(forecaster, data, held, nord.schema)
    windy = held.assign(wind_forecast=held["wind_forecast"] + 3_000)[["date", *nord.schema.known]]
    cheaper = forecaster.predict(future=windy)
    assert (cheaper["price"] < made["price"]).mean() > 0.9
    with pytest.raises(MissingFuture, match="'load_forecast'"):
        forecaster.predict()
    with pytest.raises(MissingFuture, match="23 of the 24 rows"):
        forecaster.predict(future=held.iloc[:-1][["date", *nord.schema.known]])
