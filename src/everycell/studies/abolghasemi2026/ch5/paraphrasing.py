"""How the chapter has passages paraphrased: which questions are tried, what is kept of answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template

import pandas as pd

from everycell.language_models.generation import LanguageModelError, Request
from everycell.language_models.recorded import Recorded
from everycell.language_models.records import Entry, key_of
from everycell.language_models.settings import Decoding
from everycell.rag.paraphrase_checks import Limits, passed_on
from everycell.rag.paraphrased_questions import Outlook
from everycell.rag.paraphrases import Paraphrase, Passage, Unit, paraphrase_all
from everycell.rag.questions import Question


def questions_to_try(
    questions: Sequence[Question],
    texts: Mapping[str, str],
    *,
    longest: int | None,
    limit: int | None,
    seed: int,
) -> list[Question]:
    """The questions whose passages are paraphrased, in random order.

    Examples
    --------
    >>> result = [Question("q1", ("a", "b"), gold=1), Question("q2", ("b", "c"), gold=2)]
    >>> texts = {"a": "Rye is a grass.", "b": "Delft is old.", "c": "Leiden too."}
    >>> [each.id for each in questions_to_try(result, texts, longest=3, limit=None, seed=1)]
    ['q2']
    """
    drawn = pd.Series(questions, dtype=object).sample(frac=1, random_state=seed)
    if longest is not None:
        short = {name for name, text in texts.items() if len(text.split()) <= longest}
        drawn = [question for question in drawn if set(question.documents) <= short]
    return list(drawn)[:limit]


def required_answers(
    relevant: pd.DataFrame, tried: Sequence[Question], answers: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Answers that a passage has to keep: those of all questions that it may be relevant for.

    Examples
    --------
    >>> relevant = pd.DataFrame({"query": ["q1", "q2", "q3"], "document": ["a", "a", "a"]})
    >>> tried = [Question("q1", ("a",), gold=1), Question("q2", ("a",), gold=1)]
    >>> required_answers(relevant, tried, {"q1": ("rye",), "q2": ("oat",), "q3": ("ox",)})
    {'a': ('rye', 'oat')}
    """
    ids = {question.id for question in tried}
    by_document: dict[str, tuple[str, ...]] = {}
    for query, document in relevant[["query", "document"]].itertuples(index=False, name=None):
        if query in ids:
            by_document[document] = by_document.get(document, ()) + answers[query]
    return by_document


def add_titles(paraphrases: pd.DataFrame, titles: pd.Series) -> pd.DataFrame:
    """Paraphrases with the titles of their passages, which stay as they are, in front.

    Examples
    --------
    >>> made = pd.DataFrame({"document_id": ["a", "b", "c"], "text": ["Old.", "New.", ""]})
    >>> add_titles(made, pd.Series({"a": "Delft", "b": "", "c": "Rye"}))["text"].tolist()
    ['Delft. Old.', 'New.', '']
    """
    of_each = paraphrases["document_id"].map(titles)
    titled = of_each.where(of_each == "", of_each + ". ") + paraphrases["text"]
    return paraphrases.assign(text=titled.where(paraphrases["text"] != "", ""))


@dataclass
class Paraphraser:
    """A language model that says passages again, and what it said as it may be passed on."""

    model: Recorded
    template: Template
    decodings: Sequence[Decoding]
    limits: Limits
    texts: Mapping[str, str]
    to_keep: Mapping[str, tuple[str, ...]]
    unit: Unit = "sentence"
    used: dict[str, Entry] = field(default_factory=dict)

    def paraphrase_again(self, names: Sequence[str]) -> list[Paraphrase]:
        """Paraphrases of these documents."""
        passages = [Passage(name, self.texts[name], self.to_keep.get(name, ())) for name in names]
        return paraphrase_all(
            passages,
            self.model.answer_all,
            self.template,
            self.decodings,
            self.limits,
            unit=self.unit,
            judged=self._keep,
        )

    def _keep(self, request: Request, sentence: str, reason: str) -> None:
        """Keep an answer as a record may pass it on."""
        key = key_of(self.model.identity, request)
        entry = self.model.record.entries[key]
        shareable = passed_on(entry.answer, sentence, reason)
        self.used[key] = entry.model_copy(update={"answer": shareable})


def outlook_writer(write: Callable[[str], object]) -> Callable[[Outlook], None]:
    """Make a listener that writes down how a search looks."""

    def write_outlook(outlook: Outlook) -> None:
        write(f"{outlook}\n")

    return write_outlook


def hopeless_search_stopper(
    model: str, write: Callable[[str], object]
) -> Callable[[Outlook], None]:
    """As `outlook_writer`; the listener also stops a hopeless search before it costs more."""
    note = outlook_writer(write)

    def check_outlook(outlook: Outlook) -> None:
        note(outlook)
        if outlook.hopeless:
            raise LanguageModelError(f"{model} is asked for no more passages: {outlook}")

    return check_outlook
