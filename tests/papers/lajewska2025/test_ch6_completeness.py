"""lajewska2025, Table C.7: completeness by system and by writer, from imitated judges."""

import numpy as np
import pandas as pd

from papers.lajewska2025.ch6_completeness import (
    Imitations,
    compare_writers,
    completeness_tables,
    mean_intervals,
)
from papers.lajewska2025.ch6_nugget_tables import cluster_table, nugget_table
from papers.lajewska2025.ch6_responses import extract_response, nearest_sentences
from papers.lajewska2025.ch6_scores import MEAN, change_effects
from papers.lajewska2025.ch6_systems import (
    BASELINE,
    RELEVANT,
    STANDARD,
    Facets,
    System,
    facets,
    join_sentences,
)


def test_completeness_tables_against_the_standard():
    scores = pd.DataFrame(
        [
            (judge, RELEVANT, system, topic, value)
            for judge, shift in ((MEAN, 0.0), ("GPT4o", 9.0))
            for system, values in ((STANDARD, (0.1, 0.4, 0.4)), (BASELINE, (0.2, 0.6, 0.7)))
            for topic, value in zip("123", np.array(values) + shift, strict=True)
        ],
        columns=["judge", "input", "system", "topic", "value"],
    )
    cells, tests = completeness_tables(scores)
    assert cells["value"].round(9).tolist() == [0.3, 0.5]
    assert set(tests["row"]) == {BASELINE}
    assert round(tests.set_index("metric")["value"]["difference"], 9) == 0.2


class Words:
    """One feature: whether the response has the fact."""

    def features(self, facts, question, texts):
        return np.array([[[fact in text] for fact in facts] for text in texts], dtype=float)


class Judge:
    """Believes the feature."""

    def predict_proba(self, features):
        return np.column_stack([1 - features[:, 0], features[:, 0]])


def test_compare_writers_common_topics():
    def responses(*texts):
        frame = pd.DataFrame({"topic": list("123")[: len(texts)], "text": texts})
        return frame.assign(system=STANDARD, input=RELEVANT)

    empty = pd.DataFrame()
    table = compare_writers(
        Imitations(Words(), {"GPT4o": Judge()}, empty, empty),
        pd.DataFrame({"topic": list("112"), "text": ["owls", "mice", "owls"]}),
        {"extracted": responses("owls", "owls", "owls"), "smollm2": responses("", "big owls")},
        dict.fromkeys("123", "?"),
    )
    values = table.set_index(["system", "metric"])["value"]
    assert values[f"extracted: {STANDARD}", "value"] == 0.75
    assert values[f"smollm2: {STANDARD}"].to_dict() == {"value": 0.5, "topics": 2, "words": 1}


def test_mean_intervals_by_hand():
    scores = pd.DataFrame({"system": "a", "topic": ["1", "2", "3"], "value": [0.2, 0.3, 0.4]})
    values = mean_intervals(scores, ["system"], min_topics=2)["value"]
    assert values.round(3).tolist() == [0.3, 0.052, 0.548, 3.0]


def test_join_sentences_in_order():
    rows = pd.DataFrame({"sentence": [2, 1], "text": ["So.", "Why?"]})
    rows = rows.assign(input="relevant", system="a", topic="1")
    assert join_sentences(rows)["text"].tolist() == ["Why? So."]


def test_change_effects_by_hand():
    scores = pd.DataFrame({"run": list("aaabbb"), "topic": list("xyz") * 2})
    scores = scores.assign(value=[0.1, 0.2, 0.3, 0.3, 0.4, 0.6])
    effects = change_effects(scores, {"b for a": ("b", "a")})
    assert effects["value"].round(2).tolist() == [0.23, 0.09, 0.38, 0.02]


def test_nugget_and_cluster_table_sizes():
    keys = {"detection": "Gold", "input": "relevant", "topic": "1", "nugget": [1, 2]}
    nuggets = pd.DataFrame(keys | {"text": ["owl", "mouse"]})
    clusters = pd.DataFrame(keys | {"clustering": "LSA", "cluster": [0, 0]})
    assert nugget_table(nuggets)["value"].tolist() == [2, 2, 2, 4]
    assert cluster_table(clusters)["value"].tolist() == [1, 1, 1, 2]


def test_facets_by_the_ranking_of_clusters():
    keys = {"detection": ["GPT-4"] * 2, "topic": ["1"] * 2}
    nuggets = pd.DataFrame(keys | {"nugget": [1, 2], "text": ["owls", "mice"]})
    clusters = pd.DataFrame(keys | {"nugget": [1, 2], "clustering": "LSA", "cluster": [0, 1]})
    ranks = pd.DataFrame(keys | {"clustering": "LSA", "ranking": "BM25", "cluster": [0, 1]})
    system = System(clustering="LSA", ranking="BM25")
    (topic,) = facets(system, nuggets, clusters, ranks.assign(score=[0.1, 0.4]), 3)
    assert topic.clusters == [[2], [1]]


def test_extractive_responses_by_hand():
    topic = Facets("1", [[1], [2, 3]], [1], {1: "owls eat", 2: "mice", 3: "mice sleep"})
    response = extract_response(System(), topic, sentences=3, words=35)
    assert response.text == "owls eat mice sleep"
    sentences = ["Ships.", "Owls eat.", "Owls eat."]
    assert nearest_sentences("1", sentences, [0.1, 0.9, 0.9], limit=2).text == "Owls eat. Ships."
