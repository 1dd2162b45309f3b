"""Pictures of forecasts, to show to somebody; matplotlib is loaded when one is drawn.

The figures need no display and no ``pyplot``: ``figure.savefig("forecast.png")`` writes one, and a
notebook shows it. Colours are those of Okabe and Ito, which colour-blind people tell apart.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pandas as pd

from tsformer.errors import MissingColumn, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Floats: TypeAlias = pd.Series[float]
else:
    Floats = pd.Series

__all__ = ["plot_backtest", "plot_forecast"]

_BLUE = "#0072B2"
_COLOURS = (_BLUE, "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_INK, _SOFT, _GRID = "#222222", "#8A8A8A", "#E6E6E6"
_BAND = 0.18


class _Backtest(Protocol):
    """What is asked of a backtest; see ``tsformer.evaluation.Backtest``."""

    @property
    def baseline(self) -> str: ...

    @property
    def levels(self) -> tuple[float, ...]: ...

    def excerpt(self, *, series: Any, target: str | None, folds: int) -> pd.DataFrame: ...

    def history(self, *, series: Any, target: str, until: Any, rows: int) -> Floats: ...


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
    target = target or _shared_column(history, forecast)
    time = time or _dated_column(forecast)
    point = _values(forecast, target, time, "forecast")
    past = _values(history, target, time, "history")
    past = past.iloc[-(8 * len(point) if rows is None else rows) :]
    truth = None if actual is None else _values(actual, target, time, "actual")
    if truth is not None:
        truth = truth[truth.index.isin(point.index)]
    figure, (axes,) = _figure(1, height=4.0)
    levels = _level_columns(forecast, target)
    spread = {column: _values(forecast, column, time, "forecast") for _, column in levels}
    _draw_past(axes, past, truth)
    _draw_bands(axes, past, _bands(spread, levels))
    _draw_line(axes, past, point, "forecast", _BLUE)
    first = _position(point.index[:1])[0]
    headline = title or f"{target}: {len(point)} step{'s'[: len(point) - 1]} from {_day(first)}"
    _finish(axes, headline, unit or target)
    _legend(figure, [axes])
    return figure


def plot_backtest(
    backtest: _Backtest,
    *,
    series: Any = None,
    target: str | None = None,
    folds: int = 3,
    rows: int | None = None,
    unit: str | None = None,
) -> "Figure":
    """Draw what each forecaster said at a few origins, beside what came.

    Parameters
    ----------
    backtest
        What ``tsformer.backtest`` returned, with its forecasts kept.
    series, target
        By name; the first by default.
    folds
        How many origins at most, evenly spread, the last one among them.
    rows
        Rows of history before each; None shows three times the horizon, at least 24.
    unit
        Label of the values; the target's name by default.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from tsformer.datasets import load_dataset
    >>> from tsformer.estimators import Drift
    >>> from tsformer.evaluation import backtest
    >>> result = backtest(Drift(horizon=12), load_dataset("air_passengers"), folds=2)
    >>> [axes.get_title(loc="left") for axes in plot_backtest(result).axes]
    ['passengers after 1958-12-01', 'after 1959-12-01']
    """
    table = backtest.excerpt(series=series, target=target, folds=folds)
    shown_series, shown_target = table["series"].iloc[0], str(table["target"].iloc[0])
    horizon = int(table["step"].max())
    cutoffs = table["cutoff"].drop_duplicates().sort_values()
    figure, every = _figure(len(cutoffs), height=2.3)
    for place, (axes, cutoff) in enumerate(zip(every, cutoffs, strict=True)):
        past = backtest.history(
            series=shown_series,
            target=shown_target,
            until=cutoff,
            rows=rows or max(3 * horizon, 24),
        )
        past.index = _position(past.index)
        window = table[table["cutoff"] == cutoff]
        scores = _draw_window(axes, past, window, backtest)
        name = shown_target if series is None else f"{shown_series}, {shown_target}"
        after = f"after {_day(_position(pd.Index([cutoff]))[0])}"
        _finish(axes, f"{name} {after}" if place == 0 else after, unit or shown_target)
        axes.set_title(scores, loc="right", fontsize=8.5, color=_SOFT, pad=8)
    _legend(figure, every)
    return figure


def _draw_window(axes: "Axes", past: Floats, window: pd.DataFrame, backtest: _Backtest) -> str:
    """Draw one origin; return the mean absolute errors in words."""
    names = sorted(window["forecaster"].unique(), key=lambda name: name == backtest.baseline)
    lines = {
        name: own.set_index(_position(pd.Index(own["time"])))
        for name, own in window.groupby("forecaster")
    }
    first = lines[names[0]]
    truth = first["actual"].dropna()
    _draw_past(axes, past, truth)
    levels = [(level, f"q{level:g}") for level in backtest.levels]
    _draw_bands(axes, past, _bands({column: first[column] for _, column in levels}, levels))
    scores = []
    for place, name in reversed(list(enumerate(names))):
        plain = name == backtest.baseline and len(names) > 1
        colour = _SOFT if plain else _COLOURS[place % len(_COLOURS)]
        _draw_line(axes, past, lines[name]["forecast"], name, colour, dashed=plain)
        error = (lines[name]["actual"] - lines[name]["forecast"]).abs().mean()
        scores.append(f"{name} {error:.3g}")
    return "MAE   " + "   ".join(reversed(scores)) if len(truth) else ""


def _figure(count: int, *, height: float) -> "tuple[Figure, list[Axes]]":
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    size = (9.0, max(3.6, height * count + 0.9))
    engine = ConstrainedLayoutEngine(h_pad=0.09, w_pad=0.09)
    figure = Figure(figsize=size, dpi=144, layout=engine, facecolor="white")
    return figure, [figure.add_subplot(count, 1, place + 1) for place in range(count)]


def _draw_past(axes: "Axes", past: Floats, truth: Floats | None = None) -> None:
    axes.plot(past.index, past.to_numpy(), color=_INK, linewidth=1.2, zorder=3, label="history")
    if len(past):
        axes.axvline(past.index[-1], color=_SOFT, linewidth=0.7, zorder=1)
    if truth is not None and len(truth):
        line = _joined(past, truth)
        axes.plot(
            line.index, line.to_numpy(), color=_INK, linewidth=1.0, zorder=4, label="actual",
            marker="o" if len(line) <= 40 else None, markersize=2.6,
        )  # fmt: skip


def _draw_bands(axes: "Axes", past: Floats, bands: Sequence[tuple[str, Floats, Floats]]) -> None:
    for label, low, high in bands:  # from outside in: the overlap is darker
        below, above = _joined(past, low), _joined(past, high)
        axes.fill_between(
            below.index, below.to_numpy(), above.to_numpy(), color=_BLUE, linewidth=0,
            alpha=_BAND, zorder=2, label=label,
        )  # fmt: skip


def _draw_line(
    axes: "Axes", past: Floats, point: Floats, label: str, colour: str, *, dashed: bool = False
) -> None:
    line = _joined(past, point)
    axes.plot(
        line.index, line.to_numpy(), color=colour, label=label, zorder=5 - dashed,
        linewidth=1.2 if dashed else 1.8, linestyle=(0, (4, 2)) if dashed else "solid",
    )  # fmt: skip


def _joined(past: Floats, line: Floats) -> Floats:
    """Begin where the history ended, so that the eye sees one line."""
    return pd.concat([past.iloc[-1:].dropna(), line]) if len(past) else line


def _finish(axes: "Axes", title: str, unit: str) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    axes.set_title(title, loc="left", fontsize=11, color=_INK, fontweight="bold", pad=8)
    axes.set_ylabel(unit, fontsize=9, color=_SOFT)
    axes.grid(axis="y", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#BBBBBB")
    axes.tick_params(labelsize=8.5, colors="#555555", length=0)
    axes.tick_params(axis="x", length=3, color="#BBBBBB")
    axes.margins(x=0.01)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    if isinstance(axes.xaxis.get_major_locator(), AutoDateLocator):
        locator = AutoDateLocator(minticks=4, maxticks=9)  # type: ignore[no-untyped-call]
        dates = ConciseDateFormatter(  # type: ignore[no-untyped-call]
            locator,
            formats=["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%S.%f"],
            zero_formats=["", "%Y", "%d %b", "%d %b", "%H:%M", "%H:%M"],
            offset_formats=["", "%Y", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y %H:%M"],
        )
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates)
        axes.xaxis.get_offset_text().set(size=8.5, color="#555555")


def _legend(figure: "Figure", every: "Sequence[Axes]") -> None:
    from matplotlib.patches import Patch

    lines, bands = dict[str, Any](), dict[str, Any]()
    for axes in every:
        for line in axes.get_lines():
            if not str(line.get_label()).startswith("_"):
                lines.setdefault(str(line.get_label()), line)
        for place, band in enumerate(axes.collections):
            shade = 1 - (1 - _BAND) ** (place + 1)  # as the bands before it shine through
            bands.setdefault(str(band.get_label()), Patch(color=_BLUE, alpha=shade, linewidth=0))
    # the forecasters as they were given: the first was drawn last, on top
    what = [name for name in ("history", "actual") if name in lines]
    who = [name for name in lines if name not in what][::-1]
    handles = {name: lines[name] for name in (*what, *who)} | bands
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower left", ncols=7, frameon=False,
        fontsize=8.5, labelcolor="#444444", handlelength=1.6, columnspacing=1.6, borderpad=0.2,
    )  # fmt: skip


def _bands(
    spread: dict[str, Floats], levels: list[tuple[float, str]]
) -> list[tuple[str, Floats, Floats]]:
    """Pairs of quantiles from outside in, with what to call the band between them."""
    ordered, made = sorted(levels), []
    for (low, below), (high, above) in zip(ordered, reversed(ordered), strict=True):
        if low < high:
            centred = abs(low + high - 1) < 1e-9
            share, ends = f"{100 * (high - low):.3g} % interval", f"quantiles {low:g} to {high:g}"
            made.append((share if centred else ends, spread[below], spread[above]))
    return made


def _level_columns(forecast: pd.DataFrame, target: str) -> list[tuple[float, str]]:
    name = re.compile(re.escape(target) + r"_q(0?\.\d+(?:e-\d+)?)")
    found = ((name.fullmatch(str(column)), column) for column in forecast.columns)
    return [(float(match[1]), column) for match, column in found if match]


def _shared_column(history: pd.DataFrame | Floats, forecast: pd.DataFrame) -> str:
    if isinstance(history, pd.Series):
        return str(history.name) if history.name in forecast.columns else str(forecast.columns[0])
    for column in forecast.columns:
        if column in history.columns and all(
            pd.api.types.is_numeric_dtype(frame[column]) for frame in (history, forecast)
        ):
            return str(column)
    raise MissingColumn("history and forecast share no column of numbers; name one: target=...")


def _dated_column(frame: pd.DataFrame) -> str | None:
    for name, values in frame.items():
        if values.dtype.kind == "M" or isinstance(values.dtype, pd.PeriodDtype):
            return str(name)
    return None


def _values(data: pd.DataFrame | Floats, column: str, time: str | None, what: str) -> Floats:
    """One column by time, in order."""
    if isinstance(data, pd.Series):
        values, stamps = data, data.index
    else:
        for name in (column, time):
            if name is not None and name not in data.columns and name not in data.index.names:
                raise MissingColumn(f"the {what} has no column {name!r}")
        values = data[column]
        stamps = data.index if time not in data.columns else pd.Index(data[time])
    if stamps.nlevels > 1 or stamps.has_duplicates:
        raise ParameterError(f"the {what} holds several series: select the rows of one first")
    return pd.Series(values.to_numpy(dtype=float), index=_position(stamps)).sort_index()


def _position(stamps: pd.Index) -> pd.Index:
    """Stamps as matplotlib can place them."""
    if isinstance(stamps, pd.PeriodIndex):
        return stamps.to_timestamp()
    if isinstance(stamps, pd.DatetimeIndex) and stamps.tz is not None:
        return stamps.tz_localize(None)  # the clock on the wall, as the caller has it
    return stamps


def _day(stamp: Any) -> str:
    """A date without a time of day where that is midnight."""
    if not isinstance(stamp, pd.Timestamp):
        return str(stamp)
    return f"{stamp:%Y-%m-%d}" if stamp == stamp.normalize() else f"{stamp:%Y-%m-%d %H:%M}"
