"""Readings of an evaluation, against pytrec_eval, and found again in tables planted with them."""

import random
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from everycell.retrieval.readings import EvaluatedRun, Evaluation
from everycell.verdicts.readings import CHANCE_LEVEL, Block, Search, cell_readings, search_readings

MEASURES = {"MAP": "map", "MRR": "recip_rank", "P@10": "P_10", "nDCG@10": "ndcg_cut_10"}
Run = dict[str, list[tuple[str, float]]]
Qrels = dict[str, dict[str, int]]


def make_data() -> tuple[dict[str, Run], Qrels]:
    """Four runs of 120 documents with ties and unjudged documents; run c lacks two topics.

    The file order is by score; tied documents are in random order.
    """
    random_numbers = random.Random(7)
    qrels = {
        str(topic): {
            f"d{n}": random_numbers.choices([0, 1, 2, 3], [6, 2, 2, 1])[0] for n in range(60)
        }
        for topic in range(25)
    }
    qrels["24"] = dict.fromkeys(qrels["24"], 1)
    runs: dict[str, Run] = {}
    for number, system in enumerate("abcd"):
        runs[system] = {}
        for topic, grades in qrels.items():
            scores = [
                (
                    f"d{n}",
                    round(random_numbers.gauss(0.2 * (1 + number) * grades.get(f"d{n}", 0)), 1),
                )
                for n in random_numbers.sample(range(120), 120)
            ]
            runs[system][topic] = sorted(scores, key=lambda pair: -pair[1])
    del runs["c"]["3"], runs["c"]["8"]
    return runs, qrels


RUNS, QRELS = make_data()


def frame(nested, *columns: str) -> pd.DataFrame:
    rows = [(topic, *pair) for topic, pairs in nested.items() for pair in pairs]
    return pd.DataFrame(rows, columns=columns)


def evaluation(**settings) -> Evaluation:
    pairs = {topic: list(grades.items()) for topic, grades in QRELS.items()}
    qrels = frame(pairs, "query", "document", "relevance")
    runs = {
        (system,): EvaluatedRun(frame(run, "query", "document", "score"), qrels)
        for system, run in RUNS.items()
    }
    return Evaluation(runs, {name: name for name in MEASURES}, **settings)


def by_trec_eval(
    *,
    level: int = 1,
    rank: Callable[[str, list[tuple[str, float]]], list[str]] | None = None,
    qrels: Qrels = QRELS,
    measures: dict[str, str] = MEASURES,
    topics: Callable[[Run], list[str]] = lambda run: list(QRELS),
) -> dict[tuple[str, str], float]:
    """Means by pytrec_eval of runs ranked by `rank` (default: trec_eval's order)."""
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, {name.replace("_1", ".1") for name in measures.values()}, relevance_level=level
    )
    means = {}
    for system, run in RUNS.items():
        ranked = {
            topic: {
                document: -float(position)
                for position, document in enumerate((rank or trec_order)(topic, pairs))
            }
            for topic, pairs in run.items()
        }
        values = evaluator.evaluate(ranked)
        for name, measure in measures.items():
            of_topics = [values.get(topic, {}).get(measure, 0.0) for topic in topics(run)]
            means[system, name] = float(np.mean(of_topics))
    return means


def trec_order(topic: str, pairs: list[tuple[str, float]]) -> list[str]:
    return [d for d, _ in sorted(pairs, key=lambda p: (np.float32(p[1]), p[0]), reverse=True)]


def exponential() -> dict[tuple[str, str], float]:
    gains = {t: {d: 2**g - 1 for d, g in grades.items()} for t, grades in QRELS.items()}
    ndcg = by_trec_eval(qrels=gains, measures={"nDCG@10": "ndcg_cut_10"})
    return by_trec_eval() | ndcg


#: Description of a reading -> values that a peer computes under it.
PLANTED: dict[str, Callable[[], dict[tuple[str, str], float]]] = {
    "relevance from grade 2": lambda: by_trec_eval(level=2),
    "relevance from grade 3": lambda: by_trec_eval(level=3),
    "depth 50": lambda: by_trec_eval(rank=lambda t, pairs: trec_order(t, pairs)[:50]),
    "P@10 with cut-off 15": lambda: (
        by_trec_eval()
        | {(s, "P@10"): value for (s, _), value in by_trec_eval(measures={"P@15": "P_15"}).items()}
    ),
    "MAP with cut-off 100": lambda: (
        by_trec_eval()
        | {
            key: value
            for key, value in by_trec_eval(rank=lambda t, pairs: trec_order(t, pairs)[:100]).items()
            if key[1] == "MAP"
        }
    ),
    "ties in the order of the file": lambda: by_trec_eval(
        rank=lambda t, pairs: [d for d, _ in pairs]
    ),
    "ties in ascending order of document ids": lambda: by_trec_eval(
        rank=lambda t, pairs: [d for d, _ in sorted(pairs, key=lambda p: (-p[1], p[0]))]
    ),
    "exponential gain (2^grade - 1) of nDCG": exponential,
    "topics without results left out": lambda: by_trec_eval(topics=list),
    "judged documents only": lambda: by_trec_eval(
        rank=lambda t, pairs: [d for d in trec_order(t, pairs) if d in QRELS[t]]
    ),
    "relevance from grade 2 and depth 50": lambda: by_trec_eval(
        level=2, rank=lambda t, pairs: trec_order(t, pairs)[:50]
    ),
}


def search(published: dict[tuple[str, str], float], evaluated: Evaluation, decimals=4) -> Search:
    """Search of readings for published values, rounded."""
    values = evaluated.compute({})
    keys = [(system, measure) for system in RUNS for measure in MEASURES]

    def array(by_key) -> np.ndarray:
        return np.array([by_key[key] for key in keys])

    block = Block(
        keys=[{"system": system, "metric": measure} for system, measure in keys],
        published=array(published).round(decimals),
        decimals=np.full(len(keys), float(decimals)),
        is_rounded=np.full(len(keys), True),
        reproduced=array(values),
    )
    readings = [*evaluated.readings(), *cell_readings(block, ["system", "metric"])]
    return search_readings(block, readings, lambda settings: array(evaluated.compute(settings)))


def test_compute_unchanged_peer():
    values, peer = evaluation().compute({}), by_trec_eval()
    assert values == pytest.approx(peer, abs=1e-9) and len(peer) == 16


@pytest.mark.parametrize("description", PLANTED)
def test_search_readings_planted(description):
    outcome = search(PLANTED[description](), evaluation())
    assert outcome.complete, [(t.n_equal, t.description) for t in outcome.trials[:3]]
    assert description in [trial.description for trial in outcome.complete]
    assert outcome.complete[0].n_equal == 16
    assert outcome.chance(outcome.complete[0]) < CHANCE_LEVEL


def test_search_readings_planted_level_1():
    """The reproduction may be the one with another level."""
    outcome = search(by_trec_eval(), evaluation(relevance_level=2))
    assert [trial.description for trial in outcome.complete] == ["relevance from grade 1"]


def test_evaluation_readings_linear_gain():
    evaluated = evaluation()
    evaluated.measures = {"nDCG": "nDCG(dcg='exp-log2')@10"}
    (linear,) = [r.settings for r in evaluated.readings() if r.slot == "gain"]
    expected = by_trec_eval(measures={"nDCG": "ndcg_cut_10"})
    assert evaluated.compute(linear) == pytest.approx(expected, abs=1e-9)


def test_compute_other_measure():
    """A measure without a fast path is computed on the same rankings: RBP of a shorter list."""
    evaluated = evaluation()
    evaluated.measures = {"R-precision": "Rprec"}
    peer = by_trec_eval(
        measures={"R-precision": "Rprec"}, rank=lambda t, pairs: trec_order(t, pairs)[:20]
    )
    assert evaluated.compute({"depth": 20}) == pytest.approx(peer, abs=1e-9)


@pytest.mark.parametrize("measure", ["RBP(p=0.5)", "nDCG@20", "ERR@10", "nDCG(dcg='exp-log2')@20"])
def test_evaluation_readings_computable(measure):
    """Only cut-offs with which a provider computes the measure are tried: RBP has none."""
    evaluated = evaluation()
    evaluated.measures = {"M": measure}
    cutoffs = [r.settings for r in evaluated.readings() if r.slot == ("cutoff", "M")]
    assert bool(cutoffs) == ("RBP" not in measure)
    assert all(len(evaluated.compute(settings)) == 4 for settings in cutoffs)


@pytest.mark.parametrize("seed", range(2))
def test_search_readings_random_differences(seed):
    """Negative control: no reading explains random differences of a few units."""
    noise = np.random.default_rng(seed)
    published = {key: value + noise.normal(0, 0.01) for key, value in by_trec_eval().items()}
    outcome = search(published, evaluation(), decimals=3)
    assert not outcome.complete
    assert all(outcome.chance(trial) >= CHANCE_LEVEL for trial in outcome.trials)
