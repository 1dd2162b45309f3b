import numpy as np
import pandas as pd
import pytest

from tsformer import SeasonalNaive
from tsformer.errors import WrongType
from tsformer.panels import Policy, Schema
from tsformer.reading import read_panel, write_frame


def frame(ids=("b", "b", "b", "a", "a", "a")):
    days = pd.date_range("2024-01-01", periods=3)
    return pd.DataFrame(
        {"unique_id": pd.Series(list(ids)), "ds": [*days, *days], "y": np.arange(6.0)}
    )


def kinds():
    pa = pytest.importorskip("pyarrow")
    return {
        "object": object,
        "str": "str",
        "string": "string",
        "string[python]": "string[python]",
        "string[pyarrow]": "string[pyarrow]",
        "arrow string": pd.ArrowDtype(pa.string()),
        "arrow large string": pd.ArrowDtype(pa.large_string()),
        "arrow dictionary": pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
        "category": "category",
        "ordered category": pd.CategoricalDtype(["c", "b", "a"], ordered=True),
        "category of string": pd.CategoricalDtype(pd.array(["b", "a"], dtype="string")),
    }


NUMBERS = ["int8", "int32", "int64", "uint16", "Int64", "int64[pyarrow]", "category", "object"]


@pytest.mark.parametrize("kind", list(kinds()))
def test_text_is_text(kind):
    plain = read_panel(frame())
    other = frame().astype({"unique_id": kinds()[kind]})
    assert read_panel(other).index.ids.equals(plain.index.ids)
    read = read_panel(other, like=plain)
    assert read.index.ids.equals(plain.index.ids)
    assert read.index.starts.tolist() == [0, 3, 6]
    assert read_panel(frame(), like=read_panel(other)).index.ids.equals(plain.index.ids)
    back = write_frame(read_panel(other))
    assert back["unique_id"].astype(object).tolist() == list("aaabbb")
    indexed = other.set_index(["unique_id", "ds"])
    assert read_panel(indexed).index.ids.equals(plain.index.ids)
    made = SeasonalNaive(horizon=1).fit(frame()).predict(other)
    assert made["unique_id"].astype(object).tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_numbers(kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    plain = frame((10, 10, 10, 9, 9, 9))
    panel = read_panel(plain)
    assert panel.index.ids.tolist() == [9, 10]
    read = read_panel(plain.astype({"unique_id": kind}), like=panel)
    assert read.index.ids.equals(panel.index.ids)
    assert read.target.values[:, 0].tolist() == [3, 4, 5, 0, 1, 2]


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (["a", 1, "a", 1, "a", 1], "int and str"),
        (["a", None, "a", "b", "b", "b"], "no name in row 1"),
        ([1.0, np.nan, 1.0, 2.0, 2.0, 2.0], "no name in row 1"),
        ([1.5, 1.5, 1.5, 2.5, 2.5, 2.5], "float"),
        ([True, True, True, False, False, False], "bool"),
        (pd.Categorical(["a", None, "a", "b", "b", "b"]), "no name in row 1"),
        (pd.array(["a", None, "a", "b", "b", "b"], dtype="string"), "no name in row 1"),
        (pd.array([1, None, 1, 2, 2, 2], dtype="Int64"), "no name in row 1"),
        (pd.Categorical(["a", 1, "a", 1, "a", 1]), "int and str"),
    ],
)
def test_no_names(ids, found):
    data = frame().set_index("ds").assign(unique_id=ids)
    with pytest.raises(WrongType, match=f"'unique_id'.*{found}"):
        read_panel(data.reset_index(), read_panel(frame()).schema)


def test_numbers_are_not_text():
    for one, other in ((frame((1,) * 3 + (2,) * 3), frame(list("111222"))),):
        with pytest.raises(WrongType, match=r"'1' \(text\) here, but 1 \(number\) in fit"):
            read_panel(other, like=read_panel(one))
        with pytest.raises(WrongType, match=r"1 \(number\) here, but '1' \(text\) in fit"):
            read_panel(one, like=read_panel(other))


def test_names_that_fit_has_not_seen():
    model = SeasonalNaive(horizon=2).fit(frame())
    new = frame(("b", "b", "b", "new", "new", "new"))
    made = model.predict(new)
    assert made["unique_id"].tolist() == ["b", "b", "new", "new"]
    assert made["y"].notna().all()


@pytest.mark.parametrize("kind", list(kinds()))
def test_words_are_words(kind):
    days = pd.date_range("2024-01-01", periods=4)
    data = pd.DataFrame({"y": 1.0, "sky": pd.Series(["b", "a", None, "b"]).to_numpy()}, index=days)
    data = data.astype({"sky": "str"}).astype({"sky": kinds()[kind]})
    schema = Schema(target="y", past="sky")
    panel = read_panel(data, schema, Policy(missing="mask"))
    assert panel.past.codes[:, 0].tolist() == [2, 1, 0, 2]
    assert panel.categories["sky"][:2] == ("a", "b")  # a category that is not used has a code, too
