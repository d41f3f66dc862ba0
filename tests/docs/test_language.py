"""The words of the documentation: docs/check_language.py and its list of banned phrases."""

import importlib.util
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location(
    "check_language", REPOSITORY / "docs/check_language.py"
)
check_language = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_language)
PHRASES = list(check_language.read_phrases(check_language.BANNED.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# Title\n\nEach cell is compared with the\nprinted value.\n", [4]),
        ("A stand-in, and a model\nas it comes.\n", [1, 2]),
        (
            "`stand-in`\n\n```\nstand-in\n```\n\n<!-- stand-in -->\n[a](stand-in.md)\n",
            [],
        ),
        ("The published value, on surrogate data.\n", []),
    ],
)
def test_a_banned_phrase_is_found_in_prose_alone(text, lines):
    assert sorted(line for line, _ in check_language.faults(text, PHRASES)) == lines


def test_the_pages_have_none():
    files = check_language.checked_files(check_language.BANNED.read_text(encoding="utf-8"))
    assert REPOSITORY / "README.md" in files
    for path in files:
        assert not list(check_language.faults(path.read_text(encoding="utf-8"), PHRASES)), path
