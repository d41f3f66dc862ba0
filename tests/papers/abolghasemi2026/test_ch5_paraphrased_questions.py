"""Questions with all their paraphrases: requests, and too few paraphrases."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.language_models.answering import RecordedModel
from everycell.language_models.generation import Answer, Identity, Request
from everycell.language_models.records import Record
from everycell.language_models.settings import Decoding
from everycell.rag.prompts import Question
from papers.abolghasemi2026.ch5_paraphrasing import (
    STEP,
    Outlook,
    Paraphrase,
    explain_no_questions,
    paraphrase_questions,
)

#: Right answer of every question; the passages that come to hold it are not relevant.
ANSWER = "rye"


def numbered(number, depth):
    """Questions that share no passage."""
    return [
        Question(f"q{n}", tuple(f"d{n}.{position}" for position in range(depth)), gold=1)
        for n in range(number)
    ]


def saying(failing=(), telling=()):
    """A paraphraser that fails for some passages, and the list of its requests."""
    calls = []

    def paraphrase_again(names):
        calls.append(list(names))
        return [
            Paraphrase(
                name,
                "It is rye." if name in telling else "It is oat.",
                1,
                "copy" if name in failing else "",
            )
            for name in names
        ]

    return paraphrase_again, calls


def one_step_at_a_time(questions, failing, telling, count):
    """The same, without any look ahead."""
    complete, result = [], []
    for first in range(0, len(questions), STEP):
        if len(complete) >= count:
            break
        left = questions[first : first + STEP]
        for position in range(len(questions[0].documents)):
            output = {}
            for question in left:
                further = [
                    d for d in question.documents if d != question.documents[question.gold - 1]
                ]
                output[question.id] = [question.documents[question.gold - 1], *further][position]
            result += [name for name in dict.fromkeys(output.values()) if name not in result]
            left = [
                question
                for question in left
                if output[question.id] not in failing
                and not (position and output[question.id] in telling)
            ]
        complete += [question.id for question in left]
    return complete[:count], result


DOCUMENTS = [f"d{number}" for number in range(12)]


@given(st.data(), st.integers(1, 60), st.integers(1, 4))
def test_paraphrase_questions_rounds_equal_single_steps(data, count, depth):
    output = st.lists(st.sampled_from(DOCUMENTS), min_size=depth, max_size=depth, unique=True)
    lists = data.draw(st.lists(st.tuples(output, st.integers(1, depth)), max_size=60))
    questions = [Question(f"q{n}", tuple(row), gold) for n, (row, gold) in enumerate(lists)]
    failing, telling = (data.draw(st.sets(st.sampled_from(DOCUMENTS), max_size=4)) for _ in "ab")
    paraphrase_again, calls = saying(failing, telling)
    answers = {question.id: [ANSWER] for question in questions}
    result, created = paraphrase_questions(questions, paraphrase_again, answers, target=count)
    expected = one_step_at_a_time(questions, failing, telling, count) if questions else ([], [])
    assert (result, [item.id for item in created]) == expected
    requests = [name for names in calls for name in names]
    assert sorted(requests) == sorted(expected[1])


def test_paraphrase_questions_size_of_rounds():
    paraphrase_again, calls = saying()
    questions = numbered(600, 2)
    result, created = paraphrase_questions(
        questions, paraphrase_again, dict.fromkeys((item.id for item in questions), ()), target=500
    )
    assert result == [f"q{n}" for n in range(500)] and len(created) == 1000
    # The relevant passages of a stretch, then the others; the last stretch is what is still wanted.
    assert [len(names) for names in calls[::2]] == [5, 10, 20, 40, 80, 160, 185]


def test_paraphrase_questions_failed_passage():
    questions = numbered(5, 10)
    paraphrase_again, calls = saying({"d0.0", "d1.1", "d2.9"}, telling={"d3.4"})
    answers = {question.id: [ANSWER] for question in questions}
    result, created = paraphrase_questions(questions, paraphrase_again, answers, target=9)
    assert result == ["q4"]
    assert len(created) == 1 + 2 + 10 + 5 + 10 == sum(map(len, calls))


class Counting:
    """A model that waits until as many requests are under way as there are workers."""

    identity = Identity(name="counting")

    def __init__(self, workers):
        self.together = threading.Barrier(workers)
        self.met = threading.Event()
        self.begun = 0
        self.lock = threading.Lock()

    def answer(self, request):
        with self.lock:
            self.begun += 1
            # The first two stretches have fewer.
            early = self.begun <= 3 * STEP
        if not early and not self.met.is_set():
            self.together.wait(60)
            self.met.set()
        return Answer(text=f"So is {request.text}.", finish="stop")


@pytest.mark.parametrize("workers", [1, 16])
def test_paraphrase_questions_parallel_workers(tmp_path, workers):
    questions = numbered(40, 1)
    counting = Counting(workers)
    with Record(tmp_path / "r.jsonl") as record:
        model = RecordedModel(record, counting.identity, lambda: counting, workers=workers)

        def paraphrase_again(names):
            requests = [Request(prompt=name, decoding=Decoding()) for name in names]
            answers = model.answer_all(requests)
            return [
                Paraphrase(name, answer.text, 1, "")
                for name, answer in zip(names, answers, strict=True)
            ]

        answers = dict.fromkeys((item.id for item in questions), ())
        result, created = paraphrase_questions(questions, paraphrase_again, answers, target=35)
    assert counting.met.is_set() and model.requests_sent == 35
    assert result == [f"q{n}" for n in range(35)]
    assert [item.text for item in created] == [f"So is d{n}.0." for n in range(35)]


def test_outlook_hopeless():
    questions = numbered(700, 10)
    # Every second passage fails, whatever the question.
    failing = {
        f"d{n}.{position}" for n in range(700) for position in range(10) if (n >> position) % 2
    }
    paraphrase_again, calls = saying(failing)
    log = []

    def tell(outlook):
        log.append(outlook)
        if outlook.hopeless:
            raise RuntimeError(outlook)

    answers = dict.fromkeys((item.id for item in questions), ())
    # The first one has all of its passages by this pattern, as has one of 1,024.
    with pytest.raises(RuntimeError, match="35 of 699 questions tried, 0 have usable paraphrases"):
        paraphrase_questions(questions[1:], paraphrase_again, answers, target=500, report=tell)
    assert [outlook.tried[0] for outlook in log] == [5, 15, 35]
    assert sum(map(len, calls)) < 200
    message = str(log[-1])
    assert "but 500 are needed: use a better model, raise `attempts`" in message
    # Where one was found, the search goes on.
    result, created = paraphrase_questions(
        questions, paraphrase_again, answers, target=500, report=tell
    )
    assert result == ["q0"] and len(created) > 700


def test_outlook_joint_failures():
    # Of 40 questions 20 have all ten passages, although only 20 of 40 and 180 of 200 pass.
    outlook = Outlook((40, *[20] * 9), (20,) * 10, candidates=100, target=40)
    assert outlook.expected == pytest.approx(20 + 60 / 2)
    assert "needed" not in str(outlook) and "so about 50 of 100" in str(outlook)


def test_paraphrase_questions_none():
    paraphrase_again, calls = saying()
    assert paraphrase_questions([], paraphrase_again, {}, target=3) == ([], [])
    assert calls == []


@pytest.mark.parametrize("longest", [None, 70])
def test_explain_no_questions(longest):
    message = explain_no_questions({"no gold": 2, "not retrieved": 1}, 4, longest=longest)
    assert "3 are excluded because of their passages (no gold: 2, not retrieved: 1)" in message
    assert (
        ("`longest`" in message)
        == ("and 4 because of passages of more than 70" in message)
        == bool(longest)
    )
    assert "None" not in message
