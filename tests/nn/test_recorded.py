import torch

from tsformer.nn import (
    Encoder,
    EncoderBlock,
    FeedForward,
    FullAttention,
    KeyValueCache,
    MultiHeadAttention,
    ProbSparse,
    recorded_weights,
)


def test_are_recorded_and_change_nothing():
    torch.manual_seed(0)
    blocks = [
        EncoderBlock(
            MultiHeadAttention(8, 2, attend=ProbSparse(1, dropout=0.1, exact_below=0)),
            FeedForward(8, 16, dropout=0.1),
        )
        for _ in range(2)
    ]
    encoder, steps = Encoder(blocks), torch.randn(2, 12, 8)
    torch.manual_seed(1)
    expected, _ = encoder(steps)
    torch.manual_seed(1)
    with recorded_weights(encoder) as weights:
        recorded, _ = encoder(steps)
    assert recorded.equal(expected)
    assert list(weights) == ["blocks.0.attention", "blocks.1.attention"]
    assert [[call.shape for call in calls] for calls in weights.values()] == [[(2, 2, 12, 12)]] * 2
    encoder(steps)
    assert all(len(calls) == 1 for calls in weights.values())


def test_of_decoding_steps_see_the_cache():
    attention = MultiHeadAttention(6, 2, attend=FullAttention()).eval()
    steps, cache = torch.randn(1, 4, 6), KeyValueCache()
    whole = attention.weights(steps, causal=True)
    with recorded_weights(attention) as weights:
        for step in range(4):
            attention(steps[:, [step]], causal=True, cache=cache)
    for step, call in enumerate(weights[""]):
        torch.testing.assert_close(call, whole[:, :, [step], : step + 1])
    assert len(cache) == 4
