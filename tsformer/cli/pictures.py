"""The picture of a forecast: its first target, of one series, as the continuation of its rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsformer.cli.tables import describe_fit

if TYPE_CHECKING:
    import pandas as pd

    from tsformer.panels import Panel

__all__ = ["draw_forecast"]


def draw_forecast(made: "pd.DataFrame", history: Any, forecaster: Any, path: Path) -> str:
    """Draw what was forecast behind a history, and say what is not drawn.

    Parameters
    ----------
    made
        What ``predict`` returned: as many rows for each series as were asked for.
    history
        A frame or a panel, or None for what is kept of the one that was fitted.
    """
    import pandas as pd

    from tsformer.panels.index import shown
    from tsformer.plots import plot_forecast

    panel = forecaster.at_origin(history)
    names, said = panel.target.names, []
    if len(names) > 1:
        said.append(f"the first of {len(names)} columns, {names[0]!r}")
    if panel.n_series > 1:
        said.append(f"the first series of {panel.n_series:,}, {shown(panel.index.ids[0])}")
    ahead = made.iloc[: len(made) // panel.n_series]
    own = [one for one in ahead if one == names[0] or str(one).startswith(f"{names[0]}_q")]
    first = panel.index.starts[1]
    stamps = panel.index.future_stamps(len(ahead))[: len(ahead)]
    past = pd.Series(
        panel.target.values[:first, 0], index=panel.index.stamps[:first], name=names[0]
    )
    figure = plot_forecast(
        past,
        ahead[own].set_axis(stamps),
        target=names[0],
        title=_title(made, panel, forecaster, len(ahead)),
        unit=names[0],
    )
    figure.savefig(path)
    return f" ({', '.join(said)})" if said else ""


def _title(made: "pd.DataFrame", panel: "Panel", forecaster: Any, steps: int) -> str:
    """The series, the steps, the model and how good it is."""
    facts = describe_fit(forecaster, panel)
    model = facts["model"].partition(",")[0]
    whose = f"series {panel.index.ids[0]}, " if panel.n_series > 1 else ""
    title = f"{whose}{steps} step{'s' * (steps > 1)} by {model}"
    return f"{title}: error {facts['error']}" if "error" in facts else title
