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
    LearnedPositions,
    MultiHeadAttention,
    ProbSparse,
    RelativeBias,
    RotaryPositions,
    SinusoidalPositions,
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

    def test_step_by_step_with_hidden_steps(self, norm):
        encoder = Encoder([encoder_block(norm), encoder_block(norm)]).double()
        steps, caches = torch.randn(2, 6, 8).double(), encoder.new_caches()
        mask = torch.tensor([[False, True, False, True, True, True], [True] * 6])
        parts = []
        for t in range(6):
            seen = mask[:, : t + 1]
            part, returned = encoder(steps[:, [t]], key_mask=seen, causal=True, caches=caches)
            parts.append(part)
            assert returned.equal(seen)
        whole, _ = encoder(steps, key_mask=mask, causal=True)
        torch.testing.assert_close(torch.cat(parts, 1), whole)

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

    def test_the_last_steps_equal_those_of_the_whole(self, norm):
        network, memory = decoder(norm), torch.randn(2, 9, 8).double()
        steps = torch.randn(2, 6, 8).double()
        mask = torch.arange(9) < torch.tensor([[4], [9]])
        whole = network(steps, memory, memory_mask=mask)
        last = network(steps, memory, memory_mask=mask, last=2)
        torch.testing.assert_close(last, whole[:, -2:])


class TestPositions:
    def blocks(self, count=2):
        torch.manual_seed(0)
        return [
            EncoderBlock(
                MultiHeadAttention(
                    8, 2, attend=FullAttention(), rotate=RotaryPositions(), bias=RelativeBias(2)
                ),
                FeedForward(8, 16),
            )
            for _ in range(count)
        ]

    def test_at_every_layer(self):
        blocks, steps, time = (
            [encoder_block(), encoder_block()],
            torch.randn(2, 5, 8),
            torch.rand(1, 5),
        )
        positions = SinusoidalPositions()
        expected = steps
        for block in blocks:
            expected = block(positions(expected, time.expand(2, -1)))
        memory, _ = Encoder(blocks, positions=positions)(steps, time=time)
        torch.testing.assert_close(memory, expected)

    def test_at_every_layer_of_a_decoder(self):
        positions = LearnedPositions(8)
        block = DecoderBlock(attention(), attention(), FeedForward(8, 16))
        steps, memory = torch.randn(2, 5, 8), torch.randn(2, 7, 8)
        time = torch.arange(5.0).expand(2, -1)
        decoded = Decoder([block], positions=positions)(steps, memory, time=time)
        torch.testing.assert_close(decoded, block(positions(steps, time), memory))
        with pytest.raises(ParameterError, match="pass time="):
            Decoder([block], positions=positions)(steps, memory)

    def test_reductions_keep_every_other_time(self):
        encoder = Encoder(self.blocks(), [Distilling(8)])
        steps, time = torch.randn(2, 13, 8), 3 * torch.arange(13.0)[None]
        first, second = encoder.blocks
        reduced, _ = encoder.reductions[0](first(steps, time=time), None)
        expected = second(reduced, time=time[:, [0, 2, 4, 6, 8, 10, 12]])
        torch.testing.assert_close(encoder(steps, time=time)[0], expected)

    @pytest.mark.parametrize("timed", [False, True])
    def test_step_by_step_equals_the_whole(self, timed):
        encoder, steps = Encoder(self.blocks()).double(), torch.randn(2, 6, 8).double()
        time = torch.tensor([[0.0, 1, 4, 4.5, 9, 10]]) if timed else None
        caches, parts = encoder.new_caches(), []
        for t in range(6):
            now = time[:, [t]] if timed else None
            parts.append(encoder(steps[:, [t]], causal=True, caches=caches, time=now)[0])
        whole, _ = encoder(steps, causal=True, time=time)
        torch.testing.assert_close(torch.cat(parts, 1), whole)

    def test_a_decoder_relates_steps_and_memory(self):
        torch.manual_seed(0)
        timed = [
            MultiHeadAttention(8, 2, attend=FullAttention(), rotate=RotaryPositions())
            for _ in range(2)
        ]
        decoder = Decoder([DecoderBlock(*timed, FeedForward(8, 16))]).double()
        steps, memory = torch.randn(2, 3, 8).double(), torch.randn(2, 5, 8).double()
        time, memory_time = torch.arange(5.0, 8)[None], torch.arange(5.0)[None]
        whole = decoder(steps, memory, time=time, memory_time=memory_time)
        later = decoder(steps, memory, time=time + 9, memory_time=memory_time + 9)
        torch.testing.assert_close(later, whole)
        assert not decoder(steps, memory, time=time, memory_time=memory_time - 2).allclose(whole)
        last = decoder(steps, memory, time=time, memory_time=memory_time, last=2)
        torch.testing.assert_close(last, whole[:, -2:])
        caches = decoder.new_caches()
        parts = [
            decoder(
                steps[:, [t]], memory, time=time[:, [t]], memory_time=memory_time, caches=caches
            )
            for t in range(3)
        ]
        torch.testing.assert_close(torch.cat(parts, 1), whole)
