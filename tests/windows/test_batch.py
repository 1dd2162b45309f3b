import dataclasses

import pytest

from tsformer.windows import Batch, Sizes


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


def test_sizes_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Sizes(context=7, horizon=3).context = 8


def test_a_batch_is_a_tuple_so_that_any_loop_can_move_it():
    assert issubclass(Batch, tuple)
    assert len(Batch._fields) == 18
