"""A perturbation changes values and never keys, and is the same on each machine."""

import csv
import gzip
import io
import json
import random
import re
import tarfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from everycell.language_models.generation import Answer, Identity, request_key
from everycell.language_models.records import Entry, read_record, record_lines
from everycell.language_models.settings import Decoding
from everycell.workflow.perturbation import PERTURBATIONS
from everycell.workflow.perturbed_files import PerturbationError, kind_of, perturb

RATINGS = "worker_id,query,rating,comment\n" + "".join(
    f"w{number},q{number % 7},{number % 5},text {number}\n" for number in range(40)
)
RUN = "".join(
    f"q{query} Q0 d{rank} {rank} {9 - rank / 10:.4f} bm25\n"
    for query in (1, 2)
    for rank in range(1, 11)
)


@pytest.fixture
def changed(tmp_path):
    """Perturb a text; return the text of the perturbed file, or None."""

    def change(text: str, name: str, perturbation: str) -> str | None:
        source, target = tmp_path / "data" / name, tmp_path / "scratch" / name
        source.parent.mkdir(exist_ok=True)
        source.write_text(text)
        is_changed = perturb(source, target, perturbation, name)
        assert source.read_text() == text
        return target.read_text() if is_changed else None

    return change


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_perturb_table_permuted_within_design(changed):
    """A condition says which quality a response has, so these two columns belong together."""
    text = "condition,quality,rating\n" + "".join(
        f"EC{number % 4},{'good' if number % 4 < 2 else 'flawed'},{number % 5}\n"
        for number in range(40)
    )
    before, after = rows_of(text), rows_of(changed(text, "a.csv", "permuted within the design"))
    assert [row[:2] for row in after] == [row[:2] for row in before]
    assert [row[2] for row in after] != [row[2] for row in before]
    assert sorted(after) != sorted(rows_of(changed(text, "a.csv", "permuted")))
    assert changed(RATINGS, "ratings.csv", "permuted within the design") is None


def test_perturb_table_keys_and_columns(changed):
    before, after = rows_of(RATINGS), rows_of(changed(RATINGS, "ratings.csv", "permuted"))
    assert [row[0] for row in after] == [row[0] for row in before]
    for column in (1, 2, 3):
        assert [row[column] for row in after] != [row[column] for row in before]
        assert Counter(row[column] for row in after) == Counter(row[column] for row in before)
    assert changed(RATINGS, "ratings.csv", "permuted") == changed(
        RATINGS, "ratings.csv", "permuted"
    )


@pytest.mark.parametrize(("perturbation", "left"), [("thinned", 36), ("halved", 20)])
def test_perturb_table_drops_rows(changed, perturbation, left):
    after = rows_of(changed(RATINGS, "ratings.csv", perturbation))[1:]
    assert len(after) == left and all(row in rows_of(RATINGS) for row in after)


def test_perturb_table_relabelled(changed):
    """Totals stay whole, so a design that expects multiples of ten still gets them."""
    text = "worker_id,gender,age,comment\n" + "".join(
        f"w{number},{'woman' if number % 3 else 'man'},{number % 4},text {number}\n"
        for number in range(40)
    )
    before, after = rows_of(text)[1:], rows_of(changed(text, "answers.csv", "relabelled"))[1:]
    swapped = {"woman": "man", "man": "woman"}
    assert [row[1] for row in after] == [swapped[row[1]] for row in before]
    assert all(old[2] != new[2] for old, new in zip(before, after, strict=True))
    assert [[row[0], row[3]] for row in after] == [[row[0], row[3]] for row in before]


def test_perturb_table_without_level_balanced(changed):
    rows = [(query, mode, rating) for query in "abcd" for mode in "xyz" for rating in range(6)]
    text = "query_id,mode_id,rating\n" + "".join(f"{q},{m},{r}\n" for q, m, r in rows)
    after = rows_of(changed(text, "ratings.csv", "without a level"))[1:]
    assert len({mode for _, mode, _ in after}) == 2
    assert set(Counter((query, mode) for query, mode, _ in after).values()) == {6}


def test_perturb_answers_relabelled(changed):
    """Answers are dictionaries; the most frequent one becomes the next in frequency."""
    entries = [
        {
            "key": str(number),
            "prompt_sha256": "",
            "decoding": {},
            "continuation": False,
            "answer": {"text": "no" if number % 3 else "yes", "finish": "stop"},
            "chained": "",
        }
        for number in range(12)
    ]
    text = "".join(f"{json.dumps(entry)}\n" for entry in entries)
    after = [
        json.loads(line)["answer"]["text"]
        for line in changed(text, "answers.jsonl", "relabelled").splitlines()
    ]
    assert after == ["yes" if number % 3 else "no" for number in range(12)]


SPANS = "Input.passage_id,WorkerId,answerable_sentences,unanswerable_sentences\n" + "".join(
    f"p{passage},w{worker},yes {passage}.{worker},no {passage}.{worker}\n"
    for passage in range(5)
    for worker in range(3)
)


def test_perturb_table_unanimous(changed):
    before, after = rows_of(SPANS)[1:], rows_of(changed(SPANS, "spans.csv", "unanimous"))[1:]
    assert [row[:2] for row in after] == [row[:2] for row in before]
    for first in range(0, 15, 3):
        answers = {tuple(row[2:]) for row in after[first : first + 3]}
        assert len(answers) == 1 and answers <= {tuple(r[2:]) for r in before[first : first + 3]}
    assert changed(RATINGS, "ratings.csv", "unanimous") is None


def test_perturb_table_reversed_labels(changed):
    before, after = rows_of(SPANS)[1:], rows_of(changed(SPANS, "spans.csv", "reversed labels"))[1:]
    assert after == [[passage, worker, no, yes] for passage, worker, yes, no in before]
    assert changed(RATINGS, "ratings.csv", "reversed labels") is None


def test_perturb_resamples_a_tenth_of_the_rows(changed):
    before, after = rows_of(RATINGS), rows_of(changed(RATINGS, "ratings.csv", "resampled"))
    different = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert 1 <= len(different) <= 4
    # The values of a row stay together.
    assert all(row[1:] in [other[1:] for other in before] for _, row in different)


def test_perturb_run_jitters_scores_and_ranks_follow(changed):
    rows = [line.split() for line in changed(RUN, "a.run", "jittered").splitlines()]
    assert {(row[0], row[2]) for row in rows} == {
        tuple(line.split()[:3:2]) for line in RUN.splitlines()
    }
    for query in ("q1", "q2"):
        scores = [float(row[4]) for row in rows if row[0] == query]
        assert scores == sorted(scores, reverse=True)
        assert [row[3] for row in rows if row[0] == query] == [str(n) for n in range(1, 11)]


def test_perturb_qrels_permutes_labels(changed):
    qrels = "".join(f"q{n % 3} 0 d{n} {n % 2}\n" for n in range(20))
    rows = [line.split() for line in changed(qrels, "a.qrels", "permuted").splitlines()]
    assert [row[:3] for row in rows] == [line.split()[:3] for line in qrels.splitlines()]
    assert sorted(row[3] for row in rows) == ["0"] * 10 + ["1"] * 10


def test_perturb_published_values_stay_within_their_metric(changed):
    cells = "system,metric,value\n" + "".join(
        f"s{n},{metric},{value}\n"
        for n in range(6)
        for metric, value in (("level", f"L{n}"), ("words", 30 + n))
    )
    for perturbation in ("permuted", "jittered", "resampled", "ordered"):
        after = changed(cells, "table_1.csv", perturbation)
        for system, metric, value in rows_of(after or cells)[1:]:
            assert value.startswith("L") == (metric == "level"), (system, value)
    assert changed(cells, "table_1.csv", "thinned") is None


def test_perturb_annotations_stay_with_their_text(changed):
    header = "WorkerId,Input.passage_id,Input.passage,Answer.spans,WorkTimeInSeconds\n"
    rows = "".join(f"w{n},p{n % 5},text {n % 5},span {n % 5} {n},{100 + n}\n" for n in range(30))
    for perturbation in PERTURBATIONS:
        after = rows_of(changed(header + rows, "batch.csv", perturbation) or header + rows)[1:]
        assert all(row[3].split()[1] == row[1].removeprefix("p") for row in after)
        assert set(Counter(row[1] for row in after).values()) == {6}


def test_perturb_distribution_adds_up_to_1(changed):
    text = changed("0.5\n0.3\n0.2\n", "A.golddistr", "jittered")
    assert sum(map(float, text.split())) == pytest.approx(1)


def test_kind_of_unknown_file(tmp_path, changed):
    assert changed("some text\n", "notes.md", "permuted") is None
    assert kind_of(tmp_path) is None


def test_perturb_wrong_format(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(PerturbationError, match=r"labels\.jsonl.*records"):
        perturb(path, tmp_path / "out.jsonl", "permuted", "labels.jsonl")


@given(
    st.lists(st.tuples(st.integers(0, 99), st.sampled_from(["a", "b", ""])), min_size=1),
    st.sampled_from(sorted(PERTURBATIONS)),
)
def test_perturb_any_table_columns(tmp_path_factory, rows, perturbation):
    folder: Path = tmp_path_factory.mktemp("tables")
    source, target = folder / "a.csv", folder / "b.csv"
    text = "id,count,label\n" + "".join(f"{n},{c},{x}\n" for n, (c, x) in enumerate(rows))
    source.write_text(text)
    if perturb(source, target, perturbation, "a.csv"):
        after = rows_of(target.read_text())
        assert after[0] == ["id", "count", "label"]
        ids = [row[0] for row in after[1:]]
        assert ids == sorted(ids, key=int) and all(len(row) == 3 for row in after)
        assert {row[1] for row in after[1:]} <= {str(count) for count, _ in rows}
    assert source.read_text() == text


def test_perturbations_random_state(changed):
    random.seed(1)
    first = changed(RATINGS, "ratings.csv", "permuted")
    random.seed(2)
    assert changed(RATINGS, "ratings.csv", "permuted") == first


def test_perturb_recorded_answers_among_requests_with_the_same_settings(tmp_path):
    source, target = tmp_path / "answers.jsonl", tmp_path / "new.jsonl"
    model = Identity(name="model", revision="1", host="", dtype="float32")
    entries = []
    for number in range(20):
        finish = "withheld: copy" if number < 4 else "stop"
        decoding = Decoding(max_tokens=8 + number % 2)
        answer = Answer(text="" if number < 4 else f"é {number}", finish=finish)
        prompt = f"{number:064}"
        entries.append(
            Entry(
                key=request_key(model, prompt, decoding, None),
                model=model,
                prompt_sha256=prompt,
                decoding=decoding,
                continuation=None,
                answer=answer,
                date="2026-11-22T09:38:55+00:00",
            )
        )
    source.write_text(record_lines(entries))
    assert perturb(source, target, "permuted", "answers.jsonl")
    # The hashes are those of the new answers, so that the record can be read.
    before, after = read_record(source), read_record(target)
    assert list(after) == list(before)
    texts = [(before[key].answer.text, after[key].answer.text) for key in before]
    assert texts[:4] == [("", "")] * 4
    assert sum(first != second for first, second in texts[4:]) > 8
    assert all(int(a[2:]) % 2 == int(b[2:]) % 2 for a, b in texts[4:])
    assert not perturb(source, target, "thinned", "answers.jsonl")


def test_perturb_json_records_within_their_field(changed):
    topics = [
        {
            "number": n,
            "turn": [{"number": k, "raw": f"r{n}{k}", "doc_id": f"d{n}{k}"} for k in (1, 2)],
        }
        for n in range(5)
    ]
    topics[0]["title"] = "title"
    after = json.loads(changed(json.dumps(topics), "topics.json", "permuted"))
    assert [topic["number"] for topic in after] == list(range(5))
    turns = [turn for topic in after for turn in topic["turn"]]
    before = [turn for topic in topics for turn in topic["turn"]]
    assert after[0]["title"] == "title"
    for name in ("number", "doc_id"):
        assert [turn[name] for turn in turns] == [turn[name] for turn in before]
    raw = [turn["raw"] for turn in turns]
    assert raw != [turn["raw"] for turn in before]
    assert sorted(raw) == sorted(turn["raw"] for turn in before)
    # The configuration of a model is not a list of records.
    assert changed('{"a": [1, 2, 3]}', "config.json", "permuted") is None


@pytest.mark.parametrize(
    ("head", "tail"), [(".I {}\n", ""), ("<DOC>\n<DOCNO> {} </DOCNO>\n", "</DOC>\n")]
)
def test_perturb_texts_among_documents(changed, head, tail):
    collection = "".join(f"{head.format(n)}.W\ntext of {n}\n{tail}" for n in range(9))
    after = changed(collection, "CISI.ALL", "permuted")
    heads = [head.format(n).splitlines()[-1] for n in range(9)]
    assert [line for line in after.splitlines() if line in heads] == heads
    assert after != collection
    assert sorted(after.splitlines()) == sorted(collection.splitlines())
    assert changed(collection, "CISI.ALL", "thinned").count("text of") == 8


def test_perturb_archive(tmp_path):
    source, target = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"

    def documents(path: Path) -> dict[str, bytes]:
        with tarfile.open(path) as archive:
            return {member.name: archive.extractfile(member).read() for member in archive}

    with tarfile.open(source, "w:gz") as archive:
        for number in range(9):
            member = tarfile.TarInfo(f"D-{number}.html")
            member.size = 1
            archive.addfile(member, io.BytesIO(str(number).encode()))
    assert perturb(source, target, "permuted", "a.tar.gz")
    before, after = documents(source), documents(target)
    assert list(after) == list(before)
    assert after != before and sorted(after.values()) == sorted(before.values())
    source.write_bytes(b"no archive")
    with pytest.raises(PerturbationError, match=r"a\.tar\.gz.*archive"):
        perturb(source, target, "permuted", "a.tar.gz")


def test_perturb_vocabulary_special_tokens(changed):
    vocabulary = "[PAD]\n[CLS]\n" + "".join(f"token{n}\n" for n in range(20))
    assert changed(vocabulary, "vocab.txt", "permuted").startswith("[PAD]\n[CLS]\ntoken")
    assert len(changed(vocabulary, "vocab.txt", "thinned").splitlines()) == 20


def test_perturb_weights(tmp_path):
    source, target = tmp_path / "model.safetensors", tmp_path / "new.safetensors"
    tensors = {
        "embeddings": np.arange(60, dtype=np.float32).reshape(20, 3),
        "bias": np.arange(9, dtype=np.float16),
        "scale": np.array(2.0, dtype=np.float32),
        "positions": np.arange(8),
    }
    save_file(tensors, source, metadata={"format": "pt"})
    assert perturb(source, target, "permuted", "model.safetensors")
    after = load_file(target)
    assert after.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert after[name].dtype == tensor.dtype and after[name].shape == tensor.shape
        is_fixed = name in ("scale", "positions")
        assert np.array_equal(after[name], tensor) == is_fixed
        assert np.array_equal(np.sort(after[name], axis=None), np.sort(tensor, axis=None))
    rows = {tuple(row) for row in tensors["embeddings"]}
    assert {tuple(row) for row in after["embeddings"]} == rows


def test_perturb_smart_qrels(changed):
    qrels = "".join(f"{n // 4} {n} {n % 3 + 1} \n" for n in range(40))
    rows = [line.split() for line in changed(qrels, "cranqrel", "permuted").splitlines()]
    assert [row[:2] for row in rows] == [line.split()[:2] for line in qrels.splitlines()]
    assert [row[2] for row in rows] != [line.split()[2] for line in qrels.splitlines()]
    # Without grades, only rows can be left out.
    binary = "".join(f"     {n // 4}     {n}\t0\t0.000000\n" for n in range(40))
    assert changed(binary, "CISI.REL", "permuted") is None
    assert len(changed(binary, "CISI.REL", "thinned").splitlines()) == 36


def test_perturb_published_values(changed):
    cells = "item,metric,value\na,level,L1\na,words,30\nb,level,L2\nb,words,40\nc,level,L0\n"
    for perturbation in PERTURBATIONS:
        after = rows_of(changed(cells, "figure_5.csv", perturbation) or cells)
        assert after[-1] == ["c", "level", "L0"]


def test_perturb_published_figure(changed):
    """In figures, the key before the value is the position on the x axis."""
    cells = "series,metric,x,value,note\n" + "".join(
        f"s{series},{metric},{x},{base + 10 * series + x},n\n"
        for series in range(2)
        for metric, base in (("NFaiRR", 0), ("words", 1000))
        for x in range(5)
    )
    after = rows_of(changed(cells, "figure_4.csv", "permuted"))
    before = rows_of(cells)
    assert [row[:3] + row[4:] for row in after] == [row[:3] + row[4:] for row in before]
    assert after != before
    for name in ("NFaiRR", "words"):
        values = [sorted(row[3] for row in rows if row[1] == name) for rows in (before, after)]
        assert values[0] == values[1]


def test_perturb_published_constant_texts(changed):
    cells = "row,metric,x,value\n" + "".join(
        f"left,only {text},{x},{text}\n" for x, text in enumerate("MFFM")
    )
    after = rows_of(changed(cells + "left,fairness,1-4,0\n", "figure_4.csv", "permuted"))
    assert sorted(row[3] for row in after[1:5]) == ["F", "F", "M", "M"]
    assert [row[3] for row in after[1:5]] != list("MFFM") and after[5][3] == "0"


@pytest.mark.parametrize("perturbation", ["permuted", "jittered", "ordered"])
def test_perturb_published_shares_add_up_to_1(changed, perturbation):
    cells = "set,group,value\nA,1,0.7\nA,2,0.1\nA,3,0.2\nB,1,0.25\nB,2,0.75\n"
    after = rows_of(changed(cells, "targets.csv", perturbation))
    assert after != rows_of(cells)
    for name in "AB":
        values = [float(row[2]) for row in after if row[0] == name]
        assert sum(values) == pytest.approx(1, abs=1e-6)


def test_perturb_equal_shares_by_noise(changed):
    cells = "set,group,value\n" + "".join(f"A,{n},0.25\n" for n in range(4))
    values = [float(row[2]) for row in rows_of(changed(cells, "targets.csv", "jittered"))[1:]]
    assert len(set(values)) == 4 and sum(values) == pytest.approx(1, abs=1e-6)


def test_perturb_records_within_their_form(changed):
    """Labels of nuggets move between records with as many nuggets, whose texts stay."""
    records = [
        {
            "judge": "gpt4",
            "qid": str(n),
            "nuggets": [f"text {n} {k}" for k in range(2 + n % 2)],
            "assignment": [f"label {n} {k}" for k in range(2 + n % 2)],
            "score": n / 20,
        }
        for n in range(20)
    ]
    text = "".join(f"{json.dumps(record)}\n" for record in records)
    for perturbation in ("permuted", "ordered", "resampled", "moved"):
        lines = (changed(text, "labels.jsonl", perturbation) or text).splitlines()
        after = [json.loads(line) for line in lines]
        for name in ("judge", "qid", "nuggets"):
            assert [record[name] for record in after] == [record[name] for record in records]
        for record in after:
            assert len(record["assignment"]) == len(record["nuggets"])
    assert changed(text, "labels.jsonl", "permuted")


#: An id of a turn or a passage, such as `132_1-1` or `MARCO_16_3117875026-1`.
IDENTIFIER = re.compile(r"\d+_\d+(-\d+)?|(MARCO|WAPO|KILT|CAR)_\w+|clueweb\S+", re.IGNORECASE)


def looks_like_a_key(values: list[str]) -> bool:
    """Whether all values have identifiers, or are distinct words that are no numbers."""
    if all(len(value) < 80 and IDENTIFIER.search(value) for value in values):
        return True
    is_word = all(value.split() == [value] and "://" not in value for value in values)
    is_number = all(re.fullmatch(r"-?\d*\.?\d+(e-?\d+)?", value) for value in values)
    return is_word and not is_number and len(set(values)) == len(values)


def test_perturb_key_columns_of_registered_tables(mirror, tmp_path):
    tables = 0
    for path in sorted(mirror.rglob("*")):
        if not path.name.removesuffix(".gz").endswith((".csv", ".tsv")):
            continue
        source = tmp_path / path.name.removesuffix(".gz")
        source.write_bytes(
            gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        )
        kind = kind_of(source)
        if kind is None or kind.name != "table":
            continue
        tables += 1
        rows = kind.read(source.read_text(encoding="utf-8").replace("\r\n", "\n"))
        for column in {*rows.columns} - rows.bound:
            values = [
                row[column] for row in rows.values if column < len(row) and row[column].strip()
            ]
            assert len(values) < 5 or not looks_like_a_key(values), (path, column, values[:3])
    assert tables > 50
