r"""Synthetic collection of chapter 2 of abolghasemi2026: relevance follows planted concepts.

.. math:: s(q, d) = \sum_{c \in q \cap d} w_d(c) + W |n_q \cap n_d|

for the concepts c and the names n that query and document share, with W = `NAME_WEIGHT`. The best
possible result is therefore known. A ranker that matches words misses a share 1 - 1 / `TERMS` of
the shared concepts; a ranker that ignores cues treats all weights as equal; a ranker whose
vocabulary lacks the names misses shared names. Each task of `CONTROLS` lacks one of these effects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from everycell.collections.benchmark import Benchmark
from everycell.jobs.job import Job
from everycell.trec.runs import write_run

#: The task with all effects, the same task with short queries, and controls that each lack one
#: effect.
EFFECTS, SHORT = "all effects", "short queries"
CONTROLS: Mapping[str, str] = {
    "names": "no names",
    "mismatch": "no mismatch",
    "weights": "equal weights",
}
TASKS = (EFFECTS, SHORT, *CONTROLS.values())
#: Tasks without training queries: one without names and without mismatch, and one with short
#: queries and without names.
UNNAMED_WORDS, UNNAMED_SHORT = "no names or mismatch", "short without names"
CHECKED = (*TASKS, UNNAMED_WORDS, UNNAMED_SHORT)
PROBES = "single terms"
#: Tasks with their own documents; the other tasks use the documents of the first.
_COLLECTIONS = (EFFECTS, CONTROLS["mismatch"], CONTROLS["weights"])
#: Terms per concept; concepts and cues per collection; concepts per document and per short query.
TERMS, CONCEPTS, CUES, IN_DOCUMENT, IN_SHORT = 2, 30, 16, 5, 3
#: Mean number of documents per name, weight of a name, and standard deviation of the noise.
DOCUMENTS_OF_NAME = 8
NAME_WEIGHT, NOISE = 1.0, 0.1
#: Documents per list; the number of top-scoring ones among them; the number of relevant ones.
LISTED, BEST, RELEVANT = 30, 10, 5
SETTING = "planted"


def collection_concepts(job: Job) -> None:
    """The synthetic collection with planted relevance, and an untrained encoder."""
    # torch takes seconds to import.
    from everycell.learning.models import write_untrained

    collection = plant_concepts(job.params.sizes, job.params.seed)
    job.write_frame(collection.documents, "documents")
    job.write_frame(collection.benchmark.queries, "queries")
    job.write_frame(collection.benchmark.candidates, "candidates")
    job.write_frame(collection.mentions, "mentions")
    for file in map(Path, job.output.scores):
        write_run(collection.scores[file.stem.removeprefix("planted.")], file, tag=file.stem)
    write_untrained(
        collection.vocabulary,
        Path(job.output.encoder),
        positions=job.params.positions,
        seed=job.params.seed,
    )


@dataclass(frozen=True)
class PlantedConcepts:
    """A collection, the planted concepts, and the scores that ideal rankers give."""

    documents: pd.DataFrame
    benchmark: Benchmark
    mentions: pd.DataFrame
    terms: pd.DataFrame
    scores: dict[str, pd.DataFrame]

    @property
    def vocabulary(self) -> list[str]:
        """Vocabulary of encoders: all words except the names."""
        return [*self.terms["term"], *self.mentions["cue"].drop_duplicates().sort_values()]


def plant_concepts(sizes: Mapping[str, int], seed: int) -> PlantedConcepts:
    """Generate the collection; `sizes` is the number of queries per split of a task.

    Each of the three sets of documents has as many documents as a task has queries, so the sum of
    `sizes` must exceed `LISTED`.
    """
    rng = np.random.default_rng(seed)
    words, cues = _words(rng), _cues(rng)
    parts = [_Part(task, sizes, words, cues, rng) for task in _COLLECTIONS]
    lists = pd.concat(
        [part.lists(rng, checks) for checks in (False, True) for part in parts], ignore_index=True
    )
    keys, test_lists = ["query", "document_id"], lists[lists["split"] != "train"]
    scores = {
        name: test_lists[[*keys, name]].set_axis(["query", "document", "score"], axis="columns")
        for name in ("concepts", "words", "no-names")
    }
    terms = pd.concat([part.terms for part in parts], ignore_index=True)
    probes = pd.DataFrame(
        {"task": PROBES, "query": terms["term"], "split": "test", "text": terms["term"]}
    )
    queries = pd.concat([*(part.queries() for part in parts), probes], ignore_index=True)
    return PlantedConcepts(
        pd.concat([part.documents for part in parts], ignore_index=True),
        Benchmark(queries, lists.drop(columns=list(scores))),
        pd.concat([part.mentions for part in parts], ignore_index=True),
        terms,
        scores,
    )


def _words(rng: np.random.Generator) -> Iterator[str]:
    """Yield meaningless words that no stemmer changes, in random order."""
    consonants, vowels, ends = "bdfgklmnprtvz", "aeiou", "bfgkp"
    order = rng.permutation(len(consonants) ** 2 * len(vowels) ** 2 * len(ends))
    letters = [consonants, vowels, consonants, vowels, ends]
    for positions in zip(
        *np.unravel_index(order, [len(letter_set) for letter_set in letters]), strict=True
    ):
        yield "".join(
            letter_set[position] for letter_set, position in zip(letters, positions, strict=True)
        )


def _cues(rng: np.random.Generator) -> Iterator[str]:
    """Yield stop words, which TILDE ignores in queries, in random order."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = sorted(word for word in ENGLISH_STOP_WORDS if len(word) > 4 and word[:2] != "wh")
    yield from rng.permutation(words)


class _Part:
    """A set of documents with its own words, and the tasks on it."""

    def __init__(
        self,
        task: str,
        sizes: Mapping[str, int],
        words: Iterator[str],
        cues: Iterator[str],
        rng: np.random.Generator,
    ) -> None:
        self.task, self.size = task, sum(sizes.values())
        self.splits = np.repeat(list(sizes), list(sizes.values()))
        forms = 1 if task == CONTROLS["mismatch"] else TERMS
        terms = np.array([[next(words) for _ in range(forms)] for _ in range(CONCEPTS)])
        names = np.array([next(words) for _ in range(self.size // DOCUMENTS_OF_NAME)])
        cue_words = np.array([next(cues) for _ in range(CUES)])
        cue_weights = rng.permutation(np.linspace(0.05, 1, CUES))

        concepts = np.array([rng.permutation(CONCEPTS)[:IN_DOCUMENT] for _ in range(self.size)])
        form, cue = (rng.integers(bound, size=concepts.shape) for bound in (forms, CUES))
        self.name = rng.integers(len(names), size=self.size)
        rows = np.arange(self.size)[:, None]
        #: Index of the term of each concept in a document (-1 if absent), and the concept's weight.
        self.form = np.full((self.size, CONCEPTS), -1)
        self.form[rows, concepts] = form
        self.weight = np.zeros(self.form.shape)
        has_equal_weights = task == CONTROLS["weights"]
        self.weight[rows, concepts] = cue_weights.mean() if has_equal_weights else cue_weights[cue]

        self.ids = np.array([f"{task.replace(' ', '-')}-{row:04}" for row in range(self.size)])
        cues_and_terms = np.stack([cue_words[cue], terms[concepts, form]], axis=2)
        self.words = [" ".join(row) for row in cues_and_terms.reshape(self.size, -1)]
        self.texts = [f"{a} {b}" for a, b in zip(self.words, names[self.name], strict=True)]
        short_rows = zip(terms[concepts, form][:, :IN_SHORT], names[self.name], strict=True)
        self.short = [" ".join([*row, name]) for row, name in short_rows]
        self.unnamed_short = [text.rpartition(" ")[0] for text in self.short]
        self.short_form = np.full(self.form.shape, -1)
        self.short_form[rows, concepts[:, :IN_SHORT]] = form[:, :IN_SHORT]

        concept = np.array([f"{task}-{number}" for number in range(CONCEPTS)])
        self.documents = pd.DataFrame({"document_id": self.ids, "text": self.texts})
        self.terms = pd.DataFrame({"concept": concept.repeat(forms), "term": terms.ravel()})
        self.mentions = pd.DataFrame(
            {
                "task": task,
                "document_id": self.ids.repeat(IN_DOCUMENT),
                "concept": concept[concepts].ravel(),
                "term": terms[concepts, form].ravel(),
                "cue": cue_words[cue].ravel(),
                "weight": cue_weights[cue].ravel(),
            }
        )

    def tasks(self, checks: bool) -> Mapping[str, tuple[Sequence[str], np.ndarray, bool]]:
        """Map tasks to query texts, the terms of concepts in them, and whether names count."""
        if self.task == CONTROLS["mismatch"] and checks:
            return {UNNAMED_WORDS: (self.words, self.form, False)}
        if self.task != EFFECTS:
            return {} if checks else {self.task: (self.texts, self.form, True)}
        if checks:
            return {UNNAMED_SHORT: (self.unnamed_short, self.short_form, False)}
        return {
            EFFECTS: (self.texts, self.form, True),
            SHORT: (self.short, self.short_form, True),
            CONTROLS["names"]: (self.words, self.form, False),
        }

    def query_ids(self, task: str) -> list[str]:
        """Ids of the queries of a task."""
        return [f"{task.replace(' ', '-')}-query-{row:04}" for row in range(self.size)]

    def queries(self) -> pd.DataFrame:
        """Queries of all tasks."""
        queries = pd.concat(
            pd.DataFrame(
                {
                    "task": task,
                    "query": self.query_ids(task),
                    "split": self.splits,
                    "text": texts,
                }
            )
            for checks in (False, True)
            for task, (texts, *_) in self.tasks(checks).items()
        )
        return queries[queries["task"].isin(TASKS) | (queries["split"] != "train")]

    def lists(self, rng: np.random.Generator, checks: bool) -> pd.DataFrame:
        """Candidate lists of all tasks, with the planted scores."""
        frames = [
            self._list(task, form, names, row, query, rng)
            for task, (_, form, names) in self.tasks(checks).items()
            for row, query in enumerate(self.query_ids(task))
            if not checks or self.splits[row] != "train"
        ]
        return pd.concat(frames) if frames else pd.DataFrame()

    def _list(
        self,
        task: str,
        form: np.ndarray,
        names: bool,
        row: int,
        query: str,
        rng: np.random.Generator,
    ) -> pd.DataFrame:
        """Candidate list of a query: the best documents, and others with a score above 0."""
        query_form = form[row]
        concepts = self.weight @ (query_form >= 0)
        words = np.where(self.form == query_form, self.weight, 0) @ (query_form >= 0)
        name_score = NAME_WEIGHT * (self.name == self.name[row]) * names
        # Rounded, so that equal sums tie.
        total, words, concepts = (
            scores.round(6) for scores in (concepts + name_score, words + name_score, concepts)
        )
        is_candidate = (np.arange(self.size) != row) & (total > 0)
        pool = np.flatnonzero(is_candidate)
        best = pool[np.argsort(-total[pool], kind="stable")][:BEST]
        other_rows = rng.permutation(np.setdiff1d(pool, best))[: LISTED - len(best)]
        candidates = np.sort(np.concatenate([best, other_rows]))
        noisy_scores = total[candidates] + NOISE * rng.normal(size=len(candidates))
        return pd.DataFrame(
            {
                "setting": SETTING,
                "task": task,
                "split": self.splits[row],
                "query": query,
                "document_id": self.ids[candidates],
                "relevance": (np.argsort(np.argsort(-noisy_scores)) < RELEVANT).astype(int),
                "concepts": total[candidates],
                "words": words[candidates],
                "no-names": concepts[candidates],
            }
        )
