"""The picture of a forecast: the continuation of what was."""

from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from tsformer.plots.drawing import (
    BLUE,
    add_legend,
    draw_bands,
    draw_line,
    draw_past,
    finish,
    new_figure,
    quantile_bands,
)
from tsformer.plots.frames import (
    dated_column,
    day_text,
    level_columns,
    placed,
    shared_column,
    values_by_time,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Floats: TypeAlias = pd.Series[float]
else:
    Floats = pd.Series

__all__ = ["plot_forecast"]


def plot_forecast(
    history: pd.DataFrame | Floats,
    forecast: pd.DataFrame,
    *,
    target: str | None = None,
    time: str | None = None,
    actual: pd.DataFrame | Floats | None = None,
    rows: int | None = None,
    title: str | None = None,
    unit: str | None = None,
) -> "Figure":
    """Draw a forecast of one series as the continuation of its history.

    Parameters
    ----------
    history
        Rows up to the forecast. For several series, select one first.
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
    title, unit
        Headline and label of the values.

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
    point = values_by_time(forecast, target, time, "forecast")
    past = values_by_time(history, target, time, "history")
    past = past.iloc[-(8 * len(point) if rows is None else rows) :]
    truth = None if actual is None else values_by_time(actual, target, time, "actual")
    if truth is not None:
        truth = truth[truth.index.isin(point.index)]
    figure, (axes,) = new_figure(1, height=4.0)
    levels = level_columns(forecast, target)
    spread = {column: values_by_time(forecast, column, time, "forecast") for _, column in levels}
    draw_past(axes, past, truth)
    draw_bands(axes, past, quantile_bands(spread, levels))
    draw_line(axes, past, point, "forecast", BLUE)
    first = placed(point.index[:1])[0]
    headline = title or f"{target}: {len(point)} step{'s'[: len(point) - 1]} from {day_text(first)}"
    finish(axes, headline, unit or target)
    add_legend(figure, [axes])
    return figure
