import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.heads import Point, Quantiles
from tsformer.models import PatchTransformer
from tsformer.windows import Sizes

TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 2, "patch": 4, "stride": 2}
SIZES = Sizes(
    context=9,
    horizon=4,
    target=3,
    past=1,
    known=2,
    static=1,
    past_cardinalities=(3,),
    known_cardinalities=(3,),
    static_cardinalities=(2,),
)
CHANNELS = ("independent", "joint")
both = pytest.mark.parametrize("channels", CHANNELS)


def moved(network, batch, **changes):
    """By how much the forecast of each step and target moves."""
    difference = network(batch._replace(**changes)) - network(batch)
    return difference.detach().abs().amax((0, 3))


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_independent_channels_do_not_see_each_other(positions, build, make_batch):
    network = build(PatchTransformer(**TINY, positions=positions), SIZES, Quantiles())
    batch = make_batch(SIZES, gaps=True)
    change = moved(
        network,
        batch,
        past_target=batch.past_target + torch.tensor([0.0, 5.0, 0.0]),
        past_observed=batch.past_observed & torch.tensor([True, False, True]),
    )
    assert change[:, [0, 2]].eq(0).all()
    assert change[:, 1].gt(1e-3).all()


def test_joint_channels_see_each_other(build, make_batch):
    network = build(PatchTransformer(**TINY, channels="joint", skip=False), SIZES, Point())
    batch = make_batch(SIZES)
    past = batch.past_target + 5 * torch.randn(9, 1) * torch.tensor([0.0, 1.0, 0.0])
    assert moved(network, batch, past_target=past).gt(1e-4).all()


def test_an_independent_channel_is_forecast_as_if_it_were_alone(build, make_batch):
    many, one = Sizes(context=9, horizon=4, target=3), Sizes(context=9, horizon=4)
    model, head = PatchTransformer(**TINY), Quantiles((0.1, 0.9))
    network, alone = build(model, many, head), build(model, one, head)
    weights = network.state_dict()
    batch = make_batch(many, gaps=True)
    together = network(batch)
    for at in range(3):
        # all weights are shared but the spread around the skip, which each target has its own of
        alone.load_state_dict({**weights, "offset": weights["offset"][:, at : at + 1]})
        only = {
            name: getattr(batch, name)[..., at : at + 1]
            for name in ("past_target", "past_observed", "future_target", "future_observed")
        }
        torch.testing.assert_close(
            alone(batch._replace(**only)), together[:, :, at : at + 1], atol=1e-5, rtol=1e-5
        )


@both
def test_the_plan_of_a_step_moves_that_step_alone(channels, build, make_batch):
    model = PatchTransformer(**TINY, channels=channels, skip=False)
    network = build(model, SIZES, Point())
    batch = make_batch(SIZES)
    known, codes = batch.known.clone(), batch.known_codes.clone()
    known[:, SIZES.context + 2] += 5
    codes[:, SIZES.context + 2] = (codes[:, SIZES.context + 2] + 1) % 3
    for change in ({"known": known}, {"known_codes": codes}):
        change = moved(network, batch, **change)
        assert change[2].gt(1e-4).all()
        assert change[[0, 1, 3]].eq(0).all()


@both
@pytest.mark.parametrize("field", ["past", "known", "static", "past_codes", "static_codes", "time"])
def test_every_covariate_of_the_context_counts(channels, field, build, make_batch):
    model = PatchTransformer(**TINY, channels=channels, positions="sinusoidal", skip=False)
    network, batch = build(model, SIZES, Point()), make_batch(SIZES)
    value = getattr(batch, field).clone()
    part = value if "static" in field else value[:, : SIZES.context]
    if "codes" in field:
        part.copy_((part + 1) % 2)
    else:
        part.add_(3 * torch.randn(part.shape))
    assert moved(network, batch, **{field: value}).gt(1e-6).all()


@both
def test_a_patch_without_a_measurement_is_hidden(channels, build, make_batch):
    sizes = Sizes(context=8, horizon=2, target=2, past=1)
    model = PatchTransformer(**{**TINY, "stride": 4}, channels=channels)
    network, batch = build(model, sizes, Point()), make_batch(sizes)
    batch.past_observed[0, 4:, 0], batch.past_present[0, 4:] = False, False
    batch.past_observed[1, 4:], batch.past_present[1, :6] = False, False
    batch.past_observed[2, 4:], batch.past_present[2, 4:] = False, False
    masks = []
    network.encoder.register_forward_pre_hook(
        lambda module, args, kwargs: masks.append(kwargs["key_mask"]), with_kwargs=True
    )
    network(batch)
    # patches of steps 0-3, 4-7, and the last step repeated
    seen = masks[0].unflatten(0, (5, -1)).tolist()
    all_seen, first_seen = [True, True, True], [True, False, False]
    if channels == "joint":
        assert seen == [[all_seen], [all_seen], [first_seen], [all_seen], [all_seen]]
    else:
        assert seen[0] == [first_seen, all_seen]
        assert seen[1] == [all_seen, all_seen]  # the covariate was measured
        assert seen[2] == [first_seen, first_seen]


def test_without_a_gap_nothing_is_masked(build, make_batch):
    network, masks = build(PatchTransformer(**TINY), SIZES, Point()), []
    network.encoder.register_forward_pre_hook(
        lambda module, args, kwargs: masks.append(kwargs["key_mask"]), with_kwargs=True
    )
    network(make_batch(SIZES))
    assert masks == [None]


@both
@pytest.mark.parametrize("context", [1, 3, 4, 5])
def test_a_context_may_be_shorter_than_a_patch(channels, context, build, make_batch):
    sizes = Sizes(context=context, horizon=3, target=2, known=1)
    network = build(PatchTransformer(**TINY, channels=channels), sizes, Point())
    assert network(make_batch(sizes, gaps=True)).shape == (5, 3, 2, 1)


def test_batch_norm_is_there_for_the_paper(build, make_batch):
    network = build(PatchTransformer(**TINY, patch_norm="batch"), SIZES, Point())
    parts = list(network.modules())
    assert sum(isinstance(part, torch.nn.BatchNorm1d) for part in parts) == 4
    assert not any(isinstance(part, torch.nn.LayerNorm) for part in parts)
    assert network.train()(make_batch(SIZES)).isfinite().all()


def test_without_covariates_there_is_no_part_for_them():
    network = PatchTransformer(**TINY).build(Sizes(context=9, horizon=4, target=3), Point())
    assert network.embed_covariates is None
    assert network.known_output is None


def test_one_head_and_an_odd_width_will_do(build, make_batch):
    model = PatchTransformer(d_model=7, n_heads=1, d_ff=5, patch=3, stride=3)
    assert build(model, SIZES, Point())(make_batch(SIZES)).shape == (5, 4, 3, 1)


def test_parameters_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="stride=8 must be at least 1 and at most patch=4"):
        PatchTransformer(patch=4).build(SIZES, Point())
    with pytest.raises(ParameterError, match="heads=3 does not divide"):
        PatchTransformer(d_model=8, n_heads=3).build(SIZES, Point())


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_batch_norm_trains_on_one_window_of_one_patch(norm, make_batch):
    sizes = Sizes(context=4, horizon=2)
    model = PatchTransformer(
        d_model=8, n_heads=2, d_ff=8, patch=8, stride=8, patch_norm="batch", norm=norm
    )
    network = model.build(sizes, Point()).train()
    network(make_batch(sizes, rows=1)).sum().backward()
    assert all(w.grad is None or w.grad.isfinite().all() for w in network.parameters())
