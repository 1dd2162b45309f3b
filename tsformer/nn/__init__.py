"""Layers of time-series transformers: pure functions under thin modules.

Steps are ``(batch, time, feature)``; inside attention ``(batch, head, time, dim)``. A mask is True
where something is visible or observed. The room imports torch and nothing of ours but the errors.
"""

from tsformer.nn.attention import Attend, FullAttention, attention_weights, full_attention
from tsformer.nn.blocks import DecoderBlock, DecoderCache, EncoderBlock, Norm, Residual
from tsformer.nn.causal import cumulative_mean, running_threshold
from tsformer.nn.distilling import Distilling, distilled_length
from tsformer.nn.dropout import Dropout
from tsformer.nn.embeddings import StepEmbedding, ValueEmbedding
from tsformer.nn.feed_forward import FeedForward
from tsformer.nn.measure import most_active, sampled_scores, sparsity_measure
from tsformer.nn.multi_head import KeyValueCache, MultiHeadAttention
from tsformer.nn.norms import StepBatchNorm
from tsformer.nn.patches import PatchEmbedding, cut_patches, patch_count
from tsformer.nn.positions import (
    LearnedPositions,
    NoPositions,
    SinusoidalPositions,
    sinusoidal,
)
from tsformer.nn.probsparse import (
    CAUSAL_EXACT_BELOW,
    EXACT_BELOW,
    ProbSparse,
    mean_value,
    prob_sparse_attention,
)
from tsformer.nn.recorded import recorded_weights
from tsformer.nn.relative import RelativeBias, RotaryPositions, distance_bucket, rotary
from tsformer.nn.sampling import Sampling, logarithmic_count, random_sample, spread_sample
from tsformer.nn.scaling import last_observed, observed_deviation, observed_mean
from tsformer.nn.skip import Batches, CovariateMap, FeatureMap, LinearSkip, Windows, from_mean
from tsformer.nn.stacks import Decoder, Encoder

__all__ = [
    "CAUSAL_EXACT_BELOW",
    "EXACT_BELOW",
    "Attend",
    "Batches",
    "CovariateMap",
    "Decoder",
    "DecoderBlock",
    "DecoderCache",
    "Distilling",
    "Dropout",
    "Encoder",
    "EncoderBlock",
    "FeatureMap",
    "FeedForward",
    "FullAttention",
    "KeyValueCache",
    "LearnedPositions",
    "LinearSkip",
    "MultiHeadAttention",
    "NoPositions",
    "Norm",
    "PatchEmbedding",
    "ProbSparse",
    "RelativeBias",
    "Residual",
    "RotaryPositions",
    "Sampling",
    "SinusoidalPositions",
    "StepBatchNorm",
    "StepEmbedding",
    "ValueEmbedding",
    "Windows",
    "attention_weights",
    "cumulative_mean",
    "cut_patches",
    "distance_bucket",
    "distilled_length",
    "from_mean",
    "full_attention",
    "last_observed",
    "logarithmic_count",
    "mean_value",
    "most_active",
    "observed_deviation",
    "observed_mean",
    "patch_count",
    "prob_sparse_attention",
    "random_sample",
    "recorded_weights",
    "rotary",
    "running_threshold",
    "sampled_scores",
    "sinusoidal",
    "sparsity_measure",
    "spread_sample",
]
