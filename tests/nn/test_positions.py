import math

import pytest
import torch

from tsformer.nn import LearnedPositions, NoPositions, SinusoidalPositions, sinusoidal


@pytest.mark.parametrize("d_model", [1, 2, 5, 8])
def test_equals_the_formula(d_model):
    time = torch.tensor([0.0, 1.0, 2.5, -3.0, 12_345.0], dtype=torch.float64)
    encoding = sinusoidal(time, d_model)
    for row, moment in enumerate(time.tolist()):
        for column in range(d_model):
            angle = moment / 10_000 ** (2 * (column // 2) / d_model)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert encoding[row, column].item() == pytest.approx(expected, abs=1e-9)


def test_a_longer_sequence_starts_the_same():
    time = torch.arange(9_000.0)
    assert sinusoidal(time, 6)[:100].equal(sinusoidal(time[:100], 6))


def test_every_row_has_its_own_times():
    steps, time = torch.randn(2, 4, 6), torch.tensor([[0.0, 1, 2, 3], [0, 2, 4, 6]])
    output = SinusoidalPositions()(steps, time) - steps
    torch.testing.assert_close(output[0, 2], output[1, 1])


def test_the_dtype_is_that_of_the_steps():
    steps, time = torch.randn(1, 3, 4).bfloat16(), torch.arange(3.0)[None]
    assert SinusoidalPositions()(steps, time).dtype == torch.bfloat16


def test_no_positions_returns_the_steps():
    steps = torch.randn(1, 3, 4)
    assert NoPositions()(steps, torch.arange(3.0)[None]) is steps


class TestLearnedPositions:
    @pytest.mark.parametrize("d_model", [1, 5, 8])
    def test_starts_as_sinusoids(self, d_model):
        steps, time = torch.randn(2, 4, d_model), torch.tensor([[0.0, 1, 2.5, 9]]).expand(2, -1)
        learned = LearnedPositions(d_model)(steps, time)
        torch.testing.assert_close(learned, SinusoidalPositions()(steps, time))

    def test_is_learned(self):
        positions, time = LearnedPositions(6), torch.arange(3.0).expand(2, -1)
        positions(torch.randn(2, 3, 6), time).square().sum().backward()
        assert positions.mix.weight.grad.ne(0).any(1).all()

    def test_knows_any_time(self):
        time = torch.tensor([[-20_000.0, 0.25, 1e6]])
        assert LearnedPositions(6)(torch.zeros(1, 3, 6), time).isfinite().all()

    def test_the_dtype_is_that_of_the_steps(self):
        steps, time = torch.randn(1, 3, 4).bfloat16(), torch.arange(3.0)[None]
        assert LearnedPositions(4)(steps, time).dtype == torch.bfloat16
