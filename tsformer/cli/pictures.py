"""The picture of a forecast: its first target, of a few series, as the continuation of its rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsformer.cli.tables import describe_fit

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.evaluation.held_out import HeldOut
    from tsformer.panels import Panel

__all__ = ["draw_forecast"]

_SHOWN = 6


def draw_forecast(
    made: "pd.DataFrame",
    history: Any,
    forecaster: Any,
    path: Path,
    held: "HeldOut | None" = None,
) -> str:
    """Draw what was forecast behind a history, and say what is not drawn.

    Parameters
    ----------
    made
        What ``predict`` returned: as many rows for each series as were asked for.
    history
        A frame or a panel, or None for what is kept of the one that was fitted.
    held
        How it was on rows that were held out, if that is known.
    """
    import numpy as np
    import pandas as pd

    from tsformer.plots import plot_forecast
    from tsformer.plots.frames import level_columns

    panel = forecaster.at_origin(history)
    names, said = panel.target.names, []
    if len(names) > 1:
        said.append(f"the first of {len(names)} columns, {names[0]!r}")
    if panel.n_series > _SHOWN:
        said.append(f"{_SHOWN} of {panel.n_series:,} series")
    steps = len(made) // panel.n_series
    own = [names[0], *(column for _, column in sorted(level_columns(made, names[0])))]
    ids = np.array([str(one) for one in panel.index.ids], dtype=object)
    series, time = ("_series", "_time") if names[0] in ("series", "time") else ("series", "time")
    past = pd.DataFrame(
        {
            series: np.repeat(ids, panel.index.lengths),
            time: panel.index.stamps,
            names[0]: panel.target.values[:, 0],
        }
    )
    ahead = made[own].reset_index(drop=True)
    ahead[series], ahead[time] = np.repeat(ids, steps), panel.index.future_stamps(steps)
    figure = plot_forecast(
        past,
        ahead,
        target=names[0],
        time=time,
        series=series,
        held_out=None if held is None else _told(held, panel, past, own),
        title=_title(panel, forecaster, steps),
        unit=names[0],
        note=None if held is None else held.said,
    )
    figure.savefig(path)
    return f" ({', '.join(said)})" if said else ""


def _told(held: "HeldOut", panel: "Panel", past: "pd.DataFrame", own: list[Any]) -> "pd.DataFrame":
    """The held-out forecast and its quantiles in place of the rows that they are of."""
    import numpy as np

    rows = panel.index.starts[1:, None] + np.arange(-held.last.shape[1], 0)
    told = past.iloc[rows.ravel()].assign(**{own[0]: held.last.ravel()})
    for column, values in zip(own[1:], np.moveaxis(held.spread, -1, 0), strict=True):
        told[column] = values.ravel()
    return told.dropna(subset=own[:1])  # a series without rows to hold out


def _title(panel: "Panel", forecaster: Any, steps: int) -> str:
    """The steps, the model and how good it is."""
    facts = describe_fit(forecaster, panel)
    model = facts["model"].partition(",")[0]
    title = f"{steps} step{'s' * (steps > 1)} by {model}"
    return f"{title}: error {facts['error']}" if "error" in facts else title
