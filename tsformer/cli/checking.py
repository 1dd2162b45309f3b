"""The command that looks a file over before anything runs."""

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from tsformer.cli.exits import note, worded
from tsformer.cli.files import Data, read_data
from tsformer.cli.options import Format, Roles, Source, grouped
from tsformer.cli.tables import say
from tsformer.cli.trying import that_work
from tsformer.errors import DatasetError, FrameError

if TYPE_CHECKING:
    from tsformer.panels import Panel

__all__ = ["check", "look_over"]


@grouped
def check(
    file: Source,
    form: Format,
    roles: Roles,
    horizon: Annotated[
        int | None, typer.Option("--horizon", "-n", min=1, help="Steps to forecast; a season.")
    ] = None,
    context: Annotated[int | None, typer.Option(min=1, help="Steps to look back.")] = None,
) -> None:
    """Look a file over before a fit: series, span, frequency, gaps, empty values, cost.

    Exit codes: 0 clean, 1 warnings, 2 errors: **tsformer fit** would refuse it.
    """
    try:
        data = read_data(file, form, roles)
    except (FrameError, DatasetError, OSError) as problem:
        if isinstance(problem, FrameError):
            problem.cures = that_work(problem.message, problem.cures, file, form, roles)
        say(f"error: {worded(problem)}")
        raise typer.Exit(2) from problem
    from tsformer.preflight import describe

    report = describe(
        data.frame, schema=data.schema, policy=data.policy, horizon=horizon, context=context
    )
    tried = (
        one._replace(cures=that_work(one.message, one.cures, file, form, roles))
        if one.level == "error"
        else one
        for one in report.findings
    )
    say(dataclasses.replace(report, findings=tuple(tried)).as_options())
    raise typer.Exit(report.exit_code)


def look_over(data: Data) -> "Panel":
    """Read the data as ``fit`` would, and say what ``check`` would warn of.

    Raises
    ------
    FrameError
        If the data cannot be read.
    """
    from tsformer.preflight.findings import findings, named_rows
    from tsformer.reading import read_panel

    panel = read_panel(data.frame, data.schema, data.policy)
    for finding in [*findings(panel), *named_rows(data.frame, panel)]:
        if finding.level == "warning":
            note(finding.as_options())
    return panel
