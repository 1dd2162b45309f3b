import numpy as np
import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.heads import Head, Point, Quantiles
from tsformer.models import Linear
from tsformer.models.linear import Decomposed, moving_average
from tsformer.models.scaling import StandardNormaliser
from tsformer.nn import from_mean
from tsformer.windows import Sizes

SIZES = Sizes(context=4, horizon=2, target=2, known=1)


def recurrent(batch):
    """Make the future a linear function of the centred past."""
    mean = batch.past_target.mean(1, keepdim=True)
    last = batch.past_target[:, -1:] - mean
    return batch._replace(future_target=mean + torch.cat([last * 0.5, -last], dim=1))


def test_a_linear_law_is_found(make_batch):
    network = Linear().build(SIZES, Point())
    train, validation = recurrent(make_batch(SIZES, rows=200)), recurrent(make_batch(SIZES, seed=1))
    network.prepare([train], [validation], StandardNormaliser())
    batch = recurrent(make_batch(SIZES, seed=2))
    torch.testing.assert_close(network(batch)[..., 0], batch.future_target, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("covariates", [True, False])
def test_covariates_are_used_unless_they_are_not_wanted(covariates, make_batch):
    network, batch = Linear(covariates=covariates).build(SIZES, Point()), make_batch(SIZES)
    network.prepare([batch], [], StandardNormaliser())
    other = batch._replace(known=batch.known.clone())
    other.known[:, -1] += 5
    assert torch.equal(network(batch), network(other)) != covariates


@pytest.mark.parametrize("head", [Point(), Quantiles()], ids=str)
def test_without_covariates_the_parameter_changes_nothing(head, make_batch):
    sizes = Sizes(context=4, horizon=2, target=2, known=3, calendar=3)
    train, validation = make_batch(sizes, rows=30, gaps=True), make_batch(sizes, seed=1)
    networks = [Linear(covariates=wanted).build(sizes, head) for wanted in (True, False)]
    for network in networks:
        network.prepare([train], [validation], StandardNormaliser())
    assert torch.equal(networks[0](validation), networks[1](validation))
    assert list(networks[0].state_dict()) == ["offset", "skip.weight"]


def test_offsets_are_recalled_where_nothing_judges_them(make_batch):
    first, second = (Linear().build(SIZES, Quantiles()) for _ in range(2))
    train, validation = make_batch(SIZES, rows=30), make_batch(SIZES, rows=60, seed=1)
    first.prepare([train], [validation], StandardNormaliser())
    second.inherit(first)
    second.prepare([train, validation], [], StandardNormaliser())
    assert torch.equal(second.offset, first.offset)
    assert not torch.equal(second.skip.weight, first.skip.weight)


def test_quantiles_are_those_of_the_residuals(make_batch):
    levels = (0.1, 0.5, 0.9)
    network = Linear(covariates=False).build(SIZES, Quantiles(levels))
    train, validation = make_batch(SIZES, rows=30), make_batch(SIZES, rows=100, seed=1)
    network.prepare([train], [validation], StandardNormaliser())
    scaled = StandardNormaliser().normalise(validation)
    errors = scaled.future_target - network.skip(scaled.past_target, scaled.past_observed)
    expected = errors.quantile(torch.tensor(levels), dim=0).movedim(0, -1)
    torch.testing.assert_close(network.offset, expected)


class Pair(Quantiles):
    """A head that has no offsets of its own: two levels, by descent of its loss."""

    fit_spread = Head.fit_spread


def test_the_spread_of_any_head_is_fitted(make_batch):
    levels = (0.25, 0.75)
    networks = [
        Linear(covariates=False).build(SIZES, head) for head in (Quantiles(levels), Pair(levels))
    ]
    train, validation = make_batch(SIZES, rows=30), make_batch(SIZES, rows=400, seed=1)
    for network in networks:
        network.prepare([train], [validation], StandardNormaliser())
    exact, descended = (network.offset for network in networks)
    torch.testing.assert_close(descended, exact, atol=0.1, rtol=0)
    assert (descended[..., 0] < descended[..., 1]).all()


def test_missing_residuals_are_left_out(make_batch):
    network = Linear().build(SIZES, Quantiles((0.1, 0.9)))
    train, validation = (
        make_batch(SIZES, rows=60, gaps=True),
        make_batch(SIZES, rows=60, seed=1, gaps=True),
    )
    network.prepare([train], [validation], StandardNormaliser())
    assert network.offset.isfinite().all()
    assert (network.offset[..., 0] < network.offset[..., 1]).all()


@pytest.mark.parametrize("rows", [1, 5])
def test_little_data_is_enough(rows, make_batch):
    network = Linear().build(SIZES, Quantiles())
    network.prepare([make_batch(SIZES, rows=rows)], [], StandardNormaliser())
    assert network(make_batch(SIZES)).isfinite().all()


def test_nothing_is_left_for_gradients():
    network = Linear().build(SIZES, Quantiles())
    assert not any(weight.requires_grad for weight in network.parameters())


def centred_on_last(batch):
    """Past and future less the last value, a row for each window and target, in float64."""
    last = batch.past_target[:, -1:]
    past, future = batch.past_target - last, batch.future_target - last
    return [part.mT.flatten(0, 1).double().numpy() for part in (past, future)]


def split(past, kernel):
    """Trend and remainder of rows, the trend by a loop over the padded row."""
    padded = np.pad(past, [(0, 0), (kernel // 2, kernel // 2)], mode="edge")
    trend = np.stack([padded[:, at : at + kernel].mean(1) for at in range(past.shape[1])], 1)
    return np.concatenate([trend, past - trend], 1)


def ridge(features, future, penalty):
    gram = features.T @ features + penalty * np.eye(features.shape[1])
    return np.linalg.solve(gram, features.T @ future)


@pytest.mark.parametrize("kernel", [None, 1, 3, 9])
def test_the_variants_are_ridge_in_closed_form(kernel, make_batch):
    model = Linear(covariates=False, centre="last", decomposition=kernel)
    network = model.build(SIZES, Point())
    batch = make_batch(SIZES, rows=50)
    penalty = network.skip.fit_ridge([batch], alphas=[0.1])
    past, future = centred_on_last(batch)
    features = past if kernel is None else split(past, kernel)
    weight = ridge(features, future, penalty)
    expected = torch.tensor(weight, dtype=torch.float32)
    torch.testing.assert_close(network.skip.weight.detach(), expected, atol=1e-5, rtol=1e-5)
    other = make_batch(SIZES, seed=1)
    past, _ = centred_on_last(other)
    features = past if kernel is None else split(past, kernel)
    forecast = torch.tensor(features @ weight, dtype=torch.float32).unflatten(0, (5, 2)).mT
    forecast = forecast + other.past_target[:, -1:]
    torch.testing.assert_close(network(other)[..., 0], forecast, atol=1e-5, rtol=1e-5)


def test_trend_and_remainder_together_are_the_window(make_batch):
    batch = make_batch(SIZES, gaps=True)
    whole, _ = from_mean(batch.past_target, batch.past_observed)
    parts, _ = Decomposed(from_mean, 3)(batch.past_target, batch.past_observed)
    trend, remainder = parts.chunk(2, dim=1)
    torch.testing.assert_close(trend + remainder, whole)
    torch.testing.assert_close(trend, moving_average(whole, 3))


def test_with_next_to_no_penalty_the_decomposition_changes_nothing(make_batch):
    batch, other = make_batch(SIZES, rows=200), make_batch(SIZES, seed=1)
    plain, split_up = (
        Linear(covariates=False, decomposition=k).build(SIZES, Point()) for k in (None, 3)
    )
    for network in (plain, split_up):
        network.skip.fit_ridge([batch], alphas=[1e-9])
    torch.testing.assert_close(split_up(other), plain(other), atol=1e-4, rtol=1e-4)


def test_the_last_value_is_the_last_that_was_observed(make_batch):
    network, batch = Linear(centre="last").build(SIZES, Point()), make_batch(SIZES)
    batch.past_observed[0, 3:], batch.past_observed[1] = False, False
    point = network(batch)[..., 0]  # the weights are 0: persistence
    assert torch.equal(point[0], batch.past_target[0, 2].expand(2, 2))
    assert point[1].eq(0).all()
    assert torch.equal(point[2], batch.past_target[2, 3].expand(2, 2))


@pytest.mark.parametrize(
    "model",
    [
        Linear(covariates=False, centre="last"),
        Linear(covariates=False, decomposition=3),
    ],
    ids=str,
)
def test_the_variants_follow_level_and_scale(model, make_batch):
    network = model.build(SIZES, Point())
    network.prepare([make_batch(SIZES, rows=40)], [make_batch(SIZES, seed=1)], StandardNormaliser())
    batch = make_batch(SIZES, seed=2)
    moved = batch._replace(past_target=batch.past_target * 10 + 1000)
    torch.testing.assert_close(network(moved), network(batch) * 10 + 1000, atol=1e-2, rtol=1e-5)


def test_an_even_average_is_refused():
    with pytest.raises(ParameterError, match=r"Linear\(decomposition=4\): .* odd"):
        Linear(decomposition=4).check()
    with pytest.raises(ParameterError, match="odd"):
        Linear(decomposition=2).build(SIZES, Point())


def test_a_last_batch_may_hold_fewer_windows_than_lie_between_two_residuals(
    make_batch, monkeypatch
):
    monkeypatch.setattr("tsformer.models.residuals._MOST", 3)
    batches = [make_batch(SIZES, rows=rows, seed=rows) for rows in (5, 5, 1)]
    network = Linear().build(SIZES, Quantiles())
    network.prepare(batches, [], StandardNormaliser())
    assert torch.isfinite(network(batches[0])).all()
