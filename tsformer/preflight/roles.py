"""Which column plays which role in a panel, in words; those without one are named, too."""

from typing import Any

import numpy as np
import pandas as pd

from tsformer.errors import TsformerError
from tsformer.panels import Panel, Schema
from tsformer.panels.seasons import seasons
from tsformer.reading import read_panel
from tsformer.time.season import season_length

__all__ = ["role_facts", "time_fact", "unused_columns", "usable_covariate"]

_MOST = 8


def role_facts(panel: Panel, said: Schema | None = None) -> dict[str, str]:
    """Name of a role to the columns that play it, the season and the columns without a role.

    ``said`` is what the panel was read by.
    """
    schema = panel.schema
    facts = {"season": _season(panel)}
    for role in ("target", "known", "past", "static"):
        names = getattr(schema, role)
        if names:
            facts[role] = _listed(names)
    if schema.holidays:
        facts["holidays"] = _holidays(panel, None if said is None else said.holidays)
    if schema.weight is not None:
        facts["weight"] = repr(schema.weight)
    unused = unused_columns(panel)
    if unused:
        facts["not used"] = _listed(unused)
    return facts


def time_fact(panel: Panel) -> str:
    """The columns that hold time, how it is spelt there, its zone and its step."""
    name, layout = panel.schema.time, panel.layout
    parts = [column for column, _ in layout.time_parts if column != name]
    dated = isinstance(panel.index.stamps, pd.DatetimeIndex) or layout.period is not None
    time = repr(name) if name is not None else "the index" if dated else "row number"
    facts = [f"{time} with {_listed(parts)}" if parts else time]
    if layout.time_spelling is not None:
        facts.append(f"read as {layout.time_spelling}")
    zone = getattr(panel.index.stamps, "tz", None)
    if zone is not None:
        facts.append(f"zone {zone}")
    return ", ".join([*facts, f"step {panel.schema.freq}"])


def unused_columns(panel: Panel) -> tuple[str, ...]:
    """Columns of the frame that play no role."""
    schema: Any = panel.schema
    used = {*schema.target, *schema.past, *schema.known, *schema.static, schema.weight}
    return tuple(name for name in panel.layout.columns if name not in used)


def usable_covariate(data: Any, panel: Panel, schema: Schema | None = None) -> str | None:
    """The first column without a role that can be read as a covariate; it is tried.

    ``schema`` is what the panel was read by.
    """
    given = (schema or Schema()).get_params()
    for name in unused_columns(panel)[:_MOST]:
        past = (*(panel.schema.past or ()), name)
        asked = Schema(**{**given, "target": panel.schema.target, "past": past})
        try:
            read_panel(data, asked, panel.policy)
        except TsformerError:
            continue
        return name
    return None


def _holidays(panel: Panel, said: Any) -> str:
    """Whose days off, how many of them are in the data, and when the next one is."""
    given = [said] if isinstance(said, str) else said if isinstance(said, (list, tuple)) else ()
    whose = [one for one in given if isinstance(one, str) and one[:1].isalpha()]
    days = np.array(panel.schema.holidays, "datetime64[D]")
    wall = pd.DatetimeIndex(panel.index.stamps).tz_localize(None)
    stamps = wall.to_numpy().astype("datetime64[D]")
    first, last = stamps.min(), stamps.max()
    ahead = days[days > last]
    counted = f"{int(((days >= first) & (days <= last)).sum()):,} days off in the data"
    following = f"the next one on {ahead[0]}" if len(ahead) else "none after them"
    return ", ".join([*whose, counted, following])


def _season(panel: Panel) -> str:
    found = seasons(panel)
    if found == (1,):
        return "none"
    if panel.schema.season is not None:
        return f"{_counted(found)} rows"
    usual = season_length(panel.index.freq)
    if usual == 1:
        return f"{_counted(found)} rows, found in the data"
    more = f" and {_counted(found[1:])}, found in the data" if found[1:] else ""
    return f"{usual:,} rows, by the stamps{more}"


def _counted(lengths: tuple[int, ...]) -> str:
    return " and ".join(f"{one:,}" for one in lengths)


def _listed(names: Any) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(map(repr, names[:_MOST])) + more
