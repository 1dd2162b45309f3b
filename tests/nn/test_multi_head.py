import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.nn import (
    FullAttention,
    KeyValueCache,
    MultiHeadAttention,
    ProbSparse,
    RelativeBias,
    RotaryPositions,
    SinusoidalPositions,
    attention_weights,
    full_attention,
)


class TestMultiHeadAttention:
    def attention(self, heads=2, **parts):
        torch.manual_seed(0)
        return MultiHeadAttention(6, heads, attend=FullAttention(), **parts).double().eval()

    def test_heads_are_consecutive_columns(self):
        attention, steps = self.attention(), torch.randn(2, 5, 6, dtype=torch.float64)
        parts = []
        for head in range(2):
            columns = slice(3 * head, 3 * head + 3)
            q, k, v = (
                project(steps)[:, None, :, columns]
                for project in (attention.query, attention.key, attention.value)
            )
            parts.append(full_attention(q, k, v)[:, 0])
        expected = attention.output(torch.cat(parts, -1))
        torch.testing.assert_close(attention(steps), expected)

    def test_self_attention_is_attention_to_itself(self):
        attention, steps = self.attention(), torch.randn(2, 5, 6, dtype=torch.float64)
        torch.testing.assert_close(attention(steps), attention(steps, steps))

    def test_hidden_keys_change_nothing(self):
        attention = self.attention()
        queries, keys = torch.randn(2, 4, 6).double(), torch.randn(2, 5, 6).double()
        key_mask = torch.tensor([[True] * 3 + [False] * 2, [True] * 5])
        before = attention(queries, keys, key_mask=key_mask)
        keys[0, 3:] = 1e3
        assert attention(queries, keys, key_mask=key_mask).equal(before)

    @pytest.mark.parametrize("masked", [False, True])
    def test_steps_with_a_cache_equal_the_whole(self, masked):
        attention, steps = self.attention(), torch.randn(2, 5, 6, dtype=torch.float64)
        mask = torch.ones(2, 5, dtype=torch.bool)
        mask[0, :2] = False
        whole = attention(steps, causal=True, key_mask=mask if masked else None)
        cache, parts = KeyValueCache(), []
        for start, stop in ((0, 2), (2, 3), (3, 5)):
            seen = mask[:, :stop] if masked else None
            part = attention(steps[:, start:stop], causal=True, key_mask=seen, cache=cache)
            parts.append(part)
            assert len(cache) == stop
        torch.testing.assert_close(torch.cat(parts, 1), whole)

    def test_cross_attention_projects_the_memory_once(self):
        attention, cache = self.attention(), KeyValueCache()
        queries, memory = torch.randn(2, 1, 6).double(), torch.randn(2, 5, 6).double()
        first = attention(queries, memory, cache=cache)
        assert attention(queries, memory * 0, cache=cache).equal(first)
        assert len(cache) == 5

    @pytest.mark.parametrize("attend", [FullAttention(), ProbSparse(1, exact_below=0)])
    @pytest.mark.parametrize("masked", [False, True])
    @pytest.mark.parametrize("causal", [False, True])
    def test_the_last_to_ask_get_what_they_get_among_all(self, attend, masked, causal):
        torch.manual_seed(0)
        rotate = RotaryPositions()
        attention = MultiHeadAttention(8, 2, attend=attend, rotate=rotate).double().eval()
        steps, time = torch.randn(2, 20, 8).double(), torch.rand(1, 20).double().cumsum(-1)
        given = {"key_mask": torch.rand(2, 20) < 0.6} if masked else {}
        given |= {"causal": causal, "time": time}
        answer = attention(steps, last=7, **given)
        torch.testing.assert_close(answer, attention(steps, **given)[:, -7:])
        weights = attention.weights(steps, last=7, **given)
        torch.testing.assert_close(weights, attention.weights(steps, **given)[:, :, -7:])

    def test_the_last_to_ask_relate_to_biased_keys(self):
        attention = MultiHeadAttention(8, 2, attend=FullAttention(), bias=RelativeBias(2))
        torch.nn.init.normal_(attention.bias.weight)
        steps = torch.randn(2, 9, 8)
        torch.testing.assert_close(attention(steps, last=2), attention(steps)[:, -2:])

    def test_heads_must_divide_the_width(self):
        with pytest.raises(ParameterError, match="heads=4 does not divide d_model=6"):
            MultiHeadAttention(6, 4, attend=FullAttention())


PLACES = {
    "positions": lambda: {"positions": SinusoidalPositions()},
    "rotate": lambda: {"rotate": RotaryPositions()},
    "bias": lambda: {"bias": RelativeBias(2)},
    "multiplier": lambda: {"bias": RelativeBias(2, mode="multiply")},
    "all": lambda: {
        "positions": SinusoidalPositions(),
        "rotate": RotaryPositions(),
        "bias": RelativeBias(2),
    },
}


@pytest.mark.parametrize("place", PLACES)
class TestPlaces:
    """Positions on queries, keys and scores."""

    def attention(self, place, attend=None):
        torch.manual_seed(0)
        parts = PLACES[place]()
        made = MultiHeadAttention(6, 2, attend=attend or FullAttention(), **parts).double().eval()
        if made.bias is not None:
            torch.nn.init.normal_(made.bias.weight)
        return made

    def test_order_matters_and_values_do_not_know_it(self, place):
        attention, steps = self.attention(place), torch.randn(2, 5, 6).double()
        swapped = [0, 1, 2, 4, 3]
        assert not attention(steps)[:, :3].allclose(attention(steps[:, swapped])[:, :3])
        same = steps[:, :1].expand(-1, 5, -1)  # equal values: whatever the weights, one answer
        torch.testing.assert_close(attention(same), attention(same)[:, :1].expand(-1, 5, -1))

    def test_without_times_steps_are_numbered(self, place):
        attention, steps = self.attention(place), torch.randn(2, 5, 6).double()
        time = torch.arange(5.0, dtype=torch.float64)
        expected = attention(steps)
        torch.testing.assert_close(attention(steps, time=time[None]), expected)
        torch.testing.assert_close(attention(steps, time=time.expand(2, -1)), expected)
        assert not attention(steps, time=2 * time[None]).allclose(expected)

    def test_each_row_has_its_own_times(self, place):
        attention, steps = self.attention(place), torch.randn(2, 5, 6).double()
        time = torch.tensor([[0, 1, 2, 3, 4], [0, 5, 6, 9, 31]]).double()
        together = attention(steps, time=time)
        for row in range(2):
            alone = attention(steps[[row]], time=time[[row]])
            torch.testing.assert_close(together[[row]], alone)

    @pytest.mark.parametrize("timed", [False, True])
    def test_steps_with_a_cache_equal_the_whole(self, place, timed):
        attention, steps = self.attention(place), torch.randn(2, 5, 6).double()
        time = torch.tensor([[0, 2.5, 3, 7, 8]]).double() if timed else None
        whole = attention(steps, causal=True, time=time)
        cache, parts = KeyValueCache(), []
        for start, stop in ((0, 2), (2, 3), (3, 5)):
            now = time[:, start:stop] if timed else None
            parts.append(attention(steps[:, start:stop], causal=True, cache=cache, time=now))
        torch.testing.assert_close(torch.cat(parts, 1), whole)

    def test_cross_attention_needs_both_times_once(self, place):
        attention, cache = self.attention(place), KeyValueCache()
        queries, memory = torch.randn(2, 2, 6).double(), torch.randn(2, 5, 6).double()
        time, key_time = torch.arange(5.0, 7).double()[None], torch.arange(5.0).double()[None]
        with pytest.raises(ParameterError, match="times of both"):
            attention(queries, memory, time=time)
        whole = attention(queries, memory, time=time, key_time=key_time)
        first = attention(queries[:, :1], memory, time=time[:, :1], key_time=key_time, cache=cache)
        later = attention(queries[:, 1:], memory, time=time[:, 1:], cache=cache)
        torch.testing.assert_close(torch.cat([first, later], 1), whole)

    def test_later_steps_change_nothing_before(self, place):
        attention, steps = self.attention(place), torch.randn(2, 9, 6).double()
        whole = attention(steps, causal=True)
        torch.testing.assert_close(attention(steps[:, :4], causal=True), whole[:, :4])


def test_prob_sparse_rotates_and_takes_no_bias():
    steps = torch.randn(1, 20, 6)
    sparse = ProbSparse(1, exact_below=0).eval()
    assert MultiHeadAttention(6, 2, attend=sparse, rotate=RotaryPositions())(steps).shape == (
        1,
        20,
        6,
    )
    for mode in ("add", "multiply"):
        attention = MultiHeadAttention(6, 2, attend=sparse, bias=RelativeBias(2, mode=mode))
        with pytest.raises(ParameterError, match="ProbSparse takes no bias"):
            attention(steps)


@pytest.mark.parametrize("causal", [False, True])
def test_twenty_thousand_steps(causal):
    attend = ProbSparse().eval()
    attention = MultiHeadAttention(
        4, 2, attend=attend, positions=SinusoidalPositions(), rotate=RotaryPositions()
    )
    with torch.no_grad():
        output = attention(torch.randn(1, 20_000, 4), causal=causal)
    assert output.shape == (1, 20_000, 4) and output.isfinite().all()


class TestWeights:
    @pytest.mark.parametrize("causal", [False, True])
    @pytest.mark.parametrize(
        "attend, mode",
        [
            (FullAttention(0.5), None),
            (FullAttention(0.5), "add"),
            (FullAttention(0.5), "multiply"),
            (ProbSparse(1, exact_below=0), None),
        ],
    )
    def test_times_values_are_the_answer_of_evaluation(self, attend, causal, mode):
        torch.manual_seed(0)
        bias = RelativeBias(2, mode=mode) if mode else None
        attention = MultiHeadAttention(6, 2, attend=attend.train(), bias=bias).double()
        if bias is not None:
            torch.nn.init.normal_(bias.weight)
        steps, mask = torch.randn(2, 30, 6).double(), torch.rand(2, 30) < 0.7
        before = torch.get_rng_state()
        weights = attention.weights(steps, key_mask=mask, causal=causal)
        assert torch.get_rng_state().equal(before) and attend.training
        values = attention.value(steps).unflatten(-1, (2, -1)).transpose(1, 2)
        answer = attention.output((weights @ values).transpose(1, 2).flatten(-2))
        torch.testing.assert_close(answer, attention.eval()(steps, key_mask=mask, causal=causal))

    def test_are_those_of_the_equation(self):
        attention = MultiHeadAttention(6, 2, attend=FullAttention())
        queries, keys = torch.randn(2, 3, 6), torch.randn(2, 5, 6)
        q, k = (
            project(steps).unflatten(-1, (2, -1)).transpose(1, 2)
            for project, steps in ((attention.query, queries), (attention.key, keys))
        )
        torch.testing.assert_close(attention.weights(queries, keys), attention_weights(q, k))
