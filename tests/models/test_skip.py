import pytest
import registry
import torch
from sklearn.base import clone

from tsformer.heads import Point, Quantiles
from tsformer.models import Informer, InvertedTransformer, Linear
from tsformer.models.scaling import StandardNormaliser
from tsformer.models.skip import Covariates
from tsformer.windows import Sizes

MODELS = registry.gathered(registry.MODELS, "networks")
SIZES = Sizes(context=6, horizon=3, target=2, past=1, known=4, calendar=1, lagged=2)


def test_the_horizon_and_as_many_steps_before_are_seen():
    assert Covariates(SIZES).number == 3 + 3 * 2
    short = Sizes(context=2, horizon=3, past=1, known=1)
    assert Covariates(short).number == 3 + 2 * 2


@pytest.mark.parametrize(
    "sizes",
    [
        Sizes(context=6, horizon=3),
        Sizes(context=6, horizon=3, known=5, calendar=5, static=2),
        Sizes(context=6, horizon=3, known=5, calendar=3, lagged=2),
        Sizes(context=6, horizon=3, known_cardinalities=(3,), past_cardinalities=(2,)),
    ],
    ids=["none", "calendar", "lags", "codes"],
)
def test_without_covariates_there_is_nothing(sizes, make_batch):
    covariates = Covariates(sizes)
    assert covariates.number == 0
    assert covariates(make_batch(sizes)).shape == (5, 0, 1)
    network = Linear().build(sizes, Point())
    assert network.skip.covariate_weight is None


@pytest.mark.parametrize(
    ("sizes", "number"),
    [
        (Sizes(context=600, horizon=500, known=2), 1000 + 2 * 12),
        (Sizes(context=600, horizon=512, known=2), 1024),
        (Sizes(context=600, horizon=513, known=2), 0),
        (Sizes(context=600, horizon=513, known=2, past=1), 513),
        (Sizes(context=96, horizon=24, target=20, known=2), 48 + 2),
        (Sizes(context=96, horizon=24, target=22, known=2), 0),
        (Sizes(context=96, horizon=24, target=2000, past=1), 0),
    ],
)
def test_the_number_is_bounded_and_what_is_nearest_stays(sizes, number):
    assert Covariates(sizes).number == number


def test_each_covariate_is_measured_from_its_mean_over_the_context(make_batch):
    batch = make_batch(SIZES)
    found = Covariates(SIZES)(batch)
    known = batch.known[..., 1:2] - batch.known[:, :6, 1:2].mean(1, keepdim=True)
    past = batch.past - batch.past.mean(1, keepdim=True)
    expected = torch.cat([known[:, 3:].flatten(1), past[:, 3:].flatten(1)], 1)
    torch.testing.assert_close(found, expected.unsqueeze(-1).expand(-1, -1, 2))


def test_what_is_missing_counts_as_the_mean(make_batch):
    batch = make_batch(SIZES)
    batch.known_present[:, 4] = False
    batch.past_present[:, 5] = False
    other = batch._replace(known=batch.known.clone(), past=batch.past.clone())
    other.known[:, 4], other.past[:, 5] = 99.0, 99.0
    found = Covariates(SIZES)(batch)
    assert torch.equal(found, Covariates(SIZES)(other))
    assert found[:, 1].eq(0).all()
    assert found[:, -1].eq(0).all()


def test_the_skip_sees_them_in_the_units_of_the_targets(make_batch):
    sizes = Sizes(context=6, horizon=3, known=2)
    network = Linear().build(sizes, Point())
    batch = multiples(make_batch, sizes)
    network.prepare([batch], [batch], StandardNormaliser())
    scaled = StandardNormaliser().normalise(batch)
    assert torch.equal(Covariates(sizes)(scaled), Covariates(sizes)(batch))
    back = network(scaled)[..., 0] * scaled.scale + scaled.location
    torch.testing.assert_close(back, network(batch)[..., 0], atol=1e-3, rtol=1e-4)


def multiples(make_batch, sizes, *, seed=0, level=0.0, rows=200):
    """Targets that are each a multiple of the first known covariate, at any level."""
    batch = make_batch(sizes, seed=seed, rows=rows)
    batch = batch._replace(known=batch.known + level)
    factors = torch.arange(3.0, 3.0 + sizes.target) * torch.tensor([1.0, -1.0])[: sizes.target]
    target = batch.known[..., :1] * factors + 5
    return batch._replace(
        past_target=target[:, : sizes.context], future_target=target[:, sizes.context :]
    )


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize(
    "model", [Linear(), Linear(centre="last"), Linear(decomposition=3)], ids=str
)
def test_a_multiple_of_a_covariate_is_forecast_exactly(model, targets, make_batch):
    sizes = Sizes(context=6, horizon=3, target=targets, known=2)
    network = model.build(sizes, Point())
    network.prepare(
        [multiples(make_batch, sizes)], [multiples(make_batch, sizes, seed=1)], StandardNormaliser()
    )
    # at a level that was never seen, and standardised by window
    unseen = multiples(make_batch, sizes, seed=2, level=50.0, rows=5)
    scaled = StandardNormaliser().normalise(unseen)
    forecast = network(scaled)[..., 0] * scaled.scale + scaled.location
    torch.testing.assert_close(forecast, unseen.future_target, atol=0.01, rtol=1e-4)


@pytest.mark.parametrize("model", [Informer(), InvertedTransformer()], ids=str)
def test_a_network_carries_them_too(model, build, make_batch):
    sizes = Sizes(context=6, horizon=3, target=2, known=2)
    with torch.random.fork_rng():
        network = model.build(sizes, Point()).eval()
    network.prepare(
        [multiples(make_batch, sizes)], [multiples(make_batch, sizes, seed=1)], StandardNormaliser()
    )
    unseen = multiples(make_batch, sizes, seed=2, rows=5)
    scaled = StandardNormaliser().normalise(unseen)
    forecast = network(scaled)[..., 0] * scaled.scale + scaled.location
    torch.testing.assert_close(forecast, unseen.future_target, atol=0.01, rtol=1e-4)
    bare = model.set_params(skip=False).build(sizes, Point())
    assert torch.equal(bare.skipped(unseen), torch.zeros(5, 3, 2))


def test_past_covariates_lead_the_way(make_batch):
    sizes = Sizes(context=6, horizon=3, past=2)

    def led(seed, rows):
        batch = make_batch(sizes, seed=seed, rows=rows)
        step = batch.past[:, -1:, 1:] - batch.past[..., 1:].mean(1, keepdim=True)
        mean = batch.past_target.mean(1, keepdim=True)
        return batch._replace(future_target=mean + step * torch.tensor([1.0, 2.0, -1.0])[:, None])

    network = Linear().build(sizes, Point())
    network.prepare([led(0, 200)], [led(1, 50)], StandardNormaliser())
    batch = led(2, 5)
    torch.testing.assert_close(network(batch)[..., 0], batch.future_target, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("model", [Informer(), Linear()], ids=str)
def test_a_later_fit_recalls_the_penalty(model, make_batch):
    sizes = Sizes(context=6, horizon=3, known=1)
    train, validation = make_batch(sizes, rows=60), make_batch(sizes, rows=20, seed=1)
    with torch.random.fork_rng():
        first, second, third = (model.build(sizes, Point()) for _ in range(3))
    first.prepare([train], [validation], StandardNormaliser())
    assert first.skip.ratio not in (None, 0.01)
    second.inherit(first)
    second.prepare([train], [], StandardNormaliser())
    assert torch.equal(second.skip.weight, first.skip.weight)
    third.prepare([train], [], StandardNormaliser())
    assert not torch.equal(third.skip.weight, first.skip.weight)


LEVELS = (0.1, 0.5, 0.9)
NETWORKS = {name: model for name, model in MODELS.items() if getattr(model, "skip", False)}
each_network = pytest.mark.parametrize("model", NETWORKS.values(), ids=NETWORKS)


def prepared(model, make_batch, *, head, validation=80):
    sizes = Sizes(context=6, horizon=3, target=2)
    train = [make_batch(sizes, rows=60)]
    judged = [make_batch(sizes, rows=validation, seed=1)] if validation else []
    with torch.random.fork_rng():
        network = model.build(sizes, head).eval()
    network.prepare(train, judged, StandardNormaliser())
    return network, train, judged


@each_network
def test_bands_begin_as_wide_as_the_skip_errs(model, make_batch):
    """Without a step of training they are those of a ridge forecast with its residuals."""
    network, _, judged = prepared(model, make_batch, head=Quantiles(LEVELS))
    ridge, _, _ = prepared(Linear(), make_batch, head=Quantiles(LEVELS))
    torch.testing.assert_close(network.offset, ridge.offset, atol=1e-4, rtol=1e-4)
    seen = StandardNormaliser().normalise(judged[0])
    # later steps of a decoder are in units of what it has fed back, too
    torch.testing.assert_close(network(seen)[:, :2], ridge(seen)[:, :2], atol=1e-3, rtol=1e-3)
    inside = (network(seen)[..., 0] <= seen.future_target) & (
        seen.future_target <= network(seen)[..., 2]
    )
    assert 0.75 < inside.float().mean() < 0.85


@each_network
def test_a_network_that_forecasts_already_keeps_its_own_bands(model, build, make_batch):
    sizes = Sizes(context=6, horizon=3, target=2)
    network = build(model, sizes, Quantiles(LEVELS))
    before = network.offset.clone()
    network.prepare([make_batch(sizes, rows=60)], [], StandardNormaliser())
    assert torch.equal(network.offset, before)


@each_network
def test_without_a_spread_there_is_no_offset_and_without_a_skip_there_is(model):
    sizes = Sizes(context=6, horizon=3)
    with torch.random.fork_rng():
        assert model.build(sizes, Point()).offset is None
        bare = clone(model).set_params(skip=False)
        assert bare.build(sizes, Point()).offset is None
        assert bare.build(sizes, Quantiles()).offset.shape == (3, 1, 7)


def test_a_later_fit_recalls_the_offset(make_batch):
    first, train, judged = prepared(Informer(), make_batch, head=Quantiles())
    second = Informer().build(first.sizes, Quantiles())
    second.inherit(first)
    second.prepare([*train, *judged], [], StandardNormaliser())
    assert torch.equal(second.offset, first.offset)
    assert not torch.equal(second.skip.weight, first.skip.weight)
