"""lajewska2025, chapter 6: tasks of a crowd study."""

import numpy as np
import pandas as pd

from papers.lajewska2025.ch6_tasks import (
    SHOWN,
    Aspects,
    add_checks,
    crowd_tasks,
    read_aspects,
    sample_aspects,
)

ANSWER = "Here you are:\n+ food\n+  hunting at night\n- cars\n- food\n-trees\n- ships "


def test_read_aspects_lines() -> None:
    assert read_aspects(ANSWER) == Aspects(("food", "hunting at night"), ("cars", "ships"))
    assert read_aspects("nothing") == Aspects((), ())


def test_sample_aspects_one_is_discussed() -> None:
    aspects = Aspects(("a", "b"), ("c", "d", "e", "f"))
    samples = [sample_aspects(aspects, np.random.default_rng(seed)) for seed in range(200)]
    assert all(len({text for text, _ in sample}) == SHOWN for sample in samples)
    assert all(any(discussed for _, discussed in sample) for sample in samples)
    for sample in samples:
        assert all(discussed == (text in "ab") for text, discussed in sample)
    # Any position, and one or two that are discussed.
    assert {sample[0][1] for sample in samples} == {True, False}
    assert {sum(discussed for _, discussed in sample) for sample in samples} == {1, 2}
    assert sample_aspects(Aspects((), ("c",)), np.random.default_rng(0)) == []


def responses() -> pd.DataFrame:
    """A response per system and input, of two sentences."""
    systems = ["Baseline", "GINGER", "GINGER -fluency (broad)", "GINGER -fluency (deep)"]
    rows = [
        (
            kind,
            system,
            "1_1",
            number,
            f"{system} {number}.",
            "" if system == "Baseline" else "More?",
        )
        for kind in ("relevant", "irrelevant")
        for system in (systems if kind == "relevant" else systems[:2])
        for number in (1, 2)
    ]
    return pd.DataFrame(rows, columns=["input", "system", "topic", "sentence", "text", "follow_up"])


FOLLOW_UPS = pd.DataFrame(
    [(kind, "Baseline", "1_1", "Facet?") for kind in ("relevant", "irrelevant")],
    columns=["input", "system", "topic", "follow_up"],
)


def test_crowd_tasks_pairs() -> None:
    table = crowd_tasks(responses(), FOLLOW_UPS, {"1_1": "Owls?", "1_2": "Not answered?"})
    keys = list(zip(table["comparison"], table["response"], strict=True))
    assert keys == [
        ("relevant", "Baseline"),
        ("relevant", "GINGER"),
        ("irrelevant", "Baseline"),
        ("irrelevant", "GINGER"),
        ("completeness", "GINGER broad"),
        ("completeness", "GINGER deep"),
    ]
    assert table["follow_up"].tolist() == ["Facet?", "More?", "Facet?", "More?", "More?", "More?"]
    assert table["text"].iloc[4] == "GINGER -fluency (broad) 1. GINGER -fluency (broad) 2."


def test_add_checks_positions_and_aspects() -> None:
    pairs = crowd_tasks(responses(), FOLLOW_UPS, {"1_1": "Owls?"})

    def ask(prompts):
        return [ANSWER if "GINGER" in messages[-1].content else "" for messages in prompts]

    table = add_checks(pairs, ask, {}, np.random.default_rng(0))
    assert [set(rows["position"]) for _, rows in table.groupby("comparison")] == [{1, 2}] * 3
    lacking = table["response"] == "Baseline"
    assert (table.loc[lacking, "aspect 1"] == "").all()
    ginger = table[~lacking]
    for row in ginger.to_dict("records"):
        aspects = {row[f"aspect {n}"]: row[f"discussed {n}"] for n in range(1, 5)}
        assert aspects == {"food": True, "hunting at night": True, "cars": False, "ships": False}
