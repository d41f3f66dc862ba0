"""Paraphrases of passages by a language model, for chapter 5 of abolghasemi2026.

A study of attribution needs each document twice: as people wrote it, and as paraphrased by a
language model (section 5.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Literal, NamedTuple

import pandas as pd

from everycell.base.files import write_atomically, write_json
from everycell.base.settings import validate_part
from everycell.jobs.job import Job
from everycell.language_models import templates
from everycell.language_models.answering import RecordedModel, open_language_model
from everycell.language_models.generation import Answer, LanguageModelError, Request
from everycell.language_models.records import Entry, key_of, record_lines
from everycell.language_models.settings import AskSettings, Decoding
from everycell.rag.answers import is_correct, usable_answers
from everycell.rag.prompts import Question, pick_questions
from everycell.text.sentences import sentence_spans
from everycell.trec.runs import read_run
from papers.abolghasemi2026.ch5_paraphrase_checks import LIMITS, Limits, fault, judge
from papers.abolghasemi2026.ch5_quotations import withhold_quotation


def paraphrase(job: Job) -> None:
    """Paraphrases of passages for as many questions as needed."""
    params, files = job.params, job.input
    sizes, settings = params.sizes, validate_part(job.snakemake.config, AskSettings)
    passages = pd.read_parquet(files.passages).set_index("document_id")
    relevant = pd.read_parquet(files.relevant)
    answers = pd.read_parquet(files.questions).set_index("query")["answers"]
    answers = answers.map(lambda gold: tuple(usable_answers(gold))).to_dict()

    candidates, left_out = pick_questions(read_run(files.run), relevant, k=sizes["k"])
    job.log.write(f"{len(candidates)} questions can be used; left out: {dict(left_out)}.\n")
    texts, longest = passages["body"].to_dict(), sizes["longest"]
    tried_questions = questions_to_try(
        candidates, texts, longest=longest, limit=sizes["candidates"], seed=params.seed
    )
    # The user may pay for requests in the full tier; the released tier replays recorded answers.
    write_outlook = outlook_writer(job.log.write)
    if job.wildcards.tier == "full":
        write_outlook = hopeless_search_stopper(params.model, job.log.write)
        if not tried_questions:
            raise LanguageModelError(
                f"{files.run}: {explain_no_questions(left_out, len(candidates), longest=longest)}"
            )
    with open_language_model(
        params.model,
        settings.language_models,
        params.records,
        folder=Path(files.model) if files.model else None,
        also=[Path(files.recorded)],
        network=settings.network,
    ) as model:
        paraphraser = Paraphraser(
            model,
            read_template(Path(files.template)),
            attempts(
                Decoding(**params.decoding),
                number=sizes["attempts"],
                **params.sampling,
                seed=params.seed,
            ),
            Limits(copied=params.copied),
            texts,
            required_answers(relevant, tried_questions, answers),
            unit=sizes["unit"],
        )
        paraphrased_queries, paraphrases = paraphrase_questions(
            tried_questions,
            paraphraser.paraphrase_again,
            answers,
            target=sizes["questions"],
            report=write_outlook,
        )
        write_json(Path(job.output.provenance), model.provenance())
        job.log.write(f"{model.identity.name}: {model.endings}.\n")
    write_atomically(Path(job.output.record), record_lines(paraphraser.used.values()))
    frame = paraphrases_frame(paraphrases)
    job.write_frame(add_titles(frame, passages["title"]), "paraphrases")
    job.write_frame(pd.DataFrame({"query": paraphrased_queries}), "asked")
    counts = frame["reason"].replace("", "usable").value_counts().to_dict()
    job.log.write(
        f"{len(frame)} passages: {counts}; {len(paraphrased_queries)} questions have usable "
        "paraphrases of all passages.\n"
    )


def questions_to_try(
    questions: Sequence[Question],
    texts: Mapping[str, str],
    *,
    longest: int | None,
    limit: int | None,
    seed: int,
) -> list[Question]:
    """Questions whose passages will be paraphrased, in random order."""
    candidates = pd.Series(questions, dtype=object).sample(frac=1, random_state=seed)
    if longest is not None:
        short = {name for name, text in texts.items() if len(text.split()) <= longest}
        candidates = [question for question in candidates if set(question.documents) <= short]
    return list(candidates)[:limit]


def required_answers(
    relevant: pd.DataFrame,
    tried_questions: Sequence[Question],
    answers: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[str, ...]]:
    """Answers that the paraphrase of each relevant passage must keep."""
    ids = {question.id for question in tried_questions}
    by_document: dict[str, tuple[str, ...]] = {}
    for query, document in relevant[["query", "document"]].itertuples(index=False, name=None):
        if query in ids:
            by_document[document] = by_document.get(document, ()) + answers[query]
    return by_document


def add_titles(paraphrases: pd.DataFrame, titles: pd.Series) -> pd.DataFrame:
    """Prefix paraphrases with the unchanged titles of their passages."""
    prefixes = paraphrases["document_id"].map(titles)
    titled = prefixes.where(prefixes == "", prefixes + ". ") + paraphrases["text"]
    return paraphrases.assign(text=titled.where(paraphrases["text"] != "", ""))


@dataclass
class Paraphraser:
    """Paraphraser of passages, with the model answers that it used, in releasable form."""

    model: RecordedModel
    template: Template
    decodings: Sequence[Decoding]
    limits: Limits
    texts: Mapping[str, str]
    to_keep: Mapping[str, tuple[str, ...]]
    unit: Unit = "sentence"
    used: dict[str, Entry] = field(default_factory=dict)

    def paraphrase_again(self, names: Sequence[str]) -> list[Paraphrase]:
        """Paraphrase these documents."""
        passages = [Passage(name, self.texts[name], self.to_keep.get(name, ())) for name in names]
        return paraphrase_all(
            passages,
            self.model.answer_all,
            self.template,
            self.decodings,
            self.limits,
            unit=self.unit,
            report=self._keep,
        )

    def _keep(self, request: Request, sentence: str, reason: str) -> None:
        """Store an answer in the form in which a record may be released."""
        key = key_of(self.model.identity, request)
        entry = self.model.record.entries[key]
        shareable = withhold_quotation(entry.answer, sentence, reason)
        self.used[key] = entry.model_copy(update={"answer": shareable})


def outlook_writer(write: Callable[[str], object]) -> Callable[[Outlook], None]:
    """Create a listener that writes the outlook of a search."""

    def write_outlook(outlook: Outlook) -> None:
        write(f"{outlook}\n")

    return write_outlook


def hopeless_search_stopper(
    model: str, write: Callable[[str], object]
) -> Callable[[Outlook], None]:
    """Create a listener that writes the outlook and stops a hopeless search early."""
    write_outlook = outlook_writer(write)

    def check_outlook(outlook: Outlook) -> None:
        write_outlook(outlook)
        if outlook.hopeless:
            raise LanguageModelError(f"Stopped sending passages to {model}: {outlook}")

    return check_outlook


#: Unit of text per prompt.
Unit = Literal["sentence", "passage"]
#: Our templates; the one for sentences has invented examples.
TEMPLATES: Mapping[Unit, Path] = {
    "sentence": Path(__file__).with_name("ch5_paraphrase.txt"),
    "passage": Path(__file__).with_name("ch5_paraphrase_passage.txt"),
}
SLOTS: templates.Slots = {"passage": ("the text to paraphrase", True)}


class Passage(NamedTuple):
    """A passage to paraphrase, without its title, and the answers that it must keep."""

    id: str
    text: str
    answers: tuple[str, ...]


class Paraphrase(NamedTuple):
    """Paraphrase of a passage; `reason` says why it cannot be used ("" if it can)."""

    id: str
    text: str
    attempt: int
    reason: str


def read_template(path: Path = TEMPLATES["sentence"]) -> Template:
    """Read a template with the slots `SLOTS`."""
    return templates.read_template(path, SLOTS, last="passage")


def attempts(
    first: Decoding, *, number: int, temperature: float, top_p: float, seed: int
) -> list[Decoding]:
    """Decoding parameters of each attempt: `first`, then sampling with different seeds."""
    sampled = [
        first.model_copy(update={"temperature": temperature, "top_p": top_p, "seed": seed + offset})
        for offset in range(number - 1)
    ]
    return [first, *sampled]


def paraphrase_all(
    passages: Sequence[Passage],
    ask: Callable[[Sequence[Request]], Sequence[Answer]],
    template: Template,
    decodings: Sequence[Decoding],
    limits: Limits = LIMITS,
    *,
    unit: Unit = "sentence",
    report: Callable[[Request, str, str], None] = lambda request, sentence, reason: None,
) -> list[Paraphrase]:
    """Paraphrase passages, trying the decodings in order until a text passes the checks."""
    sentences = {
        (index, number): passage.text[start:end]
        for index, passage in enumerate(passages)
        for number, (start, end) in enumerate(_spans(passage.text, unit))
    }
    texts: dict[tuple[int, int], str] = {}
    reasons: dict[tuple[int, int], str] = {}
    attempt_counts = dict.fromkeys(sentences, 0)
    for decoding in decodings:
        pending = [name for name in sentences if name not in texts]
        requests = [
            Request(prompt=templates.fill(template, passage=sentences[name]), decoding=decoding)
            for name in pending
        ]
        for name, request, answer in zip(pending, requests, ask(requests), strict=True):
            attempt_counts[name] += 1
            text, reasons[name] = judge(
                answer,
                sentences[name],
                passages[name[0]].answers,
                limits,
                keep_all=unit == "passage",
            )
            report(request, sentences[name], reasons[name])
            if not reasons[name]:
                texts[name] = text
    paraphrases = []
    for index, passage in enumerate(passages):
        units = [name for name in sentences if name[0] == index]
        text = " ".join(texts[name] for name in units if name in texts)
        problem = fault(text, passage.text, passage.answers, limits)
        # For an empty text, the reason for rejecting its first unit is more informative.
        if not text and units:
            problem = reasons[units[0]]
        attempt = max((attempt_counts[name] for name in units), default=0)
        paraphrases.append(Paraphrase(passage.id, text, attempt, problem))
    return paraphrases


def _spans(text: str, unit: Unit) -> list[tuple[int, int]]:
    """Start and end of each unit of a text."""
    return [(0, len(text))] if unit == "passage" else list(sentence_spans(text))


def paraphrases_frame(paraphrases: Sequence[Paraphrase]) -> pd.DataFrame:
    """Paraphrases as a frame that can be stored as Parquet."""
    frame = pd.DataFrame(paraphrases, columns=["document_id", "text", "attempt", "reason"])
    frame.insert(3, "kept", frame["reason"] == "")
    return frame


#: Number of questions in the first round; later rounds are multiples of it.
STEP = 5
#: Number of questions to try before a search is considered hopeless.
FEWEST = 30


class Outlook(NamedTuple):
    """Outcome of the questions tried so far, and a projection for the others."""

    tried: tuple[int, ...]
    passed: tuple[int, ...]
    candidates: int
    target: int

    @property
    def expected(self) -> float:
        """Expected number of complete questions after all candidates are tried.

        The success rate of the other candidates is estimated as the rate so far, or as the product
        of the rates of their passages if that is larger (passages of a question may fail together).
        """
        relevant = self.passed[0] / self.tried[0]
        later = sum(self.passed[1:]) / max(1, sum(self.tried[1:]))
        product = relevant * later ** (len(self.tried) - 1)
        share = max(product, self.passed[-1] / self.tried[0])
        return self.passed[-1] + (self.candidates - self.tried[0]) * share

    @property
    def hopeless(self) -> bool:
        """Whether fewer than one question is expected, after `FEWEST` or all questions."""
        return self.tried[0] >= min(FEWEST, self.candidates) and self.expected < 1

    def __str__(self) -> str:
        """Summary in one sentence, with advice if too few questions are expected."""
        expected = f"{self.expected:.0f}" if self.expected >= 10 else f"{self.expected:.2g}"
        text = (
            f"{self.tried[0]} of {self.candidates} questions tried, {self.passed[-1]} have usable "
            f"paraphrases of all passages: {self.passed[0]} of {self.tried[0]} relevant passages "
            f"and {sum(self.passed[1:])} of {sum(self.tried[1:])} others can be used, so about "
            f"{expected} of {self.candidates} questions are expected"
        )
        if self.expected >= self.target:
            return f"{text}."
        return (
            f"{text}, but {self.target} are needed: use a better model, raise `attempts` or "
            "`candidates`, or lower `k`, under `attribution` in config.yaml."
        )


def explain_no_questions(left_out: Mapping[str, int], usable: int, *, longest: int | None) -> str:
    """Explain why no question can be tried, and what to do."""
    reasons = ", ".join(f"{fault}: {number}" for fault, number in left_out.items()) or "none"
    sentence = (
        f"no question can be tried: {sum(left_out.values())} are excluded because of their "
        f"passages ({reasons})"
    )
    if longest is None:
        return f"{sentence}; use another run."
    return (
        f"{sentence} and {usable} because of passages of more than {longest} words; use another "
        "run, or raise `longest` under `attribution.paraphrases` in config.yaml."
    )


def paraphrase_questions(
    questions: Sequence[Question],
    paraphrase_again: Callable[[Sequence[str]], Sequence[Paraphrase]],
    answers: Mapping[str, Sequence[str]],
    *,
    target: int,
    report: Callable[[Outlook], None] = lambda outlook: None,
) -> tuple[list[str], list[Paraphrase]]:
    """Paraphrase the passages of questions until enough questions are complete.

    Questions are tried in the given order, in rounds whose requests are sent together. Each round
    is twice as large as the previous one, starting with `STEP`, but not larger than needed if all
    of its questions succeed. The requests and the result are the same as if every round had `STEP`
    questions.
    """
    ordered = [_relevant_first(question) for question in questions]
    depth = len(ordered[0]) if ordered else 0
    paraphrases: dict[str, Paraphrase] = {}
    complete: list[str] = []
    # Number of checked passages, by the position of the question.
    checked = [0] * len(questions)
    tried, passed = [0] * depth, [0] * depth
    start, size = 0, STEP
    while start < len(questions) and len(complete) < target:
        needed = STEP * math.ceil((target - len(complete)) / STEP)
        active = list(range(len(questions))[start : start + min(size, needed)])
        start, size = active[-1] + 1, 2 * size
        for position in range(depth):
            names = dict.fromkeys(ordered[number][position] for number in active)
            new = [name for name in names if name not in paraphrases]
            paraphrases |= {paraphrase.id: paraphrase for paraphrase in paraphrase_again(new)}
            tried[position] += len(active)
            for number in active:
                checked[number] += 1
            active = [
                number
                for number in active
                if _is_usable(
                    paraphrases[ordered[number][position]],
                    () if position == 0 else answers[questions[number].id],
                )
            ]
            passed[position] += len(active)
        complete += [questions[number].id for number in active]
        report(Outlook(tuple(tried), tuple(passed), len(questions), target))
    # In the order of rounds of `STEP` questions.
    names = dict.fromkeys(
        ordered[number][position]
        for first in range(0, start, STEP)
        for position in range(depth)
        for number in range(first, min(first + STEP, start))
        if checked[number] > position
    )
    return complete[:target], [paraphrases[name] for name in names]


def _relevant_first(question: Question) -> list[str]:
    documents = list(question.documents)
    return [documents.pop(question.gold - 1), *documents]


def _is_usable(paraphrase: Paraphrase, forbidden: Sequence[str]) -> bool:
    # A model may add the answer to a passage that did not contain it.
    return not paraphrase.reason and not (
        forbidden and is_correct(paraphrase.text, forbidden, match="squad")
    )
