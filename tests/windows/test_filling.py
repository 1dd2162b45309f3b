import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from tsformer.windows.filling import interpolated


@given(st.integers(0, 2**32 - 1))
def test_lines_are_those_of_numpy_between_known_values(seed):
    random = np.random.default_rng(seed)
    values = random.normal(size=(3, 9, 2)).astype(np.float32)
    present = random.random((3, 9, 2)) < 0.5
    time = random.random((3, 9)).cumsum(axis=1).astype(np.float32)
    filled, there = interpolated(*(torch.from_numpy(one) for one in (values, present, time)))
    for row in range(3):
        for column in range(2):
            known = np.flatnonzero(present[row, :, column])
            inside = np.zeros(9, bool)
            if len(known):
                inside[known[0] : known[-1] + 1] = True
                line = np.interp(time[row], time[row, known], values[row, known, column])
                found = filled[row, :, column].numpy()
                np.testing.assert_allclose(found[inside], line[inside], rtol=1e-4, atol=1e-4)
            np.testing.assert_array_equal(there[row, :, column].numpy(), inside)
            outside = filled[row, :, column].numpy()[~inside]
            np.testing.assert_array_equal(outside, values[row, ~inside, column])


def test_a_masked_value_may_be_anything():
    present = torch.tensor([True, False, True]).reshape(1, 3, 1)
    time = torch.arange(3.0)[None]
    one, _ = interpolated(torch.tensor([1.0, 7e30, 3.0]).reshape(1, 3, 1), present, time)
    assert one.flatten().tolist() == [1.0, 2.0, 3.0]


def test_steps_that_are_never_filled_stay_missing():
    present = torch.tensor([True, False, False, True]).reshape(1, 4, 1)
    never = torch.tensor([False, True, False, False]).reshape(1, 4, 1)
    time = torch.arange(4.0)[None]
    values = torch.tensor([0.0, 9.0, 9.0, 3.0]).reshape(1, 4, 1)
    filled, there = interpolated(values, present, time, never=never)
    assert filled.flatten().tolist() == [0.0, 9.0, 2.0, 3.0]
    assert there.flatten().tolist() == [True, False, True, True]
