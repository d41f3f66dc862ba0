r"""Synthetic documents and queries whose relevance follows from planted concepts.

.. math:: s(q, d) = \sum_{c \in q \cap d} w_d(c) + W |n_q \cap n_d|

with the concepts c and names n that query and document share, and W = `NAME_WEIGHT`. So the
best result is known. A ranker that matches words misses a share 1 - 1 / `TERMS` of the shared
concepts; one that reads no cues takes all weights as equal; one that knows no names misses names.
Each task of `CONTROLS` takes one of these away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from everycell.collections.benchmark import Benchmark

#: The task with all effects, its queries in few words, and the controls, each without one effect.
EFFECTS, SHORT = "all effects", "short queries"
CONTROLS: Mapping[str, str] = {
    "names": "no names",
    "mismatch": "no mismatch",
    "weights": "equal weights",
}
TASKS = (EFFECTS, SHORT, *CONTROLS.values())
#: Tasks that are tested and not trained: the counterparts, without one effect more, of queries
#: without names and of short queries.
UNNAMED_WORDS, UNNAMED_SHORT = "no names or mismatch", "short without names"
CHECKED = (*TASKS, UNNAMED_WORDS, UNNAMED_SHORT)
PROBES = "single terms"
#: Tasks with documents of their own; those of the others are those of the first.
_COLLECTIONS = (EFFECTS, CONTROLS["mismatch"], CONTROLS["weights"])
#: Terms of a concept; concepts and cues of a collection; concepts of a document and a short query.
TERMS, CONCEPTS, CUES, IN_DOCUMENT, IN_SHORT = 2, 30, 16, 5, 3
#: Documents of a name on average, its weight, and standard deviation of the noise of relevance.
DOCUMENTS_OF_NAME = 8
NAME_WEIGHT, NOISE = 1.0, 0.1
#: Documents of a list; how many of them are the best of all; how many are relevant.
LISTED, BEST, RELEVANT = 30, 10, 5
SETTING = "planted"


@dataclass(frozen=True)
class PlantedConcepts:
    """A collection, the planted concepts in it, and the scores that rankers can reach."""

    documents: pd.DataFrame
    benchmark: Benchmark
    mentions: pd.DataFrame
    terms: pd.DataFrame
    scores: dict[str, pd.DataFrame]

    @property
    def vocabulary(self) -> list[str]:
        """Words that an encoder knows: all but the names."""
        return [*self.terms["term"], *self.mentions["cue"].drop_duplicates().sort_values()]


def planted_concepts(sizes: Mapping[str, int], seed: int) -> PlantedConcepts:
    """Draw the collection, with as many queries of each task as `sizes` says by split.

    There are three sets of documents, each as large as a task, so `sizes` must add up to more than
    `LISTED`.
    """
    rng = np.random.default_rng(seed)
    words, cues = _words(rng), _cues(rng)
    parts = [_Part(task, sizes, words, cues, rng) for task in _COLLECTIONS]
    lists = pd.concat(
        [part.lists(rng, checks) for checks in (False, True) for part in parts], ignore_index=True
    )
    keys, tested = ["query_id", "document_id"], lists[lists["split"] != "train"]
    scores = {
        name: tested[[*keys, name]].set_axis(["query", "document", "score"], axis="columns")
        for name in ("concepts", "words", "no-names")
    }
    terms = pd.concat([part.terms for part in parts], ignore_index=True)
    probes = pd.DataFrame(
        {"task": PROBES, "query_id": terms["term"], "split": "test", "text": terms["term"]}
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
    """Words without a meaning, in random order, that no stemmer changes."""
    consonants, vowels, ends = "bdfgklmnprtvz", "aeiou", "bfgkp"
    drawn = rng.permutation(len(consonants) ** 2 * len(vowels) ** 2 * len(ends))
    letters = [consonants, vowels, consonants, vowels, ends]
    for positions in zip(
        *np.unravel_index(drawn, [len(letter_set) for letter_set in letters]), strict=True
    ):
        yield "".join(
            letter_set[position] for letter_set, position in zip(letters, positions, strict=True)
        )


def _cues(rng: np.random.Generator) -> Iterator[str]:
    """Stop words, which count in no query of TILDE; in random order."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = sorted(word for word in ENGLISH_STOP_WORDS if len(word) > 4 and word[:2] != "wh")
    yield from rng.permutation(words)


class _Part:
    """Documents with words of their own, and the tasks on them."""

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
        #: Term of each concept in a document (-1: none), and its weight.
        self.form = np.full((self.size, CONCEPTS), -1)
        self.form[rows, concepts] = form
        self.weight = np.zeros(self.form.shape)
        equal = task == CONTROLS["weights"]
        self.weight[rows, concepts] = cue_weights.mean() if equal else cue_weights[cue]

        self.ids = np.array([f"{task.replace(' ', '-')}-{row:04}" for row in range(self.size)])
        written = np.stack([cue_words[cue], terms[concepts, form]], axis=2)
        self.words = [" ".join(row) for row in written.reshape(self.size, -1)]
        self.texts = [f"{a} {b}" for a, b in zip(self.words, names[self.name], strict=True)]
        few = zip(terms[concepts, form][:, :IN_SHORT], names[self.name], strict=True)
        self.short = [" ".join([*row, name]) for row, name in few]
        self.unnamed_short = [text.rpartition(" ")[0] for text in self.short]
        self.few = np.full(self.form.shape, -1)
        self.few[rows, concepts[:, :IN_SHORT]] = form[:, :IN_SHORT]

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
        """Task -> texts of its queries, term of each concept in them, and whether names count."""
        if self.task == CONTROLS["mismatch"] and checks:
            return {UNNAMED_WORDS: (self.words, self.form, False)}
        if self.task != EFFECTS:
            return {} if checks else {self.task: (self.texts, self.form, True)}
        if checks:
            return {UNNAMED_SHORT: (self.unnamed_short, self.few, False)}
        return {
            EFFECTS: (self.texts, self.form, True),
            SHORT: (self.short, self.few, True),
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
                    "query_id": self.query_ids(task),
                    "split": self.splits,
                    "text": texts,
                }
            )
            for checks in (False, True)
            for task, (texts, *_) in self.tasks(checks).items()
        )
        return queries[queries["task"].isin(TASKS) | (queries["split"] != "train")]

    def lists(self, rng: np.random.Generator, checks: bool) -> pd.DataFrame:
        """Lists of the tasks, with the planted scores."""
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
        """The best documents of a query and others that share something with it."""
        query_form = form[row]
        concepts = self.weight @ (query_form >= 0)
        words = np.where(self.form == query_form, self.weight, 0) @ (query_form >= 0)
        same = NAME_WEIGHT * (self.name == self.name[row]) * names
        # Rounded, so that equal sums tie.
        total, words, concepts = (
            part.round(6) for part in (concepts + same, words + same, concepts)
        )
        is_candidate = (np.arange(self.size) != row) & (total > 0)
        pool = np.flatnonzero(is_candidate)
        best = pool[np.argsort(-total[pool], kind="stable")][:BEST]
        further = rng.permutation(np.setdiff1d(pool, best))[: LISTED - len(best)]
        listed = np.sort(np.concatenate([best, further]))
        noisy = total[listed] + NOISE * rng.normal(size=len(listed))
        return pd.DataFrame(
            {
                "setting": SETTING,
                "task": task,
                "split": self.splits[row],
                "query_id": query,
                "document_id": self.ids[listed],
                "relevance": (np.argsort(np.argsort(-noisy)) < RELEVANT).astype(int),
                "concepts": total[listed],
                "words": words[listed],
                "no-names": concepts[listed],
            }
        )
