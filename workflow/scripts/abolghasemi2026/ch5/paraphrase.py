"""Paraphrases of passages for as many questions as needed."""

from pathlib import Path

import pandas as pd

from everycell.base.files import write_atomically
from everycell.base.settings import validate_part
from everycell.jobs.job import Job
from everycell.language_models.answering import open_language_model
from everycell.language_models.generation import LanguageModelError
from everycell.language_models.records import record_lines
from everycell.language_models.settings import AskSettings, Decoding
from everycell.rag.answers import usable_answers
from everycell.rag.paraphrases import (
    Limits,
    attempts,
    explain_no_questions,
    paraphrase_questions,
    paraphrases_frame,
    read_template,
)
from everycell.rag.prompts import pick_questions
from everycell.receipts.receipts import write_json
from everycell.studies.abolghasemi2026.ch5.paraphrasing import (
    Paraphraser,
    add_titles,
    hopeless_search_stopper,
    outlook_writer,
    questions_to_try,
    required_answers,
)
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    params, files = snakemake.params, snakemake.input
    sizes, settings = params.sizes, validate_part(snakemake.config, AskSettings)
    passages = pd.read_parquet(files.passages).set_index("document_id")
    relevant = pd.read_parquet(files.relevant)
    answers = pd.read_parquet(files.questions).set_index("query_id")["answers"]
    answers = answers.map(lambda gold: tuple(usable_answers(gold))).to_dict()

    candidates, left_out = pick_questions(read_run(files.run), relevant, k=sizes["k"])
    job.log.write(f"{len(candidates)} questions can be used; left out: {dict(left_out)}.\n")
    texts, longest = passages["body"].to_dict(), sizes["longest"]
    tried_questions = questions_to_try(
        candidates, texts, longest=longest, limit=sizes["candidates"], seed=job.seed
    )
    # The user may pay for requests in the full tier; the released tier replays recorded answers.
    write_outlook = outlook_writer(job.log.write)
    if snakemake.wildcards.tier == "full":
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
                seed=job.seed,
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
        write_json(Path(snakemake.output.provenance), model.provenance())
        job.log.write(f"{model.identity.name}: {model.endings}.\n")
    write_atomically(Path(snakemake.output.record), record_lines(paraphraser.used.values()))
    frame = paraphrases_frame(paraphrases)
    job.write_frame(add_titles(frame, passages["title"]), "paraphrases")
    job.write_frame(pd.DataFrame({"query_id": paraphrased_queries}), "asked")
    counts = frame["reason"].replace("", "usable").value_counts().to_dict()
    job.log.write(
        f"{len(frame)} passages: {counts}; {len(paraphrased_queries)} questions have usable "
        "paraphrases of all passages.\n"
    )
