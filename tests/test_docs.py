"""The examples in the pages run: every ``>>>`` in a fenced block, one namespace a page."""

import doctest
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "datasets/*.md", "experiments/*.md")
    for path in TOP.glob(pattern)
)
FENCED = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[doctest.Example]:
    """The examples of all blocks of a page, each at its line in the page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for block in FENCED.finditer(text):
        for example in doctest.DocTestParser().get_examples(block[1], page.name):
            example.lineno += text.count("\n", 0, block.start(1))
            found.append(example)
    return found


def shown(page: Path) -> str:
    return page.relative_to(TOP).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=shown)
def test_the_examples_of_a_page_run(page: Path) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    test = doctest.DocTest(examples(page), {}, shown(page), str(page), 0, None)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert results.failed == 0, "\n".join(report)


def test_an_example_outside_a_python_block_is_not_overlooked() -> None:
    for page in PAGES:
        written = len(re.findall(r"^>>> ", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert written == len(examples(page)), f"{shown(page)}: fence examples as python"


def test_the_ten_files_to_read_are_there() -> None:
    page = (TOP / "docs" / "contributing.md").read_text(encoding="utf-8")
    named = re.findall(r"^\d+\. `(tsformer/[\w/]+\.py)`: \S.*", page, re.MULTILINE)
    assert len(set(named)) == 10
    assert all((TOP / path).is_file() for path in named)
