import pytest
import torch
from torch import nn

from tsformer.errors import ParameterError
from tsformer.nn import (
    DecoderBlock,
    EncoderBlock,
    FeedForward,
    FullAttention,
    MultiHeadAttention,
    Residual,
)

both_norms = pytest.mark.parametrize("norm", ["post", "pre"])


def attention():
    return MultiHeadAttention(8, 2, attend=FullAttention())


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
class TestBlocks:
    """A block is its branches in their order, each within a `Residual`."""

    def test_encoder_block(self, norm):
        block, steps = (
            EncoderBlock(attention(), FeedForward(8, 16), norm=norm),
            torch.randn(2, 5, 8),
        )
        expected = block.around_attention(steps, block.attention)
        expected = block.around_feed_forward(expected, block.feed_forward)
        torch.testing.assert_close(block(steps), expected)

    def test_decoder_block(self, norm):
        block = DecoderBlock(attention(), attention(), FeedForward(8, 16), norm=norm)
        steps, memory = torch.randn(2, 5, 8), torch.randn(2, 7, 8)
        expected = block.around_self_attention(
            steps, lambda x: block.self_attention(x, causal=True)
        )
        expected = block.around_cross_attention(
            expected, lambda x: block.cross_attention(x, memory)
        )
        expected = block.around_feed_forward(expected, block.feed_forward)
        torch.testing.assert_close(block(steps, memory), expected)

    @pytest.mark.parametrize("last", [1, 3, 5])
    def test_the_last_steps_of_a_decoder_block(self, norm, last):
        block = DecoderBlock(attention(), attention(), FeedForward(8, 16), norm=norm)
        steps, memory = torch.randn(2, 5, 8), torch.randn(2, 7, 8)
        whole = block(steps, memory)
        torch.testing.assert_close(block(steps, memory, last=last), whole[:, -last:])
