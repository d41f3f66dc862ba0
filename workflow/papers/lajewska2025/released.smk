# Data for rules of several chapters of lajewska2025.
from papers.lajewska2025.cast_snippets_data import (
    CONFIDENCE_FILE,
    FILES as ANNOTATION_FILES,
    SELECTION_FILES,
)
from papers.lajewska2025.answerability_data import FILES as ANSWERABILITY_FILES

#: Data set of the user studies of chapter 4 in the registry, and ratings of all runs.
LIMITATIONS = "cis-response-limitations"
LIMITATIONS_RATINGS = {
    "answerability": resource(f"{LIMITATIONS}/answerability_both_runs.csv"),
    "viewpoints": resource(f"{LIMITATIONS}/viewpoints.csv"),
}
#: Ratings of the first run.
LIMITATIONS_FIRST_RUN = resource(f"{LIMITATIONS}/answerability_first_run.csv")
FETCHED_TOGETHER[f"{LIMITATIONS}-ratings"] = [
    *LIMITATIONS_RATINGS.values(),
    LIMITATIONS_FIRST_RUN,
]
LIMITATIONS_EXPERTS = resource(f"{LIMITATIONS}/responses/viewpoints_answer_validation.csv")

# CAsT-answerability.
FETCHED_TOGETHER["cast-answerability"] = [resource(key) for key in ANSWERABILITY_FILES.values()]


def answerability_labels():
    """Released labels of passages and sentences of both halves of CAsT-answerability."""
    return {
        part: resource(ANSWERABILITY_FILES[part])
        for part in (
            "snippets",
            "unanswerable",
            "snippets_sentences",
            "unanswerable_sentences",
        )
    }


def squad_file(part="squad", name="train-v2.0.json"):
    """File of SQuAD 2.0: the user's, or downloaded."""
    return named_by_user(
        f"answerability.full.{part}",
        f"{name} of SQuAD 2.0",
        "papers/lajewska2025.md",
        kind="file",
        corpus=f"squad/{name}",
    )


def squad_files(wildcards):
    """Both files of SQuAD 2.0 with answers, in the full tier."""
    if wildcards.tier != "full":
        return {}
    return {"squad": [squad_file(), squad_file("squad_dev", "dev-v2.0.json")]}


def annotations(*groups):
    """Released files of groups of annotators, each group under its name."""
    files = ANNOTATION_FILES | SELECTION_FILES
    return {group: [resource(key) for key in files[group]] for group in groups}


# Annotations of the preliminary study, and the batches of the data set.
FETCHED_TOGETHER["cast-snippets-batches"] = [
    *annotations("dataset")["dataset"],
    resource(CONFIDENCE_FILE),
]
FETCHED_TOGETHER["cast-snippets-preliminary-study"] = sorted(
    {
        file
        for group, files in annotations(*ANNOTATION_FILES, *SELECTION_FILES).items()
        if group != "dataset"
        for file in files
    }
)


#: Weights of the penalty of a regression, of which one is chosen on the validation partition.
ANSWERABILITY_STRENGTHS = [100.0, 1000.0, 10000.0, 100000.0]
