import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tsformer.nn import logarithmic_count, random_sample, spread_sample

both_samplings = pytest.mark.parametrize("sampling", ["shared", "per_query"])


class TestSamples:
    @both_samplings
    @settings(max_examples=30, deadline=None)
    @given(length=st.integers(1, 400), heads=st.integers(1, 9), factor=st.integers(1, 6))
    def test_distinct_sorted_and_in_range(self, sampling, length, heads, factor):
        q = torch.zeros(1, heads, min(length, 20), 1)
        k = torch.zeros(1, heads, length, 1)
        for draw in (spread_sample, random_sample):
            sample = draw(q, k, factor=factor, sampling=sampling)
            assert sample.shape[-1] == logarithmic_count(length, factor)
            assert (sample >= 0).all() and (sample < length).all()
            if draw is spread_sample:
                assert (sample.diff() > 0).all()

    @both_samplings
    def test_only_visible_keys_and_minus_one(self, sampling):
        q = torch.zeros(4, 3, 20, 1)
        key_mask = torch.rand(4, 20) < torch.tensor([[0.0], [0.1], [0.5], [1.0]])
        for draw in (spread_sample, random_sample):
            sample = draw(q, q, factor=2, sampling=sampling, key_mask=key_mask)
            for row in range(4):
                places = sample[row][sample[row] >= 0]
                assert key_mask[row, places].all()
                visible = int(key_mask[row].sum())
                expected = logarithmic_count(visible, 2) if visible else 0
                assert (sample[row] >= 0).sum(-1).eq(expected).all()

    def test_heads_look_at_different_keys(self):
        q = torch.zeros(1, 8, 96, 1)
        assert len({tuple(row) for row in spread_sample(q, q).tolist()}) >= 4

    def test_every_key_is_equally_likely(self):
        q = torch.zeros(1, 2000, 13, 1)
        sample = random_sample(q, q, factor=2, generator=torch.Generator().manual_seed(0))
        share = sample.flatten().bincount(minlength=13) / 2000
        assert (share - 6 / 13).abs().max() < 0.05
