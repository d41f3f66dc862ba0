"""The commands citations and satisfaction on files of one's own, worked out by hand."""

import csv
import io
import json
import math
from functools import partial

import command_line
import numpy as np
import pytest
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from everycell.metrics.attribution import cab, cas, paired_difference

call, refused = (partial(run, "measure") for run in (command_line.call, command_line.refused))

#: Answers per question in the conditions "human" and "llm", and the relevant document.
ANSWERS = {
    "q1": ("Delft [2].", "Leiden [1].", 2),
    "q2": ("In 1246 [1][3].", "In 1246 [1].", 1),
    "q3": ("Nobody knows.", "Somebody does [4][9].", 4),
    "q4": ("So Document 3 says.", "So Document 3 says.", 3),
}


def lines_of():
    return [
        {
            "question": question,
            "condition": condition,
            "answer": text,
            "documents": 4,
            "relevant": [gold],
        }
        for question, (first, second, gold) in ANSWERS.items()
        for condition, text in (("human", first), ("llm", second))
    ]


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(lines, name="a.jsonl"):
        (tmp_path / name).write_text("\n".join(json.dumps(line) for line in lines) + "\n")
        return name

    return written


def said_in_json(*arguments):
    code, out, err = call(*arguments, "--format", "json")
    assert code == 0 and (not err or err.startswith("Bracketed marks and superscripts not read"))
    return json.loads(out, parse_constant=lambda name: pytest.fail(name))


def test_citations_arms_by_hand(write):
    rows = said_in_json("citations", write(lines_of()))["rows"]
    human, llm = rows
    assert (human["condition"], human["answers"]) == ("human", 4)
    assert human["precision"] == pytest.approx((1 + 1 / 2 + 0 + 1) / 4)
    assert human["recall"] == pytest.approx(3 / 4)
    assert (human["citing"], human["stray"], human["citations"]) == (0.75, 0.0, 1.0)
    assert human["precision low"] < human["precision"] < human["precision high"]
    assert (llm["precision"], llm["recall"], llm["stray"]) == (0.75, 0.75, 0.25)
    assert human["confidence"] is None
    # [9] is the number of no document: ignored, unless it is to count as wrong.
    strict = said_in_json("citations", write(lines_of()), "--strays", "wrong")["rows"]
    assert strict[1]["precision"] == pytest.approx((0 + 1 + 1 / 2 + 1) / 4)


def test_sensitivity_and_bias_equal_the_library(write):
    message = said_in_json("citations", write(lines_of()), "--between", "human,llm", "--seed", 3)
    first, second = np.array([1, 1 / 2, 0, 1]), np.array([0, 1, 1, 1])
    row = message["differences"][0]
    assert (row["measure"], row["questions"]) == ("precision", 4)
    assert row["sensitivity"] == pytest.approx(cas(first, second)) == pytest.approx(2.5 / 4)
    assert row["bias"] == pytest.approx(cab(first, second, relevant="Human", nonrelevant="LLM"))
    expected = paired_difference(first, second, seed=3)
    assert (row["low"], row["high"], row["p"]) == pytest.approx(
        (expected.low, expected.high, expected.p)
    )


def test_ids_of_documents_and_probabilities(write):
    line = {"question": "q", "answer": "Ada [2] and [1].", "documents": ["x", "y"]}
    line |= {"relevant": ["y"]}
    tokens = [["Ada [", -9.0], ["2", math.log(0.5)], ["] and [", -9.0], ["1", math.log(0.25)]]
    (row,) = said_in_json("citations", write([line | {"tokens": [*tokens, ["].", 0.0]]}]))["rows"]
    assert (row["precision"], row["recall"]) == (0.5, 1.0)
    assert (row["confidence"], row["confidence in others"]) == pytest.approx((0.5, 0.25))
    assert row["precision low"] is None


def test_answers_command_formats(write):
    path = write(lines_of())
    code, out, _ = call("citations", path, "--per-query", "--forms", "plain", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and len(rows) == 8
    assert [row["citations"] for row in rows if row["question"] == "q4"] == ["0", "0"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"relevant": [5]}, "line 1: relevant document is 5, which is not among its 4 documents"),
        ({"relevant": []}, "line 1: relevant: List should have at least 1 item"),
        ({"answer": 5}, "line 1: answer: Input should be a valid string"),
        ({"documents": 0}, "line 1: documents"),
        ({"documents": 10**12}, "line 1: documents"),
        ({"relevant": ["2"]}, "line 1: relevant document is '2'"),
        ({"documents": ["a", "a"]}, "line 1: documents have a duplicate"),
        ({"tokens": [["x", -1.0]]}, "line 1: tokens do not spell the answer"),
        ({"tokens": [["Delft [2].", 0.5]]}, "line 1: log-probability is 0.5"),
        (
            {"question": "q2", "condition": "llm"},
            "which occurs twice in the condition 'llm': keep one answer",
        ),
    ],
)
def test_citations_invalid_line(write, change, says):
    lines = lines_of()
    lines[0] |= change
    assert says in refused("citations", write(lines))


def test_citations_incomparable_arms(write):
    path = write(lines_of()[:-1])
    assert "condition llm: question is 'q4', which has no answer" in refused(
        "citations", path, "--between", "human,llm"
    )
    assert "condition is 'ai', which has no answers; expected one of human, llm" in refused(
        "citations", path, "--between", "human,ai"
    )
    assert "--between is 'human'" in refused("citations", path, "--between", "human")
    assert "is empty" in refused("citations", write([], "empty.jsonl"))


def predictions(seed: int) -> list[dict]:
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(40):
        satisfied = bool(rng.random() < 0.8)
        for name, truth in ((f"{number}", satisfied), (f"{number}-cf", not satisfied)):
            predicted = truth if rng.random() < 0.7 else not truth
            rows.append({"id": name, "satisfied": truth, "predicted": predicted})
    return rows


@pytest.mark.compares("satisfaction_report")
def test_satisfaction_agrees_with_scikit_learn(write):
    created = predictions(1)
    lines = [row | {"estimator": "bert"} for row in created] + [
        row | {"estimator": "yes", "predicted": True} for row in created if "cf" not in row["id"]
    ]
    rows = said_in_json("satisfaction", write(lines))["rows"]
    assert [(row["estimator"], row["set"]) for row in rows] == [
        ("bert", "main"), ("bert", "counterfactual"), ("bert", "mixed"), ("yes", "main"),
    ]  # fmt: skip
    for row, selection in zip(
        rows[:3],
        (lambda name: "cf" not in name, lambda name: "cf" in name, lambda name: True),
        strict=True,
    ):
        own = [item for item in created if selection(item["id"])]
        truth, answers = ([item[key] for item in own] for key in ("satisfied", "predicted"))
        means = precision_recall_fscore_support(truth, answers, average="macro", zero_division=0)
        assert row["samples"] == len(own)
        assert row["accuracy"] == pytest.approx(100 * accuracy_score(truth, answers))
        result = row["precision"], row["recall"], row["f1"]
        assert result == pytest.approx(tuple(100 * mean for mean in means[:3]))
    right = {item["id"] for item in created if item["satisfied"] == item["predicted"]}
    first = {name for name in right if "cf" not in name}
    second = {name.removesuffix("-cf") for name in right - first}
    assert rows[2]["jaccard"] == pytest.approx(len(first & second) / len(first | second))
    assert 0 < rows[2]["jaccard"] < 1 and rows[0]["jaccard"] is None
    assert rows[3]["recall"] == 50


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            {"id": "9-cf", "satisfied": True, "predicted": True},
            "counterfactual is '9-cf', whose original is missing",
        ),
        (
            {"id": "0", "satisfied": True, "predicted": True},
            "line 3: id is '0', which occurs twice",
        ),
        (
            {"id": "9", "satisfied": "yes", "predicted": True},
            "satisfied: Input should be a valid b",
        ),
        ({"id": "9", "satisfied": True}, "predicted: Field required; expected the fields id"),
    ],
)
def test_satisfaction_invalid_prediction(write, line, says):
    assert says in refused("satisfaction", write([*predictions(1)[:2], line]))


def test_citations_line_separators(tmp_path):
    line = {"question": "Who\u2028is\x85it?", "answer": "Ada [1].", "documents": 1, "relevant": [1]}
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(line, ensure_ascii=False).encode() + b"\r\n")
    rows = said_in_json("citations", str(path), "--per-query")["rows"]
    assert [row["question"] for row in rows] == [line["question"]]


def noted(write, *answers, relevant=1, documents=3):
    lines = [
        {"question": f"q{number}", "documents": documents, "relevant": [relevant]}
        | ({"answer": answer} if isinstance(answer, str) else answer)
        for number, answer in enumerate(answers)
    ]
    code, out, err = call("citations", write(lines), "--format", "json")
    assert code == 0
    return json.loads(out)["rows"][0], err


@pytest.mark.parametrize(
    "answer",
    [
        "<think>Foxes [2]?</think>Owls hunt [1].",
        "Foxes [2]?</think>\nOwls hunt [1].",
        "<|channel|>analysis<|message|>[2]<|end|><|start|>assistant<|channel|>final<|message|>[1].",
        {"answer": "Owls hunt [1].", "reasoning_content": "Foxes [2]?"},
        "Owls hunt [1], as `owls[2]` says.\n```\nfoxes[3]\n```",
        "Owls hunt [1].\n\nSources:\n[1] Owls.\n[2] Foxes.\n[3] Bees.",
        "Owls hunt in [0, 1] [1].",
    ],
)
def test_citations_counts_only_the_answer(write, answer):
    row, _ = noted(write, answer)
    assert (row["precision"], row["recall"], row["citations"]) == (1, 1, 1)


def test_citations_probabilities_after_reasoning(write):
    tokens = [["<think>[", -9.0], ["2", -9.0], ["]</think>[", -9.0], ["1", math.log(0.5)]]
    tokens += [["]", -math.inf]]
    answer = {"answer": "<think>[2]</think>[1]", "tokens": tokens}
    row, _ = noted(write, answer)
    assert row["confidence"] == pytest.approx(0.5) and row["confidence in others"] is None
    tokens[3][1] = -math.inf
    assert noted(write, answer)[0]["confidence"] == 0


@pytest.mark.parametrize(
    "mark",
    ['(cite index="2-1">', "(2)", "owl¹", "<co: 2>", "<sup>2</sup>", "`[2]`", "[2](https://a.b)"],
)
def test_citations_reports_unread_marks(write, mark):
    _, err = noted(write, f"Owls hunt {mark}.", "Foxes sleep [1].")
    assert f"not read as citations: 1: {mark}." in err


def test_citations_reports_lists_of_sources(write):
    _, err = noted(write, "Owls hunt [1].\n\nSources:\n[1] Owls.", "Foxes [1].")
    assert "Lists of sources not read as citations: 1, such as 'Sources: [1] Owls.'" in err


def test_citations_counts_empty_and_cut_off_answers(write):
    row, err = noted(
        write,
        *["Owls [1]."] * 3,
        {"answer": "", "finish_reason": "length"},
        {"answer": "<think>So", "finish": "length"},
        {"answer": "Owls [1", "finish": "length"},
        {"answer": " ", "finish": None},
        *["Owls [1]."] * 3,
    )
    assert (row["empty"], row["cut off"]) == (0.3, 0.1)
    assert "3 of 10 answers are empty" in err and "token limit reached in reasoning: 1" in err
    assert "1 are cut off (token limit: 1)" in err and "More than 20% of the answers" in err
    _, err = noted(write, *["Owls [1]."] * 4, "")
    assert "1 of 5 answers are empty (no text: 1)" in err and "More than" not in err
    assert "empty" not in noted(write, "Owls [1].")[1]


def test_satisfaction_counts_the_dissatisfied(write):
    """Two of three users are dissatisfied, whatever is predicted."""
    labels = [("a", False, True), ("b", False, False), ("c", True, True)]
    lines = [
        {"id": name, "satisfied": label, "predicted": answer} for name, label, answer in labels
    ]
    (row,) = said_in_json("satisfaction", write(lines))["rows"]
    assert (row["samples"], row["dissatisfied"]) == (3, 2)


def test_citations_null_answer(write):
    lines = [line for line in lines_of() if line["condition"] == "human"]
    lines[0] |= {"answer": None, "finish": "length"}
    code, _, err = call("citations", write(lines))
    assert code == 0
    assert "1 of 4 answers are empty (token limit: 1)" in err
