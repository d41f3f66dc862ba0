"""Follow-up questions of the baseline of chapter 6 of lajewska2025, from facets of a question.

The thesis (L1726) combines facets that models of another paper extract, classify and generate, by
relevance and diversity (Samarinas, Dharawat and Zamani, 2022), and asks about the best one with the
prompt of its own method. Here facets are phrases of the passages, and aspects that the language
model generates; there is no classifier of a fixed set of facets. Both are ordered by maximal
marginal relevance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from everycell.base.arrays import FloatArray
from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from everycell.rag.nugget_responses import first_words, stems
from papers.lajewska2025.ch6_autonuggetizer import Ask, read_facts
from papers.lajewska2025.ch6_prompts import read_prompt
from papers.lajewska2025.ch6_systems import BASELINE
from papers.lajewska2025.ch6_writing import one_line, prompt

#: Function from n texts to an array of shape (n, d), with rows of unit norm.
Encode = Callable[[Sequence[str]], FloatArray]
#: Facets of each kind, words of a phrase, and weight of relevance against diversity.
FACETS, LONGEST, RELEVANCE_WEIGHT = 5, 4, 0.5
#: Words of each passage that the prompt for facets shows.
BEGINNING = 60


def frequent_phrases(question: str, passages: Sequence[str], count: int = FACETS) -> list[str]:
    """Most frequent phrases without stop words that have a word which the question lacks.

    A phrase has two to four words; ties go to the longer one, then to the first.
    """
    known = set(stems(question))
    counts: Counter[str] = Counter()
    for passage in passages:
        for part in re.split(r"[^\w\s'-]", passage.lower()):
            words = part.split()
            for size in range(2, LONGEST + 1):
                for start in range(len(words) - size + 1):
                    phrase = words[start : start + size]
                    is_new = not set(stems(" ".join(phrase))) <= known
                    if is_new and not ENGLISH_STOP_WORDS.intersection(phrase):
                        counts[" ".join(phrase)] += 1
    order = sorted(counts, key=lambda text: (-counts[text], -len(text.split())))
    return order[:count]


def rank_facets(
    question: str, facets: Sequence[str], encode: Encode, weight: float = RELEVANCE_WEIGHT
) -> list[str]:
    """Order distinct facets by maximal marginal relevance to the question (Carbonell, 1998)."""
    remaining = list(dict.fromkeys(facets))
    if not remaining:
        return []
    vectors = np.asarray(encode([question, *remaining]), float)
    relevance, similarity = vectors[1:] @ vectors[0], vectors[1:] @ vectors[1:].T
    ranked: list[int] = []
    while len(ranked) < len(remaining):
        redundancy = similarity[:, ranked].max(axis=1) if ranked else np.zeros(len(remaining))
        scores = weight * relevance - (1 - weight) * redundancy
        scores[ranked] = -np.inf
        ranked.append(int(scores.argmax()))
    return [remaining[index] for index in ranked]


def baseline_follow_ups(
    passages: pd.DataFrame, ask: Ask, encode: Encode, prompts: Mapping[str, Path]
) -> pd.DataFrame:
    """Ranked facets of each question and input, and a follow-up question on the best one."""
    inputs = [
        (str(kind), str(topic), rows["question"].iloc[0], rows["text"].tolist())
        for (kind, topic), rows in passages.groupby(["input", "topic"], sort=False)
    ]
    template = read_prompt("facets", prompts.get("facets"))
    answers = ask(
        [
            prompt(
                template,
                question=question,
                passages=[first_words(text, BEGINNING) for text in texts],
                count=FACETS,
            )
            for _, _, question, texts in inputs
        ]
    )
    ranked = [
        rank_facets(
            question,
            [*read_facts(answer, FACETS), *frequent_phrases(question, texts)],
            encode,
        )
        for (_, _, question, texts), answer in zip(inputs, answers, strict=True)
    ]
    template = read_prompt("follow_up", prompts.get("follow_up"))
    questions = iter(
        ask(
            [
                prompt(template, question=question, nuggets=facets[:1])
                for (_, _, question, _), facets in zip(inputs, ranked, strict=True)
                if facets
            ]
        )
    )
    rows = [
        (kind, BASELINE, topic, facets, one_line(next(questions)) if facets else "")
        for (kind, topic, _, _), facets in zip(inputs, ranked, strict=True)
    ]
    return pd.DataFrame(rows, columns=["input", "system", "topic", "facets", "follow_up"])


def follow_ups(job: Job) -> None:
    """Follow-up questions of the baseline, from facets of each question."""
    from everycell.learning.models import load_model, use_one_thread
    from everycell.learning.text_vectors import dense_vectors

    use_one_thread()
    params = job.params
    encoder, tokenizer = load_model(job.folder_of("encoder"), "encoder")

    def encode(texts: Sequence[str]) -> FloatArray:
        """Vectors of a question and its facets."""
        return np.asarray(dense_vectors(encoder, tokenizer, texts, params.length), float)

    prompts = {name: Path(path) for name, path in params.prompts.items()}
    with model_of_job(job.snakemake, job.log) as model:
        ask = answer_function(model, Decoding(max_tokens=params.max_tokens))
        table = baseline_follow_ups(pd.read_parquet(job.input.passages), ask, encode, prompts)
    job.write_frame(table, "follow_ups")
