"""Turns of CAsT and their rewrites: what is read, and faults by name."""

import json

import pytest

from everycell.base.errors import CollectionError
from everycell.collections.cast_turns import FILES, read_rewrites, read_turns
from everycell.sources import fetch

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
    """Read topics from a file with this content."""

    def read(content=TURNS):
        path = tmp_path / "topics.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return read_turns(path)

    return read


@pytest.fixture
def rewrites(tmp_path, topics):
    """Read rewrites from a file with these lines."""

    def read(rows=ROWS, head=HEAD):
        path = tmp_path / "rewrites.tsv"
        path.write_text("\n".join([head, *rows]) + "\n")
        return read_rewrites(path, topics())

    return read


def test_turns_of_both_years_are_read(topics):
    assert topics().to_dict("list") == {
        "query_id": ["3_1", "3_2-1", "4_1"],
        "topic": ["3", "3", "4"],
        "utterance": ["What is hail?", 'Is "it" ice?', "Who won?"],
        "manual": ["What is hail?", "Is hail ice?", ""],
        "answer_id": ["P_1", "D_2", ""],
        "answer": ["", "Ice, in layers.", ""],
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<html>", "is not a topic file of CAsT"),
        ({"turn": []}, "is not a topic file of CAsT"),
        ([{"number": 1, "turn": [{"number": 1}]}], "KeyError: 'raw_utterance'"),
        ([{"number": 1, "turn": [{"number": 1, "raw_utterance": None}]}], "is not a topic file"),
        ([], "has no turns"),
        ([TURNS[0], TURNS[0]], "has the turn 3_1 twice"),
        ([{"number": 1, "turn": [{"number": 1, "raw_utterance": " "}]}], "1_1 has an empty"),
    ],
)
def test_faults_of_a_topic_file(topics, content, message):
    with pytest.raises(CollectionError, match=message):
        topics(content)


def test_rewrites_come_in_the_order_of_the_turns(rewrites):
    result = rewrites(ROWS[::-1])
    assert list(result.items()) == [
        ("3_1", "What is hail?"),
        ("3_2-1", 'Is "hail" ice?'),
        ("4_1", "Who won?"),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:2], "has no rewrite of the turn '4_1' \\(1 of 3 turns"),
        ([*ROWS, "9\t1\t9_1\ta\ta"], "line 5: the turn '9_1' is not a turn of the topics"),
        ([*ROWS, ROWS[0]], "line 5: the turn '3_1' occurs twice"),
        (["3\t1\t3_1\t \tWhat is hail?"], "line 2: the turn '3_1' has an empty rewrite"),
        (
            ["3\t1\t3_1\ta\tWhat is snow?"],
            "a different utterance \\('What is snow\\?'\\)",
        ),
        (["3\t1\t3_1\ta"], "line 2 has 4 fields"),
        (["3\t1\t3_1\ta\tWhat is hail?\tmore"], "line 2 has 6 fields"),
    ],
)
def test_faults_of_rewrites(rewrites, rows, message):
    with pytest.raises(CollectionError, match=message):
        rewrites(rows)


def test_a_file_with_other_columns_is_refused(rewrites):
    with pytest.raises(CollectionError, match="the first line is"):
        rewrites(head="a")


def test_a_binary_file_is_refused(tmp_path, topics):
    path = tmp_path / "rewrites.tsv"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CollectionError, match="is not UTF-8 text"):
        read_rewrites(path, topics())


@pytest.mark.released
def test_the_released_files(mirror, tmp_path):
    paths = {
        part: fetch(key, tmp_path, mirror=mirror, network=False) for part, key in FILES.items()
    }
    turns = read_turns(paths.pop("topics"))
    assert len(turns) == 216 and turns["topic"].nunique() == 25
    assert (turns[["manual", "answer_id"]] != "").all(axis=None)
    result = {part: read_rewrites(path, turns) for part, path in paths.items()}
    message = turns.set_index("query_id")["utterance"]
    # How many turns a rewriter leaves as they were said.
    assert {part: int((rewrites == message).sum()) for part, rewrites in result.items()} == {
        "canard-org": 42,
        "canard": 43,
        "qrecc": 70,
    }
