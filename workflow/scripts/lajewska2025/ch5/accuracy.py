"""Table 5.6: accuracy of answerability detection.

In addition to the released decisions of ChatGPT, the full tier has the classifiers of the thesis,
trained with several seeds. The other tiers have small classifiers, in supplementary tables.
"""

from pathlib import Path

import pandas as pd

from everycell.collections.answerability import (
    join_scores,
    read_passage_predictions,
    read_sentence_scores,
)
from everycell.jobs.result_job import ResultJob
from everycell.records.spread import SEEDS, summarise_seeds
from everycell.studies.lajewska2025.ch5.accuracy import chatgpt_accuracy, unanswerable_cells
from everycell.studies.lajewska2025.ch5.accuracy_tables import CLASSIFIERS, NAMES, accuracy_tables
from papers.lajewska2025.annotations import paths
from papers.lajewska2025.answerability_data import read_labels

with ResultJob(snakemake) as job:
    files, thresholds = snakemake.input, snakemake.params.chatgpt_thresholds
    predicted = read_passage_predictions(Path(files.chatgpt_passages))
    cells, readings = chatgpt_accuracy(predicted, thresholds)
    trained = {
        row: [
            pd.read_parquet(path).set_index(["question", "sentence"])["probability"]
            for path in paths(files[name])
        ]
        for name, row in NAMES.items()
        if name in files.keys()
    }
    tables = accuracy_tables(*read_labels(files), trained, predicted, min(thresholds))
    if tables.by_training is not None:
        keys = [column for column in tables.by_training.columns if column != "value"]
        means = tables.by_training.groupby(keys, sort=False)["value"].mean().reset_index()
        cells = pd.concat([cells, means], ignore_index=True)
        job.write_supplement(summarise_seeds(tables.by_training, keys), SEEDS, {"accuracy": 4})
    job.write_table(cells)
    job.write_supplement(readings, "readings", dict.fromkeys(readings["metric"], 3))
    decimals = dict.fromkeys(tables.classifiers["metric"], 3)
    job.write_supplement(tables.classifiers, "classifiers", decimals)
    decimals = {"only_first": 0, "only_second": 0, "p": 3, "p of questions": 3}
    job.write_supplement(tables.tests, "tests", decimals)
    scores = join_scores(
        {name: read_sentence_scores(Path(files[part])) for part, name in CLASSIFIERS.items()}
    )
    job.write_supplement(
        unanswerable_cells(scores[scores["partition"] == "test"], list(CLASSIFIERS.values())),
        "unanswerable",
        {"passages": 0, "accuracy": 3, "p": 3},
    )
