"""Kinds of files, by their first line."""

import pytest

from everycell.base.file_kinds import recognise_text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b"q1 Q0 d1 1 2.5 bm25\n", "run"),
        (b"q1 0 d1 1\n", "qrels"),
        (b'{"id": "d1", "text": "owls"}\n', "texts"),
        (b"she,female\n", None),
    ],
)
def test_recognise_text_first_line(text, kind):
    assert recognise_text(text) == kind
