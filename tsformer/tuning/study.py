"""A study under a name: made once, joined by whoever asks for the same, refused to others."""

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import optuna
import pandas as pd
from optuna.exceptions import DuplicatedStudyError
from optuna.storages import BaseStorage

from tsformer.cures import Cure
from tsformer.errors import ParameterError
from tsformer.params import Params

__all__ = ["Question", "facts_of", "open_study", "random_state_of"]

_KEY = "tsformer"
"""Attribute of a study with what it is about; it is written last, so that who reads it may join."""

_PATIENCE = 20.0
"""Seconds that one waits for the maker of a study; who dies at it has his work done by the next."""

_MOST_SHOWN = 4

_NO_MATTER = ("reports", "device", "progress", "callbacks", "logger")
"""Parts of a training that change no score, and that hosts may well have of their own."""


@dataclass(frozen=True)
class Question:
    """What a study is about; whoever asks something else needs a study of his own.

    Parameters
    ----------
    facts
        What decides the value of a trial, each as a text by its name.
    points
        Parameters to try first, each with marks for its trial.
    random_state
        Seed of the sampler; whoever joins takes the maker's.
    directions
        ``"minimize"`` for each value of a trial.
    """

    facts: Mapping[str, str]
    points: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]] = ()
    random_state: int = 0
    directions: Sequence[Literal["minimize", "maximize"]] = ("minimize",)


def open_study(storage: BaseStorage, name: str | None, question: Question) -> optuna.Study:
    """Make a study, or join the one that has this name.

    Raises
    ------
    ParameterError
        If a study of this name is about something else; the message says what differs.

    Examples
    --------
    >>> storage = optuna.storages.InMemoryStorage()
    >>> study = open_study(storage, "s", Question({"metric": "mae", "horizon": "4"}))
    >>> again = open_study(storage, "s", Question({"metric": "mae", "horizon": "4"}))
    >>> open_study(storage, "s", Question({"metric": "mase", "horizon": "4"}))
    Traceback (most recent call last):
    tsformer.errors.ParameterError: the study 's' is about something else: metric was mae, is mase.
    Give this search a name of its own: study_name="...".
    """
    try:
        study = optuna.create_study(
            storage=storage, study_name=name, directions=list(question.directions)
        )
    except DuplicatedStudyError:
        study = optuna.load_study(storage=storage, study_name=name)
        known = _awaited(study)
        if known is not None:
            _check_same(study, known["facts"], question.facts)
            return study
    if not study.get_trials(deepcopy=False):
        for recorded, marks in question.points:
            study.enqueue_trial(dict(recorded), user_attrs=dict(marks))
    about = {"facts": dict(question.facts), "random_state": question.random_state}
    study.set_user_attr(_KEY, about)
    return study


def random_state_of(study: optuna.Study) -> int:
    """The seed that the maker of a study gave it."""
    return int(study.user_attrs[_KEY]["random_state"])


def facts_of(
    forecaster: Params,
    space: Mapping[str, Any],
    data: Any,
    folds: Sequence[tuple[Any, Any]],
    metric: Any,
) -> dict[str, str]:
    """What decides the value of a trial, as texts to compare and to show.

    Examples
    --------
    >>> from tsformer.estimators import SeasonalNaive
    >>> facts = facts_of(SeasonalNaive(horizon=3), {"season_length": [1, 7]}, [1, 2], [], "mae")
    >>> facts["horizon"], facts["space['season_length']"], facts["data"][:14]
    ('3', '[1, 7]', '2 rows, sha256')
    """
    facts = {f"space[{path!r}]": _text(space[path]) for path in sorted(space)}
    for path, value in sorted(forecaster.get_params().items()):
        if not any(part in _NO_MATTER for part in path.split("__")):
            facts[path] = type(value).__name__ if isinstance(value, Params) else _text(value)
    return facts | {
        "forecaster": type(forecaster).__name__,
        "metric": _text(metric),
        "data": f"{len(data)} rows, sha256 {_hash_of_data(data)}",
        "folds": f"{len(folds)}, sha256 {_hash_of_folds(folds)}",
    }


def _awaited(study: optuna.Study) -> Mapping[str, Any] | None:
    """What a study is about, once its maker has said so; None if he did not live to."""
    until = time.monotonic() + _PATIENCE
    while (known := study.user_attrs.get(_KEY)) is None and time.monotonic() < until:
        if any(trial.state.is_finished() for trial in study.get_trials(deepcopy=False)):
            raise ParameterError(
                f"the study {study.study_name!r} was not made by tsformer.",
                _own_name(),
            )
        time.sleep(0.1)
    return known


def _check_same(study: optuna.Study, known: Mapping[str, str], asked: Mapping[str, str]) -> None:
    changed = [name for name in {**known, **asked} if known.get(name) != asked.get(name)]
    if not changed:
        return
    shown = [
        f"{name} was {known.get(name, 'absent')}, is {asked.get(name, 'absent')}"
        for name in changed[:_MOST_SHOWN]
    ]
    more = len(changed) - len(shown)
    raise ParameterError(
        f"the study {study.study_name!r} is about something else: {'; '.join(shown)}"
        f"{f'; and {more} more' if more else ''}.",
        _own_name(),
    )


def _own_name() -> Cure:
    return Cure(
        "Give this search a name of its own", code='study_name="..."', option='--study "..."'
    )


def _text(value: Any) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))  # where an object lies is no matter


def _hash_of_data(data: Any) -> str:
    table = data if isinstance(data, pd.DataFrame) else pd.DataFrame(data)
    columns = [(repr(name), str(kind)) for name, kind in table.dtypes.items()]
    digest = hashlib.sha256(json.dumps(columns).encode())
    digest.update(pd.util.hash_pandas_object(table, index=True).to_numpy().tobytes())
    return digest.hexdigest()[:16]


def _hash_of_folds(folds: Sequence[tuple[Any, Any]]) -> str:
    digest = hashlib.sha256()
    for part in (part for fold in folds for part in fold):
        digest.update(np.asarray(part, dtype=np.int64).tobytes() + b"|")
    return digest.hexdigest()[:16]
