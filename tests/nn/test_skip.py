from typing import NamedTuple

import pytest
import torch
from sklearn.linear_model import Ridge
from torch import Tensor

from tsformer.errors import ParameterError
from tsformer.nn import LinearSkip


class Batch(NamedTuple):
    past_target: Tensor
    past_observed: Tensor
    future_target: Tensor
    future_observed: Tensor
    weight: Tensor


def batches(truth, *, count=4, noise=0.0, missing=0.0, seed=0):
    """Windows whose centred future is ``truth`` applied to their centred past."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for _ in range(count):
        past = 3 + torch.randn(20, truth.shape[0], 2, generator=generator)
        mean = past.mean(1, keepdim=True)
        future = ((past - mean).mT @ truth).mT + mean
        future = future + noise * torch.randn(future.shape, generator=generator)
        observed = torch.rand(future.shape, generator=generator) >= missing
        made.append(
            Batch(
                past,
                torch.ones_like(past, dtype=torch.bool),
                future.masked_fill(~observed, 0),
                observed,
                torch.rand(20, generator=generator) + 0.5,
            )
        )
    return made


def centred(made):
    """All windows as rows: past, future and weight, in float64."""
    rows = []
    for batch in made:
        mean = batch.past_target.double().mean(1, keepdim=True)
        rows.append(
            (
                (batch.past_target - mean).mT.flatten(0, 1),
                (batch.future_target - mean).mT.flatten(0, 1),
                batch.weight.repeat_interleave(2),
            )
        )
    return [torch.cat(parts).numpy() for parts in zip(*rows, strict=True)]


TRUTH = torch.randn(8, 3, generator=torch.Generator().manual_seed(1))
TRUTH = TRUTH - TRUTH.mean(0)  # centred windows cannot tell a constant in the weights


def test_recovers_a_linear_map():
    skip, made = LinearSkip(8, 3), batches(TRUTH)
    skip.fit_ridge(made, alphas=[1e-9])
    torch.testing.assert_close(skip.weight.detach(), TRUTH, atol=1e-4, rtol=1e-4)
    unseen = batches(TRUTH, seed=5)[0]
    forecast = skip(unseen.past_target, unseen.past_observed)
    torch.testing.assert_close(forecast, unseen.future_target, atol=1e-3, rtol=1e-3)


def test_equals_scikit_learn():
    skip, made = LinearSkip(8, 3), batches(TRUTH, noise=1.0)
    alpha = skip.fit_ridge(lambda: iter(made), alphas=[0.3])
    past, future, weight = centred(made)
    ridge = Ridge(alpha=alpha, fit_intercept=False).fit(past, future, sample_weight=weight)
    expected = torch.tensor(ridge.coef_.T, dtype=torch.float32)
    torch.testing.assert_close(skip.weight.detach(), expected, atol=1e-5, rtol=1e-5)


def covariates(batch):
    """(batch, 2, target) numbers beside the past, no linear function of it."""
    return batch.past_target.abs()[:, :2].flip(0)


def moved(made):
    """Each target moved by the covariates, each in its own way."""
    effect = torch.tensor([[[1.0, 0.0, -2.0], [0.5, 3.0, 0.0]], [[-1.0, 1.0, 0.0], [0, 0, 7.0]]])
    return effect, [
        one._replace(
            future_target=one.future_target
            + torch.einsum("bnt,tnh->bht", covariates(one), effect).masked_fill(
                ~one.future_observed, 0
            )
        )
        for one in made
    ]


def test_recovers_what_each_target_owes_to_what_is_beside():
    skip = LinearSkip(8, 3, covariates=2, targets=2)
    effect, made = moved(batches(TRUTH, missing=0.05))
    skip.fit_ridge(made, alphas=[1e-9], covariates=covariates)
    torch.testing.assert_close(skip.weight.detach(), TRUTH, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(skip.covariate_weight.detach(), effect, atol=1e-3, rtol=1e-3)
    unseen = moved(batches(TRUTH, seed=5))[1][0]
    forecast = skip(unseen.past_target, unseen.past_observed, covariates(unseen))
    torch.testing.assert_close(forecast, unseen.future_target, atol=1e-2, rtol=1e-3)


def test_with_something_beside_it_equals_scikit_learn():
    skip = LinearSkip(8, 3, covariates=2, targets=2)
    made = moved(batches(TRUTH, noise=1.0))[1]
    alpha = skip.fit_ridge(made, alphas=[0.3], covariates=covariates)
    past, future, weight = centred(made)
    own = torch.cat([covariates(one).mT for one in made]).double()  # (window, target, number)
    spread = torch.zeros(*own.shape[:2], 2, own.shape[2], dtype=torch.float64)
    spread[:, [0, 1], [0, 1]] = own
    features = torch.cat([torch.tensor(past), spread.flatten(0, 1).flatten(1)], 1).numpy()
    ridge = Ridge(alpha=alpha, fit_intercept=False).fit(features, future, sample_weight=weight)
    expected = torch.tensor(ridge.coef_.T, dtype=torch.float32)
    torch.testing.assert_close(skip.weight.detach(), expected[:8], atol=1e-5, rtol=1e-5)
    weight = skip.covariate_weight.detach().flatten(0, 1)
    torch.testing.assert_close(weight, expected[8:], atol=1e-5, rtol=1e-5)


def test_nothing_beside_is_looked_at_without_weights_for_it():
    made = batches(TRUTH, noise=1.0)
    plain, other = LinearSkip(8, 3), LinearSkip(8, 3)
    plain.fit_ridge(made)
    other.fit_ridge(made, covariates=covariates)
    assert other.covariate_weight is None
    assert plain.weight.equal(other.weight)
    one = made[0]
    with_both = other(one.past_target, one.past_observed, covariates(one))
    assert with_both.equal(plain(one.past_target, one.past_observed))


def test_the_chosen_penalty_is_remembered():
    train, validation = batches(TRUTH, noise=5.0), batches(TRUTH, noise=5.0, seed=3)
    skip = LinearSkip(8, 3)
    chosen = skip.fit_ridge(train, validation, alphas=[0.3, 1.0])
    assert skip.ratio in (0.3, 1.0)
    assert skip.fit_ridge(train) == chosen


def test_validation_chooses_the_penalty():
    train = batches(TRUTH, count=1, noise=5.0)
    validation = batches(TRUTH, noise=5.0, missing=0.2, seed=3)
    alphas = [1e-3, 1e-1, 1.0, 10.0]

    def error(skip):
        total = 0.0
        for batch in validation:
            forecast = skip(batch.past_target, batch.past_observed).detach()
            difference = forecast - batch.future_target
            counts = batch.future_observed * batch.weight[:, None, None]
            total += float((difference.square() * counts).sum())
        return total

    chosen = LinearSkip(8, 3)
    best = chosen.fit_ridge(train, validation, alphas=alphas)
    tried = {}
    for alpha in alphas:
        skip = LinearSkip(8, 3)
        penalty = skip.fit_ridge(train, alphas=[alpha])
        tried[penalty] = error(skip)
    assert best == pytest.approx(min(tried, key=tried.get))
    assert error(chosen) == pytest.approx(min(tried.values()), rel=1e-5)


def test_missing_future_steps_are_filled_with_their_forecast():
    skip = LinearSkip(8, 3)
    made = batches(TRUTH, missing=0.1)
    made[0].future_observed[:4] = False  # windows without any future
    skip.fit_ridge(made, alphas=[1e-9])
    torch.testing.assert_close(skip.weight.detach(), TRUTH, atol=0.02, rtol=0.02)


def test_missing_past_steps_count_as_the_mean():
    skip = LinearSkip(4, 1)
    torch.nn.init.ones_(skip.weight)
    past = torch.tensor([1.0, 3.0, 99.0, 99.0]).reshape(1, 4, 1)
    observed = torch.tensor([True, True, False, False]).reshape(1, 4, 1)
    assert skip(past, observed).item() == pytest.approx(2.0)
    assert skip(past, observed & False).item() == 0


def test_nothing_to_learn_leaves_the_mean():
    batch = batches(TRUTH)[0]
    constant = batch._replace(past_target=torch.full_like(batch.past_target, 4.0))
    unknown = batch._replace(future_observed=torch.zeros_like(batch.future_observed))
    for useless in (constant, unknown):
        skip = LinearSkip(8, 3)
        assert skip.fit_ridge([useless]) == 0
        assert skip.weight.eq(0).all()


def test_errors():
    skip, made = LinearSkip(8, 3), batches(TRUTH)
    with pytest.raises(ParameterError, match="only once"):
        skip.fit_ridge(iter(made))
    with pytest.raises(ParameterError, match="needs validation"):
        skip.fit_ridge(made, alphas=[0.1, 1.0])
    with pytest.raises(ParameterError, match="positive"):
        skip.fit_ridge(made, alphas=[0.0])
    with pytest.raises(ParameterError, match="no batch"):
        skip.fit_ridge([])


@pytest.mark.parametrize("validation", [None, [], "unobserved"])
def test_without_windows_to_judge_by_the_penalty_is_the_modest_one(validation):
    made = batches(TRUTH, noise=1.0)
    if validation == "unobserved":
        validation = [one._replace(future_observed=one.future_observed & False) for one in made]
    skip, plain = LinearSkip(8, 3), LinearSkip(8, 3)
    assert skip.fit_ridge(made, validation) == plain.fit_ridge(made, alphas=[0.01])
    assert skip.weight.equal(plain.weight)


# what is beside the past must pay


@pytest.mark.parametrize("sign", [1, -1])
def test_what_does_not_help_validation_windows_is_left_out(sign):
    train, validation = batches(TRUTH, noise=1.0), batches(TRUTH, noise=1.0, seed=9)
    hints = {id(one): one.future_target.mean(1, keepdim=True) for one in train}
    hints |= {id(one): sign * one.future_target.mean(1, keepdim=True) for one in validation}
    skip = LinearSkip(8, 3, covariates=1, targets=2)
    skip.fit_ridge(train, validation, covariates=lambda batch: hints[id(batch)])
    assert skip.without_covariates is (sign < 0)
    assert bool((skip.covariate_weight == 0).all()) is (sign < 0)
    if sign < 0:
        plain = LinearSkip(8, 3)
        plain.fit_ridge(train, validation)
        torch.testing.assert_close(skip.weight, plain.weight)
        assert skip.ratio == plain.ratio
    # and so it stays where nothing can be judged
    again = LinearSkip(8, 3, covariates=1, targets=2)
    again.ratio, again.without_covariates = skip.ratio, skip.without_covariates
    again.fit_ridge(train, None, covariates=lambda batch: hints[id(batch)])
    torch.testing.assert_close(again.weight, skip.weight)
    torch.testing.assert_close(again.covariate_weight, skip.covariate_weight)


def test_a_flat_past_leaves_what_is_beside_alone():
    truth = torch.zeros(4, 2)
    made = [
        one._replace(past_target=torch.full_like(one.past_target, 3.0)) for one in batches(truth)
    ]
    hints = {id(one): one.future_target.mean(1, keepdim=True) for one in made}
    skip = LinearSkip(4, 2, covariates=1, targets=2)
    skip.fit_ridge(made, made, covariates=lambda batch: hints[id(batch)])
    assert skip.weight.isfinite().all() and skip.covariate_weight.isfinite().all()


def test_autocasting_leaves_the_forecast_exact():
    skip = LinearSkip(8, 3, covariates=1, targets=2)
    made = batches(TRUTH, noise=1.0)
    hints = {id(one): one.future_target.mean(1, keepdim=True) for one in made}
    skip.fit_ridge(made, made, covariates=lambda batch: hints[id(batch)])
    one = made[0]
    exact = skip(one.past_target, one.past_observed, hints[id(one)])
    with torch.autocast("cpu", torch.bfloat16):
        assert skip(one.past_target, one.past_observed, hints[id(one)]).equal(exact)
