"""Language models as generators of chapter 5, and the release of their recorded answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from everycell.language_models.answering import Recorded
from everycell.language_models.generation import Answer, Request
from everycell.language_models.records import Entry, key_of
from everycell.language_models.settings import Decoding
from everycell.rag.citations import may_cite
from everycell.rag.prompts import LABELS, MACHINE, PromptTemplate
from everycell.rag.quotations import without_quotations
from everycell.studies.abolghasemi2026.ch5.arms import Presentation
from everycell.studies.abolghasemi2026.ch5.generators import Benchmark
from everycell.studies.abolghasemi2026.ch5.requests import make_request


@dataclass(frozen=True)
class PromptedModel:
    """A language model prompted with questions and documents."""

    name: str
    model: Recorded
    templates: tuple[PromptTemplate, PromptTemplate]
    decoding: Decoding
    names: Sequence[str] = ()
    seed: int = 0
    words: Mapping[str, str] = field(default_factory=lambda: LABELS)
    machine: str = MACHINE

    def requests(
        self, presentations: Iterable[Presentation], benchmark: Benchmark
    ) -> list[Request]:
        """Requests to the model, in the order of the presentations."""
        return [
            make_request(
                presentation,
                question=benchmark.questions[presentation.question.id],
                text=lambda document, author: benchmark.texts[author][document],
                templates=self.templates,
                decoding=self.decoding,
                names=self.names,
                seed=self.seed,
                words=self.words,
                machine=self.machine,
            )
            for presentation in presentations
        ]

    def answer_all(
        self, presentations: Sequence[Presentation], benchmark: Benchmark
    ) -> list[Answer]:
        """Send all requests and return the answers in the order of the presentations."""
        requests = self.requests(presentations, benchmark)
        # Sorted, because a local model reads a prefix shared by consecutive prompts only once.
        self.model.answer_all(sorted(requests, key=lambda request: request.text))
        return self.model.answer_all(requests)


def entries_to_pass_on(
    used: Iterable[Entry],
    generator: PromptedModel,
    presentations: Sequence[Presentation],
    benchmark: Benchmark,
) -> list[Entry]:
    """Recorded answers in a form that can be released and suffices for a replay.

    They omit text that is copied from passages, and all probabilities except those of citations.
    """
    requests = generator.requests(presentations, benchmark)
    by_key: Mapping[str, Presentation] = {
        key_of(generator.model.identity, request): presentation
        for request, presentation in zip(requests, presentations, strict=True)
    }
    entries = []
    for entry in used:
        question = by_key[entry.key].question
        passages = [
            texts[name]
            for texts in benchmark.texts.values()
            for name in question.documents
            if name in texts
        ]
        answer = without_quotations(entry.answer, passages, benchmark.right[question.id])
        if answer is not None:
            entries.append(entry.model_copy(update={"answer": answer.keep_logprobs(may_cite)}))
    return entries
