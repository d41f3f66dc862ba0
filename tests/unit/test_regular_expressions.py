"""Every regular expression that meets texts from elsewhere takes linear time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import regular_expressions
from regular_expressions import hard_texts

from everycell.text.tokenise import tokeniser

PROGRAM = Path(regular_expressions.__file__)
#: Files with expressions that take quadratic time on some text. They meet answers of models, of at
#: most 8 MB, texts of documents, cells of an author's own table, or files of the project itself.
NOT_LINEAR = (
    "everycell/cli/importing/values.py",
    "everycell/rag/citation_contexts.py",
    "everycell/rag/citation_marks.py",
    "everycell/rag/cited_sentences.py",
    "everycell/rag/interventions.py",
    "everycell/receipts/imports.py",
    "everycell/receipts/receipts.py",
    "everycell/records/cells.py",
    "everycell/render/page/differences.py",
    "everycell/text/gender_swap.py",
    "everycell/workflow/debugging.py",
    "everycell/workflow/perturbed_tables.py",
    "papers/abolghasemi2026/ch2_docstrings.py",
)


def apply(*left_out: str) -> str:
    """Apply the expressions in another process; return the last one that was begun, if it hangs."""
    try:
        done = subprocess.run(
            [sys.executable, str(PROGRAM), *left_out],
            capture_output=True,
            text=True,
            check=False,
            # A quadratic expression takes hours.
            timeout=500,
        )
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode().splitlines()[-1]
    assert not done.returncode, done.stderr
    return ""


@pytest.mark.slow
def test_regular_expressions_linear():
    assert apply(*NOT_LINEAR) == ""


@pytest.mark.parametrize(
    ("pattern", "text"),
    [(r"a+$", "a"), (r"\s*\n", " "), (r"\d+\.?\d*x", "1")],
)
def test_hard_texts_repeat_what_a_pattern_repeats(pattern, text):
    assert any(hard.startswith(text * 1000) for hard in hard_texts(pattern, 0))


@pytest.mark.parametrize("name", ["SA", "STM1", "STM2"])
@pytest.mark.parametrize(
    "part",
    ["\u200d", "\u0301", "_", "a_", "a'", "1,", "\U0001f600\u200d", "\U0001f1e6", "\U0001f3fb"],
)
def test_tokeniser_long_run(name, part):
    """In quadratic time, this would take minutes each."""
    assert len(tokeniser(name)([part * 100_000])) == 1
