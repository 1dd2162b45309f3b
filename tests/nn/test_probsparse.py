import math
import subprocess
import sys
import textwrap

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tsformer.errors import ParameterError
from tsformer.nn import (
    FullAttention,
    MultiHeadAttention,
    ProbSparse,
    full_attention,
    logarithmic_count,
    most_active,
    prob_sparse_attention,
    sampled_scores,
    sparsity_measure,
    spread_sample,
)

both_samplings = pytest.mark.parametrize("sampling", ["shared", "per_query"])
lengths = st.integers(1, 40)


def sparse(q, k, v, **arguments):
    return prob_sparse_attention(q, k, v, exact_below=0, **arguments)


def tensors(batch=2, heads=2, queries=30, keys=30, dim=5, value=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = [(queries, dim), (keys, dim), (keys, value)]
    return [
        torch.randn(batch, heads, *shape, generator=generator, dtype=torch.float64)
        for shape in shapes
    ]


def algorithm_1(q, k, v, samples, factor):
    """Algorithm 1 of Zhou et al. (2021) for one head of one row, written as it is printed.

    ``samples`` holds the places of the sampled keys of every query.
    """
    length, dim = q.shape
    u = max(1, min(length, factor * math.ceil(math.log(length))))
    measures = []
    for query, places in zip(q, samples, strict=True):
        scores = [float(query @ k[place]) / math.sqrt(dim) for place in places]
        measures.append(max(scores) - sum(scores) / len(scores))
    active = sorted(range(length), key=lambda row: -measures[row])[:u]
    output = v.mean(0).repeat(length, 1)
    for row in active:
        output[row] = (k @ q[row] / math.sqrt(dim)).softmax(0) @ v
    return output


@both_samplings
@settings(max_examples=20, deadline=None)
@given(
    queries=lengths,
    keys=st.integers(2, 40),
    heads=st.integers(1, 3),
    dim=st.sampled_from([1, 3, 7]),
    factor=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_equals_algorithm_1(sampling, queries, keys, heads, dim, factor, seed):
    q, k, v = tensors(2, heads, queries, keys, dim, dim + 2, seed)
    generator = torch.Generator().manual_seed(seed)
    askers = (heads, queries) if sampling == "per_query" else (heads,)
    count = max(2, logarithmic_count(keys, factor))  # one key alone ranks no query
    sample = torch.rand(*askers, keys, generator=generator).argsort(-1)[..., :count]
    output = sparse(q, k, v, factor=factor, sampling=sampling, sample=sample)
    every = sample if sampling == "per_query" else sample[:, None].expand(-1, queries, -1)
    for row in range(2):
        for head in range(heads):
            expected = algorithm_1(q[row, head], k[row, head], v[row, head], every[head], factor)
            torch.testing.assert_close(output[row, head], expected)


class TestPoint1AllKeptIsFull:
    @both_samplings
    @settings(max_examples=15, deadline=None)
    @given(queries=lengths, keys=lengths, heads=st.integers(1, 3), seed=st.integers(0, 99))
    def test_for_any_lengths(self, sampling, queries, keys, heads, seed):
        q, k, v = tensors(2, heads, queries, keys, 3, 4, seed)
        output = sparse(q, k, v, factor=queries, sampling=sampling)
        torch.testing.assert_close(output, full_attention(q, k, v))

    @both_samplings
    def test_with_masks(self, sampling):
        q, k, v = tensors()
        key_mask = torch.arange(30) < torch.tensor([[20], [30]])
        output = sparse(q, k, v, factor=30, sampling=sampling, key_mask=key_mask)
        expected = full_attention(q, k, v, mask=key_mask[:, None, None])
        torch.testing.assert_close(output, expected)

    def test_below_the_crossover(self):
        q, k, v = tensors()
        assert prob_sparse_attention(q, k, v, exact_below=31).equal(full_attention(q, k, v))
        assert not prob_sparse_attention(q, k, v, exact_below=30).equal(full_attention(q, k, v))


@both_samplings
class TestPoint2RowsAreIndependent:
    @pytest.mark.parametrize("heads", [1, 3])
    @pytest.mark.parametrize("masked", [False, True])
    def test_alone_equals_in_a_batch(self, sampling, heads, masked):
        q, k, v = tensors(3, heads)
        mask = torch.arange(30) < torch.tensor([[11], [30], [24]])
        together = sparse(q, k, v, factor=2, sampling=sampling, key_mask=mask if masked else None)
        for row in range(3):
            one = slice(row, row + 1)
            alone = sparse(
                q[one],
                k[one],
                v[one],
                factor=2,
                sampling=sampling,
                key_mask=mask[one] if masked else None,
            )
            torch.testing.assert_close(together[one], alone)

    def test_gradients_stay_in_their_row(self, sampling):
        q, k, v = (tensor.requires_grad_() for tensor in tensors(heads=1))
        sparse(q, k, v, sampling=sampling)[0].sum().backward()
        assert all(tensor.grad[1].eq(0).all() for tensor in (q, k, v))
        assert all(tensor.grad[0].ne(0).any() for tensor in (q, k, v))


@both_samplings
class TestPoint3EvaluationIsDeterministic:
    def test_twice_the_same_and_no_generator_moves(self, sampling):
        q, k, v = tensors()
        attend = ProbSparse(2, sampling=sampling, exact_below=0).eval()
        mask = torch.arange(30) < torch.tensor([[12], [30]])
        before = torch.get_rng_state()
        assert attend(q, k, v).equal(attend(q, k, v))
        assert attend(q, k, v, key_mask=mask).equal(attend(q, k, v, key_mask=mask))
        assert torch.get_rng_state().equal(before)

    def test_training_draws_from_the_default_generator(self, sampling):
        q, k, v = tensors()
        attend = ProbSparse(1, sampling=sampling, exact_below=0)
        torch.manual_seed(1)
        draws = [attend(q, k, v) for _ in range(8)]
        torch.manual_seed(1)
        assert attend(q, k, v).equal(draws[0])
        assert any(not draw.equal(draws[0]) for draw in draws)

    def test_a_generator_is_the_only_source(self, sampling):
        q, k, v = tensors()
        before = torch.get_rng_state()
        first, second = (
            sparse(q, k, v, sampling=sampling, generator=torch.Generator().manual_seed(7))
            for _ in range(2)
        )
        assert first.equal(second) and torch.get_rng_state().equal(before)


@both_samplings
class TestPoint5Clamps:
    @pytest.mark.parametrize("queries, keys", [(1, 1), (1, 9), (9, 1), (3, 20), (40, 2)])
    def test_any_lengths(self, sampling, queries, keys):
        q, k, v = tensors(queries=queries, keys=keys, value=8)
        output = sparse(q, k, v, sampling=sampling)
        assert output.shape == (2, 2, queries, 8) and output.isfinite().all()

    def test_hidden_keys_change_nothing(self, sampling):
        q, k, v = tensors()
        mask = torch.ones(2, 30, dtype=torch.bool)
        mask[0, 3:25] = False
        before = sparse(q, k, v, factor=1, sampling=sampling, key_mask=mask)
        k[0, :, 3:25], v[0, :, 3:25] = 1e3, 1e3
        after = sparse(q, k, v, factor=1, sampling=sampling, key_mask=mask)
        torch.testing.assert_close(after, before)

    def test_hidden_keys_of_a_given_sample_are_skipped(self, sampling):
        q, k, v = tensors()
        mask = torch.arange(30) < torch.tensor([[10], [30]])
        shape = (2, 4) if sampling == "shared" else (2, 30, 4)
        sample = torch.tensor([2, 8, 15, 29]).expand(shape)
        output = sparse(q, k, v, factor=2, sampling=sampling, sample=sample, key_mask=mask)
        shown = torch.tensor([2, 8]).expand(*shape[:-1], 2)
        alone = sparse(
            q[:1], k[:1], v[:1], factor=2, sampling=sampling, sample=shown, key_mask=mask[:1]
        )
        torch.testing.assert_close(output[:1], alone)

    def test_a_row_without_keys_is_0(self, sampling):
        q, k, v = (tensor.requires_grad_() for tensor in tensors())
        mask = torch.tensor([[False] * 30, [True] * 30])
        for query_mask in (None, mask):
            output = sparse(q, k, v, sampling=sampling, key_mask=mask, query_mask=query_mask)
            assert output[0].eq(0).all() and output[1].ne(0).all()
        output.sum().backward()
        assert all(tensor.grad.isfinite().all() for tensor in (q, k, v))

    @pytest.mark.parametrize("padding", [1, 10, 70])
    def test_padding_on_the_right_changes_nothing(self, sampling, padding):
        q, k, v = tensors()
        padded = [torch.cat([x, 9 * torch.randn(2, 2, padding, 5).double()], 2) for x in (q, k, v)]
        mask = (torch.arange(30 + padding) < 30).expand(2, -1)
        output = sparse(*padded, factor=2, sampling=sampling, key_mask=mask, query_mask=mask)
        torch.testing.assert_close(output[:, :, :30], sparse(q, k, v, factor=2, sampling=sampling))


@both_samplings
class TestPoint6MeanOfTheSampledKeys:
    def test_moving_all_keys_changes_no_row(self, sampling):
        # moves all scores of a query alike; divided by the key length, the measure would move too
        q, k, v = tensors(queries=60, keys=60)
        before = sparse(q, k, v, factor=1, sampling=sampling)
        after = sparse(q, k + 50, v, factor=1, sampling=sampling)
        torch.testing.assert_close(after, before)

    def test_dividing_by_the_key_length_would_choose_others(self, sampling):
        q, k, _ = tensors(queries=60, keys=60)
        sample = spread_sample(q, k + 50, factor=1, sampling=sampling)
        scores, _ = sampled_scores(q, k + 50, sample, sampling)
        wrong = scores.amax(-1) - scores.sum(-1) / k.shape[-2]
        right = most_active(sparsity_measure(scores), 1)[0].sort(-1).values
        assert not most_active(wrong, 1)[0].sort(-1).values.equal(right)


def test_point_5_scattered_padding_changes_nothing_through_multi_head_attention():
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 2, attend=ProbSparse(2, exact_below=0)).double().eval()
    steps = torch.randn(2, 40, 8, dtype=torch.float64)
    mask = torch.rand(2, 40) < 0.7
    output = attention(steps, key_mask=mask)
    for row in range(2):
        alone = attention(steps[row, mask[row]][None])
        torch.testing.assert_close(output[row, mask[row]][None], alone)


@both_samplings
def test_gradients(sampling):
    q, k, v = (t.requires_grad_() for t in tensors(1, 2, queries=9, keys=8, dim=2, value=3))
    mask = torch.tensor([[True] * 6 + [False] * 2])
    for key_mask in (None, mask):
        assert torch.autograd.gradcheck(
            lambda *x, key_mask=key_mask: sparse(
                *x, factor=1, sampling=sampling, key_mask=key_mask
            ),
            (q, k, v),
        )


def test_half_precision():
    q, k, v = (tensor.bfloat16() for tensor in tensors())
    mask = torch.arange(30) < torch.tensor([[12], [30]])
    output = sparse(q, k, v, key_mask=mask, query_mask=mask)
    assert output.dtype == torch.bfloat16 and output.isfinite().all()
    with torch.autocast("cpu", torch.bfloat16):
        assert sparse(q.float(), k.float(), v.float()).dtype == torch.bfloat16


def test_twenty_thousand_steps():
    q, k, v = (tensor.float() for tensor in tensors(1, 2, 20_000, 20_000))
    output = prob_sparse_attention(q, k, v)
    assert output.shape == v.shape and output.isfinite().all()


def test_dropout_is_applied_in_training_only():
    q, k, v = tensors()
    attend = ProbSparse(30, dropout=0.5, exact_below=0)
    assert not attend(q, k, v).isclose(full_attention(q, k, v)).all()
    torch.testing.assert_close(attend.eval()(q, k, v), FullAttention()(q, k, v))


def test_parameters_out_of_range(unchecked):
    q, k, v = tensors()
    with pytest.raises(ParameterError, match="factor=0"):
        ProbSparse(0)
    with pytest.raises(ParameterError, match="sampling='each'"):
        sparse(q, k, v, sampling="each")
    with pytest.raises(ParameterError, match="takes no bias"):
        ProbSparse()(q, k, v, bias=q @ k.mT)
    with pytest.raises(ParameterError, match="sample and generator"):
        sparse(q, k, v, sample=spread_sample(q, k), generator=torch.Generator())


def test_compiles_to_one_graph():
    # In a process of its own: the shape checks of the test run do not compile.
    code = """
        import torch
        from tsformer.nn import ProbSparse, full_attention, spread_sample, prob_sparse_attention
        q, k, v = torch.randn(3, 2, 2, 40, 4, requires_grad=True)
        mask = torch.arange(40) < torch.tensor([[30], [40]])
        cases = [
            lambda: full_attention(q, k, v, causal=True),
            lambda: full_attention(q, k, v, mask=mask[:, None, None]),
            lambda: prob_sparse_attention(q, k, v, exact_below=0),
            lambda: prob_sparse_attention(q, k, v, exact_below=0, sampling="per_query"),
            lambda: prob_sparse_attention(q, k, v, exact_below=0, sample=spread_sample(q, k)),
            lambda: prob_sparse_attention(q, k, v, exact_below=0, key_mask=mask, query_mask=mask),
        ]
        for case in cases:
            compiled = torch.compile(case, fullgraph=True, backend="aot_eager")
            torch.testing.assert_close(compiled(), case())
        torch.compile(ProbSparse(exact_below=0), fullgraph=True, backend="aot_eager")(q, k, v)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


@both_samplings
@pytest.mark.parametrize("count", [1, 25])
@pytest.mark.parametrize("padded", [False, True])
def test_a_query_of_nan_gets_nan_and_no_other_does(sampling, count, padded):
    q, k, v = tensors(queries=200, keys=200)
    spoilt = torch.zeros(2, 2, 200, dtype=torch.bool)
    spoilt[1, 0, 60 : 60 + count] = True
    mask = torch.arange(200).expand(2, -1) < 80 if padded else None
    output = sparse(
        q.masked_fill(spoilt[..., None], torch.nan),
        k,
        v,
        factor=1,
        sampling=sampling,
        query_mask=mask,
    )
    counts = spoilt if mask is None else spoilt & mask[:, None]
    assert output.isnan().any(-1).equal(counts)
    clean = sparse(q, k, v, factor=1, sampling=sampling, query_mask=mask)
    assert output[0].equal(clean[0]) and output[1, 1].equal(clean[1, 1])
