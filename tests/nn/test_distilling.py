import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.nn import Distilling, distilled_length

both_norms = pytest.mark.parametrize("norm", ["layer", "batch"])
HALVES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 96: 48, 720: 360}


@both_norms
@pytest.mark.parametrize("length, left", HALVES.items())
def test_lengths_worked_out_by_hand(norm, length, left):
    steps, mask = Distilling(4, norm=norm)(torch.randn(2, length, 4))
    assert steps.shape == (2, left, 4) and mask is None
    assert distilled_length(length) == left


@both_norms
def test_equals_equation_5_step_by_step(norm):
    distil, steps = Distilling(4, norm=norm).eval(), torch.randn(1, 5, 4)
    weight, bias = distil.convolution.weight, distil.convolution.bias
    around = [torch.roll(steps, shift, 1) for shift in (1, 0, -1)]
    mixed = sum(step @ weight[..., tap].T for tap, step in enumerate(around)) + bias
    if norm == "layer":
        mixed = torch.nn.functional.layer_norm(mixed, (4,))
    else:
        mixed = mixed / (1 + distil.norm.eps) ** 0.5
    active = torch.nn.functional.elu(mixed)
    expected = torch.stack([active[:, max(0, t - 1) : t + 2].amax(1) for t in (0, 2, 4)], 1)
    torch.testing.assert_close(distil(steps)[0], expected)


def test_a_step_is_visible_when_one_it_is_pooled_from_is():
    mask = torch.zeros(1, 7, dtype=torch.bool)
    mask[0, 3] = True  # steps 2 and 4 are each pooled from it
    steps, less = Distilling(4)(torch.randn(1, 7, 4), mask)
    assert less.tolist() == [[False, True, True, False]]
    assert steps[~less].eq(0).all() and steps.isfinite().all()


def test_hidden_steps_change_nothing_and_have_no_gradient():
    distil, steps = Distilling(4), torch.randn(2, 9, 4)
    mask = torch.arange(9) < torch.tensor([[4], [0]])
    before, _ = distil(steps, mask)
    steps = steps + 5 * ~mask[..., None]
    steps.requires_grad_()
    after, _ = distil(steps, mask)
    assert after.equal(before)
    after.sum().backward()
    assert steps.grad[~mask].eq(0).all() and steps.grad.isfinite().all()


def test_rows_are_independent_in_training_unless_the_batch_is_normalised():
    steps = torch.randn(3, 8, 4)
    for norm, independent in (("layer", True), ("batch", False)):
        distil = Distilling(4, norm=norm).train()
        close = distil(steps)[0][:1].isclose(distil(steps[:1])[0], atol=1e-6).all()
        assert bool(close) is independent


def test_unknown_norm(unchecked):
    with pytest.raises(ParameterError, match="norm='group'"):
        Distilling(4, norm="group")
