"""``tsformer datasets``: which data sets there are, and which are on this machine."""

from typing import Annotated

import typer

from tsformer.cli.tables import say

__all__ = ["datasets"]


def datasets(
    name: Annotated[
        str | None, typer.Argument(help="Show the card of this one.", show_default=False)
    ] = None,
) -> None:
    """List the data sets that can stand in the place of a file.

    Those that are not on this machine are looked for in the folders that **TSFORMER_DATA**
    names, and downloaded where their publisher serves them.
    """
    from tsformer.datasets import dataset_names, read_recipe
    from tsformer.datasets.catalog import read_card

    if name is not None:
        read_recipe(name)  # says which are close where there is none of this name
        say(read_card(name).rstrip())
        return
    rows = [("NAME", "ROWS", "STEP", "WHERE", "WHAT")]
    for one in dataset_names():
        recipe = read_recipe(one)
        rows.append((one, f"{recipe.rows:,}", str(recipe.freq), _where(one), recipe.title))
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    for title, count, step, where, what in rows:
        say(
            f"{title:<{widths[0]}}  {count:>{widths[1]}}  {step:<{widths[2]}}  "
            f"{where:<{widths[3]}}  {what}"
        )


def _where(name: str) -> str:
    """Where the files of a data set are: only proven bytes count."""
    from tsformer.datasets import load_dataset, read_recipe
    from tsformer.errors import DatasetError, MissingDependency

    recipe = read_recipe(name)
    if recipe.bundled:
        return "bundled"
    try:
        load_dataset(name, download=False)
    except DatasetError:
        served = all(file.url is not None for file in recipe.files)
        return "download" if served else "set TSFORMER_DATA"
    except MissingDependency:
        return "needs pyarrow"
    return "here"
