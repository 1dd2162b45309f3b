"""A fitted forecaster as one safetensors file: tensors, and JSON for everything else.

No pickle is written or read. A file names classes by word; only those of the closed list below
are ever built.
"""

import dataclasses
import datetime
import hashlib
import json
import math
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import safetensors
import safetensors.numpy
import torch

from tsformer import heads, models, panels
from tsformer.atomic import write_atomically
from tsformer.errors import ModelFileError
from tsformer.models import Network
from tsformer.models.skip import CarriesSkip
from tsformer.panels import Panel, Policy, ResolvedSchema, Scales, Schema
from tsformer.panels.columns import Columns
from tsformer.panels.index import PanelIndex
from tsformer.panels.layout import Layout
from tsformer.params import Params, groups_of
from tsformer.time.freq import as_freq, name_of
from tsformer.training import Training
from tsformer.training.groups import Reports
from tsformer.windows import PanelScales, sizes_of

__all__ = ["load", "savable", "save_forecaster"]

_FORMAT = 3
_KEY = "tsformer"
_SUM = "sha256"


def _parts(room: ModuleType, base: type[Any]) -> list[type[Any]]:
    """The public models or heads of a room."""
    public = [getattr(room, name) for name in room.__all__]
    return [one for one in public if isinstance(one, type) and issubclass(one, base)]


def _values() -> dict[str, type[Any]]:
    """The closed list of the values that a file may name."""
    parts = (
        *_parts(models, models.Architecture),
        *_parts(heads, heads.Head),
        *_parts(panels, panels.Transform),
        *(Policy, Schema, ResolvedSchema, Training),
        *(Layout, Columns, Panel, PanelIndex, PanelScales, Scales),
    )
    groups = (inner for kind in (*parts, *_FORECASTERS.values()) for inner in groups_of(kind))
    return {kind.__name__: kind for kind in (*parts, *groups)}


_UNSAVED = {"callbacks": (), "logger": None}
"""Settings of a run that may hold live objects; a file holds their defaults instead."""


_FORECASTERS: dict[str, type[Any]] = {}

Kind = TypeVar("Kind", bound=type[Any])


def savable(kind: Kind) -> Kind:
    """Add a forecaster to the closed list of those that a file may name."""
    _FORECASTERS[kind.__name__] = kind
    return kind


def save_forecaster(forecaster: Params, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fitted forecaster atomically; the old file stays whole until the new one is.

    Raises
    ------
    FileExistsError
        If the file exists and ``overwrite`` is False.
    FileNotFoundError
        If its folder does not exist.
    ModelFileError
        If it holds something a file cannot, such as a model of your own.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}; make it first")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; pass overwrite=True to replace it")
    tensors: dict[str, np.ndarray[Any, Any]] = {}
    given = forecaster.get_params(deep=False)
    fitted = {name: value for name, value in vars(forecaster).items() if name not in given}
    if "start" in given:  # where a fit began is of no use to what came of it
        given["start"] = None
    if isinstance(given["schema"], Schema) and not _is_text(given["schema"].holidays):
        days = fitted["schema_"].holidays  # a calendar of holidays is code; its days are data
        given["schema"] = Schema(**{**given["schema"].get_params(), "holidays": days})
    try:
        document = {
            "format": _FORMAT,
            "estimator": type(forecaster).__name__,
            "params": _encoded(given, tensors, "params"),
            "fitted": _encoded(fitted, tensors, "fitted"),
        }
    except TypeError as problem:
        raise ModelFileError(f"{path}: {problem}") from problem
    write_atomically(path, _packed(document, tensors))
    return path


def load(path: str | Path) -> Any:
    """Read a forecaster that ``save`` wrote; it forecasts as the saved one did, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is not one of ours, is newer than this library, corrupt or incomplete.
    """
    path = Path(path)
    try:
        with safetensors.safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            document = json.loads(metadata[_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if document["format"] > _FORMAT:
            raise ModelFileError(f"{path} was written by a newer tsformer; upgrade to read it")
        if document["format"] < _FORMAT:
            raise ModelFileError(f"{path} was written by an older tsformer; fit and save it again")
        if metadata.get(_SUM) != _checksum(metadata[_KEY], tensors):
            raise ModelFileError(f"{path} is damaged: its checksum does not fit what it holds")
        forecaster = _FORECASTERS[document["estimator"]](**_decoded(document["params"], tensors))
        forecaster.check()
        for name, value in _decoded(document["fitted"], tensors).items():
            if not isinstance(value, _Weights):
                setattr(forecaster, name, value)
            else:
                setattr(forecaster, name, _network(forecaster, value.tensors))
    except (FileNotFoundError, ModelFileError):
        raise
    except Exception as problem:  # a strange file may break anything
        raise ModelFileError(f"{path} is not a whole tsformer file: {problem}") from problem
    return forecaster


def _is_text(holidays: Any) -> bool:
    """Whether days off are given as names of countries and dates in words."""
    listed = [holidays] if isinstance(holidays, str) else holidays
    return isinstance(listed, (list, tuple)) and all(isinstance(one, str) for one in listed)


@dataclasses.dataclass(frozen=True)
class _Weights:
    tensors: dict[str, Any]


def _network(forecaster: Any, weights: dict[str, Any]) -> Network:
    sizes = sizes_of(
        forecaster._tail,
        context=forecaster.context_,
        horizon=forecaster.horizon_,
        lags=len(forecaster.lags_),
    )
    with torch.device("meta"):  # no memory is taken before all shapes are known to fit
        network: Network = forecaster.model_.build(sizes, forecaster.head_)
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
    if isinstance(network, CarriesSkip) and network.skip is None and "offset" not in tensors:
        network.offset = None  # so were files written of networks without a skip
    network.load_state_dict(tensors, assign=True)
    return network.eval()


def _packed(document: Any, tensors: dict[str, Any]) -> bytes:
    """The bytes of a file."""
    text = json.dumps(document)
    metadata = {_KEY: text, _SUM: _checksum(text, tensors)}
    payload: bytes = safetensors.numpy.save(tensors, metadata=metadata)
    return payload


def _checksum(text: str, tensors: dict[str, Any]) -> str:
    """The sha256 of the document and of every tensor, its name, type and shape included."""
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(tensors.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _encoded(value: Any, tensors: dict[str, Any], path: str) -> Any:
    """JSON for a value; arrays go to ``tensors`` under ``path``."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else {"float": repr(number)}
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, (tuple, list)):
        kind = type(value).__name__
        items = [_encoded(item, tensors, f"{path}.{at}") for at, item in enumerate(value)]
        return {kind: items}
    if isinstance(value, dict):
        return {"dict": [[k, _encoded(v, tensors, f"{path}.{k}")] for k, v in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype != object:
        tensors[path] = np.ascontiguousarray(value)
        return {"array": path}
    if isinstance(value, np.ndarray):
        return {"objects": [_encoded(item, tensors, path) for item in value.tolist()]}
    return _encoded_object(value, tensors, path)


def _encoded_object(value: Any, tensors: dict[str, Any], path: str) -> Any:
    if isinstance(value, Network):
        weights = {name: tensor.cpu().numpy() for name, tensor in value.state_dict().items()}
        return {"network": _encoded(weights, tensors, path)}
    if isinstance(value, np.datetime64):
        return {"moment": str(value)}
    if isinstance(value, pd.Timestamp):
        return {"stamp": value.isoformat(), "unit": value.unit}
    if isinstance(value, pd.offsets.BaseOffset):
        return {"freq": name_of(value)}
    if isinstance(value, datetime.date):  # no datetime: pandas' own stamps are above
        return {"date": value.isoformat()}
    if isinstance(value, pd.Period):
        return {"period": str(value), "freq": value.freqstr}
    if isinstance(value, pd.DataFrame):
        return {"frame": _encoded(value.to_dict("list"), tensors, path)}
    if isinstance(value, pd.DatetimeIndex):
        tensors[path] = value.asi8
        zone = None if value.tz is None else str(value.tz)
        return {"stamps": path, "unit": value.unit, "zone": zone, "name": value.name}
    if isinstance(value, pd.Index):
        items = _encoded(value.tolist(), tensors, path)
        return {"index": items, "dtype": str(value.dtype), "name": value.name}
    if isinstance(value, (np.dtype, pd.api.extensions.ExtensionDtype)):
        return {"dtype_of": str(value)}
    name = type(value).__name__
    if _values().get(name) is not type(value):
        raise TypeError(f"a value of type {name} ({path}) cannot be saved")
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Reports):
        fields |= _UNSAVED
    if isinstance(value, Training) and isinstance(value.validation, pd.DataFrame):
        fields["validation"] = "auto"
    return {"value": name, "fields": _encoded(fields, tensors, path)}


def _decoded(value: Any, tensors: dict[str, Any]) -> Any:
    """The value that ``_encoded`` took apart."""
    if not isinstance(value, dict):
        return value
    kind = next(iter(value))
    made = _DECODERS[kind]
    return made(value, tensors)


def _made(value: dict[str, Any], tensors: dict[str, Any]) -> Any:
    return _values()[value["value"]](**_decoded(value["fields"], tensors))


def _stamps(value: dict[str, Any], tensors: dict[str, Any]) -> pd.DatetimeIndex:
    naive = pd.DatetimeIndex(tensors[value["stamps"]].view(f"M8[{value['unit']}]"))
    if value["zone"] is not None:
        naive = naive.tz_localize("UTC").tz_convert(value["zone"])
    return naive.rename(value["name"])


def _moment(text: str) -> datetime.date:
    return (
        datetime.date.fromisoformat(text)
        if len(text) == 10
        else datetime.datetime.fromisoformat(text)
    )


def _index(value: dict[str, Any], tensors: dict[str, Any]) -> pd.Index:
    items = _decoded(value["index"], tensors)
    index: pd.Index = pd.Index(items, dtype=value["dtype"], name=value["name"])
    return index


def _objects(value: dict[str, Any], tensors: dict[str, Any]) -> Any:
    array = np.empty(len(value["objects"]), dtype=object)
    array[:] = [_decoded(item, tensors) for item in value["objects"]]
    return array


_DECODERS: dict[str, Any] = {
    "float": lambda value, tensors: float(value["float"]),
    "tuple": lambda value, tensors: tuple(_decoded(item, tensors) for item in value["tuple"]),
    "list": lambda value, tensors: [_decoded(item, tensors) for item in value["list"]],
    "dict": lambda value, tensors: {k: _decoded(v, tensors) for k, v in value["dict"]},
    "array": lambda value, tensors: tensors[value["array"]],
    "objects": _objects,
    "network": lambda value, tensors: _Weights(_decoded(value["network"], tensors)),
    "stamp": lambda value, tensors: pd.Timestamp(value["stamp"]).as_unit(value["unit"]),
    "date": lambda value, tensors: _moment(value["date"]),
    "moment": lambda value, tensors: np.datetime64(value["moment"]),
    "period": lambda value, tensors: pd.Period(value["period"], freq=value["freq"]),
    "freq": lambda value, tensors: as_freq(value["freq"]),
    "frame": lambda value, tensors: pd.DataFrame(_decoded(value["frame"], tensors)),
    "stamps": _stamps,
    "index": _index,
    "dtype_of": lambda value, tensors: pd.api.types.pandas_dtype(value["dtype_of"]),
    "value": _made,
}
