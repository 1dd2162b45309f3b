"""Parameters, shapes and lengths at the sizes of the papers, worked out by hand.

With d the width of the model, f that of the feed-forward part and every layer with its bias:

- attention, four maps: 4 (d² + d)
- feed-forward: 2 d f + f + d
- norm: 2 d
- encoder block: attention + feed-forward + 2 norms
- decoder block: 2 attentions + feed-forward + 3 norms

For d = 512, f = 2048 an attention has 1,050,624 parameters, a feed-forward part 2,099,712, an
encoder block 3,152,384 and a decoder block 4,204,032. Numbers are embedded beside their presence,
so a linear map of n columns has 2 n inputs.
"""

import pytest
import registry
import torch

from tsformer.heads import Point
from tsformer.models import Informer, InvertedTransformer, PatchTransformer
from tsformer.windows import Sizes

CASES = registry.gathered(registry.MODELS, "papers")
CARRY_A_SKIP = [row.kind for row in registry.MODELS if "skip" in row.kind().get_params()]


@pytest.mark.parametrize(("model", "sizes", "parameters"), CASES.values(), ids=CASES)
def test_parameters_and_shape_are_those_of_the_paper(model, sizes, parameters, make_batch):
    with torch.random.fork_rng():
        network = model.build(sizes, Point()).eval()
    assert sum(weight.numel() for weight in network.parameters()) == parameters
    with torch.no_grad():
        raw = network(make_batch(sizes, rows=1))
    assert raw.shape == (1, sizes.horizon, sizes.target, 1)


def test_a_skip_adds_a_ridge_and_nothing_else():
    sizes = Sizes(context=96, horizon=24, target=7)
    for kind in CARRY_A_SKIP:
        with torch.random.fork_rng():
            counts = [
                sum(weight.numel() for weight in kind(skip=skip).build(sizes, Point()).parameters())
                for skip in (True, False)
            ]
        assert counts[0] - counts[1] == 96 * 24


@pytest.mark.parametrize(
    ("context", "lengths"),
    [
        (96, [96, 48, 24]),
        (720, [720, 360, 180]),
        (97, [97, 49, 25]),  # halves are rounded up
        (1, [1, 1, 1]),
    ],
    ids=str,
)
def test_distilling_halves_what_each_block_reads(context, lengths, make_batch):
    sizes = Sizes(context=context, horizon=4)
    with torch.random.fork_rng():
        model = Informer(d_model=8, n_heads=2, d_ff=8, encoder_layers=3)
        network = model.build(sizes, Point()).eval()
    read = []
    for block in network.encoder.blocks:
        block.register_forward_pre_hook(lambda module, args: read.append(args[0].shape[1]))
    memory, _ = network.encoder(torch.zeros(1, context, 8))
    assert read == lengths
    assert memory.shape == (1, lengths[-1], 8)


@pytest.mark.parametrize(
    ("context", "patches"), [(512, 64), (336, 42), (104, 13), (96, 12), (16, 2), (15, 1), (1, 1)]
)
def test_patches_of_16_every_8_are_as_many_as_the_paper_says(context, patches, make_batch):
    sizes = Sizes(context=context, horizon=4)
    with torch.random.fork_rng():
        network = PatchTransformer(d_model=8, n_heads=2, d_ff=8).build(sizes, Point()).eval()
    assert network.encode(make_batch(sizes)).shape == (5, 1, patches, 8)


def test_a_token_is_a_variable_whatever_the_length(make_batch):
    # 321 clients of ECL and their 4 calendar columns
    sizes = Sizes(context=96, horizon=720, target=321, known=4)
    with torch.random.fork_rng():
        network = InvertedTransformer(d_model=8, n_heads=2, d_ff=8).build(sizes, Point()).eval()
    tokens, _ = network.embed(make_batch(sizes, rows=1))
    assert tokens.shape == (1, 325, 8)
