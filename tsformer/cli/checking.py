"""The command that looks a file over before anything runs."""

from typing import Annotated

import typer

from tsformer.cli.exits import note, worded
from tsformer.cli.files import Data, read_data
from tsformer.cli.options import Format, Roles, Source, grouped
from tsformer.cli.tables import say
from tsformer.errors import DatasetError, FrameError

__all__ = ["check", "note_findings"]


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
        say(f"error: {worded(problem)}")
        raise typer.Exit(2) from problem
    from tsformer.preflight import describe

    report = describe(
        data.frame, schema=data.schema, policy=data.policy, horizon=horizon, context=context
    )
    say(report.as_options())
    raise typer.Exit(report.exit_code)


def note_findings(data: Data) -> None:
    """Say what ``check`` would warn of: values that are masked, codes for missing values.

    Raises
    ------
    FrameError
        If the data cannot be read, as ``fit`` would.
    """
    from tsformer.preflight.findings import findings, named_rows
    from tsformer.reading import read_panel

    panel = read_panel(data.frame, data.schema, data.policy)
    for finding in [*findings(panel), *named_rows(data.frame, panel)]:
        if finding.level == "warning":
            note(finding.as_options())
