"""Which data sets there are, and where their folder lies."""

import difflib
from pathlib import Path

from tsformer.datasets.recipe import Recipe
from tsformer.errors import DatasetError, UnknownDataset

__all__ = ["data_folder", "dataset_names", "read_card", "read_recipe"]


def data_folder() -> Path:
    """Return the folder with the recipes, the cards and the bundled files.

    An installed package carries it as ``bundled`` beside this module; a checkout has it at the top.

    Raises
    ------
    DatasetError
        If the folder is in neither place.

    Examples
    --------
    >>> (data_folder() / "air_passengers" / "recipe.toml").is_file()
    True
    """
    here = Path(__file__).resolve()
    bundled, checkout = here.parent / "bundled", here.parents[2] / "datasets"
    for folder in (bundled, checkout):
        if (folder / "README.md").is_file():
            return folder
    raise DatasetError(
        f"The data folder is missing: looked in {bundled} and {checkout}. Reinstall tsformer."
    )


def dataset_names() -> list[str]:
    """Return the names :func:`load_dataset` knows, sorted.

    Examples
    --------
    >>> dataset_names()[:3]
    ['air_passengers', 'air_quality_valencia', 'beijing_air']
    """
    return sorted(path.parent.name for path in data_folder().glob("*/recipe.toml"))


def read_recipe(name: str) -> Recipe:
    """Return the recipe of one data set: columns, units, licence, checksums, splits.

    Raises
    ------
    UnknownDataset
        If no recipe has this name; the message suggests the closest one.

    Examples
    --------
    >>> recipe = read_recipe("etth1")
    >>> recipe.license, recipe.columns["OT"].unit
    ('CC-BY-ND-4.0', '°C')
    """
    names = dataset_names()
    if name not in names:
        wanted = str(name).lower().replace("-", "_")
        close = difflib.get_close_matches(wanted, names, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(names)}."
        raise UnknownDataset(f"No data set is called {name!r}. {hint}")
    text = (data_folder() / name / "recipe.toml").read_text(encoding="utf-8")
    return Recipe.from_toml(name, text)


def read_card(name: str) -> str:
    """Return the card of one data set, Markdown: what was measured, quirks, how to cite."""
    return (data_folder() / name / "card.md").read_text(encoding="utf-8")
