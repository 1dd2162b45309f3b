"""The picture of a backtest: what each forecaster said at a few origins, and what came."""

from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from tsformer.plots.drawing import (
    COLOURS,
    SOFT,
    add_headline,
    add_legend,
    draw_bands,
    draw_line,
    draw_past,
    finish,
    new_figure,
    quantile_bands,
)
from tsformer.plots.frames import Line, day_text, placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


__all__ = ["plot_backtest"]

_ONE_LINE = 85


class _Backtest(Protocol):
    """What is asked of a backtest; see ``tsformer.evaluation.Backtest``."""

    @property
    def baseline(self) -> str: ...

    @property
    def levels(self) -> tuple[float, ...]: ...

    @property
    def n_series(self) -> int: ...

    def caption(self, target: str) -> str: ...

    def excerpt(self, *, series: Any, target: str | None, folds: int) -> pd.DataFrame: ...

    def history(self, *, series: Any, target: str, until: Any, rows: int) -> Line: ...


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
    figure, every = new_figure(len(cutoffs), height=2.3)
    for place, (axes, cutoff) in enumerate(zip(every, cutoffs, strict=True)):
        past = backtest.history(
            series=shown_series,
            target=shown_target,
            until=cutoff,
            rows=rows or max(3 * horizon, 24),
        )
        past.index = placed(past.index)
        window = table[table["cutoff"] == cutoff]
        scores = _draw_window(axes, past, window, backtest)
        alone = series is None and backtest.n_series == 1
        name = shown_target if alone else f"{shown_series}, {shown_target}"
        after = f"after {day_text(placed(pd.Index([cutoff]))[0])}"
        own = f"{name} {after}" if place == 0 else after
        above = "" if len(own) + len(scores) > _ONE_LINE else None  # the title over the scores
        finish(axes, own, unit or shown_target, note=above)
        axes.set_title(scores, loc="right", fontsize=8.5, color=SOFT, pad=8)
    add_headline(figure, backtest.caption(shown_target), None)
    add_legend(figure, every)
    return figure


def _draw_window(axes: "Axes", past: Line, window: pd.DataFrame, backtest: _Backtest) -> str:
    """Draw one origin; return the mean absolute errors in words."""
    names = sorted(window["forecaster"].unique(), key=lambda name: name == backtest.baseline)
    lines = {
        name: own.set_index(placed(pd.Index(own["time"])))
        for name, own in window.groupby("forecaster")
    }
    first = lines[names[0]]
    truth = first["actual"].dropna()
    draw_past(axes, past, truth)
    levels = [(level, f"q{level:g}") for level in backtest.levels]
    draw_bands(axes, past, quantile_bands({column: first[column] for _, column in levels}, levels))
    scores = []
    for place, name in reversed(list(enumerate(names))):
        plain = name == backtest.baseline and len(names) > 1
        colour = SOFT if plain else COLOURS[place % len(COLOURS)]
        draw_line(axes, past, lines[name]["forecast"], name, colour, dashed=plain)
        error = (lines[name]["actual"] - lines[name]["forecast"]).abs().mean()
        scores.append(f"{name} {error:.3g}")
    return "MAE   " + "   ".join(reversed(scores)) if len(truth) else ""
