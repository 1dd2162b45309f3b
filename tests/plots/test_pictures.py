import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tsformer.datasets import make_series
from tsformer.errors import MissingColumn, ParameterError
from tsformer.estimators import Drift, SeasonalNaive
from tsformer.evaluation import backtest
from tsformer.panels import Schema
from tsformer.plots import plot_backtest, plot_forecast

FRAME = make_series("trend", 120)


def labels(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def saved(figure, tmp_path):
    path = tmp_path / "picture.png"
    figure.savefig(path)
    return path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("layout", ["column", "index", "period", "zone", "numbers", "series"])
def test_a_forecast_in_any_layout(layout, tmp_path):
    frame = FRAME.set_index("time")
    frame = {
        "column": FRAME,
        "period": frame.to_period("h"),
        "zone": frame.tz_localize("Europe/Paris"),
        "numbers": FRAME.drop(columns="time"),
    }.get(layout, frame)
    history, actual = frame.iloc[:100], frame
    forecast = SeasonalNaive(horizon=12, season_length=24).fit(history)
    made = forecast.predict(quantiles=[0.1, 0.25, 0.5, 0.75, 0.9])
    if layout == "series":
        history, actual = history["value"], actual["value"]
    figure = plot_forecast(history, made, actual=actual)
    assert isinstance(figure, Figure)
    assert labels(figure) == ["history", "actual", "forecast", "80 % interval", "50 % interval"]
    assert figure.axes[0].get_title(loc="left").startswith("value: 12 steps from")
    truth = figure.axes[0].get_lines()[2].get_ydata()  # after the history and the cutoff
    np.testing.assert_array_equal(truth[1:], FRAME["value"].iloc[100:112])
    assert saved(figure, tmp_path)


def test_words_of_a_forecast():
    history = FRAME.iloc[:100]
    made = Drift(horizon=1).fit(history).predict(quantiles=[0.05, 0.9])
    figure = plot_forecast(history, made, title="Load", unit="MW", rows=10)
    axes = figure.axes[0]
    assert (axes.get_title(loc="left"), axes.get_ylabel()) == ("Load", "MW")
    assert labels(figure) == ["history", "forecast", "quantiles 0.05 to 0.9"]
    assert len(axes.get_lines()[0].get_xdata()) == 10


def test_what_cannot_be_drawn():
    history = FRAME.iloc[:100]
    made = Drift(horizon=3).fit(history).predict()
    with pytest.raises(MissingColumn, match="no column 'load'"):
        plot_forecast(history, made, target="load")
    with pytest.raises(MissingColumn, match="share no column"):
        plot_forecast(history, made.rename(columns={"value": "load"}))
    panel = make_series("panel", 50).drop(columns="series")
    with pytest.raises(ParameterError, match=r"holds several series.*series="):
        plot_forecast(panel, made, target="value")
    with pytest.raises(MissingColumn, match="no column 'shop'"):
        plot_forecast(history, made, series="shop")


@pytest.mark.parametrize("layout", ["columns", "index", "numbers"])
def test_several_series_stand_beside_one_another_the_largest_first(layout, tmp_path):
    panel = make_series("panel", 60, series=9)
    number = panel["series"].str[1:].astype(int)
    panel["value"] += 100.0 * number
    if layout == "numbers":
        panel["series"] = number
    if layout == "index":
        panel = panel.set_index(["series", "time"])
    schema = Schema(series="series", target="value") if layout == "numbers" else None
    made = Drift(horizon=3, schema=schema).fit(panel).predict(quantiles=[0.1, 0.9])
    held = made.copy()
    figure = plot_forecast(
        panel, made, target="value", series="series", held_out=held, title="By Drift", note="fair"
    )
    names = [axes.get_title(loc="left") for axes in figure.axes]
    assert len(names) == 6
    assert figure.get_suptitle() == "By Drift\nfair; 6 of 9 series are shown, by their level"
    bands = {one.get_label() for one in figure.axes[0].collections}
    assert bands == {"80 % interval", "_"} and "_" not in labels(figure)
    sizes = [int(name.removeprefix("s")) for name in names]
    assert sizes == sorted(sizes, reverse=True) and {max(number), min(number)} <= set(sizes)
    assert labels(figure)[0] == "history" and "held-out forecast" in labels(figure)
    assert saved(figure, tmp_path)
    if layout == "columns":
        assert len(plot_forecast(panel, made).axes) == 6


def test_a_held_out_forecast_is_drawn_over_its_rows():
    history = FRAME.iloc[:100]
    made = Drift(horizon=5).fit(history).predict()
    held = Drift(horizon=5).fit(history[:95]).predict()
    figure = plot_forecast(history, made, held_out=held, note="mean error 2")
    assert labels(figure) == ["history", "forecast", "held-out forecast"]
    (line,) = [one for one in figure.axes[0].get_lines() if one.get_label() == "held-out forecast"]
    np.testing.assert_array_equal(line.get_ydata()[1:], held["value"])
    assert line.get_ydata()[0] == history["value"].iloc[94]
    assert [text.get_text() for text in figure.axes[0].texts] == ["mean error 2"]


def test_a_backtest(tmp_path):
    frame = make_series("panel", 120, series=2)
    result = backtest(Drift(horizon=6), frame, folds=5, quantiles=[0.1, 0.9])
    figure = result.plot("s1", folds=2)
    assert isinstance(figure, Figure)
    caption = figure.get_suptitle().replace("\n", " ")
    own = result.forecasts.query("forecaster == 'Drift'")
    mean = (own["actual"] - own["forecast"]).abs().mean()
    inside = own["actual"].between(own["q0.1"], own["q0.9"]).mean()
    assert caption.startswith(
        f"Mean error over 10 windows of 2 series: Drift {mean:,.4g}, Seasonal"
    )
    assert caption.endswith(f"; {inside:.0%} of values inside the 80 % band of Drift")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["s1, value after 2024-01-04 17:00", "after 2024-01-05 17:00"]
    assert labels(figure) == ["history", "actual", "Drift", "SeasonalNaive", "80 % interval"]
    assert figure.axes[0].get_title(loc="right").startswith("MAE   Drift ")
    assert saved(figure, tmp_path)
    assert plot_backtest(result).axes[0].get_title(loc="left").startswith("s0, value after")
    with pytest.raises(ParameterError, match="no series 's7'"):
        result.plot("s7")
    with pytest.raises(ParameterError, match="no target 'load'"):
        result.plot(target="load")
    with pytest.raises(ParameterError, match="folds=0"):
        result.plot(folds=0)


def test_a_backtest_of_numbered_rows(tmp_path):
    values = np.sin(np.arange(80) / 3)[:, None]
    figure = backtest(SeasonalNaive(horizon=4), values, folds=2).plot()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["y0 after 71", "after 75"]
    assert saved(figure, tmp_path)


def test_a_notebook_shows_the_picture():
    history = pd.DataFrame({"y": range(50)})
    figure = plot_forecast(history, Drift(horizon=3).fit(history).predict())
    result = backtest(Drift(horizon=3), history, folds=2)
    for shown in (figure, result.plot(), pickle.loads(pickle.dumps(figure))):
        assert shown._repr_png_().startswith(b"\x89PNG")
        assert isinstance(shown, Figure)


def test_nothing_global_is_touched():
    import sys

    before = set(sys.modules)
    history = pd.DataFrame({"y": range(50)})
    plot_forecast(history, Drift(horizon=3).fit(history).predict())
    assert "matplotlib.pyplot" not in set(sys.modules) - before
