"""The program: its commands, and what it does before and after one of them."""

import io
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from tsformer import __version__
from tsformer.cli.catalog import datasets
from tsformer.cli.checking import check
from tsformer.cli.demo import demo
from tsformer.cli.exits import exit_code
from tsformer.cli.experimenting import run
from tsformer.cli.forecasting import fit, forecast, predict
from tsformer.cli.judging import backtest, tune

__all__ = ["app", "main"]

app = typer.Typer(
    name="tsformer",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (forecast, demo, datasets, check):
    app.command(rich_help_panel="Start here")(command)
for step in (fit, predict, backtest, tune, run):
    app.command(rich_help_panel="Step by step")(step)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with a code that means something; see ``tsformer.cli``.

    Parameters
    ----------
    arguments
        What stands after ``tsformer``; by default what the shell passed.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console need not have every letter
            stream.reconfigure(errors="replace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    sys.exit(exit_code(lambda: app(given, prog_name="tsformer", standalone_mode=False)))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tsformer {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Transformer forecasting: a file with dates and values goes in, a forecast comes out.

    Try **tsformer demo**, or **tsformer forecast sales.csv --horizon 12**.

    Exit codes: 0 done, 1 data or file, 2 usage, 3 training or forecast failed, 130 interrupted.
    """
