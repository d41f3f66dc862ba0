"""Natural Questions: the pool of gold passages, faults, and the real counts."""

import json

import pytest

from everycell.base.errors import CollectionError
from everycell.collections.nq_open import COUNTS, KEY, read_nq_open
from everycell.rag.answers import is_correct, passages_with_answers
from everycell.sources import fetch


def passage(text="It has  canals.", title="Delft", gold=True, **further):
    return {"title": title, "text": text, "isgold": gold} | further


def row(question="what has delft", answers=("canals",), passages=None, **further):
    passages = [passage()] if passages is None else passages
    return {"question": question, "answers": list(answers), "ctxs": passages} | further


@pytest.fixture
def read(tmp_path):
    """Read a file with these rows."""

    def read_rows(*rows, counts=None):
        path = tmp_path / "nq.jsonl"
        path.write_text("".join(json.dumps(item) + "\n" for item in rows))
        return read_nq_open(path, counts=counts)

    return read_rows


def test_equal_passages_are_one_document_of_both_questions(read):
    result = read(
        row(),
        row("where are canals", passages=[passage(" It has canals.\n", title="Delft (town)")]),
    )
    assert result.passages.to_numpy().tolist() == [
        ["d0001", "Delft", "It has canals.", "Delft. It has canals."]
    ]
    assert result.gold.to_numpy().tolist() == [["q0001", "d0001"], ["q0002", "d0001"]]


def test_distractors_come_into_the_pool_but_are_not_relevant(read):
    result = read(row(passages=[passage("Hills.", gold=False, score=0.5), passage(title="")]))
    assert result.passages[["document_id", "text"]].to_numpy().tolist() == [
        ["d0001", "Delft. Hills."],
        ["d0001.1", "It has canals."],
    ]
    assert result.gold["document"].tolist() == ["d0001.1"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row(passages=[]), "'what has delft' has 0 gold passages"),
        (row(passages=[passage(gold=False)]), "has 0 gold passages"),
        (row(passages=[passage(), passage("Hills.")]), "has 2 gold passages"),
        (row(passages=[passage(text=" \n")]), "`ctxs.0.text`"),
        (row(passages=[passage(gold="yes")]), "`ctxs.0.isgold` is 'yes'"),
        (row(question=""), "`question`"),
        (row(answers=[]), "`answers`"),
        (row(answers=["canals", " "]), "has an empty answer"),
        ({"question": "what"}, "`answers` is missing"),
        ([], "not a JSON object"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(read, bad, message):
    with pytest.raises(CollectionError) as error:
        read(row("another question"), bad)
    assert ", line 2: " in str(error.value)
    assert message in str(error.value)


def test_a_question_that_stands_twice_is_refused(read):
    with pytest.raises(CollectionError, match=r"line 2: 'what has delft' is also on line 1"):
        read(row(), row(" what has  delft"))


def test_other_counts_and_broken_files_are_refused(read, tmp_path):
    with pytest.raises(CollectionError, match="1 questions and 1 distinct passages"):
        read(row(), counts=COUNTS)
    with pytest.raises(CollectionError, match="cannot be read"):
        read_nq_open(tmp_path)
    (tmp_path / "latin.jsonl").write_bytes(b'{"question": "caf\xe9"}')
    with pytest.raises(CollectionError, match="is not UTF-8 text"):
        read_nq_open(tmp_path / "latin.jsonl")


def test_the_card_of_the_released_file(mirror, tmp_path, repository):
    result = read_nq_open(fetch(KEY, tmp_path, mirror=mirror, network=False))
    texts = dict(zip(result.passages["document_id"], result.passages["text"], strict=True))
    answers = dict(zip(result.questions["query_id"], result.questions["answers"], strict=True))
    stored = set(passages_with_answers(texts, answers))
    gold = set(result.gold.itertuples(index=False, name=None))
    # The quick way and the plain one agree.
    few = result.questions["query_id"][:3]
    assert {pair for pair in stored if pair[0] in set(few)} == {
        (query, name) for query in few for name, text in texts.items()
        if is_correct(text, answers[query], match="squad")
    }  # fmt: skip
    relevant = {}
    for query, document in stored | gold:
        relevant.setdefault(query, set()).add(document)
    words = result.passages["body"].str.split().str.len()
    expected = {
        "questions": len(result.questions),
        "right answers": sum(map(len, answers.values())),
        "different passages": len(result.passages),
        "passages that are gold for two questions or more": int(
            (result.gold["document"].value_counts() > 1).sum()
        ),
        "questions whose gold passage contains no answer word for word": len(gold - stored),
        "questions with one relevant passage": sum(
            len(result) == 1 for result in relevant.values()
        ),
        "words of a passage, median": int(words.median()),
        "words of a passage, most": int(words.max()),
    }
    card = (repository / "docs" / "data-cards" / "nq.md").read_text(encoding="utf-8")
    for what, count in expected.items():
        assert f"| {what} | {count:,} |" in card
