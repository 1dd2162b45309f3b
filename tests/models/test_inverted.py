import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.heads import Point, Quantiles
from tsformer.models import InvertedTransformer
from tsformer.windows import Sizes

TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 2}
SIZES = Sizes(
    context=6,
    horizon=4,
    target=3,
    past=2,
    known=2,
    static=1,
    past_cardinalities=(3,),
    known_cardinalities=(3,),
    static_cardinalities=(2,),
)
TARGETS = ("past_target", "past_observed", "future_target", "future_observed")


def chosen(batch, targets):
    return batch._replace(**{name: getattr(batch, name)[..., targets] for name in TARGETS})


def moved(network, batch, **changes):
    """By how much the forecast of each step and target moves."""
    difference = network(batch._replace(**changes)) - network(batch)
    return difference.detach().abs().amax((0, 3))


@pytest.mark.parametrize("gaps", [False, True])
def test_permuted_targets_give_permuted_forecasts(gaps, build, make_batch):
    model = InvertedTransformer(**TINY, skip=False)  # a skip weighs covariates by target
    network = build(model, SIZES, Quantiles((0.1, 0.9)))
    network.offset = None  # each target's own, fitted to its errors
    batch, order = make_batch(SIZES, gaps=gaps), [2, 0, 1]
    permuted = network(chosen(batch, order))
    torch.testing.assert_close(permuted, network(batch)[:, :, order], atol=1e-5, rtol=1e-5)


def test_targets_see_each_other(build, make_batch):
    network, batch = build(InvertedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    past = batch.past_target + 5 * torch.randn(6, 1) * torch.tensor([0.0, 1.0, 0.0])
    assert moved(network, batch, past_target=past).gt(1e-5).all()


def test_the_weights_serve_any_number_of_targets(build, make_batch):
    one, many = Sizes(context=6, horizon=4), Sizes(context=6, horizon=4, target=5)
    trained = build(InvertedTransformer(**TINY), one, Point())
    wider = InvertedTransformer(**TINY).build(many, Point()).eval()
    wider.load_state_dict(trained.state_dict())
    batch = make_batch(many)
    # a target beside copies of itself attends to nothing else
    copies = chosen(batch, [0] * 5)
    expected = trained(chosen(batch, [0])).expand(-1, -1, 5, -1)
    torch.testing.assert_close(wider(copies), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("step", range(SIZES.horizon))
def test_a_plan_of_any_step_counts(step, build, make_batch):
    network, batch = build(InvertedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    known, codes = batch.known.clone(), batch.known_codes.clone()
    known[:, SIZES.context + step] += 3
    codes[:, SIZES.context + step] = (codes[:, SIZES.context + step] + 1) % 3
    assert moved(network, batch, known=known).gt(1e-5).all()
    assert moved(network, batch, known_codes=codes).gt(1e-5).all()


@pytest.mark.parametrize("field", ["past", "static", "past_codes", "static_codes"])
def test_every_covariate_counts(field, build, make_batch):
    network, batch = build(InvertedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    value = getattr(batch, field)
    other = (value + 1) % 2 if "codes" in field else value + torch.randn(value.shape)
    assert moved(network, batch, **{field: other}).gt(1e-6).all()


def test_it_matters_when_a_code_stands(build, make_batch):
    network, batch = build(InvertedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    early = torch.ones_like(batch.known_codes)
    early[:, 1] = 2
    late = torch.ones_like(batch.known_codes)
    late[:, 8] = 2
    difference = network(batch._replace(known_codes=early)) - network(
        batch._replace(known_codes=late)
    )
    assert difference.abs().max() > 1e-4


def test_covariates_are_told_apart(build, make_batch):
    network, batch = build(InvertedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    assert moved(network, batch, past=batch.past.flip(-1)).max() > 1e-5


def test_a_variable_that_was_never_measured_is_hidden(build, make_batch):
    network, batch = build(InvertedTransformer(**TINY), SIZES, Point()), make_batch(SIZES)
    batch.past_present[0, :, 1] = False
    before = network(batch)
    with torch.no_grad():
        network.embed_past.names[1] += torch.randn(8)
    after = network(batch)
    torch.testing.assert_close(after[0], before[0], atol=1e-6, rtol=1e-6)
    assert (after[1:] - before[1:]).abs().amax((1, 2, 3)).gt(1e-5).all()


def test_without_covariates_there_is_no_part_for_them():
    network = InvertedTransformer(**TINY).build(Sizes(context=6, horizon=4), Point())
    assert not list(network.embed_past.parameters())
    assert not list(network.embed_known.parameters())
    assert network.embed_static is None


def test_one_head_and_an_odd_width_will_do(build, make_batch):
    network = build(InvertedTransformer(d_model=7, n_heads=1, d_ff=5), SIZES, Point())
    assert network(make_batch(SIZES)).shape == (5, 4, 3, 1)


def test_heads_must_divide_the_width():
    with pytest.raises(ParameterError, match="heads=3 does not divide"):
        InvertedTransformer(d_model=8, n_heads=3).build(SIZES, Point())
