import torch

from tsformer.models.tokens import (
    TokenEmbedding,
    hidden_steps,
    known_columns,
    window_columns,
)
from tsformer.windows import Sizes

SIZES = Sizes(
    context=4,
    horizon=2,
    target=1,
    past=1,
    known=2,
    static=1,
    past_cardinalities=(3,),
    known_cardinalities=(2,),
    static_cardinalities=(2,),
)


def test_target_and_past_covariates_end_at_the_origin(make_batch):
    columns = window_columns(make_batch(SIZES))
    assert columns.values.shape == (5, 6, 5)
    assert columns.values[:, 4:, :2].eq(0).all()
    assert not columns.present[:, 4:, :2].any()
    assert columns.present[:, :4].all()
    assert columns.codes[:, 4:, 0].eq(0).all()


def test_plans_and_statics_go_on_over_the_horizon(make_batch):
    batch = make_batch(SIZES)
    columns = known_columns(batch)
    assert torch.equal(columns.values[..., :2], batch.known)
    assert torch.equal(columns.values[..., 2], batch.static.expand(5, 6))
    assert torch.equal(columns.codes[..., 0], batch.known_codes[..., 0])
    assert torch.equal(columns.codes[..., 1], batch.static_codes.expand(5, 6))


def test_part_cuts_all_columns_alike(make_batch):
    part = window_columns(make_batch(SIZES)).part(2, 5)
    assert [field.shape[1] for field in part] == [3, 3, 3, 3]


def test_steps_at_which_nothing_was_measured_are_hidden(make_batch):
    batch = make_batch(SIZES)
    assert hidden_steps(batch) is None
    batch.past_observed[1, 2] = False
    assert hidden_steps(batch) is None  # the covariate was measured
    batch.past_present[1, 2] = False
    mask = hidden_steps(batch)
    assert mask[1].tolist() == [True, True, False, True]
    assert mask[0].all()


def test_tokens_know_when_they_are(make_batch):
    embed = TokenEmbedding(SIZES, 8, kernel=1, dropout=0.0).eval()
    columns = window_columns(make_batch(SIZES))
    later = columns._replace(time=columns.time + 1)
    assert not torch.allclose(embed(columns), embed(later))
    assert embed(columns).shape == (5, 6, 8)
