"""Tasks of a crowd study of chapter 6 of lajewska2025: pairs of responses to each query.

Each task has a query, two responses with their follow-up questions, and for each response four
aspects of which the worker selects those that it discusses, as an attention check (§ 6.4.2, L1814).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.files import write_atomically
from everycell.jobs.job import Job
from everycell.language_models.answering import answer_function, model_of_job
from everycell.language_models.settings import Decoding
from papers.lajewska2025.ch6_autonuggetizer import Ask
from papers.lajewska2025.ch6_prompts import read_prompt
from papers.lajewska2025.ch6_systems import BASELINE, RELEVANT, join_sentences
from papers.lajewska2025.ch6_votes import BROAD, COMPARISONS, COMPLETENESS, DEEP
from papers.lajewska2025.ch6_writing import prompt

#: Response -> variant of the pipeline.
VARIANTS: Mapping[str, str] = {
    BASELINE: BASELINE,
    "GINGER": "GINGER",
    BROAD: "GINGER -fluency (broad)",
    DEEP: "GINGER -fluency (deep)",
}
#: Aspects that a worker classifies per response, and of each kind that the model lists.
SHOWN, LISTED = 4, 3


class Aspects(NamedTuple):
    """Aspects that a response discusses, and aspects that it does not."""

    discussed: tuple[str, ...]
    undiscussed: tuple[str, ...]


def read_aspects(answer: str) -> Aspects:
    """Lines of a model's answer that begin with "+ " or "- "."""
    lines = re.findall(r"^[^\S\n]*([+-])[ \t]+(\S(?:.*\S)?)[^\S\n]*$", answer, re.MULTILINE)
    discussed, undiscussed = (
        tuple(dict.fromkeys(text for sign, text in lines if sign == kind)) for kind in "+-"
    )
    return Aspects(discussed, tuple(text for text in undiscussed if text not in discussed))


def sample_aspects(aspects: Aspects, rng: np.random.Generator) -> list[tuple[str, bool]]:
    """Four aspects in random order, at least one of which is discussed, with this fact."""
    if not aspects.discussed:
        return []
    first, *remaining = _shuffled(aspects.discussed, rng)
    sample = [first, *_shuffled([*remaining, *aspects.undiscussed], rng)[: SHOWN - 1]]
    return [(text, text in aspects.discussed) for text in _shuffled(sample, rng)]


def _shuffled(texts: Sequence[str], rng: np.random.Generator) -> list[str]:
    return [texts[index] for index in rng.permutation(len(texts))]


def crowd_tasks(
    responses: pd.DataFrame, follow_ups: pd.DataFrame, questions: Mapping[str, str]
) -> pd.DataFrame:
    """Two rows per task, one per response: text and follow-up question."""
    texts = join_sentences(responses).set_index(["input", "system", "topic"])["text"]
    offers = responses.groupby(["input", "system", "topic"], sort=False)["follow_up"].first()
    offers = pd.concat(
        [
            offers.drop(BASELINE, level="system", errors="ignore"),
            follow_ups.set_index(["input", "system", "topic"])["follow_up"],
        ]
    )
    rows = []
    for comparison, pair in COMPARISONS.items():
        kind = RELEVANT if comparison == COMPLETENESS else comparison
        for topic, question in questions.items():
            keys = [(kind, VARIANTS[response], topic) for response in pair]
            if all(key in texts.index for key in keys):
                rows += [
                    (comparison, topic, question, response, texts[key], offers[key])
                    for response, key in zip(pair, keys, strict=True)
                ]
    columns = ["comparison", "query", "question", "response", "text", "follow_up"]
    return pd.DataFrame(rows, columns=columns)


def add_checks(
    tasks: pd.DataFrame, ask: Ask, prompts: Mapping[str, Path], rng: np.random.Generator
) -> pd.DataFrame:
    """Add the aspects of each response, and the position at which a task shows it, at random."""
    template = read_prompt("aspects", prompts.get("aspects"))
    answers = ask([prompt(template, response=text, count=LISTED) for text in tasks["text"]])
    sampled = [sample_aspects(read_aspects(answer), rng) for answer in answers]
    columns = {
        f"{name} {number}": [
            aspects[number - 1][part] if len(aspects) >= number else "" for aspects in sampled
        ]
        for number in range(1, SHOWN + 1)
        for part, name in enumerate(("aspect", "discussed"))
    }
    firsts: Sequence[int] = rng.integers(1, 3, len(tasks) // 2).tolist()
    positions = [position for first in firsts for position in (first, 3 - first)]
    return tasks.assign(position=positions, **columns)


def tasks(job: Job) -> None:
    """Tasks of a crowd study on the responses of a language model, as a CSV file."""
    files, params = job.input, job.params
    passages = pd.read_parquet(files.passages)
    pairs = crowd_tasks(
        pd.read_parquet(files.responses),
        pd.read_parquet(files.follow_ups),
        passages.groupby("topic", sort=False)["question"].first().to_dict(),
    )
    prompts = {name: Path(path) for name, path in params.prompts.items()}
    with model_of_job(job.snakemake, job.log) as model:
        ask = answer_function(model, Decoding(max_tokens=params.max_tokens))
        table = add_checks(pairs, ask, prompts, np.random.default_rng(params.seed))
    lacking = int((table["aspect 1"] == "").sum())
    job.log.write(f"{len(table) // 2} tasks; {lacking} responses have no attention check.\n")
    write_atomically(Path(job.output.tasks), table.to_csv(index=False, lineterminator="\n"))
