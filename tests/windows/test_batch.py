import dataclasses

import pytest
import torch

from tsformer.errors import ShapeError
from tsformer.windows import Batch, Sizes, WindowDataset


def test_a_window_has_context_and_horizon():
    assert Sizes(context=7, horizon=3).steps == 10


def test_absent_covariates_have_width_0():
    sizes = Sizes(context=7, horizon=3)
    assert (sizes.target, sizes.past, sizes.known, sizes.static) == (1, 0, 0, 0)
    assert (sizes.past_cardinalities, sizes.known_cardinalities, sizes.static_cardinalities) == (
        (),
        (),
        (),
    )

    assert (sizes.calendar, sizes.lagged, sizes.cardinalities) == (0, 0, ())


def test_cardinalities_are_those_of_past_then_known_then_static():
    sizes = Sizes(
        context=7,
        horizon=3,
        static_cardinalities=(5,),
        known_cardinalities=(3, 4),
        past_cardinalities=(2,),
    )
    assert sizes.cardinalities == (2, 3, 4, 5)


def test_sizes_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sizes(context=7, horizon=3).context = 8


def test_a_batch_is_a_tuple_so_that_any_loop_can_move_it():
    assert issubclass(Batch, tuple)
    assert len(Batch._fields) == 18


def test_a_batch_of_other_sizes_is_refused_by_all_that_differs(full_panel):
    data = WindowDataset(full_panel, context=4, horizon=3)
    batch = data.gather(torch.tensor([0]), torch.tensor([4]))
    data.sizes.check(batch)
    other = dataclasses.replace(data.sizes, context=5, known=20, past_cardinalities=())
    with pytest.raises(ShapeError, match=r"context 5, not 4; known 20, not 9; past categories 0"):
        other.check(batch)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("static", "static 7, not 1"),
        ("horizon", "horizon 7, not 3"),
        ("target", "target 7, not 2"),
        ("past", "past 7, not 1"),
    ],
)
def test_each_size_is_compared_with_its_own_part(full_panel, field, said):
    data = WindowDataset(full_panel, context=4, horizon=3)
    batch = data.gather(torch.tensor([0, 0]), torch.tensor([4, 5]))
    data.sizes.check(batch)
    with pytest.raises(ShapeError, match=said):
        dataclasses.replace(data.sizes, **{field: 7}).check(batch)
    with pytest.raises(ShapeError, match="static categories 2, not 1"):
        dataclasses.replace(data.sizes, static_cardinalities=(3, 3)).check(batch)
