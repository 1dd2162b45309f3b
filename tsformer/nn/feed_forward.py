"""What a transformer block does to each step by itself."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.dropout import Dropout

__all__ = ["FeedForward"]


class FeedForward(nn.Module):
    """Two linear layers with an activation between them, for each step by itself.

    Equation 2 of [1]_.

    Parameters
    ----------
    d_model, d_ff
        Width of a step, and of the hidden layer.
    dropout
        Dropout of the hidden layer.
    activation
        ``"gelu"`` or ``"relu"``.

    Raises
    ------
    ParameterError
        If ``activation`` is unknown.

    References
    ----------
    .. [1] Vaswani et al. (2017), Attention is all you need, arXiv:1706.03762.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        dropout: float = 0.0,
        activation: Literal["gelu", "relu"] = "gelu",
    ) -> None:
        super().__init__()
        activations = {"gelu": nn.GELU, "relu": nn.ReLU}
        if activation not in activations:
            raise ParameterError(f"activation={activation!r} is unknown; use 'gelu' or 'relu'")
        self.layers = nn.Sequential(
            nn.Linear(d_model, d_ff),
            activations[activation](),
            Dropout(dropout),
            nn.Linear(d_ff, d_model),
        )

    def forward(self, steps: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Return steps of the same shape."""
        output: Tensor = self.layers(steps)
        return output
