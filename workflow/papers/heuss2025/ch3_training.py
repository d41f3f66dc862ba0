"""Training of the rankers of chapter 3 of heuss2025: BERT-Mini and ADV.

BERT-Mini is a pointwise cross-encoder on MS MARCO's triples; ADV continues its training against an
adversary that predicts whether a pair has gendered terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
from datasets import Dataset, Features, List, Value
from datasets.arrow_writer import ArrowWriter

from everycell.base.errors import DataError
from everycell.base.text_files import read_lines
from everycell.collections.benchmark import texts_by_id
from everycell.collections.msmarco import read_passages
from everycell.jobs.job import Job
from everycell.learning.adversarial import add_adversary, pointwise_loss
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.cross_encoder import PairLength, score_in_parts, score_pairs
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.learning.training import train
from everycell.metrics.word_lists import groups_of_terms, read_words
from everycell.trec.runs import read_run, trec_order, write_run

_TEXTS = List(Value("string"))
_FEATURES = Features({"query": Value("string"), "texts": _TEXTS, "attributes": List(Value("bool"))})


def train_mini(job: Job) -> None:
    """Train BERT-Mini from a pre-trained encoder; interrupted training resumes."""
    _train(job, job.folder_of("encoder"), scale=None)


def train_adversarial(job: Job) -> None:
    """Train BERT-Mini further against an adversary; interrupted training resumes."""
    _train(job, job.folder_of("start"), scale=job.params.strength)


def adversarial_run(job: Job) -> None:
    """Re-rank the top candidates of each query with a trained cross-encoder."""
    use_one_thread()
    inputs, params = job.input, job.params
    set_gpu_precision(params.gpu_precision)
    table = pd.read_parquet(inputs.queries)
    queries = texts_by_id(table[table[params.query_set]], "query")
    lists = top_candidates(Path(inputs.candidates), list(queries), params.depth)
    passages = read_passages(Path(inputs.collection), set(lists["document"]))
    model, tokenizer = load_model(Path(inputs.model), "classifier")
    length = PairLength(params.pair, "longest_first")
    score = partial(score_pairs, model.to(device()), tokenizer, queries, passages, length=length)
    write_run(score_in_parts(lists, score), Path(job.output.run), tag="adv")


def top_candidates(run: Path, queries: list[str], depth: int) -> pd.DataFrame:
    """Pairs of queries and their top documents in a run."""
    ranked = trec_order(read_run(run))
    lists = ranked[ranked["query"].isin(queries)].groupby("query", sort=False).head(depth)
    return lists[["query", "document"]].reset_index(drop=True)


def read_triples(path: Path, limit: int | None) -> Iterator[tuple[str, str, str]]:
    """Read lines of a query, a relevant and a non-relevant text, separated by tabs."""
    for number, line in islice(read_lines(path, "see docs/fair-reranking.md"), limit):
        parts = line.split("\t")
        if len(parts) != 3 or not all(map(str.strip, parts)):
            raise DataError(
                path,
                number,
                value=line[:80],
                expected="'query, tab, relevant text, tab, non-relevant text'",
                fix="unpack the published triples again",
            )
        yield parts[0], parts[1], parts[2]


def triple_examples(
    triples: Iterator[tuple[str, str, str]], group_of: dict[str, int], file: Path
) -> Dataset:
    """Triples with the attribute of the adversary, in a file, since they take gigabytes.

    A pair is gendered if its query has a gendered term, or if its document is not neutral, as in
    the authors' code.
    """
    with ArrowWriter(path=str(file), features=_FEATURES) as writer:
        for query, *texts in triples:
            from_query = _is_gendered(query, group_of, allowed=0)
            attributes = [from_query or _is_gendered(text, group_of, allowed=1) for text in texts]
            writer.write({"query": query, "texts": texts, "attributes": attributes})
        writer.finalize()
    return Dataset.from_file(str(file))


def _is_gendered(text: str, group_of: dict[str, int], *, allowed: int) -> bool:
    """Whether the neutrality of a text is below 1."""
    counts = [0, 0]
    for token in text.lower().split():
        if token in group_of:
            counts[group_of[token]] += 1
    return sum(counts) > allowed and counts[0] != counts[1]


def _train(job: Job, start: Path, *, scale: float | None) -> None:
    use_one_thread()
    params: Any = job.params
    folder = Path(job.output.model)
    file = folder.with_name(f"{folder.name}.examples.arrow")
    model, tokenizer = load_model(start, "classifier", seed=params.seed)
    if scale is not None:
        add_adversary(model, params.seed)
    examples = triple_examples(
        read_triples(Path(job.input.triples), params.triples),
        groups_of_terms(read_words(job.input.words)),
        file,
    )
    train(
        model.to(device()),
        examples,
        pointwise_loss(tokenizer, PairLength(params.pair, "longest_first"), scale=scale),
        TrainingOptions(seed=params.seed, **params.options),
        folder,
        tokenizer=tokenizer,
        settings={"pair": params.pair, "scale": scale, "code": params.code},
    )
    file.unlink()
