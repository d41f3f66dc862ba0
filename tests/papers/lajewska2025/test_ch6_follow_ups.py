"""lajewska2025, chapter 6: facets and follow-up questions of the baseline."""

import numpy as np
import pandas as pd

from everycell.rag.nugget_responses import stems
from papers.lajewska2025.ch6_follow_ups import (
    baseline_follow_ups,
    frequent_phrases,
    rank_facets,
)

QUESTION = "What do owls eat?"
PASSAGES = [
    "A barn owl eats field mice. Barn owls hunt at night, and the field mice hide.",
    "Field mice are small; of the night vision of owls much is known.",
]


def bag_of_words(texts):
    """Vectors of unit length over the stems of the texts."""
    words = sorted({stem for text in texts for stem in stems(text)})
    vectors = np.array([[stems(text).count(word) for word in words] for text in texts], float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_frequent_phrases_most_frequent_first() -> None:
    phrases = frequent_phrases(QUESTION, PASSAGES)
    # "field mice" occurs three times, the others once, and of these the longest come first.
    sizes = [len(phrase.split()) for phrase in phrases[1:]]
    assert phrases[0] == "field mice" and sizes == sorted(sizes, reverse=True) and sizes[0] == 4
    assert "night vision" in frequent_phrases(QUESTION, PASSAGES, 40)


def test_frequent_phrases_of_the_question() -> None:
    assert frequent_phrases("barn owls", ["The barn owl and the barn owl."]) == []


def test_rank_facets_relevance_and_diversity() -> None:
    facets = ["owls eat mice", "owls eat mice mice", "night vision"]
    relevant = rank_facets(QUESTION, facets, bag_of_words, weight=1.0)
    assert relevant[-1] == "night vision"
    # A second facet like the first one is redundant.
    diverse = rank_facets(QUESTION, facets, bag_of_words, weight=0.4)
    assert diverse[:2] == ["owls eat mice", "night vision"]
    assert rank_facets(QUESTION, [], bag_of_words) == []
    assert rank_facets(QUESTION, ["a b", "a b"], bag_of_words) == ["a b"]


def test_baseline_follow_ups_of_two_inputs() -> None:
    rows = [
        (kind, topic, QUESTION, f"{kind}{number}", text)
        for kind, topic in (("relevant", "1_1"), ("irrelevant", "1_1"))
        for number, text in enumerate(PASSAGES if kind == "relevant" else ["It was."])
    ]
    columns = ["input", "topic", "question", "passage_id", "text"]
    requests = []

    def ask(prompts):
        requests.append(prompts)
        if len(requests) == 1:
            return ["- owls eat what they hunt\n- nests", "nothing of use"]
        return [f"Would you like to learn more about {prompts[0][-1].content[-7:]}?"]

    table = baseline_follow_ups(pd.DataFrame(rows, columns=columns), ask, bag_of_words, {})
    relevant, irrelevant = table.to_dict("records")
    assert relevant["facets"][0] == "owls eat what they hunt"
    assert {"nests", "field mice"} <= set(relevant["facets"])
    # The same prompt as for clusters, with the best facet in their place.
    [[messages]] = requests[1:]
    assert messages[-1].content.endswith("1. owls eat what they hunt")
    assert relevant["follow_up"].startswith("Would you like") and relevant["system"] == "Baseline"
    assert irrelevant["facets"] == [] and irrelevant["follow_up"] == ""
