"""Paraphrasing of passages by a language model in chapter 5."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template

import pandas as pd

from everycell.language_models.answering import Recorded
from everycell.language_models.generation import LanguageModelError, Request
from everycell.language_models.records import Entry, key_of
from everycell.language_models.settings import Decoding
from everycell.rag.paraphrases import Limits, Outlook, Paraphrase, Passage, Unit, paraphrase_all
from everycell.rag.prompts import Question
from everycell.rag.quotations import withhold_quotation


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

    model: Recorded
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
