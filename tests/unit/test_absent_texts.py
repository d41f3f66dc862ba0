"""Assertions that a text is absent: they must be able to fail.

``assert "Left out" not in output`` passes for ever once the message is "Omitted". So each text that
a test declares absent must exist: in the code, a template, or another string of the tests, best in
an assertion that it is present where it should be.
"""

from __future__ import annotations

import ast

import pytest
from harness import REPOSITORY

#: Files of `src` and `workflow` whose text can reach a user.
TEXT_FILES = (".css", ".html", ".j2", ".js", ".py", ".smk", ".yaml")


def text_of(node: ast.AST) -> str:
    """Text of a string or of bytes; empty for anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Constant(value=bytes(data)):
            return data.decode("latin-1")
    return ""


def texts_of(program: str) -> tuple[list[str], list[str]]:
    """Strings on the left of `not in` in assertions, and all others except docstrings."""
    nodes = list(ast.walk(ast.parse(program)))
    absent = [
        part
        for statement in nodes
        if isinstance(statement, ast.Assert)
        for node in ast.walk(statement)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn)
        for part in ast.walk(node.left)
        if text_of(part)
    ]
    docstrings = [node.value for node in nodes if isinstance(node, ast.Expr)]
    skipped = set(map(id, [*docstrings, *absent]))
    present = [text_of(node) for node in nodes if id(node) not in skipped]
    return list(map(text_of, absent)), present


def asleep(programs: dict[str, str], produced: str) -> list[str]:
    """Texts that tests declare absent, and that neither `produced` nor the tests contain."""
    texts = {name: texts_of(program) for name, program in programs.items()}
    known = "\0".join([produced, *(text for _, present in texts.values() for text in present)])
    return [
        f"{name}: {text!r}"
        for name, (absent, _) in texts.items()
        for text in absent
        if text not in known
    ]


def test_absent_texts_exist_elsewhere() -> None:
    def read(*folders: str) -> dict[str, str]:
        paths = [path for folder in folders for path in sorted((REPOSITORY / folder).rglob("*.*"))]
        return {
            path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8")
            for path in paths
            if path.suffix in TEXT_FILES
        }

    tests = {name: text for name, text in read("tests").items() if name.endswith(".py")}
    assert len(tests) > 300
    assert asleep(tests, "\0".join(read("src", "workflow").values())) == []


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ('assert "Left out" not in output', ["a.py: 'Left out'"]),
        ('assert b"Left out" not in output', ["a.py: 'Left out'"]),
        ('def test():\n    "Left out."\n    assert "Left out" not in output', ["a.py: 'Left out'"]),
        ('assert "Omitted" not in output', []),
        ('assert "Left out" in first\nassert "Left out" not in second', []),
    ],
)
def test_asleep_renamed_message(test: str, expected: list[str]) -> None:
    assert asleep({"a.py": test}, "Omitted, since") == expected
