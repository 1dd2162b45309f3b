"""Private randomness: noise is a function of a seed; the caller's generators stay untouched."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from tsformer.threads import turns

__all__ = ["seeded"]

# torch's layers draw initial weights and dropout from the one generator of the process, so only
# one thread at a time may stand inside of a seeded block
_generator = turns()


@contextmanager
def seeded(*keys: int, device: torch.device | None = None) -> Iterator[None]:
    """Run a block whose torch noise depends on ``keys`` alone; then restore the generators.

    Threads take turns: a second one waits until the first has left its block.

    Parameters
    ----------
    keys
        A seed, and what tells blocks apart, such as the number of the step.
    device
        An accelerator whose generator is used too.

    Examples
    --------
    >>> before = torch.get_rng_state()
    >>> with seeded(0, 7):
    ...     noise = torch.rand(3)
    >>> torch.equal(torch.get_rng_state(), before)
    True
    """
    seed = 0
    for key in keys:  # a small mix, so that (0, 1) and (1, 0) differ
        seed = (seed * 6_364_136_223_846_793_005 + int(key) + 1_442_695_040_888_963_407) % 2**63
    devices = [device] if device is not None and device.type == "cuda" else []
    with _generator(), torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
