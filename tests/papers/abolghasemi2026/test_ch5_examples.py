"""Examples of answers: which are chosen, and that they answer the prompt that was sent."""

from __future__ import annotations

import pandas as pd
import pytest
from chapter_jobs import FunctionJob

from everycell.language_models.generation import Answer, Identity, prompt_hash
from everycell.language_models.records import Entry, key_of, record_lines
from everycell.language_models.settings import Decoding
from everycell.rag.prompts import AUTHORS_TEMPLATE, PLAIN_TEMPLATE, Question, read_template
from everycell.trec.runs import write_run
from papers.abolghasemi2026.ch5_arms import Arm, Presentation, study_settings
from papers.abolghasemi2026.ch5_examples import (
    Example,
    examples,
    first_fitting,
    has_other_citations,
    is_answered,
)
from papers.abolghasemi2026.ch5_generation import PromptedModel
from papers.abolghasemi2026.ch5_requests import Benchmark
from papers.abolghasemi2026.ch5_settings import AskedQuestions, CitedAnswers

QUERIES = ("q1", "q2")
TEXTS = {
    "Human": {f"{kind}{query}": f"{kind} {query} by Ada." for query in QUERIES for kind in "ro"},
    "LLM": {
        f"{kind}{query}": f"{kind} {query}, rewritten by Ada." for query in QUERIES for kind in "ro"
    },
}
BENCHMARK = Benchmark(
    "NQ",
    texts=TEXTS,
    questions={query: f"who made {query}" for query in QUERIES},
    right={query: ("Ada",) for query in QUERIES},
)
#: Question, author of the relevant document and mode -> answer.
ANSWERS = {
    ("q1", "LLM", "Informed"): "Ada [2].",
    ("q2", "LLM", "Informed"): "By Ada\n[1] [2].",
    ("q1", "Human", "Vanilla"): "Ada [1].",
    ("q1", "Human", "Informed"): "[1] Bo [1].",
    ("q1", "Human", "CF-informed"): "",
    ("q2", "Human", "Vanilla"): "Ada [1].",
    ("q2", "Human", "Informed"): "Bo [2].",
    ("q2", "Human", "CF-informed"): "",
}


@pytest.fixture
def job(tmp_path):
    """A job with the files of two questions, each with a relevant document in first place."""
    frames = {
        "questions": pd.DataFrame(
            [(query, BENCHMARK.questions[query], ["Ada"]) for query in QUERIES],
            columns=["query", "text", "answers"],
        ),
        "relevant": pd.DataFrame(
            [(query, f"r{query}") for query in QUERIES], columns=["query", "document"]
        ),
        "passages": pd.DataFrame(TEXTS["Human"].items(), columns=["document_id", "text"]),
        "paraphrases": pd.DataFrame(TEXTS["LLM"].items(), columns=["document_id", "text"]).assign(
            kept=True
        ),
        "asked": pd.DataFrame({"query": QUERIES}),
    }
    files = {name: tmp_path / f"{name}.parquet" for name in frames}
    for name, frame in frames.items():
        frame.to_parquet(files[name])
    run = pd.DataFrame(
        [
            (query, f"{kind}{query}", score)
            for query in QUERIES
            for score, kind in ((2.0, "r"), (1.0, "o"))
        ],
        columns=["query", "document", "score"],
    )
    write_run(run, tmp_path / "bm25.run", tag="toy")
    (tmp_path / "toy.jsonl").write_text(record_lines(recorded_entries()))
    sizes = CitedAnswers(models={"toy": "Toy"}, questions=AskedQuestions(main=2), k=2)
    return FunctionJob(
        input={
            **files,
            "runs": [tmp_path / "bm25.run"],
            "records": [tmp_path / "toy.jsonl"],
            "template": PLAIN_TEMPLATE,
            "authors_template": AUTHORS_TEMPLATE,
        },
        params={
            "models": list(sizes.models.values()),
            "sizes": sizes.model_dump(),
            "retrievers": ["BM25"],
            "dataset": "NQ",
            "labels": {"human": "Human", "llm": "LLM", "machine": "AI"},
            "seed": 1,
        },
    )


def recorded_entries():
    """Answers recorded for the requests that the chapter sends."""
    setting = study_settings(2, [2])[0]
    model = PromptedModel(
        "Toy",
        None,
        templates=(read_template(PLAIN_TEMPLATE), read_template(AUTHORS_TEMPLATE)),
        decoding=Decoding(max_tokens=128, logprobs=True),
    )
    identity = Identity(name="toy", revision="1")
    presentations = [
        Presentation(
            setting,
            Arm(author, {"LLM": "Human", "Human": "LLM"}[author], mode, mode),
            Question(query, (f"r{query}", f"o{query}"), gold=1),
        )
        for query, author, mode in ANSWERS
    ]
    requests = model.requests(presentations, BENCHMARK)
    return [
        Entry(
            key=key_of(identity, request),
            model=identity,
            prompt_sha256=prompt_hash(request),
            decoding=request.decoding,
            continuation=None,
            answer=Answer(text=text, finish="stop"),
            date="2026-11-28T00:00:00+00:00",
        )
        for request, text in zip(requests, ANSWERS.values(), strict=True)
    ]


def test_examples_chosen_by_the_rule(job):
    examples(job)
    # The answer to q1 is correct but does not cite the relevant document.
    assert list(job.tables[""].itertuples(index=False, name=None)) == [
        ("Query", "who made q2"),
        ("Correct answer", "Ada"),
        ("Relevant document [1]", "r q2, rewritten by Ada."),
        ("Toy", "By Ada [1] [2]."),
        ("Document [2], cited by Toy", "o q2 by Ada."),
    ]
    # Naming the authors does not change the documents that answers to q1 cite.
    assert list(job.tables["table_5_17"].itertuples(index=False, name=None)) == [
        ("Query", "who made q2"),
        ("Correct answer", "Ada"),
        ("Relevant document [1]", "r q2 by Ada."),
        ("Vanilla", "Ada [1]."),
        ("Informed", "Bo [2]."),
        ("CF-informed", "(no text)"),
        ("Document [2], cited by Informed", "o q2, rewritten by Ada."),
    ]
    assert list(job.figures["figure_5_1"].itertuples(index=False, name=None)) == [
        ("Question", "who made q2"),
        ("Document [1], Human", "r q2 by Ada."),
        ("Document [2], LLM", "o q2, rewritten by Ada."),
        ("Answer, Vanilla", "Ada [1]."),
        ("Answer, Informed", "Bo [2]."),
    ]


def test_examples_question_without_answer(job, tmp_path):
    """A question is left out if one of its answers is not in the record."""
    entries = [
        entry
        for key, entry in zip(ANSWERS, recorded_entries(), strict=True)
        if key not in (("q2", "LLM", "Informed"), ("q2", "Human", "CF-informed"))
    ]
    (tmp_path / "toy.jsonl").write_text(record_lines(entries))
    with pytest.raises(ValueError, match="none of 1 questions with all answers fits"):
        examples(job)


def example(name, **answers):
    texts = ("Ada wrote it.", "Bo read it.")
    return Example(name, "who", ("Ada",), texts, ("Human", "LLM"), 1, answers)


@pytest.mark.parametrize(
    ("text", "expected"), [("Ada [1]", True), ("Ada [2]", False), ("Bo [1]", False), ("Ada", False)]
)
def test_is_answered(text, expected):
    assert is_answered(example("q", Toy=text)) == expected
    assert is_answered(example("q", Other="Bo", Toy=text)) == expected


@pytest.mark.parametrize(
    ("informed", "expected"), [("[1] [1]", False), ("[2]", True), ("", True), ("[1] [3]", False)]
)
def test_has_other_citations(informed, expected):
    assert has_other_citations(example("q", Vanilla="[1]", Informed=informed)) == expected


def test_first_fitting_by_id():
    candidates = [example("q4", Toy="Ada [1]"), example("q3", Toy="Ada [1]")]
    assert first_fitting([*candidates, example("q1", Toy="Bo")], is_answered).id == "q3"


def test_first_fitting_none_fits():
    candidates = [example("q2", Toy="Bo"), example("q1", Toy="Bo")]
    with pytest.raises(ValueError, match="none of 2 questions with all answers fits"):
        first_fitting(candidates, is_answered)
