import pytest
import torch

from tsformer.errors import ParameterError
from tsformer.nn import PatchEmbedding, cut_patches, patch_count

CUTS = [(1, 1), (3, 1), (3, 2), (4, 4), (16, 8)]
each_cut = pytest.mark.parametrize(("patch", "stride"), CUTS)


@each_cut
@pytest.mark.parametrize("length", [1, 2, 3, 7, 16, 17, 40])
def test_the_count_is_that_of_the_paper(patch, stride, length):
    count = patch_count(length, patch=patch, stride=stride)
    if length >= patch:
        assert count == (length - patch) // stride + 2
    assert cut_patches(torch.zeros(2, length, 3), patch=patch, stride=stride).shape == (
        *(2, count),
        *(3, patch),
    )


@each_cut
@pytest.mark.parametrize("length", [1, 5, 20])
def test_every_step_lies_in_a_patch_at_its_place(patch, stride, length):
    steps = torch.arange(length).reshape(1, length, 1)
    cut = cut_patches(steps, patch=patch, stride=stride)[0, :, 0]
    begins = torch.arange(len(cut))[:, None] * stride
    assert torch.equal(cut, (begins + torch.arange(patch)).clamp(max=length - 1))
    assert set(cut.flatten().tolist()) == set(range(length))


def test_masks_and_codes_are_cut_alike():
    mask = torch.tensor([True, False, False]).reshape(1, 3, 1)
    cut = cut_patches(mask, patch=2, stride=2)
    assert cut.dtype == torch.bool
    assert cut[0, :, 0].tolist() == [[True, False], [False, False]]
    codes = torch.tensor([4, 5, 6]).reshape(1, 3, 1)
    assert cut_patches(codes, patch=2, stride=2)[0, :, 0].tolist() == [[4, 5], [6, 6]]


def test_the_order_of_steps_in_a_patch_matters():
    embed = PatchEmbedding(1, 8, patch=4, stride=4)
    values = torch.randn(1, 4, 1)
    present = torch.ones_like(values, dtype=torch.bool)
    assert not torch.allclose(embed(values, present), embed(values.flip(1), present))


def test_a_missing_step_is_not_a_zero():
    embed = PatchEmbedding(2, 8, patch=3, stride=2)
    values = torch.zeros(1, 6, 2)
    present = torch.ones_like(values, dtype=torch.bool)
    assert not torch.allclose(embed(values, present), embed(values, ~present))


def test_codes_are_averaged_over_the_patch():
    embed = PatchEmbedding(0, 8, (4,), patch=2, stride=2)
    nothing = torch.zeros(1, 3, 0)
    embedded = embed(nothing, nothing.bool(), torch.tensor([1, 2, 3]).reshape(1, 3, 1))
    rows = embed.codes.tables[0].weight
    torch.testing.assert_close(embedded[0, 0], (rows[1] + rows[2]) / 2)
    torch.testing.assert_close(embedded[0, 1], rows[3])


def test_without_columns_there_is_nothing():
    embed = PatchEmbedding(0, 8, patch=2, stride=2)
    nothing = torch.zeros(3, 5, 0)
    assert embed(nothing, nothing.bool()).eq(0).all()
    assert not list(embed.parameters())


@pytest.mark.parametrize(("patch", "stride"), [(2, 3), (2, 0), (0, 0)])
def test_a_stride_that_leaves_steps_out_is_refused(patch, stride):
    with pytest.raises(ParameterError, match=f"stride={stride} must be .* patch={patch}"):
        PatchEmbedding(1, 8, patch=patch, stride=stride)
