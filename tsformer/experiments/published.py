"""What others have printed, to stand beside our own scores."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tsformer.errors import ParameterError
from tsformer.evaluation.metrics import checked_metrics

__all__ = ["Published", "read_published"]


@dataclass(frozen=True)
class Published:
    """Somebody's printed numbers.

    Attributes
    ----------
    name
        What heads the column.
    source
        Where they are printed.
    caveat
        What makes them another quantity than ours.
    scores
        ``(dataset, horizon)`` to the value of each metric.
    """

    name: str
    source: str
    caveat: str
    scores: Mapping[tuple[str, int], Mapping[str, float]]


def read_published(path: str | Path) -> tuple[Published, ...]:
    """Read printed numbers from a TOML file.

    ``metrics`` names what each list of numbers holds, in that order; a number that was not printed
    is left out at the end of the list. Each ``[[published]]`` has a ``name``, a ``source``, a
    ``caveat`` and, under ``[published.scores.DATASET]``, a list for each horizon.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ParameterError
        If an entry lacks a part, has another one, or holds what is no number of a known metric.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> text = '''
    ... metrics = ["scaled_mse", "scaled_mae"]
    ... [[published]]
    ... name = "Informer"
    ... source = "Zhou et al. (2021), Table 2"
    ... caveat = "The last test windows were dropped."
    ... [published.scores.etth1]
    ... 24 = [0.577, 0.549]
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "printed.toml")
    ...     _ = path.write_text(text)
    ...     [informer] = read_published(path)
    >>> informer.scores["etth1", 24]
    {'scaled_mse': 0.577, 'scaled_mae': 0.549}
    """
    try:
        held = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        metrics = checked_metrics(held["metrics"], ())
        return tuple(_entry(one, metrics) for one in held["published"])
    except tomllib.TOMLDecodeError as problem:
        raise ParameterError(f"{path}: not TOML: {problem}") from problem
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise ParameterError(f"{path}: {problem!s}") from problem


def _entry(held: Mapping[str, Any], metrics: tuple[str, ...]) -> Published:
    scores = {
        (dataset, int(horizon)): _numbers(values, metrics, f"{dataset}/{horizon}")
        for dataset, rows in held["scores"].items()
        for horizon, values in rows.items()
    }
    return Published(**{**held, "scores": scores})


def _numbers(values: list[Any], metrics: tuple[str, ...], where: str) -> dict[str, float]:
    if not 1 <= len(values) <= len(metrics):
        raise ValueError(f"{where} holds {len(values)} numbers for {', '.join(metrics)}")
    return {name: float(value) for name, value in zip(metrics, values, strict=False)}
