"""Language models as generators of chapter 5, and what of their answers can be passed on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from everycell.language_models.generation import Answer, Request
from everycell.language_models.recorded import Recorded
from everycell.language_models.records import Entry, key_of
from everycell.language_models.settings import Decoding
from everycell.rag.citations import may_cite
from everycell.rag.prompts import LABELS, MACHINE, PromptTemplate
from everycell.rag.quotations import without_quotations
from everycell.studies.abolghasemi2026.ch5.arms import Asked
from everycell.studies.abolghasemi2026.ch5.generators import Benchmark
from everycell.studies.abolghasemi2026.ch5.requests import request_of


@dataclass(frozen=True)
class PromptedModel:
    """A language model that is prompted with questions and documents."""

    name: str
    model: Recorded
    templates: tuple[PromptTemplate, PromptTemplate]
    decoding: Decoding
    names: Sequence[str] = ()
    seed: int = 0
    words: Mapping[str, str] = field(default_factory=lambda: LABELS)
    machine: str = MACHINE

    def requests(self, asked: Iterable[Asked], benchmark: Benchmark) -> list[Request]:
        """What it is sent, in the order of what is asked."""
        return [
            request_of(
                each,
                question=benchmark.questions[each.question.id],
                text=lambda document, author: benchmark.texts[author][document],
                templates=self.templates,
                decoding=self.decoding,
                names=self.names,
                seed=self.seed,
                words=self.words,
                machine=self.machine,
            )
            for each in asked
        ]

    def answer_all(self, asked: Sequence[Asked], benchmark: Benchmark) -> list[Answer]:
        """Ask everything; prompts with the same start in a row: a local model reads that once."""
        requests = self.requests(asked, benchmark)
        self.model.answer_all(sorted(requests, key=lambda request: request.text))
        return self.model.answer_all(requests)


def entries_to_pass_on(
    used: Iterable[Entry],
    generator: PromptedModel,
    asked: Sequence[Asked],
    benchmark: Benchmark,
) -> list[Entry]:
    """Recorded answers as they can be passed on, enough for a replay.

    Nothing that is copied from passages is in them, and of probabilities only those of citations.
    """
    requests = generator.requests(asked, benchmark)
    shown: Mapping[str, Asked] = {
        key_of(generator.model.identity, request): each
        for request, each in zip(requests, asked, strict=True)
    }
    entries = []
    for entry in used:
        question = shown[entry.key].question
        passages = [
            texts[name]
            for texts in benchmark.texts.values()
            for name in question.documents
            if name in texts
        ]
        told = without_quotations(entry.answer, passages, benchmark.right[question.id])
        if told is not None:
            entries.append(entry.model_copy(update={"answer": told.thinned(may_cite)}))
    return entries
