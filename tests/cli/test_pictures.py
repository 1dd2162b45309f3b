"""The pictures of ``forecast`` and ``predict``: what stands in them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tsformer.plots

Run = Any


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every figure that is drawn."""
    figures: list[Any] = []
    draw = tsformer.plots.plot_forecast

    def keep(*given: Any, **more: Any) -> Any:
        figures.append(draw(*given, **more))
        return figures[-1]

    monkeypatch.setattr(tsformer.plots, "plot_forecast", keep)
    return figures


def title(figure: Any) -> str:
    return str(figure.axes[0].get_title(loc="left"))


def ticks(figure: Any) -> list[str]:
    figure.canvas.draw()
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def test_model_and_error_stand_in_the_title_and_thousands_on_the_axis(
    run: Run, sales: Path, drawn: list[Any]
) -> None:
    frame = pd.read_csv(sales)
    frame.assign(sold=1e6 + 1e4 * frame["sold"]).to_csv("large.csv", index=False)
    done = run("forecast", "large.csv", "-n", 7, "--target", "sold", "--model", "linear")
    assert done.code == 0, done.err
    said = title(drawn[0])
    assert said.startswith("7 steps by Linear: error ") and "seasonal persistence" in said
    assert "sold" not in said and drawn[0].axes[0].get_ylabel() == "sold"
    assert any("," in one for one in ticks(drawn[0])) and not any(
        "e" in one for one in ticks(drawn[0])
    )


def test_names_of_series_are_the_users(run: Run, sales: Path, drawn: list[Any]) -> None:
    frame = pd.read_csv(sales)[["day", "sold"]]
    both = pd.concat([frame.assign(shop=shop) for shop in (17, 4)])
    both.to_csv("shops.csv", index=False)
    done = run("forecast", "shops.csv", "-n", 2, "--series", "shop", "--model", "drift")
    assert done.code == 0
    assert "int64" not in done.out + title(drawn[0])
    assert [axes.get_title(loc="left") for axes in drawn[0].axes] == ["4", "17"]
    assert drawn[0].get_suptitle().startswith("2 steps by Drift\nmean error ")


def test_columns_of_any_name_and_a_series_without_rows_to_hold_out(
    run: Run, sales: Path, drawn: list[Any]
) -> None:
    sold = pd.read_csv(sales)["sold"]
    days = pd.date_range("2024-01-01", periods=120).strftime("%Y-%m-%d")
    both = pd.DataFrame({"day": days, "shop": "a", "time": sold, "time_quality": sold})
    both = pd.concat([both, both[-7:].assign(shop="b")])
    both.to_csv("shops.csv", index=False)
    options = ("-n", 7, "--series", "shop", "--time", "day", "--target", "time,time_quality")
    done = run("forecast", "shops.csv", *options, "--model", "seasonal-naive")
    assert done.code == 0, done.err
    lines = [[line.get_label() for line in axes.get_lines()] for axes in drawn[0].axes]
    assert "held-out forecast" in lines[0] and "held-out forecast" not in lines[1]
    assert "first of 2 columns, 'time'" in done.out


@pytest.mark.parametrize("kind", ["months", "date and hour"])
def test_time_in_other_words_is_drawn_where_it_belongs(
    run: Run, kind: str, drawn: list[Any]
) -> None:
    values = np.tile([1.0, 2, 3, 4], 24)
    if kind == "months":
        stamps = pd.date_range("2015-01-01", periods=96, freq="MS")
        frame = pd.DataFrame({"period": stamps.strftime("%Y%m").astype(int), "y": values})
    else:
        stamps = pd.date_range("2024-01-01", periods=96, freq="h")
        frame = pd.DataFrame(
            {"date": stamps.strftime("%Y-%m-%d"), "hour": stamps.hour, "y": values}
        )
    frame.to_csv("file.csv", index=False)
    done = run("forecast", "file.csv", "-n", 4, "--target", "y", "--model", "seasonal-naive")
    assert done.code == 0, done.err
    line = drawn[0].axes[0].get_lines()[0]
    assert np.datetime64(line.get_xdata()[-1], "s") == np.datetime64(stamps[-1], "s")


def test_a_saved_model_is_drawn_too(run: Run, sales: Path, drawn: list[Any]) -> None:
    options = ("-n", 3, "--target", "sold", "--model", "linear", "--save", "m.safetensors")
    assert run("fit", sales, *options).code == 0
    table = run("predict", "m.safetensors")
    done = run("predict", "m.safetensors", "--plot", "kept.png")
    assert done.code == 0 and done.out == table.out and "kept.png" in done.err
    later = run("predict", "m.safetensors", sales, "--plot", "all.png", "-o", "later.csv")
    assert later.code == 0, later.err
    for name in ("kept.png", "all.png"):
        assert Path(name).read_bytes().startswith(b"\x89PNG")
    again = run("predict", "m.safetensors", "--plot", "all.png")
    assert again.code == 2 and "--force" in again.err
    nowhere = run("predict", "m.safetensors", "--plot", "nowhere/all.png")
    assert nowhere.code == 2 and "no folder 'nowhere'" in nowhere.err
