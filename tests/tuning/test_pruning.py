import optuna
import pytest

from tsformer.tuning.pruning import AS_GIVEN, FoldPruner, FoldReports


@pytest.fixture
def study():
    pruner = optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=1)
    return optuna.create_study(pruner=FoldPruner(pruner))


def tell(study, losses, errors):
    """A complete trial: losses by fold and epoch, and mean errors after each fold."""
    trial = study.ask()
    reports = FoldReports(trial)
    for fold, epochs in enumerate(losses):
        for epoch, loss in enumerate(epochs):
            reports.epoch(fold, epoch, loss)
        if fold < len(errors):
            reports.folds(fold + 1, errors[fold])
    study.tell(trial, errors[-1])


@pytest.fixture
def hard(study):
    """Two folds, of which the second is ten times as hard."""
    tell(study, [[2, 1.0], [20, 10.0]], [1.0, 5.5])
    tell(study, [[2, 1.2], [20, 12.0]], [1.2, 6.6])
    return study


def test_a_trial_is_measured_against_others_in_the_same_fold(hard):
    trial = hard.ask()
    reports = FoldReports(trial)
    reports.epoch(0, 0, 2.0)
    reports.epoch(0, 1, 1.05)
    assert not trial.should_prune()
    reports.epoch(1, 0, 30.0)
    assert not trial.should_prune()  # the state before the first step
    reports.epoch(1, 1, 10.9)
    assert not trial.should_prune()
    reports.epoch(1, 2, 10.0)
    assert not trial.should_prune()  # nobody was there yet
    behind = hard.ask()
    reports = FoldReports(behind)
    reports.epoch(0, 1, 0.5)  # by far the best there, which is no excuse
    assert not behind.should_prune()
    reports.epoch(1, 1, 11.1)
    assert behind.should_prune()


def test_a_trial_is_measured_by_its_mean_error_after_a_fold(hard):
    good, bad = hard.ask(), hard.ask()
    FoldReports(good).folds(1, 1.05)
    FoldReports(bad).folds(1, 1.15)
    FoldReports(good).prune()
    with pytest.raises(optuna.TrialPruned):
        FoldReports(bad).prune()


def test_losses_and_errors_are_not_mixed(hard):
    trial = hard.ask()
    reports = FoldReports(trial)
    reports.folds(1, 0.01)
    reports.epoch(1, 1, 13.0)
    assert trial.should_prune()


def test_the_forecaster_as_given_is_never_ended(hard):
    hard.enqueue_trial({}, user_attrs={AS_GIVEN: True})
    trial = hard.ask()
    tell_row = FoldReports(trial).of_fold(0)
    tell_row({"epoch": 1, "validation_loss": 99.0})
    assert trial.should_prune()  # as a pruner sees it
    other = hard.ask()
    with pytest.raises(optuna.TrialPruned):
        FoldReports(other).of_fold(0)({"epoch": 1, "validation_loss": 99.0})


def test_a_loss_that_is_not_known_says_nothing(hard):
    trial = hard.ask()
    FoldReports(trial).of_fold(0)({"epoch": 1, "validation_loss": float("nan")})
    assert not trial.should_prune()
    assert hard.get_trials()[trial.number].intermediate_values == {}


@pytest.mark.parametrize(
    "pruner",
    [
        optuna.pruners.SuccessiveHalvingPruner(),
        optuna.pruners.HyperbandPruner(),
        optuna.pruners.ThresholdPruner(upper=5.0),
    ],
    ids=lambda pruner: type(pruner).__name__,
)
def test_other_pruners_can_be_asked(pruner):
    study = optuna.create_study(pruner=FoldPruner(pruner))
    for size in range(1, 8):
        trial = study.ask()
        reports = FoldReports(trial)
        for epoch in range(4):
            reports.epoch(0, epoch, float(size))
            trial.should_prune()
        study.tell(trial, float(size))
    trial = study.ask()
    FoldReports(trial).epoch(0, 1, 9.0)
    assert trial.should_prune() or not isinstance(pruner, optuna.pruners.ThresholdPruner)
