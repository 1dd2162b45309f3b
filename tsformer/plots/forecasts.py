"""The picture of a forecast: the continuation of what was."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tsformer.plots.drawing import (
    BLUE,
    COLOURS,
    add_headline,
    add_legend,
    draw_bands,
    draw_line,
    draw_past,
    finish,
    new_figure,
    quantile_bands,
)
from tsformer.plots.frames import (
    Line,
    dated_column,
    day_text,
    level_columns,
    parts_by_series,
    shared_column,
    values_by_time,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


__all__ = ["plot_forecast"]

_MOST, _COLUMNS = 6, 2


def plot_forecast(
    history: pd.DataFrame | Line,
    forecast: pd.DataFrame,
    *,
    target: str | None = None,
    time: str | None = None,
    actual: pd.DataFrame | Line | None = None,
    rows: int | None = None,
    title: str | None = None,
    unit: str | None = None,
    series: str | None = None,
    held_out: pd.DataFrame | None = None,
    note: str | None = None,
) -> "Figure":
    """Draw a forecast as the continuation of its history.

    Of several series, at most six are drawn beside one another: evenly spread by their level, the
    largest first.

    Parameters
    ----------
    history
        Rows up to the forecast.
    forecast
        What ``predict`` returned; quantile columns such as ``y_q0.1`` become bands.
    target
        The column to draw; by default the first of ``forecast`` that is also in ``history``.
    time
        Column with the stamps; by default the first one with dates in ``forecast``, else the
        index.
    actual
        What came, in the layout of ``history``; rows outside the forecast are left out.
    rows
        How many of the last rows of ``history`` to show; None shows eight times the forecast.
    title, unit, note
        Headline, label of the values, and what is said below the headline.
    series
        Column or level of the index that tells series apart; by default one of text.
    held_out
        A forecast of rows of ``history`` that was made without them, in the layout of ``forecast``;
        it is drawn over them, with its bands where it has the same quantiles.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> day = pd.date_range("2024-01-01", periods=60, name="day")
    >>> history = pd.DataFrame({"y": range(50)}, index=day[:50])
    >>> forecast = pd.DataFrame({"y": range(50, 60)}, index=day[50:])
    >>> plot_forecast(history, forecast).axes[0].get_title(loc="left")
    'y: 10 steps from 2024-02-20'
    """
    target = target or shared_column(history, forecast)
    time = time or dated_column(forecast)
    frames = {"history": history, "forecast": forecast, "actual": actual, "held out": held_out}
    parts = parts_by_series(frames, series, time)
    several = len(parts)
    if several > _MOST:
        parts = _telling(parts, target)
    figure, every = new_figure(len(parts), height=4.0 if len(parts) == 1 else 2.4, columns=_COLUMNS)
    for axes, part in zip(every, parts.values(), strict=True):
        _draw(axes, part, target, time, rows)
    steps = len(next(iter(parts.values()))["forecast"])
    headline = title or _headline(next(iter(parts.values()))["forecast"], target, time, steps)
    if len(parts) == 1:
        finish(every[0], headline, unit or target, note=note)
    else:
        for place, (axes, name) in enumerate(zip(every, parts, strict=True)):
            finish(axes, str(name), (unit or target) if place % _COLUMNS == 0 else "", narrow=True)
        if several > len(parts):
            rest = f"{len(parts)} of {several:,} series are shown, by their level"
            note = rest if note is None else f"{note}; {rest}"
        add_headline(figure, headline, note)
    add_legend(figure, every)
    return figure


def _headline(forecast: pd.DataFrame, target: str, time: str | None, steps: int) -> str:
    first = values_by_time(forecast, target, time, "forecast").index[0]
    return f"{target}: {steps} step{'s'[: steps - 1]} from {day_text(first)}"


def _draw(
    axes: "Axes", part: Mapping[str, Any], target: str, time: str | None, rows: int | None
) -> None:
    """Draw one series: what was, what is said to come, and what came."""
    forecast = part["forecast"]
    point = values_by_time(forecast, target, time, "forecast")
    past = values_by_time(part["history"], target, time, "history")
    past = past.iloc[-(8 * len(point) if rows is None else rows) :]
    truth = None
    if part["actual"] is not None:
        truth = values_by_time(part["actual"], target, time, "actual")
        truth = truth[truth.index.isin(point.index)]
    levels = level_columns(forecast, target)
    spread = {column: values_by_time(forecast, column, time, "forecast") for _, column in levels}
    draw_past(axes, past, truth)
    draw_bands(axes, past, quantile_bands(spread, levels))
    if part["held out"] is not None:
        told = values_by_time(part["held out"], target, time, "held out").dropna()
        told = told[told.index >= past.index[0]]
        before = past[past.index < told.index[0]] if len(told) else past
        around = {
            column: values_by_time(part["held out"], column, time, "held out").loc[told.index]
            for _, column in levels
            if column in part["held out"]
        }
        if len(around) == len(levels):
            bands = quantile_bands(around, levels)
            draw_bands(axes, before, bands, colour=COLOURS[1], named=False)
        draw_line(axes, before, told, "held-out forecast", COLOURS[1], dashed=True)
    draw_line(axes, past, point, "forecast", BLUE)


def _telling(parts: dict[Any, Any], target: str) -> dict[Any, Any]:
    """The largest series, the smallest, and some between them."""
    sizes = {name: np.nanmean(np.abs(part["history"][target])) for name, part in parts.items()}
    ranked = sorted(parts, key=lambda name: -np.nan_to_num(sizes[name]))
    places = np.linspace(0, len(ranked) - 1, _MOST).round().astype(int)
    return {ranked[place]: parts[ranked[place]] for place in places}
