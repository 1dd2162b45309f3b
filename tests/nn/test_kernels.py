import subprocess
import sys
import textwrap

import pytest
import torch

from tsformer.nn import full_attention
from tsformer.nn.kernels import SHORT, is_short, short_attention


def tensors(queries=7, keys=5, dim=4, value=6, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    shapes = [(queries, dim), (keys, dim), (keys, value)]
    return [
        torch.randn(2, 3, *shape, generator=generator, dtype=torch.float64).to(dtype)
        for shape in shapes
    ]


def test_is_attention():
    q, k, v = tensors()
    torch.testing.assert_close(short_attention(q, k, v), full_attention(q, k, v))
    added = torch.randn(2, 1, 7, 5).double()
    expected = full_attention(q, k, v, bias=added)
    torch.testing.assert_close(short_attention(q, k, v, added), expected)


@pytest.mark.parametrize("masked", [False, True])
def test_gradients(masked):
    q, k, v = (x.requires_grad_() for x in tensors(3, 4, 2, 3))
    added = torch.tensor([0.0, -torch.inf, 0.5, 0.0]).double().expand(1, 1, 3, 4)
    added = added if masked else None
    assert torch.autograd.gradcheck(lambda *x: short_attention(*x, added), (q, k, v))


@pytest.mark.parametrize("dim, length", [(8, 64), (64, 96)])
def test_half_precision_is_close_to_float32_forward_and_backward(dim, length):
    made = tensors(length, length, dim, dim, torch.float32)
    slope = torch.randn(2, 3, length, dim)
    narrow = [x.bfloat16().requires_grad_() for x in made]
    wide = [x.detach().float().requires_grad_() for x in narrow]
    found, exact = short_attention(*narrow), full_attention(*wide)
    found.backward(slope.bfloat16())
    exact.backward(slope)
    pairs = [(found, exact), *((x.grad, y.grad) for x, y in zip(narrow, wide, strict=True))]
    for ours, right in pairs:
        assert float((ours.float() - right).detach().norm() / right.detach().norm()) < 0.01


def test_a_row_is_the_same_alone_and_in_a_batch():
    q, k, v = tensors(dtype=torch.bfloat16)
    assert short_attention(q[:1], k[:1], v[:1]).equal(short_attention(q, k, v)[:1])


def test_is_differentiated_once_only():
    q, k, v = (x.requires_grad_() for x in tensors())
    (slope,) = torch.autograd.grad(short_attention(q, k, v).square().sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()


def test_what_is_short():
    at = torch.zeros(1, 1, SHORT, 2)
    assert is_short(at, at) and not is_short(at, torch.zeros(1, 1, SHORT + 1, 2))


def test_compiles_to_one_graph():
    # In a process of its own: the shape checks of the test run do not compile.
    code = """
        import torch
        from tsformer.nn import full_attention
        q, k, v = (torch.randn(2, 3, 9, 8).bfloat16().requires_grad_() for _ in range(3))
        compiled = torch.compile(full_attention, fullgraph=True, backend="aot_eager")
        for attend in (full_attention, compiled):
            answer = attend(q, k, v, causal=True)
            torch.testing.assert_close(answer, full_attention(q, k, v, causal=True))
            answer.square().sum().backward()
        once = torch.autograd.grad(full_attention(q, k, v, causal=True).square().sum(), q)[0]
        torch.testing.assert_close(q.grad, 2 * once)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
