r"""Synthetic rankings with a known group bias, which TExFAIR and NFaiRR must recover.

.. math:: p(G_i|k) = \frac{\sum_{r \le k} w_r m_{ir} / l_r}{\sum_x \sum_{r \le k} w_r m_{xr} / l_r},
          \quad RBDF(k) = \frac{\sum_{r \le k} w_r [\sum_i m_{ir} > 0]}{\sum_{r \le k} w_r},
          \quad TED(k) = RBDF(k) \sum_i |p(G_i|k) - 1/G|

Source of the measures: abolghasemi2026, Eqs. 4.1 to 4.13. The systems are our own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

#: Default groups and their terms.
WORDS: Mapping[str, tuple[str, ...]] = {
    "female": ("she", "woman", "mother", "daughter", "sister"),
    "male": ("he", "man", "father", "son", "brother"),
}
#: Documents that each system ranks. The first group changes from query to query.
SYSTEMS: Mapping[str, str] = {
    "even": "every document has the same number of terms of each group",
    "neutral": "no document has group terms",
    "one-sided": "every document has terms of the first group only",
    "skewed": "every document has three times as many terms of the first group as of any other",
    "alternating": "every document has terms of one group only; the groups take turns",
    "turning": "like alternating, but all documents of a group precede those of the next",
    "sparse": "like alternating, with three documents without group terms before each of these",
    "fading": "the first quarter of the documents has terms of the first group only, the other "
    "documents have no group terms",
    "drawn": "the lengths, the documents with group terms and these terms are sampled, with shares "
    "that are sampled for each query",
}
#: Bias reduction of each planted ranker, as a share of the baseline's bias.
RANKERS: Mapping[str, float] = {
    "baseline": 0.0,
    "fairer-0.3": 0.3,
    "fairer-0.4": 0.4,
    "fairer-0.5": 0.5,
}
#: Suffix of the names of rankers without planted effects.
CONTROL = ".control"
#: Number of terms of a group in a document with terms of this group.
TERMS = 2
#: Largest number of group terms in a neutral document, as in the code of NFaiRR's authors.
TAU = 1
#: Irrational steps from rank to rank, which yield two evenly spread, unrelated series.
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
    """Documents, the plan of their terms, runs, and the true values of the measures."""

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
    """Generate documents and rankings with a known bias."""
    draw = np.random.default_rng(seed)
    lists = (
        (system, number, *_list_of_system(system, len(words), depth, length, draw))
        for number in range(queries)
        for system in SYSTEMS
    )
    return _build_collection(lists, words, draw)


def plant_rankers(
    words: Mapping[str, Collection[str]] = WORDS,
    *,
    queries: int = 50,
    depth: int = 10,
    length: int = 40,
    seed: int = 0,
    effects: bool = True,
) -> PlantedBias:
    """Generate rankers that are less biased than a baseline for every query.

    Without `effects`, the rankers differ only by chance.
    """
    draw = np.random.default_rng(seed)
    biases = draw.uniform(0.2, 1, (queries, 2))
    rankers = RANKERS
    if effects:
        biases[:, 1] = biases[:, 0]
    else:
        rankers = {f"{ranker}{CONTROL}": 0.0 for ranker in RANKERS}
    lists = (
        (name, number, *_biased_list(bias * (1 - reduction), len(words), depth, length, draw))
        for number, bias in enumerate(biases)
        for name, reduction in rankers.items()
    )
    return _build_collection(lists, words, draw)


def _biased_list(
    bias: np.ndarray, groups: int, depth: int, length: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Term counts and lengths as in `_list_of_system`, for two levels of bias.

    The first level is the share of documents with two terms instead of one; the second determines
    the share of documents with terms of the first group.
    """
    ranks, unit_counts = np.arange(depth), np.eye(groups, dtype=np.int64)
    limits = np.array([bias[0], bias[1] + (1 - bias[1]) / groups])
    # Irrational steps approximate the shares among the first k documents for every k.
    has_two_terms, is_first_group = (draw.uniform(size=(2, 1)) + ranks * _STEPS) % 1 < limits[
        :, None
    ]
    terms = 1 + has_two_terms
    group_of_rank = np.where(is_first_group, 0, 1 + ranks % (groups - 1))
    return unit_counts[group_of_rank] * terms[:, None], length * terms


def _build_collection(
    lists: Iterable[tuple[str, int, np.ndarray, np.ndarray]],
    words: Mapping[str, Collection[str]],
    draw: np.random.Generator,
) -> PlantedBias:
    """Build documents and runs from planned lists: system, query number, term counts, lengths."""
    groups = {group: [term.lower() for term in terms] for group, terms in words.items()}
    rows, documents = [], []
    for system, number, counts, lengths in lists:
        query = f"q{number + 1:03}"
        # The groups take turns, so that the bias of single queries cancels in a mean over queries.
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


def _list_of_system(
    system: str, groups: int, depth: int, length: int, draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Term counts (ranks x groups) and lengths (ranks) of a system's documents."""
    ranks = np.arange(depth)
    one_group = TERMS * np.eye(groups, dtype=np.int64)
    lengths = np.full(depth, length)
    if system == "even":
        return np.full((depth, groups), TERMS), lengths
    if system == "neutral":
        return np.zeros((depth, groups), dtype=np.int64), lengths
    if system == "one-sided":
        return one_group[np.zeros(depth, dtype=np.int64)], lengths
    if system == "skewed":
        return (TERMS + 2 * one_group[0]) * np.ones((depth, 1), dtype=np.int64), lengths
    if system == "alternating":
        return one_group[ranks % groups], lengths
    if system == "turning":
        return one_group[ranks * groups // depth], lengths
    if system == "sparse":
        return one_group[ranks // 4 % groups] * (ranks % 4 == 3)[:, None], lengths
    if system == "fading":
        return one_group[0] * (ranks < math.ceil(depth / 4))[:, None], lengths
    lengths = draw.integers(length // 2, length + length // 2, size=depth, endpoint=True)
    share, group_shares = draw.uniform(), draw.dirichlet(np.ones(groups))
    totals = draw.integers(1, TERMS + 1, size=depth, endpoint=True)
    totals *= draw.uniform(size=depth) < share
    return draw.multinomial(totals, group_shares), lengths


def _text(
    terms: Sequence[int], length: int, words: Sequence[Sequence[str]], draw: np.random.Generator
) -> str:
    group_terms = [
        str(word)
        for number, group in zip(terms, words, strict=True)
        for word in draw.choice(group, number)
    ]
    text = [*group_terms, *map(str, draw.choice(_NEUTRAL, length - len(group_terms)))]
    draw.shuffle(text)
    return " ".join(text)


def _run(plan: pd.DataFrame) -> pd.DataFrame:
    ranked = plan.assign(score=plan["rank"].max() + 1.0 - plan["rank"])
    return ranked[["query", "document", "score"]].reset_index(drop=True)


def planted_truth(plan: pd.DataFrame) -> pd.DataFrame:
    """Compute the measures of every list at every cut-off from the plan."""
    groups = [column for column in plan.columns if column not in PLAN]
    target = 1 / len(groups)
    maximum = 2 * (1 - target)
    rows = []
    # A plain loop on purpose: the true values must not share code with the measures.
    for (system, query), documents in plan.groupby(["system", "query"], sort=False):
        exposure = [0.0] * len(groups)
        weights = representative = neutral = 0.0
        for rank, length, *terms in documents[["rank", "length", *groups]].itertuples(index=False):
            weight = 1 / math.log2(rank + 1)
            total = sum(terms)
            exposure = [
                value + weight * n / length for value, n in zip(exposure, terms, strict=True)
            ]
            weights += weight
            representative += weight * (total > 0)
            bias = sum(abs(n / total - target) for n in terms) if total > TAU else 0.0
            neutral += weight * (1 - bias)
            total_exposure = sum(exposure)
            shares = [value / total_exposure if total_exposure else math.nan for value in exposure]
            divergence = sum(abs(share - target) for share in shares)
            rbdf = representative / weights
            ted = divergence * rbdf if total_exposure else 0.0
            measures = (rbdf, ted, neutral / weights, maximum - ted, maximum - divergence)
            rows.append((system, query, rank, *shares, *measures))
    measures = ["RBDF", "TED", "NFaiRR", "TExFAIR", "TExFAIR without RBDF"]
    return pd.DataFrame(rows, columns=["system", "query", "k", *groups, *measures])
