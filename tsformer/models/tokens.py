"""From a batch to tokens: one vector a step, of everything that is known at the origin."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.nn import Dropout, SinusoidalPositions, StepEmbedding
from tsformer.windows import Batch, Sizes

__all__ = [
    "StepColumns",
    "TokenEmbedding",
    "covariate_columns",
    "hidden_steps",
    "key_mask",
    "known_columns",
    "window_columns",
]


class StepColumns(NamedTuple):
    """The columns of some steps, side by side: (batch, time, column) each, and (batch, time)."""

    values: Tensor
    present: Tensor
    codes: Tensor
    time: Tensor

    def part(self, begin: int, end: int | None = None) -> "StepColumns":
        """Only these steps."""
        return StepColumns(*(field[:, begin:end] for field in self))


def known_columns(batch: Batch) -> StepColumns:
    """What is known of all steps in advance: known covariates and statics, over the window."""
    steps = batch.time.shape[1]
    static = batch.static.unsqueeze(1).expand(-1, steps, -1)
    static_codes = batch.static_codes.unsqueeze(1).expand(-1, steps, -1)
    return StepColumns(
        values=torch.cat([batch.known, static], dim=-1),
        present=torch.cat([batch.known_present, torch.ones_like(static, dtype=torch.bool)], -1),
        codes=torch.cat([batch.known_codes, static_codes], dim=-1),
        time=batch.time,
    )


def window_columns(batch: Batch) -> StepColumns:
    """All columns over the window; target and past covariates are absent after the origin."""
    horizon = batch.time.shape[1] - batch.past_target.shape[1]
    known = known_columns(batch)
    past = torch.cat([batch.past_target, batch.past], dim=-1)
    present = torch.cat([batch.past_observed, batch.past_present], dim=-1)
    return StepColumns(
        values=torch.cat([_padded(past, horizon), known.values], dim=-1),
        present=torch.cat([_padded(present, horizon), known.present], dim=-1),
        codes=torch.cat([_padded(batch.past_codes, horizon), known.codes], dim=-1),
        time=batch.time,
    )


def covariate_columns(batch: Batch) -> StepColumns:
    """All columns over the context but the targets."""
    context, target = batch.past_target.shape[1:]
    columns = window_columns(batch).part(0, context)
    return columns._replace(
        values=columns.values[..., target:], present=columns.present[..., target:]
    )


def hidden_steps(batch: Batch) -> Bool[Tensor, "batch context"] | None:
    """A key mask that hides the steps at which nothing was measured; None if there are none."""
    measured = torch.cat([batch.past_observed, batch.past_present], dim=-1).any(dim=-1)
    return key_mask(measured)


def key_mask(visible: Bool[Tensor, "batch key"]) -> Bool[Tensor, "batch key"] | None:
    """The mask, or None where it hides nothing: attention is faster without."""
    return None if bool(visible.all()) else visible


class TokenEmbedding(nn.Module):
    """Embeds columns and adds where they stand in time, measured from the origin.

    Parameters
    ----------
    sizes
        Shapes of the batches.
    d_model
        Width of a token.
    kernel, dropout
        See ``StepEmbedding``; dropout comes after the positions.
    past
        Whether the columns hold past covariates (``window_columns``) or not
        (``known_columns`` behind the targets).
    target
        Whether they hold the targets; without either they are ``known_columns``.
    positions
        The position part; None is a fresh ``SinusoidalPositions``.
    """

    def __init__(
        self,
        sizes: Sizes,
        d_model: int,
        *,
        kernel: int,
        dropout: float,
        past: bool = True,
        target: bool = True,
        positions: nn.Module | None = None,
    ) -> None:
        super().__init__()
        before = (sizes.target if target else 0) + (sizes.past if past else 0)
        features = before + sizes.known + sizes.static
        cardinalities = sizes.cardinalities
        if not past:
            cardinalities = cardinalities[len(sizes.past_cardinalities) :]
        self.embed = StepEmbedding(features, d_model, cardinalities, kernel=kernel)
        self.positions = SinusoidalPositions() if positions is None else positions
        self.dropout = Dropout(dropout)

    def forward(self, columns: StepColumns) -> Float[Tensor, "batch time d_model"]:
        """One token a step; what is not present may hold anything."""
        values = columns.values.masked_fill(~columns.present, 0)
        embedded = self.embed(values, columns.present, columns.codes)
        tokens: Tensor = self.dropout(self.positions(embedded, columns.time))
        return tokens


def _padded(past: Tensor, horizon: int) -> Tensor:
    return torch.cat([past, past.new_zeros(len(past), horizon, past.shape[-1])], dim=1)
