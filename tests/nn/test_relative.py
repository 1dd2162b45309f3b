import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tsformer.errors import ParameterError
from tsformer.nn import RelativeBias, RotaryPositions, distance_bucket, rotary


class TestRotary:
    @pytest.mark.parametrize("dim", [1, 2, 5, 8])
    def test_equals_the_formula(self, dim):
        x = torch.randn(2, 3, 4, dim, dtype=torch.float64)
        time = torch.tensor([[0.0, 1.5, -3, 12_345], [1, 2, 3, 4]], dtype=torch.float64)
        rotated = rotary(x, time)
        for row in range(2):
            for step in range(4):
                expected = x[row, :, step].clone()
                for i in range(dim // 2):
                    angle = float(time[row, step]) / 10_000 ** (2 * i / dim)
                    turn = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
                    pair = x[row, :, step, 2 * i : 2 * i + 2]
                    expected[:, 2 * i : 2 * i + 2] = pair @ torch.tensor(turn).double().mT
                torch.testing.assert_close(rotated[row, :, step], expected, atol=1e-6, rtol=1e-6)

    @settings(max_examples=20, deadline=None)
    @given(dim=st.integers(1, 9), shift=st.floats(-5_000, 5_000), seed=st.integers(0, 99))
    def test_scores_depend_on_differences_of_times(self, dim, shift, seed):
        generator = torch.Generator().manual_seed(seed)
        q, k = torch.randn(2, 1, 2, 6, dim, generator=generator, dtype=torch.float64)
        time = 10 * torch.rand(1, 6, generator=generator, dtype=torch.float64).cumsum(-1)
        scores = rotary(q, time) @ rotary(k, time).mT
        shifted = rotary(q, time + shift) @ rotary(k, time + shift).mT
        torch.testing.assert_close(shifted, scores)

    def test_lengths_stay(self):
        x = torch.randn(1, 2, 20_000, 7)
        rotated = RotaryPositions()(x, torch.arange(20_000.0)[None])
        torch.testing.assert_close(rotated.norm(dim=-1), x.norm(dim=-1))

    def test_the_dtype_is_kept_and_the_angles_are_exact(self):
        x, time = torch.randn(1, 1, 3, 4), torch.tensor([[1_000.0, 1_001, 1_002]])
        rotated = rotary(x.bfloat16(), time)
        assert rotated.dtype == torch.bfloat16
        torch.testing.assert_close(rotated.float(), rotary(x, time), atol=0.05, rtol=0.05)

    def test_base_out_of_range(self):
        with pytest.raises(ParameterError, match="base=1"):
            RotaryPositions(1.0)


class TestRelativeBias:
    @settings(max_examples=30, deadline=None)
    @given(
        differences=st.lists(st.integers(-2_000, 2_000), min_size=1, max_size=30),
        buckets=st.integers(2, 20),
    )
    def test_buckets(self, differences, buckets):
        near, max_distance = (buckets + 1) // 2, 300.0
        difference = torch.tensor(differences, dtype=torch.float64)
        bucket = distance_bucket(difference, buckets=buckets, max_distance=max_distance).tolist()
        for value, got in zip(differences, bucket, strict=True):
            distance, side = abs(value), got - (buckets - 1)
            assert side * value >= 0 and abs(side) < buckets
            if distance < near:
                assert abs(side) == distance
            elif distance >= max_distance:
                assert abs(side) == buckets - 1
            else:
                assert near <= abs(side) < buckets
        ordered = sorted(zip(differences, bucket, strict=True))
        assert [got for _, got in ordered] == sorted(bucket)

    @pytest.mark.parametrize("mode, neutral", [("add", 0), ("multiply", 1)])
    def test_starts_neutral_and_learns(self, mode, neutral):
        bias = RelativeBias(2, mode=mode)
        time = torch.arange(4.0)[None]
        values = bias(time, time)
        assert values.eq(neutral).all()
        values[0, 1, 3, 0].backward()
        changed = bias.weight.grad.nonzero().tolist()
        assert changed == [[1, 15 + 3]]

    def test_depends_on_the_difference_of_times(self):
        bias = RelativeBias(3)
        torch.nn.init.normal_(bias.weight)
        time = torch.tensor([[0.0, 1, 2, 7, 900], [3, 4, 8, 9, 10]])
        values = bias(time, time)
        assert values.shape == (2, 3, 5, 5)
        assert bias(time + 1_234, time + 1_234).equal(values)
        assert values[0, :, 0, 1].equal(values[0, :, 1, 2])
        assert not values[0, :, 0, 1].equal(values[0, :, 1, 0])

    def test_parameters_out_of_range(self, unchecked):
        with pytest.raises(ParameterError, match="mode='scale'"):
            RelativeBias(2, mode="scale")
        for wrong in ({"heads": 0}, {"buckets": 1}, {"max_distance": 16.0}):
            with pytest.raises(ParameterError, match="there must be a head"):
                RelativeBias(**{"heads": 2, **wrong})
