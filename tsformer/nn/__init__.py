"""Layers of time-series transformers: pure functions under thin modules.

Steps are ``(batch, time, feature)``; inside attention ``(batch, head, time, dim)``. A mask is True
where something is visible or observed. The room imports torch and nothing of ours but the errors.
"""

from tsformer.nn.attention import (
    Attend,
    FullAttention,
    KeyValueCache,
    MultiHeadAttention,
    full_attention,
)
from tsformer.nn.blocks import (
    Decoder,
    DecoderBlock,
    DecoderCache,
    Encoder,
    EncoderBlock,
    Norm,
    Residual,
)
from tsformer.nn.distilling import Distilling, distilled_length
from tsformer.nn.dropout import Dropout
from tsformer.nn.embeddings import StepEmbedding, ValueEmbedding
from tsformer.nn.feed_forward import FeedForward
from tsformer.nn.positions import NoPositions, SinusoidalPositions, sinusoidal
from tsformer.nn.probsparse import (
    EXACT_BELOW,
    ProbSparse,
    mean_value,
    most_active,
    prob_sparse_attention,
    sampled_scores,
    sparsity_measure,
)
from tsformer.nn.sampling import Sampling, logarithmic_count, random_sample, spread_sample
from tsformer.nn.scaling import Scaling, observed_mean, restore, standardise, window_statistics
from tsformer.nn.skip import Batches, LinearSkip, Windows

__all__ = [
    "EXACT_BELOW",
    "Attend",
    "Batches",
    "Decoder",
    "DecoderBlock",
    "DecoderCache",
    "Distilling",
    "Dropout",
    "Encoder",
    "EncoderBlock",
    "FeedForward",
    "FullAttention",
    "KeyValueCache",
    "LinearSkip",
    "MultiHeadAttention",
    "NoPositions",
    "Norm",
    "ProbSparse",
    "Residual",
    "Sampling",
    "Scaling",
    "SinusoidalPositions",
    "StepEmbedding",
    "ValueEmbedding",
    "Windows",
    "distilled_length",
    "full_attention",
    "logarithmic_count",
    "mean_value",
    "most_active",
    "observed_mean",
    "prob_sparse_attention",
    "random_sample",
    "restore",
    "sampled_scores",
    "sinusoidal",
    "sparsity_measure",
    "spread_sample",
    "standardise",
    "window_statistics",
]
