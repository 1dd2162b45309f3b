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
import torch

from tsformer.heads import Point
from tsformer.models import (
    DecoderTransformer,
    Informer,
    InvertedTransformer,
    Linear,
    MaskedTransformer,
    PatchTransformer,
    Recurrent,
    Transformer,
)
from tsformer.windows import Sizes

# 7 columns and the 4 calendar features of hourly data, as in ETTh1; the Informer's horizons
ETT = Sizes(context=96, horizon=24, target=7, known=4)

CASES = {
    # embeddings: 2 of (11 x 2) x 512 = 11,264, + 512 of bias                     23,552
    # 6 encoder blocks 18,914,304, 6 decoder blocks 25,224,192                 44,138,496
    # 2 last norms of 1,024                                                         2,048
    # output 512 x 7 + 7                                                            3,591
    "transformer": (
        Transformer(
            d_model=512,
            n_heads=8,
            d_ff=2048,
            encoder_layers=6,
            decoder_layers=6,
            activation="relu",
            skip=False,
        ),
        ETT,
        44_167_687,
    ),
    # embeddings: 2 convolutions over 3 steps, (11 x 2) x 3 x 512, no bias         67,584
    # 3 encoder blocks 9,457,152, 2 decoder blocks 8,408,064                   17,865,216
    # 2 distillings: convolution 3 x 512² + 512, batch norm 1,024               1,575,936
    # 2 last norms of 1,024                                                         2,048
    # output 512 x 7 + 7                                                            3,591
    "informer": (
        Informer(
            d_model=512,
            n_heads=8,
            d_ff=2048,
            encoder_layers=3,
            decoder_layers=2,
            distilling_norm="batch",
            skip=False,
        ),
        ETT,
        19_514_375,
    ),
    # d = 128, f = 256, patches of 16 every 8 on 512 steps: 64 of them
    # patch embedding (16 x 2) x 128 + 128                                          4,224
    # positions 64 x 128                                                            8,192
    # 3 blocks: attention 66,048, feed-forward 65,920, 2 norms of 256             397,440
    # output (64 x 128) x 96 + 96                                                 786,528
    "patch_64": (
        PatchTransformer(
            d_model=128, n_heads=16, d_ff=256, dropout=0.2, patch_norm="batch", skip=False
        ),
        Sizes(context=512, horizon=96, target=7),
        1_196_384,
    ),
    # as above with 42 patches on 336 steps
    # 4,224 + 42 x 128 + 397,440 + (42 x 128) x 96 + 96
    "patch_42": (
        PatchTransformer(
            d_model=128, n_heads=16, d_ff=256, dropout=0.2, patch_norm="batch", skip=False
        ),
        Sizes(context=336, horizon=96, target=7),
        923_232,
    ),
    # joint: a patch of 7 columns, and 7 times the outputs
    # (7 x 16 x 2) x 128 + 128 + 42 x 128 + 397,440 + (42 x 128) x (96 x 7) + 96 x 7
    "patch_joint": (
        PatchTransformer(
            d_model=128, n_heads=16, d_ff=256, channels="joint", patch_norm="batch", skip=False
        ),
        Sizes(context=336, horizon=96, target=7),
        4_044_960,
    ),
    # d = f = 512; embedding (96 x 2) x 512 + 512                                  98,816
    # 3 blocks: attention 1,050,624, feed-forward 525,312, 2 norms of 1,024     4,733,952
    # last norm                                                                     1,024
    # output 512 x 96 + 96                                                         49,248
    "inverted": (
        InvertedTransformer(d_model=512, n_heads=8, d_ff=512, encoder_layers=3, skip=False),
        Sizes(context=96, horizon=96, target=321),
        4_883_040,
    ),
    # Luong et al.: 1,000 units in 4 layers; an LSTM layer has 4 gates of two maps and two biases,
    # 4 (1000² + 1000² + 2000) = 8,008,000, and there are 8 of them            64,064,000
    # embeddings (11 x 2) x 1000 + 1000 and (4 x 2) x 1000 + 1000                  32,000
    # attentional state 2000 x 1000 + 1000                                      2,001,000
    # output 1000 x 7 + 7                                                           7,007
    "recurrent": (
        Recurrent(cell="lstm", hidden=1000, layers=4, norm=False, skip=False),
        ETT,
        66_104_007,
    ),
    # Cho et al.: one GRU layer each, 3 gates: 2 x 3 (1000² + 1000² + 2000)    12,012,000
    # embeddings 32,000 and output 7,007 as above; no attention
    "recurrent_fixed": (
        Recurrent(hidden=1000, attention=False, norm=False, skip=False),
        ETT,
        12_051_007,
    ),
    # Das et al.: d = f = 1280, patches of 32; two of the 20 layers, which make 200 million
    # patch embedding (32 x 2 + 2) x 1280 + 1280                                   85,760
    # 2 blocks: attention 6,558,720, feed-forward 3,279,360, 2 norms of 2,560  19,686,400
    # last norm                                                                     2,560
    # output 1280 x 32 + 32                                                        40,992
    "decoder": (
        DecoderTransformer(patch=32, d_model=1280, n_heads=16, d_ff=1280, layers=2, skip=False),
        Sizes(context=512, horizon=96, target=7),
        19_815_712,
    ),
    # d = 128, f = 512, patches of 12
    # patch embedding (12 x 2) x 128 + 128, and the hidden patch 128                3,328
    # 3 blocks: attention 66,048, feed-forward 131,712, 2 norms of 256            594,816
    # last norm                                                                       256
    # output 128 x 12 + 12                                                          1,548
    "masked": (
        MaskedTransformer(
            patch=12, d_model=128, n_heads=16, d_ff=512, encoder_layers=3, dropout=0.2, skip=False
        ),
        Sizes(context=512, horizon=96, target=7),
        599_948,
    ),
    # 336 x 96 weights, and an offset for each of 96 x 7 points
    "nlinear": (Linear(centre="last"), Sizes(context=336, horizon=96, target=7), 32_928),
    # twice the weights: 2 x 336 x 96 + 96 x 7
    "dlinear": (Linear(decomposition=25), Sizes(context=336, horizon=96, target=7), 65_184),
}


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
    for kind in (
        DecoderTransformer,
        Informer,
        InvertedTransformer,
        MaskedTransformer,
        PatchTransformer,
        Recurrent,
        Transformer,
    ):
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
