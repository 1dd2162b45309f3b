"""What every picture is made of: a figure, lines, bands, axes with marks between thousands."""

import io
import textwrap
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import pandas as pd

from tsformer.plots.frames import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


__all__ = [
    "BLUE",
    "COLOURS",
    "SOFT",
    "add_headline",
    "add_legend",
    "draw_bands",
    "draw_line",
    "draw_past",
    "finish",
    "new_figure",
    "quantile_bands",
]

BLUE = "#0072B2"
COLOURS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
SOFT = "#8A8A8A"
_INK, _GRID = "#222222", "#E6E6E6"
_BAND = 0.18
_WIDE, _BOLD, _NARROW = 112, 80, 40
"""Letters that the width of the figure holds: plain, bold, and bold in one of two columns."""


@cache
def _picture() -> Any:
    """The class of figures that a notebook shows as they are, without pyplot."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_png_(self) -> bytes:
            drawn = io.BytesIO()
            self.savefig(drawn, format="png", dpi=96)
            return drawn.getvalue()

    Picture.__module__, Picture.__qualname__ = __name__, "Picture"
    return Picture


def __getattr__(name: str) -> Any:
    if name == "Picture":  # where pickle looks for it
        return _picture()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def new_figure(count: int, *, height: float, columns: int = 1) -> "tuple[Figure, list[Axes]]":
    """A figure of so many pictures, one below the other or in columns, and their axes."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(columns, count)
    lines = -(-count // columns)
    size = (9.0, max(3.6, height * lines + 0.9))
    engine = ConstrainedLayoutEngine(h_pad=0.09, w_pad=0.09)
    figure: Figure = _picture()(figsize=size, dpi=144, layout=engine, facecolor="white")
    return figure, [figure.add_subplot(lines, columns, place + 1) for place in range(count)]


def add_headline(figure: "Figure", title: str, note: str | None) -> None:
    """Write what several pictures have in common above them."""
    text = "\n".join(textwrap.fill(part, _WIDE) for part in (title, note) if part)
    figure.suptitle(text, x=0.012, ha="left", fontsize=10, color=_INK)


def draw_past(axes: "Axes", past: Line, truth: Line | None = None) -> None:
    """Draw what was, up to a line where the forecast begins, and what came."""
    axes.plot(past.index, past.to_numpy(), color=_INK, linewidth=1.2, zorder=3, label="history")
    if len(past):
        axes.axvline(past.index[-1], color=SOFT, linewidth=0.7, zorder=1)
    if truth is not None and len(truth):
        line = _joined(past, truth)
        axes.plot(
            line.index, line.to_numpy(), color=_INK, linewidth=1.0, zorder=4, label="actual",
            marker="o" if len(line) <= 40 else None, markersize=2.6,
        )  # fmt: skip


def draw_bands(
    axes: "Axes",
    past: Line,
    bands: Sequence[tuple[str, Line, Line]],
    *,
    colour: str = BLUE,
    named: bool = True,
) -> None:
    """Draw bands around a forecast, as ``quantile_bands`` gives them; the legend names them."""
    for label, low, high in bands:  # from outside in: the overlap is darker
        below, above = _joined(past, low), _joined(past, high)
        axes.fill_between(
            below.index, below.to_numpy(), above.to_numpy(), color=colour, linewidth=0,
            alpha=_BAND, zorder=2, label=label if named else "_",
        )  # fmt: skip


def draw_line(
    axes: "Axes", past: Line, point: Line, label: str, colour: str, *, dashed: bool = False
) -> None:
    """Draw a forecast on from the end of what was."""
    line = _joined(past, point)
    axes.plot(
        line.index, line.to_numpy(), color=colour, label=label, zorder=5 - dashed,
        linewidth=1.2 if dashed else 1.8, linestyle=(0, (4, 2)) if dashed else "solid",
    )  # fmt: skip


def _joined(past: Line, line: Line) -> Line:
    """Begin where the history ended, so that the eye sees one line."""
    return pd.concat([past.iloc[-1:].dropna(), line]) if len(past) else line


def finish(
    axes: "Axes", title: str, unit: str, *, note: str | None = None, narrow: bool = False
) -> None:
    """Give axes their title, label, thousands marks and dates; narrow ones stand in columns."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    high = 8 if note is None else 22
    shown = _cut(title) if narrow else textwrap.fill(title, _BOLD)
    axes.set_title(shown, loc="left", fontsize=11, color=_INK, fontweight="bold", pad=high)
    if note is not None:
        axes.annotate(
            note, (0, 1), (0, 7), xycoords="axes fraction", textcoords="offset points",
            fontsize=8.5, color="#555555",
        )  # fmt: skip
    axes.set_ylabel(unit, fontsize=9, color=SOFT)
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
        locator = AutoDateLocator(minticks=4, maxticks=5 if narrow else 9)  # type: ignore[no-untyped-call]
        dates = ConciseDateFormatter(  # type: ignore[no-untyped-call]
            locator,
            formats=["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%S.%f"],
            zero_formats=["", "%Y", "%d %b", "%d %b", "%H:%M", "%H:%M"],
            offset_formats=["", "%Y", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y %H:%M"],
        )
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates)
        axes.xaxis.get_offset_text().set(size=8.5, color="#555555")


def _cut(name: str) -> str:
    """A name that fits above one of several pictures; its end tells like names apart."""
    if len(name) <= _NARROW:
        return name
    return f"{name[: _NARROW // 2]} … {name[-(_NARROW // 2 - 3) :]}"


def add_legend(figure: "Figure", every: "Sequence[Axes]") -> None:
    """Name every line and band once, below all pictures."""
    from matplotlib.patches import Patch

    lines, bands = dict[str, Any](), dict[str, Any]()
    for axes in every:
        for line in axes.get_lines():
            if not str(line.get_label()).startswith("_"):
                lines.setdefault(str(line.get_label()), line)
        shown = [one for one in axes.collections if not str(one.get_label()).startswith("_")]
        for place, band in enumerate(shown):
            shade = 1 - (1 - _BAND) ** (place + 1)  # as the bands before it shine through
            bands.setdefault(str(band.get_label()), Patch(color=BLUE, alpha=shade, linewidth=0))
    # the forecasters as they were given: the first was drawn last, on top
    what = [name for name in ("history", "actual") if name in lines]
    who = [name for name in lines if name not in what][::-1]
    handles = {name: lines[name] for name in (*what, *who)} | bands
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower left", ncols=7, frameon=False,
        fontsize=8.5, labelcolor="#444444", handlelength=1.6, columnspacing=1.6, borderpad=0.2,
    )  # fmt: skip


def quantile_bands(
    spread: dict[str, Line], levels: list[tuple[float, str]]
) -> list[tuple[str, Line, Line]]:
    """Pairs of quantiles from outside in, with what to call the band between them."""
    ordered, made = sorted(levels), []
    for (low, below), (high, above) in zip(ordered, reversed(ordered), strict=True):
        if low < high:
            centred = abs(low + high - 1) < 1e-9
            share, ends = f"{100 * (high - low):.3g} % interval", f"quantiles {low:g} to {high:g}"
            made.append((share if centred else ends, spread[below], spread[above]))
    return made
