import pytest
import torch

from tsformer.models.residuals import held_out_residuals, residuals
from tsformer.models.scaling import NoNormaliser, StandardNormaliser
from tsformer.windows import Sizes

SIZES = Sizes(context=4, horizon=2, target=2)


def flat(batch):
    """Errors of a forecast of 0 everywhere."""
    return batch.future_target


def test_a_residual_is_the_truth_less_the_forecast_in_normalised_units(make_batch):
    batch = make_batch(SIZES)
    found = residuals(flat, [batch], StandardNormaliser())
    assert torch.equal(found, StandardNormaliser().normalise(batch).future_target)


def test_what_is_missing_is_not_known(make_batch):
    batch = make_batch(SIZES, gaps=True)
    found = residuals(flat, [batch], NoNormaliser())
    assert torch.equal(found.isnan(), ~batch.future_observed)


@pytest.mark.parametrize("most", [1, 3, 10, 11, 50])
def test_many_windows_are_thinned_evenly_over_all_batches(most, make_batch, monkeypatch):
    monkeypatch.setattr("tsformer.models.residuals._MOST", most)
    batches = [make_batch(SIZES, rows=rows, seed=rows) for rows in (5, 5, 1)]
    whole = torch.cat([batch.future_target for batch in batches])
    found = residuals(flat, batches, NoNormaliser())
    assert len(found) <= most
    every = 1
    while len(whole[::every]) > most:
        every *= 2
    assert torch.equal(found, whole[::every])


def test_validation_windows_alone_count_if_they_are_enough(make_batch):
    train = [make_batch(SIZES, rows=30)]
    enough, few = [make_batch(SIZES, rows=40, seed=1)], [make_batch(SIZES, rows=39, seed=1)]
    assert len(held_out_residuals(flat, train, enough, NoNormaliser())) == 40
    assert len(held_out_residuals(flat, train, few, NoNormaliser())) == 69
    assert len(held_out_residuals(flat, train, [], NoNormaliser())) == 30
    assert len(held_out_residuals(flat, [], [], NoNormaliser())) == 0
