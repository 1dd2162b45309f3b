"""Models hold groups of parameters; each of them goes by its own name and by its path."""

import copy

import pytest
import registry
from sklearn.base import clone

from tsformer import Forecaster
from tsformer.errors import ParameterError
from tsformer.models import Convolutions, Informer, PatchTransformer, Transformer

KINDS = {type(model): model for model in registry.gathered(registry.MODELS, "laws").values()}
GROUPED = {f"{kind.__name__}-{name}": (kind, name) for kind in KINDS for name in kind.grouped}

each = pytest.mark.parametrize(("kind", "name"), GROUPED.values(), ids=GROUPED)


@each
def test_both_paths_lead_to_one_value(kind, name):
    path = f"{kind.grouped[name]}__{name}"
    by_name = Forecaster(kind(), horizon=3).set_params(**{f"model__{name}": "set"})
    by_path = Forecaster(kind(), horizon=3).set_params(**{f"model__{path}": "set"})
    built = kind(**{name: "set"})
    assert repr(by_name.model) == repr(by_path.model) == repr(built)
    assert getattr(built, name) == built.get_params()[path] == "set"


@each
def test_deep_parameters_list_what_is_in_a_group_of_none(kind, name):
    path = f"{kind.grouped[name]}__{name}"
    assert kind().get_params()[path] == getattr(kind(), name)
    assert Forecaster(kind(), horizon=3).get_params()[f"model__{path}"] == getattr(kind(), name)
    assert name not in kind().get_params()


@pytest.mark.parametrize("model", KINDS.values(), ids=lambda model: type(model).__name__)
def test_copies_hold_the_same(model):
    for other in (clone(model), copy.deepcopy(model), type(model)(**model.get_params(deep=False))):
        assert repr(other) == repr(model)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "activation" in kind.grouped])
def test_a_group_leaves_the_norm_of_a_model_alone(kind):
    assert kind(activation="relu").norm == kind().norm


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Informer(factor=0), r"^Informer\(factor=0\): factor must be at least 1 \(in sparsity\)$"),
        (Informer(activation="tanh"), r"^Informer\(activation='tanh'\): .* \(in block\)$"),
        (
            Informer(convolutions=Convolutions(kernel=0)),
            r"^Informer\(kernel=0\): .* \(in con",
        ),
        (PatchTransformer(positions="none"), r"^PatchTransformer\(positions=.*\(in patches\)$"),
    ],
    ids=str,
)
def test_a_range_is_told_in_the_words_of_the_model(model, said):
    with pytest.raises(ParameterError, match=said):
        Forecaster(model, horizon=3).check()


def test_a_misspelt_name_is_answered_with_one_that_there_is():
    with pytest.raises(ParameterError, match="Did you mean 'factor'"):
        Forecaster(Informer(), horizon=3).set_params(model__facter=3)
    with pytest.raises(ParameterError, match="Did you mean 'model__factor'"):
        Forecaster(Informer(), horizon=3).set_params(factor=3)
    with pytest.raises(TypeError, match="Did you mean 'exact_below'"):
        Informer(exact_bellow=0)


def test_a_name_is_looked_up_in_the_model_it_is_set_with():
    forecaster = Forecaster(PatchTransformer(), horizon=3)
    forecaster.set_params(model=Transformer(), model__positions="rotary")
    assert forecaster.model.positions == "rotary"
