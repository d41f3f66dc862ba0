"""Planted concepts: what rankers can reach follows from the plan; checks see what was planted."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from everycell.collections.benchmark import judgements
from everycell.retrieval.encoded import Encoded
from everycell.retrieval.evaluation import evaluate
from everycell.text.tokenise import tokeniser
from everycell.trec.runs import write_run
from papers.abolghasemi2026.ch2_checks import (
    COMBINED,
    combination_checks,
    gain_checks,
    weight_checks,
)
from papers.abolghasemi2026.ch2_planted import (
    CHECKED,
    CONTROLS,
    EFFECTS,
    NAME_WEIGHT,
    SETTING,
    SHORT,
    TERMS,
    UNNAMED_SHORT,
    UNNAMED_WORDS,
    plant_concepts,
)
from papers.abolghasemi2026.ch2_runs import RankingRuns


@pytest.fixture(scope="module")
def planted():
    return plant_concepts({"test": 60, "validation": 20, "train": 120}, seed=1)


@pytest.fixture(scope="module")
def values(planted):
    """Values of the planted scores as rows p, q and r of Table 2.1."""
    result = {}
    for task in CHECKED:
        qrels = judgements(planted.benchmark.candidates, setting=SETTING, task=task, split="test")
        pairs = qrels[["query", "document"]]
        result[task] = {
            row: evaluate(pairs.merge(planted.scores[name]), qrels, ["MAP", "nDCG"])
            for row, name in zip("pqr", ("words", "no-names", "concepts"), strict=True)
        }
    return result


def test_plant_concepts_same_seed(planted):
    again = plant_concepts({"test": 60, "validation": 20, "train": 120}, seed=1)
    pd.testing.assert_frame_equal(again.documents, planted.documents)
    pd.testing.assert_frame_equal(again.benchmark.candidates, planted.benchmark.candidates)


def test_plant_concepts_share_of_missing_words(planted):
    of_document = dict(tuple(planted.mentions.groupby("document_id")[["concept", "term"]]))
    first = planted.mentions.groupby("task", sort=False)["document_id"].unique()
    for task, ids in first.items():
        shared = same = 0
        for one, other in zip(ids[::2], ids[1::2], strict=False):
            both = of_document[one].merge(of_document[other], on="concept")
            shared += len(both)
            same += int((both["term_x"] == both["term_y"]).sum())
        expected = 1.0 if task == CONTROLS["mismatch"] else 1 / TERMS
        assert same / shared == pytest.approx(expected, abs=3 * 0.5 / np.sqrt(shared))


def test_plant_concepts_controls(planted, values):
    means = {
        task: {row: frame["nDCG"].mean() for row, frame in by_row.items()}
        for task, by_row in values.items()
    }
    # Words reach what concepts do where each has one term, and less elsewhere; names add nothing
    # where no query has one.
    for task, of in means.items():
        assert (of["p"] == of["r"]) == (task in {CONTROLS["mismatch"], UNNAMED_WORDS})
        unnamed = {CONTROLS["names"], UNNAMED_WORDS, UNNAMED_SHORT}
        assert (of["q"] == of["r"]) == (task in unnamed)
        assert of["r"] > 0.85 and of["r"] >= max(of["p"], of["q"])
    # Where all weights are equal, a planted score counts concepts and names.
    scores = planted.scores["concepts"]
    equal = scores[scores["query"].str.startswith("equal")]["score"].unique()
    assert len(equal) <= 12 < scores["score"].nunique()
    assert NAME_WEIGHT in equal.round(9)


def test_plant_concepts_words_and_names(planted):
    stems = tokeniser("STM2")(planted.vocabulary[:60] + planted.documents["text"].tolist()[:5])
    assert stems[:60] == [[word] for word in planted.vocabulary[:60]]
    names = planted.documents["text"].str.split().str[-1]
    assert not set(names) & set(planted.vocabulary)
    short = planted.benchmark.queries.query("task == 'short queries'")["text"].str.split()
    assert set(short.str.len()) == {4} and short.str[-1].isin(names).all()
    texts = planted.benchmark.queries.query("split == 'test'").groupby("task")["text"]
    full, bare = (texts.get_group(task).str.split() for task in (SHORT, UNNAMED_SHORT))
    assert bare.tolist() == full.str[:3].tolist()


def encoded(planted, score):
    """A ranker whose score of a term in a document is given per mention."""
    rows, columns = planted.documents["document_id"], planted.terms["term"]
    weights = np.zeros((len(rows), len(columns)))
    positions = [pd.Index(rows).get_indexer(planted.mentions["document_id"])]
    positions.append(pd.Index(columns).get_indexer(planted.mentions["term"]))
    weights[tuple(positions)] = score
    queries = sparse.csr_array(np.eye(len(columns)))
    return Encoded("term_weights", sparse.csr_array(weights), queries, list(rows), list(columns))


def test_weight_checks_ranker_that_reads_cues(planted):
    noise = np.random.default_rng(0).random(len(planted.mentions))
    # Knows all cues but those that count for nothing.
    effect = planted.mentions["weight"].where(planted.mentions["task"] == EFFECTS, noise)
    result = weight_checks(
        {"reads": encoded(planted, effect), "guesses": encoded(planted, noise)}, planted.mentions
    )
    table = result.pivot_table(index=["check", "task"], columns="metric", values="value")
    reads = table.xs("reads: rank correlation with planted weights")
    guesses = table.xs("guesses: rank correlation with planted weights")
    assert reads.loc[EFFECTS, "low"] > 0.9
    assert (guesses["low"] < 0).all() and (guesses["high"] > 0).all()
    assert reads.loc[CONTROLS["weights"], "low"] < 0 < reads.loc[CONTROLS["weights"], "high"]


def test_gain_checks_complete_expansion(values):
    rows = {
        task: of | dict.fromkeys("ijkle", of["q"]) | dict.fromkeys("ah", of["p"])
        for task, of in values.items()
    }
    result = gain_checks(rows, [65, 80], seed=0)
    gain = result[result["check"].str.contains("expansion")].set_index(["task", "metric"])["value"]
    effect = CONTROLS["names"]
    assert gain[effect, "share of the planted gap"].tolist() == pytest.approx([1, 1])
    assert (gain[effect, "low"] > 0).all()
    assert (gain[UNNAMED_WORDS, "value"] == 0).all()


def test_combination_checks_names(planted, tmp_path):
    files = {row: tmp_path / f"{row}.run" for row in ("a", *COMBINED)}
    lists = planted.scores["concepts"]
    concepts = planted.scores["no-names"]["score"].to_numpy()
    names = lists["score"].to_numpy() - concepts
    # BM25 knows names here and nothing else; without them it is noise.
    noise = 0.01 * np.random.default_rng(0).normal(size=len(lists))
    for row, file in files.items():
        known = names + noise if row == "a" else concepts
        write_run(lists.assign(score=known), file, tag=row)
    planted.benchmark.candidates.to_parquet(tmp_path / "candidates.parquet")
    tasks = [SHORT, UNNAMED_SHORT]
    runs = RankingRuns(tmp_path / "candidates.parquet", files, setting=SETTING, tasks=tasks)
    result = combination_checks(runs, "query", seed=0)
    table = result.pivot_table(index="check", columns=["task", "metric"], values="value")
    assert len(table) == len(COMBINED)
    assert (table[SHORT, "low"] > 0).all()
    assert (table[UNNAMED_SHORT, "low"] <= 0).all()


def test_weight_checks_interval_by_hand(planted):
    """Fisher's z with the standard error of Bonett and Wright, at 95 %."""
    draw = np.random.default_rng(5)
    weights = planted.mentions["weight"] + 0.8 * draw.normal(size=len(planted.mentions))
    table = weight_checks({"reads": encoded(planted, weights)}, planted.mentions)
    for task, rows in table.set_index("metric").groupby("task"):
        r, low, high = rows["value"][["value", "low", "high"]]
        n = planted.mentions.loc[planted.mentions["task"] == task, "cue"].nunique()
        error = np.sqrt((1 + r**2 / 2) / (n - 3))
        assert np.arctanh([low, high]) == pytest.approx(
            np.arctanh(r) + stats.norm.interval(0.95, scale=error), abs=1e-3
        )
