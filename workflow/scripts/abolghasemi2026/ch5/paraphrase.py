"""Passages in the words of a language model, until enough questions have all of theirs."""

from pathlib import Path

import pandas as pd

from everycell.engine.files import write_atomically
from everycell.engine.job import Job
from everycell.engine.receipts import write_json
from everycell.engine.settings import part_of
from everycell.language_models.answering import open_language_model
from everycell.language_models.generation import LanguageModelError
from everycell.language_models.records import Entry, key_of, record_lines
from everycell.language_models.settings import AskSettings, Decoding
from everycell.rag.answers import usable_answers
from everycell.rag.attribution_arms import pick_questions
from everycell.rag.paraphrased_questions import none_to_try, paraphrase_questions
from everycell.rag.paraphrases import (
    Limits,
    Passage,
    attempts,
    paraphrase_all,
    paraphrases_frame,
    passed_on,
    read_template,
)
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    chosen, files = snakemake.params, snakemake.input
    sizes, settings = chosen.sizes, part_of(snakemake.config, AskSettings)
    passages = pd.read_parquet(files.passages).set_index("document_id")
    relevant = pd.read_parquet(files.relevant)
    answers = pd.read_parquet(files.questions).set_index("query_id")["answers"]
    answers = answers.map(lambda gold: tuple(usable_answers(gold)))

    found, left_out = pick_questions(read_run(files.run), relevant, k=sizes["k"])
    job.log.write(f"{len(found)} questions can be asked; left out: {dict(left_out)}.\n")
    words = passages["body"].str.split().str.len()
    tried = pd.Series(found, dtype=object).sample(frac=1, random_state=job.seed)
    if sizes["longest"] is not None:
        short = words[words <= sizes["longest"]].index
        tried = [question for question in tried if set(question.documents) <= set(short)]
    tried = list(tried)[: sizes["candidates"]]
    full = snakemake.wildcards.tier == "full"
    if full and not tried:
        raise LanguageModelError(
            f"{files.run}: {none_to_try(left_out, len(found), longest=sizes['longest'])}"
        )
    # A document has to keep its status with the questions that it may be asked with.
    gold = relevant[relevant["query"].isin([question.id for question in tried])]
    answers_of = gold["query"].map(answers).groupby(gold["document"]).sum()

    used: dict[str, Entry] = {}
    with open_language_model(
        chosen.model,
        settings.language_models,
        chosen.records,
        folder=Path(files.model) if files.model else None,
        also=[Path(files.recorded)],
        network=settings.network,
    ) as model:
        template = read_template(Path(files.template))
        decodings = attempts(
            Decoding(**chosen.decoding),
            number=sizes["attempts"],
            **chosen.sampling,
            seed=job.seed,
        )
        limits = Limits(copied=chosen.copied)

        def keep(request, sentence, reason):
            """Keep an answer as a record may pass it on."""
            key = key_of(model.identity, request)
            entry = model.record.entries[key]
            told = passed_on(entry.answer, sentence, reason)
            used[key] = entry.model_copy(update={"answer": told})

        def say_again(names):
            """Paraphrases of these documents."""
            texts = [
                Passage(name, passages["body"][name], answers_of.get(name, ())) for name in names
            ]
            return paraphrase_all(texts, model.answer_all, template, decodings, limits, judged=keep)

        def tell(outlook):
            """Log how it looks; end a search that finds nothing before it costs more."""
            job.log.write(f"{outlook}\n")
            if full and outlook.hopeless:
                raise LanguageModelError(f"{chosen.model} is asked for no more passages: {outlook}")

        asked, made = paraphrase_questions(
            tried, say_again, answers.to_dict(), wanted=sizes["questions"], told=tell
        )
        write_json(Path(snakemake.output.provenance), model.provenance())
    write_atomically(Path(snakemake.output.record), record_lines(used.values()))
    frame = paraphrases_frame(made)
    # The title stays as it is, in front of either.
    titles = frame["document_id"].map(passages["title"])
    shown = (titles.where(titles == "", titles + ". ") + frame["text"]).where(
        frame["text"] != "", ""
    )
    job.write_frame(frame.assign(text=shown), "paraphrases")
    job.write_frame(pd.DataFrame({"query_id": asked}), "asked")
    counts = frame["reason"].replace("", "kept").value_counts().to_dict()
    job.log.write(f"{len(frame)} passages: {counts}; {len(asked)} questions have all of theirs.\n")
