r"""Synthetic rankings with a known group bias, which measures of bias must recover.

.. math:: p(G_i|k) = \frac{\sum_{r \le k} w_r m_{ir} / l_r}{\sum_x \sum_{r \le k} w_r m_{xr} / l_r},
          \quad RBDF(k) = \frac{\sum_{r \le k} w_r [\sum_i m_{ir} > 0]}{\sum_{r \le k} w_r},
          \quad TED(k) = RBDF(k) \sum_i |p(G_i|k) - 1/G|

Source: abolghasemi2026, Eqs. 4.1 to 4.13; the systems are this project's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

#: Groups and their terms, if the caller has none.
WORDS: Mapping[str, tuple[str, ...]] = {
    "female": ("she", "woman", "mother", "daughter", "sister"),
    "male": ("he", "man", "father", "son", "brother"),
}
#: How each system ranks. Which group is the first one changes from query to query.
SYSTEMS: Mapping[str, str] = {
    "even": "every document has as many terms of each group",
    "neutral": "no document has a term",
    "one-sided": "every document has terms of the first group alone",
    "skewed": "every document has three times as many terms of the first group as of each other",
    "alternating": "every document has terms of one group alone, the groups in turn",
    "turning": "as alternating, but all documents of a group before those of the next",
    "sparse": "as alternating, with three documents without a term before each",
    "fading": "the first quarter has terms of the first group alone, the rest no term",
    "drawn": "lengths, documents with a term and their terms are drawn, in shares that are drawn "
    "for each query",
}
#: Planted rankers -> by what share they are less biased than the baseline.
RANKERS: Mapping[str, float] = {
    "baseline": 0.0,
    "fairer-0.3": 0.3,
    "fairer-0.4": 0.4,
    "fairer-0.5": 0.5,
}
#: Ending of the names of rankers without planted effects.
CONTROL = ".control"
#: Number of group terms in a document that has any: of one group, or of each.
TERMS = 2
#: Number of group terms up to which NFaiRR takes a document as neutral, as in its authors' code.
TAU = 1
#: Steps from rank to rank, for two series that are spread evenly and apart.
_STEPS = np.array([[(math.sqrt(5) - 1) / 2], [math.sqrt(2) - 1]])
#: Columns of a plan that are not groups.
PLAN = ("system", "query", "rank", "document", "length")

_NEUTRAL = tuple(
    """
    river stone lamp window table paper garden winter morning harbour bridge market letter train
    copper engine signal mountain valley forest island weather number colour circle surface metal
    history music report season village kitchen basket ladder pencil orchard meadow lantern compass
    """.split()
)


@dataclass(frozen=True)
class PlantedBias:
    """A collection with rankings whose bias is known."""

    documents: pd.DataFrame
    plan: pd.DataFrame
    runs: dict[str, pd.DataFrame]
    truth: pd.DataFrame
    words: Mapping[str, Collection[str]]


def plant_bias(
    words: Mapping[str, Collection[str]] = WORDS,
    *,
    queries: int = 10,
    depth: int = 20,
    length: int = 40,
    seed: int = 0,
) -> PlantedBias:
    """Make documents and rankings with a known bias."""
    groups = _checked_words(words)
    for name, value, minimum in (
        ("queries", queries, 1),
        ("depth", depth, 1),
        ("length", length, TERMS * (len(groups) + 2)),
    ):
        if value < minimum:
            raise ValueError(f"{name} is {value}; give {minimum} or more.")
    draw = np.random.default_rng(seed)
    lists = (
        (system, number, *_ranking(system, len(groups), depth, length, draw))
        for number in range(queries)
        for system in SYSTEMS
    )
    return _planted(lists, words, draw)


def plant_rankers(
    words: Mapping[str, Collection[str]] = WORDS,
    *,
    queries: int = 50,
    depth: int = 10,
    length: int = 40,
    seed: int = 0,
    effects: bool = True,
) -> PlantedBias:
    """Make rankers that are less biased than a baseline, query by query."""
    groups = _checked_words(words)
    draw = np.random.default_rng(seed)
    biases = draw.uniform(0.2, 1, (queries, 2))
    rankers = RANKERS
    if effects:
        biases[:, 1] = biases[:, 0]
    else:
        rankers = {f"{ranker}{CONTROL}": 0.0 for ranker in RANKERS}
    lists = (
        (name, number, *_ranker(bias * (1 - fairer), len(groups), depth, length, draw))
        for number, bias in enumerate(biases)
        for name, fairer in rankers.items()
    )
    return _planted(lists, words, draw)


def _ranker(
    bias: np.ndarray, groups: int, depth: int, length: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Terms and words by rank, as of `_ranking`; `bias` is the share and the leaning."""
    ranks, one = np.arange(depth), np.eye(groups, dtype=np.int64)
    limits = np.array([bias[0], bias[1] + (1 - bias[1]) / groups])
    # Steps of an irrational number, so that the first k documents have about the shares.
    two, leans = (draw.uniform(size=(2, 1)) + ranks * _STEPS) % 1 < limits[:, None]
    terms = 1 + two
    return one[np.where(leans, 0, 1 + ranks % (groups - 1))] * terms[:, None], length * terms


def _planted(
    lists: Iterable[tuple[str, int, np.ndarray, np.ndarray]],
    words: Mapping[str, Collection[str]],
    draw: np.random.Generator,
) -> PlantedBias:
    """Documents and rankings of planned lists: a system, the query's number, terms and words."""
    groups = _checked_words(words)
    rows, documents = [], []
    for system, number, counts, lengths in lists:
        query = f"q{number + 1:03}"
        # Rolled, so that the bias of single queries does not show in a mean over queries.
        counts = np.roll(counts, number, axis=1)
        for rank, (terms, size) in enumerate(zip(counts, lengths, strict=True), 1):
            document = f"{system}.{query}.{rank:03}"
            rows.append((system, query, rank, document, int(size), *map(int, terms)))
            documents.append((document, _text(terms, int(size), list(groups.values()), draw)))
    plan = pd.DataFrame(rows, columns=[*PLAN, *groups])
    return PlantedBias(
        pd.DataFrame(documents, columns=["document_id", "text"]),
        plan,
        {system: _run(part) for system, part in plan.groupby("system", sort=False)},
        planted_truth(plan),
        words,
    )


def _checked_words(words: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """Groups with their terms in lower case."""
    if len(words) < 2:
        raise ValueError(f"The groups are {list(words)}; give two or more.")
    group_of: dict[str, str] = dict.fromkeys(_NEUTRAL, "neutral words")
    for group, terms in words.items():
        if group in PLAN or not terms or isinstance(terms, str):
            raise ValueError(
                f"Group {group!r} has the terms {terms!r}; give it a name other than "
                f"{', '.join(PLAN)} and a list of one term or more."
            )
        for term in (term.lower() for term in terms):
            if not re.fullmatch(r"\w+", term):
                raise ValueError(f"The term {term!r} is not a single word; give single words.")
            if group_of.setdefault(term, group) != group:
                raise ValueError(
                    f"The term {term!r} is in {group!r} and in {group_of[term]!r}; remove it "
                    "from one of them."
                )
    return {group: tuple(term.lower() for term in terms) for group, terms in words.items()}


def _ranking(
    system: str, groups: int, depth: int, length: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Terms of each group (ranks x groups) and words (ranks) of a system's documents."""
    ranks = np.arange(depth)
    one = TERMS * np.eye(groups, dtype=np.int64)
    lengths = np.full(depth, length)
    if system == "even":
        return np.full((depth, groups), TERMS), lengths
    if system == "neutral":
        return np.zeros((depth, groups), dtype=np.int64), lengths
    if system == "one-sided":
        return one[np.zeros(depth, dtype=np.int64)], lengths
    if system == "skewed":
        return (TERMS + 2 * one[0]) * np.ones((depth, 1), dtype=np.int64), lengths
    if system == "alternating":
        return one[ranks % groups], lengths
    if system == "turning":
        return one[ranks * groups // depth], lengths
    if system == "sparse":
        return one[ranks // 4 % groups] * (ranks % 4 == 3)[:, None], lengths
    if system == "fading":
        return one[0] * (ranks < math.ceil(depth / 4))[:, None], lengths
    lengths = draw.integers(length // 2, length + length // 2, size=depth, endpoint=True)
    share, leaning = draw.uniform(), draw.dirichlet(np.ones(groups))
    totals = draw.integers(1, TERMS + 1, size=depth, endpoint=True)
    totals *= draw.uniform(size=depth) < share
    return draw.multinomial(totals, leaning), lengths


def _text(
    terms: Sequence[int], length: int, words: Sequence[tuple[str, ...]], draw: np.random.Generator
) -> str:
    planted = [
        str(word)
        for number, group in zip(terms, words, strict=True)
        for word in draw.choice(group, number)
    ]
    text = [*planted, *map(str, draw.choice(_NEUTRAL, length - len(planted)))]
    draw.shuffle(text)
    return " ".join(text)


def _run(plan: pd.DataFrame) -> pd.DataFrame:
    ranked = plan.assign(score=plan["rank"].max() + 1.0 - plan["rank"])
    return ranked[["query", "document", "score"]].reset_index(drop=True)


def planted_truth(plan: pd.DataFrame) -> pd.DataFrame:
    """Compute the measures of every list from its plan, at every cut-off."""
    groups = [column for column in plan.columns if column not in PLAN]
    equal = 1 / len(groups)
    highest = 2 * (1 - equal)
    rows = []
    # Written out rank by rank on purpose: the truth must not share code with the measures.
    for (system, query), documents in plan.groupby(["system", "query"], sort=False):
        exposure = [0.0] * len(groups)
        weights = representative = neutral = 0.0
        for rank, length, *terms in documents[["rank", "length", *groups]].itertuples(index=False):
            weight = 1 / math.log2(rank + 1)
            total = sum(terms)
            exposure = [
                sofar + weight * n / length for sofar, n in zip(exposure, terms, strict=True)
            ]
            weights += weight
            representative += weight * (total > 0)
            bias = sum(abs(n / total - equal) for n in terms) if total > TAU else 0.0
            neutral += weight * (1 - bias)
            exposed = sum(exposure)
            shares = [part / exposed if exposed else math.nan for part in exposure]
            divergence = sum(abs(share - equal) for share in shares)
            factor = representative / weights
            ted = divergence * factor if exposed else 0.0
            measures = (factor, ted, neutral / weights, highest - ted, highest - divergence)
            rows.append((system, query, rank, *shares, *measures))
    measures = ["RBDF", "TED", "NFaiRR", "TExFAIR", "TExFAIR without RBDF"]
    return pd.DataFrame(rows, columns=["system", "query", "k", *groups, *measures])
