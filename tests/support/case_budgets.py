"""Sections 5 and 6: processes and threads, budgets."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from case_lightning import TINY, weekly
from doors import heard

from tsformer import Forecaster, Schema, Training
from tsformer.errors import ParameterError
from tsformer.models import Informer, Linear


def test_5_fits_in_threads_are_those_in_turn() -> None:
    def fit(seed: int) -> Any:
        model, training = Informer(**TINY, dropout=0.3), Training(epochs=1)
        forecaster = Forecaster(model, horizon=3, context=14, training=training, random_state=seed)
        return forecaster.fit(weekly(40)).predict().to_numpy()

    before = torch.get_rng_state()
    in_turn = [fit(seed) for seed in (0, 1, 0, 1)]
    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(fit, (0, 1, 0, 1)))
    assert all(np.array_equal(one, other) for one, other in zip(in_turn, at_once, strict=True))
    assert not np.array_equal(in_turn[0], in_turn[1])
    assert torch.equal(torch.get_rng_state(), before)


WORDS = pd.CategoricalDtype(["a", "b", *(f"w{number}" for number in range(50_000))])


def with_words(role: str) -> Forecaster:
    words = pd.Categorical(np.resize(["a", "b"], 84), dtype=WORDS)
    schema = Schema(target="sold", **{role: "kind"})
    model, training = Informer(**TINY), Training(epochs=0)
    forecaster = Forecaster(model, horizon=3, context=14, schema=schema, training=training)
    return forecaster.fit(weekly(kind=words))


@pytest.mark.parametrize("role", ["past", "known"])
def test_5_only_words_that_rows_held_have_weights(role: str) -> None:
    assert sum(weight.numel() for weight in with_words(role).network_.parameters()) < 20_000


def test_5_a_declared_word_that_no_row_held_is_unseen() -> None:
    days = pd.date_range("2023-03-27", periods=3)
    plan = pd.DataFrame({"kind": pd.Categorical(["a", "w5", "b"], dtype=WORDS)}, index=days)
    forecaster = with_words("known")
    answer = heard(lambda: forecaster.predict(future=plan))
    assert answer.made is not None and "'kind'" in answer.said and "'w5'" in answer.said
    later = weekly(kind=pd.Categorical(["a"] * 83 + ["w7"], dtype=WORDS))
    forecaster = with_words("past")
    answer = heard(lambda: forecaster.predict(later))
    assert answer.made is not None and "'w7'" in answer.said


@pytest.mark.parametrize("level", [0.0, 1e6])
@pytest.mark.parametrize("season", [7, 1])
def test_5_ties_within_rounding_are_ties(level: float, season: int) -> None:
    frame = weekly() * (season > 1) + level
    answer = heard(lambda: Forecaster(Linear(), horizon=3, context=14).fit(frame))
    assert not abs(answer.made.skill_) > 1
    assert "no better" not in answer.said


def test_5_a_file_that_cannot_be_written_names_the_folder(tmp_path: Path) -> None:
    forecaster = Forecaster(Linear(), horizon=3, context=14).fit(weekly())
    (tmp_path / "file").touch()
    for place in ("absent/x", "file/x"):
        with pytest.raises(OSError, match=place.partition("/")[0]) as caught:
            forecaster.save(tmp_path / place)
        assert "folder" in str(caught.value)
    (tmp_path / "here").mkdir()
    with pytest.raises(OSError, match="here"):
        forecaster.save(tmp_path / "here")
    assert [path.name for path in tmp_path.rglob(".*")] == []


@pytest.mark.parametrize("given", ["log", "logg", ["log"], 3, {"sold": "log"}], ids=str)
def test_5_transforms_that_are_none_are_told_what_there_is(given: Any) -> None:
    answer = heard(
        lambda: Forecaster(Linear(), horizon=3, context=14, transforms=given).fit(weekly())
    )
    assert isinstance(answer.error, ParameterError)
    assert "'l'" not in answer.said
    assert all(name in answer.said for name in ("Log1p()", "BoxCox()", "Clip()"))


def many(series: int, rows: int) -> pd.DataFrame:
    steps = np.arange(rows)
    noise = np.random.default_rng(0).normal(size=(series, rows))
    return pd.DataFrame(
        {
            "shop": np.repeat(np.arange(series), rows),
            "day": np.tile(pd.date_range("2022-01-03", periods=rows), series),
            "sold": (10 + steps % 7 + noise).ravel(),
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize(("series", "seconds"), [(2_000, 30), (500, 5)])
def test_6_a_budget_covers_everything(series: int, seconds: int) -> None:
    frame, began = many(series, 200), time.monotonic()
    training = Training(max_time=seconds)
    forecaster = Forecaster(Informer(), horizon=7, training=training)
    answer = heard(
        lambda: forecaster.set_params(schema=Schema(target="sold", series="shop")).fit(frame)
    )
    assert time.monotonic() - began < 1.5 * seconds + 15
    assert f"max_time={seconds}" in answer.said and "validation windows were judged" in answer.said
    assert np.isfinite(forecaster.skill_)
    made = forecaster.predict()
    assert len(made) == 7 * series and np.isfinite(made["sold"]).all()


def test_6_a_budget_of_nothing_leaves_a_forecaster() -> None:
    training = Training(max_time=0.01)
    forecaster = Forecaster(Informer(**TINY), horizon=3, context=14, training=training)
    forecaster.set_params(schema=Schema(series="shop"))
    answer = heard(lambda: forecaster.fit(many(3, 84)))
    assert "max_time=0.01" in answer.said and "may come out otherwise" in answer.said
    assert np.isfinite(forecaster.predict()["sold"]).all()
