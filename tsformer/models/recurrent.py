"""Recurrent encoder-decoder: what attention replaced, and the bottleneck it cured."""

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.heads import Head
from tsformer.models.base import Architecture
from tsformer.models.skip import SkipNetwork
from tsformer.models.tokens import (
    TokenEmbedding,
    hidden_steps,
    known_columns,
    window_columns,
)
from tsformer.nn import Dropout, NoPositions, full_attention
from tsformer.params import KW_ONLY, param, params
from tsformer.windows import Batch, Sizes

__all__ = ["Recurrent", "dot_attention"]

State = Tensor | tuple[Tensor, Tensor]
"""(layer, batch, hidden), and for an LSTM also its cell, of the same shape."""


def dot_attention(
    states: Float[Tensor, "batch step hidden"],
    memory: Float[Tensor, "batch context hidden"],
    visible: Bool[Tensor, "batch context"] | None = None,
) -> Float[Tensor, "batch step hidden"]:
    """The mean of the memory for each state, weighted by ``softmax(states @ memory.T)``.

    Equations 7 (global attention) and 8 (dot) of Luong et al. (2015); 0 where nothing is visible.

    Examples
    --------
    >>> memory = torch.tensor([[[8.0, 0.0], [0.0, 8.0]]])
    >>> dot_attention(torch.tensor([[[99.0, 0.0], [0.0, 0.0]]]), memory)
    tensor([[[8., 0.],
             [4., 4.]]])
    """
    mask = None if visible is None else visible[:, None, None]
    keys = memory.unsqueeze(1)
    scaled = states.unsqueeze(1) * states.shape[-1] ** 0.5  # the paper's scores are not divided
    return full_attention(scaled, keys, keys, mask=mask)[:, 0]


@params
class Recurrent(Architecture):
    """GRU or LSTM encoder-decoder, with attention or with nothing but one vector between them.

    The encoder reads the context step by step and hands its last state to the decoder, which runs
    over the plan of the horizon: the known covariates of each step, the features of the series and
    the distance to the origin. With ``attention=False`` this state is all that the forecast knows
    of the past, however long it is; with ``attention=True`` each step of the decoder also looks
    back at all states of the encoder.

    A step at which nothing was measured is read as such, and hidden from attention. Recurrent
    weights start orthogonal, as in Cho et al.: from torch's own start an LSTM learns several times
    slower.

    Notes
    -----
    Deviations from Cho et al. (2014), Sutskever et al. (2014) and Luong et al. (2015), and why:

    - The defaults are small; the papers' have 1,000 units in 1 to 4 layers and ``skip=False,
      norm=False``.
    - The decoder reads the plan of a step and not the answer to the one before: all steps are
      answered in one pass, training and forecasting do the same, and no error is fed back.
    - Attention takes the dot product of Luong et al., which adds no weights to the scores; the
      attentional state is not fed into the next step, which would need a loop over the horizon.
    - What attention makes of a state is added to it, and the sum goes through a LayerNorm: without,
      a few hundred steps of training leave the forecast flat. ``norm=False`` is the papers'.
    - A linear skip, fitted by ridge, carries the forecast and the network learns what is left;
      ``skip=False`` switches it off.

    References
    ----------
    Cho et al. (2014), "Learning Phrase Representations using RNN Encoder-Decoder for Statistical
    Machine Translation", EMNLP.

    Sutskever et al. (2014), "Sequence to Sequence Learning with Neural Networks", NeurIPS.

    Luong et al. (2015), "Effective Approaches to Attention-based Neural Machine Translation",
    EMNLP.
    """

    _: KW_ONLY
    cell: Literal["gru", "lstm"] = param(
        "Kind of recurrent cell.", default="gru", choices=("gru", "lstm")
    )
    hidden: int = param("Width of a state, and of the embedded steps.", default=64, low=1)
    layers: int = param("Recurrent layers of encoder and decoder each.", default=1, low=1)
    attention: bool = param("Let the decoder look at every state of the encoder.", default=True)
    dropout: float = param(
        "Share of activations dropped in training: of the embedded steps, between layers and "
        "before the output.",
        default=0.1,
        low=0,
        below=1,
    )
    norm: bool = param(
        "Keep the decoder's state beside what attention makes of it, and normalise it.",
        default=True,
    )
    skip: bool = param("Add a ridge forecast that is trained at a tenth of the rate.", default=True)

    def build(self, sizes: Sizes, head: Head) -> "RecurrentNetwork":
        """The network, with fresh weights."""
        return RecurrentNetwork(self, sizes, head)


class RecurrentNetwork(SkipNetwork):
    """The network of a :class:`Recurrent`."""

    def __init__(self, spec: Recurrent, sizes: Sizes, head: Head) -> None:
        super().__init__()
        self.head, self.sizes = head, sizes
        self.embed_context = TokenEmbedding(
            sizes,
            spec.hidden,
            kernel=1,
            dropout=spec.dropout,
            positions=NoPositions(),  # reading in order is knowing it
        )
        self.embed_known = TokenEmbedding(
            sizes, spec.hidden, kernel=1, dropout=spec.dropout, past=False, target=False
        )
        self.encoder, self.decoder = _layers(spec), _layers(spec)
        self.mix = nn.Linear(2 * spec.hidden, spec.hidden) if spec.attention else None
        self.norm = nn.LayerNorm(spec.hidden) if spec.norm else None
        self.dropout = Dropout(spec.dropout)
        self.output = nn.Linear(spec.hidden, sizes.target * head.width)
        self.carry_skip(sizes, self.output, wanted=spec.skip)

    def own_forecast(self, batch: Batch) -> Float[Tensor, "batch horizon target width"]:
        """All steps of the horizon in one pass."""
        memory, state = self.encode(batch)
        decoded = self.decode(batch, memory, state)
        raw: Tensor = self.output(self.dropout(decoded))
        raw = raw.unflatten(-1, (self.sizes.target, self.head.width))
        return raw

    def encode(self, batch: Batch) -> tuple[Float[Tensor, "batch context hidden"], State]:
        """The state after every step of the context, and the last one of every layer."""
        steps = self.embed_context(window_columns(batch).part(0, self.sizes.context))
        memory, state = self.encoder(steps)
        return memory, state

    def decode(
        self, batch: Batch, memory: Float[Tensor, "batch context hidden"], state: State
    ) -> Float[Tensor, "batch horizon hidden"]:
        """The state for every step of the horizon; without attention memory is not read."""
        steps = self.embed_known(known_columns(batch).part(self.sizes.context))
        decoded: Tensor = self.decoder(steps, state)[0]
        if self.mix is not None:
            seen = dot_attention(decoded, memory, hidden_steps(batch))
            # equation 5 of Luong et al. (2015)
            mixed = torch.tanh(self.mix(torch.cat([seen, decoded], dim=-1)))
            decoded = mixed if self.norm is None else decoded + mixed
        if self.norm is not None:
            decoded = self.norm(decoded)
        return decoded


def _layers(spec: Recurrent) -> nn.GRU | nn.LSTM:
    kind = nn.GRU if spec.cell == "gru" else nn.LSTM
    between = spec.dropout if spec.layers > 1 else 0.0  # torch warns of dropout after one layer
    layers = kind(spec.hidden, spec.hidden, spec.layers, dropout=between, batch_first=True)
    for name, weight in layers.named_parameters():
        if name.startswith("bias"):
            nn.init.zeros_(weight)
        elif name.startswith("weight_ih"):
            nn.init.xavier_uniform_(weight)
        else:  # one square for each gate
            for square in weight.detach().split(spec.hidden):
                nn.init.orthogonal_(square)
    return layers
