import datetime
import json
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

import tsformer
from tsformer import Forecaster, Policy, Schema, SeasonalNaive, Training, load
from tsformer.errors import ModelFileError
from tsformer.estimators import BASELINES, persistence
from tsformer.heads import Point
from tsformer.models import Informer, Linear

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(frame, tiny, path):
    forecaster = tiny().fit(frame)
    forecaster.save(path)
    return forecaster


def test_weights_and_forecasts_are_the_same_bit_for_bit(saved, path):
    loaded = load(path)
    for name, weight in saved.network_.state_dict().items():
        assert torch.equal(loaded.network_.state_dict()[name], weight)
    levels = [0.1, 0.9]
    pd.testing.assert_frame_equal(
        loaded.predict(quantiles=levels), saved.predict(quantiles=levels), check_exact=True
    )
    pd.testing.assert_frame_equal(loaded.history_, saved.history_)
    assert loaded.skill_ == saved.skill_
    assert loaded.best_epoch_ == saved.best_epoch_
    assert loaded.cutoff_ == saved.cutoff_
    assert not loaded.network_.training


@pytest.mark.slow
def test_another_process_forecasts_the_same(saved, path):
    code = (
        "import sys, tsformer\n"
        "forecast = tsformer.load(sys.argv[1]).predict(quantiles=[0.1])\n"
        "print([float(x).hex() for x in forecast[['y', 'y_q0.1']].to_numpy().ravel()])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tsformer.__file__))},
    )
    forecast = saved.predict(quantiles=[0.1])[["y", "y_q0.1"]].to_numpy().ravel()
    assert done.stdout.strip() == str([float(value).hex() for value in forecast])


def test_parameters_come_back(frame, path):
    forecaster = Forecaster(
        Linear(),
        horizon=3,
        context=12,
        head=Point("huber", delta=0.5),
        training=Training(validation=20, learning_rate=0.1),
        schema=Schema(target=["y"], freq="D"),
        policy=Policy(missing="mask"),
        random_state=3,
    ).fit(frame)
    assert repr(load(forecaster.save(path))) == repr(forecaster)


def test_what_is_live_is_not_saved(frame, tiny, path):
    forecaster = tiny(callbacks=(print_nothing,), validation=frame[80:]).fit(frame[:80])
    loaded = load(forecaster.save(path))
    assert tuple(loaded.training.callbacks) == ()
    assert loaded.training.validation == "auto"
    pd.testing.assert_frame_equal(loaded.predict(), forecaster.predict())


def print_nothing(row):
    pass


def test_a_loaded_forecaster_can_be_fitted_and_saved_again(saved, path, frame, tmp_path):
    loaded = load(path)
    pd.testing.assert_frame_equal(loaded.fit(frame).predict(), saved.predict())
    again = load(loaded.save(tmp_path / "again.safetensors"))
    pd.testing.assert_frame_equal(again.predict(), saved.predict())


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_stamps_keep_their_unit_and_zone(unit, zone, linear, path):
    stamps = pd.date_range("2024-03-29", periods=60, freq="h", tz=zone).as_unit(unit)
    frame = pd.DataFrame({"y": np.arange(60.0) % 7}, index=stamps)
    forecaster = linear().fit(frame)
    pd.testing.assert_frame_equal(load(forecaster.save(path)).predict(), forecaster.predict())


@pytest.mark.parametrize("freq", ["W-SUN", "MS", "QE", "15min", "B"])
def test_frequencies_come_back(freq, linear, path):
    frame = pd.DataFrame(
        {"y": np.arange(60.0) % 7}, index=pd.date_range("2001-01-01", periods=60, freq=freq)
    )
    forecaster = linear().fit(frame)
    pd.testing.assert_frame_equal(load(forecaster.save(path)).predict(), forecaster.predict())


@pytest.mark.parametrize("kind", ["str", "category", "int64", "object"])
def test_names_of_series_keep_their_type(kind, long, linear, path):
    ids = long["id"].map({"a": 3, "b": 1, "c": 2}) if kind == "int64" else long["id"]
    forecaster = linear(schema=Schema(series="id")).fit(long.assign(id=ids.astype(kind)))
    pd.testing.assert_frame_equal(load(forecaster.save(path)).predict(), forecaster.predict())


def test_whole_numbers_periods_and_arrays_come_back(linear, path):
    values = np.arange(60.0) % 7
    periods = pd.period_range("2020-01", periods=60, freq="M")
    for data in (
        values[:, None],
        pd.DataFrame({"y": values}),
        pd.DataFrame({"y": values}, index=periods),
    ):
        forecaster = linear().fit(data)
        found = load(forecaster.save(path, overwrite=True)).predict()
        expected = forecaster.predict()
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(found, expected)
        else:
            pd.testing.assert_frame_equal(found, expected)


def test_words_come_back(frame, tiny, path):
    words = np.random.default_rng(0).choice(["rain", "sün"], len(frame))
    data = frame.assign(sky=words)
    forecaster = tiny(schema=Schema(target="y", past="sky")).fit(data)
    loaded = load(forecaster.save(path))
    pd.testing.assert_frame_equal(loaded.predict(data), forecaster.predict(data))


@pytest.mark.parametrize("kind", BASELINES)
def test_baselines_are_saved_too(kind, long, path):
    forecaster = kind(horizon=3).fit(long)
    loaded = load(forecaster.save(path))
    given = {"quantiles": [0.1, 0.9]}
    pd.testing.assert_frame_equal(loaded.predict(**given), forecaster.predict(**given))


def test_a_file_is_never_overwritten_by_accident(saved, path):
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        saved.save(path)
    assert path.read_bytes() == before
    assert saved.save(path, overwrite=True) == path


@pytest.mark.parametrize("broken", ["replace", "fsync"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_save_that_fails_leaves_nothing_and_harms_nothing(
    broken, exists, saved, path, tmp_path, monkeypatch
):
    before = path.read_bytes()
    if not exists:
        path.unlink()

    def full(*rest):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, broken, full)
    with pytest.raises(OSError, match="no space left"):
        saved.save(path, overwrite=True)
    assert [one.name for one in tmp_path.iterdir()] == ([path.name] if exists else [])
    if exists:
        assert path.read_bytes() == before


def test_there_is_no_pickle_in_the_file(saved, path, monkeypatch):
    content = path.read_bytes()
    assert not content.startswith((b"\x80", b"PK"))
    with pytest.raises((pickle.UnpicklingError, EOFError, KeyError, ValueError, IndexError)):
        pickle.loads(content)

    def refuse(*rest, **named):
        raise AssertionError("a pickle was read")

    for module, name in ((pickle, "load"), (pickle, "loads"), (torch, "load")):
        monkeypatch.setattr(module, name, refuse)
    load(path)


def test_nothing_is_drawn_from_the_global_generator(saved, path):
    before = torch.get_rng_state()
    load(path)
    assert torch.equal(torch.get_rng_state(), before)


# files that are not ours, or not whole


def test_no_file_is_no_file(path):
    with pytest.raises(FileNotFoundError):
        load(path)


@pytest.mark.parametrize(
    "content", [b"", b"not a model", b"\x80\x04K\x01.", b"PK\x03\x04", b"\xff" * 200, b"{}" * 50]
)
def test_a_strange_file_is_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.safetensors"):
        load(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ModelFileError):
        load(tmp_path)


def test_the_tensors_of_another_library_are_refused(path):
    save_file({"weight": np.zeros(3, dtype=np.float32)}, path, metadata={"format": "pt"})
    with pytest.raises(ModelFileError, match="not a whole tsformer file"):
        load(path)


def test_a_truncated_file_is_refused(saved, path):
    content = path.read_bytes()
    for part in range(50):
        path.write_bytes(content[: len(content) * part // 50])
        with pytest.raises(ModelFileError):
            load(path)


def test_a_flipped_bit_is_noticed(saved, path):
    content = path.read_bytes()
    for at in range(0, len(content), max(1, len(content) // 60)):
        changed = bytearray(content)
        changed[at] ^= 1 << (at % 8)
        path.write_bytes(bytes(changed))
        with pytest.raises(ModelFileError):
            load(path)


def rewritten(path, change):
    """The file with another document, and with the checksum that belongs to it."""
    with safe_open(path, framework="np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        document = json.loads(file.metadata()["tsformer"])
    change(document)
    path.write_bytes(persistence._packed(document, tensors))


def test_a_newer_file_says_so(saved, path):
    rewritten(path, lambda document: document.update(format=99))
    with pytest.raises(ModelFileError, match="newer tsformer; upgrade"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(estimator="os.system"),
        lambda document: document.pop("fitted"),
        lambda document: document.update(params={}),
        lambda document: document.update(params={"dict": [["horizon", {"value": "Popen"}]]}),
        lambda document: document.update(params={"unknown": 1}),
        lambda document: document.update(fitted={"dict": [["_tail", {"array": "nowhere"}]]}),
        lambda document: document["params"]["dict"].append(["extra", 1]),
        lambda document: document["params"]["dict"].append(["horizon", -3]),
        lambda document: document["fitted"]["dict"].append(["horizon_", 2]),
        lambda document: document.update(format="one"),
        lambda document: document.update(format=None),
    ],
)
def test_a_document_with_something_else_in_it_is_refused(change, saved, path):
    rewritten(path, change)
    with pytest.raises(ModelFileError):
        load(path)


def test_sizes_that_do_not_fit_are_refused_before_memory_is_taken(saved, path):
    def grow(document):
        fitted = dict(document["fitted"]["dict"])
        fields = fitted["model_"]["fields"]["dict"]
        fields.append(["d_model", 10**7])

    rewritten(path, grow)
    with pytest.raises(ModelFileError):
        load(path)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=st.binary(max_size=200), body=st.binary(max_size=50))
def test_no_bytes_break_the_reader(header, body, path):
    path.write_bytes(struct.pack("<Q", len(header)) + header + body)
    with pytest.raises(ModelFileError):
        load(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["dict", "array", "value", "fields", "tuple", "index", "stamp", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=json_values)
def test_no_document_breaks_the_reader(document, path):
    path.write_bytes(persistence._packed(document, {}))
    with pytest.raises(ModelFileError):
        load(path)


class Mine(Informer):
    """A model of the caller's own."""


def test_a_model_of_your_own_cannot_be_saved_and_says_so(frame, path):
    model = Mine(d_model=8, n_heads=1, d_ff=8, encoder_layers=1)
    forecaster = Forecaster(model, horizon=3, context=12, training=Training(epochs=0)).fit(frame)
    with pytest.raises(ModelFileError, match="a value of type Mine"):
        forecaster.save(path)
    assert not path.exists()


def test_what_a_schema_or_policy_holds_survives(tmp_path):
    trading = pd.offsets.CustomBusinessDay(holidays=["2024-01-01", "2024-02-14"])
    days = pd.date_range("2023-12-01", periods=90, freq=trading)
    frame = pd.DataFrame({"y": np.arange(90.0) % 5}, index=days)
    calendar = pd.tseries.holiday.USFederalHolidayCalendar()
    schema = Schema(freq=trading, holidays=calendar)
    periods = [(datetime.date(2024, 1, 8), pd.Period("2024-01", "M")), (None, "2023-12-05")]
    forecaster = Forecaster(
        Linear(), horizon=3, context=10, schema=schema, policy=Policy(ignore=periods)
    ).fit(frame)
    again = load(forecaster.save(tmp_path / "model.safetensors"))
    pd.testing.assert_frame_equal(again.predict(), forecaster.predict())
    assert again.policy.ignore == periods
    assert again._tail.index.freq == trading
    assert again.schema.holidays == forecaster.schema_.holidays
    pd.testing.assert_frame_equal(again.predict(frame[:80]), forecaster.predict(frame[:80]))


@pytest.mark.parametrize("holidays", ["DE", ["US-CA", "2024-02-05"]])
def test_whose_days_off_they_are_survives(holidays, tmp_path):
    days = pd.date_range("2023-12-01", periods=90)
    frame = pd.DataFrame({"y": np.arange(90.0) % 5}, index=days)
    schema = Schema(holidays=holidays)
    forecaster = Forecaster(Linear(), horizon=3, context=10, schema=schema).fit(frame)
    again = load(forecaster.save(tmp_path / "model.safetensors"))
    assert again.schema.holidays == holidays
    assert again.schema_.holidays == forecaster.schema_.holidays != ()
    pd.testing.assert_frame_equal(again.predict(), forecaster.predict())


def test_a_missing_folder_is_named(frame, tmp_path):
    forecaster = SeasonalNaive(horizon=3).fit(frame)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*no_dir"):
        forecaster.save(tmp_path / "no_dir" / "x")
    assert list(tmp_path.iterdir()) == []
