import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.heads import Point, Quantiles
from tsformer.models import MaskedTransformer
from tsformer.models.masked import Rebuilding, hidden_patches
from tsformer.models.scaling import StandardNormaliser
from tsformer.windows import Sizes

TINY = {"patch": 4, "d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 2, "dropout": 0.0}
SIZES = Sizes(
    context=14,
    horizon=6,
    target=2,
    past=1,
    known=2,
    static=1,
    past_cardinalities=(3,),
    known_cardinalities=(3,),
    static_cardinalities=(2,),
)


def rebuilt(network, batch, seed=0):
    """Raw numbers and weight in units of the panel, as in training: through the scaling."""
    seen = StandardNormaliser().normalise(batch)
    raw, target, weight = network.supervise(seen, torch.Generator().manual_seed(seed))
    raw = network.head.restore(raw, seen.location, seen.scale).detach()
    return raw, StandardNormaliser().restore(target, seen), weight


def window(batch):
    return torch.cat([batch.past_target, batch.future_target], 1)


def with_window(batch, values):
    return batch._replace(past_target=values[:, :14], future_target=values[:, 14:])


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_hidden_moves_nothing_that_is_rebuilt(seed, gaps, build, make_batch):
    network = build(MaskedTransformer(**TINY, skip=False), SIZES, Quantiles((0.1, 0.9)))
    rebuilding, batch = Rebuilding(network, 0.4, StandardNormaliser()), make_batch(SIZES, gaps=gaps)
    before, _, weight = rebuilt(rebuilding, batch, seed)
    values = window(batch)
    changed = values.where(weight == 0, values * 30 + 200)
    covariate = batch.past.where((weight == 0)[:, :14].all(-1, keepdim=True), 9.0)
    after, _, same = rebuilt(rebuilding, with_window(batch, changed)._replace(past=covariate), seed)
    assert torch.equal(weight, same)
    torch.testing.assert_close(before, after, atol=2e-3, rtol=2e-3)


def test_what_is_visible_moves_everything(build, make_batch):
    network = build(MaskedTransformer(**TINY, skip=False), SIZES, Point())
    rebuilding, batch = Rebuilding(network, 0.4, StandardNormaliser()), make_batch(SIZES)
    before, _, weight = rebuilt(rebuilding, batch)
    values = window(batch)
    changed = values.where(weight > 0, values + 5 * torch.randn(values.shape))
    after, _, _ = rebuilt(rebuilding, with_window(batch, changed))
    assert (before - after).abs()[weight > 0].gt(1e-3).all()


def test_only_hidden_measured_steps_count(build, make_batch):
    network = build(MaskedTransformer(**TINY, skip=False), SIZES, Point())
    batch = make_batch(SIZES, gaps=True)
    batch = batch._replace(weight=torch.tensor([1.0, 2.0, 1.0, 1.0, 0.0]))
    _, target, weight = rebuilt(Rebuilding(network, 0.4, StandardNormaliser()), batch)
    observed = torch.cat([batch.past_observed, batch.future_observed], 1)
    torch.testing.assert_close(target[observed], window(batch)[observed], atol=1e-5, rtol=1e-5)
    assert not weight[~observed].any()
    assert set(weight[1].unique().tolist()) == {0.0, 2.0}
    assert not weight[4].any()
    # 14 and 6 steps are patches of 2, 4, 4, 4 | 4, 2: two are hidden
    hide = hidden_patches(5, 6, 0.4, torch.Generator().manual_seed(0))
    assert hide.sum(1).eq(2).all()
    steps = network.hidden_steps(hide)
    assert steps.shape == (5, 20, 1)
    assert torch.equal(weight[:4] > 0, (observed & steps)[:4])


def test_a_window_whose_visible_part_is_constant_does_not_count(build, make_batch):
    network = build(MaskedTransformer(**TINY, skip=False), SIZES, Point())
    batch = make_batch(SIZES)
    batch.past_target[0, :, 0] = 2.0
    batch.future_target[0, :, 0] = 2.0
    _, _, weight = rebuilt(Rebuilding(network, 0.4, StandardNormaliser()), batch)
    assert not weight[0, :, 0].any()
    assert weight[0, :, 1].any()


def test_a_forecast_rebuilds_the_horizon(build, make_batch):
    network = build(MaskedTransformer(**TINY, skip=False), SIZES, Point())
    batch = make_batch(SIZES)
    hide = torch.tensor([False, False, False, False, True, True]).expand(5, -1)
    observed = torch.cat([batch.past_observed, batch.future_observed], 1)
    raw = network.rebuild(batch, window(batch), observed & ~network.hidden_steps(hide), hide)
    torch.testing.assert_close(network(batch), raw[:, -6:])


def test_hiding_is_a_function_of_the_generator(build, make_batch):
    network = build(MaskedTransformer(**TINY, skip=False), SIZES, Point())
    rebuilding, batch = Rebuilding(network, 0.4, StandardNormaliser()), make_batch(SIZES)
    first, again, other = (rebuilt(rebuilding, batch, seed)[2] for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("count", [1, 2, 3, 20])
@pytest.mark.parametrize("ratio", [0.01, 0.4, 0.99])
def test_something_is_hidden_and_something_is_left(count, ratio):
    number = hidden_patches(50, count, ratio).sum(1)
    assert number.ge(1).all()
    assert number.lt(max(count, 2)).all()
    assert number.eq(number[0]).all()


def test_the_skip_learns_what_the_network_leaves(build, make_batch):
    """A trained network keeps what it knows; the ridge is fitted to the rest."""
    sizes = Sizes(context=6, horizon=3)
    network = build(MaskedTransformer(**TINY), sizes, Point())
    train = [make_batch(sizes, rows=60, seed=seed) for seed in range(3)]
    network.train().prepare(train, [], StandardNormaliser())
    assert network.training
    network.eval()
    other = build(MaskedTransformer(**TINY), sizes, Point())
    other.output.weight.data.zero_()
    other.output.bias.data.zero_()
    rest = []
    for batch in train:
        seen = StandardNormaliser().normalise(batch)
        own = network.head.point(network.own_forecast(seen)) * seen.scale
        rest.append(batch._replace(future_target=batch.future_target - own.detach()))
    other.prepare(rest, [], StandardNormaliser())
    torch.testing.assert_close(network.skip.weight, other.skip.weight, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("horizon", [1, 4, 5])
@pytest.mark.parametrize("context", [1, 3, 4, 5])
def test_context_and_horizon_may_have_any_length(context, horizon, build, make_batch):
    sizes = Sizes(context=context, horizon=horizon, target=2, known=1)
    network = build(MaskedTransformer(**TINY), sizes, Point())
    batch = make_batch(sizes, gaps=True)
    assert network(batch).shape == (5, horizon, 2, 1)
    raw, target, weight = Rebuilding(network, 0.4, StandardNormaliser()).supervise(batch)
    assert raw.shape[:3] == target.shape == weight.shape == (5, sizes.steps, 2)
    assert Point().loss(raw, target, weight).isfinite()


def test_weights_know_neither_context_nor_horizon():
    shapes = [
        {
            name: one.shape
            for name, one in MaskedTransformer(**TINY, skip=False)
            .build(sizes, Point())
            .state_dict()
            .items()
        }
        for sizes in (Sizes(context=6, horizon=3), Sizes(context=40, horizon=9, target=5))
    ]
    assert shapes[0] == shapes[1]


def test_the_plan_of_a_hidden_patch_counts(build, make_batch):
    network, batch = build(MaskedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    known = batch.known.clone()
    known[:, SIZES.context + 5] += 5
    change = (network(batch._replace(known=known)) - network(batch)).abs().amax((0, 2, 3))
    assert change.gt(1e-6).all()


@pytest.mark.parametrize("field", ["past", "known", "static", "past_codes", "static_codes"])
def test_every_covariate_counts(field, build, make_batch):
    network, batch = build(MaskedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    value = getattr(batch, field)
    value = (value + 1) % 2 if "codes" in field else value + 3 * torch.randn(value.shape)
    change = network(batch._replace(**{field: value})) - network(batch)
    assert change.abs().amax((0, 2, 3)).gt(1e-6).all()


def test_channels_do_not_see_each_other(build, make_batch):
    network, batch = build(MaskedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    past = batch.past_target + torch.randn(14, 1) * torch.tensor([0.0, 5.0])
    change = (network(batch._replace(past_target=past)) - network(batch)).abs().amax((0, 1, 3))
    assert change[0] == 0
    assert change[1] > 1e-3


def test_one_head_and_an_odd_width_will_do(build, make_batch):
    model = MaskedTransformer(d_model=7, n_heads=1, d_ff=5, patch=3)
    assert build(model, SIZES, Point())(make_batch(SIZES)).shape == (5, 6, 2, 1)


def test_heads_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="heads=3 does not divide"):
        MaskedTransformer(d_model=8, n_heads=3).build(SIZES, Point())
