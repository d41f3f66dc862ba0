"""Natural Questions: the pool of gold passages, faults, and the real counts."""

import json

import pytest

from everycell.rag.answers import is_correct, passages_with_answers
from everycell.sources import fetch
from papers.abolghasemi2026.ch5_nq_open import KEY, read_nq_open


def passage(text="It has  canals.", title="Delft", gold=True, **further):
    return {"title": title, "text": text, "isgold": gold} | further


def row(question="what has delft", answers=("canals",), passages=None, **further):
    passages = [passage()] if passages is None else passages
    return {"question": question, "answers": list(answers), "ctxs": passages} | further


@pytest.fixture
def read(tmp_path):
    """Read a file with these rows."""

    def read_rows(*rows):
        path = tmp_path / "nq.jsonl"
        path.write_text("".join(json.dumps(item) + "\n" for item in rows))
        return read_nq_open(path)

    return read_rows


def test_read_nq_open_equal_passages(read):
    result = read(
        row(),
        row("where are canals", passages=[passage(" It has canals.\n", title="Delft (town)")]),
    )
    assert result.passages.to_numpy().tolist() == [
        ["d0001", "Delft", "It has canals.", "Delft. It has canals."]
    ]
    assert result.gold.to_numpy().tolist() == [["q0001", "d0001"], ["q0002", "d0001"]]


def test_read_nq_open_distractors(read):
    result = read(row(passages=[passage("Hills.", gold=False, score=0.5), passage(title="")]))
    assert result.passages[["document_id", "text"]].to_numpy().tolist() == [
        ["d0001", "Delft. Hills."],
        ["d0001.1", "It has canals."],
    ]
    assert result.gold["document"].tolist() == ["d0001.1"]


def test_data_card(mirror, tmp_path, repository):
    result = read_nq_open(fetch(KEY, tmp_path, mirror=mirror, network=False))
    texts = dict(zip(result.passages["document_id"], result.passages["text"], strict=True))
    answers = dict(zip(result.questions["query"], result.questions["answers"], strict=True))
    stored = set(passages_with_answers(texts, answers))
    gold = set(result.gold.itertuples(index=False, name=None))
    # The quick way and the plain one agree.
    few = result.questions["query"][:3]
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
