"""Chunks of KILT's Wikipedia and candidates of BM25 for chapter 5 of heuss2025, as in its code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field
from tokenizers import Tokenizer

from everycell.base.errors import DataError
from everycell.base.files import write_atomically
from everycell.base.text_files import read_json_lines
from everycell.jobs.job import Job
from everycell.retrieval.prebuilt import index_texts, search_words
from everycell.trec.runs import write_run

GUIDE = "docs/citation-faithfulness.md"
#: Pages that are tokenised at a time, in parallel.
_PAGES_PER_BATCH = 1000


class _Page(BaseModel):
    model_config = ConfigDict(strict=True)

    wikipedia_title: str = Field(min_length=1)
    text: list[str]


class _Question(BaseModel):
    model_config = ConfigDict(strict=True)

    id: str = Field(min_length=1, pattern=r"^\S+$")
    input: str = Field(min_length=1)


def kilt_index(job: Job) -> None:
    """Lucene index of the chunks."""
    files = job.input
    count = index_texts(
        kilt_chunks(Path(files.pages), read_tokenizer(Path(files.tokenizer)), job.params.tokens),
        Path(job.output.index),
        threads=job.snakemake.threads,
    )
    job.log.write(f"{count:,} chunks indexed.\n")


def kilt_candidates(job: Job) -> None:
    """Questions, BM25's candidates for them, and the texts of these."""
    files, params = job.input, job.params
    questions = kilt_questions(Path(files.questions))
    run = search_words(
        Path(files.index),
        questions,
        k1=params.k1,
        b=params.b,
        hits=params.candidates,
        threads=job.snakemake.threads,
    )
    retrieved = set(run["document"])
    chunks = kilt_chunks(Path(files.pages), read_tokenizer(Path(files.tokenizer)), params.tokens)
    _write_lines(
        Path(job.output.passages),
        ({"id": name, "text": text} for name, text in chunks if name in retrieved),
    )
    _write_lines(
        Path(job.output.questions),
        ({"id": name, "question": text, "relevant": []} for name, text in questions.items()),
    )
    write_run(run, Path(job.output.run), tag="bm25")
    job.log.write(f"{len(retrieved):,} chunks for {len(questions):,} questions.\n")


def kilt_chunks(path: Path, tokenizer: Tokenizer, tokens: int) -> Iterator[tuple[str, str]]:
    """Chunks of all pages, each with the title on a line of its own; equal chunks are dropped.

    Paragraphs are joined without a separator, and cut without overlap.
    """
    digests = set()
    pages = (page for _, page in read_json_lines(path, _Page, GUIDE))
    while batch := list(islice(pages, _PAGES_PER_BATCH)):
        for text in _cut(batch, tokenizer, tokens):
            # Millions of chunks: digests need less memory than texts.
            digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
            if digest not in digests:
                digests.add(digest)
                yield f"doc{len(digests) - 1}", text


def _cut(pages: Sequence[_Page], tokenizer: Tokenizer, tokens: int) -> Iterator[str]:
    encodings = tokenizer.encode_batch(
        ["".join(page.text) for page in pages], add_special_tokens=False
    )
    for page, encoding in zip(pages, encodings, strict=True):
        for start in range(0, len(encoding.ids), tokens):
            body = tokenizer.decode(encoding.ids[start : start + tokens])
            yield f"{page.wikipedia_title}\n{body}"


def kilt_questions(path: Path) -> dict[str, str]:
    """Questions of a task of KILT by id."""
    questions: dict[str, str] = {}
    for number, question in read_json_lines(path, _Question, GUIDE):
        if question.id in questions:
            raise DataError(path, number, "id", question.id, "which occurs twice", fix="remove one")
        questions[question.id] = question.input
    return questions


def read_tokenizer(path: Path) -> Tokenizer:
    """Tokenizer of a file tokenizer.json."""
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:
        # The library raises no more specific class.
        raise DataError(
            path,
            fault=f"cannot be read as a tokenizer ({error})",
            fix="download tokenizer.json of GPT-2 again",
        ) from None


def _write_lines(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    write_atomically(path, "".join(json.dumps(row) + "\n" for row in rows))
