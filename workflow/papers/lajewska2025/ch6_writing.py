"""Responses of chapter 6 of lajewska2025 that a language model writes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from everycell.jobs.job import Job
from everycell.language_models import reasoning, templates
from everycell.language_models.answering import RecordedModel, model_of_job
from everycell.language_models.generation import Message, Request
from everycell.language_models.settings import Decoding
from everycell.rag.nugget_responses import Response, Sentence, responses_frame, stems
from everycell.text.sentences import sentence_spans
from papers.lajewska2025.ch6_prompts import read_prompt
from papers.lajewska2025.ch6_systems import (
    BASELINE,
    GOLD,
    IRRELEVANT,
    REASONED,
    RELEVANT,
    REPHRASED,
    RETRIEVED,
    STANDARD,
    SYSTEMS,
    Facets,
    System,
    facets,
)

#: Variants written by default: name -> system, and name of its fluent rewriting.
WRITTEN: Mapping[str, tuple[System, str | None]] = {
    STANDARD: (System(), "GINGER"),
    "CAsT-snippets/BERTopic/DuoT5/GPT-4": (System(detection=GOLD), "GINGER w/ GTnuggets"),
}
#: All variants of Table C.7.
ALL_WRITTEN: Mapping[str, tuple[System, str | None]] = {
    name: WRITTEN.get(name, (system, None)) for name, system in SYSTEMS.items()
}
#: Other input -> variants (Tables C.6 and C.7), which use no human nuggets.
FURTHER: Mapping[str, Mapping[str, tuple[System, str | None]]] = {
    IRRELEVANT: {STANDARD: WRITTEN[STANDARD]},
    RETRIEVED: {STANDARD: WRITTEN[STANDARD]},
    REPHRASED: {name: ALL_WRITTEN[name] for name in (STANDARD, "GINGER -fluency w/ LSA")},
}
#: Prompts whose answer is a complete response.
_ONE_STEP_PROMPTS = ("one_step", "chain_of_thought")
_PROMPTS = ("summary", "depth", "fluency", "follow_up", *_ONE_STEP_PROMPTS)


class Writer:
    """A language model with the prompts of the pipeline."""

    def __init__(
        self,
        model: RecordedModel,
        decoding: Decoding,
        reasoning: Decoding,
        prompts: Mapping[str, Path],
        *,
        clusters: int,
        sentences: int,
        words: int,
    ) -> None:
        self.model, self.decoding, self.reasoning = model, decoding, reasoning
        self.clusters, self.sentences, self.words = clusters, sentences, words
        self._prompts = {name: read_prompt(name, prompts.get(name)) for name in _PROMPTS}

    def ask(self, name: str, values: Sequence[Mapping[str, str | Sequence[str]]]) -> list[str]:
        """Answers to a prompt, one line per set of values."""
        messages: list[tuple[Message, ...]] = []
        for slots in values:
            limits = {"words": str(self.words), "sentences": str(self.sentences)}
            if name in _ONE_STEP_PROMPTS:
                limits["words"] = str(self.words * self.sentences)
            messages.append(prompt(self._prompts[name], **(limits | dict(slots))))
        with_reasoning = name == "chain_of_thought"
        decoding = self.reasoning if with_reasoning else self.decoding
        answers = self.model.answer_all(
            [Request(prompt=message, decoding=decoding) for message in messages]
        )
        parse = without_reasoning if with_reasoning else str
        return [one_line(parse(answer.text)) for answer in answers]

    def respond_in_one_step(
        self, name: str, questions: Mapping[str, str], passages: Mapping[str, Sequence[str]]
    ) -> list[Response]:
        """Responses of a baseline to each topic of `passages`, not based on nuggets."""
        answers = self.ask(
            name,
            [
                {"question": questions[topic], "passages": texts}
                for topic, texts in passages.items()
            ],
        )
        return [
            Response(topic, trace_sentences(answer, {}))
            for topic, answer in zip(passages, answers, strict=True)
        ]


def write_responses(
    writer: Writer,
    passages: pd.DataFrame,
    nuggets: pd.DataFrame,
    clusters: pd.DataFrame,
    ranks: pd.DataFrame,
    topics: Sequence[str],
    *,
    kind: str = RELEVANT,
    systems: Mapping[str, tuple[System, str | None]] = WRITTEN,
    chain_of_thought: bool = False,
) -> pd.DataFrame:
    """Responses of the baselines and of several variants to some topics."""
    selected_passages, *frames = [
        frame[(frame["input"] == kind) & frame["topic"].isin(topics)]
        for frame in (passages, nuggets, clusters, ranks)
    ]
    by_topic = selected_passages.groupby("topic", sort=False)
    questions = by_topic["question"].first().to_dict()
    texts = by_topic["text"].agg(list).to_dict()
    inputs = {topic: texts[topic] for topic in topics}
    responses = {BASELINE: writer.respond_in_one_step("one_step", questions, inputs)}
    if chain_of_thought:
        responses[REASONED] = writer.respond_in_one_step("chain_of_thought", questions, inputs)
    for name, (system, fluent) in systems.items():
        all_facets = list(facets(system, *frames, first=writer.clusters))
        plain = _plain_responses(writer, all_facets, questions, deep=system.deep)
        responses[name] = plain
        if fluent is not None:
            responses[fluent] = rewrite(writer, all_facets, plain, questions)
    return responses_frame(responses).assign(input=kind)


def summarise(
    writer: Writer,
    all_facets: Sequence[Facets],
    questions: Mapping[str, str],
    prompt_name: str = "summary",
) -> list[list[Sentence]]:
    """One answer per cluster of each topic, by default a sentence, with its source nuggets."""
    answers = iter(
        writer.ask(
            prompt_name,
            [
                {
                    "question": questions[topic_facets.topic],
                    "nuggets": [topic_facets.texts[nugget] for nugget in nuggets],
                }
                for topic_facets in all_facets
                for nuggets in topic_facets.clusters
            ],
        )
    )
    return [
        [Sentence(next(answers), tuple(nuggets)) for nuggets in topic_facets.clusters]
        for topic_facets in all_facets
    ]


def elaborate(
    writer: Writer, all_facets: Sequence[Facets], questions: Mapping[str, str]
) -> list[list[Sentence]]:
    """Several sentences on the first cluster of each topic, each with all its nuggets."""
    first = [
        topic_facets._replace(clusters=topic_facets.clusters[:1]) for topic_facets in all_facets
    ]
    summaries = summarise(writer, first, questions, prompt_name="depth")
    return [
        [
            Sentence(text[start:end].strip(), nuggets)
            for text, nuggets in summary
            for start, end in sentence_spans(text)
        ]
        for summary in summaries
    ]


def _plain_responses(
    writer: Writer, all_facets: Sequence[Facets], questions: Mapping[str, str], *, deep: bool
) -> list[Response]:
    """Responses before rewriting: sentences on clusters, and an offer to continue."""
    sentences_by_topic = (elaborate if deep else summarise)(writer, all_facets, questions)
    # The follow-up question is on the summary of the next cluster.
    of_next = [topic_facets._replace(clusters=[topic_facets.next]) for topic_facets in all_facets]
    offers = writer.ask(
        "follow_up",
        [
            {
                "question": questions[topic_facets.topic],
                "nuggets": [sentence.text for sentence in summary],
            }
            for topic_facets, summary in zip(
                all_facets, summarise(writer, of_next, questions), strict=True
            )
        ],
    )
    return [
        Response(topic_facets.topic, tuple(sentences), offer)
        for topic_facets, sentences, offer in zip(
            all_facets, sentences_by_topic, offers, strict=True
        )
    ]


def rewrite(
    writer: Writer,
    all_facets: Sequence[Facets],
    plain: Sequence[Response],
    questions: Mapping[str, str],
) -> list[Response]:
    """Rewrite responses as fluent paragraphs, and trace each sentence to nuggets."""
    texts = writer.ask(
        "fluency",
        [
            {
                "question": questions[response.topic],
                "sentences": [sentence.text for sentence in response.sentences],
            }
            for response in plain
        ],
    )
    paragraphs = []
    for topic_facets, response, text in zip(all_facets, plain, texts, strict=True):
        # A rewritten sentence may be based on any nugget of the original sentences.
        used = {nugget for sentence in response.sentences for nugget in sentence.nuggets}
        sources = {nugget: topic_facets.texts[nugget] for nugget in sorted(used)}
        paragraphs.append(
            Response(topic_facets.topic, trace_sentences(text, sources), response.follow_up)
        )
    return paragraphs


def make_writer(model: RecordedModel, params: Any) -> Writer:
    """The writer that the parameters of a rule describe."""
    return Writer(
        model,
        Decoding(max_tokens=params.max_tokens),
        Decoding(max_tokens=params.reasoning_tokens),
        {name: Path(path) for name, path in params.prompts.items()},
        clusters=params.clusters,
        sentences=params.sentences,
        words=params.words,
    )


def write(job: Job) -> None:
    """Responses in one step, from clusters, and rewritten."""
    files, params = job.input, job.params
    passages, nuggets = pd.read_parquet(files.passages), pd.read_parquet(files.nuggets)
    inputs = set(nuggets["input"])
    variants = {RELEVANT: ALL_WRITTEN if params.everything else WRITTEN}
    if params.everything:
        variants |= {kind: systems for kind, systems in FURTHER.items() if kind in inputs}
    with model_of_job(job.snakemake, job.log) as model:
        writer = make_writer(model, params)
        clusters, ranks = pd.read_parquet(files.clusters), pd.read_parquet(files.ranks)
        frames = []
        for kind, systems in variants.items():
            topics = list(dict.fromkeys(nuggets.loc[nuggets["input"] == kind, "topic"]))
            responses = write_responses(
                writer,
                passages,
                nuggets,
                clusters,
                ranks,
                topics[: params.questions],
                kind=kind,
                systems=systems,
                chain_of_thought=params.everything,
            )
            frames.append(responses)
    responses = pd.concat(frames, ignore_index=True)
    unanswered = responses[(responses["system"] == REASONED) & (responses["sentence"] == 0)]
    job.log.write(f"{len(unanswered)} chains of thought end without an answer.\n")
    job.write_frame(responses, "responses")


def prompt(template: Template, **values: str | int | Sequence[str]) -> tuple[Message, ...]:
    """Fill a prompt; a list becomes numbered lines."""
    filled = {
        name: str(value)
        if isinstance(value, (str, int))
        else "\n".join(
            f"{number}. {' '.join(text.split())}" for number, text in enumerate(value, 1)
        )
        for name, value in values.items()
    }
    return templates.fill(template, **filled)


def trace_sentences(text: str, sources: Mapping[int, str]) -> tuple[Sentence, ...]:
    """Sentences of a generated text, each with the nuggets of whose words it contains half."""
    words = {number: set(stems(source)) for number, source in sources.items()}
    sentences = []
    for start, end in sentence_spans(text):
        own = set(stems(text[start:end]))
        nuggets = tuple(
            number
            for number, words_of_source in words.items()
            if words_of_source and 2 * len(words_of_source & own) >= len(words_of_source)
        )
        sentences.append(Sentence(" ".join(text[start:end].split()), nuggets))
    return tuple(sentences)


def one_line(text: str) -> str:
    """A model's answer as one line, without its list marker."""
    return re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", " ".join(text.split()))


def without_reasoning(text: str) -> str:
    """The text after the last "Answer:" at the beginning of a line; empty if there is none.

    The reasoning of a model that was cut off is not an answer, nor is reasoning in tags.
    """
    text = reasoning.without_reasoning(text)
    marks = list(
        re.finditer(
            r"^(?:[-#*_>]|[^\S\n])*+answer[*_ ]*:[*_]*", text, flags=re.IGNORECASE | re.MULTILINE
        )
    )
    return text[marks[-1].end() :].strip() if marks else ""
