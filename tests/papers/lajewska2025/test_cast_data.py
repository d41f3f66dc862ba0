"""Turns of CAsT and their rewrites: readers and their errors."""

import json

import pytest

from everycell.sources import fetch
from papers.lajewska2025.cast_data import FILES, read_rewrites, read_turns

TURNS = [
    {
        "number": 3,
        "turn": [
            {
                "number": 1,
                "raw_utterance": "What is  hail?",
                "manual_rewritten_utterance": "What is hail?",
                "manual_canonical_result_id": "P_1",
            },
            {
                "number": "2-1",
                "raw_utterance": 'Is "it" ice?',
                "manual_rewritten_utterance": "Is hail ice?",
                "canonical_result_id": "D_2",
                "passage": "Ice, in\nlayers.",
            },
        ],
    },
    {"number": "4", "turn": [{"number": 1, "raw_utterance": "Who won?"}]},
]
HEAD = "conversation_id\tturn_id\tid\tquery\toriginal"
ROWS = [
    "3\t1\t3_1\tWhat is hail?\tWhat is hail?\t",
    '3\t2-1\t3_2-1\tIs "hail" ice?\tIs "it" ice?',
    "4\t1\t4_1\tWho won?\tWho won?\t",
]


@pytest.fixture
def topics(tmp_path):
    """Read the topics from a file."""
    path = tmp_path / "topics.json"
    path.write_text(json.dumps(TURNS))
    return read_turns(path)


@pytest.fixture
def rewrites(tmp_path, topics):
    """Read rewrites from a file in the reverse order."""
    path = tmp_path / "rewrites.tsv"
    path.write_text("\n".join([HEAD, *ROWS[::-1]]) + "\n")
    return read_rewrites(path, topics)


def test_read_turns_both_years(topics):
    assert topics.to_dict("list") == {
        "query": ["3_1", "3_2-1", "4_1"],
        "topic": ["3", "3", "4"],
        "utterance": ["What is hail?", 'Is "it" ice?', "Who won?"],
        "manual": ["What is hail?", "Is hail ice?", ""],
        "answer_id": ["P_1", "D_2", ""],
        "answer": ["", "Ice, in layers.", ""],
    }


def test_read_rewrites_order_of_the_turns(rewrites):
    assert list(rewrites.items()) == [
        ("3_1", "What is hail?"),
        ("3_2-1", 'Is "hail" ice?'),
        ("4_1", "Who won?"),
    ]


@pytest.mark.released
def test_read_turns_and_rewrites_released_files(mirror, tmp_path):
    paths = {
        part: fetch(key, tmp_path, mirror=mirror, network=False) for part, key in FILES.items()
    }
    turns = read_turns(paths.pop("topics"))
    assert len(turns) == 216 and turns["topic"].nunique() == 25
    assert (turns[["manual", "answer_id"]] != "").all(axis=None)
    result = {part: read_rewrites(path, turns) for part, path in paths.items()}
    message = turns.set_index("query")["utterance"]
    # Number of turns that a rewriter leaves unchanged.
    assert {part: int((rewrites == message).sum()) for part, rewrites in result.items()} == {
        "canard-org": 42,
        "canard": 43,
        "qrecc": 70,
    }
