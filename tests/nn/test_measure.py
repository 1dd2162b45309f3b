import math

import torch

from tsformer.nn import sparsity_measure


class TestPoint6Measure:
    def test_equation_4(self):
        scores = torch.randn(2, 3, 4, 6, dtype=torch.float64)
        counts = torch.rand(2, 1, 1, 6) < 0.5
        counts[..., 0] = True
        measure = sparsity_measure(scores, counts)
        for row in range(2):
            kept = scores[row][..., counts[row, 0, 0]]
            torch.testing.assert_close(measure[row], kept.amax(-1) - kept.mean(-1))

    def test_a_constant_on_all_scores_changes_nothing(self):
        scores = torch.randn(1, 1, 8, 5, dtype=torch.float64)
        shifted = scores + 100 * torch.arange(8)[:, None]
        torch.testing.assert_close(sparsity_measure(shifted), sparsity_measure(scores))

    def test_a_query_without_sampled_keys_is_active(self):
        hidden = torch.zeros(1, 1, 1, 5, dtype=torch.bool)
        assert sparsity_measure(torch.randn(1, 1, 2, 5), hidden).eq(math.inf).all()
