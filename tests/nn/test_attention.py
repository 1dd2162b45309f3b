import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tsformer.errors import ParameterError
from tsformer.nn import FullAttention, KeyValueCache, MultiHeadAttention, full_attention


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


def test_gradients():
    q, k, v = (t.requires_grad_() for t in tensors(queries=3, keys=4, heads=2, dim=2, value=3))
    mask = torch.tensor([[True, True, False, True], [False] * 4])[:, None, None]
    assert torch.autograd.gradcheck(lambda *x: full_attention(*x, mask=mask), (q, k, v))


def test_attention_weights_are_dropped_in_training_only():
    q, k, v = tensors()
    attend = FullAttention(dropout=0.5)
    assert not attend(q, k, v).equal(attend(q, k, v))
    assert attend.eval()(q, k, v).equal(full_attention(q, k, v))


class TestMultiHeadAttention:
    def attention(self, heads=2):
        torch.manual_seed(0)
        return MultiHeadAttention(6, heads, attend=FullAttention()).double().eval()

    def test_heads_are_consecutive_columns(self):
        attention, steps = self.attention(), torch.randn(2, 5, 6, dtype=torch.float64)
        parts = []
        for head in range(2):
            columns = slice(3 * head, 3 * head + 3)
            q, k, v = (
                project(steps)[:, None, :, columns]
                for project in (attention.query, attention.key, attention.value)
            )
            parts.append(slow_attention(q, k, v, torch.ones(1, dtype=torch.bool))[:, 0])
        expected = attention.output(torch.cat(parts, -1))
        torch.testing.assert_close(attention(steps), expected)

    def test_self_attention_is_attention_to_itself(self):
        attention, steps = self.attention(), torch.randn(2, 5, 6, dtype=torch.float64)
        torch.testing.assert_close(attention(steps), attention(steps, steps))

    def test_hidden_keys_change_nothing(self):
        attention = self.attention()
        queries, keys = torch.randn(2, 4, 6).double(), torch.randn(2, 5, 6).double()
        key_mask = torch.tensor([[True] * 3 + [False] * 2, [True] * 5])
        before = attention(queries, keys, key_mask=key_mask)
        keys[0, 3:] = 1e3
        assert attention(queries, keys, key_mask=key_mask).equal(before)

    @pytest.mark.parametrize("masked", [False, True])
    def test_steps_with_a_cache_equal_the_whole(self, masked):
        attention, steps = self.attention(), torch.randn(2, 5, 6, dtype=torch.float64)
        mask = torch.ones(2, 5, dtype=torch.bool)
        mask[0, :2] = False
        whole = attention(steps, causal=True, key_mask=mask if masked else None)
        cache, parts = KeyValueCache(), []
        for start, stop in ((0, 2), (2, 3), (3, 5)):
            seen = mask[:, :stop] if masked else None
            part = attention(steps[:, start:stop], causal=True, key_mask=seen, cache=cache)
            parts.append(part)
            assert len(cache) == stop
        torch.testing.assert_close(torch.cat(parts, 1), whole)

    def test_cross_attention_projects_the_memory_once(self):
        attention, cache = self.attention(), KeyValueCache()
        queries, memory = torch.randn(2, 1, 6).double(), torch.randn(2, 5, 6).double()
        first = attention(queries, memory, cache=cache)
        assert attention(queries, memory * 0, cache=cache).equal(first)
        assert len(cache) == 5

    def test_heads_must_divide_the_width(self):
        with pytest.raises(ParameterError, match="heads=4 does not divide d_model=6"):
            MultiHeadAttention(6, 4, attend=FullAttention())
