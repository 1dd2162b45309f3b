"""From the columns of a step to one vector of width ``d_model``."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.dropout import Dropout

__all__ = ["StepEmbedding", "ValueEmbedding"]


class ValueEmbedding(nn.Module):
    """A linear map of the features of each step and, with a wider kernel, of its neighbours.

    Parameters
    ----------
    features
        Number of input columns, at least 1.
    d_model
        Width of the output.
    kernel
        How many steps are looked at, an odd number. 1 is a plain linear layer. 3 is the
        embedding of the Informer: a convolution without bias that treats the steps as a circle, so
        the first step sees the last one. A causal network must use 1.

    Raises
    ------
    ParameterError
        If there is no feature, or ``kernel`` is even or below 1.

    References
    ----------
    .. [1] Zhou et al. (2021), Informer, AAAI, arXiv:2012.07436, appendix B.

    Examples
    --------
    >>> ValueEmbedding(3, 8, kernel=3)(torch.randn(2, 10, 3)).shape
    torch.Size([2, 10, 8])
    """

    def __init__(self, features: int, d_model: int, *, kernel: int = 1) -> None:
        super().__init__()
        if features < 1:
            raise ParameterError(f"features={features}: there is nothing to embed; skip this part")
        if kernel < 1 or kernel % 2 == 0:
            raise ParameterError(f"kernel={kernel} must be odd and at least 1")
        self.kernel = kernel
        self.project: nn.Linear | nn.Conv1d
        if kernel == 1:
            self.project = nn.Linear(features, d_model)
        else:
            self.project = nn.Conv1d(
                features,
                d_model,
                kernel,
                padding=kernel // 2,
                padding_mode="circular",
                bias=False,
            )
            nn.init.kaiming_normal_(self.project.weight, mode="fan_in", nonlinearity="leaky_relu")

    def forward(
        self, values: Float[Tensor, "batch time features"]
    ) -> Float[Tensor, "batch time d_model"]:
        """Return one vector for every step."""
        if self.kernel == 1:
            embedded: Tensor = self.project(values)
            return embedded
        convolved: Tensor = self.project(values.transpose(1, 2))
        return convolved.transpose(1, 2)


class StepEmbedding(nn.Module):
    """The sum of what the numbers, the gaps and the codes of a step say.

    Numbers and their presence go through one `ValueEmbedding`, side by side: a measured 0 and a
    missing value (which is held as 0) must differ, and where nothing is ever missing the presence
    columns merely act as a bias. Every code has its own table. Inputs of width 0 have no weights.

    Parameters
    ----------
    features
        Number of numeric columns; may be 0.
    d_model
        Width of the output.
    cardinalities
        For each column of codes, the number of its codes, "unknown" included.
    kernel
        How many steps the numeric part looks at, see `ValueEmbedding`.
    dropout
        Dropout of the sum.

    Examples
    --------
    >>> embed = StepEmbedding(2, 8, cardinalities=(3,))
    >>> values, present = torch.randn(4, 10, 2), torch.ones(4, 10, 2, dtype=torch.bool)
    >>> embed(values, present, torch.zeros(4, 10, 1, dtype=torch.int64)).shape
    torch.Size([4, 10, 8])
    """

    def __init__(
        self,
        features: int,
        d_model: int,
        cardinalities: Sequence[int] = (),
        *,
        kernel: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.numbers = ValueEmbedding(2 * features, d_model, kernel=kernel) if features else None
        # An unknown code adds nothing: training never sees it, so its row would stay random.
        self.tables = nn.ModuleList(
            nn.Embedding(cardinality, d_model, padding_idx=0) for cardinality in cardinalities
        )
        self.dropout = Dropout(dropout)

    def forward(
        self,
        values: Float[Tensor, "batch time features"],
        present: Bool[Tensor, "batch time features"],
        codes: Int[Tensor, "batch time code"] | None = None,
    ) -> Float[Tensor, "batch time d_model"]:
        """Return one vector for every step.

        Parameters
        ----------
        values
            Numeric columns, 0 where missing.
        present
            True where a value is there.
        codes
            Categorical columns, 0 for unknown; None only if there are none.
        """
        embedded = values.new_zeros(*values.shape[:2], self.d_model)
        if self.numbers is not None:
            embedded = self.numbers(torch.cat([values, present.to(values.dtype)], -1))
        if codes is not None:
            for table, code in zip(self.tables, codes.unbind(-1), strict=True):
                embedded = embedded + table(code)
        elif self.tables:
            raise ParameterError(f"{len(self.tables)} columns of codes are expected, got none")
        dropped: Tensor = self.dropout(embedded)
        return dropped
