import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.heads import Point, Quantiles
from tsformer.models import DecoderTransformer
from tsformer.models.decoder import running_statistics
from tsformer.models.scaling import StandardNormaliser
from tsformer.windows import Sizes

TINY = {"patch": 4, "d_model": 8, "n_heads": 2, "d_ff": 8, "layers": 2, "dropout": 0.0}
SIZES = Sizes(
    context=14,
    horizon=10,
    target=2,
    past=1,
    known=2,
    static=1,
    past_cardinalities=(3,),
    known_cardinalities=(3,),
    static_cardinalities=(2,),
)
BARE = Sizes(context=14, horizon=10, target=2)
with_and_without_skip = pytest.mark.parametrize("skip", [True, False], ids=["skip", "bare"])


def supervised(network, batch):
    """Raw numbers and targets in units of the panel, as in training: through the scaling."""
    seen = StandardNormaliser().normalise(batch)
    raw, target, weight = network.train().supervise(seen)
    raw = network.head.restore(raw, seen.location, seen.scale).detach()
    return raw, StandardNormaliser().restore(target, seen), weight


@with_and_without_skip
@pytest.mark.parametrize("at", [0, 5, 9, 13])
def test_what_comes_later_moves_no_earlier_patch(skip, at, build, make_batch):
    network = build(DecoderTransformer(**TINY, skip=skip), SIZES, Quantiles((0.1, 0.9)))
    batch = make_batch(SIZES)
    past, covariate = batch.past_target.clone(), batch.past.clone()
    past[:, at:] = past[:, at:] * 100 + 3000
    covariate[:, at:] += 7
    changed = batch._replace(past_target=past, past=covariate, future_target=past[:, :10] * 5)
    before, _, weight = supervised(network, batch)
    after, _, _ = supervised(network, changed)
    # a step is forecast by what ends with the patch before its own, counted from the origin
    steps = before.shape[1] - SIZES.horizon
    begin = torch.arange(-steps, SIZES.horizon).div(4, rounding_mode="floor") * 4
    unmoved = (begin <= at - SIZES.context)[None, :, None] & (weight > 0)
    # far values cost the window's scaling some digits
    torch.testing.assert_close(before[unmoved], after[unmoved], atol=5e-3, rtol=5e-3)
    moved = (begin > at - SIZES.context)[None, :, None] & (weight > 0)
    assert (before[moved] - after[moved]).abs().amin(-1).median() > 1


@with_and_without_skip
def test_every_next_patch_is_trained_on(skip, build, make_batch):
    network = build(DecoderTransformer(**TINY, skip=skip), BARE, Point())
    batch = make_batch(BARE)
    raw, target, weight = supervised(network, batch)
    inside = 4 if skip else 12  # all patches but the first, or those behind half of them
    assert raw.shape == (5, inside + 10, 2, 1)
    truth = torch.cat([batch.past_target, batch.future_target], 1)[:, -inside - 10 :]
    torch.testing.assert_close(target, truth, atol=1e-5, rtol=1e-5)
    assert weight[:, -14:].eq(1).all()


def test_a_constant_beginning_is_not_trained_on(build, make_batch):
    network, batch = build(DecoderTransformer(**TINY, skip=False), BARE, Point()), make_batch(BARE)
    batch.past_target[0, :10, 0] = 3.0
    batch.past_observed[1, :10] = False
    _, _, weight = supervised(network, batch)
    # patches end after steps 2, 6, 10 and 14
    assert weight[0, :, 0].tolist() == [0.0] * 12 + [1.0] * 10
    assert weight[1, :, 1].tolist() == [0.0] * 12 + [1.0] * 10
    assert weight[0, :, 1].eq(1).all()


def test_outside_training_the_forecast_is_judged(build, make_batch):
    network, batch = build(DecoderTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    raw, target, _ = network.eval().supervise(batch)
    assert torch.equal(raw, network(batch))
    assert torch.equal(target, batch.future_target)


@with_and_without_skip
@pytest.mark.parametrize("gaps", [False, True])
def test_kept_keys_and_values_change_nothing(skip, gaps, build, make_batch):
    network = build(DecoderTransformer(**TINY, skip=skip), SIZES, Quantiles((0.2, 0.5)))
    batch = make_batch(SIZES, gaps=gaps)
    forecast = network(batch)
    decode = network._decode

    def afresh(window, values, observed, *, first=0, caches=None):
        return decode(window, values, observed)

    network._decode = afresh
    torch.testing.assert_close(network(batch), forecast, atol=1e-5, rtol=1e-5)


@with_and_without_skip
def test_true_points_in_their_place_give_the_forecast_of_training(skip, build, make_batch):
    """Teacher forcing with the network's own points is the forecast."""
    network = build(DecoderTransformer(**TINY, skip=skip), SIZES, Point())
    batch = make_batch(SIZES)
    forecast = network(batch)
    own = batch._replace(future_target=network.head.point(forecast).detach())
    raw, _, _ = network.train().supervise(own)
    torch.testing.assert_close(raw[:, -SIZES.horizon :], forecast, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("horizon", [1, 3, 4, 5, 23])
@pytest.mark.parametrize("context", [1, 3, 4, 5])
def test_context_and_horizon_may_have_any_length(context, horizon, build, make_batch):
    sizes = Sizes(context=context, horizon=horizon, target=2, known=1)
    network = build(DecoderTransformer(**TINY), sizes, Point())
    batch = make_batch(sizes, gaps=True)
    assert network(batch).shape == (5, horizon, 2, 1)
    raw, target, weight = network.train().supervise(batch)
    assert raw.shape[:3] == target.shape == weight.shape


def test_one_network_forecasts_every_horizon(build, make_batch):
    """The weights know no horizon: a longer forecast begins with the shorter one."""
    short, long = Sizes(context=9, horizon=3), Sizes(context=9, horizon=17)
    model = DecoderTransformer(**TINY, skip=False)
    network, other = build(model, long, Point()), build(model, short, Point())
    other.load_state_dict(network.state_dict())
    batch = make_batch(long)
    cut = batch._replace(time=batch.time[:, :12], known=batch.known[:, :12])
    cut = cut._replace(
        known_present=batch.known_present[:, :12], known_codes=batch.known_codes[:, :12]
    )
    torch.testing.assert_close(other(cut), network(batch)[:, :3])


def test_the_plan_of_a_patch_moves_it_and_what_follows(build, make_batch):
    model = DecoderTransformer(**TINY, skip=False)  # the skip sees the plan of all steps
    network, batch = build(model, SIZES, Point()), make_batch(SIZES)
    known = batch.known.clone()
    known[:, SIZES.context + 5] += 5
    change = (network(batch._replace(known=known)) - network(batch)).abs().amax((0, 2, 3))
    assert change[:4].eq(0).all()
    assert change[4:].gt(1e-6).all()


@pytest.mark.parametrize("field", ["past", "known", "static", "past_codes", "static_codes"])
def test_every_covariate_counts(field, build, make_batch):
    network = build(DecoderTransformer(**TINY), SIZES, Point())
    batch = make_batch(SIZES)
    value = getattr(batch, field)
    value = (value + 1) % 2 if "codes" in field else value + 3 * torch.randn(value.shape)
    change = network(batch._replace(**{field: value})) - network(batch)
    assert change.abs().amax((0, 2, 3)).gt(1e-6).all()


def test_channels_do_not_see_each_other(build, make_batch):
    network, batch = build(DecoderTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    past = batch.past_target + torch.randn(14, 1) * torch.tensor([0.0, 5.0])
    change = (network(batch._replace(past_target=past)) - network(batch)).abs().amax((0, 1, 3))
    assert change[0] == 0
    assert change[1] > 1e-3


def test_running_statistics_are_those_of_each_prefix():
    random = torch.Generator().manual_seed(0)
    values = torch.randn(3, 5, 4, generator=random) * 3 + 100
    observed = torch.rand(3, 5, 4, generator=random) > 0.3
    found = running_statistics(values, observed)
    for row in range(3):
        for at in range(5):
            prefix = values[row, : at + 1][observed[row, : at + 1]]
            torch.testing.assert_close(found.mean[row, at], prefix.mean())
            torch.testing.assert_close(found.scale[row, at], prefix.std(correction=0))
    assert found.varied.all()


def test_running_statistics_follow_an_affine_map():
    random = torch.Generator().manual_seed(0)
    values, observed = torch.randn(3, 5, 4, generator=random), torch.ones(3, 5, 4, dtype=torch.bool)
    values[0, :2] = 0.5
    observed[1, 0] = False
    found, mapped = (running_statistics(x, observed) for x in (values, values * 7 - 20))
    assert torch.equal(found.varied, mapped.varied)
    assert found.varied[0].tolist() == [False, False, True, True, True]
    torch.testing.assert_close(mapped.moved, found.moved, atol=1e-4, rtol=1e-4)
    varied = found.varied
    torch.testing.assert_close(mapped.scale[varied], 7 * found.scale[varied])


def test_one_head_and_an_odd_width_will_do(build, make_batch):
    model = DecoderTransformer(d_model=7, n_heads=1, d_ff=5, patch=3, layers=1)
    assert build(model, SIZES, Point())(make_batch(SIZES)).shape == (5, 10, 2, 1)


def test_heads_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="heads=3 does not divide"):
        DecoderTransformer(d_model=8, n_heads=3).build(SIZES, Point())
