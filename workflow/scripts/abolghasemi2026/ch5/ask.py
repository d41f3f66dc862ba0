"""Cited answers of a language model to all that chapter 5 asks; each is recorded."""

from functools import cache
from pathlib import Path

import pandas as pd

from everycell.engine.files import write_atomically
from everycell.engine.job import Job
from everycell.engine.receipts import write_json
from everycell.engine.settings import part_of
from everycell.language_models.answering import open_language_model
from everycell.language_models.records import key_of, record_lines
from everycell.language_models.settings import AskSettings, Decoding
from everycell.rag.attribution_arms import pick_questions
from everycell.rag.attribution_study import (
    answers_frame,
    drawn_questions,
    everything_asked,
    read_names,
    request_of,
    study_settings,
)
from everycell.rag.citations import may_cite
from everycell.rag.prompts import read_template
from everycell.rag.quotations import without_quotations
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    chosen, files = snakemake.params, snakemake.input
    settings = part_of(snakemake.config, AskSettings)
    sizes = chosen.sizes
    questions = pd.read_parquet(files.questions).set_index("query_id")
    right = questions["answers"].map(tuple).to_dict()
    relevant = pd.read_parquet(files.relevant)
    runs = {
        name: read_run(file).query("query in @questions.index")
        for name, file in zip(chosen.retrievers, files.runs, strict=True)
    }
    people = pd.read_parquet(files.passages).set_index("document_id")["text"]
    written = pd.read_parquet(files.paraphrases).query("kept").set_index("document_id")["text"]
    texts = {"Human": people.to_dict(), "LLM": written.to_dict()}
    # Questions all of whose passages a model wrote again, with the answer in the right one alone:
    # where only the relevant one is the model's, its paraphrase is enough.
    rewritten = set(pd.read_parquet(files.asked)["query_id"])

    @cache
    def pick(retriever, k, place):
        return pick_questions(runs[retriever], relevant, k=k, place=place, seed=job.seed)[0]

    def questions_of(setting, arm):
        authors = (arm.relevant_author, arm.nonrelevant_author)
        found = pick(setting.retriever, setting.k, setting.place)
        return drawn_questions(
            [each for each in found if arm.nonrelevant_author != "LLM" or each.id in rewritten],
            sizes["questions"][setting.name],
            authors=authors,
            texts=texts,
            answers=right,
            seed=job.seed,
        )

    first, *others = chosen.retrievers
    asked = everything_asked(
        study_settings(sizes["k"], sizes["depths"], first=first, others=others), questions_of
    )
    templates = (
        read_template(Path(files.template)),
        read_template(Path(files.authors_template)),
    )
    names = read_names(Path(files.names))
    decoding = Decoding(max_tokens=sizes["max_tokens"], logprobs=chosen.logprobs)
    requests = [
        request_of(
            each,
            question=questions.loc[each.question.id, "text"],
            text=lambda document, author: texts[author][document],
            templates=templates,
            decoding=decoding,
            names=names,
            seed=job.seed,
        )
        for each in asked
    ]
    with open_language_model(
        chosen.model,
        settings.language_models,
        chosen.record,
        folder=Path(files.model) if files.model else None,
        also=[Path(files.recorded)],
        network=settings.network,
    ) as model:
        # Prompts with the same start in a row: a local model reads that once.
        model.answer_all(sorted(requests, key=lambda request: request.text))
        answers = model.answer_all(requests)
        job.log.write(
            f"{model.identity.name}: {len(requests)} requests, {model.asked} not recorded.\n"
        )
        write_json(Path(snakemake.output.provenance), model.provenance())
        # What a replay needs, to be passed on: nothing that is copied from passages, and the
        # probabilities of citations alone.
        shown = {
            key_of(model.identity, each): one for each, one in zip(requests, asked, strict=True)
        }
        entries = []
        for entry in model.used:
            question = shown[entry.key].question
            passages = [
                by[name] for by in texts.values() for name in question.documents if name in by
            ]
            told = without_quotations(entry.answer, passages, right[question.id])
            if told is not None:
                entries.append(entry.model_copy(update={"answer": told.thinned(may_cite)}))
        write_atomically(Path(snakemake.output.record), record_lines(entries))
    table = answers_frame(
        asked,
        answers,
        gold_answers=right,
        dataset=chosen.dataset,
        generator=sizes["models"][chosen.model],
    )
    job.write_frame(table, "answers")
