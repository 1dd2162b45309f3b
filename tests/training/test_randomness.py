import random

import numpy as np
import pytest
import torch

from tsformer.training.randomness import seeded
from tsformer.windows import SeededSampler


def draw(*keys):
    with seeded(*keys):
        return torch.rand(3).tolist()


def test_noise_is_a_function_of_the_keys():
    first = draw(0, 7)
    torch.rand(5)
    assert draw(0, 7) == first
    others = [draw(7, 0), draw(0, 8), draw(1, 7), draw(0), draw(0, 7, 0), draw(0, -1), draw(0, -2)]
    assert len({tuple(one) for one in [first, *others]}) == 8


def test_the_generators_are_restored_even_after_an_error():
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    with pytest.raises(KeyError), seeded(3):
        torch.rand(2)
        raise KeyError
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()
    assert random.getstate() == before[2]


def test_any_whole_number_is_a_seed():
    def draw(*keys):
        with seeded(*keys):
            return torch.rand(3)

    assert torch.equal(draw(np.int64(3)), draw(3))
    assert not torch.equal(draw(2**62), draw(3))
    assert len(list(SeededSampler(5, seed=np.int64(2**62)))) == 5
