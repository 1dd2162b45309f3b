"""What every attention of a network looks at, recorded while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from tsformer.nn.multi_head import MultiHeadAttention

__all__ = ["recorded_weights"]


@contextmanager
def recorded_weights(network: nn.Module) -> Iterator[dict[str, list[Tensor]]]:
    """Record the weights of every attention in a network, call by call, while it runs.

    What the network answers, its caches and the generators stay as they are without. Weights are
    those of `MultiHeadAttention.weights`; each takes memory for all queries times all keys.

    Parameters
    ----------
    network
        A module with `MultiHeadAttention` layers in it.

    Yields
    ------
    For the name of each layer a list, one tensor ``(batch, head, query, key)`` for each call.

    Examples
    --------
    >>> import torch
    >>> from tsformer.nn import Encoder, EncoderBlock, FeedForward, FullAttention
    >>> attention = MultiHeadAttention(8, 2, attend=FullAttention())
    >>> encoder = Encoder([EncoderBlock(attention, FeedForward(8, 16))])
    >>> with recorded_weights(encoder) as weights:
    ...     memory, _ = encoder(torch.randn(4, 10, 8))
    >>> {name: [tuple(call.shape) for call in calls] for name, calls in weights.items()}
    {'blocks.0.attention': [(4, 2, 10, 10)]}
    """
    layers = {
        name: layer
        for name, layer in network.named_modules()
        if isinstance(layer, MultiHeadAttention)
    }
    recorded: dict[str, list[Tensor]] = {name: [] for name in layers}
    handles = [
        layer.register_forward_pre_hook(
            lambda layer, args, kwargs, calls=recorded[name]: calls.append(
                layer.weights(*args, **kwargs)
            ),
            with_kwargs=True,
        )
        for name, layer in layers.items()
    ]
    try:
        yield recorded
    finally:
        for handle in handles:
            handle.remove()
