"""Small corpora with invented texts, packed as the real ones are published."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping, Sequence

TOWNS = [f"{first}{last}" for first in ("Ald", "Brin", "Cor", "Dor", "Els", "Far", "Gus", "Hol")
          for last in ("by", "ham", "vik", "nes", "und")]  # fmt: skip
YEARS = {town: str(1200 + number) for number, town in enumerate(TOWNS)}


def founded(town: str, by: str = "a small monastery") -> str:
    """A passage with the answer to "when was PLACE founded"."""
    return f"The old town of {town} by the sea was founded in {YEARS[town]} by {by}."


def voyage(number: int) -> str:
    """A passage that answers no question and names no place of one."""
    return f"Ships carried salt and cloth to the south on voyage {number} of that summer."


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _tar_gz(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return _gzip(packed.getvalue())


def _zip(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return packed.getvalue()


def json_lines(rows: Sequence[object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def msmarco_files(
    passages: Sequence[str], queries: Mapping[str, str], relevant: Mapping[str, int]
) -> dict[str, bytes]:
    """Archives and judgements by their published names; `relevant` is query -> passage.

    Training queries ask the same under other ids.
    """
    collection = "".join(f"{number}\t{text}\n" for number, text in enumerate(passages)).encode()
    qrels = "".join(f"{query}\t0\t{number}\t1\n" for query, number in relevant.items()).encode()
    topics = "".join(f"{query}\t{text}\n" for query, text in queries.items()).encode()
    packed = {
        "collection.tsv": collection,
        "qrels.dev.small.tsv": qrels,
        "queries.dev.small.tsv": topics,
    }
    training = {"queries.train.tsv": "".join(f"9{q}\t{text}\n" for q, text in queries.items())}
    judged = "".join(f"9{query}\t0\t{number}\t1\n" for query, number in relevant.items())
    return {
        "collectionandqueries.tar.gz": _tar_gz(packed),
        "queries.tar.gz": _tar_gz({name: text.encode() for name, text in training.items()}),
        "qrels.dev.tsv": qrels,
        "qrels.train.tsv": judged.encode(),
    }


def beir_zip(name: str, questions: Sequence[tuple[str, str]], passages: Mapping[str, str]) -> bytes:
    """BEIR's form: `questions` are (text, id of its passage), `passages` id -> text."""
    head = "query-id\tcorpus-id\tscore\n"
    qrels = head + "".join(f"test{n}\t{doc}\t1\n" for n, (_, doc) in enumerate(questions))
    return _zip(
        {
            f"{name}/corpus.jsonl": json_lines(
                [
                    {"_id": key, "title": f"Page {key}", "text": text, "metadata": {}}
                    for key, text in passages.items()
                ]
            ),
            f"{name}/queries.jsonl": json_lines(
                [
                    {"_id": f"test{n}", "text": text, "metadata": {}}
                    for n, (text, _) in enumerate(questions)
                ]
            ),
            f"{name}/qrels/test.tsv": qrels.encode(),
        }
    )


def msmarco_qa(towns: Sequence[str] = TOWNS, listed: int = 10) -> bytes:
    """``dev_v2.1.json.gz``: objects by row, as published."""
    rows = {str(n): town for n, town in enumerate(towns)}

    def passages_of(n: int) -> list[dict]:
        further = [towns[(n + step) % len(towns)] for step in range(listed)]
        passages = [
            {"is_selected": int(other == towns[n]), "passage_text": founded(other, "some monks")}
            for other in further
        ]
        # The first question has a passage without a text, which must stop no run.
        return passages + [{"is_selected": 0, "passage_text": " "}] * (n == 0)

    table = {
        "query": {row: f"how old is {town}" for row, town in rows.items()},
        "query_id": {row: 1000 + int(row) for row in rows},
        "answers": {row: [YEARS[town]] for row, town in rows.items()},
        "passages": {row: passages_of(int(row)) for row in rows},
    }
    return _gzip(json.dumps(table).encode())


def squad(towns: Sequence[str]) -> bytes:
    """``train-v2.0.json`` or ``dev-v2.0.json``: each paragraph answers one of two questions."""
    articles = [
        {
            "title": town,
            "paragraphs": [
                {
                    "context": founded(town) + " Fishing fed its people for a long time.",
                    "qas": [
                        {"id": f"{town}-1", "question": f"When was {town} founded?",
                         "is_impossible": False,
                         "answers": [{"text": YEARS[town], "answer_start": 0}]},
                        {"id": f"{town}-2", "question": f"Who ruled {town} then?",
                         "is_impossible": True, "answers": []},
                    ],
                }
            ],
        }
        for town in towns
    ]  # fmt: skip
    for article in articles:
        for paragraph in article["paragraphs"]:
            for answer in paragraph["qas"][0]["answers"]:
                answer["answer_start"] = paragraph["context"].index(answer["text"])
    return json.dumps({"version": "v2.0", "data": articles}).encode()


def scidocs_files(queries: int = 20) -> dict[str, bytes]:
    """The nine files of SciDocs, each query with two relevant papers of five."""
    subjects = ("bees", "rivers", "bridges")
    papers = {
        f"paper{n:02}": {
            "title": f"All about {subjects[n % 3]}",
            "abstract": f"A study of {subjects[n % 3]}, part {n}.",
            "authors": [], "cited_by": [], "references": [], "year": 2000, "paper_id": f"paper{n}",
        }
        for n in range(30)
    }  # fmt: skip
    files = {}
    for folder in ("coview", "coread", "cite", "cocite"):
        for part in ("val", "test"):
            rows = []
            for n in range(queries):
                key = f"{folder}{part}{n:02}"
                papers[key] = {"title": f"{folder} {n}: {subjects[n % 3]}", "abstract": ""}
                rows += [
                    f"{key} 0 paper{(n + step) % 30:02} {int(step % 3 == 0)}\n" for step in range(5)
                ]
            files[f"{folder}/{part}.qrel"] = "".join(rows).encode()
    # One id without metadata, which must stop no run.
    files["cite/test.qrel"] += b"citetest00 0 gone 0\n"
    return {"paper_metadata_view_cite_read.json": json.dumps(papers).encode(), **files}
