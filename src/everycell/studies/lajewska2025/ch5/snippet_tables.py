"""Tables 5.1 and 5.4: annotation effort, and lengths of snippets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from everycell.dialogue.spans import mean_effort, passage_effort

ROW = "CAsT-snippets"


def count_tokens(texts: pd.Series) -> int:
    """Number of tokens in all snippets, split at white space.

    Released snippets lack non-ASCII characters, so tokens made only of them are not counted.
    """
    return sum(len(snippet.split()) for snippets in texts for snippet in snippets)


def snippet_lengths(annotations: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table 5.4, and mean lengths by source of the text and by divisor."""
    snippets = int(annotations["spans"].map(len).sum())
    marked_texts = pd.Series(
        [
            [text[start:end] for start, end in spans]
            for text, spans in zip(annotations["text"], annotations["spans"], strict=True)
        ]
    )
    tokens = {
        "released text": count_tokens(annotations["snippets"]),
        "marked characters": count_tokens(marked_texts),
    }
    divisors = {
        "snippet": snippets,
        "annotation with snippets": int((annotations["spans"].map(len) > 0).sum()),
        "annotation": len(annotations),
    }
    rows = [
        (ROW, "avg_snippet_length_tokens", tokens["released text"] / snippets),
        (ROW, "snippets_per_annotation", snippets / len(annotations)),
    ]
    readings = [
        (text, per, "tokens", number / divisor)
        for text, number in tokens.items()
        for per, divisor in divisors.items()
    ]
    return (
        pd.DataFrame(rows, columns=["row", "metric", "value"]),
        pd.DataFrame(readings, columns=["text", "per", "metric", "value"]),
    )


def effort_rows(
    steps: Sequence[pd.DataFrame], people: int, fee: float | None
) -> Iterator[tuple[bool, str, float]]:
    """Time and cost per passage: whether the published table has the metric, its name, its value.

    `steps` has the log of a group's step, then the logs of earlier steps. `fee` is the share added
    to rewards; if it is None, costs are left out.
    """
    total = passage_effort(steps[0], people, *steps[1:])
    by_topic = [step.groupby(step["turn_id"].str.partition("_")[0]) for step in steps]
    topics = mean_effort(
        [
            passage_effort(tasks, people, *(step.get_group(topic) for step in by_topic[1:]))
            for topic, tasks in by_topic[0]
        ]
    )
    yield True, "median_time_s", total.seconds
    yield False, "seconds, both topics at once", total.seconds
    yield False, "seconds, mean of the topics' medians", topics.seconds
    if fee is not None:
        cost = total.reward * (1 + fee)
        yield True, "cost_usd", cost
        yield False, "USD with the fee", cost
        yield False, "USD without the fee", total.reward
