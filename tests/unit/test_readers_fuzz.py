"""Every reader of foreign files, on files that are broken or hostile.

`READERS` is a table: a reader with a whole small file of its format. Each file here is made up. A
reader may take what it is given, or refuse it with a sentence for users that names the file; any
other end (a traceback of a library, a hang, memory without bound, code that runs) is a fault.
"""

from __future__ import annotations

import ast
import gzip
import importlib
import io
import json
import os
import pickle
import random
import re
import tempfile
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from tiny_forest import FOREST

import everycell
from everycell.base.csv_files import read_table
from everycell.base.errors import DataError
from everycell.base.text_files import text_lines
from everycell.base.untrusted import read_json
from everycell.collections.letor import read_letor
from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    Request,
    folder_identity,
)
from everycell.language_models.records import Record
from everycell.language_models.settings import Decoding
from everycell.receipts.receipts import content_hash, with_hashes
from everycell.retrieval.encoded import Encoded, write_encoded

LIBRARY = Path(everycell.__file__).parent
#: Folder of the package `papers`.
WORKFLOW = LIBRARY.parents[1] / "workflow"


@dataclass(frozen=True)
class Reader:
    """A reader with a file that it takes.

    Attributes
    ----------
    whole
        Bytes of the file, or a frame that is written as Parquet.
    name
        Name of the file; its ending may decide how it is read.
    call
        How the reader is called with the path, where the path alone is not enough.
    beside
        Other files that it needs, whole ones: name -> bytes.
    """

    content_whole: bytes | pd.DataFrame
    name: str = "foreign.txt"
    call: Callable[[Callable[..., Any], Path], Any] = lambda read, path: read(path)
    beside: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        if isinstance(self.content_whole, bytes):
            return self.content_whole
        return parquet(pa.Table.from_pandas(self.content_whole, preserve_index=False))


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def json_of(value: object) -> bytes:
    return json.dumps(value).encode()


def written(write: Callable[[Path], object], name: str) -> bytes:
    """Bytes of a file that the project itself writes."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return (Path(folder) / name).read_bytes()


def _cited(read: Callable[..., Any], path: Path) -> Any:
    return read(path, {"p": "Owls hunt."})


def _encoded(folder: Path) -> None:
    write_encoded(
        Encoded("vectors", np.ones((1, 2)), np.ones((1, 2)), ["d"], ["q"]), folder / "e.npz"
    )


def _vectors(folder: Path) -> None:
    np.save(folder / "v.npy", np.ones((3, 2), np.float16))


def _record(folder: Path) -> None:
    with Record(folder / "r.jsonl") as record:
        record.add(
            Identity(name="toy"),
            Request(prompt="1 + 1 =", decoding=Decoding()),
            Answer(text="2", finish="stop"),
        )


def _many(read: Callable[..., Any], path: Path) -> Any:
    return read([path])


SEGMENT = json_of({"docid": "x_07_0#0_0", "url": "", "segment": "Owls eat."}) + b"\n"
SQUAD = {
    "version": "v2.0",
    "data": [{"paragraphs": [{"context": "So.", "qas": [
        {"question": "how?", "answers": [{"text": "So"}]}]}]}],
}  # fmt: skip
PAPERS = {n: {"title": "On bees", "abstract": None, "year": 1} for n in ("a", "b", "c", "e")}
SCIDOCS = {
    "paper_metadata_view_cite_read.json": json_of(PAPERS),
    **{
        f"{folder}/{file}.qrel": qrel
        for folder in ("coview", "coread", "cite", "cocite")
        for file, qrel in (("test", b"a 0 b 1\n"), ("val", b"b 0 a 1\nc 0 a 0\ne 0 a 1\n"))
    },
}
JOB = {"rule": "rank", "outputs": ["run"], "inputs": ["model"], "parameters": {"seed": "1"}}
LINEAGE = {"jobs": [JOB], "content_sha256": content_hash({"jobs": [JOB]})}
RECORD = b"""chapter: "1"
title: First
artefacts:
  table_1:
    {kind: table, title: A toy table, source: p. 1, decimals: {AP: 2},
     quoted: [{cells: {row: a}, because: an input}],
     tiers: {embedded: {state: reproduced, needs: nothing}}}
"""
PAPER = b"{title: Toy, authors: N. N., year: 2026, kind: paper, reference: none, facts: []}"
CELLS = b"row,metric,value,unit\na,AP,0.30,%\nb,AP,-,\n"
RECEIPT = {
    "artefact": "toy/table_1", "tier": "embedded", "inputs": [{"path": "a.csv", "sha256": "0"}],
    "outputs": [{"path": "table_1.csv", "sha256": "0"}], "parameters": {}, "seed": 1,
    "code": {"version": "1", "sha256": "0"}, "execution": {"seconds": 0.5},
}  # fmt: skip

ASKED = b'{"id": "q1", "question": "where", "answers": ["Delft"], "relevant": ["d1"]}\n'
ANSWERING = b'{"id": "d1", "title": "Delft", "text": "It is here."}\n'


def _papers(read: Callable[..., Any], path: Path) -> Any:
    papers = read(path.parent.parent)
    importlib.import_module("everycell.verdicts.record_checks").check_records(papers)
    return papers


def _labels(read: Callable[..., Any], path: Path) -> Any:
    return read(path.parent)


def _readers() -> dict[str, Reader]:
    scidocs = "papers.abolghasemi2026.ch2_scidocs.read_scidocs"
    return {
        "records.papers.load_papers#record": Reader(RECORD, "toy/ch1.yaml", _papers,
            {"toy/paper.yaml": PAPER, "toy/table_1.csv": CELLS}),
        "records.papers.load_papers#paper": Reader(PAPER, "toy/paper.yaml", _papers,
            {"toy/ch1.yaml": RECORD, "toy/table_1.csv": CELLS}),
        "records.papers.load_papers#cells": Reader(CELLS, "toy/table_1.csv", _papers,
            {"toy/paper.yaml": PAPER, "toy/ch1.yaml": RECORD}),
        "records.cells.read_cells": Reader(CELLS),
        "config.read_config": Reader(b"seed: 3\nnetwork: false\nuser_studies: {alpha: 0.05}\n"),
        "base.settings.read_settings": Reader(b"seed: 3\nuser_studies: {alpha: 0.05}\n"),
        "receipts.receipts.read_receipt": Reader(
            json_of(with_hashes(RECEIPT))),
        "verdicts.results.read_result": Reader(CELLS),
        "cli.checks._read_expected": Reader(
            b"tier,artefact,key,verdict\nfull,toy/table_1,a / AP,equal\n"),
        "papers.abolghasemi2026.ch3_labels.read_labels": Reader(
            b"dialogue,annotator,satisfied,coherent\nd1,anna,yes,yes\nd1,bert,yes,no\n",
            "labels.csv", lambda read, path: read(path, ["d1"])),
        "papers.heuss2025.ch3_scores.read_uncertain_scores": Reader(
            b"qid,docid,mean_score,std_score\n7,31,-1.5,0.25\n", "scores.csv"),
        "base.csv_files.read_table": Reader(b"rating,level\n04,None\n"),
        "papers.lajewska2025.answerability_data.read_squad": Reader(json_of(SQUAD)),
        "collections.cited_questions.read_cited_questions#questions": Reader(ASKED,
            "questions.jsonl", _labels, {"passages.jsonl": ANSWERING}),
        "collections.cited_questions.read_cited_questions#passages": Reader(ANSWERING,
            "passages.jsonl", _labels, {"questions.jsonl": ASKED}),
        "collections.cited_questions.read_answers": Reader(
            b'{"question": "How old?", "answer": ["800 years"]}\n{"id": "q", "answers": ["2"]}\n'),
        "sources.published_files.read_dictionary": Reader(
            json_of({"beir": {"nq": {"url": "https://example.org/nq.zip", "size_hint": 7}}})),
        "collections.cited_questions.read_msmarco_qa": Reader(
            json_of({"query": {"0": "where is it"}, "query_id": {"0": 7},
            "answers": {"0": ["Delft"]},
            "passages": {"0": [{"is_selected": 1, "passage_text": "In Delft."}]}})),
        "rag.prompts.read_names": Reader(b"Ada Ode\nBo Berg\n"),
        "papers.lajewska2025.ch6_trec_rag.read_topics": Reader(b"2024-1\twhy?\n2024-2\thow?\n",
            "topics.rag24.test.txt"),
        "papers.lajewska2025.ch6_trec_rag.read_segments": Reader(SEGMENT, "mine.jsonl",
            call=lambda read, path: read([path], ["x_07_0#0_0"])),
        "papers.lajewska2025.ch6_trec_rag.read_rag_passages": Reader(
            b"2024-1 Q0 x_07_0#0_0 1 2.5 run\n", "run.txt",
            lambda read, path: read(path.parent, depth=5),
            {"topics.rag24.test.txt": b"2024-1\twhy?\n", "segments/mine.jsonl": SEGMENT}),
        "collections.msmarco.stream_passages": Reader(b"0\tThe bee.\n1\tThe river.\n"),
        "collections.msmarco.read_passages": Reader(b"0\tThe bee.\n1\tThe river.\n",
            call=lambda read, path: read(path, ["1"])),
        "collections.msmarco.read_queries": Reader(b"361\twhat is a bee\n"),
        "collections.msmarco.read_judgements": Reader(b"361\t0\t7\t1\n362\t0\t8\t1\n",
            call=lambda read, path: read(path, ["361"])),
        f"{scidocs}#papers": Reader(SCIDOCS["paper_metadata_view_cite_read.json"],
            "paper_metadata_view_cite_read.json",
            lambda read, path: read(path.parent, seed=0, validation=0.3), SCIDOCS),
        f"{scidocs}#qrel": Reader(SCIDOCS["cite/val.qrel"], "cite/val.qrel",
            lambda read, path: read(path.parent.parent, seed=0, validation=0.3), SCIDOCS),
        "metrics.word_lists.read_words": Reader(b"she,f\nhe,m\nMary,f\n"),
        "metrics.term_counts.read_counts": Reader(
            pd.DataFrame({"document_id": ["d1", "d2"], "length": [2, 1], "f": [1, 0], "m": [0, 1]})
        ),
        "metrics.term_counts.count_documents_with_terms": Reader(
            pd.DataFrame({"document_id": ["d1", "d2"], "length": [2, 1], "f": [1, 0], "m": [0, 1]})
        ),
        "text.documents.read_documents#parquet": Reader(
            pd.DataFrame({"document_id": ["d1", "d2"], "text": ["She runs", ""]}), "d.parquet"),
        "text.documents.read_documents#jsonl": Reader(
            b'{"id": "d1", "contents": "She runs"}\n{"_id": "d2", "text": ""}\n', "d.jsonl"),
        "text.documents.read_documents#tsv": Reader(b"d1\tShe runs\nd2\t\n", "d.tsv"),
        "text.documents.read_documents#gzip": Reader(gzip.compress(b"d1\tShe runs\nd2\t\n",
            mtime=0), "d.tsv.gz"),
        "metrics.word_lists.read_word_lists": Reader(b"she,f\nhe,m\n", call=_many),
        "language_models.records.read_record": Reader(written(_record, "r.jsonl")),
        "language_models.records.Record#prompts": Reader(b'{"sha256":"ab","prompt":"1 + 1 ="}\n',
            call=lambda read, path: (read(path.with_name("r.jsonl"),
            prompts=path).__enter__().__exit__())),
        "trec.runs.read_run": Reader(b"q1 Q0 d1 1 12.5 bm25\nq1 Q0 d2 2 7 bm25\n"),
        "trec.runs.read_run#ranks": Reader(b"q1 Q0 d1 1 12.5 bm25\nq1 Q0 d2 2 7 bm25\n",
            call=lambda read, path: read(path, ranks="error")),
        "trec.runs.read_run#gzip": Reader(gzip.compress(b"q1 Q0 d1 1 12.5 bm25\n", mtime=0),
            "bm25.run.gz"),
        "trec.runs.read_qrels": Reader(b"q1 0 d1 1\nq1 0 d2 0\n",
            call=lambda read, path: read(path, scale=(0, 4))),
        "retrieval.prebuilt.read_encoded_queries": Reader(
            b'{"id": "q", "contents": "red bee", "vector": {"red": 1}}\n',
            call=lambda read, path: read(path, {"7": "red bee"})),
        "fair_ranking.reranked_runs.read_neutralities": Reader(
            b"document,neutrality\nd1,1\nd2,0.5\n"),
        "base.arrays.read_vectors": Reader(written(_vectors, "v.npy")),
        "retrieval.encoded.read_encoded": Reader(written(_encoded, "e.npz")),
        "language_models.templates.read_template": Reader(
            b"### system\nBe brief.\n### user\nAsk $question at $$1",
            call=lambda read, path: read(path, {"question": ("the question", True)},
            last="question")),
        "rag.prompts.read_template": Reader(b"### user\n$documents\n\nAnswer ${question}"),
        "papers.abolghasemi2026.ch3_generation.read_template": Reader(
            b"### user\nTurn $dialogue to $wanted $$"),
        "receipts.provenance.read_lineage": Reader(json_of(LINEAGE), "lineage.json",
            lambda read, path: read(path.parent)),
        "collections.letor.read_letor": Reader(
            b"2 qid:1 1:0.5 2:1 # a\n0 qid:1 2:3\n1 qid:2 1:1\n"),
        "explain.forests.read_forest": Reader(FOREST.encode()),
        "rag.cite_checks.read_passages": Reader(b'{"id": "p", "text": "Owls hunt."}\n'),
        "rag.citation_report.read_cited_answers#number": Reader(
            b'{"question": "Who?", "answer": "Owls [1].", "documents": 2, "relevant": [1]}\n'),
        "rag.citation_report.read_cited_answers#ids": Reader(
            b'{"question": "Who?", "condition": "human", "answer": "Owls [1]",'
            b' "documents": ["p", "q"], "relevant": ["q"],'
            b' "tokens": [["Owls [", -0.5], ["1]", -1]]}\n'
        ),
        "metrics.satisfaction.read_predictions": Reader(
            b'{"id": "1", "satisfied": true, "predicted": false, "estimator": "bert"}\n'),
        "rag.cite_checks.read_answers#answer": Reader(
            b'{"question": "Who?", "documents": ["p"], "answer": "Owls [1]."}\n', call=_cited),
        "rag.cite_checks.read_answers#statements": Reader(
            b'{"question": "Who?", "documents": ["p"], '
            b'"statements": [{"text": "owls", "documents": ["p"]}]}\n',
            call=_cited,
        ),
        "papers.abolghasemi2026.ch5_paraphrasing.read_template": Reader(
            b"### user\nAgain: $passage"),
    }  # fmt: skip


READERS = _readers()


def function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition("#")[0].rpartition(".")
    prefix = "" if module.startswith("papers.") else "everycell."
    return getattr(importlib.import_module(prefix + module), function)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readers")


@pytest.fixture
def place_of(folder: Path) -> Callable[[str], Path]:
    """Write the valid files of a reader; return the path of the fuzzed one."""

    def path_of_reader(name: str) -> Path:
        home = folder / re.sub(r"\W", "_", name)
        reader = READERS[name]
        for file, content in {**reader.beside, reader.name: reader.content}.items():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_bytes(content)
        return home / reader.name

    return path_of_reader


@pytest.fixture
def path_of_reader(name: str, place_of: Callable[[str], Path]) -> Path:
    return place_of(name)


def run(name: str, path: Path) -> Any:
    result = READERS[name].call(function(name), path)
    return list(result) if isinstance(result, Iterator) else result


def fault(name: str, path: Path, content: bytes) -> str | None:
    """Fault of a reader on a file of this content; None if it reads or refuses the file."""
    path.write_bytes(content)
    try:
        run(name, path)
    except Exception as error:
        message = str(error)
        ours = type(error).__module__.startswith("everycell.")
        if not ours and type(error) not in (ValueError, FileNotFoundError):
            return f"ends in {error!r:.300}"
        # With several files it is not always the changed one that does not fit.
        if not any(file in message for file in (READERS[name].name, *READERS[name].beside)):
            return f"names no file: {message:.300}"
        if not message.endswith("."):
            return f"says no sentence: {message:.300}"
        if len(message) > 1500:
            return f"says {len(message)} characters: {message[:200]} ... {message[-200:]}"
    return None


EVERY = pytest.mark.parametrize("name", READERS)


@EVERY
def test_readers_valid_file(name, path_of_reader):
    run(name, path_of_reader)


#: Readers of texts of users, which skip a byte order mark at the start of a file.
TEXTS = [
    name
    for name in READERS
    if name.startswith(
        ("trec.runs.read_run", "trec.runs", "collections.letor", "metrics.word",
         "text.documents.read_documents", "collections.cited_questions",
         "collections.msmarco.read_queries", "base.csv_files",
         "papers.lajewska2025.ch6_trec_rag.read_topics", "retrieval.prebuilt", "rag.prompts",
         "rag.cite",
         "rag.citation", "metrics.satisfaction", "explain.forests",
         "language_models.templates")
    )
    and isinstance(READERS[name].content_whole, bytes) and not READERS[name].name.endswith(".gz")
]  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_readers_byte_order_mark_at_start(name, path_of_reader):
    before = run(name, path_of_reader)
    path_of_reader.write_bytes(b"\xef\xbb\xbf" + path_of_reader.read_bytes())
    plain = re.compile(r" at 0x\w+")
    assert plain.sub("", repr(run(name, path_of_reader))) == plain.sub("", repr(before))


@pytest.mark.parametrize("name", TEXTS)
def test_readers_byte_order_mark_in_middle(name, path_of_reader):
    first, *more = path_of_reader.read_bytes().rstrip(b"\n").split(b"\n")
    path_of_reader.write_bytes(
        b"\n".join([first, b"\xef\xbb\xbf" + (more or [first])[0], *more[1:], b""])
    )
    with pytest.raises(Exception, match=r"byte order mark|\\ufeff"):
        run(name, path_of_reader)


DEEP = 100_000
BOMB = b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 9)
)
HOSTILE = {
    "empty": b"",
    "blank lines": b"\n \n\t\n",
    "zeros": bytes(1000),
    "no UTF-8": b"\xff\xfe\xfa,\x80\n\xc3\n",
    "UTF-16": "a,b\n1,2\n".encode("utf-16"),
    "half a surrogate pair": b"\xed\xa0\x80",
    "a page": b"<!doctype html><html><script>alert(1)</script></html>",
    "lists without end": b"[" * DEEP,
    "objects without end": b'{"a":' * DEEP,
    "lists that end": b"[" * DEEP + b"]" * DEEP,
    "signs without end": b"-" * DEEP + b"1",
    "sums without end": b"1" + b"+1" * DEEP,
    "names without end": b"a" + b".a" * DEEP,
    "a number without end": b"9" * 10_000,
    "a quote without end": b'"' + b"a,\n" * 100,
    "quotes": b'"' * 1001,
    "no line end": b"a" * 300_000,
    "commas": b"," * 500,
    "a bomb of aliases": BOMB,
    "a date that is none": b"title: 2026-99-99\nseed: 2026-99-99\n",
    "a tag": b"seed: !!python/object/apply:os.system [false]\n",
    "a pickle": b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93.",
    "code": b"__import__('os').system('false')",
    "broken gzip": gzip.compress(b"a" * 1000)[:-4],
    "broken parquet": b"PAR1" + bytes(40) + b"\xff\xff\xff\x7fPAR1",
    "broken zip": b"PK\x03\x04" + bytes(60),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.fault("users_file")
@EVERY
def test_readers_hostile_file(name, path_of_reader):
    faults = {what: fault(name, path_of_reader, content) for what, content in HOSTILE.items()}
    assert {what: result for what, result in faults.items() if result} == {}


@pytest.mark.fault("users_file")
@EVERY
def test_readers_pipe(name, path_of_reader):
    path_of_reader.unlink()
    os.mkfifo(path_of_reader)
    message: list[BaseException] = []

    def read() -> None:
        try:
            run(name, path_of_reader)
        except Exception as error:
            message.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(5)
    waits = thread.is_alive()
    # A writer that comes and goes ends the wait.
    os.close(os.open(path_of_reader, os.O_RDWR | os.O_NONBLOCK))
    thread.join(5)
    path_of_reader.unlink()
    assert not waits
    # Published cells are read on demand.
    assert message or name == "records.papers.load_papers#cells"
    assert all(path_of_reader.name in str(error) for error in message), message


#: Contents that replace a field.
FIELDS = (
    b"", b" ", b"\x00", b"\xff", b"\r", b"\n", b"\t", b",", b";", b'"', b"'", b"\\", b"|||", b"-1",
    b"0", b"1e999", b"nan", b"NaN", b"inf", b"null", b"None", b"true", b"[]", b"{}", b"()",
    b"[[1]]", b'{"a": 1}', b"1.5", b"9" * 25, b"9" * 5000, "²".encode(), "٣".encode(),
    "\u2028".encode(), "\ufeff".encode(), b"\\ud800", b"../../etc/passwd", b"<script>",
    b"$x", b"${", b"%s", b"{0}",
    b"!!int x", b"*a", b"&a", b"[" * 300, b"-" * 300, b"x" * 5000, b"True", b"b'x'", b"1_0", b"0x1",
)  # fmt: skip
_CUTS = re.compile(rb"([\s,;:|'\"\[\]{}()<>]+)")


@st.composite
def changed(draw: st.DrawFn, content_whole: bytes) -> bytes:
    """A file with some fields or bytes replaced, or random bytes."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.binary(max_size=60))
    if kind <= 3:
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(content_whole))] * 2)))
        return content_whole[:start] + draw(st.sampled_from(FIELDS)) + content_whole[end:]
    parts = _CUTS.split(content_whole)
    for _ in range(draw(st.integers(1, 3))):
        parts[draw(st.integers(0, len(parts) - 1))] = draw(st.sampled_from(FIELDS))
    return b"".join(parts)


QUICK = settings(
    max_examples=15,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=settings.default.phases[:3],
)


@pytest.mark.slow
@pytest.mark.fault("users_file")
@EVERY
def test_readers_changed_file(name, path_of_reader):
    @seed(1)
    @QUICK
    @given(changed(READERS[name].content))
    def read_content(content):
        assert fault(name, path_of_reader, content) is None

    read_content()


#: Faults found here once that no file of `HOSTILE` shows: reader, file, and the line or field that
#: is named.
FOUND = [
    ("collections.msmarco.read_judgements", "361\t0\t7\t²\n".encode(), "line 1"),
    ("collections.msmarco.read_queries", "²\tbee\n".encode(), "line 1"),
    ("config.read_config", b"? " + b"x" * 5000 + b"\n: 1", "x{20}"),
    ("papers.abolghasemi2026.ch3_generation.read_template", b"$" + b"x" * 5000, "slot"),
    ("metrics.term_counts.read_counts",
     parquet(pa.table({"document_id": ["d"], "length": ["two"], "f": [1]})), "length|number"),
    ("metrics.term_counts.count_documents_with_terms",
     parquet(pa.table({"document_id": ["d"], "f": ["one"]})), "columns"),
    ("text.documents.read_documents#parquet",
     parquet(pa.table({"document_id": ["d", None], "text": ["She", "He"]})), "row 2"),
    ("language_models.records.Record#prompts", b"{}\n", "line 1"),
    ("trec.runs.read_run#gzip", b"\x1f\x8b", "gz"),
]  # fmt: skip


@pytest.mark.fault("users_file")
@pytest.mark.parametrize(("name", "content", "where"), FOUND, ids=[row[0] for row in FOUND])
def test_readers_former_faults(name, content, where, path_of_reader):
    assert fault(name, path_of_reader, content) is None
    with pytest.raises(Exception, match=where):
        run(name, path_of_reader)


# --- memory -------------------------------------------------------------------------------------

ZEROS = gzip.compress(bytes(100 * 2**20), mtime=0)
#: The bytes after it raise what a file of its size may unpack to.
PACKED_TWICE = gzip.compress(b"\x1f\x8b" + bytes(100 * 2**20)) + random.Random(1).randbytes(2**20)


def peak_of(name: str, path: Path) -> tuple[Any, int]:
    """Result or error of a reader, and its peak of memory."""
    tracemalloc.start()
    try:
        result = run(name, path)
    except Exception as error:
        result = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return result, peak


@pytest.mark.fault("users_file")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trec.runs.read_run#gzip", ZEROS),
        ("trec.runs.read_run#gzip", PACKED_TWICE),
        ("text.documents.read_documents#gzip", ZEROS),
        ("text.documents.read_documents#gzip", PACKED_TWICE),
    ],
)  # fmt: skip
def test_readers_bomb_memory(name, content, path_of_reader):
    assert fault(name, path_of_reader, content) is None
    refused, peak = peak_of(name, path_of_reader)
    assert isinstance(refused, Exception)
    assert peak < 64 * 2**20


#: Contents whose fields, lines or numbers would take many times their bytes.
SMALL_PARTS = {
    "fields": b"a ",
    "tabs": b"\t\ta",
    "lines": b"q\n",
    "comments": b"#\n",
    "blanks": b"a \n \n",
    "digits": b"1",
    "brackets": b"[],",
}


@pytest.mark.fault("users_file")
@pytest.mark.parametrize("part", SMALL_PARTS)
@pytest.mark.parametrize("name", ["trec.runs.read_run#gzip", "text.documents.read_documents#gzip"])
def test_readers_packed_small_parts_memory(name, part, path_of_reader):
    """The memory goes with the unpacked content, which fits the limit."""
    content = SMALL_PARTS[part] * (2**19 // len(SMALL_PARTS[part]))
    packed = gzip.compress(content + b"\n" + random.Random(1).randbytes(2**13).hex().encode())
    assert fault(name, path_of_reader, packed) is None
    refused, peak = peak_of(name, path_of_reader)
    assert isinstance(refused, Exception)
    assert peak < 20 * len(content) + 2**20


@pytest.mark.fault("users_file")
@pytest.mark.parametrize("line", [b"d1 " * 2**23 + b"\n", (b"d1\tshe runs\n") * 2**21])
def test_text_lines_packed_bomb(tmp_path, line):
    """Neither a line nor all lines may be far longer than the file."""
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(line))
    with pytest.raises(DataError) as error:
        for _ in text_lines(path):
            pass
    assert error.value.path == path


@pytest.mark.fault("users_file")
@pytest.mark.parametrize("header", [b"a,", b"[],", b'"",', b"k1,", b","])
@pytest.mark.parametrize(
    "name",
    ["base.csv_files.read_table", "verdicts.results.read_result", "cli.checks._read_expected"],
)
def test_readers_many_columns(name, header, path_of_reader):
    assert fault(name, path_of_reader, header * 200_000) is None
    with pytest.raises(Exception, match="columns"):
        run(name, path_of_reader)


@pytest.mark.fault("users_file")
@pytest.mark.parametrize("suffix", ["", "\n" + "1," * 3 + "1"])
def test_read_table_packed_bomb(tmp_path, suffix):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2**23 + suffix.encode()))
    with pytest.raises(DataError) as error:
        read_table(path)
    assert error.value.path == path


@pytest.mark.fault("users_file")
@pytest.mark.parametrize(
    "content",
    [
        b"".join(b"k%d: 1\n" % number for number in range(200_000)),
        b"artefacts:\n" + b"".join(b"  k%d: 1\n" % number for number in range(90_000)),
        b"[" + b"{}," * 200_000 + b"]",
        b"seed: [" + b"x," * 30_000 + b"]",
    ],
)
@pytest.mark.parametrize("name", ["records.papers.load_papers#record", "config.read_config"])
def test_readers_many_keys(name, content, path_of_reader):
    assert fault(name, path_of_reader, content) is None
    with pytest.raises(Exception, match=path_of_reader.name):
        run(name, path_of_reader)


def test_read_letor_sparse_numbers(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("0 qid:1 10000:1\n" * 1000)
    with pytest.raises(DataError) as error:
        read_letor(path)
    assert error.value.path == path


def test_read_documents_long_line_memory(place_of):
    """As a document it is allowed; memory goes with the file's size, not beyond."""
    name = "text.documents.read_documents#tsv"
    path = place_of(name)
    path.write_bytes(b"d1\t" + b"she runs " * (50 * 2**20 // 9))
    [(document, text)], peak = peak_of(name, path)
    assert document == "d1" and len(text) > 50 * 10**6
    assert peak < 5 * path.stat().st_size


# --- execution ----------------------------------------------------------------------------------


@pytest.mark.fault("users_file")
@pytest.mark.parametrize(
    "name", ["retrieval.encoded.read_encoded", "config.read_config"]
)  # fmt: skip
def test_readers_code_in_file(name, path_of_reader, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    object_array = io.BytesIO()
    np.savez(object_array, kind=np.array([Touch()], dtype=object), allow_pickle=True)
    for content in (
        b"__import__('pathlib').Path('ran').touch()",
        b"[__import__('pathlib').Path('ran').touch()]\t[]\t1",
        b"!!python/object/apply:os.mkdir [ran]",
        pickle.dumps(Touch()),
        object_array.getvalue(),
    ):
        assert fault(name, path_of_reader, content) is None
        with pytest.raises(Exception, match=path_of_reader.name):
            run(name, path_of_reader)
    assert list(tmp_path.iterdir()) == []


class Touch:
    """Makes a folder when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("ran",)


# --- one reader of JSON -------------------------------------------------------------------------

#: Files that may call `json` itself: the one safe reader, and a report over a pipe of our own.
JSON_READERS = {"base/untrusted.py", "base/validation.py", "workflow/scratch.py"}
#: Other readers, which use the last of two equal keys.
OTHER_READERS = {"model_validate_json", "validate_json", "from_json"}


def loads_json(text: str) -> bool:
    """Whether Python code reads JSON with the standard library, under any name of the module."""
    names = {"json"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "json":
            if any(alias.name in ("load", "loads", "JSONDecoder", "*") for alias in node.names):
                return True
        if isinstance(node, ast.Import):
            names |= {alias.asname for alias in node.names if alias.name == "json" and alias.asname}
        if isinstance(node, ast.Attribute) and node.attr in OTHER_READERS:
            return True
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("load", "loads", "JSONDecoder", "decoder")
        and isinstance(node.value, ast.Name)
        and node.value.id in names
        for node in ast.walk(ast.parse(text))
    )


def test_json_only_safe_reader():
    files = [*LIBRARY.rglob("*.py"), *WORKFLOW.rglob("*.py")]
    offenders = {path for path in files if loads_json(path.read_text(encoding="utf-8"))} - {
        LIBRARY / name for name in JSON_READERS
    }
    rules = [*LIBRARY.rglob("*.smk"), *WORKFLOW.rglob("*.smk")]
    assert not [*offenders, *(path for path in rules if "json.load" in path.read_text())]


@pytest.mark.parametrize(
    "text",
    [
        "import json\njson.loads(x)",
        "import json as j\nmap(j.load, x)",
        "from json import loads\nloads(x)",
        "from json import load as read\nread(x)",
        "import json\nread = json.JSONDecoder",
        "Entry.model_validate_json(x)",
    ],
)
def test_json_other_reader_is_found(text):
    assert loads_json(text)
    assert not loads_json("import json\njson.dumps(x)")


@pytest.mark.fault("users_file")
@pytest.mark.parametrize("content", [b"[" * DEEP, b'{"a":' * DEEP, b"\xff", b'{"a": 1', b""])
@pytest.mark.parametrize(
    "read",
    [
        lambda path: folder_identity(path.parent, name="toy"),
        read_json,
    ],
)
def test_json_readers_hostile_file(tmp_path, content, read):
    path = tmp_path / "everycell-source.json"
    path.write_bytes(content)
    with pytest.raises((LanguageModelError, ValueError)):
        read(path)
