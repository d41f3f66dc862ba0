"""Answers of controls to known-item queries, and of controls with further preferences."""

import pandas as pd

from everycell.jobs.job import Job
from everycell.rag.citations import without_citations
from everycell.rag.prompts import pick_questions
from everycell.studies.abolghasemi2026.ch5.arms import (
    PLAIN_ARMS,
    present_questions,
    study_settings,
)
from everycell.studies.abolghasemi2026.ch5.controls import make_controls
from everycell.studies.abolghasemi2026.ch5.generators import Benchmark, collect_answers
from everycell.trec.runs import read_run

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    candidates = pd.read_parquet(files.candidates)
    in_lists = (candidates["task"] == params.task) & (candidates["setting"] == params.setting)
    names = {"query_id": "query", "document_id": "document"}
    lists = candidates.loc[in_lists, [*names, "relevance"]].rename(columns=names)
    keys = list(names.values())
    run = read_run(files.run).merge(lists[keys], on=keys)
    gold = lists.loc[lists["relevance"] == 1, keys]
    # A bracketed reference in a document would look like a citation in an answer.
    texts = pd.read_parquet(files.documents).set_index("document_id")["text"]
    texts = {key: without_citations(texts[key]) for key in set(lists["document"])}
    benchmark = Benchmark(params.dataset, {"Human": texts})

    def control_answers(preferences, questions, setting):
        """Answers of controls with these preferences."""
        presentations = present_questions([setting], lambda setting, arm: questions)
        controls = make_controls(preferences, params.odds, job.seed)
        return [collect_answers(control, presentations, benchmark) for control in controls.values()]

    questions, left_out = pick_questions(run, gold, k=params.k)
    job.log.write(f"{len(questions)} questions used; left out: {dict(left_out)}.\n")
    main, _, *depths = study_settings(params.k, params.depths)
    frames = control_answers(params.shown, questions, main)
    further_strengths = [strength for strength in params.strengths if strength not in params.shown]
    further = control_answers(further_strengths, questions, main._replace(arms=PLAIN_ARMS))
    for depth in depths:
        questions, _ = pick_questions(
            run, gold, k=depth.k, gold_position=depth.position, seed=job.seed
        )
        frames += control_answers(params.shown, questions, depth)

    job.write_frame(pd.concat(frames, ignore_index=True), "answers")
    empty = frames[0][:0]
    job.write_frame(pd.concat([empty, *further], ignore_index=True), "strengths")
