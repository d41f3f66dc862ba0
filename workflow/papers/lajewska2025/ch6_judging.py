"""Responses of chapter 6 of lajewska2025, judged by language models and by an inference model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from string import Template

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from papers.lajewska2025.cast_snippets_data import paths
from papers.lajewska2025.ch6_autonuggetizer import (
    Ask,
    assign_nuggets,
    create_nuggets,
    label_importance,
    read_prompt,
)
from papers.lajewska2025.ch6_labels import JUDGES, read_nugget_labels, read_responses
from papers.lajewska2025.ch6_scores import unify_importance
from papers.lajewska2025.ch6_systems import (
    COMPLETE,
    CONTRADICTED,
    DETECTED,
    ENTAILED,
    FAITHFUL,
    GOLD,
    RELEVANCE,
    drop_sparse_topics,
    join_sentences,
)

#: Pairs of premise and hypothesis -> probabilities of entailment, contradiction and neutral.
Infer = Callable[[Sequence[tuple[str, str]]], FloatArray]
_KEYS = ["run", "topic", "nugget"]


def create_topic_nuggets(
    passages: pd.DataFrame, ask: Ask, prompts: Mapping[str, Template]
) -> pd.DataFrame:
    """Create facts from the passages of each topic, and label their importance."""
    topics = [
        (str(topic), rows["question"].iloc[0], rows["text"].tolist())
        for topic, rows in passages.groupby("topic", sort=False)
    ]
    facts_by_topic = create_nuggets(
        [(question, texts) for _, question, texts in topics], ask, template=prompts.get("create")
    )
    labels_by_topic = label_importance(
        [(question, facts) for (_, question, _), facts in zip(topics, facts_by_topic, strict=True)],
        ask,
        template=prompts.get("importance"),
    )
    rows = [
        (topic, number, text, label)
        for (topic, *_), facts, labels in zip(topics, facts_by_topic, labels_by_topic, strict=True)
        for number, (text, label) in enumerate(zip(facts, labels, strict=True), 1)
    ]
    return pd.DataFrame(rows, columns=["topic", "nugget", "text", "importance"])


def create(job: Job) -> None:
    """Nuggets that a language model creates from a topic's passages, with their importance."""
    params = job.params
    passages = pd.read_parquet(job.input.passages).sort_values("rank", kind="stable")
    prompts = {
        name: read_prompt(name, Path(params.prompts[name]) if name in params.prompts else None)
        for name in ("create", "importance")
    }
    with model_of_job(job.snakemake, job.log) as model:
        ask = answer_function(model, Decoding(max_tokens=params.max_tokens))
        created = create_topic_nuggets(
            passages.drop_duplicates(["topic", "passage_id"]), ask, prompts
        )
    unlabelled = int((created["importance"] == "").sum())
    job.log.write(f"{len(created)} nuggets, {unlabelled} of them without an importance label.\n")
    job.write_frame(created.assign(judge=params.judge), "nuggets")


def assign_topic_nuggets(
    nuggets: pd.DataFrame, responses: pd.DataFrame, ask: Ask, template: Template | None = None
) -> pd.DataFrame:
    """Label which facts of its topic each response supports."""
    nuggets_by_topic = dict(list(nuggets.groupby("topic", sort=False)))
    rows = [row for row in responses.itertuples(index=False) if row.topic in nuggets_by_topic]
    labels_by_response = assign_nuggets(
        [(row.question, row.text, nuggets_by_topic[row.topic]["text"].tolist()) for row in rows],
        ask,
        template=template,
    )
    columns = ["run", "topic", "nugget", "importance", "support"]
    parts = [
        nuggets_by_topic[row.topic][["topic", "nugget", "importance"]].assign(
            run=row.run, support=list(labels)
        )
        for row, labels in zip(rows, labels_by_response, strict=True)
    ]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def assign(job: Job) -> None:
    """Support labels of responses for nuggets that the same language model created."""
    files, params = job.input, job.params
    template = read_prompt("assign", Path(files.prompt) if files.prompt else None)
    with model_of_job(job.snakemake, job.log) as model:
        assigned = assign_topic_nuggets(
            pd.read_parquet(files.nuggets),
            pd.read_parquet(files.responses),
            answer_function(model, Decoding(max_tokens=params.max_tokens)),
            template,
        )
    job.write_frame(assigned.assign(judge=params.judge), "labels")


def judge_responses(
    labels: pd.DataFrame,
    responses: pd.DataFrame,
    ask: Ask,
    *,
    topics: int,
    known_topics: Collection[str],
    template: Template | None = None,
) -> pd.DataFrame:
    """Support labels of a new judge for the facts of a released judge."""
    topic_ids = list(dict.fromkeys(responses["topic"]))[:topics]
    rows = list(responses[responses["topic"].isin(topic_ids)].itertuples(index=False))
    facts = dict(list(unify_importance(labels).groupby(["run", "topic"], sort=False)))
    unknown = [topic for topic in topic_ids if topic not in known_topics]
    if unknown:
        raise ValueError(
            f"A response is to topic {unknown[0]!r}, which the released labels do not have; "
            "judge only responses to topics of TREC RAG 2024."
        )
    facts_by_response = [facts.get((row.run, row.topic), labels.iloc[:0]) for row in rows]
    labels_by_response = assign_nuggets(
        [
            (row.question, row.text, own_facts["text"].tolist())
            for row, own_facts in zip(rows, facts_by_response, strict=True)
        ],
        ask,
        template=template,
    )
    parts = [
        own_facts[[*_KEYS, "importance"]].assign(before=own_facts["support"], support=list(support))
        for own_facts, support in zip(facts_by_response, labels_by_response, strict=True)
    ]
    parts += [
        pd.DataFrame([[row.run, row.topic, 0, "", "", ""]], columns=parts[0].columns)
        for row, own_facts in zip(rows, facts_by_response, strict=True)
        if own_facts.empty
    ]
    return pd.concat(parts, ignore_index=True)


def judge_again(job: Job) -> None:
    """Support labels by a language model for the nuggets of a judge of the thesis."""
    files, params = job.input, job.params
    released = read_nugget_labels(*map(Path, files.labels))
    labels = released.nuggets
    response_files = paths(files.responses)
    # New responses are in one Parquet file, the released ones in several tables.
    is_parquet = response_files[0].suffix == ".parquet"
    responses = pd.read_parquet(response_files[0]) if is_parquet else read_responses(response_files)
    decoding = Decoding(max_tokens=params.max_tokens)
    template = read_prompt("assign", Path(files.prompt) if files.prompt else None)
    with model_of_job(job.snakemake, job.log) as model:
        judged = judge_responses(
            labels[labels["judge"] == JUDGES[params.judge]],
            responses,
            answer_function(model, decoding),
            topics=params.topics,
            known_topics=set(released.responses["topic"]),
            template=template,
        )
    job.write_frame(judged.assign(judge=params.judge), "labels")


def inference_scores(responses: pd.DataFrame, nuggets: pd.DataFrame, infer: Infer) -> pd.DataFrame:
    """Entailment, contradiction and completeness of all responses."""
    detected = nuggets[nuggets["detection"] == DETECTED]
    detected = detected.groupby(["input", "topic"])["text"].agg(list).to_dict()
    gold = nuggets[nuggets["detection"] == GOLD].groupby("topic")["text"].agg(list).to_dict()
    rows = list(responses[["system", "input", "topic", "text"]].itertuples(index=False))
    nuggets_by_response = [
        (detected.get((row.input, row.topic), []), gold.get(row.topic, [])) for row in rows
    ]
    pairs = [
        (row.text, nugget)
        for row, (detected_nuggets, gold_nuggets) in zip(rows, nuggets_by_response, strict=True)
        if row.text.strip()
        for nugget in (*detected_nuggets, *gold_nuggets)
    ]
    all_probabilities = infer(pairs)
    scores, start = [], 0
    for row, (detected_nuggets, gold_nuggets) in zip(rows, nuggets_by_response, strict=True):
        size = len(detected_nuggets) + len(gold_nuggets)
        if row.text.strip():
            probabilities = all_probabilities[start : start + size]
            start += size
        else:
            probabilities = np.tile([0.0, 0.0, 1.0], (size, 1))
        values = {}
        if detected_nuggets:
            mean = probabilities[: len(detected_nuggets)].mean(axis=0)
            values |= {ENTAILED: mean[0], CONTRADICTED: mean[1]}
        if gold_nuggets:
            entailed = probabilities[len(detected_nuggets) :].argmax(axis=1) == 0
            values[COMPLETE] = entailed.mean()
        scores += [
            (row.system, row.input, row.topic, metric, float(value))
            for metric, value in values.items()
        ]
    return pd.DataFrame(scores, columns=["system", "input", "topic", "metric", "value"])


def infer(job: Job) -> None:
    """Entailment of detected and of human nuggets by responses."""
    from papers.lajewska2025.ch6_entailment import inference_probabilities, load_inference

    source = job.folder_of("inference")
    model, tokenizer = load_inference(source)
    nuggets = drop_sparse_topics(pd.read_parquet(job.input.nuggets))
    responses = join_sentences(pd.read_parquet(job.input.responses))
    scores = inference_scores(
        responses, nuggets, partial(inference_probabilities, model, tokenizer)
    )
    job.log.write(f"{len(responses)} responses scored by {source.name}.\n")
    job.write_frame(scores, "scores")


def mean_over_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean score of each response over the runs in which it has one."""
    keys = ["system", "input", "topic", "metric"]
    return runs.groupby(keys, sort=False, as_index=False)["value"].mean()


def ragas(job: Job) -> None:
    """Faithfulness and answer relevance of responses, judged by a language model."""
    from everycell.learning.models import load_model, use_one_thread
    from everycell.learning.text_vectors import dense_vectors
    from papers.lajewska2025.ch6_ragas import Grounding, answer_relevance, faithfulness

    use_one_thread()
    files, params = job.input, job.params
    passages = pd.read_parquet(files.passages)
    questions = passages.groupby("topic")["question"].first()
    texts = passages.groupby(["input", "topic"])["text"].agg(tuple)
    responses = join_sentences(pd.read_parquet(files.responses))
    requests = [
        Grounding(questions[row.topic], row.text, texts[row.input, row.topic])
        for row in responses.itertuples(index=False)
    ]
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")
    keys = responses[["system", "input", "topic"]]
    parts = []

    def encode(lines):
        """Vectors of questions."""
        return np.asarray(dense_vectors(encoder, tokenizer, lines, params.length), float)

    with model_of_job(job.snakemake, job.log) as model:
        for run in range(1, params.runs + 1):
            decoding = Decoding(
                max_tokens=params.max_tokens, temperature=params.temperature, seed=run
            )
            ask = answer_function(model, decoding)
            scores = {
                FAITHFUL: faithfulness(requests, ask),
                RELEVANCE: answer_relevance(requests, ask, encode),
            }
            parts += [
                keys.assign(metric=name, run=run, value=values) for name, values in scores.items()
            ]
    runs = pd.concat(parts, ignore_index=True).dropna()
    job.write_frame(runs, "runs")
    job.write_frame(mean_over_runs(runs), "scores")
