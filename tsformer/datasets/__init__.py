"""Named data sets, bundled or described by a recipe, and small synthetic series.

>>> from tsformer.datasets import load_dataset
>>> air = load_dataset("beijing_air")
>>> air
Dataset('beijing_air', 43,824 rows, target 'pm2.5', freq 'h')
>>> int(air.frame["pm2.5"].isna().sum())
2067
"""

from tsformer.datasets.catalog import data_folder, dataset_names, read_recipe
from tsformer.datasets.load import Dataset, load_dataset
from tsformer.datasets.recipe import Recipe
from tsformer.datasets.synthetic import make_series

__all__ = [
    "Dataset",
    "Recipe",
    "data_folder",
    "dataset_names",
    "load_dataset",
    "make_series",
    "read_recipe",
]
