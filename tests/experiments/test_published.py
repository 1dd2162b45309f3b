import pytest

from tsformer.errors import ParameterError
from tsformer.experiments import read_published

TEXT = """
metrics = ["scaled_mse", "scaled_mae"]

[[published]]
name = "A"
source = "A book"
caveat = "Other windows."
[published.scores.etth1]
24 = [0.5, 0.25]
48 = [0.75]

[[published]]
name = "B"
source = "A page"
caveat = "None."
[published.scores.etth2]
24 = [1, 2]
"""


def read(tmp_path, text):
    path = tmp_path / "printed.toml"
    path.write_text(text, encoding="utf-8")
    return read_published(path)


def test_numbers_stand_under_their_metrics_and_what_was_not_printed_is_absent(tmp_path):
    first, second = read(tmp_path, TEXT)
    assert (first.name, first.source, first.caveat) == ("A", "A book", "Other windows.")
    assert first.scores["etth1", 24] == {"scaled_mse": 0.5, "scaled_mae": 0.25}
    assert first.scores["etth1", 48] == {"scaled_mse": 0.75}
    assert second.scores == {("etth2", 24): {"scaled_mse": 1.0, "scaled_mae": 2.0}}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[0.75]", "[1, 2, 3]", "etth1/48 holds 3 numbers for scaled_mse, scaled_mae"),
        ("[0.75]", "[]", "etth1/48 holds 0 numbers"),
        ("[0.75]", '["much"]', "could not convert string to float: 'much'"),
        ("scaled_mae", "scaled_maee", "did you mean 'scaled_mae'"),
        ("source =", "sauce =", "sauce"),
        ('caveat = "None."', "", "caveat"),
        ("[[published]]", "[[published", "not TOML"),
        ("48 =", "soon =", "soon"),
    ],
)
def test_what_is_no_list_of_printed_numbers_is_refused(tmp_path, old, new, said):
    with pytest.raises(ParameterError, match=r"printed\.toml: ") as caught:
        read(tmp_path, TEXT.replace(old, new))
    assert said in str(caught.value)
