import pytest
import torch

from tsformer.nn import Distilling, StepBatchNorm


def test_each_feature_is_normalised_over_batch_and_time():
    steps = torch.randn(3, 5, 4) * 7 + 2
    normalised = StepBatchNorm(4)(steps)
    torch.testing.assert_close(normalised.mean((0, 1)), torch.zeros(4), atol=1e-5, rtol=0)
    torch.testing.assert_close(
        normalised.std((0, 1), correction=0), torch.ones(4), atol=1e-4, rtol=0
    )


def test_a_step_alone_is_normalised_by_what_was_seen_before():
    norm = StepBatchNorm(2)
    norm(torch.randn(8, 6, 2) * 3 + 5)
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    alone = torch.randn(1, 1, 2)
    in_training = norm.train()(alone)
    assert all(value.equal(before[name]) for name, value in norm.state_dict().items())
    torch.testing.assert_close(in_training, norm.eval()(alone))


@pytest.mark.parametrize("length", [1, 2])
def test_distilling_takes_a_step_alone(length):
    steps, _ = Distilling(4, norm="batch").train()(torch.randn(1, length, 4))
    assert steps.shape == (1, 1, 4) and steps.isfinite().all()
