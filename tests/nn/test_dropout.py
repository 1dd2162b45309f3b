import math
import subprocess
import sys
import textwrap

import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.nn import Dropout
from tsformer.nn.dropout import kept_entries

ENTRIES = 400_000


def drawn(level: int, seed: int = 0) -> torch.Tensor:
    torch.manual_seed(seed)
    return 1 - kept_entries(torch.zeros(ENTRIES), level).float()


@pytest.mark.parametrize("level", [1, 26, 128, 250])
def test_the_share_is_right_in_each_of_the_eight_lanes(level):
    lanes = drawn(level).view(-1, 8).mean(0)
    p = level / 256
    error = math.sqrt(p * (1 - p) / (ENTRIES / 8))
    assert (lanes - p).abs().max() < 5 * error


def test_entries_are_independent_of_their_neighbours():
    mask = drawn(64)
    centred = (mask - mask.mean()) / mask.std()
    for lag in (1, 2, 3, 7, 8, 9, 16, 64):
        correlation = float((centred[lag:] * centred[:-lag]).mean())
        assert abs(correlation) < 5 / math.sqrt(ENTRIES), lag


def test_seeds_decide_and_differ():
    assert drawn(64, 1).equal(drawn(64, 1)) and not drawn(64, 1).equal(drawn(64, 2))


@pytest.mark.parametrize("p", [0.001, 0.1, 0.5, 0.999])
def test_the_expected_value_is_kept(p):
    torch.manual_seed(0)
    kept = Dropout(p)(torch.ones(ENTRIES))
    error = float(kept.std()) / math.sqrt(ENTRIES)
    assert abs(float(kept.mean()) - 1) < 5 * error
    assert 0 < float((kept == 0).float().mean()) < 1


def test_gradients_pass_where_values_pass():
    x = torch.randn(64, 65, requires_grad=True)
    y = Dropout(0.3)(x)
    y.sum().backward()
    assert x.grad.eq(0).equal(y.eq(0)) and x.grad.unique().numel() == 2


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_any_shape_and_type(shape, dtype):
    y = Dropout(0.5)(torch.ones(shape, dtype=dtype))
    assert y.shape == shape and y.dtype == dtype


def test_nothing_is_drawn_in_evaluation_or_without_a_share():
    x, state = torch.randn(5), torch.get_rng_state()
    assert Dropout(0.5).eval()(x).equal(x) and Dropout(0.0)(x).equal(x)
    assert torch.get_rng_state().equal(state)


def test_compiles_to_one_graph():
    # In a process of its own: the shape checks of the test run do not compile.
    code = """
        import torch
        from tsformer.nn import Dropout
        compiled = torch.compile(Dropout(0.25), fullgraph=True, backend="aot_eager")
        x = torch.ones(400_000, requires_grad=True)
        torch.manual_seed(0)
        y = compiled(x)
        y.sum().backward()
        assert abs(float((y == 0).float().mean()) - 0.25) < 0.01 and x.grad.equal(y.detach())
        torch.manual_seed(0)
        assert compiled(x).equal(y)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


@pytest.mark.parametrize("p", [-0.1, 1.0])
def test_a_probability_out_of_range(p):
    with pytest.raises(ParameterError, match="p"):
        Dropout(p)
