import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.nn import StepEmbedding, ValueEmbedding


def test_kernel_3_equals_a_convolution_on_a_circle():
    embed, values = ValueEmbedding(2, 4, kernel=3), torch.randn(1, 5, 2)
    weight = embed.project.weight  # (d_model, feature, tap)
    around = [torch.roll(values, shift, 1) for shift in (1, 0, -1)]
    expected = sum(step @ weight[..., tap].T for tap, step in enumerate(around))
    torch.testing.assert_close(embed(values), expected)


@pytest.mark.parametrize("time", [1, 2])
def test_kernel_3_takes_short_sequences(time):
    assert ValueEmbedding(2, 4, kernel=3)(torch.randn(1, time, 2)).shape == (1, time, 4)


def test_kernel_1_sees_one_step():
    embed, values = ValueEmbedding(2, 4), torch.randn(1, 5, 2)
    before = embed(values)
    values[:, 2] += 1
    changed = embed(values).ne(before).any(-1)
    assert changed.tolist() == [[False, False, True, False, False]]


def test_a_missing_value_differs_from_a_measured_0():
    embed, values = StepEmbedding(1, 4), torch.zeros(1, 2, 1)
    output = embed(values, torch.tensor([[[True], [False]]]))
    assert not output[0, 0].isclose(output[0, 1]).any()


def test_codes_are_summed_and_unknown_adds_nothing():
    embed = StepEmbedding(1, 4, cardinalities=(3, 5))
    values, present = torch.randn(1, 2, 1), torch.ones(1, 2, 1, dtype=torch.bool)
    unknown = torch.zeros(1, 2, 2, dtype=torch.int64)
    codes = torch.tensor([[[1, 4], [2, 0]]])
    difference = embed(values, present, codes) - embed(values, present, unknown)
    first, second = (table.weight for table in embed.tables)
    torch.testing.assert_close(difference[0], torch.stack([first[1] + second[4], first[2]]))


def test_width_0_has_no_weights():
    embed = StepEmbedding(0, 4)
    empty = torch.zeros(2, 3, 0)
    codes = torch.zeros(2, 3, 0, dtype=torch.int64)
    assert not list(embed.parameters())
    assert embed(empty, empty.bool(), codes).equal(torch.zeros(2, 3, 4))
    assert embed(empty, empty.bool()).equal(torch.zeros(2, 3, 4))


def test_codes_alone():
    embed = StepEmbedding(0, 4, cardinalities=(3,))
    empty = torch.zeros(1, 1, 0)
    codes = torch.ones(1, 1, 1, dtype=torch.int64)
    assert embed(empty, empty.bool(), codes)[0, 0].equal(embed.tables[0].weight[1])


def test_errors():
    with pytest.raises(ParameterError, match="kernel=2"):
        ValueEmbedding(1, 4, kernel=2)
    with pytest.raises(ParameterError, match="nothing to embed"):
        ValueEmbedding(0, 4)
    empty = torch.zeros(1, 1, 0)
    with pytest.raises(ParameterError, match="codes are expected"):
        StepEmbedding(0, 4, cardinalities=(3,))(empty, empty.bool())
