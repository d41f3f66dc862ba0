"""Design of the study of chapter 7 of lajewska2025: questions, dimensions and conditions.

The wording of comments is read from the released file, and is only in results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from everycell.base.csv_files import read_columns, read_table
from everycell.base.errors import DataError
from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.user_study_data import (
    EXPLANATION_RATINGS,
    RESPONSE_RATINGS,
    TRANSPARENCY_FACTORS,
    excerpt_sha256,
)

#: Variable of Table 7.1 -> column of the ratings.
QUESTIONS = {
    "Conversational Agent Familiarity": TRANSPARENCY_FACTORS["Conv. Agent Fam."],
    "Search with Agent Frequency": TRANSPARENCY_FACTORS["Search w/ Agent Freq."],
    "Topic Familiarity": TRANSPARENCY_FACTORS["Topic Familiarity"],
    "Interest in Topic": TRANSPARENCY_FACTORS["Interest In Topic"],
    "Similar Search Probability": TRANSPARENCY_FACTORS["Similar Search Prob."],
    "Source Explanation": EXPLANATION_RATINGS["Source"],
    "Limitation Explanation": EXPLANATION_RATINGS["Limitations"],
    "Confidence Explanation": EXPLANATION_RATINGS["Confidence"],
}
#: Variant of a part of the response: without noise, with some, not shown.
ACCURATE, NOISY, NOT_SHOWN = "+", "~", "–"
VARIANTS = {"Good": ACCURATE, "Flawed": NOISY, "None": NOT_SHOWN}
PARTS = ("Response", "Source", "Confidence", "Limitations")
#: Explained aspect -> column with the workers' comments on it.
COMMENTS = {
    "source": "source_usefulness_explanation",
    "limitations": "warning_usefulness_explanation",
    "confidence": "confidence_usefulness_explanation",
}
#: Confidence in per cent, at the end of the text of a response.
_CONFIDENCE = re.compile(r"confidence in the provided response is (\d+)%")


def questions(job: ResultJob) -> None:
    """Tables 7.1 and 7.2: how often a question was answered, and how many options were chosen."""
    # The thesis states the number of options for the response dimensions only.
    columns, metrics = {
        "1": (QUESTIONS, ["asked"]),
        "2": (RESPONSE_RATINGS, ["asked", "options"]),
    }[job.wildcards.number]
    answers = read_columns(Path(job.input.ratings), ["worker_ids", *columns.values()])
    rows = []
    for name, column in columns.items():
        per_worker = answers.groupby("worker_ids")[column].nunique().max() == 1
        values = {
            "asked": "once per worker" if per_worker else "for each query",
            "options": str(answers[column].nunique()),
        }
        rows += [(name, metric, values[metric]) for metric in metrics]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"], dtype=object))


def conditions(job: ResultJob) -> None:
    """Table 7.3: variant and form of the response and of each explanation by condition.

    Where explanations are text, both are read from the texts of the responses; a supplement has
    what the labels of the conditions say about all of them.
    """
    keys = ["answers_ids", "response_quality", "additional_info_quality", "presentation_modes"]
    ratings = read_columns(Path(job.input.ratings), [*keys, "questions_ids", "answers"])
    stimuli = read_table(Path(job.input.stimuli)).set_index("Id")
    labelled, observed, counts = [], [], []
    groups = ratings.drop_duplicates(["answers_ids", "questions_ids"]).groupby("answers_ids")
    for condition, responses in sorted(groups, key=lambda group: int(group[0].removeprefix("EC"))):
        (labels,) = responses[keys[1:]].drop_duplicates().itertuples(index=False, name=None)
        parts = _labelled_parts(*labels)
        labelled += [(name, condition, "content", part) for name, part in parts.items()]
        texts = zip(responses["questions_ids"], responses["answers"], strict=True)
        variants = pd.DataFrame([shown_variants(text, stimuli.loc[query]) for query, text in texts])
        for name in variants:
            numbers = variants[name].value_counts()
            counts += [
                (name, condition, variant, numbers.get(variant, 0)) for variant in VARIANTS.values()
            ]
            # Explanations in a user interface have left no text.
            if name == "Response" or labels[2] == "T":
                parts[name] = _content(variants[name].unique(), "T")
        observed += [(name, condition, "content", part) for name, part in parts.items()]
    job.write_table(_by_part(observed))
    job.write_supplement(_by_part(labelled), "labels", {})
    job.write_supplement(_by_part(counts), "texts", {"all": 0})


def _by_part(rows: list[tuple[str, str, str, object]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["row", "condition", "metric", "value"])
    return table.sort_values("row", key=lambda row: row.map(PARTS.index), kind="stable")


def _labelled_parts(response: str, explanations: str, form: str) -> dict[str, str]:
    """Content of each part according to the labels of a condition; sources are always text."""
    variant = [VARIANTS[explanations]]
    return {
        "Response": _content([VARIANTS[response]], "T"),
        "Source": _content(variant, "T"),
        "Confidence": _content(variant, form),
        "Limitations": _content(variant, form),
    }


def _content(variants: list[str], form: str) -> str:
    """Variants and form as published, such as ``+, T``; a part that is not shown has no form."""
    return "/".join(NOT_SHOWN if one == NOT_SHOWN else f"{one}, {form}" for one in variants)


def shown_variants(text: str, stimuli: pd.Series) -> dict[str, str]:
    """Variants of the response, the confidence and the limitations in a text, from the stimuli.

    A confidence is noisy if it is that of the other response.
    """
    is_good = stimuli["Response good"].strip() in text
    if is_good == (stimuli["Response bad"].strip() in text):
        raise DataError(
            row=f"query {stimuli.name}", fault="a text has both responses or none of them"
        )
    stated = _CONFIDENCE.search(text)
    confidence = NOT_SHOWN
    if stated:
        # The stimuli have it in steps of 20 per cent.
        own = stimuli["Certainty good" if is_good else "Certainty bad"]
        confidence = ACCURATE if int(stated[1]) == 20 * int(own) else NOISY
    limitations = [
        variant
        for variant, column in (
            (ACCURATE, "Response with limitation"),
            (NOISY, "Response with limitation noise"),
        )
        if stimuli[column].strip() in text
    ]
    return {
        "Response": ACCURATE if is_good else NOISY,
        "Confidence": confidence,
        "Limitations": "/".join(limitations) or NOT_SHOWN,
    }


def comments(job: ResultJob) -> None:
    """Table 7.7: comments that the thesis quotes, and the codes that the author gave them."""
    coded = read_table(Path(job.input.comments))
    rows, texts = [], []
    for condition, number, row, aspect, start in job.params.quoted:
        comment = coded[coded["answers_ids"] == condition].iloc[row - 1]
        text = comment[COMMENTS[aspect]]
        rows.append((condition, number, "comment_sha256", excerpt_sha256(text, start=start)))
        own = {"aspect": aspect, "wording": text, "codes": "; ".join(codes_of(comment)) or "–"}
        texts += [(condition, number, *item) for item in own.items()]
    keys = ["row", "comment", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=keys))
    job.write_supplement(pd.DataFrame(texts, columns=keys), "comments", {})


def codes_of(comment: pd.Series) -> Iterator[str]:
    """Codes of a worker's comments: headings that are ticked, and remarks without a heading."""
    for name, entry in comment.items():
        if entry.strip() == "x":
            yield str(name)
        elif str(name).startswith("Unnamed") and entry.strip():
            yield entry.strip()
