"""``backtest`` and ``tune``: how good a forecaster is, and how it becomes better."""

import math
from typing import Annotated, Any

import typer

from tsformer.cli.competitors import build_several
from tsformer.cli.files import Data, read_data
from tsformer.cli.forecasters import build_forecaster
from tsformer.cli.options import Format, Horizon, Model, Roles, Settings, Source, grouped
from tsformer.cli.progress import progress
from tsformer.cli.tables import print_facts, print_table, say
from tsformer.cli.trying import with_tried_cures
from tsformer.errors import ParameterError

__all__ = ["backtest", "tune"]

_QUICK = {"training__epochs": 3, "training__batch_size": 64, "training__patience": 1}
"""Enough for a verdict within a minute or two on two cores; no window is left out."""


@grouped
@with_tried_cures
def backtest(
    file: Source,
    horizon: Horizon,
    form: Format,
    roles: Roles,
    options: Settings,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of a model; repeat it, or separate by commas, to compare several, each with "
            "settings of its own: linear:context=28.",
            rich_help_panel="Model",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Origins to forecast from; without it, the canonical split of a data set that "
            "has one, and else 5.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            min=1, help="Steps between origins; the horizon, if none.", show_default=False
        ),
    ] = None,
    refit: Annotated[bool, typer.Option("--refit", help="Fit again before each origin.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer epochs; still every window.")
    ] = False,
) -> None:
    """Forecast the past as it was known then, beside seasonal naive.

    Several models are scored on the same windows: **--model linear --model informer**; one may
    take part twice, with other settings: **--model linear:context=14,linear:context=28**.
    """
    from tsformer.evaluation import backtest as judge
    from tsformer.evaluation.metrics import PUBLISHED, USUAL

    data = read_data(file, form, roles)
    forecasters = build_several(data, horizon, model, options, **(_QUICK if quick else {}))
    canonical = data.split is not None and folds is None
    if canonical and (step is not None or refit):
        raise ParameterError("--step and --refit need --folds: the split is the canonical one")
    cut: dict[str, Any] = {"folds": folds or 5, "step": step, "refit": refit}
    with progress():
        result = judge(
            forecasters,
            data.frame,
            metrics=(*PUBLISHED, *USUAL) if canonical else USUAL,
            keep_forecasts=False,
            **({"split": data.split} if canonical else cut),
        )
    say(_heading(data, horizon, canonical=canonical))
    say()
    print_table(result.summary())


@grouped
@with_tried_cures
def tune(
    file: Source,
    horizon: Horizon,
    form: Format,
    roles: Roles,
    model: Model,
    trials: Annotated[int, typer.Option(min=1, help="Combinations to try.")] = 20,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which no trial starts.", show_default=False)
    ] = None,
    metric: Annotated[str, typer.Option(help="What to minimise.", metavar="mase|mae")] = "mase",
    storage: Annotated[
        str | None,
        typer.Option(
            help="Where the study is kept, to go on with it later: journal:FOLDER/study.log, or "
            "postgresql://USER@HOST/DATABASE.",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(help="Its name in there; the file's, if none.", show_default=False),
    ] = None,
) -> None:
    """Search better parameters on later rows; prints the options that set them.

    A search that was stopped with Ctrl-C goes on where it was, if its study is kept: --trials
    counts all of them. The last rows of the file decide; judge the result with **tsformer
    backtest** on rows that were held back.
    """
    from tsformer.tuning import OptunaSearch

    data = read_data(file, form, roles)
    forecaster = build_forecaster(data, horizon, model)
    search = OptunaSearch(
        forecaster,
        n_trials=trials,
        timeout=timeout,
        metric=metric,
        random_state=model.seed or 0,
        storage=storage,
        study_name=study or (None if storage is None else data.name),
    )
    with progress():
        search.fit(data.frame)
    untuned = float(search.trials_["value"].iloc[0])  # trial 0 is the forecaster as given
    say(
        f"{len(search.trials_)} trials; the best has a {metric} of {-search.best_score_:.4g},"
        f" {'untuned it failed' if math.isnan(untuned) else f'untuned it is {untuned:.4g}'}."
    )
    say()
    print_facts({path: str(value) for path, value in search.best_params_.items()})
    say()
    say("To use it:")
    for path, value in search.best_params_.items():
        say(f"  --set {path}={value!r}")


def _heading(data: Data, horizon: int, *, canonical: bool) -> str:
    where = f"{data.name}, horizon {horizon}"
    if canonical:
        return (
            f"{where}: every window of the canonical test rows. Scaled errors are on data scaled\n"
            "by the mean and standard deviation of the training rows; MAE is in the data's unit."
        )
    return f"{where}: rolling origins up to the end of the data. MAE is in the data's unit."
