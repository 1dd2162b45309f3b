"""Nobody reads a constructor of twenty arguments: what belongs together is a group."""

import inspect

import pytest

import tsformer
from tsformer import estimators, heads, models, panels, training

MOST = 12

CLASSES = {
    name: value
    for room in (tsformer, estimators, heads, models, panels, training)
    for name in room.__all__
    if isinstance(value := getattr(room, name), type) and not issubclass(value, Exception)
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_public_constructor_takes_few_arguments(name):
    number = len(inspect.signature(CLASSES[name]).parameters)
    assert number <= MOST
