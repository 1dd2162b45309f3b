import pytest
import torch
from torch.nn import functional

from tsformer.errors import ParameterError
from tsformer.heads import Point

RAW, TARGET = (
    torch.randn(4, 3, 2, 1, generator=torch.Generator().manual_seed(0)),
    torch.randn(4, 3, 2, generator=torch.Generator().manual_seed(1)),
)


@pytest.mark.parametrize(
    ("head", "reference"),
    [
        (Point(), functional.l1_loss),
        (Point("absolute"), functional.l1_loss),
        (Point("squared"), functional.mse_loss),
        (Point("huber", delta=0.3), lambda a, b: functional.huber_loss(a, b, delta=0.3)),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_the_loss_is_that_of_torch(head, reference):
    found = head.loss(RAW, TARGET, torch.ones_like(TARGET))
    torch.testing.assert_close(found, reference(RAW[..., 0], TARGET))


def test_huber_is_squared_near_and_absolute_far():
    head, raw = Point("huber", delta=1.0), torch.zeros(1, 2, 1, 1)
    found = head.loss(raw, torch.tensor([[[0.5], [3.0]]]), torch.ones(1, 2, 1))
    assert found.item() == pytest.approx((0.5 * 0.25 + 2.5) / 2)


def test_there_are_no_quantiles_and_the_message_says_what_to_do():
    with pytest.raises(ParameterError, match=r"head=Quantiles\(\)"):
        Point().quantiles(RAW, [0.5])
    assert Point().quantiles(RAW, []).shape == (4, 3, 2, 0)


@pytest.mark.parametrize("wrong", [{"kind": "cubic"}, {"delta": 0.0}, {"delta": -1.0}])
def test_wrong_parameters_are_refused_by_check(wrong):
    head = Point().set_params(**wrong)  # construction is type-checked under test
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        head.check()
