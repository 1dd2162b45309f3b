"""Every model, head and baseline once: what the shared tests run over.

A new one is its own file, a name in the ``__init__`` of its room, and one row here. The keys are
the ids of the tests. Metrics have their row, a value by hand, in ``tests/evaluation/test_metrics``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tsformer import Drift, Forecaster, SeasonalNaive, Training
from tsformer.estimators import PanelForecaster
from tsformer.heads import Head, Point, Quantiles
from tsformer.models import (
    Architecture,
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

HORIZON, CONTEXT = 4, 12

Models = Mapping[str, Architecture]


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """One model, as small as each kind of test allows.

    Attributes
    ----------
    networks
        Every form that has code of its own: the contract of networks.
    laws
        Units, order of columns and series, masks.
    forecasters
        The contract of forecasters.
    learners
        What must beat seasonal persistence on what can be learned.
    bare
        What must learn a wave without a linear skip.
    papers
        At the size of its paper: the sizes of the data, and the parameters counted by hand.
    """

    kind: type[Architecture]
    networks: Models
    laws: Models
    forecasters: Mapping[str, Forecaster]
    learners: Models
    bare: Models = field(default_factory=dict)
    papers: Mapping[str, tuple[Architecture, Sizes, int]]


@dataclass(frozen=True, kw_only=True)
class HeadRow:
    """One head: the values that have code of their own, and those every network is tried with."""

    kind: type[Head]
    values: tuple[Head, ...]
    networks: Mapping[str, Head]


@dataclass(frozen=True, kw_only=True)
class BaselineRow:
    """One forecaster without weights."""

    kind: type[PanelForecaster]
    forecasters: Mapping[str, PanelForecaster]


FIT: dict[str, Any] = {"horizon": HORIZON, "context": CONTEXT}
ONE = Training(epochs=1)
SMALL: dict[str, Any] = {"d_model": 8, "d_ff": 8}
TWO: dict[str, Any] = {**SMALL, "n_heads": 2, "encoder_layers": 1}
DEEP_ENCODER: dict[str, Any] = {**TWO, "encoder_layers": 2}
DEEP: dict[str, Any] = {**DEEP_ENCODER, "decoder_layers": 2}
TINY: dict[str, Any] = {**SMALL, "n_heads": 1, "encoder_layers": 1}
LEARNER: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 2,
    "d_ff": 16,
    "encoder_layers": 1,
    "dropout": 0.0,
}
TWO_DECODER: dict[str, Any] = {**SMALL, "n_heads": 2, "layers": 1, "patch": 2}
TINY_DECODER: dict[str, Any] = {**SMALL, "n_heads": 1, "layers": 1}
LEARNING_DECODER: dict[str, Any] = {
    "patch": 3,
    "d_model": 16,
    "n_heads": 2,
    "d_ff": 16,
    "layers": 1,
    "dropout": 0.0,
}
PATCH_PAPER: dict[str, Any] = {
    "d_model": 128,
    "n_heads": 16,
    "d_ff": 256,
    "patch_norm": "batch",
    "skip": False,
}
# 7 columns and the 4 calendar features of hourly data, as in ETTh1; the Informer's horizons
ETT = Sizes(context=96, horizon=24, target=7, known=4)


def trained(model: Architecture, **given: Any) -> Forecaster:
    """A forecaster that trains this model for one epoch."""
    return Forecaster(model, **FIT, training=ONE, **given)


MODELS = (
    ModelRow(
        kind=Informer,
        networks={
            "informer": Informer(**TWO),
            "informer_sparse": Informer(**DEEP, exact_below=0, factor=1),
            "informer_sparse_decoder": Informer(
                **TWO, exact_below=0, decoder_attention="prob_sparse"
            ),
            "informer_pre": Informer(**TWO, norm="pre", skip=False, start=0),
        },
        laws={
            "informer": Informer(**TINY),
            "informer_sparse": Informer(**TINY, exact_below=0, factor=1),
        },
        forecasters={"informer": trained(Informer(**TINY))},
        learners={"informer": Informer(**LEARNER)},
        papers={
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
        },
    ),
    ModelRow(
        kind=Transformer,
        networks={
            "one_shot": Transformer(**DEEP),
            "one_shot_pre": Transformer(**TWO, norm="pre", skip=False, start=0),
            "autoregressive": Transformer(**DEEP, decoding="autoregressive"),
            "autoregressive_bare": Transformer(
                **TWO, decoding="autoregressive", skip=False, start=0
            ),
            "one_shot_relative": Transformer(**DEEP, positions="relative"),
            "autoregressive_rotary": Transformer(
                **TWO, decoding="autoregressive", positions="rotary", skip=False
            ),
        },
        laws={
            "transformer": Transformer(**TINY),
            "autoregressive": Transformer(**TINY, decoding="autoregressive"),
        },
        forecasters={
            "transformer": trained(Transformer(**TINY), head=Point()),
            "autoregressive": trained(Transformer(**TINY, decoding="autoregressive")),
        },
        learners={
            "transformer": Transformer(**LEARNER),
            "autoregressive": Transformer(**LEARNER, decoding="autoregressive"),
        },
        papers={
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
        },
    ),
    ModelRow(
        kind=Linear,
        networks={
            "linear": Linear(),
            "linear_last": Linear(centre="last"),
            "linear_split": Linear(decomposition=3),
        },
        laws={"linear": Linear()},
        forecasters={"linear": Forecaster(Linear(), **FIT)},
        learners={
            "linear": Linear(),
            "linear_last": Linear(centre="last"),
            "linear_split": Linear(decomposition=5),
        },
        papers={
            # 336 x 96 weights, and an offset for each of 96 x 7 points
            "nlinear": (Linear(centre="last"), Sizes(context=336, horizon=96, target=7), 32_928),
            # twice the weights: 2 x 336 x 96 + 96 x 7
            "dlinear": (Linear(decomposition=25), Sizes(context=336, horizon=96, target=7), 65_184),
        },
    ),
    ModelRow(
        kind=PatchTransformer,
        networks={
            "patch": PatchTransformer(**TWO, patch=3, stride=2),
            "patch_joint": PatchTransformer(**TWO, channels="joint", skip=False, norm="pre"),
            "patch_batch_norm": PatchTransformer(
                **TWO, patch=2, stride=2, positions="sinusoidal", patch_norm="batch"
            ),
        },
        laws={"patch": PatchTransformer(**TINY, patch=3, stride=2)},
        forecasters={"patch": trained(PatchTransformer(**TINY, patch=4, stride=2))},
        learners={"patch": PatchTransformer(**LEARNER, patch=6, stride=3)},
        bare={
            "patch": PatchTransformer(**LEARNER, patch=6, stride=3, skip=False),
            "patch_joint": PatchTransformer(
                **LEARNER, patch=6, stride=3, channels="joint", skip=False
            ),
        },
        papers={
            # d = 128, f = 256, patches of 16 every 8 on 512 steps: 64 of them
            # patch embedding (16 x 2) x 128 + 128                                          4,224
            # positions 64 x 128                                                            8,192
            # 3 blocks: attention 66,048, feed-forward 65,920, 2 norms of 256             397,440
            # output (64 x 128) x 96 + 96                                                 786,528
            "patch_64": (
                PatchTransformer(**PATCH_PAPER, dropout=0.2),
                Sizes(context=512, horizon=96, target=7),
                1_196_384,
            ),
            # as above with 42 patches on 336 steps
            # 4,224 + 42 x 128 + 397,440 + (42 x 128) x 96 + 96
            "patch_42": (
                PatchTransformer(**PATCH_PAPER, dropout=0.2),
                Sizes(context=336, horizon=96, target=7),
                923_232,
            ),
            # joint: a patch of 7 columns, and 7 times the outputs
            # (7 x 16 x 2) x 128 + 128 + 42 x 128 + 397,440 + (42 x 128) x (96 x 7) + 96 x 7
            "patch_joint": (
                PatchTransformer(**PATCH_PAPER, channels="joint"),
                Sizes(context=336, horizon=96, target=7),
                4_044_960,
            ),
        },
    ),
    ModelRow(
        kind=InvertedTransformer,
        networks={
            "inverted": InvertedTransformer(**DEEP_ENCODER),
            "inverted_pre": InvertedTransformer(**TWO, norm="pre", skip=False),
        },
        laws={"inverted": InvertedTransformer(**TINY)},
        forecasters={"inverted": trained(InvertedTransformer(**TINY))},
        learners={"inverted": InvertedTransformer(**LEARNER)},
        bare={"inverted": InvertedTransformer(**LEARNER, skip=False)},
        papers={
            # d = f = 512; embedding (96 x 2) x 512 + 512                                  98,816
            # 3 blocks: attention 1,050,624, feed-forward 525,312, 2 norms of 1,024     4,733,952
            # last norm                                                                     1,024
            # output 512 x 96 + 96                                                         49,248
            "inverted": (
                InvertedTransformer(d_model=512, n_heads=8, d_ff=512, encoder_layers=3, skip=False),
                Sizes(context=96, horizon=96, target=321),
                4_883_040,
            ),
        },
    ),
    ModelRow(
        kind=Recurrent,
        networks={
            "recurrent": Recurrent(hidden=8, layers=2),
            "recurrent_lstm": Recurrent(hidden=8, cell="lstm", attention=False, skip=False),
        },
        laws={"recurrent": Recurrent(hidden=8)},
        forecasters={"recurrent": trained(Recurrent(hidden=8))},
        learners={"recurrent": Recurrent(hidden=16, dropout=0.0)},
        bare={
            "gru": Recurrent(hidden=16, dropout=0.0, skip=False),
            "lstm": Recurrent(hidden=16, dropout=0.0, cell="lstm", skip=False),
            "gru_fixed": Recurrent(hidden=16, dropout=0.0, attention=False, skip=False),
        },
        papers={
            # Luong et al.: 1,000 units in 4 layers; an LSTM layer has 4 gates of two maps and two
            # biases, 4 (1000² + 1000² + 2000) = 8,008,000, and there are 8 of them    64,064,000
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
        },
    ),
    ModelRow(
        kind=DecoderTransformer,
        networks={
            "decoder": DecoderTransformer(**TWO_DECODER),
            "decoder_bare": DecoderTransformer(
                **{**TWO_DECODER, "patch": 3}, norm="post", skip=False
            ),
        },
        laws={"decoder": DecoderTransformer(**TINY_DECODER, patch=2)},
        forecasters={"decoder": trained(DecoderTransformer(**TINY_DECODER, patch=3))},
        learners={"decoder": DecoderTransformer(**LEARNING_DECODER)},
        bare={"decoder": DecoderTransformer(**LEARNING_DECODER, skip=False)},
        papers={
            # Das et al.: d = f = 1280, patches of 32; two of the 20 layers, which make 200 million
            # patch embedding (32 x 2 + 2) x 1280 + 1280                                   85,760
            # 2 blocks: attention 6,558,720, feed-forward 3,279,360, 2 norms of 2,560  19,686,400
            # last norm                                                                     2,560
            # output 1280 x 32 + 32                                                        40,992
            "decoder": (
                DecoderTransformer(
                    patch=32, d_model=1280, n_heads=16, d_ff=1280, layers=2, skip=False
                ),
                Sizes(context=512, horizon=96, target=7),
                19_815_712,
            ),
        },
    ),
    ModelRow(
        kind=MaskedTransformer,
        networks={
            "masked": MaskedTransformer(**TWO, patch=2),
            "masked_post": MaskedTransformer(**TWO, patch=3, norm="post", skip=False),
        },
        laws={"masked": MaskedTransformer(**TINY, patch=2)},
        forecasters={"masked": trained(MaskedTransformer(**TINY, patch=3))},
        learners={"masked": MaskedTransformer(**LEARNER, patch=3)},
        bare={"masked": MaskedTransformer(**LEARNER, patch=3, skip=False)},
        papers={
            # d = 128, f = 512, patches of 12
            # patch embedding (12 x 2) x 128 + 128, and the hidden patch 128                3,328
            # 3 blocks: attention 66,048, feed-forward 131,712, 2 norms of 256            594,816
            # last norm                                                                       256
            # output 128 x 12 + 12                                                          1,548
            "masked": (
                MaskedTransformer(
                    patch=12,
                    d_model=128,
                    n_heads=16,
                    d_ff=512,
                    encoder_layers=3,
                    dropout=0.2,
                    skip=False,
                ),
                Sizes(context=512, horizon=96, target=7),
                599_948,
            ),
        },
    ),
)

HEADS = (
    HeadRow(
        kind=Point,
        values=(Point("absolute"), Point("squared"), Point("huber")),
        networks={"point": Point("squared")},
    ),
    HeadRow(
        kind=Quantiles,
        values=(Quantiles(), Quantiles((0.5,)), Quantiles((0.1, 0.8))),
        networks={"quantiles": Quantiles((0.1, 0.5, 0.9))},
    ),
)

BASELINES = (
    BaselineRow(kind=SeasonalNaive, forecasters={"seasonal_naive": SeasonalNaive(horizon=HORIZON)}),
    BaselineRow(kind=Drift, forecasters={"drift": Drift(horizon=HORIZON)}),
)


def gathered(rows: Iterable[Any], part: str) -> dict[str, Any]:
    """What all rows hold under one name; two rows may not share an id."""
    found: dict[str, Any] = {}
    for row in rows:
        own = getattr(row, part)
        assert not set(found) & set(own), f"{part} names {set(found) & set(own)} twice"
        found |= own
    return found


def public(room: Any, base: type[Any]) -> set[type[Any]]:
    """The classes of a kind that a room lists, the base itself left out."""
    names = (getattr(room, name) for name in room.__all__)
    return {one for one in names if isinstance(one, type) and issubclass(one, base)} - {base}
