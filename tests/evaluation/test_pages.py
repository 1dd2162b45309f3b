import json

import pytest

from tsformer.evaluation.pages import write_page


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "ask-quick.json"
    held = {
        "question": "Why?",
        "command": "python experiments/ask.py --quick",
        "versions": {"python": "3.11.7", "torch": "2.13.0"},
        "seeds": [0, 1],
        "tables": {
            "toy": [{"model": "Linear", "mae": 0.123456}, {"model": "Drift", "mae": None}],
            "wide": [{"model": "A", **{f"m{at}": at / 2 for at in range(20)}}],
            "long": [{"row": at} for at in range(40)],
        },
        "facts": {"best": {"d_model": 8, "rate": 0.001234567}, "many": list(range(200))},
        "seconds": 1234.5,
    }
    path.write_text(json.dumps(held), encoding="utf-8")
    return path


def test_a_page_shows_question_tables_facts_and_where_they_come_from(record):
    page = write_page(record)
    text = page.read_text(encoding="utf-8")
    assert page.name == "ask-quick.md" and text.startswith("# ask-quick\n\nWhy?\n")
    assert "| model | mae |\n|---|--:|\n| Linear | 0.1235 |\n| Drift | - |\n" in text
    assert "- best: d_model 8, rate 0.001235\n" in text
    assert "- `python experiments/ask.py --quick`, 1,234 s, seeds 0, 1;" in text
    assert "- python 3.11.7, torch 2.13.0\n" in text
    assert "png" not in text


def test_a_page_stays_short(record):
    record.with_suffix(".png").touch()
    text = write_page(record).read_text(encoding="utf-8")
    assert "| 29 |\n\n10 more rows are in [ask-quick.json](ask-quick.json).\n" in text
    assert max(map(len, text.splitlines())) < 200
    assert "![ask-quick](ask-quick.png)" in text


def test_a_wide_table_is_turned_on_its_side(record):
    assert "| model | A |\n|---|--:|\n| m0 | 0 |\n| m1 | 0.5 |\n" in write_page(record).read_text()
