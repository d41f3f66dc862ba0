"""Texts shown as figures in chapter 3 of abolghasemi2026: prompts and example dialogues."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample
from everycell.jobs.result_job import ResultJob
from everycell.render.text_figures import text_figure
from papers.abolghasemi2026.ch3_data import CAUSE_BENCHMARK, match_counterfactuals, read_samples
from papers.abolghasemi2026.ch3_few_shot import messages
from papers.abolghasemi2026.ch3_generation import prompt, read_template

#: A dialogue of slots, which shows where a prompt contains the input dialogue.
SLOTS = Sample(
    "slots",
    CAUSE_BENCHMARK,
    ((USER, "{utterance of the user}"), (SYSTEM, "{last utterance of the system}")),
    satisfied=True,
)
#: Name of a label.
_LABELS = {True: "satisfied", False: "dissatisfied"}


def prompts(job: ResultJob) -> None:
    """Figures 3.3 and 3.6: the project's prompts for labels and for counterfactuals."""
    labelling = messages(SLOTS.turns)
    generating = prompt(read_template(Path(job.input.template)), SLOTS)
    for name, prompt_messages in (("", labelling), ("figure_3_6", generating)):
        parts = pd.DataFrame(
            [(message.role, message.content) for message in prompt_messages],
            columns=["part", "text"],
        )
        job.write_figure(parts, text_figure(parts, monospace=True), name)


def dialogues(job: ResultJob) -> None:
    """Figures 3.1, 3.2 and 3.7: a dialogue, and two dialogues with their counterfactuals."""
    main, generated = (
        read_samples(Path(path), CAUSE_BENCHMARK, part)
        for part, path in (("main", job.input.main), ("generated", job.input.generated))
    )
    counterfactuals = match_counterfactuals(main, generated, confirmed=False)
    pairs = {
        sample.id: pair
        for sample, *pair in zip(main, main, counterfactuals, strict=True)
        if sample.id in job.params.examples
    }
    examples = pd.concat([example(*pairs[name]) for name in job.params.examples])
    job.write_figure(examples, text_figure(examples, panel="panel", columns=2))
    last = examples.groupby("panel", sort=False).tail(3)
    job.write_figure(last, text_figure(last, panel="panel", columns=2), "figure_3_2")
    snippet = shortest_dissatisfied(main)
    job.write_figure(snippet, text_figure(snippet), "figure_3_1")


def example(original: Sample, counterfactual: Sample) -> pd.DataFrame:
    """Utterances of a dialogue, with its original and its counterfactual last utterance."""
    rows = list(original.turns[:-1])
    for version, sample in (("original", original), ("counterfactual", counterfactual)):
        speaker, text = sample.turns[-1]
        rows.append((f"{speaker}, {version}: {_LABELS[sample.satisfied]}", text))
    frame = pd.DataFrame(rows, columns=["part", "text"])
    frame.insert(0, "panel", original.id)
    return frame


def shortest_dissatisfied(samples: list[Sample]) -> pd.DataFrame:
    """Utterances of the shortest dialogue whose user is dissatisfied, the first of equals."""
    sample = min(
        (sample for sample in samples if not sample.satisfied),
        key=lambda candidate: len(candidate.turns),
    )
    return pd.DataFrame(
        [*sample.turns, ("label of the user", _LABELS[sample.satisfied])],
        columns=["part", "text"],
    )
