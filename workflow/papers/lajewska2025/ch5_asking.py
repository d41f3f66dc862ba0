"""Prompted language models for answerability in chapter 5 of lajewska2025.

Source: lajewska2025, section 5.7 and Appendix B: passages zero-shot, rankings zero-shot and with
two examples. Prompts and examples are in our own words. An answer counts as in the authors' code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from everycell.base.untrusted import read_json
from everycell.jobs.job import Job
from everycell.jobs.result_job import ResultJob
from everycell.language_models import templates
from everycell.language_models.answering import model_of_job
from everycell.language_models.generation import Answer, Request
from everycell.language_models.reasoning import without_reasoning
from everycell.language_models.settings import Decoding
from papers.lajewska2025.answerability_data import read_passage_labels
from papers.lajewska2025.ch5_aggregation import aggregate, decide, rankings

#: Slots of the templates: name -> content, and whether a template must have it.
SLOTS: templates.Slots = {
    "question": ("the question", True),
    "text": ("the passage, or the passages of the ranking", True),
}
#: Setup -> level of its cases, and name of its template among the inputs.
SETUPS: Mapping[str, tuple[str, str]] = {
    "passage-level (zero-shot)": ("passage", "passage_template"),
    "ranking-level (zero-shot)": ("ranking", "ranking_template"),
    "ranking-level (two-shot)": ("ranking", "examples_template"),
}
#: Passages of a ranking (section 5.5).
SIZE = 3
_NEGATIVE = re.compile(r"0|\bno\b|\bnot\b", re.IGNORECASE)


def ask(job: Job) -> None:
    """Ask a language model about the test passages and their rankings."""
    files, params = job.input, job.params
    passages = read_passage_labels(Path(files.snippets), Path(files.unanswerable))
    test = passages[passages["partition"] == "test"]
    if params.questions is not None:
        test = test[test["turn_id"].isin(test["turn_id"].unique()[: params.questions])]
    cases = {"passage": passage_cases(test), "ranking": ranking_cases(test)}
    frames = []
    with model_of_job(job.snakemake, job.log) as model:
        for setup, (level, template) in SETUPS.items():
            predicted = predictions(
                cases[level], model.answer_all, Path(files[template]), Decoding(**params.decoding)
            )
            frames.append(cases[level].assign(setup=setup, predicted=predicted))
    table = pd.concat(frames, ignore_index=True)
    job.write_frame(table[["setup", "turn_id", "passages", "answerable", "predicted"]], "answers")


def passage_cases(test: pd.DataFrame) -> pd.DataFrame:
    """Passages with their questions and labels; `passages` has the id."""
    cases = test[["turn_id", "question", "answerable"]].assign(
        passages=test["passage_id"], text=test["passage"]
    )
    return cases.reset_index(drop=True)


def ranking_cases(test: pd.DataFrame) -> pd.DataFrame:
    """All sets of three passages of a question; `passages` has their ids.

    Sets are counted as in Table 5.5. A set has an answer if one of its passages does.
    """
    rows = []
    for turn, group in test.groupby("turn_id", sort=False):
        ids = group["passage_id"].tolist()
        for positions in rankings(ids, SIZE, repeated="tuples"):
            members = group.iloc[positions]
            rows.append(
                (
                    turn,
                    members["question"].iloc[0],
                    bool(members["answerable"].any()),
                    " ".join(members["passage_id"]),
                    "\n".join(members["passage"]),
                )
            )
    return pd.DataFrame(rows, columns=["turn_id", "question", "answerable", "passages", "text"])


def predictions(
    cases: pd.DataFrame,
    answer_all: Callable[[Sequence[Request]], Sequence[Answer]],
    template: Path,
    decoding: Decoding,
) -> list[bool]:
    """Whether the model finds an answer, for each case."""
    prompt = templates.read_template(template, SLOTS, last="text")
    requests = [
        Request(prompt=templates.fill(prompt, question=question, text=text), decoding=decoding)
        for question, text in zip(cases["question"], cases["text"], strict=True)
    ]
    return [finds_answer(answer.text) for answer in answer_all(requests)]


def finds_answer(answer: str) -> bool:
    """Whether an answer says yes: it is not empty, and has no 0, "no" or "not"."""
    text = without_reasoning(answer).strip()
    return bool(text) and not _NEGATIVE.search(text)


def prompted_accuracy(job: ResultJob) -> None:
    """Text 5.7: accuracy of language models that are asked about passages and rankings."""
    job.facts["language_models"] = [read_json(path) for path in job.input.provenance]
    tables = []
    for name, path in zip(job.params.names, job.input.answers, strict=True):
        answers = pd.read_parquet(path)
        tables.append(accuracies(answers, job.params.thresholds).assign(model=name))
    table = pd.concat(tables, ignore_index=True)
    job.write_table(table[["setup", "aggregation", "model", "metric", "value"]])


def accuracies(answers: pd.DataFrame, thresholds: Sequence[float]) -> pd.DataFrame:
    """Accuracy of each setup; decisions on passages also as rankings, by mean and threshold."""
    rows: list[tuple[object, ...]] = []
    for setup, group in answers.groupby("setup", sort=False):
        truth = group["answerable"]
        rows.append((setup, "", "cases", len(group)))
        rows.append((setup, "", "accuracy", float((truth == group["predicted"]).mean())))
        rows.append((setup, "", "always an answer", float(truth.mean())))
    passages = answers[answers["setup"] == next(iter(SETUPS))]
    truth, scores = _ranked(passages)
    for threshold in thresholds:
        correct = float((decide(scores, threshold) == truth).mean())
        rows.append((next(iter(SETUPS)), f"mean, T={threshold:g}", "accuracy", correct))
    return pd.DataFrame(rows, columns=["setup", "aggregation", "metric", "value"])


def _ranked(passages: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Truth and mean decision of each ranking, from decisions on passages."""
    truth: list[bool] = []
    scores: list[float] = []
    for _, group in passages.groupby("turn_id", sort=False):
        positions = rankings(group["passages"].tolist(), SIZE, repeated="tuples")
        truth += group["answerable"].to_numpy()[positions].any(axis=1).tolist()
        scores += aggregate(list(group["predicted"].to_numpy()[positions]), "mean").tolist()
    return pd.Series(truth), pd.Series(scores)
