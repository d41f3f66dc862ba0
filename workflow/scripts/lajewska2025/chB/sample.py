"""Table B.2: labels of three passages, their sentences and their ranking."""

from pathlib import Path

import pandas as pd

from everycell.collections.answerability import read_passage_labels, read_passage_sentences
from everycell.jobs.result_job import ResultJob

with ResultJob(snakemake) as job:
    snippets, unanswerable = Path(snakemake.input.snippets), Path(snakemake.input.unanswerable)
    sentences = read_passage_sentences(snippets)
    of_turn = sentences[sentences["turn_id"] == snakemake.params.turn]
    rows, answerable = [], []
    for number, passage in enumerate(snakemake.params.passages, start=1):
        rows_of_passage = of_turn[of_turn["passage_id"] == passage]
        rows += [
            (str(number), str(position), "S (sentence label)", int(answers))
            for position, answers in zip(
                rows_of_passage["sentence"], rows_of_passage["answers"], strict=True
            )
        ]
        answerable.append(bool(rows_of_passage["answerable"].iloc[0]))
        rows.append((str(number), "", "P (passage label)", int(answerable[-1])))
    rows.append(("", "", "R (ranking label)", int(any(answerable))))
    job.write_table(pd.DataFrame(rows, columns=["passage_no", "sentence_no", "metric", "value"]))
    labels = read_passage_labels(snippets, unanswerable)
    number_of = of_turn.groupby("passage_id").size()
    passages = [
        (row["passage_id"], metric, value)
        for row in labels[labels["turn_id"] == snakemake.params.turn].to_dict("records")
        for metric, value in (
            ("partition", row["partition"]),
            ("answerable", int(row["answerable"])),
            # The file with the sentences of CAsT-unanswerable has no ids.
            *(
                [("sentences", int(number_of[row["passage_id"]]))]
                if row["dataset"] == "CAsT-snippets"
                else []
            ),
        )
    ]
    job.write_supplement(
        pd.DataFrame(passages, columns=["passage_id", "metric", "value"]),
        "passages",
        {"partition": "text", "answerable": 0, "sentences": 0},
    )
