import inspect
import pickle
import re

import pytest

from tsformer import errors
from tsformer.cures import Cure

ERRORS = [getattr(errors, name) for name in errors.__all__]


def drawn() -> dict[str, tuple[str, ...]]:
    """Name to bases, read from the tree in the module's docstring."""
    tree = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.fullmatch(r"( {4}[│ ├└─]*)([A-Z]\w+)(?:\((\w+)\))?(?: {2,}.*)?", line)
        if found is None:
            continue
        indent, name, builtin = found.groups()
        depth = (len(indent) - 4) // 4
        path = [*path[:depth], name]
        parent = (path[-2],) if depth else ()
        own = (builtin,) if builtin else ()
        curable = ("_Curable",) if not depth and name != "MissingDependency" else ()
        tree[name] = parent + curable + own
    return tree


def test_the_drawn_tree_is_the_real_one() -> None:
    real = {kind.__name__: tuple(base.__name__ for base in kind.__bases__) for kind in ERRORS}
    assert drawn() == real


def test_every_error_is_listed() -> None:
    defined = [
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and value.__module__ == errors.__name__ and name[0] != "_"
    ]
    assert sorted(defined) == errors.__all__


@pytest.mark.parametrize("kind", ERRORS)
def test_a_message_survives_as_it_is(kind: type[Exception]) -> None:
    message = "Column 'a' is missing."
    assert str(kind(message)) == message
    assert str(pickle.loads(pickle.dumps(kind(message)))) == message


def test_everything_but_a_missing_package_is_caught_by_the_base() -> None:
    bases = (errors.TsformerError, errors.TsformerWarning)
    others = [kind for kind in ERRORS if not issubclass(kind, bases)]
    assert others == [errors.MissingDependency]


@pytest.mark.parametrize("kind", [one for one in ERRORS if issubclass(one, errors._Curable)])
def test_cures_survive_pickling(kind: type[Exception]) -> None:
    cure = Cure("Say which", {"schema__time": "day"})
    there = pickle.loads(pickle.dumps(kind("Two could be it.", cure)))
    assert str(there) == 'Two could be it. Say which: schema=Schema(time="day").'
    assert there.cures == (cure,)
    assert there.message == "Two could be it."
