"""The guide to attention names tests and functions that exist, the same in both languages."""

import ast
import re
from pathlib import Path

import pytest

import tsformer.nn

TOP = Path(__file__).resolve().parents[2]
PAGES = [TOP / "docs" / "guide" / name for name in ("attention.md", "attention.ko.md")]


def code(page: Path) -> list[str]:
    """Fenced blocks and equations, in their order."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```.*?^```$|^ {4}[^\n]*$", text, re.MULTILINE | re.DOTALL)


def named_tests(page: Path) -> list[str]:
    return re.findall(r"`(tests/\S+?::\S+?)`", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", named_tests(PAGES[0]))
def test_the_tests_it_names_exist(name: str) -> None:
    path, *parts = name.split("::")
    scope: ast.AST = ast.parse((TOP / path).read_text(encoding="utf-8"))
    for part in parts:
        inside = {getattr(node, "name", None): node for node in ast.iter_child_nodes(scope)}
        assert part in inside, f"{name}: there is no {part}"
        scope = inside[part]


def test_the_functions_it_names_are_public() -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    lines = re.findall(r"^- (?:Function|Class|Part)\S*(?: and parts)?: .*$", text, re.MULTILINE)
    names = {name for line in lines for name in re.findall(r"`([A-Za-z_]+)(?:\(.*?\))?`", line)}
    assert len(names) > 15 and names <= set(tsformer.nn.__all__)


def test_both_languages_say_the_same() -> None:
    english, korean = PAGES
    assert code(english) == code(korean)
    assert named_tests(english) == named_tests(korean)
