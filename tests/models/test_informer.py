import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.heads import Point
from tsformer.models import Informer
from tsformer.windows import Sizes

TINY = {"d_model": 8, "n_heads": 2, "d_ff": 8}
SIZES = Sizes(context=6, horizon=4, target=2, past=1, known=2)


def test_with_a_kernel_of_1_a_later_plan_changes_no_earlier_forecast(build, make_batch):
    network, batch = (
        build(Informer(**TINY, kernel=1, skip=False), SIZES, Point()),
        make_batch(SIZES),
    )
    before = network(batch)
    for step in (1, 2, 3):
        known = batch.known.clone()
        known[:, SIZES.context + step :] += 5
        after = network(batch._replace(known=known))
        torch.testing.assert_close(after[:, :step], before[:, :step], atol=1e-6, rtol=1e-6)
        assert (after[:, step] - before[:, step]).abs().max() > 1e-3


def test_distilling_halves_the_memory(make_batch):
    network = Informer(**TINY, encoder_layers=3, distilling=True).build(SIZES, Point())
    memory, _ = network.encoder(torch.randn(2, 6, 8))
    assert memory.shape == (2, 2, 8)
    network = Informer(**TINY, encoder_layers=3, distilling=False).build(SIZES, Point())
    memory, _ = network.encoder(torch.randn(2, 6, 8))
    assert memory.shape == (2, 6, 8)


def test_sparse_attention_that_keeps_everything_is_exact(build, make_batch):
    sizes = Sizes(context=20, horizon=4)
    exact = build(Informer(**TINY, exact_below=1000), sizes, Point())
    sparse = build(Informer(**TINY, exact_below=0, factor=100), sizes, Point())
    sparse.load_state_dict(exact.state_dict())
    batch = make_batch(sizes, gaps=True)
    torch.testing.assert_close(sparse(batch), exact(batch), atol=1e-5, rtol=1e-5)


def test_sparse_attention_that_leaves_something_out_is_another(build, make_batch):
    sizes = Sizes(context=60, horizon=4)
    exact = build(Informer(**TINY, exact_below=1000), sizes, Point())
    sparse = build(Informer(**TINY, exact_below=0, factor=1), sizes, Point())
    sparse.load_state_dict(exact.state_dict())
    batch = make_batch(sizes)
    assert not torch.allclose(sparse(batch), exact(batch), atol=1e-5)


@pytest.mark.parametrize("sampling", ["shared", "per_query"])
def test_training_draws_from_the_current_generator_alone(sampling, build, make_batch):
    sizes = Sizes(context=60, horizon=4)
    network = build(Informer(**TINY, exact_below=0, factor=1, sampling=sampling), sizes, Point())
    network.train()
    batch = make_batch(sizes)

    def supervised(seed):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return network.supervise(batch)[0]

    assert torch.equal(supervised(1), supervised(1))
    assert not torch.equal(supervised(1), supervised(2))


def test_batch_norm_is_there_for_the_paper(build, make_batch):
    network = build(Informer(**TINY, distilling_norm="batch"), SIZES, Point())
    assert any(isinstance(part, torch.nn.BatchNorm1d) for part in network.modules())
    assert network(make_batch(SIZES)).isfinite().all()


@pytest.mark.parametrize("start", [0, 6])
def test_the_decoder_starts_within_the_context(start, build, make_batch):
    network = build(Informer(**TINY, start=start), SIZES, Point())
    assert network(make_batch(SIZES)).shape == (5, 4, 2, 1)


def test_a_start_before_the_context_is_refused():
    with pytest.raises(ParameterError, match="start must be at most the context, 6"):
        Informer(start=7).build(SIZES, Point())


@pytest.mark.parametrize(
    ("wrong", "message"), [({"kernel": 2}, "kernel=2 must be odd"), ({"n_heads": 3}, "heads=3")]
)
def test_parameters_that_do_not_fit_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        Informer(**{**TINY, **wrong}).build(SIZES, Point())


@pytest.mark.parametrize(
    "wrong",
    [{"d_model": 0}, {"dropout": 1.0}, {"factor": 0}, {"start": -1}, {"kernel": 0}],
    ids=str,
)
def test_parameters_out_of_range_are_refused_by_check(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Informer(**{**TINY, **wrong}).check()


def test_the_paper_is_a_parameter_setting(make_batch):
    paper = Informer(
        d_model=16,
        n_heads=8,
        d_ff=64,
        skip=False,
        distilling_norm="batch",
        sampling="per_query",
        exact_below=0,
    )
    assert paper.build(SIZES, Point())(make_batch(SIZES)).shape == (5, 4, 2, 1)
