import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.heads import Point, Quantiles
from tsformer.models import Transformer
from tsformer.models.placement import PLACEMENTS
from tsformer.windows import Sizes

TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 1, "decoder_layers": 2}
SIZES = Sizes(context=6, horizon=4, target=2, past=1, known=2, static=1, known_cardinalities=(3,))
both = pytest.mark.parametrize("decoding", ["one_shot", "autoregressive"])
PARTS = ("context", "decoder")
each_placement = pytest.mark.parametrize("positions", PLACEMENTS)


@both
@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_later_plan_changes_no_earlier_forecast(decoding, step, build, make_batch):
    network = build(Transformer(**TINY, decoding=decoding, skip=False), SIZES, Quantiles())
    batch = make_batch(SIZES)
    known, codes = batch.known.clone(), batch.known_codes.clone()
    known[:, SIZES.context + step :] += 5
    codes[:, SIZES.context + step :] = 0
    before, after = network(batch), network(batch._replace(known=known, known_codes=codes))
    torch.testing.assert_close(after[:, :step], before[:, :step], atol=1e-6, rtol=1e-6)
    assert (after[:, step:] - before[:, step:]).abs().amax((0, 2, 3)).gt(1e-3).all()


@pytest.mark.parametrize("head", [Point(), Quantiles((0.1, 0.5, 0.9))], ids=["point", "quantiles"])
@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("start", [0, 2, 6])
@pytest.mark.parametrize("gaps", [False, True])
def test_teacher_forcing_on_its_own_forecasts_is_decoding(
    head, norm, start, gaps, build, make_batch
):
    model = Transformer(**TINY, decoding="autoregressive", norm=norm, start=start, dropout=0.0)
    network, batch = build(model, SIZES, head), make_batch(SIZES, gaps=gaps)
    decoded = network(batch)
    taught = batch._replace(
        future_target=head.point(decoded),
        future_observed=torch.ones_like(batch.future_observed),
    )
    raw, _, _ = network.train().supervise(taught)
    torch.testing.assert_close(raw, decoded, atol=1e-5, rtol=1e-5)


def test_teacher_forcing_never_shows_the_answer(build, make_batch):
    model = Transformer(**TINY, decoding="autoregressive", dropout=0.0)
    network = build(model, SIZES, Point()).train()
    batch = make_batch(SIZES)
    before, _, _ = network.supervise(batch)
    for step in range(SIZES.horizon):
        future = batch.future_target.clone()
        future[:, step:] += 10
        after, _, _ = network.supervise(batch._replace(future_target=future))
        until = step + 1  # the step itself reads the one before
        torch.testing.assert_close(after[:, :until], before[:, :until], atol=1e-6, rtol=1e-6)
        if until < SIZES.horizon:
            assert (after[:, until] - before[:, until]).abs().max() > 1e-3


def test_outside_training_the_forecast_is_judged(build, make_batch):
    network = build(Transformer(**TINY, decoding="autoregressive"), SIZES, Point()).eval()
    batch = make_batch(SIZES)
    raw, target, _ = network.supervise(batch)
    assert torch.equal(raw, network(batch))
    assert torch.equal(target, batch.future_target)


def test_the_first_step_reads_the_last_value(build, make_batch):
    model = Transformer(**TINY, decoding="autoregressive", start=0, skip=False)
    network, batch = build(model, SIZES, Point()), make_batch(SIZES)
    with torch.no_grad():  # the decoder alone
        for block in network.decoder.blocks:
            block.cross_attention.output.weight.zero_()
    past = batch.past_target.clone()
    past[:, -1] += 10
    assert (network(batch)[:, 0] - network(batch._replace(past_target=past))[:, 0]).abs().max() > 0


@both
@pytest.mark.parametrize("start", [0, 6])
def test_the_decoder_starts_within_the_context(decoding, start, build, make_batch):
    network = build(Transformer(**TINY, decoding=decoding, start=start), SIZES, Point())
    assert network(make_batch(SIZES)).shape == (5, 4, 2, 1)


def test_a_start_before_the_context_is_refused():
    with pytest.raises(ParameterError, match="start must be at most the context, 6"):
        Transformer(**TINY, start=7).build(SIZES, Point())
    with pytest.raises(ParameterError, match="at least 0"):
        Transformer(**TINY, start=-1).check()


def test_half_the_context_is_the_default_start():
    assert Transformer(**TINY).build(SIZES, Point()).start == 3


def test_heads_must_divide_the_width():
    with pytest.raises(ParameterError, match="heads=3 does not divide"):
        Transformer(d_model=8, n_heads=3).build(SIZES, Point())


class TestPositions:
    """Where steps learn when they are, by limit cases."""

    @both
    @each_placement
    def test_only_differences_of_times_count_where_it_is_said(
        self, decoding, positions, build, make_batch
    ):
        network = build(Transformer(**TINY, decoding=decoding, positions=positions), SIZES, Point())
        batch = make_batch(SIZES)
        moved = network(batch._replace(time=batch.time + 12.5))
        stretched = network(batch._replace(time=batch.time * 2.5))
        relative = positions in ("relative", "rotary", "none")
        assert moved.isclose(network(batch), atol=1e-5).all() == relative
        assert stretched.isclose(network(batch), atol=1e-5).all() == (positions == "none")

    @both
    def test_relative_biases_of_0_are_no_positions(self, decoding, build, make_batch):
        bare = build(Transformer(**TINY, decoding=decoding, positions="none"), SIZES, Point())
        model = Transformer(**TINY, decoding=decoding, positions="relative")
        network = model.build(SIZES, Point()).eval()
        extra = network.load_state_dict(bare.state_dict(), strict=False)
        assert not extra.unexpected_keys
        # one for the encoder and two for each block of the decoder, none of them shared
        assert len(extra.missing_keys) == 1 + 2 * TINY["decoder_layers"]
        assert all(key.endswith("attention.bias.weight") for key in extra.missing_keys)
        batch = make_batch(SIZES)
        torch.testing.assert_close(network(batch), bare(batch))

    @both
    def test_rotary_positions_at_one_time_are_no_positions(self, decoding, build, make_batch):
        bare, rotary = (
            build(Transformer(**TINY, decoding=decoding, positions=name), SIZES, Point())
            for name in ("none", "rotary")
        )
        batch = make_batch(SIZES)
        batch = batch._replace(time=torch.zeros_like(batch.time))
        torch.testing.assert_close(rotary(batch), bare(batch))

    @both
    def test_learned_positions_start_as_sinusoids(self, decoding, build, make_batch):
        fixed = build(Transformer(**TINY, decoding=decoding), SIZES, Point())
        network = Transformer(**TINY, decoding=decoding, positions="learned").build(SIZES, Point())
        extra = network.eval().load_state_dict(fixed.state_dict(), strict=False)
        assert extra.missing_keys == [f"embed_{name}.positions.mix.weight" for name in PARTS]
        batch = make_batch(SIZES)
        torch.testing.assert_close(network(batch), fixed(batch))

    @each_placement
    @pytest.mark.parametrize("gaps", [False, True])
    def test_decoding_with_caches_is_teacher_forcing(self, positions, gaps, build, make_batch):
        model = Transformer(**TINY, decoding="autoregressive", positions=positions, dropout=0.0)
        network, batch = build(model, SIZES, Point()), make_batch(SIZES, gaps=gaps)
        decoded = network(batch)
        taught = batch._replace(
            future_target=decoded[..., 0],
            future_observed=torch.ones_like(batch.future_observed),
        )
        torch.testing.assert_close(
            network.train().supervise(taught)[0], decoded, atol=1e-5, rtol=1e-5
        )

    def test_an_unknown_name(self):
        with pytest.raises(ParameterError, match="positions='alibi'"):
            Transformer().set_params(positions="alibi").check()
