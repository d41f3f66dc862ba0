"""Paraphrasing of passages by a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

import pandas as pd

from everycell.base.files import write_atomically, write_json
from everycell.base.settings import validate_part
from everycell.jobs.job import Job
from everycell.language_models.answering import Recorded, open_language_model
from everycell.language_models.generation import LanguageModelError, Request
from everycell.language_models.records import Entry, key_of, record_lines
from everycell.language_models.settings import AskSettings, Decoding
from everycell.rag.answers import usable_answers
from everycell.rag.paraphrases import (
    Limits,
    Outlook,
    Paraphrase,
    Passage,
    Unit,
    attempts,
    explain_no_questions,
    paraphrase_all,
    paraphrase_questions,
    paraphrases_frame,
    read_template,
)
from everycell.rag.prompts import Question, pick_questions
from everycell.rag.quotations import withhold_quotation
from everycell.trec.runs import read_run


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
