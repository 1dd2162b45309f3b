import logging
import time

import numpy as np
import pandas as pd
import pytest
import pytorch_lightning as pl
import torch
from sklearn.model_selection import GridSearchCV

from tsformer import Forecaster, Policy, Schema, Training, load
from tsformer.errors import MissingValues, ParameterError, SeriesTooShort, TrainingFailed
from tsformer.estimators import contract
from tsformer.heads import Quantiles
from tsformer.models import Informer, Linear
from tsformer.reading import RollingOrigin, read_panel
from tsformer.training import InformerModule, WindowDataModule, budget, module

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")


def weights(forecaster):
    return forecaster.network_.state_dict()


def same(one, other):
    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# what a fit leaves behind


def test_everything_may_be_left_out(frame):
    forecaster = Forecaster(horizon=3).fit(frame)
    assert isinstance(forecaster.model_, Linear)  # too little for a network
    assert isinstance(forecaster.head_, Quantiles)
    assert forecaster.context_ == 16
    assert len(forecaster.predict()) == 3


def test_the_history_has_a_row_an_epoch(frame, tiny):
    forecaster = tiny(epochs=2, patience=None).fit(frame)
    assert forecaster.history_.columns.tolist() == [
        "epoch",
        "train_loss",
        "validation_loss",
        "seconds",
    ]
    assert forecaster.history_["epoch"].tolist() == [0, 1, 2]
    assert np.isnan(forecaster.history_["train_loss"][0])
    assert forecaster.history_["validation_loss"].notna().all()
    best = forecaster.history_["validation_loss"].idxmin()
    assert forecaster.best_epoch_ == best


@pytest.mark.parametrize("settings", [{"validation": None}, {"validation": 0}])
def test_without_validation_there_is_no_best_epoch_and_no_skill(settings, frame, linear, caplog):
    with caplog.at_level(logging.INFO, "tsformer"):
        forecaster = linear(training=Training(**settings)).fit(frame)
    assert forecaster.best_epoch_ is None
    assert np.isnan(forecaster.skill_)
    assert "no validation windows" in caplog.text
    assert forecaster.history_.columns.tolist()[0] == "epoch"
    assert len(forecaster.predict()) == 3


def test_nothing_of_lightning_is_kept(frame, tiny):
    forecaster = tiny().fit(frame)
    kinds = {type(value).__module__.partition(".")[0] for value in vars(forecaster).values()}
    assert "pytorch_lightning" not in kinds
    assert not forecaster.network_.training


def test_nothing_is_written_or_printed(frame, tiny, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    forecaster = tiny().fit(frame)
    forecaster.predict()
    forecaster.score(frame)
    assert list(tmp_path.iterdir()) == []
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_the_parts_of_a_fit_are_its_own(frame, linear):
    forecaster = linear(head=Quantiles((0.1, 0.5, 0.9))).fit(frame)
    expected = forecaster.predict()
    forecaster.set_params(head__levels=(0.5,))
    pd.testing.assert_frame_equal(forecaster.predict(), expected)
    assert forecaster.head_.levels == (0.1, 0.5, 0.9)


# the same as by hand


@pytest.mark.filterwarnings("ignore:.*does not have many workers")
@pytest.mark.filterwarnings("ignore:.*treespec, LeafSpec")
@pytest.mark.parametrize("sanity", [0, 2])
def test_a_hand_used_trainer_gives_the_same_weights(sanity, frame, tiny):
    settings = Training(epochs=2)
    forecaster = tiny(epochs=2).fit(frame)
    data = WindowDataModule(read_panel(frame), context=12, horizon=3, random_state=0)
    module = InformerModule(data.sizes, forecaster.model, training=settings, random_state=0)
    pl.Trainer(
        max_epochs=2,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=sanity,
        accelerator="cpu",
    ).fit(module, datamodule=data)
    assert module.network.state_dict().keys() == weights(forecaster).keys()
    for name, weight in module.network.state_dict().items():
        assert torch.equal(weight, weights(forecaster)[name]), name


# randomness


def test_same_seed_same_weights(frame, tiny):
    def disturb(row):
        torch.rand(5)
        np.random.rand(5)

    assert same(tiny().fit(frame), tiny(callbacks=(disturb,)).fit(frame))
    assert not same(tiny().fit(frame), tiny(random_state=1).fit(frame))


def test_shuffled_rows_give_the_same_weights(long, tiny):
    shuffled = long.sample(frac=1, random_state=3)
    assert same(tiny().fit(long), tiny().fit(shuffled))


# leakage


def test_validation_rows_move_neither_scales_nor_steps(frame, tiny):
    changed = frame.copy()
    changed.loc[80:, "y"] = np.random.default_rng(0).normal(size=20) * 1e3
    given = {"model": {"skip": False}, "epochs": 2, "patience": None}
    one, other = tiny(**given).fit(frame), tiny(**given).fit(changed)
    np.testing.assert_array_equal(one.scales_.target.offset, other.scales_.target.offset)
    np.testing.assert_array_equal(one.scales_.target.scale, other.scales_.target.scale)
    pd.testing.assert_series_equal(one.history_["train_loss"], other.history_["train_loss"])
    assert not one.history_["validation_loss"].equals(other.history_["validation_loss"])


def test_covariates_are_scaled_by_training_rows_too(frame, tiny):
    schema = Schema(target="y", past="wind", known="price")
    data = frame.assign(wind=np.arange(100.0), price=np.arange(100.0) ** 2)
    changed = data.copy()
    changed.loc[80:, ["wind", "price"]] = 1e6
    one, other = (tiny(schema=schema).fit(each) for each in (data, changed))
    np.testing.assert_array_equal(one.scales_.past.offset, other.scales_.past.offset)
    np.testing.assert_array_equal(one.scales_.known.scale, other.scales_.known.scale)


def test_rows_after_the_history_move_nothing(frame, tiny):
    forecaster = tiny().fit(frame[:80])
    expected = forecaster.predict(frame[:90])
    pd.testing.assert_frame_equal(forecaster.predict(frame[:90]), expected)
    assert forecaster.cutoff_ == frame["day"][79]


# validation and refits


def test_a_frame_may_be_kept_for_validation(frame, tiny):
    by_frame = tiny(validation=frame[75:]).fit(frame[:75])
    by_rows = tiny(validation=25).fit(frame)
    assert same(by_frame, by_rows)
    assert by_frame.cutoff_ == frame["day"].iloc[-1]
    pd.testing.assert_frame_equal(by_frame.predict(), by_rows.predict())


def test_a_frame_of_several_series_may_be_kept(long, tiny):
    cut = long["day"] < "2024-03-01"
    forecaster = tiny(validation=long[~cut]).fit(long[cut])
    assert forecaster.skill_ == forecaster.skill_
    assert forecaster.predict()["id"].unique().tolist() == ["a", "b", "c"]


def test_a_validation_frame_needs_a_frame(frame, tiny):
    with pytest.raises(ParameterError, match="validation is a frame"):
        tiny(validation=frame).fit(np.arange(50.0)[:, None])


@pytest.mark.parametrize(
    ("validation", "message"),
    [(2, "give at least 3"), (0.95, "leaves no training window"), (95, "leaves no training")],
)
def test_validation_that_cannot_be_is_refused(validation, message, frame, tiny):
    with pytest.raises(ParameterError, match=message):
        tiny(validation=validation).fit(frame)


def test_a_refit_takes_all_rows_for_the_best_epochs(frame, tiny):
    bare = {"skip": False}
    refitted = tiny(model=bare, epochs=4, refit_all=True, schedule="constant").fit(frame)
    assert refitted.best_epoch_ > 0
    plain = tiny(
        model=bare,
        epochs=refitted.best_epoch_,
        validation=None,
        schedule="constant",
        patience=None,
    ).fit(frame)
    assert same(refitted, plain)
    assert refitted.scales_.target.offset[0, 0] == pytest.approx(frame["y"].mean())
    assert refitted.skill_ == refitted.skill_


def test_a_refit_keeps_the_penalty_that_validation_chose(frame):
    shared = {"horizon": 3, "context": 12}
    chosen = Forecaster(Linear(), **shared).fit(frame)
    refitted = Forecaster(Linear(), training=Training(refit_all=True), **shared).fit(frame)
    plain = Forecaster(Linear(), training=Training(validation=None), **shared).fit(frame)
    assert refitted.network_.skip.ratio == chosen.network_.skip.ratio
    assert refitted.network_.skip.ratio not in (None, 0.01)
    assert refitted.network_.offset.equal(chosen.network_.offset)
    for other in (chosen, plain):
        assert not refitted.network_.skip.weight.equal(other.network_.skip.weight)


def test_a_stride_learns_a_law_that_holds_at_one_phase_only():
    """Each week is a rotation of the one before; days of two weeks follow no such law."""
    random = np.random.default_rng(0)
    centring = np.eye(7) - 1 / 7
    basis = np.linalg.svd(centring)[0][:, :6]
    turn = basis @ np.linalg.qr(random.normal(size=(6, 6)))[0] @ basis.T
    weeks = [centring @ random.normal(size=7)]
    for _ in range(79):
        weeks.append(turn @ weeks[-1])
    table = pd.DataFrame(
        {"y": 10 + np.concatenate(weeks)}, index=pd.date_range("2024-01-01", periods=560)
    )
    errors = {}
    for stride in (1, 7):
        training = Training(stride=stride, validation=70)
        one = Forecaster(Linear(), horizon=7, context=7, training=training).fit(table.iloc[:-7])
        errors[stride] = np.abs(one.predict().to_numpy() - table.iloc[-7:].to_numpy()).mean()
    assert errors[7] < 0.02
    assert errors[1] > 0.2


# what may go wrong


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_diverging_fit_says_so(frame, tiny):
    with pytest.raises(TrainingFailed, match="training__learning_rate"):
        tiny(epochs=3, learning_rate=1e30, clip=None).fit(frame)


def test_an_interrupt_reaches_the_caller(frame, tiny):
    def interrupt(row):
        raise KeyboardInterrupt

    forecaster = tiny(callbacks=(interrupt,))
    with pytest.raises(KeyboardInterrupt):
        forecaster.fit(frame)
    assert "pytorch_lightning" not in {
        type(value).__module__.partition(".")[0] for value in vars(forecaster).values()
    }


def test_too_little_data_says_how_much_is_needed(frame, tiny):
    with pytest.raises(SeriesTooShort, match=r"context 12 \+ horizon 3 need 15"):
        tiny().fit(frame[:14])


@pytest.mark.parametrize(
    "wrong", [{"context": 0}, {"scaling": "minmax"}, {"random_state": -1}], ids=str
)
def test_parameters_out_of_range_are_refused(wrong, frame):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Forecaster(**{"horizon": 3, **wrong}).fit(frame)


def test_a_wrong_part_is_refused(frame):
    with pytest.raises(ParameterError, match="d_model"):
        Forecaster(Informer(d_model=0), horizon=3).fit(frame)


def test_there_is_one_warning_where_nothing_was_learned(linear):
    walk = np.random.default_rng(1).normal(size=300).cumsum()
    with pytest.warns(UserWarning) as caught:
        forecaster = linear(horizon=1, context=2, training=Training(validation=3)).fit(
            walk_with_lucky_naive(walk)
        )
    assert len(caught) == 1
    assert "no better than persistence (skill" in str(caught[0].message)
    assert forecaster.skill_ <= 0


def walk_with_lucky_naive(walk):
    """A random walk that stands still over the validation rows: persistence is all but exact."""
    walk[-4:] = walk[-4] + np.array([0, 0, 0, 0.01])
    return walk[:, None]


def test_the_skill_compares_with_persistence(frame, linear):
    forecaster = linear(training=Training(validation=20)).fit(frame)
    own, naive = [], []
    y = frame["y"].to_numpy()
    for origin in range(80, 98):
        forecast = forecaster.predict(frame[:origin])["y"].to_numpy()
        own.append(np.abs(y[origin : origin + 3] - forecast))
        naive.append(np.abs(y[origin : origin + 3] - y[origin - 7 : origin - 4]))
    assert forecaster.skill_ == pytest.approx(1 - np.sum(own) / np.sum(naive), rel=1e-4)


@pytest.mark.parametrize(
    "rows", [np.tile(np.arange(7.0), 20), np.sin(np.arange(140) / 7 * 2 * np.pi)]
)
def test_two_that_are_perfect_up_to_rounding_are_tied(rows, linear):
    frame = pd.DataFrame({"y": rows}, index=pd.date_range("2024-01-01", periods=140))
    assert linear(context=14).fit(frame).skill_ == 0  # and there is no warning


def test_the_skill_of_a_constant_is_unknown(linear):
    frame = pd.DataFrame({"y": np.full(60, 3.0)}, index=pd.date_range("2024-01-01", periods=60))
    assert np.isnan(linear().fit(frame).skill_)


# covariates


def test_what_is_known_in_advance_is_used(tiny):
    random = np.random.default_rng(0)
    data = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=260)})
    data["price"] = random.normal(size=260)
    data["y"] = data["price"] * 3
    data["noise"] = random.normal(size=260)
    forecaster = tiny(
        "transformer",
        model={"skip": False, "dropout": 0.0},
        context=4,
        horizon=2,
        scaling="series",  # the price says what y is, not what it is in the window's units
        schema=Schema(target="y", known=["price", "noise"]),
        epochs=12,
        learning_rate=2e-2,
        patience=None,
    ).fit(data[:240])
    errors, spread = [], data["y"].std()
    for origin in range(240, 258, 2):
        future = data[["day", "noise", "price"]].iloc[origin : origin + 2]
        forecast = forecaster.predict(data[:origin], future=future)
        errors.append(forecast["y"].to_numpy() - data["y"][origin : origin + 2].to_numpy())
    assert np.abs(errors).mean() < 0.4 * spread
    shuffled = future.sample(frac=1, random_state=0)[["price", "day", "noise"]]
    pd.testing.assert_frame_equal(forecaster.predict(data[:origin], future=shuffled), forecast)


def test_every_role_and_kind_of_covariate_goes_together(long, tiny):
    random = np.random.default_rng(0)
    data = long.assign(
        wind=random.normal(size=len(long)),
        sky=random.choice(["rain", "sun"], len(long)),
        price=random.normal(size=len(long)),
        promotion=random.choice(["no", "yes"], len(long)),
        size=long["id"].map({"a": 1.0, "b": 2.0, "c": 5.0}),
        region=long["id"].map({"a": "north", "b": "south", "c": "north"}),
    )
    schema = Schema(
        target="y",
        past=["wind", "sky"],
        known=["price", "promotion"],
        static=["size", "region"],
    )
    forecaster = tiny(schema=schema, model={"skip": False}).fit(data)
    ends = data.groupby("id")["day"].max()
    parts = [
        pd.DataFrame(
            {
                "id": name,
                "day": pd.date_range(ends[name], periods=4)[1:],
                "price": 0.5,
                "promotion": "yes",
            }
        )
        for name in "abc"
    ]
    future = pd.concat(parts)
    expected = forecaster.predict(future=future)
    assert np.isfinite(expected["y"]).all()

    def moves(changed, future=future):
        return not np.allclose(forecaster.predict(changed, future=future)["y"], expected["y"])

    last = data.index[data["day"] >= "2024-03-01"]
    pd.testing.assert_frame_equal(forecaster.predict(data, future=future), expected)
    assert moves(data.assign(wind=data["wind"].where(~data.index.isin(last), 9.0)))
    assert moves(data.assign(sky="rain"))
    assert moves(data.assign(size=3.0))
    assert moves(data.assign(region="south"))
    assert moves(data, future.assign(price=9.0))
    assert moves(data, future.assign(promotion="no"))


def test_known_covariates_count_as_missing_after_the_end_of_a_score(frame, tiny):
    data = frame.assign(price=np.arange(100.0))
    forecaster = tiny(schema=Schema(target="y", known="price")).fit(data[:90])
    assert np.isfinite(forecaster.score(data[:91]))
    assert np.isfinite(forecaster.score(data))


# gaps


def test_a_value_that_is_missing_is_named(frame, tiny):
    frame.loc[41, "y"] = np.nan
    with pytest.raises(MissingValues, match=r"'y'.*2024-02-11.*row 41"):
        tiny().fit(frame)


def test_a_gap_of_a_whole_context_is_survived(frame, tiny):
    frame.loc[30:60, "y"] = np.nan
    forecaster = tiny(policy=Policy(missing="mask")).fit(frame)
    assert np.isfinite(forecaster.predict()["y"]).all()
    frame.loc[85:, "y"] = np.nan
    assert np.isfinite(forecaster.predict(frame)["y"]).all()


def test_validation_rows_without_a_value_choose_nothing(frame, tiny):
    frame.loc[80:, "y"] = np.nan
    forecaster = tiny(policy=Policy(missing="mask"), epochs=2).fit(frame)
    assert forecaster.best_epoch_ is None
    assert np.isnan(forecaster.skill_)


# several series


def test_series_of_different_levels_share_a_network(long, linear):
    forecaster = linear().fit(long)
    far = long.assign(y=long["y"] + long["id"].map({"a": 0.0, "b": 1e6, "c": -1e3}))
    expected = forecaster.predict()
    found = linear().fit(far).predict()
    moved = found["y"] - found["id"].map({"a": 0.0, "b": 1e6, "c": -1e3})
    np.testing.assert_allclose(moved, expected["y"], atol=0.05)


# scikit-learn


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_grid_search_finds_a_setting(jobs):
    steps = np.arange(220)
    values = np.sin(steps[:, None] / [4.0, 3.0]) + np.random.default_rng(0).normal(
        scale=0.1, size=(220, 2)
    )
    stamps = pd.date_range("2024-01-01", periods=220, freq="h")
    frame = pd.DataFrame(values, columns=["a", "b"], index=stamps)
    search = GridSearchCV(
        Forecaster(Linear(), horizon=24, context=48),
        {"training__learning_rate": [1e-3, 1e-2]},
        cv=RollingOrigin(folds=2, horizon=24),
        n_jobs=jobs,
    ).fit(frame)
    assert search.best_score_ < 0
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(frame).shape == (24, 2)


@pytest.mark.filterwarnings("ignore:on the validation rows")
def test_a_network_may_be_searched(frame, tiny):
    search = GridSearchCV(
        tiny(), {"model__kernel": [1, 3]}, cv=RollingOrigin(folds=1, horizon=3)
    ).fit(frame)
    assert set(search.best_params_) == {"model__kernel"}


class Steps:
    """A clock by which a training step takes a second, and nothing else takes any time."""

    def __init__(self):
        self.taken = 0

    def monotonic(self):
        return float(self.taken)


@pytest.fixture
def a_second_a_step(monkeypatch):
    clock, step = Steps(), module.ForecastModule.training_step

    def timed(self, batch, batch_index):
        clock.taken += 1
        return step(self, batch, batch_index)

    monkeypatch.setattr(module.ForecastModule, "training_step", timed)
    monkeypatch.setattr(budget, "time", clock)
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_the_time_of_a_fit_holds_the_refit_too(a_second_a_step, tiny, frame):
    shared = {"epochs": 50, "patience": None, "batch_size": 8}
    refitted = tiny(max_time=40.0, refit_all=True, **shared).fit(frame)
    assert a_second_a_step.taken <= 41
    assert len(refitted.history_) <= 1 + 0.4 * 40 / 8  # what is left is for the second one
    assert "training ended in epoch" in refitted.cut_short_
    assert np.isfinite(refitted.predict()).to_numpy().all()


def test_the_time_of_a_fit_holds_the_reading_too(a_second_a_step, tiny, frame, monkeypatch):
    def slowly(*given):
        a_second_a_step.taken += 37
        return read_panel(*given)

    monkeypatch.setattr(contract, "read_panel", slowly)
    fitted = tiny(max_time=40.0, epochs=50, patience=None, batch_size=8).fit(frame)
    assert 38 <= a_second_a_step.taken <= 41
    assert "training ended in epoch 1 of at most 50" in fitted.cut_short_


def test_without_time_for_the_refit_the_first_fit_is_kept(a_second_a_step, tiny, frame):
    shared = {"epochs": 1, "patience": None, "batch_size": 8}
    shared["model"] = {"skip": False}  # the first epoch is better than none
    refitted = tiny(max_time=16.0, refit_all=True, **shared).fit(frame)
    once = tiny(max_time=6.4, **shared).fit(frame)
    assert refitted.best_epoch_ == 1
    assert "there was no time to train once more on all rows" in refitted.cut_short_
    pd.testing.assert_frame_equal(refitted.predict(), once.predict())
    assert refitted.skill_ == once.skill_


def test_a_fit_says_what_was_cut_short_and_a_file_keeps_it(a_second_a_step, tiny, frame, tmp_path):
    fitted = tiny(epochs=50, max_time=5.0).fit(frame)
    assert "training ended in epoch 2 of at most 50, at step " in fitted.cut_short_
    assert load(fitted.save(tmp_path / "cut")).cut_short_ == fitted.cut_short_
    assert tiny(epochs=1).fit(frame).cut_short_ == ""


@pytest.mark.slow
def test_a_panel_of_2000_series_is_fitted_in_its_time():
    rows, series = 200, 2000
    noise = np.random.default_rng(0).normal(scale=0.3, size=(series, rows))
    values = 10 + np.sin(2 * np.pi * np.arange(rows) / 7 + np.arange(series)[:, None]) + noise
    days = np.tile(pd.date_range("2024-01-01", periods=rows), series)
    frame = pd.DataFrame({"id": np.repeat(np.arange(series), rows), "day": days})
    frame["y"] = values.ravel()
    began = time.monotonic()
    fitted = Forecaster(
        horizon=14, schema=Schema(series="id"), training=Training(max_time=30, callbacks=[Watch()])
    ).fit(frame)
    took = time.monotonic() - began
    assert took < 60  # 45 on a machine that has nothing else to do
    assert Watch.seconds > 0.4 * took  # half and more on such a one
    assert fitted.skill_ > 0
    assert "validation windows were judged" in fitted.cut_short_


class Watch(pl.Callback):
    """Seconds spent on training steps."""

    seconds = 0.0

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        self.began = time.monotonic()

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        Watch.seconds += time.monotonic() - self.began
