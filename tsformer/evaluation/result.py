"""What a backtest found, as tables and as a picture."""

import html
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tsformer.arrays import Flags, Ints
from tsformer.errors import ParameterError
from tsformer.estimators import Forecasts, windows_of
from tsformer.evaluation.digits import number
from tsformer.evaluation.metrics import METRICS, Totals
from tsformer.panels import Panel
from tsformer.time.freq import advance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Backtest"]


@dataclass(frozen=True, eq=False, repr=False)
class Backtest:
    """The scores of some forecasters on the same windows; made by :func:`backtest`.

    Attributes
    ----------
    metrics, levels, horizon
        What was asked for.
    windows
        How many forecasts each forecaster made: one for each series and origin.
    baseline
        The name of the seasonal naive forecaster that stands beside the others.
    skipped
        One row for each fold and series that could not be forecast: ``fold, cutoff, series,
        windows, reason``.
    fits
        One row a fit: ``forecaster, rows, context, epochs, best_epoch, cut_short, seconds``.
    description
        What was done, in a few words.

    Examples
    --------
    >>> from tsformer.datasets import make_series
    >>> from tsformer.estimators import Drift
    >>> from tsformer.evaluation import backtest
    >>> frame = make_series("seasonal", 96, noise=0.0)
    >>> result = backtest(Drift(horizon=6), frame, folds=2, metrics=["mae", "wape"])
    >>> result.scores.drop(columns="cutoff").round(2)
          forecaster  fold target   mae  wape
    0          Drift     0  value  0.82  0.09
    1          Drift     1  value  0.30  0.03
    2  SeasonalNaive     0  value  0.00  0.00
    3  SeasonalNaive     1  value  0.00  0.00
    >>> result.by_step().query("forecaster == 'Drift' and step <= 2").round(2)
      forecaster  step   mae  wape
    0      Drift     1  0.14  0.02
    1      Drift     2  0.27  0.03
    """

    metrics: tuple[str, ...]
    levels: tuple[float, ...]
    horizon: int
    windows: int
    baseline: str
    skipped: pd.DataFrame
    fits: pd.DataFrame
    description: str
    _panel: Panel
    _cutoffs: pd.Index
    _totals: dict[str, Totals]
    _kept: dict[str, list[Forecasts]] | None
    _scored: list[tuple[Ints, Ints]] | None

    @property
    def title(self) -> str:
        """One line that says what was done."""
        left_out = int(self.skipped["windows"].sum())
        more = f" ({left_out:,} left out: see .skipped)" if left_out else ""
        return f"Backtest: {self.description}{more}"

    def __repr__(self) -> str:
        table = self.summary().to_string(float_format=lambda value: f"{value:.4g}")
        return f"{self.title}\n{_without_trailing_blanks(table)}"

    def _repr_html_(self) -> str:
        table: str = self.summary().to_html(float_format=lambda value: f"{value:.4g}")
        return f"<p>{html.escape(self.title)}</p>{table}"

    def summary(self) -> pd.DataFrame:
        """One row a forecaster, the best by the first metric on top.

        Returns
        -------
        DataFrame
            A column for each metric, over all observed steps with equal weight, the number of
            ``windows``, and the ratio of the first metric that is an error to that of the
            baseline: below 1 is better than seasonal naive.
        """
        rows = {
            name: {metric: float(totals.overall(metric)) for metric in self.metrics}
            for name, totals in self._totals.items()
        }
        table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("forecaster")
        table["windows"] = self.windows
        errors = [metric for metric in self.metrics if METRICS[metric].error]
        if errors:
            of_baseline = rows[self.baseline][errors[0]]
            table[f"vs {self.baseline}"] = table[errors[0]] / (of_baseline or np.nan)
            table = table.sort_values(errors[0], kind="stable")
        return table

    @property
    def scores(self) -> pd.DataFrame:
        """One row for each forecaster, fold and target.

        Columns ``forecaster, fold, cutoff, target`` and one a metric; NaN where nothing was
        observed. A ``Holdout`` is one fold.
        """
        targets = self._panel.target.names
        folds = np.arange(len(self._cutoffs)).repeat(len(targets))
        tables = []
        for name, totals in self._totals.items():
            table = {
                "forecaster": name,
                "fold": folds,
                "cutoff": self._shown(self._cutoffs.take(folds)),
                "target": list(targets) * len(self._cutoffs),
            }
            metrics = {metric: totals.by_fold(metric).ravel() for metric in self.metrics}
            tables.append(pd.DataFrame({**table, **metrics}))
        return pd.concat(tables, ignore_index=True)

    def by_step(self) -> pd.DataFrame:
        """One row for each forecaster and step of the horizon, a column a metric."""
        steps = np.arange(1, self.horizon + 1)
        tables = [
            pd.DataFrame(
                {
                    "forecaster": name,
                    "step": steps,
                    **{metric: totals.by_step(metric) for metric in self.metrics},
                }
            )
            for name, totals in self._totals.items()
        ]
        return pd.concat(tables, ignore_index=True)

    def by_window(self) -> pd.DataFrame:
        """One row for each forecaster and window, a column a metric.

        Columns ``forecaster, series, cutoff``, then the metrics; all forecasters have the same
        windows in the same order, so that differences are paired.

        Raises
        ------
        ParameterError
            If windows were not kept.
        """
        if self._scored is None:
            raise ParameterError("windows were not kept: backtest again with keep_windows=True")
        series, origins = (np.concatenate(part) for part in zip(*self._scored, strict=True))
        index = self._panel.index
        last = self._shown(index.stamps.take(index.starts[series] + origins - 1))
        same = {"series": index.ids.take(series), "cutoff": last}
        tables = []
        for name, totals in self._totals.items():
            values = {metric: totals.by_window(metric) for metric in self.metrics}
            tables.append(pd.DataFrame({"forecaster": name, **same, **values}))
        return pd.concat(tables, ignore_index=True)

    @cached_property
    def forecasts(self) -> pd.DataFrame:
        """All forecasts, one row each; made when first asked for.

        Columns ``forecaster, cutoff, series, time, step, target, actual, forecast`` and one a
        quantile, such as ``q0.1``. ``cutoff`` is the last stamp before the forecast. ``actual``
        is NaN where it is not known.

        Raises
        ------
        ParameterError
            If none were kept.
        """
        tables = [
            self._table(name, part) for name, parts in self._all_kept().items() for part in parts
        ]
        return pd.concat(tables, ignore_index=True)

    def excerpt(
        self, *, series: Any = None, target: str | None = None, folds: int = 3
    ) -> pd.DataFrame:
        """The rows of ``forecasts`` of one series and target at a few origins, evenly spread.

        Parameters
        ----------
        series, target
            By name; the first that was forecast by default.
        folds
            How many origins at most, the last one among them.
        """
        kept = self._all_kept()
        if folds < 1:
            raise ParameterError(f"folds={folds}: must be at least 1")
        if target is not None and target not in self._panel.target.names:
            names = ", ".join(map(repr, self._panel.target.names))
            raise ParameterError(f"there is no target {target!r}; targets are {names}")
        parts = next(iter(kept.values()))
        place = int(parts[0].series[0]) if series is None else self._place(series)
        origins = np.concatenate([part.origin[part.series == place] for part in parts])
        if not len(origins):
            raise ParameterError(f"series {series!r} was not forecast; see .skipped")
        every = np.linspace(len(origins) - 1, 0, min(folds, len(origins))).round().astype(int)
        chosen = np.sort(origins)[every]
        tables = [
            self._table(name, _picked(part, (part.series == place) & np.isin(part.origin, chosen)))
            for name, parts in kept.items()
            for part in parts
        ]
        table = pd.concat(tables, ignore_index=True)
        wanted = self._panel.target.names[0] if target is None else target
        return table[table["target"] == wanted].reset_index(drop=True)

    def history(self, *, series: Any, target: str, until: Any, rows: int) -> "pd.Series[float]":
        """The last rows of a series up to a stamp, that one included."""
        panel, place = self._panel, self._place(series)
        start, end = int(panel.index.starts[place]), int(panel.index.starts[place + 1])
        stamps = self._shown(panel.index.stamps[start:end])
        stop = start + int((stamps <= until).sum())
        own = slice(max(start, stop - rows), stop)
        values = panel.target.values[own, panel.target.names.index(target)]
        return pd.Series(values, index=self._shown(panel.index.stamps[own]), name=target)

    @property
    def n_series(self) -> int:
        """How many series there are."""
        return self._panel.n_series

    def caption(self, target: str) -> str:
        """The mean absolute errors over all windows in the target's unit, and the coverage.

        Raises
        ------
        ParameterError
            If no forecasts were kept.
        """
        at, kept = self._panel.target.names.index(target), self._all_kept()
        errors, inside = {}, ""
        for name, parts in kept.items():
            truth = [windows_of(self._panel, p.series, p.origin, self.horizon) for p in parts]
            actual = np.concatenate(truth)[..., at]
            point = np.concatenate([part.point for part in parts])[..., at]
            errors[name] = float(np.nanmean(np.abs(actual - point)))
            if not inside and len(self.levels) > 1:
                spread = np.concatenate([part.quantiles for part in parts])[..., at, :]
                within = (spread[..., 0] <= actual) & (actual <= spread[..., -1])
                band = f"{100 * (self.levels[-1] - self.levels[0]):.3g} % band of {name}"
                share = within[~np.isnan(actual)].mean()
                inside = f"; {share:.0%} of values inside the {band}"
        said = ", ".join(f"{name} {number(error)}" for name, error in errors.items())
        of = f" of {self.n_series:,} series" if self.n_series > 1 else ""
        return f"Mean error over {self.windows:,} windows{of}: {said}{inside}"

    def plot(self, series: Any = None, target: str | None = None, *, folds: int = 3) -> "Figure":
        """Draw forecasts beside what came, a picture for each of a few origins.

        Parameters
        ----------
        series, target
            By name; the first by default.
        folds
            How many origins at most.

        Returns
        -------
        Figure
            matplotlib's; ``figure.savefig("backtest.png")`` writes it.
        """
        from tsformer.plots import plot_backtest  # matplotlib is loaded when drawing

        return plot_backtest(self, series=series, target=target, folds=folds)

    def _all_kept(self) -> dict[str, list[Forecasts]]:
        if self._kept is None:
            raise ParameterError(
                "keep_forecasts=False kept no forecasts: backtest again with keep_forecasts=True"
            )
        return self._kept

    def _place(self, series: Any) -> int:
        places = self._panel.index.ids.get_indexer(pd.Index([series]))
        if places[0] < 0:
            known = ", ".join(map(repr, self._panel.index.ids[:5].tolist()))
            raise ParameterError(f"there is no series {series!r}; they begin with {known}")
        return int(places[0])

    def _table(self, name: str, part: Forecasts) -> pd.DataFrame:
        panel, horizon, targets = self._panel, self.horizon, self._panel.target.names
        rows = len(part.series)
        last = panel.index.stamps.take(panel.index.starts[part.series] + part.origin - 1)
        per_window = np.arange(rows).repeat(horizon * len(targets))
        per_step = np.arange(rows * horizon).repeat(len(targets))
        columns = {
            "forecaster": np.full(len(per_step), name, dtype=object),
            "cutoff": self._shown(last).take(per_window),
            "series": panel.index.ids.take(part.series).take(per_window),
            "time": self._shown(self._times(part, last)).take(per_step),
            "step": np.tile(np.arange(1, horizon + 1).repeat(len(targets)), rows),
            "target": np.tile(np.asarray(targets, dtype=object), rows * horizon),
            "actual": windows_of(panel, part.series, part.origin, horizon).ravel(),
            "forecast": part.point.ravel(),
        }
        spread = part.quantiles.reshape(len(per_step), len(self.levels))
        levels = {f"q{level:g}": spread[:, at] for at, level in enumerate(self.levels)}
        table = pd.DataFrame({**columns, **levels})
        return table.astype({"forecaster": "str", "target": "str"})

    def _times(self, part: Forecasts, last: pd.Index) -> pd.Index:
        panel = self._panel
        rows = (panel.index.starts[part.series] + part.origin)[:, None] + np.arange(self.horizon)
        if (rows < panel.index.starts[part.series + 1][:, None]).all():
            return panel.index.stamps.take(rows.ravel())
        steps = np.tile(np.arange(1, self.horizon + 1, dtype=np.int64), len(last))
        return advance(last.repeat(self.horizon), steps, panel.index.freq)

    def _shown(self, stamps: pd.Index) -> pd.Index:
        """Stamps as the caller has them."""
        period = self._panel.layout.period
        if period is None or not isinstance(stamps, pd.DatetimeIndex):
            return stamps
        return stamps.to_period(period)


def _picked(part: Forecasts, which: Flags) -> Forecasts:
    return Forecasts(
        part.series[which], part.origin[which], part.point[which], part.quantiles[which]
    )


def _without_trailing_blanks(table: str) -> str:
    return "\n".join(line.rstrip() for line in table.splitlines())
