"""The frame of answers of planted generators to short queries over pydocs; further strengths."""

import pandas as pd

from everycell.engine.job import Job
from everycell.rag.attribution_arms import PLAIN_ARMS, pick_questions
from everycell.rag.attribution_study import everything_asked, study_settings
from everycell.rag.citations import without_citations
from everycell.rag.planted import PlantedGenerator, planted_answers
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    candidates = pd.read_parquet(files.candidates)
    wanted = (candidates["task"] == params.task) & (candidates["setting"] == params.setting)
    names = {"query_id": "query", "document_id": "document"}
    lists = candidates.loc[wanted, [*names, "relevance"]].rename(columns=names)
    keys = list(names.values())
    run = read_run(files.run).merge(lists[keys], on=keys)
    gold = lists.loc[lists["relevance"] == 1, keys]
    # The mark of a reference in a document would pass for a citation in an answer.
    texts = pd.read_parquet(files.documents).set_index("document_id")["text"]
    texts = {key: without_citations(texts[key]) for key in set(lists["document"])}

    def told(strength, questions, setting):
        return planted_answers(
            PlantedGenerator(strength, seed=job.seed, **params.odds),
            everything_asked([setting], lambda *_: questions),
            texts,
            dataset=params.dataset,
            name=f"planted {strength:g}",
        )

    questions, faults = pick_questions(run, gold, k=params.k)
    main, _, *depths = study_settings(params.k, params.depths)
    frames = [told(each, questions, main) for each in params.shown]
    others = [each for each in params.strengths if each not in params.shown]
    plain = main._replace(arms=PLAIN_ARMS)
    further = [told(each, questions, plain) for each in others]
    for depth in depths:
        placed, _ = pick_questions(run, gold, k=depth.k, place=depth.place, seed=job.seed)
        frames += [told(strength, placed, depth) for strength in params.shown]

    job.write_frame(pd.concat(frames, ignore_index=True), "answers")
    empty = frames[0][:0]
    job.write_frame(pd.concat([empty, *further], ignore_index=True), "strengths")
    counts = [("asked", len(questions)), *((f"left out: {name}", faults[name]) for name in faults)]
    rows = [(what, "questions", number) for what, number in counts]
    job.write_frame(pd.DataFrame(rows, columns=["row", "metric", "value"]), "questions")
