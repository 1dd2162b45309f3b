import pytest
import torch
from torch import nn

from tsformer.errors import ParameterError
from tsformer.nn import FeedForward


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_feed_forward_equals_its_formula(activation):
    layer, steps = FeedForward(8, 16, activation=activation), torch.randn(2, 3, 8)
    into, _, _, out = layer.layers
    expected = out(getattr(nn.functional, activation)(into(steps)))
    torch.testing.assert_close(layer(steps), expected)


def test_unknown_activation(unchecked):
    with pytest.raises(ParameterError, match="activation='tanh'"):
        FeedForward(8, 16, activation="tanh")
