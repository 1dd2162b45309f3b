"""``describe``: a frame looked over as ``fit`` would read it, without fitting anything."""

import html
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch

from tsformer.arrays import Flags
from tsformer.cures import Cure
from tsformer.errors import FrameError
from tsformer.estimators.parameters import default_context, default_model
from tsformer.heads import Quantiles
from tsformer.models import Architecture, WindowScaling
from tsformer.panels import Panel, Policy, Schema
from tsformer.panels.seasons import main_season
from tsformer.preflight.attempts import read_on
from tsformer.preflight.findings import Finding, constant_series, findings, named_rows
from tsformer.preflight.roles import role_facts, time_fact
from tsformer.time.freq import name_of
from tsformer.training import Training
from tsformer.training.randomness import seeded
from tsformer.windows import PanelScales, WindowDataset, WindowIndex

__all__ = ["Description", "describe"]


@dataclass(frozen=True)
class Description:
    """What ``describe`` found; printed, it is a report.

    Attributes
    ----------
    facts
        Name to value: series, rows, span, frequency, roles, windows, memory, time of an epoch.
    findings
        Errors first, then warnings, then notes.
    series
        One row a series: ``series, rows, start, end, missing, constant``; empty where the frame
        could not be read.
    """

    facts: dict[str, str]
    findings: tuple[Finding, ...]
    series: pd.DataFrame = field(repr=False)

    @property
    def exit_code(self) -> int:
        """0: clean; 1: warnings; 2: errors, ``fit`` would refuse it."""
        levels = {one.level for one in self.findings}
        return 2 if "error" in levels else 1 if "warning" in levels else 0

    def __str__(self) -> str:
        return self._report([one.text for one in self.findings])

    def _repr_html_(self) -> str:
        """A table of the facts, the findings below it, as a notebook shows it."""
        facts = pd.DataFrame({"": self.facts}).to_html(header=False) if self.facts else ""
        lines = [f"<b>{one.level}</b>: {html.escape(one.text)}" for one in self.findings]
        said = "".join(f"<p>{line}</p>" for line in [*lines, _VERDICTS[self.exit_code]])
        return f"{facts}{said}"

    def as_options(self) -> str:
        """The report with options of the command line where it would show Python."""
        return self._report([one.as_options() for one in self.findings])

    def _report(self, texts: list[str]) -> str:
        """Facts, the findings in these words, and whether ``fit`` takes the data."""
        width = max((len(name) for name in self.facts), default=0)
        lines = [f"{name:<{width}}  {value}" for name, value in self.facts.items()]
        if self.findings:
            lines.append("")
        lines += [f"{one.level}: {text}" for one, text in zip(self.findings, texts, strict=True)]
        lines += ["", _VERDICTS[self.exit_code]]
        return "\n".join(lines).lstrip("\n")


_VERDICTS = {
    0: "clean: fit takes it as it is",
    1: "fit takes it; see the warnings",
    2: "fit refuses it; see the errors",
}


def describe(
    data: Any,
    *,
    schema: Schema | None = None,
    policy: Policy | None = None,
    horizon: int | None = None,
    context: int | None = None,
    model: Architecture | None = None,
) -> Description:
    """Look a frame over before a fit: what is in it, what is wrong with it, what a fit would cost.

    Nothing is changed and nothing is fitted. All errors are reported, not the first alone: what
    causes one is set aside, and the rest is looked at.

    Parameters
    ----------
    data
        As for ``Forecaster.fit``.
    schema, policy
        As for a ``Forecaster``.
    horizon
        Steps to forecast; a season (at most a tenth of the shortest series) if None.
    context, model
        As for a ``Forecaster``; chosen as it would choose them if None.

    Returns
    -------
    Description
        Prints as a report; ``exit_code`` is 0, 1 or 2 for clean, warnings and errors.

    Examples
    --------
    >>> from tsformer import load_dataset
    >>> print(describe(load_dataset("air_passengers").frame, horizon=12))  # doctest: +ELLIPSIS
    series         1
    rows           144
    span           1949-01-01 to 1960-12-01
    frequency      MS
    time           'month', step MS
    season         12 rows, by the stamps
    target         'passengers'
    windows        ...
    memory         ...
    time an epoch  ...
    <BLANKLINE>
    clean: fit takes it as it is
    """
    panel, errors = read_on(data, schema, policy or Policy())
    found = [Finding("error", error.message, error.cures) for error in errors]
    if panel is None:
        return Description({}, tuple(found), _series(None))
    found += findings(panel) + named_rows(data, panel)
    steps = horizon or max(1, min(main_season(panel), int(panel.index.lengths.min()) // 10))
    facts = _facts(panel, schema)
    try:
        facts |= _cost(panel, steps, context, model, found)
    except FrameError as error:
        found.append(Finding("error", error.message, error.cures))
    ranked = sorted(found, key=lambda one: ("error", "warning", "note").index(one.level))
    return Description(facts, tuple(ranked), _series(panel))


def _facts(panel: Panel, said: Schema | None) -> dict[str, str]:
    lengths = panel.index.lengths
    each = "" if panel.n_series == 1 else f", {_span(lengths.min(), lengths.max())} each"
    facts = {
        "series": f"{panel.n_series:,}",
        "rows": f"{panel.n_rows:,}{each}",
        "span": f"{_stamp(panel.index.stamps.min())} to {_stamp(panel.index.stamps.max())}",
        "frequency": "irregular" if panel.index.irregular else str(name_of(panel.index.freq)),
    }
    stamps = panel.index.stamps
    if isinstance(stamps, pd.DatetimeIndex) and stamps.tz is not None:
        facts["zone"] = str(stamps.tz)
    facts["time"] = time_fact(panel)
    return facts | role_facts(panel, said)


def _cost(
    panel: Panel,
    horizon: int,
    context: int | None,
    model: Architecture | None,
    found: list[Finding],
) -> dict[str, str]:
    """Windows, memory and time; short series and late covariates go to ``found``."""
    from tsformer.training import validation_rows  # loads Lightning

    context = context or default_context(panel, horizon, short=panel.policy.short)
    needed = context + horizon
    short = panel.index.lengths < needed
    if short.any():
        found.append(_short(panel, short, context, horizon))
        if found[-1].level == "error" and short.all():
            return {}
        pads = panel.policy.short == "pad"
        panel = (
            panel.pad(np.maximum(needed - panel.index.lengths, 0)) if pads else panel.select(~short)
        )
    late = panel.schema.late
    if late:
        found.append(
            Finding("note", f"past covariates that arrive late: {', '.join(late)}; training hides"
                    " as many of their latest rows")
        )  # fmt: skip
    made = model or default_model(panel, context, horizon)
    index = WindowIndex.of_rows(panel.index.starts, context=context, horizon=horizon)
    kept = validation_rows(panel.index.lengths, "auto", context=context, horizon=horizon)
    scales = PanelScales.fit(panel, panel.index.lengths - kept)  # as a fit would
    windows = WindowDataset(panel, context=context, horizon=horizon, scales=scales, index=index)
    return {
        "windows": f"{len(index):,} of context {context} and horizon {horizon}",
        "memory": f"{_bytes(panel) / 1e6:,.1f} MB for the data",
        "time an epoch": f"{_epoch_seconds(windows, made):,.1f} s of {type(made).__name__}, about",
    }


def _short(panel: Panel, short: Flags, context: int, horizon: int) -> Finding:
    first = int(np.argmax(short))
    whose = "the series has" if panel.n_series == 1 else f"series {panel.index.ids[first]!r} has"
    text = (
        f"{whose} {panel.index.lengths[first]} rows; context {context} + horizon {horizon} need"
        f" {context + horizon}"
    )
    if panel.n_series > 1:
        text += f" ({int(short.sum())} of {panel.n_series} series are too short)"
    how = panel.policy.short
    if how == "error" or (how == "drop" and short.all()):
        cures = (
            Cure("Shorten them, or leave out what is too short", {"policy__short": "drop"}),
            Cure("Or fill it up", {"policy__short": "pad"}),
        )
        return Finding("error", f"{text}.", cures)
    return Finding("warning", f"{text}: {how}")


def _bytes(panel: Panel) -> int:
    """The panel, and the float32 rows and masks that windows are gathered from."""
    columns = (
        panel.target.values.shape[1] + panel.past.values.shape[1] + panel.known.values.shape[1]
    )
    codes = panel.past.codes.shape[1] + panel.known.codes.shape[1]
    a_row = columns * (8 + 4 + 1) + codes * 16 + panel.calendar.shape[1] * 9 + 16
    return int(a_row * panel.n_rows)


def _epoch_seconds(windows: WindowDataset, model: Architecture) -> float:
    """Steps of an epoch times the time of one, measured on two batches; 0 for a closed form."""
    size = Training().batch_size
    with seeded(0):
        network, head = model.build(windows.sizes, Quantiles()), Quantiles()
        if not any(one.requires_grad for one in network.parameters()):
            return 0.0
        seconds, normaliser = [], WindowScaling().normaliser
        for _ in range(2):
            batch = windows.__getitems__(range(min(size, len(windows))))
            began = time.perf_counter()
            normalised = normaliser.normalise(batch)
            raw, target, weight = network.supervise(normalised)
            raw = head.restore(raw, normalised.location, normalised.scale)
            loss = head.loss(raw, normaliser.restore(target, normalised), weight)
            if loss.requires_grad:
                torch.autograd.backward(loss)
            seconds.append(time.perf_counter() - began)
    return min(seconds) * -(-len(windows) // size)


def _series(panel: Panel | None) -> pd.DataFrame:
    if panel is None:
        return pd.DataFrame(columns=["series", "rows", "start", "end", "missing", "constant"])
    missing = np.isnan(panel.target.values).any(axis=1).astype(np.int64)
    flat = np.stack(
        [
            constant_series(panel, panel.target.values[:, at])
            for at in range(panel.target.values.shape[1])
        ]
    ).all(axis=0)
    return pd.DataFrame(
        {
            "series": panel.index.ids,
            "rows": panel.index.lengths,
            "start": panel.index.stamps[panel.index.starts[:-1]],
            "end": panel.index.stamps[panel.index.starts[1:] - 1],
            "missing": np.add.reduceat(missing, panel.index.starts[:-1]),
            "constant": flat,
        }
    )


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _stamp(stamp: Any) -> str:
    return str(stamp.date()) if isinstance(stamp, pd.Timestamp) and _is_day(stamp) else str(stamp)


def _is_day(stamp: pd.Timestamp) -> bool:
    return stamp.tzinfo is None and stamp == stamp.normalize()
