"""What makes two cells the same: a hash of everything that decides their scores."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from tsformer.datasets import Dataset
from tsformer.datasets.catalog import read_recipe
from tsformer.errors import ParameterError
from tsformer.experiments.experiment import Cell, Experiment
from tsformer.params import Params

__all__ = ["FORMAT", "data_hash", "hashed", "identity"]

FORMAT = 1
"""Of a stored cell; a change of what it means makes all cells anew."""


def identity(experiment: Experiment, cell: Cell, data: str) -> dict[str, Any]:
    """Everything that decides the scores of a cell, as plain JSON; ``data`` is the hash of its own.

    Names of rows, versions and the commit are no part of it.
    """
    forecaster = experiment.forecaster(cell)
    return {
        "format": FORMAT,
        "data": data,
        "split": described(_split(experiment, cell.dataset)),
        "folds": experiment.folds,
        "step": experiment.step,
        "horizon": cell.horizon,
        "metrics": described(experiment.metric_names),
        "quantiles": described(experiment.quantiles),
        "seed": cell.seed,
        "forecaster": type(forecaster).__name__,
        "parameters": {
            # what a part holds has paths of its own
            path: type(value).__name__ if isinstance(value, Params) else described(value)
            for path, value in sorted(forecaster.get_params().items())
        },
    }


def hashed(what: dict[str, Any]) -> str:
    """The sha256 of plain JSON."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def data_hash(data: Any) -> str:
    """The sha256 of a data set: of its files by name, or of the values of a frame.

    A data set given by name is not loaded: its recipe says what its files hash to.
    """
    if not isinstance(data, str):
        return frame_hash(data.frame if isinstance(data, Dataset) else data)
    files = [file.sha256 for file in read_recipe(data).files]
    return files[0] if len(files) == 1 else hashlib.sha256("".join(files).encode()).hexdigest()


def frame_hash(frame: Any) -> str:
    """The sha256 of the values, names and types of a pandas object or an array."""
    if isinstance(frame, np.ndarray):
        frame = pd.DataFrame(frame)
    if not isinstance(frame, (pd.DataFrame, pd.Series)):
        raise ParameterError(f"data of type {type(frame).__name__}: give a pandas object")
    table = frame.to_frame() if isinstance(frame, pd.Series) else frame
    columns = [(repr(name), str(kind)) for name, kind in table.dtypes.items()]
    digest = hashlib.sha256(json.dumps(columns).encode())
    digest.update(pd.util.hash_pandas_object(table, index=True).to_numpy().tobytes())
    return digest.hexdigest()


def _split(experiment: Experiment, dataset: str) -> Any:
    """The split by value: a name means different rows in different data sets."""
    split = experiment.split
    if not isinstance(split, str):
        return split
    given = experiment.datasets
    splits = given[dataset].splits if isinstance(given, Mapping) else read_recipe(dataset).splits
    if split not in splits:
        raise ParameterError(f"the data set {dataset!r} has no split {split!r}; {sorted(splits)}")
    return splits[split]


def described(value: Any) -> Any:
    """Plain JSON that differs where values differ."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.floating, np.integer)):
        return value.item() if isinstance(value, np.generic) else repr(value)
    if isinstance(value, Mapping):
        return {str(key): described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    if isinstance(value, (np.ndarray, pd.DataFrame, pd.Series)):
        return {type(value).__name__: frame_hash(value)}
    if isinstance(value, pd.Index):
        return {type(value).__name__: frame_hash(value.to_frame(index=False))}
    return _described_object(value)


def _described_object(value: Any) -> Any:
    name = type(value).__name__
    if isinstance(value, Params):
        return {name: described(value.get_params(deep=False))}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {name: {one.name: described(getattr(value, one.name)) for one in fields}}
    if isinstance(value, (pd.Timestamp, pd.Timedelta, pd.Period, pd.offsets.BaseOffset)):
        return {name: str(value)}
    if hasattr(value, "__qualname__"):  # a function or a class: by where it stands
        return f"{value.__module__}.{value.__qualname__}"
    raise ParameterError(f"an experiment cannot tell whether two values of {name} are the same")
