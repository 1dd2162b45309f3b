import pytest
import torch
from torch import nn

from tsformer.errors import ParameterError
from tsformer.nn import (
    Decoder,
    DecoderBlock,
    Distilling,
    Encoder,
    EncoderBlock,
    FeedForward,
    FullAttention,
    MultiHeadAttention,
    ProbSparse,
    Residual,
)

both_norms = pytest.mark.parametrize("norm", ["post", "pre"])


def attention(attend=None):
    return MultiHeadAttention(8, 2, attend=attend or FullAttention())


def encoder_block(norm="post", attend=None):
    return EncoderBlock(attention(attend), FeedForward(8, 16), norm=norm)


def decoder(norm, blocks=2):
    torch.manual_seed(0)
    made = [
        DecoderBlock(attention(), attention(), FeedForward(8, 16), norm=norm) for _ in range(blocks)
    ]
    return Decoder(made, nn.LayerNorm(8) if norm == "pre" else None).double().eval()


class TestResidual:
    def test_post_normalises_the_sum(self):
        steps = torch.randn(2, 3, 8)
        expected = nn.functional.layer_norm(steps + 2 * steps, (8,))
        torch.testing.assert_close(Residual(8, norm="post")(steps, lambda x: 2 * x), expected)

    def test_pre_normalises_the_branch(self):
        steps = torch.randn(2, 3, 8)
        expected = steps + 2 * nn.functional.layer_norm(steps, (8,))
        torch.testing.assert_close(Residual(8, norm="pre")(steps, lambda x: 2 * x), expected)

    def test_dropout_spares_the_steps(self):
        steps = torch.randn(8, 30, 8)
        summed = Residual(8, norm="pre", dropout=0.5)(steps, torch.ones_like)
        spared = summed == steps  # where the branch was dropped
        assert 0.4 < float(spared.float().mean()) < 0.6
        torch.testing.assert_close(summed[~spared], steps[~spared] + 2)

    def test_unknown_norm(self, unchecked):
        with pytest.raises(ParameterError, match="norm='before'"):
            Residual(8, norm="before")


@both_norms
class TestEncoder:
    def test_causal_blocks_do_not_look_ahead(self, norm):
        encoder, steps = Encoder([encoder_block(norm)]).double(), torch.randn(2, 6, 8).double()
        before, _ = encoder(steps, causal=True)
        steps[:, 4:] += 1
        after, _ = encoder(steps, causal=True)
        assert after[:, :4].equal(before[:, :4]) and not after[:, 4:].equal(before[:, 4:])

    def test_step_by_step_equals_the_whole(self, norm):
        encoder = Encoder([encoder_block(norm), encoder_block(norm)]).double()
        steps, caches = torch.randn(2, 6, 8).double(), encoder.new_caches()
        parts = [encoder(steps[:, [t]], causal=True, caches=caches)[0] for t in range(6)]
        torch.testing.assert_close(torch.cat(parts, 1), encoder(steps, causal=True)[0])

    def test_hidden_steps_change_no_visible_one(self, norm):
        encoder = Encoder([encoder_block(norm, ProbSparse(1, exact_below=0)) for _ in range(2)])
        encoder, steps = encoder.double().eval(), torch.randn(2, 20, 8).double()
        mask = torch.arange(20) < torch.tensor([[12], [20]])
        before, _ = encoder(steps, key_mask=mask)
        steps[0, 12:] += 1
        after, _ = encoder(steps, key_mask=mask)
        torch.testing.assert_close(after[mask], before[mask])


def test_reductions_stand_between_blocks():
    encoder = Encoder([encoder_block() for _ in range(3)], [Distilling(8), Distilling(8)])
    mask = torch.arange(13) < torch.tensor([[5], [13]])
    memory, memory_mask = encoder(torch.randn(2, 13, 8), key_mask=mask)
    assert memory.shape == (2, 4, 8)
    assert memory_mask.tolist() == [[True, True, False, False], [True] * 4]
    assert encoder(torch.randn(2, 13, 8))[1] is None


def test_reductions_must_fit():
    with pytest.raises(ParameterError, match="1 reductions do not fit between 3 blocks; give 2"):
        Encoder([encoder_block() for _ in range(3)], [Distilling(8)])
    with pytest.raises(ParameterError, match="look ahead"):
        encoder = Encoder([encoder_block(), encoder_block()], [Distilling(8)])
        encoder(torch.randn(1, 4, 8), causal=True)


@both_norms
class TestDecoder:
    def test_does_not_look_ahead(self, norm):
        steps, memory = torch.randn(2, 6, 8).double(), torch.randn(2, 9, 8).double()
        before = decoder(norm)(steps, memory)
        steps[:, 3:] += 1
        after = decoder(norm)(steps, memory)
        assert after[:, :3].equal(before[:, :3]) and not after[:, 3:].equal(before[:, 3:])

    def test_sees_all_of_memory_and_nothing_hidden(self, norm):
        steps, memory = torch.randn(2, 6, 8).double(), torch.randn(2, 9, 8).double()
        mask = torch.arange(9) < torch.tensor([[4], [9]])
        before = decoder(norm)(steps, memory, memory_mask=mask)
        memory[:, 4:] += 1
        after = decoder(norm)(steps, memory, memory_mask=mask)
        assert after[0].equal(before[0]) and after[1].ne(before[1]).any(-1).all()

    @pytest.mark.parametrize("masked", [False, True])
    def test_step_by_step_equals_the_whole(self, norm, masked):
        network = decoder(norm)
        steps, memory = torch.randn(2, 6, 8).double(), torch.randn(2, 9, 8).double()
        mask = torch.arange(9) < torch.tensor([[4], [9]]) if masked else None
        caches = network.new_caches()
        parts = [
            network(steps[:, [time]], memory, memory_mask=mask, caches=caches) for time in range(6)
        ]
        whole = network(steps, memory, memory_mask=mask)
        torch.testing.assert_close(torch.cat(parts, 1), whole)
