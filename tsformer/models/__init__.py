"""Models: small values that build networks. A new model is one file here."""

from tsformer.models.attentive import Block
from tsformer.models.base import Architecture, Network, Supervision
from tsformer.models.decoder import DecoderTransformer
from tsformer.models.informer import Convolutions, Informer, Sparsity
from tsformer.models.inverted import InvertedTransformer
from tsformer.models.linear import Linear
from tsformer.models.masked import MaskedTransformer
from tsformer.models.patch import Patches, PatchTransformer
from tsformer.models.recurrent import Recurrent
from tsformer.models.scaling import Normaliser, WindowScaling
from tsformer.models.transformer import Transformer

__all__ = [
    "Architecture",
    "Block",
    "Convolutions",
    "DecoderTransformer",
    "Informer",
    "InvertedTransformer",
    "Linear",
    "MaskedTransformer",
    "Network",
    "Normaliser",
    "PatchTransformer",
    "Patches",
    "Recurrent",
    "Sparsity",
    "Supervision",
    "Transformer",
    "WindowScaling",
]
