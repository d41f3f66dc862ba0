"""lajewska2025, Table C.7: completeness by system and by writer, from imitated judges."""

import numpy as np
import pandas as pd

from everycell.studies.lajewska2025.ch6.completeness import (
    Imitations,
    compare_writers,
    completeness_tables,
)
from everycell.studies.lajewska2025.ch6.nuggets import MEAN
from everycell.studies.lajewska2025.ch6.systems import BASELINE, RELEVANT, STANDARD


def test_systems_are_averaged_over_topics_and_tested_against_the_standard_one():
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


def test_writers_are_compared_on_the_topics_of_all_models():
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
