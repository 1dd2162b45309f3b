"""From steps to patches: short stretches of time, each read as one token.

What a patch of pixels is to an image, a patch of steps is to a series: it carries a shape, where a
single step carries a level, and it makes attention cheaper by the square of the stride.
"""

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.embeddings import StepEmbedding

__all__ = ["PatchEmbedding", "cut_patches", "patch_count"]


def patch_count(length: int, *, patch: int, stride: int) -> int:
    """Return into how many patches `cut_patches` cuts ``length`` steps.

    ``(length - patch) // stride + 2``, section 3.1 of [1]_, and 1 where the steps fill no patch.

    References
    ----------
    .. [1] Nie et al. (2023), A time series is worth 64 words, ICLR, arXiv:2211.14730.

    Examples
    --------
    >>> [patch_count(length, patch=16, stride=8) for length in (1, 15, 16, 336, 512)]
    [1, 1, 2, 42, 64]
    """
    return (length + _padding(length, patch, stride) - patch) // stride + 1


def cut_patches(
    steps: Shaped[Tensor, "batch time feature"], *, patch: int, stride: int
) -> Shaped[Tensor, "batch count feature patch"]:
    """Cut steps into patches that overlap where ``stride`` is smaller than ``patch``.

    The last step is repeated ``stride`` times, and as often as fills one patch where the steps are
    fewer than that. It is repeated as it is: numbers, masks and codes alike.

    Examples
    --------
    >>> cut_patches(torch.arange(5).reshape(1, 5, 1), patch=3, stride=2)[0, :, 0]
    tensor([[0, 1, 2],
            [2, 3, 4],
            [4, 4, 4]])
    """
    padding = _padding(steps.shape[1], patch, stride)
    repeated = steps[:, -1:].expand(-1, padding, -1)
    return torch.cat([steps, repeated], 1).unfold(1, patch, stride)


class PatchEmbedding(nn.Module):
    """One vector a patch: of all its numbers, of which of them are present, and of its codes.

    Numbers and their presence go through one linear map, step by step and side by side. Codes have
    a table each and are averaged over the patch. Inputs of width 0 have no weights.

    Parameters
    ----------
    features
        Number of numeric columns; may be 0.
    d_model
        Width of the output.
    cardinalities
        For each column of codes, the number of its codes, "unknown" included.
    patch, stride
        Steps in a patch, and steps from the beginning of one to that of the next.

    Raises
    ------
    ParameterError
        If ``patch`` or ``stride`` is below 1, or the stride leaves steps out.

    Examples
    --------
    >>> embed = PatchEmbedding(2, 8, patch=4, stride=2)
    >>> embed(torch.randn(3, 10, 2), torch.ones(3, 10, 2, dtype=torch.bool)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        features: int,
        d_model: int,
        cardinalities: tuple[int, ...] = (),
        *,
        patch: int,
        stride: int,
    ) -> None:
        super().__init__()
        if not 1 <= stride <= patch:
            raise ParameterError(
                f"stride={stride} must be at least 1 and at most patch={patch}, or steps are left "
                "out"
            )
        self.patch, self.stride = patch, stride
        self.numbers = StepEmbedding(features * patch, d_model)
        self.codes = StepEmbedding(0, d_model, cardinalities) if cardinalities else None

    def forward(
        self,
        values: Float[Tensor, "batch time features"],
        present: Bool[Tensor, "batch time features"],
        codes: Int[Tensor, "batch time code"] | None = None,
    ) -> Float[Tensor, "batch count d_model"]:
        """Return one vector for every patch.

        Parameters
        ----------
        values
            Numeric columns, 0 where missing.
        present
            True where a value is there.
        codes
            Categorical columns, 0 for unknown; None only if there are none.
        """
        numbers, gaps = (self._cut(part).flatten(2) for part in (values, present))
        embedded: Tensor = self.numbers(numbers, gaps)
        if self.codes is not None:
            steps = self.codes(values[..., :0], present[..., :0], codes)
            embedded = embedded + self._cut(steps).mean(-1)
        return embedded

    def _cut(
        self, steps: Shaped[Tensor, "batch time feature"]
    ) -> Shaped[Tensor, "batch count feature patch"]:
        return cut_patches(steps, patch=self.patch, stride=self.stride)


def _padding(length: int, patch: int, stride: int) -> int:
    return max(stride, patch - length)
