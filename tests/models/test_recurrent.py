import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.heads import Point, Quantiles
from tsformer.models import Recurrent
from tsformer.models.recurrent import dot_attention
from tsformer.windows import Sizes

SIZES = Sizes(context=6, horizon=4, target=2, past=1, known=2, static=1, known_cardinalities=(3,))
each_cell = pytest.mark.parametrize("cell", ["gru", "lstm"])
each_attention = pytest.mark.parametrize("attention", [True, False])


def test_dot_attention_is_the_equation():
    states, memory = torch.randn(3, 4, 5), torch.randn(3, 6, 5)
    visible = torch.rand(3, 6) > 0.4
    visible[0] = True
    visible[2] = False
    scores = torch.einsum("bsh,bch->bsc", states, memory)
    weights = scores.masked_fill(~visible[:, None], -torch.inf).softmax(-1).nan_to_num()
    expected = torch.einsum("bsc,bch->bsh", weights, memory)
    torch.testing.assert_close(dot_attention(states, memory, visible), expected)
    torch.testing.assert_close(dot_attention(states, memory)[0], expected[0])


@each_cell
@each_attention
def test_only_attention_reads_more_than_the_last_state(cell, attention, build, make_batch):
    network = build(Recurrent(hidden=8, cell=cell, attention=attention), SIZES, Point())
    batch = make_batch(SIZES)
    memory, state = network.encode(batch)
    held = state if cell == "gru" else state[0]
    torch.testing.assert_close(memory[:, -1], held[-1])
    decoded = network.decode(batch, memory, state)
    other = network.decode(batch, memory + torch.randn(6, 8), state)
    assert torch.equal(decoded, other) != attention
    # cut off from the state, the past reaches the forecast through attention or not at all
    nothing = torch.zeros(1, 5, 8) if cell == "gru" else (torch.zeros(1, 5, 8),) * 2
    memory = memory.detach().requires_grad_()
    total = network.decode(batch, memory, nothing).square().sum()
    (reached,) = torch.autograd.grad(total, memory, allow_unused=True)
    assert (reached is not None) == attention
    if attention:
        assert reached.abs().amax((0, 2)).gt(0).all()


@each_cell
@each_attention
def test_the_context_matters_from_its_first_step(cell, attention, build, make_batch):
    model = Recurrent(hidden=8, cell=cell, attention=attention, layers=2, skip=False)
    network, batch = build(model, SIZES, Point()), make_batch(SIZES)
    past = batch.past_target.clone()
    past[:, 0] += 5
    difference = network(batch._replace(past_target=past)) - network(batch)
    assert difference.abs().amax((0, 2, 3)).gt(1e-6).all()


@each_cell
@each_attention
def test_a_later_plan_changes_no_earlier_forecast(cell, attention, build, make_batch):
    model = Recurrent(hidden=8, cell=cell, attention=attention, skip=False)
    network = build(model, SIZES, Quantiles())
    batch = make_batch(SIZES)
    before = network(batch)
    for step in range(SIZES.horizon):
        known, codes = batch.known.clone(), batch.known_codes.clone()
        known[:, SIZES.context + step :] += 5
        codes[:, SIZES.context + step :] = 0
        after = network(batch._replace(known=known, known_codes=codes))
        torch.testing.assert_close(after[:, :step], before[:, :step], atol=1e-6, rtol=1e-6)
        assert (after[:, step] - before[:, step]).abs().max() > 1e-4


def test_steps_without_a_measurement_are_not_looked_at(build, make_batch):
    network, batch = build(Recurrent(hidden=8), SIZES, Point()), make_batch(SIZES)
    batch.past_observed[:, 2], batch.past_present[:, 2] = False, False
    memory, state = network.encode(batch)
    decoded = network.decode(batch, memory, state)
    changed = memory.clone()
    changed[:, 2] += 5
    torch.testing.assert_close(network.decode(batch, changed, state), decoded)
    changed[:, 3] += 5
    assert not torch.allclose(network.decode(batch, changed, state), decoded)


@pytest.mark.parametrize("field", ["past", "static"])
def test_every_covariate_counts(field, build, make_batch):
    network, batch = build(Recurrent(hidden=8), SIZES, Point()), make_batch(SIZES)
    other = network(batch._replace(**{field: getattr(batch, field) + 3}))
    assert (other - network(batch)).abs().max() > 1e-4


@each_cell
def test_recurrent_weights_start_orthogonal(cell):
    network = Recurrent(hidden=6, cell=cell, layers=2).build(SIZES, Point())
    squares = [
        square.detach()
        for part in (network.encoder, network.decoder)
        for name, weight in part.named_parameters()
        if name.startswith("weight_hh")
        for square in weight.split(6)
    ]
    assert len(squares) == 2 * 2 * (3 if cell == "gru" else 4)
    for square in squares:
        torch.testing.assert_close(square @ square.T, torch.eye(6), atol=1e-5, rtol=0)


@each_attention
def test_the_papers_have_no_norm(attention, build, make_batch):
    network = build(Recurrent(hidden=8, attention=attention, norm=False), SIZES, Point())
    assert not any(isinstance(part, torch.nn.LayerNorm) for part in network.modules())
    batch = make_batch(SIZES)
    memory, state = network.encode(batch)
    decoded = network.decode(batch, memory, state)
    # a hyperbolic tangent, or a state of a GRU, which is a mean of such
    assert decoded.abs().max() < 1
    assert network(batch).isfinite().all()


@pytest.mark.parametrize("layers", [1, 2])
def test_dropout_is_active_in_training_alone(layers, build, make_batch):
    network = build(Recurrent(hidden=8, layers=layers, dropout=0.5), SIZES, Point())
    batch = make_batch(SIZES)
    assert torch.equal(network(batch), network(batch))
    with torch.random.fork_rng():
        network.train()
        assert not torch.equal(network(batch), network(batch))


def test_without_plan_the_decoder_runs_on_time_alone(build, make_batch):
    sizes = Sizes(context=3, horizon=5)
    network = build(Recurrent(hidden=5), sizes, Point())
    assert not list(network.embed_known.parameters())
    forecast = network(make_batch(sizes))
    assert forecast.diff(dim=1).abs().gt(0).any()


@pytest.mark.parametrize("wrong", [{"hidden": 0}, {"layers": 0}, {"dropout": 1.0}], ids=str)
def test_parameters_out_of_range_are_refused_by_check(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Recurrent(**wrong).check()
