import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from tsformer.nn import FullAttention, attention_weights, full_attention


def slow_attention(q, k, v, visible):
    """Softmax attention, one query at a time."""
    batch, heads, queries, dim = q.shape
    output = torch.zeros(batch, heads, queries, v.shape[-1], dtype=q.dtype)
    visible = visible.expand(batch, heads, queries, k.shape[-2])
    for row in range(batch):
        for head in range(heads):
            for query in range(queries):
                seen = visible[row, head, query].nonzero()[:, 0]
                if len(seen):
                    scores = k[row, head, seen] @ q[row, head, query] / math.sqrt(dim)
                    output[row, head, query] = scores.softmax(0) @ v[row, head, seen]
    return output


def tensors(batch=2, heads=3, queries=7, keys=5, dim=4, value=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(queries, dim), (keys, dim), (keys, value)]
    return [
        torch.randn(batch, heads, *shape, generator=generator, dtype=torch.float64)
        for shape in shapes
    ]


@settings(max_examples=25, deadline=None)
@given(
    queries=st.integers(1, 12),
    keys=st.integers(1, 12),
    heads=st.integers(1, 3),
    dim=st.sampled_from([1, 3, 8]),
    causal=st.booleans(),
    masked=st.booleans(),
    seed=st.integers(0, 99),
)
def test_equals_the_slow_reference(queries, keys, heads, dim, causal, masked, seed):
    q, k, v = tensors(2, heads, queries, keys, dim, dim + 2, seed)
    mask = torch.rand(2, 1, 1, keys, generator=torch.Generator().manual_seed(seed)) < 0.6
    visible = mask if masked else torch.ones_like(mask)
    if causal:
        place = torch.arange(queries)[:, None] + keys - queries
        visible = visible & (torch.arange(keys) <= place)
    output = full_attention(q, k, v, mask=mask if masked else None, causal=causal)
    torch.testing.assert_close(output, slow_attention(q, k, v, visible))


def test_a_row_that_sees_nothing_is_0_and_has_finite_gradients():
    q, k, v = (tensor.requires_grad_() for tensor in tensors())
    mask = torch.ones(2, 1, 7, 5, dtype=torch.bool)
    mask[1, :, 2] = False
    output = full_attention(q, k, v, mask=mask)
    assert output[1, :, 2].eq(0).all() and output[1, :, 3].ne(0).all()
    output.sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in (q, k, v))
    assert q.grad[1, :, 2].eq(0).all()


def test_early_queries_without_a_key_are_0_however_many_heads_there_are():
    q, k, v = tensors(heads=8, queries=7, keys=5)
    bias = torch.zeros(1, 1, 7, 5, dtype=torch.float64)
    for extra in ({}, {"bias": bias}):
        output = full_attention(q, k, v, causal=True, **extra)
        visible = torch.ones(7, 5, dtype=torch.bool).tril(5 - 7)
        torch.testing.assert_close(output, slow_attention(q, k, v, visible))
        assert not output[:, :, :2].any() and output[:, :, 2:].all()


def test_the_part_is_the_function():
    q, k, v = tensors(queries=5, keys=5)
    causal = FullAttention()(q, k, v, causal=True)
    torch.testing.assert_close(causal, full_attention(q, k, v, causal=True))
    assert not torch.allclose(causal, FullAttention()(q, k, v))
    seen = torch.tensor([[True, True, False, True, True], [False, True, True, True, False]])
    hidden = FullAttention()(q, k, v, key_mask=seen)
    torch.testing.assert_close(hidden, slow_attention(q, k, v, seen[:, None, None, :]))


def test_gradients():
    q, k, v = (t.requires_grad_() for t in tensors(queries=3, keys=4, heads=2, dim=2, value=3))
    mask = torch.tensor([[True, True, False, True], [False] * 4])[:, None, None]
    assert torch.autograd.gradcheck(lambda *x: full_attention(*x, mask=mask), (q, k, v))


def test_attention_weights_are_dropped_in_training_only():
    q, k, v = tensors()
    attend = FullAttention(dropout=0.5)
    assert not attend(q, k, v).equal(attend(q, k, v))
    assert attend.eval()(q, k, v).equal(full_attention(q, k, v))


class TestBiasAndGain:
    """What is added to the scores and what is multiplied into them."""

    @settings(max_examples=15, deadline=None)
    @given(
        causal=st.booleans(),
        masked=st.booleans(),
        gained=st.booleans(),
        biased=st.booleans(),
        seed=st.integers(0, 99),
    )
    def test_equal_the_formula(self, causal, masked, gained, biased, seed):
        q, k, v = tensors(seed=seed)
        generator = torch.Generator().manual_seed(seed)
        bias, multiplier = torch.randn(2, 1, 3, 7, 5, generator=generator).double()
        mask = torch.rand(2, 1, 7, 5, generator=generator) < 0.6
        scores = q @ k.mT / 2 * (multiplier if gained else 1) + (bias if biased else 0)
        visible = mask if masked else torch.ones_like(mask)
        if causal:
            visible = visible & (torch.arange(5) <= torch.arange(7)[:, None] - 2)
        powers = scores.exp() * visible
        expected = powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)
        arguments = {
            "mask": mask if masked else None,
            "causal": causal,
            "bias": bias if biased else None,
            "multiplier": multiplier if gained else None,
        }
        torch.testing.assert_close(attention_weights(q, k, **arguments), expected)
        torch.testing.assert_close(full_attention(q, k, v, **arguments), expected @ v)

    @pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
    @pytest.mark.parametrize("causal", [False, True])
    def test_what_is_hidden_stays_so_beside_a_bias_of_any_size(self, kind, causal):
        q, k, v = (tensor.to(kind) for tensor in tensors(queries=5, keys=5))
        mask = torch.tensor([True, True, False, True, True])[None, None, None]
        bias = torch.full((1, 1, 5, 5), -3e4, dtype=kind)  # below any finite stand-in for hidden
        bias[..., 2] = 3e4
        output = full_attention(q, k, v, mask=mask, causal=causal, bias=bias)
        assert output.equal(
            full_attention(
                q, k.index_fill(2, torch.tensor([2]), 9), v, mask=mask, causal=causal, bias=bias
            )
        )
        spoilt = v.index_fill(2, torch.tensor([2]), 1e3)
        assert output.equal(full_attention(q, k, spoilt, mask=mask, causal=causal, bias=bias))
        weights = attention_weights(q, k, mask=mask, causal=causal, bias=bias)
        assert weights[..., 2].eq(0).all() and weights.sum(-1).sub(1).abs().lt(0.02).all()

    @pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
    @pytest.mark.parametrize("biased", [False, True])
    def test_the_first_of_more_queries_than_keys_see_nothing_and_get_0(self, kind, biased):
        q, k, v = (tensor.to(kind) for tensor in tensors(queries=7, keys=5))
        bias = torch.randn(1, 1, 7, 5).to(kind) if biased else None
        output = full_attention(q, k, v, causal=True, bias=bias)
        assert output[:, :, :2].eq(0).all() and output[:, :, 2:].ne(0).all()
        assert output.isfinite().all()

    def test_neutral_ones_change_nothing(self):
        q, k, v = tensors()
        nothing = torch.zeros(1, 1, 7, 5, dtype=torch.float64)
        expected = full_attention(q, k, v)
        torch.testing.assert_close(full_attention(q, k, v, bias=nothing), expected)
        torch.testing.assert_close(full_attention(q, k, v, multiplier=nothing + 1), expected)

    def test_have_gradients(self):
        q, k, v = tensors(heads=1, queries=3, keys=4, dim=2, value=2)
        parts = torch.randn(2, 1, 1, 3, 4, dtype=torch.float64).requires_grad_().unbind(0)
        mask = torch.tensor([[True, True, False, True], [False] * 4])[:, None, None]
        for name, part in zip(("bias", "multiplier"), parts, strict=True):
            assert torch.autograd.gradcheck(
                lambda x, name=name: full_attention(q, k, v, mask=mask, **{name: x}),
                (part.detach().requires_grad_(),),
            )

    def test_in_half_precision(self):
        q, k, v = (tensor.bfloat16() for tensor in tensors())
        bias = torch.randn(1, 3, 7, 5)
        assert full_attention(q, k, v, bias=bias).dtype == torch.bfloat16
        assert full_attention(q, k, v, multiplier=bias).dtype == torch.bfloat16
        assert attention_weights(q, k).dtype == torch.bfloat16
        with torch.autocast("cpu", torch.bfloat16):
            output = full_attention(q.float(), k.float(), v.float(), multiplier=bias)
        assert output.isfinite().all()


class TestWeights:
    def test_times_values_are_attention(self):
        q, k, v = tensors()
        mask = torch.tensor([[True] * 3 + [False] * 2, [False] * 5])[:, None, None]
        for arguments in ({}, {"causal": True}, {"mask": mask}, {"mask": mask, "causal": True}):
            weights = attention_weights(q, k, **arguments)
            torch.testing.assert_close(weights @ v, full_attention(q, k, v, **arguments))
            assert weights[1, :, 2:].sum(-1).round(decimals=9).eq("mask" not in arguments).all()

    @pytest.mark.parametrize("causal", [False, True])
    def test_are_held_only_on_request(self, causal):
        q, k, v = torch.randn(3, 1, 1, 3_000, 4)
        with Largest() as largest:
            full_attention(q, k, v, causal=causal)
            full_attention(q, k, v, mask=torch.ones(1, 1, 1, 3_000, dtype=torch.bool))
        assert largest.numbers < 3_000 * 100
        with Largest() as largest:
            attention_weights(q, k, causal=causal)
        assert largest.numbers == 3_000**2


class Largest(TorchDispatchMode):
    """Watches how many numbers the largest tensor has that any operation returns."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        output = function(*args, **(kwargs or {}))
        for tensor in output if isinstance(output, tuple) else (output,):
            if isinstance(tensor, torch.Tensor):
                self.numbers = max(self.numbers, tensor.untyped_storage().nbytes() // 4)
        return output


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("length", [9, 300])
def test_half_precision_on_a_cpu(causal, autocast, length):
    """Short sequences stay narrow, long ones are computed in float32 and rounded."""
    q, k, v = (torch.randn(2, 3, length, 8) for _ in range(3))
    narrow = [x.bfloat16() for x in (q, k, v)]
    mask = torch.rand(2, 1, length, length) < 0.7
    mask[0, 0, 2] = False
    exact = full_attention(*(x.float() for x in narrow), mask=mask, causal=causal)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        found = full_attention(*narrow, mask=mask, causal=causal)
    assert found.dtype == torch.bfloat16 and found[0, :, 2].eq(0).all()
    if length == 9:
        torch.testing.assert_close(found.float(), exact, rtol=2e-2, atol=2e-2)
    else:
        assert found.equal(exact.bfloat16())


@pytest.mark.parametrize("lengths", [(3_000, 3_000), (40, 1_600)])
def test_half_precision_holds_few_scores(lengths):
    q, k, v = (torch.randn(1, 1, length, 4).bfloat16() for length in (*lengths, lengths[1]))
    with Largest() as largest:
        full_attention(q, k, v)
    assert largest.numbers <= 256**2


def test_dropped_and_biased_half_precision():
    q, k, v = (x.bfloat16() for x in tensors())
    bias = torch.randn(1, 3, 7, 5, requires_grad=True)
    exact = full_attention(*(x.float() for x in (q, k, v)), bias=bias.bfloat16().float())
    for added in (bias, bias.detach()):
        found = full_attention(q, k, v, bias=added)
        torch.testing.assert_close(found.float(), exact, rtol=3e-2, atol=3e-2)
    full_attention(q, k, v, bias=bias).sum().backward()
    assert bias.grad.ne(0).any()
    assert not full_attention(q, k, v, dropout=0.5).equal(full_attention(q, k, v))
    one, other = (full_attention(q, k, v, dropout=0.5) for _ in range(2))
    assert not one.equal(other)
