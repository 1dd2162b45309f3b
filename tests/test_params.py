import copy
import inspect
import pickle
from itertools import pairwise
from typing import Any, Literal

import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from tsformer.errors import ParameterError
from tsformer.params import KW_ONLY, Params, group, param, params


@params
class Optimiser(Params):
    """How weights move."""

    _: KW_ONLY
    rate: float = param("Size of a step.", default=0.1, above=0, below=1)
    steps: int = param("Number of steps.", default=10, low=1, high=1000)
    clip: float | None = param("Largest norm; None for no limit.", default=None, above=0)


@params
class Learner(Params):
    """Something that learns.

    Examples
    --------
    >>> Learner(3).width
    3

    Notes
    -----
    Not a real one.
    """

    width: int = param("Units of a layer.", low=1)
    _: KW_ONLY
    kind: Literal["big", "small"] = param("Its size.", default="small", choices=("big", "small"))
    optimiser: Optimiser | None = param("None is the default one.", default=None, part=Optimiser)
    frozen: Any = param("Anything.", default=None)


def test_the_first_nouns_are_positional_and_the_rest_is_not() -> None:
    assert Learner(3).width == 3
    with pytest.raises(TypeError):
        Learner(3, "big")
    with pytest.raises(TypeError):
        Learner()


def test_construction_only_stores() -> None:
    assert Learner(-1).width == -1


def test_clone_copies_the_parts() -> None:
    learner = Learner(3, optimiser=Optimiser(rate=0.5))
    other = clone(learner)
    assert other.get_params(deep=False).keys() == learner.get_params(deep=False).keys()
    assert other.optimiser is not learner.optimiser
    assert other.optimiser.rate == 0.5


def test_a_path_makes_the_part_that_was_none() -> None:
    learner = Learner(3).set_params(optimiser__rate=0.2, width=4)
    assert learner.width == 4
    assert learner.optimiser is not None
    assert (learner.optimiser.rate, learner.optimiser.steps) == (0.2, 10)


def test_a_path_keeps_the_part_that_is_there() -> None:
    optimiser = Optimiser(steps=7)
    learner = Learner(3, optimiser=optimiser).set_params(optimiser__rate=0.2)
    assert learner.optimiser is optimiser
    assert (optimiser.rate, optimiser.steps) == (0.2, 7)


def test_paths_work_on_clones_as_a_grid_search_uses_them() -> None:
    grid = ParameterGrid({"optimiser__rate": [0.1, 0.2], "width": [1, 2]})
    made = [clone(Learner(3)).set_params(**point) for point in grid]
    rates = [(one.optimiser.rate, one.width) for one in made if one.optimiser]
    assert rates == [(0.1, 1), (0.1, 2), (0.2, 1), (0.2, 2)]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("widht", "Learner has no parameter 'widht'. Did you mean 'width'?"),
        ("optimizer__rate", "Learner has no parameter 'optimizer'. Did you mean 'optimiser'?"),
        ("optimiser__rat", "Optimiser has no parameter 'rat'. Did you mean 'rate'?"),
        ("zzz", "Its parameters are width, kind, optimiser, frozen."),
    ],
)
def test_a_misspelt_name_is_an_error_with_a_hint(path: str, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Learner(3).set_params(**{path: 1})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Learner(0), "Learner(width=0): width must be at least 1"),
        (Learner(None), "Learner(width=None): width must not be None"),
        (Learner(2.5), "width must be a whole number"),
        (Learner(True), "width must be a number"),
        (Learner(3, kind="huge"), "kind must be one of 'big', 'small'"),  # type: ignore[arg-type]
        (Optimiser(rate=0.0), "rate must be above 0"),
        (Optimiser(rate=1.0), "rate must be below 1"),
        (Optimiser(rate=float("nan")), "rate must be above 0"),
        (Optimiser(steps=1001), "steps must be at most 1000"),
        (Optimiser(clip=-1.0), "clip must be above 0"),
        (Learner(3, optimiser=Optimiser(rate=2.0)), "Optimiser(rate=2.0): rate must be below 1"),
    ],
)
def test_a_value_out_of_range_is_an_error(value: Params, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        value.check()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        Learner(1),
        Learner(3, kind="big", optimiser=Optimiser(rate=0.999, steps=1000, clip=1)),
        Optimiser(clip=None),
        Learner(3, frozen=object()),
    ],
)
def test_values_in_range_pass(value: Params) -> None:
    value.check()


def test_the_docstring_lists_each_parameter_where_numpydoc_wants_it() -> None:
    lines = (Learner.__doc__ or "").splitlines()
    headings = [before for before, line in pairwise(lines) if line[:3] == "---"]
    assert headings == ["Parameters", "Examples", "Notes"]
    assert "kind : Literal['big', 'small'], default 'small'" in lines
    assert "    Units of a layer." in lines
    assert "width : int" in lines


def test_pickling_keeps_the_values() -> None:
    learner = Learner(3, optimiser=Optimiser(rate=0.5))
    copy = pickle.loads(pickle.dumps(learner))
    assert repr(copy) == repr(learner)
    assert copy.optimiser.rate == 0.5


def test_a_repr_shows_what_differs_from_the_default() -> None:
    assert repr(Learner(3, optimiser=Optimiser(rate=0.5))) == (
        "Learner(optimiser=Optimiser(rate=0.5), width=3)"
    )
    assert repr(Optimiser()) == "Optimiser()"


def test_values_are_compared_by_identity() -> None:
    assert Optimiser() != Optimiser()
    assert len({Optimiser(), Optimiser()}) == 2


@pytest.mark.parametrize("name, value", [("rate", "0.1"), ("steps", 1.5), ("steps", True)])
def test_a_value_of_the_wrong_type_is_refused(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        Optimiser().set_params(**{name: value}).check()


def test_a_class_without_parameters_says_so() -> None:
    @params
    class Empty(Params):
        """Nothing to set."""

    with pytest.raises(ParameterError, match="It has none"):
        Empty().set_params(width=1)


@params
class Grouped(Params):
    """Holds a rate of its own, and an optimiser."""

    _: KW_ONLY
    width: int = param("Units of a layer.", default=1, low=1)
    optimiser: Optimiser | None = group(Optimiser, default=None)


def test_what_is_grouped_is_set_and_read_by_its_short_name() -> None:
    made = Grouped(width=2, steps=7)
    assert repr(made) == "Grouped(optimiser=Optimiser(steps=7), width=2)"
    assert (made.steps, made.clip) == (7, None)
    assert Grouped().steps == 10
    made.set_params(clip=0.5).steps = 8
    assert (made.optimiser.clip, made.optimiser.steps) == (0.5, 8)
    assert "steps" not in vars(made)


def test_the_signature_holds_the_groups_alone() -> None:
    assert list(inspect.signature(Grouped).parameters) == ["width", "optimiser"]
    assert list(Grouped().get_params(deep=False)) == ["optimiser", "width"]
    with pytest.raises(TypeError, match="stepps"):
        Grouped(stepps=3)


def test_a_group_that_is_handed_in_stays_as_it_was() -> None:
    optimiser = Optimiser(steps=3)
    made = Grouped(optimiser=optimiser, clip=2.0)
    assert (made.steps, made.clip, optimiser.clip) == (3, 2.0, None)
    assert Grouped(optimiser=optimiser).optimiser is optimiser


def test_what_is_grouped_survives_copies() -> None:
    made = Grouped(steps=7)
    for one in (clone(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert one.steps == 7
        assert one.optimiser is not made.optimiser


def test_a_short_name_has_a_full_path() -> None:
    assert Grouped().full_path("steps") == "optimiser__steps"
    assert Grouped().full_path("width") == "width"
    assert Learner(3).full_path("optimiser__rate") == "optimiser__rate"
    with pytest.raises(ParameterError, match=r"no parameter 'stps'.* Did you mean 'steps'"):
        Grouped().set_params(stps=1)


@pytest.mark.parametrize("wrong", ["optimiser", 3, Optimiser, {"rate": 0.1}], ids=str)
def test_what_is_no_part_is_refused_with_what_there_is(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"optimiser must be a value such as Optimiser\(\)"):
        Learner(3, optimiser=wrong).check()
