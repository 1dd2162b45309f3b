"""Blocks in a row: the encoder and the decoder of a network."""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from tsformer.errors import ParameterError
from tsformer.nn.blocks import DecoderCache
from tsformer.nn.multi_head import KeyValueCache

__all__ = ["Decoder", "Encoder"]


class Encoder(nn.Module):
    """Encoder blocks in a row, with a reduction between two of them where one is given.

    Parameters
    ----------
    blocks
        The blocks, first to last.
    reductions
        What stands between the blocks, one fewer than them, such as
        `tsformer.nn.distilling.Distilling`. None means nothing.
    norm
        A last norm, which blocks with ``norm="pre"`` need. None means none.
    positions
        A position part before every block. None means none: positions then stand at the input,
        or in the attentions, or nowhere.

    Raises
    ------
    ParameterError
        If there are not as many reductions as gaps between blocks.
    """

    def __init__(
        self,
        blocks: Sequence[nn.Module],
        reductions: Sequence[nn.Module] | None = None,
        norm: nn.Module | None = None,
        positions: nn.Module | None = None,
    ) -> None:
        super().__init__()
        if reductions is not None and len(reductions) != len(blocks) - 1:
            raise ParameterError(
                f"{len(reductions)} reductions do not fit between {len(blocks)} blocks; "
                f"give {len(blocks) - 1}"
            )
        self.blocks = nn.ModuleList(blocks)
        self.reductions = nn.ModuleList(reductions or ())
        self.norm = nn.Identity() if norm is None else norm
        self.positions = positions

    def new_caches(self) -> list[KeyValueCache]:
        """Return one fresh cache for every block, to be passed to each decoding step."""
        return [KeyValueCache() for _ in self.blocks]

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        causal: bool = False,
        caches: Sequence[KeyValueCache] | None = None,
        time: Float[Tensor, "#batch time"] | None = None,
    ) -> tuple[Float[Tensor, "batch less d_model"], Bool[Tensor, "batch seen"] | None]:
        """Return the memory and the mask of what is visible of it, None if all is.

        With caches the memory is that of the new steps, and the mask is that of all steps so far.

        Parameters
        ----------
        steps
            The embedded steps; with caches, those after the cached ones.
        key_mask
            True for visible steps, the cached ones included.
        causal
            Whether a step sees only itself and what came before it.
        caches
            What `new_caches` returned, for a decoder-only network that decodes step by step.
        time
            When the steps are, for the position parts. Of reduced steps, every so many-th counts.

        Raises
        ------
        ParameterError
            If there are reductions, which look ahead, and ``causal`` or ``caches`` is asked for; or
            if positions are to be added and there is no ``time``.
        """
        if self.reductions and (causal or caches is not None):
            raise ParameterError("reductions look ahead: a causal or cached encoder takes none")
        for index, block in enumerate(self.blocks):
            cache = None if caches is None else caches[index]
            steps = _placed(self.positions, steps, time)
            steps = block(steps, key_mask=key_mask, causal=causal, cache=cache, time=time)
            if index < len(self.reductions):
                steps, key_mask = self.reductions[index](steps, key_mask)
                time = None if time is None else _reduced(time, steps.shape[1])
        return self.norm(steps), key_mask


class Decoder(nn.Module):
    """Decoder blocks in a row.

    Parameters
    ----------
    blocks
        The blocks, first to last.
    norm
        A last norm, which blocks with ``norm="pre"`` need. None means none.
    positions
        A position part before every block. None means none.
    """

    def __init__(
        self,
        blocks: Sequence[nn.Module],
        norm: nn.Module | None = None,
        positions: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.Identity() if norm is None else norm
        self.positions = positions

    def new_caches(self) -> list[DecoderCache]:
        """Return one fresh cache for every block, to be passed to each decoding step."""
        return [DecoderCache() for _ in self.blocks]

    def forward(
        self,
        steps: Float[Tensor, "batch time d_model"],
        memory: Float[Tensor, "batch memory d_model"],
        *,
        key_mask: Bool[Tensor, "batch visible"] | None = None,
        memory_mask: Bool[Tensor, "batch memory"] | None = None,
        causal: bool = True,
        caches: Sequence[DecoderCache] | None = None,
        time: Float[Tensor, "#batch time"] | None = None,
        memory_time: Float[Tensor, "#batch memory"] | None = None,
        last: int | None = None,
    ) -> Float[Tensor, "batch kept d_model"]:
        """Return as many steps, or the ``last`` so many; arguments as in `DecoderBlock.forward`.

        Of steps that are not wanted the last block computes what the others see, and no more.
        """
        for index, block in enumerate(self.blocks):
            steps = _placed(self.positions, steps, time)
            steps = block(
                steps,
                memory,
                key_mask=key_mask,
                memory_mask=memory_mask,
                causal=causal,
                cache=None if caches is None else caches[index],
                time=time,
                memory_time=memory_time,
                last=last if index == len(self.blocks) - 1 else None,
            )
        output: Tensor = self.norm(steps)
        return output


def _placed(positions: nn.Module | None, steps: Tensor, time: Tensor | None) -> Tensor:
    """Return the steps with their positions, where a part says so."""
    if positions is None:
        return steps
    if time is None:
        raise ParameterError("positions at every layer need to know when; pass time=")
    placed: Tensor = positions(steps, time.expand(len(steps), -1))
    return placed


def _reduced(time: Tensor, less: int) -> Tensor:
    """Return the time of each reduced step: that of the first, the (stride + 1)th, and so on.

    `tsformer.nn.distilling.Distilling` pools around the steps 0, 2, 4, ...
    """
    stride = -(-time.shape[1] // less)
    return time[:, ::stride]
