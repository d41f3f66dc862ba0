"""Facts that identify a corpus, and what differs from them."""

import gzip
import hashlib

import pytest

from everycell.base.yaml import read_model
from everycell.records.cells import RecordError
from everycell.records.full_runs import FullTier
from everycell.records.identity import FileFacts, difference, facts_of

FOLD = "0 qid:2 1:0.1\n1 qid:10 1:0.2\n0 qid:10 1:0.3\n"


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        (FOLD, {"lines": 3, "values": {2: 2}}),
        (FOLD, {"ids": {2: hashlib.sha256(b"qid:10\nqid:2\n").hexdigest()}}),
        ("a last line\nwithout an end", {"lines": 2}),
        ('{"a": 1, "b": {"c": 2, "d": 3}}', {"keys": {"": 2, "b": 2}}),
        ("x", {"sha256": hashlib.sha256(b"x").hexdigest()}),
    ],
)
def test_facts_of_a_file(tmp_path, content, facts):
    path = tmp_path / "file"
    path.write_text(content)
    stated = FileFacts.model_validate(facts)
    assert facts_of(path, stated) == facts
    assert difference("a corpus", {"file": stated}, {"file": facts}) == ""
    path.write_text("other")
    other = {"file": facts_of(path, stated)}
    message = difference("a corpus", {"file": stated}, other)
    assert "a corpus" in message and "file" in message


def test_facts_of_a_csv_file(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("qid,docid\n7,1 2\n7,3\n8,1\n")
    hashed = hashlib.sha256(b"7\n8\n").hexdigest()
    stated = FileFacts(values={1: 2}, ids={1: hashed})
    assert facts_of(path, stated) == {"values": {1: 2}, "ids": {1: hashed}}


@pytest.mark.released
def test_difference_mq2008(repository, mirror, tmp_path):
    tier = read_model(repository / "published/full.yaml", FullTier, RecordError)
    stated = tier.materials["mq2008"].facts
    parts = {"train.txt": (2, 3, 4), "test.txt": (1,)}
    for name, folds in parts.items():
        texts = [(mirror / f"mq2008/Fold{n}.test.txt.gz").read_bytes() for n in folds]
        (tmp_path / name).write_bytes(b"".join(map(gzip.decompress, texts)))
    result = {name: facts_of(tmp_path / name, facts) for name, facts in stated.items()}
    assert difference("", stated, result) == ""
    # The next fold has other queries, and about as many.
    (tmp_path / "test.txt").write_bytes(gzip.decompress(
        (mirror / "mq2008/Fold2.test.txt.gz").read_bytes()
    ))  # fmt: skip
    result["test.txt"] = facts_of(tmp_path / "test.txt", stated["test.txt"])
    assert "test.txt" in difference("", stated, result)


@pytest.mark.released
def test_difference_topics_of_trec_rag(repository, mirror, tmp_path):
    tier = read_model(repository / "published/full.yaml", FullTier, RecordError)
    stated = tier.materials["trec_rag_2024"].facts
    topics = (mirror / "ginger/rag_test.tsv").read_bytes()
    # The same number of topics, with one other.
    for text, same in [(topics, True), (topics.replace(b"2024-36935", b"2024-1"), False)]:
        (tmp_path / "topics.rag24.test.txt").write_bytes(text)
        result = {name: facts_of(tmp_path / name, facts) for name, facts in stated.items()}
        assert (difference("", stated, result) == "") == same
