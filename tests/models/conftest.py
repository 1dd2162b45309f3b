from collections.abc import Callable

import pytest
import torch
from jaxtyping import config

from tsformer.heads import Head
from tsformer.models import Architecture, Network
from tsformer.windows import Batch, Sizes


@pytest.fixture
def unchecked():
    """Switch the shape and type checks off, for tests of what the code itself refuses."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture
def make_batch() -> Callable[..., Batch]:
    """A maker of random batches of given sizes, with gaps if asked for."""

    def make(sizes: Sizes, *, rows: int = 5, seed: int = 0, gaps: bool = False) -> Batch:
        random = torch.Generator().manual_seed(seed)

        def numbers(*shape: int) -> torch.Tensor:
            return torch.randn(rows, *shape, generator=random)

        def mask(*shape: int) -> torch.Tensor:
            drawn = torch.rand(rows, *shape, generator=random)
            return drawn > 0.3 if gaps else torch.ones_like(drawn, dtype=torch.bool)

        def codes(levels: tuple[int, ...], *shape: int) -> torch.Tensor:
            drawn = [torch.randint(0, n, (rows, *shape, 1), generator=random) for n in levels]
            return torch.cat([*drawn, torch.zeros(rows, *shape, 0, dtype=torch.int64)], dim=-1)

        context, horizon, steps = sizes.context, sizes.horizon, sizes.steps
        observed, future_observed = mask(context, sizes.target), mask(horizon, sizes.target)
        past_present, known_present = mask(context, sizes.past), mask(steps, sizes.known)
        return Batch(
            past_target=(numbers(context, sizes.target) * 3 + 2).where(observed, 0.0),
            past_observed=observed,
            past=numbers(context, sizes.past).where(past_present, 0.0),
            past_present=past_present,
            known=numbers(steps, sizes.known).where(known_present, 0.0),
            known_present=known_present,
            static=numbers(sizes.static),
            past_codes=codes(sizes.past_cardinalities, context),
            known_codes=codes(sizes.known_cardinalities, steps),
            static_codes=codes(sizes.static_cardinalities),
            time=torch.arange(-context, horizon, dtype=torch.float32).expand(rows, -1),
            future_target=numbers(horizon, sizes.target).where(future_observed, 0.0),
            future_observed=future_observed,
            weight=torch.ones(rows),
            series=torch.zeros(rows, dtype=torch.int64),
            origin=torch.arange(rows),
            location=torch.zeros(rows, 1, sizes.target),
            scale=torch.ones(rows, 1, sizes.target),
        )

    return make


@pytest.fixture
def build() -> Callable[..., Network]:
    """A maker of networks in evaluation mode in which no weight is 0."""

    def make(model: Architecture, sizes: Sizes, head: Head) -> Network:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            network = model.build(sizes, head)
            with torch.no_grad():
                for weight in network.parameters():
                    if not weight.any():
                        weight.normal_(std=0.3)
        return network.eval()

    return make
