"""Ranking scores with standard deviations, the input of chapter 3 of heuss2025.

They come from cross-validation on CAsT, where folds do not split conversations, from the user's
model on MS MARCO, or from the authors' file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.base.csv_files import read_table, row_number
from everycell.base.errors import DataError
from everycell.collections.benchmark import texts_by_id
from everycell.collections.msmarco import read_judgements, read_passages, read_queries
from everycell.jobs.job import Job
from everycell.retrieval.encoded import Encoded, read_encoded
from everycell.statistics.laplace import (
    LastLayer,
    fisher_diagonal,
    log_odds_distribution,
    sampled_distribution,
)
from everycell.trec.runs import read_run, trec_order

Vectors = Callable[[pd.DataFrame], FloatArray]


def cross_encoder(job: Job) -> None:
    """Cross-encoder scores with standard deviations, by models not trained on the query."""
    from everycell.learning.cross_encoder import PairLength, head_of, pair_vectors
    from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread

    use_one_thread()
    files, params = job.input, job.params
    set_gpu_precision(params.gpu_precision)
    queries = texts_by_id(pd.read_parquet(files.queries), "query")
    documents = texts_by_id(pd.read_parquet(files.documents), "document_id")
    length = PairLength(**params.pair_length)

    def model_of(fold, training):
        """Head of a fold's model, and a function that computes its pair vectors."""
        model, tokenizer = load_model(Path(files.models[fold]), "classifier")
        model = model.to(device())

        def vectors(pairs):
            text_pairs = list(pairs[["query", "document"]].itertuples(index=False, name=None))
            return pair_vectors(model, tokenizer, queries, documents, text_pairs, length)

        return head_of(model), vectors

    scores = scores_by_fold(
        candidate_pairs(pd.read_parquet(files.candidates)),
        [pd.read_parquet(path) for path in files.folds],
        model_of,
        fisher_pairs=params.fisher_pairs,
        prior=params.prior,
        samples=params.samples,
        seed=params.seed,
    )
    job.write_frame(scores, "scores")


def minilm(job: Job) -> None:
    """Scores with standard deviations by logistic heads on MiniLM, cross-fitted by conversation."""
    files, params = job.input, job.params
    encoded = read_encoded(Path(files.vectors))

    def vectors(pairs):
        """Element-wise products of query and document vectors."""
        return product_vectors(encoded, pairs)

    def model_of(fold, training):
        """Head fitted to the other conversations, and the function that computes pair vectors."""
        head = train_head(vectors(training), training["relevance"], strength=params.strength)
        return head, vectors

    scores = scores_by_fold(
        candidate_pairs(pd.read_parquet(files.candidates)),
        [pd.read_parquet(path) for path in files.folds],
        model_of,
        fisher_pairs=None,
        prior=1 / params.strength,
        samples=params.samples,
        seed=params.seed,
    )
    job.write_frame(scores, "scores")


def msmarco(job: Job) -> None:
    """Cross-encoder scores on MS MARCO with standard deviations."""
    from everycell.learning.cross_encoder import PairLength, head_of, pair_vectors
    from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread

    use_one_thread()
    inputs, params = job.input, job.params
    set_gpu_precision(params.gpu_precision)
    query_texts = pd.read_parquet(inputs.queries)
    query_texts = query_texts[query_texts[params.query_set]]
    run = trec_order(read_run(Path(inputs.candidates)))
    lists = run[run["query"].isin(query_texts["query"])].groupby("query", sort=False)
    pairs = lists.head(params.depth)[["query", "document"]]
    rng = np.random.default_rng(params.seed)
    texts = read_queries(Path(inputs.training_queries))
    training = training_pairs(
        read_judgements(Path(inputs.training_judgements), texts), params.fisher_pairs, rng
    )
    queries = texts | texts_by_id(query_texts, "query")
    passages = read_passages(Path(inputs.collection), {*pairs["document"], *training["document"]})
    model, tokenizer = load_model(job.folder_of("model"), "classifier")
    model = model.to(device())
    length = PairLength(params.pair, "longest_first")

    def vectors(identifiers):
        """Input of the model's last layer for these pairs."""
        rows = list(identifiers[["query", "document"]].itertuples(index=False, name=None))
        return pair_vectors(model, tokenizer, queries, passages, rows, length)

    scores = pair_scores(
        pairs.reset_index(drop=True),
        head_of(model),
        vectors,
        training,
        prior=params.prior,
        samples=params.samples,
        rng=rng,
    )
    job.write_frame(scores, "scores")


def given_scores(job: Job) -> None:
    """Scores with standard deviations from a file; those of the authors are over sampled heads."""
    scores = read_uncertain_scores(Path(job.input.scores))
    job.write_frame(
        scores.assign(sampled_mean=scores["mean"], sampled_deviation=scores["deviation"]), "scores"
    )


def read_uncertain_scores(path: Path) -> pd.DataFrame:
    """Scores of a ranker with their standard deviations, from the authors' CSV."""
    names = {
        "qid": "query",
        "docid": "document",
        "mean_score": "mean",
        "std_score": "deviation",
    }
    table = read_table(path, list(names))[list(names)]
    for name, smallest in (("mean_score", -np.inf), ("std_score", 0.0)):
        numbers = pd.to_numeric(table[name], errors="coerce")
        invalid = ~np.isfinite(numbers) | (numbers < smallest)
        if invalid.any():
            row = int(np.flatnonzero(invalid)[0])
            expected = "a finite number" + " of 0 or more" * (smallest == 0)
            raise DataError(
                path,
                f"row {row_number(path, row)}",
                name,
                table[name].iloc[row],
                expected=expected,
                fix="correct it or unpack the published file again",
            )
        table[name] = numbers
    repeated = table.duplicated(["qid", "docid"])
    if repeated.any():
        row = int(np.flatnonzero(repeated)[0])
        raise DataError(
            path, f"row {row_number(path, row)}", fault="repeats an earlier row", fix="remove one"
        )
    return table.rename(columns=names)


def candidate_pairs(candidates: pd.DataFrame) -> pd.DataFrame:
    """Distinct pairs of query and candidate, with relevance."""
    names = {"query": "query", "document_id": "document"}
    pairs = candidates.rename(columns=names)[["query", "document", "relevance"]]
    return pairs.drop_duplicates(["query", "document"]).reset_index(drop=True)


def scores_by_fold(
    pairs: pd.DataFrame,
    folds: Sequence[pd.DataFrame],
    train_model: Callable[[int, pd.DataFrame], tuple[LastLayer, Vectors]],
    *,
    fisher_pairs: int | None,
    prior: float,
    samples: int,
    seed: int,
) -> pd.DataFrame:
    """Mean and deviation of the log odds of each pair, by the model of its fold."""
    frames = []
    for number, fold in enumerate(folds):
        split = fold.set_index("query")["split"]
        pair_split = pairs["query"].map(split)
        training, held_out = pairs[pair_split == "train"], pairs[pair_split == "test"]
        head, vectors = train_model(number, training)
        # Each fold has its own generator, so it does not depend on earlier folds.
        rng = np.random.default_rng([seed, number])
        if fisher_pairs is not None and fisher_pairs < len(training):
            training = training.iloc[
                np.sort(rng.choice(len(training), fisher_pairs, replace=False))
            ]
        frames.append(
            pair_scores(held_out, head, vectors, training, prior=prior, samples=samples, rng=rng)
        )
    return pd.concat(frames, ignore_index=True)


def pair_scores(
    pairs: pd.DataFrame,
    head: LastLayer,
    vectors: Vectors,
    training: pd.DataFrame,
    *,
    prior: float,
    samples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Mean and deviation of the log odds of each pair by one model."""
    fisher = fisher_diagonal(head, vectors(training))
    rows = vectors(pairs)
    mean, deviation = log_odds_distribution(head, fisher, rows, prior=prior)
    sampled_mean, sampled_deviation = sampled_distribution(
        head, fisher, rows, samples=samples, rng=rng, prior=prior, log_probability=True
    )
    return pairs[["query", "document"]].assign(
        mean=mean,
        deviation=deviation,
        sampled_mean=sampled_mean,
        sampled_deviation=sampled_deviation,
    )


def training_pairs(judgements: pd.DataFrame, pairs: int, rng: np.random.Generator) -> pd.DataFrame:
    """Pairs of queries with their relevant passage, and with that of another query."""
    relevant = judgements[judgements["relevance"] > 0].drop_duplicates("query")
    if len(relevant) < 2:
        raise DataError(
            fault=f"{len(relevant)} training queries have a relevant passage",
            expected="at least 2",
            fix="use the training judgements of MS MARCO",
        )
    number = min(pairs // 2, len(relevant))
    sample = relevant.iloc[np.sort(rng.choice(len(relevant), number, replace=False))]
    keys = sample[["query", "document"]].reset_index(drop=True)
    # Each query gets the passage of the next query, never its own.
    mismatched = keys.assign(document=np.roll(keys["document"], -1))
    return pd.concat([keys, mismatched], ignore_index=True)


def product_vectors(encoded: Encoded, pairs: pd.DataFrame) -> FloatArray:
    """Element-wise product of query and document vectors, times their dimension."""
    queries = pd.Index(encoded.query_ids).get_indexer(pairs["query"])
    documents = pd.Index(encoded.document_ids).get_indexer(pairs["document"])
    if min(queries.min(), documents.min()) < 0:
        raise ValueError("A query or document of the pairs has no embedding; encode it first.")
    entries = np.asarray(encoded.queries)[queries] * np.asarray(encoded.documents)[documents]
    return entries * entries.shape[1]


def train_head(vectors: FloatArray, relevance: npt.ArrayLike, *, strength: float) -> LastLayer:
    """Fit a logistic regression, as a last layer with one logit."""
    from sklearn.linear_model import LogisticRegression

    # Newton's method reaches the optimum; the default solver stops at its tolerance.
    model = LogisticRegression(C=strength, solver="newton-cholesky", max_iter=100, tol=1e-8)
    fitted = model.fit(vectors, np.asarray(relevance))
    return LastLayer(fitted.coef_, fitted.intercept_)
