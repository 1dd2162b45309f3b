"""A study under a name: joined by the same question, refused to another."""

from pathlib import Path

import numpy as np
import optuna
import pandas as pd
import pytest

from tsformer.errors import ParameterError
from tsformer.estimators import Forecaster, SeasonalNaive
from tsformer.models import Informer
from tsformer.training import Training
from tsformer.tuning import Int
from tsformer.tuning import study as studies
from tsformer.tuning.storage import open_storage
from tsformer.tuning.study import Question, facts_of, open_study, random_state_of

FRAME = pd.DataFrame({"y": np.arange(8.0)})
FOLDS = [(np.arange(6), np.arange(8))]
NAIVE = SeasonalNaive(horizon=2)
SPACE = {"season_length": Int(1, 7)}


def facts(forecaster=NAIVE, space=SPACE, data=FRAME, folds=FOLDS, metric="mae"):
    return facts_of(forecaster, space, data, folds, metric)


def test_the_first_points_are_queued_once_and_the_makers_seed_rules(tmp_path: Path) -> None:
    url = f"journal:{tmp_path}/study.log"
    points = [({"season_length": 3}, {"as_given": True})]
    open_study(open_storage(url), "s", Question(facts(), points, random_state=4))
    joined = open_study(open_storage(url), "s", Question(facts(), points, random_state=9))
    assert random_state_of(joined) == 4
    assert [trial.state.name for trial in joined.trials] == ["WAITING"]
    assert joined.trials[0].user_attrs == {"as_given": True}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"metric": "mase"}, "metric was 'mae', is 'mase'"),
        ({"space": {"season_length": Int(1, 9)}}, "Int(high=7, low=1), is Int(high=9, low=1)"),
        ({"space": {"horizon": Int(1, 7)}}, "space['season_length'] was Int(high=7, low=1), is"),
        ({"forecaster": SeasonalNaive(horizon=3)}, "horizon was 2, is 3"),
        ({"data": FRAME + 1}, "data was 8 rows, sha256"),
        ({"data": FRAME.rename(columns={"y": "z"})}, "data was 8 rows, sha256"),
        ({"folds": [(np.arange(5), np.arange(8))]}, "folds was 1, sha256"),
    ],
)
def test_another_question_is_refused_with_what_differs(changed, said) -> None:
    storage = optuna.storages.InMemoryStorage()
    open_study(storage, "s", Question(facts()))
    with pytest.raises(ParameterError) as caught:
        open_study(storage, "s", Question(facts(**changed)))
    assert said in str(caught.value)
    assert str(caught.value).endswith('Give this search a name of its own: study_name="...".')


def test_what_changes_no_score_may_differ_between_hosts() -> None:
    def fitted_with(training: Training) -> dict[str, str]:
        return facts(Forecaster(Informer(), horizon=2, training=training), {})

    watched = Training().set_params(reports__callbacks=(print,), reports__progress=False)
    assert fitted_with(watched) == fitted_with(Training())
    assert fitted_with(Training(epochs=3)) != fitted_with(Training())


def test_a_study_whose_maker_died_is_made_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "_PATIENCE", 0.05)
    storage = optuna.storages.InMemoryStorage()
    optuna.create_study(storage=storage, study_name="s")
    study = open_study(storage, "s", Question(facts(), [({"season_length": 3}, {})], 5))
    assert len(study.trials) == 1
    assert random_state_of(study) == 5


def test_a_study_of_another_program_is_refused() -> None:
    storage = optuna.storages.InMemoryStorage()
    other = optuna.create_study(storage=storage, study_name="s")
    other.tell(other.ask(), 1.0)
    with pytest.raises(ParameterError, match="was not made by tsformer"):
        open_study(storage, "s", Question(facts()))
