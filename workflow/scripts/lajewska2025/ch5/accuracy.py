"""Table 5.6: accuracy of answerability detection.

Beside the released decisions of ChatGPT stand classifiers that were trained here: in the full tier
the thesis' own, each with several seeds, elsewhere small ones, in tables of their own.
"""

from pathlib import Path

import pandas as pd

from everycell.collections.answerability_predictions import (
    paired_scores,
    read_passage_predictions,
    read_sentence_scores,
)
from everycell.dialogue.answerability import THRESHOLDS, lexical_probabilities
from everycell.engine.result_job import ResultJob
from everycell.engine.spread import SEEDS, summarised
from everycell.studies.lajewska2025.answerability_data import (
    judged_pairs,
    labelled_pairs,
    read_labels,
    score_frame,
)
from everycell.studies.lajewska2025.ch5.accuracy import (
    accuracy,
    accuracy_cells,
    cases,
    chatgpt_accuracy,
    chatgpt_cases,
    constant_accuracy,
    format_thresholds,
    name_level,
    system_tests,
    tune_thresholds,
    unanswerable_cells,
)

CLASSIFIERS = {
    "classifier": "CAsT-answerability",
    "augmented_classifier": "CAsT-answerability augmented with SQuAD 2.0",
}
#: Trained here: name of the scores -> row of the table beside, in the full tier of the print too.
PRINTED = {"full": CLASSIFIERS["classifier"], "squad": CLASSIFIERS["augmented_classifier"]}
NAMES = PRINTED | {"tiny": "BERT-tiny, all trained", "frozen": "MiniLM as it comes, regression"}
WORDS = "TF-IDF of words, regression"

with ResultJob(snakemake) as job:
    files, thresholds = snakemake.input, snakemake.params.chatgpt_thresholds
    predicted = read_passage_predictions(Path(files.chatgpt_passages))
    cells, readings = chatgpt_accuracy(predicted, thresholds)

    passages, labelled = read_labels(files)
    test, validation = (passages[passages["partition"] == name] for name in ("test", "validation"))
    labelled_test = labelled[labelled["partition"] == "test"]
    # Trainings of a classifier; the tables of classifiers and of tests have the first one's.
    trained = {
        row: [
            pd.read_parquet(path).set_index(["question", "sentence"])["probability"]
            for path in ([files[name]] if isinstance(files[name], str) else files[name])
        ]
        for name, row in NAMES.items()
        if name in files.keys()
    }
    systems = {row: scores[0] for row, scores in trained.items()}
    training = labelled[labelled["partition"] == "train"]
    pairs = judged_pairs(passages, labelled)
    found = lexical_probabilities(labelled_pairs(training), training["answers"], pairs)
    systems[WORDS] = score_frame(pairs, found).set_index(["question", "sentence"])["probability"]
    decisions = {
        row: cases(test, labelled_test, scores, THRESHOLDS) for row, scores in systems.items()
    }
    by_training = [
        accuracy_cells({row: cases(test, labelled_test, scores, THRESHOLDS)})
        for row in PRINTED.values()
        for scores in trained.get(row, ())
    ]
    if by_training:
        every = pd.concat(by_training, ignore_index=True)
        keys = [column for column in every.columns if column != "value"]
        means = every.groupby(keys, sort=False)["value"].mean().reset_index()
        cells = pd.concat([cells, means], ignore_index=True)
        job.write_beside(summarised(every, keys), SEEDS, {"accuracy": 4})
    job.write_table(cells)
    job.write_beside(readings, "readings", dict.fromkeys(readings["metric"], 3))

    own = [(row, "", level, value) for row, level, value in constant_accuracy(decisions[WORDS])]
    for row, scores in systems.items():
        chosen = tune_thresholds(validation, scores)
        for label, levels in (
            (format_thresholds(THRESHOLDS), decisions[row]),
            (f"{format_thresholds(chosen)}, tuned", cases(test, labelled_test, scores, chosen)),
        ):
            own += [
                (row, label, name_level(*key), accuracy(truth, said))
                for key, (_, truth, said) in levels.items()
            ]
    job.write_beside(
        pd.DataFrame(own, columns=["classifier", "thresholds", "metric", "value"]),
        "classifiers",
        {name_level(*key): 3 for key in decisions[WORDS]},
    )
    job.write_beside(
        system_tests(decisions, chatgpt_cases(test, predicted, min(thresholds))),
        "tests",
        {"only_first": 0, "only_second": 0, "p": 3, "p of questions": 3},
    )
    scores = paired_scores(
        {name: read_sentence_scores(Path(files[part])) for part, name in CLASSIFIERS.items()}
    )
    job.write_beside(
        unanswerable_cells(scores[scores["partition"] == "test"], list(CLASSIFIERS.values())),
        "unanswerable",
        {"passages": 0, "accuracy": 3, "p": 3},
    )
