"""Chapter 5 of lajewska2025: snippets of passages that answer a question.

One function per rule of ``ch5.smk`` for CAsT-snippets; ``ch5_answerability.py`` has those for
CAsT-answerability.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.text.sentences import sentence_spans
from papers.lajewska2025.cast_snippets_data import (
    GROUPS,
    check_same_texts,
    count_annotations,
    mark_texts,
    paths,
    read_annotations,
    read_group,
    read_tasks,
)
from papers.lajewska2025.ch5_quality import (
    agreement_beyond_chance,
    flags_of_groups,
    selection_group,
)
from papers.lajewska2025.spans import (
    AGGREGATIONS,
    BoolArray,
    align,
    clip,
    mark_characters,
    mean_effort,
    mean_jaccard,
    passage_effort,
    reference_similarity,
)

WORKERS = ("paragraph_regular", "paragraph_master", "paragraph_prolific")
Reading = Literal["ascii", "curly", "letters"]
#: How to locate a worker's sentence in the experts' passage; the thesis uses the first way.
READINGS: dict[Reading, str] = {
    "ascii": "number of the sentence, straight quotes end one",
    "curly": "number of the sentence, curly quotes too",
    "letters": "letters and digits of the sentence",
}


def agreement_gaps(agreement: pd.DataFrame, group: str, baseline: str) -> pd.DataFrame:
    """Agreement of a group minus that of a baseline, for measures that all tasks have."""
    values = agreement.pivot_table(index=["task", "metric"], columns="row", values="value")
    shared = values[[group, baseline]].dropna()
    differences = (shared[group] - shared[baseline]).rename("value").reset_index()
    tasks = differences.groupby("metric")["task"].transform("nunique")
    return differences[tasks == differences["task"].nunique()].reset_index(drop=True)


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


def tasks(job: ResultJob) -> None:
    """Table 5.1: time, workers and cost of annotating a passage."""
    files, fees = job.input, job.params.fees
    rows, readings = [], []
    for group, (task, name, people) in GROUPS.items():
        counts = count_annotations(read_annotations(paths(files[group])))
        rows.append((name, task, "n_workers", counts.per_text))
        if name == "Prolific":
            continue
        steps = [read_tasks(paths(files[group]))]
        if task == "Sentence":
            # In the preceding step, workers select the sentences of a passage.
            steps.append(read_tasks(paths(files[selection_group(group)])))
        for published, metric, value in effort_rows(steps, people, fees.get(name)):
            (rows if published else readings).append((name, task, metric, value))
    keys = ["row", "task_variant", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=keys))
    readings = pd.DataFrame(readings, columns=keys)
    job.write_supplement(
        readings,
        "readings",
        {metric: 2 if metric.startswith("USD") else 1 for metric in readings["metric"]},
    )
    job.write_supplement(flags_of_groups(files), "flags", {"annotations": 0, "all": 1})


def agreement(job: ResultJob) -> None:
    """Table 5.2: agreement of the annotators in each group."""
    rows, beyond_chance = [], []
    for group, (task, name, people) in GROUPS.items():
        texts = mark_texts(read_group(job.input[group]), group)
        beyond_chance += [
            (name, task, metric, value)
            for metric, value in agreement_beyond_chance(texts.values()).items()
        ]
        rows.append((name, task, str(people), "J", mean_jaccard(texts)))
        rows += [
            (name, task, str(people), f"J_{k}", mean_jaccard(texts, k))
            for k in range(people - 1, 1, -1)
        ]
    table = pd.DataFrame(rows, columns=["row", "task", "n_annotators", "metric", "value"])
    job.write_table(table)
    job.write_supplement(
        agreement_gaps(table, "MTurk master", "MTurk regular"), "gaps", {"J": 3, "J_2": 3}
    )
    chance = pd.DataFrame(beyond_chance, columns=["row", "task", "metric", "value"])
    job.write_supplement(chance, "chance", {"all": 3})


def sentence_pairs(
    sentences: pd.DataFrame, passages: pd.DataFrame, reading: Reading
) -> Iterator[tuple[BoolArray, BoolArray]]:
    """Marks of workers and experts in each sentence.

    The experts marked passages, which Punkt splits into sentences. The thesis identifies a worker's
    sentence by its number and compares character positions directly. The workers' copies of the
    first topic lack quotation marks and non-ASCII letters, so positions shift.

    Sentences whose number exceeds Punkt's count are skipped.
    """
    expert_rows = {name: rows for name, rows in passages.groupby(["turn_id", "text_id"])}
    for (turn, name), rows in sentences.groupby(["turn_id", "text_id"], sort=False):
        experts = expert_rows[turn, rows["passage_id"].iloc[0]]
        sentence, passage = rows["text"].iloc[0], experts["text"].iloc[0]
        if reading == "letters":
            sentence_positions, passage_positions = align(sentence, passage)
            workers = mark_characters(rows["spans"].tolist(), len(sentence))
            yield (
                workers[:, sentence_positions],
                mark_characters(experts["spans"].tolist(), len(passage))[:, passage_positions],
            )
            continue
        bounds = sentence_spans(passage, quotes=reading)
        number = int(name.rpartition("--")[2])
        if number < len(bounds):
            start, end = bounds[number]
            length = max(end - start, len(sentence))
            yield (
                mark_characters(rows["spans"].tolist(), length),
                mark_characters([clip(spans, start, end) for spans in experts["spans"]], length),
            )


def mean_similarity(
    pairs: Iterable[tuple[BoolArray, BoolArray]], row: str, task_variant: str, reading: Reading
) -> pd.DataFrame:
    """Mean precision, recall and F1 over texts, per aggregation."""
    pairs = list(pairs)
    rows = [("", "texts", len(pairs))]
    for how in AGGREGATIONS:
        means = pd.DataFrame([reference_similarity(*pair, how) for pair in pairs]).mean()
        rows += [(part, how, value) for part, value in means.items()]
    table = pd.DataFrame(rows, columns=["part", "metric", "value"])
    return table.assign(row=row, task_variant=task_variant, reading=reading)


def similarity(job: ResultJob) -> None:
    """Tables 5.3 and C.3: similarity of workers to the experts, on passages and on sentences."""
    files = job.input
    passages = read_group(files.paragraph_expert)
    experts = mark_texts(passages)
    parts = []
    for group in WORKERS:
        name, of_workers = GROUPS[group][1], read_group(files[group])
        check_same_texts(passages, of_workers)
        workers = mark_texts(of_workers, group)
        pairs = [(workers[text], experts[text]) for text in experts]
        parts.append(mean_similarity(pairs, name, "Paragraph-based", "ascii"))
    for group in ("sentence_regular", "sentence_master"):
        name, sentences = GROUPS[group][1], read_group(files[group])
        parts += [
            mean_similarity(
                sentence_pairs(sentences, passages, reading), name, "Sentence-based", reading
            )
            for reading in READINGS
        ]
    results = pd.concat(parts, ignore_index=True)
    published = results[(results["reading"] == "ascii") & (results["metric"] != "texts")]
    keys = ["row", "task_variant", "metric", "value"]
    f1 = published[published["part"] == "f1"]
    job.write_table(f1.assign(metric="F1_" + f1["metric"])[keys])
    of_sentences = (results["task_variant"] == "Sentence-based") & results["part"].isin(["f1", ""])
    readings = results[of_sentences].assign(reading=results["reading"].map(READINGS))
    job.write_supplement(
        readings[["row", "reading", "metric", "value"]],
        "sentences",
        {"texts": 0} | dict.fromkeys(AGGREGATIONS, 3),
    )
    means = f1[(f1["task_variant"] == "Paragraph-based") & (f1["metric"] == "mean")]
    mean_of = means.set_index("row")["value"]
    repeated = [(row, "ROUGE F1", mean_of[group]) for row, group in job.params.workers.items()]
    job.write_table(
        pd.DataFrame(repeated, columns=["row", "metric", "value"]), artefact="table_C_3"
    )


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
        ("CAsT-snippets", "avg_snippet_length_tokens", tokens["released text"] / snippets),
        ("CAsT-snippets", "snippets_per_annotation", snippets / len(annotations)),
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


def lengths(job: ResultJob) -> None:
    """Table 5.4: length and number of snippets in the data set."""
    annotations = read_annotations(paths(job.input.dataset))
    cells, readings = snippet_lengths(annotations)
    job.write_table(cells)
    job.write_supplement(readings, "readings", {"tokens": 2})


def text(job: ResultJob) -> None:
    """Numbers that only the text of section 5.4 states, and the numbers compared with them."""
    files = job.input
    all_annotations = read_annotations(paths(files.dataset))
    texts = mark_texts(all_annotations)
    of_experts = read_group(files.paragraph_expert)
    experts = mark_texts(of_experts)

    def f1(annotations: pd.DataFrame, group: str | None = None) -> float:
        """Mean F1 of annotations of the experts' texts, against the experts."""
        check_same_texts(of_experts, annotations)
        workers = mark_texts(annotations, group)
        return sum(reference_similarity(workers[text], experts[text]).f1 for text in experts) / len(
            experts
        )

    on_expert_texts = all_annotations[
        pd.MultiIndex.from_frame(all_annotations[["turn_id", "text_id"]]).isin(experts)
    ]
    expert_texts = {name: texts[name] for name in experts}
    without_snippet = pd.Series([int((~people.any(axis=1)).sum()) for people in texts.values()])
    topics, data_set = "two topics", "data set"
    rows = [
        (topics, "J", mean_jaccard(expert_texts)),
        (topics, "J_2", mean_jaccard(expert_texts, 2)),
        (topics, "F1_mean", f1(on_expert_texts)),
        (data_set, "queries", all_annotations["turn_id"].nunique()),
        (data_set, "pairs", len(texts)),
        (data_set, "pairs_per_batch", len(texts) / len(paths(files.dataset))),
        (data_set, "workers", all_annotations["worker"].nunique()),
        (data_set, "no_snippet_by_three", int((without_snippet == 3).sum())),
        (data_set, "no_snippet_by_two", int((without_snippet == 2).sum())),
        ("Expert", "J", mean_jaccard(experts)),
        ("Expert", "J_2", mean_jaccard(experts, 2)),
        *((GROUPS[key][1], "F1_mean", f1(read_group(files[key]), key)) for key in WORKERS),
    ]
    job.write_table(pd.DataFrame(rows, columns=["part", "metric", "value"]))
    agreement = [(data_set, "J", mean_jaccard(texts)), (data_set, "J_2", mean_jaccard(texts, 2))]
    job.write_supplement(
        pd.DataFrame(agreement, columns=["part", "metric", "value"]), "whole", {"J": 3, "J_2": 3}
    )
