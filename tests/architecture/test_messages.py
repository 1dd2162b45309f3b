"""Messages are written, never read: what an error is about and how to mend it are data."""

import ast
from pathlib import Path

import pytest

CLI = Path(__file__).resolve().parents[2] / "tsformer" / "cli"
MESSAGES = {"error", "finding", "message", "problem", "refused", "said", "warning"}
READERS = {"sub", "search", "match", "fullmatch", "findall", "finditer", "split", "partition"}
READERS |= {"startswith", "endswith", "replace", "find", "index"}


@pytest.mark.parametrize("path", sorted(CLI.glob("*.py")), ids=lambda path: path.stem)
def test_the_command_line_takes_no_message_apart(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute) and call.func.attr in READERS and call.args:
            read = [call.func.value, *call.args]
            names = {one.id for node in read for one in ast.walk(node) if isinstance(one, ast.Name)}
            assert not names & MESSAGES, f"{path.name}:{call.lineno} reads a message"


def test_how_a_command_ends_needs_no_regular_expression() -> None:
    tree = ast.parse((CLI / "exits.py").read_text(encoding="utf-8"))
    imported = {
        one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names
    }
    assert "re" not in imported
