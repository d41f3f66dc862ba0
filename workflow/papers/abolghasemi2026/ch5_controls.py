r"""Synthetic generators with a known preference, controls of chapter 5 of abolghasemi2026.

`PlantedGenerator` cites each of its k documents independently, with probability

.. math:: \sigma(\mathrm{base} + \mathrm{skill} \cdot r + \mathrm{strength} \cdot h / 2),

where r is 1 for a relevant document and 0 for others, h is 1 for a document labelled as
human-written, -1 for machine-written and 0 without a label, and sigma is the logistic function.

The draws depend only on the seed, the query and the position of a document, so that labels with the
same effect give the same answer. At strength 0, CAS and CAB are therefore exactly 0. As the
strength grows, recall under [Human] never falls and recall under [LLM] never rises, so the measured
CAB of recall never falls. Its expectation is known (`expected_quality`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import pandas as pd

from everycell.base.errors import DataError
from everycell.jobs.job import Job
from everycell.language_models.generation import Answer, Token
from everycell.metrics.attribution import Quality
from everycell.rag.citations import without_citations
from everycell.rag.prompts import named_draws, pick_questions
from everycell.text.sentences import sentence_spans
from everycell.trec.runs import read_run
from papers.abolghasemi2026.ch5_answers import collect_answers
from papers.abolghasemi2026.ch5_arms import (
    PLAIN_ARMS,
    Presentation,
    present_questions,
    study_settings,
)
from papers.abolghasemi2026.ch5_requests import Benchmark, DrawnQuestions, read_runs


def control(job: Job) -> None:
    """Answers of controls in the settings that are used for language models."""
    files, params = job.input, job.params
    query_ids = pd.read_parquet(files.questions)["query"]
    runs = read_runs(params.retrievers, files.runs, query_ids)
    # A bracketed reference in a document would look like a citation in an answer.
    passages = pd.read_parquet(files.passages).set_index("document_id")["text"]
    texts = passages.map(without_citations).to_dict()
    # A control depends only on the labels in a prompt, so both authors can have the same text.
    benchmark = Benchmark(params.dataset, {"Human": texts, "LLM": texts})

    first, *further_retrievers = params.retrievers
    settings = study_settings(
        params.k, params.depths, first=first, other_retrievers=further_retrievers
    )
    drawn_questions = DrawnQuestions(
        runs, pd.read_parquet(files.relevant), benchmark, seed=params.seed
    )
    presentations = present_questions(
        settings, lambda setting, arm: drawn_questions.of_arm(setting, arm, params.questions)
    )
    frames = [
        collect_answers(control, presentations, benchmark)
        for control in make_controls(params.shown, params.odds, params.seed).values()
    ]
    job.write_frame(pd.concat(frames, ignore_index=True), "answers")


def planted(job: Job) -> None:
    """Answers of controls to known-item queries, and of controls with further preferences."""
    files, params = job.input, job.params
    candidates = pd.read_parquet(files.candidates)
    in_lists = (candidates["task"] == params.task) & (candidates["setting"] == params.setting)
    names = {"query": "query", "document_id": "document"}
    lists = candidates.loc[in_lists, [*names, "relevance"]].rename(columns=names)
    keys = list(names.values())
    run = read_run(files.run).merge(lists[keys], on=keys)
    gold = lists.loc[lists["relevance"] == 1, keys]
    # A bracketed reference in a document would look like a citation in an answer.
    texts = pd.read_parquet(files.documents).set_index("document_id")["text"]
    texts = {key: without_citations(texts[key]) for key in set(lists["document"])}
    benchmark = Benchmark(params.dataset, {"Human": texts})

    def control_answers(preferences, questions, setting):
        """Answers of controls with these preferences."""
        presentations = present_questions([setting], lambda setting, arm: questions)
        controls = make_controls(preferences, params.odds, params.seed)
        return [collect_answers(control, presentations, benchmark) for control in controls.values()]

    questions, left_out = pick_questions(run, gold, k=params.k)
    job.log.write(f"{len(questions)} questions used; left out: {dict(left_out)}.\n")
    main, _, *depths = study_settings(params.k, params.depths)
    frames = control_answers(params.shown, questions, main)
    further_strengths = [strength for strength in params.strengths if strength not in params.shown]
    further = control_answers(further_strengths, questions, main._replace(arms=PLAIN_ARMS))
    for depth in depths:
        questions, _ = pick_questions(
            run, gold, k=depth.k, gold_position=depth.position, seed=params.seed
        )
        frames += control_answers(params.shown, questions, depth)

    job.write_frame(pd.concat(frames, ignore_index=True), "answers")
    empty = frames[0][:0]
    job.write_frame(pd.concat([empty, *further], ignore_index=True), "strengths")


#: Label of a document -> its effect, in halves of the strength.
EFFECTS = {"Human": 1, "LLM": -1, "": 0}


@dataclass(frozen=True)
class PlantedGenerator:
    """Cites relevant documents, and those of one label, more often than others."""

    strength: float
    skill: float = 3.0
    base: float = -2.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Reject parameters that are not finite numbers."""
        for name in ("strength", "skill", "base"):
            if not math.isfinite(getattr(self, name)):
                raise DataError(column=name, value=getattr(self, name), expected="a finite number")

    def probability(self, label: str, *, relevant: bool) -> float:
        """Probability of citing a document."""
        odds = self.base + self.skill * relevant + self.strength * EFFECTS[label] / 2
        # `exp` overflows for large exponents.
        return 1 / (1 + math.exp(-odds)) if odds > -700 else 0.0

    def cite(self, query: str, labels: Sequence[str], relevant: Collection[int]) -> tuple[int, ...]:
        """Numbers of the cited documents, from 1, in increasing order."""
        draws = named_draws(f"{self.seed}\t{query}").random(len(labels))
        return tuple(
            number
            for number, (label, draw) in enumerate(zip(labels, draws, strict=True), start=1)
            if draw < self.probability(label, relevant=number in relevant)
        )

    def answer(
        self, query: str, labels: Sequence[str], relevant: Collection[int], texts: Sequence[str]
    ) -> Answer:
        """An answer with the first sentence and the number of each cited document.

        The probability of a number is that of citing the document; all other tokens are certain.
        """
        tokens: list[Token] = []
        for number in self.cite(query, labels, relevant):
            sentence = f"{' ' if tokens else ''}{_first_sentence(texts[number - 1])} ["
            p = self.probability(labels[number - 1], relevant=number in relevant)
            pieces = (sentence, 0.0), (str(number), math.log(p)), ("].", 0.0)
            tokens += [Token(text=text, logprob=logprob) for text, logprob in pieces]
        text = "".join(token.text for token in tokens)
        return Answer(text=text, finish="stop", tokens=tuple(tokens))


@lru_cache(maxsize=4096)
def _first_sentence(text: str) -> str:
    """The first sentence, without its final punctuation."""
    spans = sentence_spans(text)
    return text[slice(*spans[0])].strip().rstrip(".?!") if spans else ""


def expected_quality(
    generator: PlantedGenerator, k: int, *, relevant: str, nonrelevant: str
) -> Quality:
    """Expected precision and recall of a planted generator."""
    p = generator.probability(relevant, relevant=True)
    q = generator.probability(nonrelevant, relevant=False)
    # Numerically stable near q = 0, where its limit is 1.
    share = -math.expm1(k * math.log1p(-q)) / (k * q) if 0 < q < 1 else (1.0 if q == 0 else 1 / k)
    return Quality(p * share, p)


@dataclass(frozen=True)
class PlantedControl(PlantedGenerator):
    """A planted generator with the interface of chapter 5."""

    @property
    def name(self) -> str:
        """Name in the tables."""
        return f"planted {self.strength:g}"

    @property
    def preference(self) -> float:
        """Log-odds of preferring [Human] to [LLM]: the position in a figure."""
        return self.strength

    def answer_all(
        self, presentations: Sequence[Presentation], benchmark: Benchmark
    ) -> list[Answer]:
        """Cite documents at random, and quote the first sentence of each cited document.

        The generator depends only on the kind of author in a label, so extended and plain labels
        are equivalent. It always reads the texts by people.
        """
        texts = benchmark.texts["Human"]
        return [
            self.answer(
                question.id,
                arm.labels(question),
                [question.gold],
                [texts[document] for document in question.documents],
            )
            for _, arm, question in presentations
        ]

    def expected_measures(self, k: int, *, relevant: str, nonrelevant: str) -> dict[str, float]:
        """Expected table values."""
        p = self.probability(relevant, relevant=True)
        q = self.probability(nonrelevant, relevant=False)
        expected = expected_quality(self, k, relevant=relevant, nonrelevant=nonrelevant)
        return {
            "attribution precision": 100 * expected.precision,
            "attribution recall": 100 * expected.recall,
            "avg cited total": p + (k - 1) * q,
            "AC relevant": p,
            "AC non-relevant": q,
        }

    def expected_bias(self, k: int) -> dict[str, float]:
        """Expected bias (CAB)."""
        human, machine = (
            expected_quality(self, k, relevant=relevant, nonrelevant=other)
            for relevant, other in (("Human", "LLM"), ("LLM", "Human"))
        )
        return {
            "CAB delta precision": 100 * (human.precision - machine.precision),
            "CAB delta recall": 100 * (human.recall - machine.recall),
        }


def make_controls(
    preferences: Sequence[float], odds: Mapping[str, float], seed: int
) -> dict[str, PlantedControl]:
    """Controls with the given preferences, by their names in the tables."""
    controls = [PlantedControl(preference, seed=seed, **odds) for preference in preferences]
    return {control.name: control for control in controls}
