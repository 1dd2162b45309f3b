import io
import re

import pandas as pd
import pytest

from tsformer.datasets import Recipe, dataset_names, read_recipe
from tsformer.datasets.catalog import read_card
from tsformer.datasets.recipe import TimeColumn
from tsformer.errors import DatasetError, MissingDependency

NOT_SERVED = ("epf_be", "epf_np", "epf_pjm", "nn5_daily", "carparts", "walmart")

WIDE = """
wide = { series = "series", step = "step", value = "value" }
time = { column = "step" }
columns = { series = { role = "series" }, value = { role = "target" } }
"""


@pytest.mark.parametrize("name", dataset_names())
class TestEveryRecipe:
    def test_says_what_a_user_must_know(self, name: str) -> None:
        recipe = read_recipe(name)
        assert recipe.name == name
        assert re.fullmatch(r"NOASSERTION|[A-Za-z0-9.+-]+", recipe.license)
        assert recipe.title and recipe.citation and recipe.homepage.startswith("https://")
        assert recipe.license != "NOASSERTION" or recipe.license_note
        assert all(column.meaning for column in recipe.columns.values())
        assert bool(recipe.splits) != bool(recipe.horizon)

    def test_files_can_be_found_and_checked(self, name: str) -> None:
        recipe = read_recipe(name)
        for file in recipe.files:
            assert len(file.sha256) == 64 and file.size > 0
            assert file.url or recipe.bundled or name in NOT_SERVED

    def test_splits_fit_the_rows(self, name: str) -> None:
        recipe = read_recipe(name)
        for split in recipe.splits.values():
            assert 0 < split.train + split.validation + split.test <= recipe.rows

    def test_card_cites_and_names_the_licence(self, name: str) -> None:
        card = read_card(name)
        assert card.startswith(f"# {name}\n")
        assert "**Cite:**" in card and "**Licence:**" in card

    def test_schema_is_valid(self, name: str) -> None:
        schema = read_recipe(name).schema()
        schema.check()
        assert schema.target
        assert (schema.time is None) == (name in ("weather", "exchange_rate"))


class TestStrictness:
    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("colour = 'red'", "unknown key 'colour'"),
            ("name = 'other'", "remove the key 'name'"),
            ("horizon = true", "horizon: True should be int"),
            ("horizon = '48'", "horizon: '48' should be int$"),
            ("drop = [1]", r"drop\[0\]: 1 should be str"),
            ("drop = 'a'", "should be list"),
            ("wide = { series = 's' }", "wide: the key 'step' is missing"),
            ("strip_names = ", "not valid TOML"),
        ],
    )
    def test_a_wrong_key_is_named(self, recipe_text: str, line: str, message: str) -> None:
        with pytest.raises(DatasetError, match=f"Recipe 'shop'.*{message}"):
            Recipe.from_toml("shop", f"{line}\n{recipe_text}")

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('license = "CC0-1.0"', "", "the key 'license' is missing"),
            ('role = "target"', 'role = "goal"', "columns.sales, role: 'goal' should be"),
            ('role = "target"', 'role = "past"', "no column has the role 'target'"),
            ("https://example.org/files", "file:///etc", "must begin with https://"),
            ("https://example.org/files", "http://example.org", "must begin with https://"),
            ('name = "shop.csv"', 'name = "../shop.csv"', "must be a bare file name"),
            ('sha256 = "', 'sha256 = "x', "not 64 hexadecimal digits"),
            ("train = 2", "train = 2.5", "canonical, train: 2.5 should be int"),
            ("test = 1", "tset = 1", "canonical: unknown key 'tset'"),
            ("time = {", "freq_ = {", "unknown key 'freq_'"),
            ("[[files]]", "[files]", "files: .* should be list"),
        ],
    )
    def test_a_wrong_value_is_named(
        self, recipe_text: str, old: str, new: str, message: str
    ) -> None:
        assert old in recipe_text
        with pytest.raises(DatasetError, match=message):
            Recipe.from_toml("shop", recipe_text.replace(old, new))

    def test_files_of_one_row_a_stamp_cannot_be_joined(self, recipe_text: str) -> None:
        second = recipe_text[recipe_text.index("[[files]]") :]
        with pytest.raises(DatasetError, match="only wide files can be joined"):
            Recipe.from_toml("shop", recipe_text + second)


class TestFrame:
    def test_stamps_codes_and_order(self, recipe_text: str, payload: bytes) -> None:
        frame = Recipe.from_toml("shop", recipe_text).frame([payload])
        assert list(frame.columns) == ["day", "sales"]
        assert frame["day"].tolist() == list(pd.date_range("2024-01-01", periods=3))
        assert frame["sales"].isna().tolist() == [False, True, False]

    def test_only_declared_codes_become_gaps(self, recipe_text: str) -> None:
        text = recipe_text.replace('missing = ["NA"]', 'missing = ["-9999"]')
        frame = Recipe.from_toml("shop", text).frame([b"day,sales\n2024-01-01,NA\n"])
        assert frame["sales"].tolist() == ["NA"]

    def test_strip_drop_and_rename(self, recipe_text: str) -> None:
        text = 'strip_names = true\ndrop = ["No"]\nrename = { OT = "sales" }' + recipe_text
        frame = Recipe.from_toml("shop", text).frame([b"No, day , OT\n1,2024-01-01,3\n"])
        assert list(frame.columns) == ["day", "sales"]

    def test_compose_uses_its_columns_up(self, recipe_text: str) -> None:
        composed = 'time = { column = "day", compose = ["year", "month", "day", "hour"] }'
        text = re.sub(r"time = .*", composed, recipe_text)
        frame = Recipe.from_toml("shop", text).frame(
            [b"year,month,day,hour,sales\n2010,1,2,23,7\n"]
        )
        assert frame["day"].tolist() == [pd.Timestamp("2010-01-02 23:00")]
        assert list(frame.columns) == ["day", "sales"]

    def test_compose_with_a_format_joins_text(self, recipe_text: str) -> None:
        composed = 'time = { column = "time", compose = ["day", "hr"], format = "%d.%m.%Y %H" }'
        text = re.sub(r"time = .*", composed, recipe_text)
        frame = Recipe.from_toml("shop", text).frame([b"day,hr,sales\n2.1.2011,7,5\n"])
        assert frame["time"].tolist() == [pd.Timestamp("2011-01-02 07:00")]
        assert list(frame.columns) == ["time", "sales"]

    def test_join_makes_a_name_and_keeps_its_parts(self, recipe_text: str) -> None:
        text = 'join = { series = ["shop", "item"] }\ndrop = ["item"]\n' + recipe_text.replace(
            "columns = {", 'columns = { series = { role = "series" }, shop = { role = "static" },'
        )
        frame = Recipe.from_toml("shop", text).frame(
            [b"day,shop,item,sales\n2024-01-01,a,7,1\n2024-01-01,b,7,2\n"]
        )
        assert list(frame.columns) == ["series", "day", "shop", "sales"]
        assert frame["series"].tolist() == ["a/7", "b/7"]

    def test_join_names_a_column_that_is_not_there(self, recipe_text: str) -> None:
        text = 'join = { series = ["shop", "item"] }\n' + recipe_text
        with pytest.raises(DatasetError, match=r"no columns \['item', 'shop'\]"):
            Recipe.from_toml("shop", text).frame([b"day,sales\n2024-01-01,1\n"])

    def test_time_is_the_row(self, recipe_text: str) -> None:
        text = re.sub(r"time = .*", 'time = "row"\ndrop = ["day"]', recipe_text)
        recipe = Recipe.from_toml("shop", text)
        assert recipe.time == "row"
        assert list(recipe.frame([b"day,sales\nx,1\nx,2\n"]).columns) == ["sales"]
        assert recipe.schema().time is None and recipe.schema().freq is None

    def test_wide_files_continue_each_series(self, recipe_text: str) -> None:
        text = re.sub(r"(time|columns|splits) = .*\n", "", recipe_text)
        recipe = Recipe.from_toml("shop", WIDE + text.replace('["NA"]', '[""]'))
        frame = recipe.frame([b"V1,V2,V3\nB,1,2\nA,5,\n", b"V1,V2\nB,3\nA,6\n"])
        assert frame.to_dict("list") == {
            "series": ["B", "B", "B", "A", "A"],
            "step": [1, 2, 3, 1, 2],
            "value": [1.0, 2.0, 3.0, 5.0, 6.0],
        }

    def test_a_column_nobody_declared_is_an_error(self, recipe_text: str) -> None:
        with pytest.raises(DatasetError, match=r"disagree on columns \['extra'\]"):
            Recipe.from_toml("shop", recipe_text).frame([b"day,sales,extra\n2024-01-01,1,2\n"])

    def test_a_lost_column_is_an_error(self, recipe_text: str) -> None:
        with pytest.raises(DatasetError, match=r"disagree on columns \['sales'\]"):
            Recipe.from_toml("shop", recipe_text).frame([b"day\n2024-01-01\n"])


class TestParquet:
    @pytest.fixture
    def packed(self) -> bytes:
        pytest.importorskip("pyarrow")
        stream = io.BytesIO()
        days = pd.date_range("2024-01-01", periods=3)
        frame = pd.DataFrame({"day": days, "sales": [3.0, None, 5.0]}, index=[2, 0, 1])
        frame.to_parquet(stream)
        return stream.getvalue()

    def test_is_known_by_its_first_bytes(self, recipe_text: str, packed: bytes) -> None:
        text = recipe_text.replace(', format = "%Y-%m-%d"', "")
        frame = Recipe.from_toml("shop", text).frame([packed])
        assert frame["day"].tolist() == list(pd.date_range("2024-01-01", periods=3))
        assert frame["sales"].isna().tolist() == [False, True, False]
        assert frame.index.equals(pd.RangeIndex(3))

    def test_without_pyarrow_the_extra_is_named(
        self, recipe_text: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def absent(*arguments: object, **options: object) -> None:
            raise ImportError("no pyarrow")

        monkeypatch.setattr(pd, "read_parquet", absent)
        with pytest.raises(MissingDependency, match=r"shop: .*pip install 'tsformer\[scale\]'"):
            Recipe.from_toml("shop", recipe_text).frame([b"PAR1 and so on"])


def test_roles_become_the_schema() -> None:
    schema = read_recipe("beijing_air").schema()
    assert (schema.target, schema.time, schema.freq) == ("pm2.5", "time", "h")
    assert tuple(schema.past) == ("DEWP", "TEMP", "PRES", "cbwd", "Iws", "Is", "Ir")
    assert tuple(read_recipe("epf_np").schema().known) == ("load_forecast", "wind_forecast")
    assert read_recipe("m4_hourly").schema().series == "series"
    assert read_recipe("stallion").schema().static[:2] == ("agency", "sku")
    assert isinstance(read_recipe("etth1").time, TimeColumn)
