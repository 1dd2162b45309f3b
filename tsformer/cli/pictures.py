"""The picture of a forecast: its first target, of a few series, as the continuation of its rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsformer.cli.tables import describe_fit

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.cli.held_out import HeldOut
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

    panel = forecaster.at_origin(history)
    names, said = panel.target.names, []
    if len(names) > 1:
        said.append(f"the first of {len(names)} columns, {names[0]!r}")
    if panel.n_series > _SHOWN:
        said.append(f"{_SHOWN} of {panel.n_series:,} series")
    steps = len(made) // panel.n_series
    own = [one for one in made if one == names[0] or str(one).startswith(f"{names[0]}_q")]
    ids = np.array([str(one) for one in panel.index.ids], dtype=object)
    past = pd.DataFrame(
        {
            "series": np.repeat(ids, panel.index.lengths),
            "time": panel.index.stamps,
            names[0]: panel.target.values[:, 0],
        }
    )
    stamps = panel.index.future_stamps(steps)
    ahead = made[own].reset_index(drop=True)
    ahead = ahead.assign(series=np.repeat(ids, steps), time=stamps)
    told = None
    if held is not None:
        width = held.last.shape[1]
        rows = (panel.index.starts[1:, None] + np.arange(-width, 0)).ravel()
        told = past.iloc[rows].assign(**{names[0]: held.last.ravel()})
    figure = plot_forecast(
        past,
        ahead,
        target=names[0],
        time="time",
        series="series",
        held_out=told,
        title=_title(panel, forecaster, steps),
        unit=names[0],
        note=None if held is None else held.said,
    )
    figure.savefig(path)
    return f" ({', '.join(said)})" if said else ""


def _title(panel: "Panel", forecaster: Any, steps: int) -> str:
    """The steps, the model and how good it is."""
    facts = describe_fit(forecaster, panel)
    model = facts["model"].partition(",")[0]
    title = f"{steps} step{'s' * (steps > 1)} by {model}"
    return f"{title}: error {facts['error']}" if "error" in facts else title
