"""What holds for every network, under every head and for all sizes."""

import pytest
import registry
import torch
from jaxtyping import TypeCheckError

from tsformer import models
from tsformer.heads import Head, Point, Quantiles
from tsformer.models import Architecture
from tsformer.models.scaling import StandardNormaliser
from tsformer.windows import Sizes

MODELS = registry.gathered(registry.MODELS, "networks")
SIZES = {
    "plain": Sizes(context=6, horizon=3),
    "smallest": Sizes(context=1, horizon=1),
    "calendar": Sizes(context=5, horizon=4, known=2),
    "all": Sizes(
        context=7,
        horizon=2,
        target=3,
        past=2,
        known=3,
        static=2,
        past_cardinalities=(3,),
        known_cardinalities=(4, 2),
        static_cardinalities=(3,),
    ),
    "codes": Sizes(
        context=4,
        horizon=2,
        past_cardinalities=(2,),
        known_cardinalities=(2,),
        static_cardinalities=(2,),
    ),
}
HEADS = registry.gathered(registry.HEADS, "networks")

each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
each_size = pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
each_head = pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)


def forecast(network, batch):
    """As the library does: normalise by window, forecast, restore."""
    seen = StandardNormaliser().normalise(batch)
    with torch.no_grad():
        return network.head.restore(network(seen), seen.location, seen.scale)


def rows(batch, chosen):
    return type(batch)(*(field[chosen] for field in batch))


def test_every_public_model_is_here():
    assert {type(model) for model in MODELS.values()} == registry.public(models, Architecture)


@each_model
@each_size
@each_head
def test_a_forecast_has_the_shape_of_the_contract(model, sizes, head, build, make_batch):
    raw = build(model, sizes, head)(make_batch(sizes))
    assert raw.shape == (5, sizes.horizon, sizes.target, head.width)
    assert raw.dtype == torch.float32
    assert raw.isfinite().all()


@each_model
@each_size
def test_the_future_changes_nothing(model, sizes, build, make_batch):
    network, batch = build(model, sizes, Quantiles((0.1, 0.9))), make_batch(sizes, gaps=True)
    changed = batch._replace(
        future_target=torch.full_like(batch.future_target, torch.nan),
        future_observed=~batch.future_observed,
        weight=batch.weight * 7,
    )
    assert torch.equal(forecast(network, batch), forecast(network, changed))


@each_model
@each_size
def test_what_is_masked_may_be_anything(model, sizes, build, make_batch):
    network, batch = build(model, sizes, Point()), make_batch(sizes, gaps=True)
    changed = batch._replace(
        past_target=batch.past_target.where(batch.past_observed, 1e6),
        past=batch.past.where(batch.past_present, 1e6),
        known=batch.known.where(batch.known_present, torch.nan),
    )
    assert torch.equal(forecast(network, batch), forecast(network, changed))


@each_model
@each_size
@pytest.mark.parametrize("gaps", [False, True])
def test_a_row_does_not_depend_on_its_batch(model, sizes, gaps, build, make_batch):
    network, batch = build(model, sizes, Quantiles()), make_batch(sizes, gaps=gaps)
    # one row with everything missing beside the others
    batch.past_observed[4], batch.past_present[4] = False, False
    together = forecast(network, batch)
    for row in range(5):
        alone = forecast(network, rows(batch, [row]))
        torch.testing.assert_close(alone[0], together[row], atol=1e-5, rtol=1e-5)
    reversed_ = forecast(network, rows(batch, [4, 3, 2, 1, 0]))
    torch.testing.assert_close(reversed_.flip(0), together, atol=1e-5, rtol=1e-5)


@each_model
@each_size
def test_a_window_without_any_value_gives_a_finite_forecast(model, sizes, build, make_batch):
    network, batch = build(model, sizes, Point()), make_batch(sizes)
    batch.past_observed[:], batch.past_present[:], batch.known_present[:] = False, False, False
    assert forecast(network, batch).isfinite().all()


@each_model
def test_evaluation_is_deterministic_and_draws_nothing(model, build, make_batch):
    sizes = SIZES["all"]
    network, batch = build(model, sizes, Point()), make_batch(sizes)
    first = forecast(network, batch)
    torch.manual_seed(12345)
    before = torch.get_rng_state()
    assert torch.equal(forecast(network, batch), first)
    assert torch.equal(torch.get_rng_state(), before)


@each_model
@each_size
@each_head
def test_supervision_fits_the_loss(model, sizes, head, build, make_batch):
    network, batch = build(model, sizes, head).train(), make_batch(sizes, gaps=True)
    raw, target, weight = network.supervise(StandardNormaliser().normalise(batch))
    assert raw.shape[:-1] == target.shape == weight.shape
    assert raw.shape[-1] == head.width
    # what is predicted inside the context stands before the future
    assert torch.equal(weight[:, -sizes.horizon :] > 0, batch.future_observed)
    loss = head.loss(raw, target, weight)
    assert loss.isfinite()
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    if not model.closed_form:
        loss.backward()
        assert all(weight.grad is not None for weight in trained)
        assert all(weight.grad.isfinite().all() for weight in trained)


@each_model
def test_sample_weights_reach_the_loss(model, build, make_batch):
    sizes = SIZES["plain"]
    batch = make_batch(sizes)._replace(weight=torch.tensor([1.0, 0.0, 2.0, 1.0, 1.0]))
    _, _, weight = build(model, sizes, Point()).supervise(batch)
    assert weight[:, 0, 0].tolist() == batch.weight.tolist()


WITH_SKIP = [name for name, one in MODELS.items() if getattr(one, "skip", one.closed_form)]


@pytest.mark.parametrize("name", WITH_SKIP)
@each_head
def test_a_fresh_network_with_a_skip_forecasts_as_ridge_does(name, head, make_batch):
    model = MODELS[name]
    sizes = SIZES["plain"]
    train, validation = [make_batch(sizes, rows=40)], [make_batch(sizes, rows=20, seed=1)]
    network = model.build(sizes, head).eval()
    assert network.skip.weight.eq(0).all()
    network.prepare(train, validation, StandardNormaliser())
    assert network.skip.weight.ne(0).any()
    batch = make_batch(sizes, seed=2)
    ridge = network.skip(batch.past_target, batch.past_observed)
    offset = torch.zeros(3, 1, head.width) if network.offset is None else network.offset
    errors = batch.future_target - ridge
    unit = (errors / getattr(network, "skip_errors", lambda batch: errors)(batch))[:, :1]
    bands = head.restore(offset.expand(5, -1, -1, -1), torch.zeros_like(unit), unit)
    expected = head.shift(bands, ridge)
    # a unit that is not of the whole window changes with what is fed back
    steps = slice(None) if unit.eq(1).all() else slice(model.patch)
    made = network(batch)[:, steps]
    torch.testing.assert_close(head.point(made), head.point(expected[:, steps]))
    if type(head).shift is Head.shift:  # each number is a value of the target
        torch.testing.assert_close(made, expected[:, steps])


@each_model
def test_preparing_without_validation_is_possible(model, make_batch):
    sizes = SIZES["plain"]
    network = model.build(sizes, Quantiles())
    network.prepare([make_batch(sizes, rows=40)], [], StandardNormaliser())
    assert network(make_batch(sizes)).isfinite().all()


@each_model
def test_weights_come_from_the_current_generator(model, make_batch):
    def weights(seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return list(model.build(SIZES["all"], Point()).state_dict().values())

    same = [torch.equal(a, b) for a, b in zip(weights(0), weights(0), strict=True)]
    assert all(same)
    if not model.closed_form:
        assert not all(torch.equal(a, b) for a, b in zip(weights(0), weights(1), strict=True))


@each_model
def test_a_network_is_saved_by_its_state_alone(model, build, make_batch):
    sizes, head = SIZES["all"], Quantiles((0.2, 0.8))
    network, batch = build(model, sizes, head), make_batch(sizes)
    other = model.build(sizes, head).eval()
    other.load_state_dict(network.state_dict())
    assert torch.equal(other(batch), network(batch))


def test_shapes_are_checked_under_test():
    with pytest.raises(TypeCheckError):
        Point().point(torch.zeros(2, 3))
