"""Table 5.6: accuracy of answerability detection.

Beside the released decisions of ChatGPT stand classifiers that were trained here: in the full tier
the thesis' own, elsewhere small ones, in tables of their own.
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
from everycell.studies.lajewska2025.answerability_data import (
    as_scores,
    judged_pairs,
    labelled_pairs,
    read_labels,
)
from everycell.studies.lajewska2025.ch5.accuracy import (
    accuracy,
    cases,
    chatgpt_accuracy,
    chatgpt_cases,
    constant_accuracy,
    described,
    printed_cells,
    system_tests,
    thresholds_in_words,
    tuned,
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
    systems = {
        row: pd.read_parquet(files[name]).set_index(["question", "sentence"])["probability"]
        for name, row in NAMES.items()
        if name in files.keys()
    }
    training = labelled[labelled["partition"] == "train"]
    pairs = judged_pairs(passages, labelled)
    found = lexical_probabilities(labelled_pairs(training), training["answers"], pairs)
    systems[WORDS] = as_scores(pairs, found).set_index(["question", "sentence"])["probability"]
    decisions = {
        row: cases(test, labelled_test, scores, THRESHOLDS) for row, scores in systems.items()
    }
    of_print = {row: levels for row, levels in decisions.items() if row in PRINTED.values()}
    job.write_table(pd.concat([cells, printed_cells(of_print)], ignore_index=True))
    job.write_beside(readings, "readings", dict.fromkeys(readings["metric"], 3))

    own = [(row, "", level, value) for row, level, value in constant_accuracy(decisions[WORDS])]
    for row, scores in systems.items():
        chosen = tuned(validation, scores)
        for label, levels in (
            (thresholds_in_words(THRESHOLDS), decisions[row]),
            (f"{thresholds_in_words(chosen)}, tuned", cases(test, labelled_test, scores, chosen)),
        ):
            own += [
                (row, label, described(*key), accuracy(truth, said))
                for key, (_, truth, said) in levels.items()
            ]
    job.write_beside(
        pd.DataFrame(own, columns=["classifier", "thresholds", "metric", "value"]),
        "classifiers",
        {described(*key): 3 for key in decisions[WORDS]},
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
