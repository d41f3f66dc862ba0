"""Paraphrases: attempts, checks, sentences that fail, and what a text may not become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.language_models.generation import Answer
from everycell.language_models.records import read_record
from everycell.language_models.settings import Decoding
from everycell.rag.answers import normalise_answer
from papers.abolghasemi2026.ch5_paraphrase_checks import (
    FAULTS,
    Limits,
    added_numbers_and_names,
    clean_answer,
    copied_share,
    fault,
)
from papers.abolghasemi2026.ch5_paraphrasing import (
    TEMPLATES,
    Passage,
    attempts,
    paraphrase_all,
    paraphrases_frame,
    read_template,
)
from papers.abolghasemi2026.ch5_quotations import withhold_quotation

FIRST = "The old mill of Zandt was built by Jan Mol in 1742 for grinding corn."
SECOND = "It burned down twice and was last restored by the owners in 1988."
GOOD = {
    FIRST: "In 1742 it was Jan Mol who raised Zandt's mill, where corn was ground.",
    SECOND: "Two fires destroyed it; its owners rebuilt it for the last time in 1988.",
}
DECODINGS = attempts(Decoding(), number=3, temperature=0.9, top_p=0.9, seed=5)
WORDS = st.lists(st.sampled_from("mill corn Jan fire owner 1742 old".split()), min_size=1)


def asking(*rounds):
    """A model with a table of answers per round that records its requests."""
    calls = []

    def ask(requests):
        calls.append([request.text.splitlines()[-1] for request in requests])
        message = rounds[len(calls) - 1]
        return [Answer(text=message[sentence], finish="stop") for sentence in calls[-1]]

    return ask, calls


def run(*rounds, answers=("1742",), limits=None, text=f"{FIRST} {SECOND}"):
    ask, requests = asking(*rounds)
    passages = [Passage("d1", text, answers)]
    options = {} if limits is None else {"limits": limits}
    result = paraphrase_all(passages, ask, read_template(), DECODINGS[: len(rounds)], **options)
    return result[0], requests


def test_paraphrase_all_attempts():
    result, requests = run(
        {FIRST: FIRST, SECOND: GOOD[SECOND]}, {FIRST: "No."}, {FIRST: GOOD[FIRST]}
    )
    assert requests == [[FIRST, SECOND], [FIRST], [FIRST]]
    assert result == ("d1", f"{GOOD[FIRST]} {GOOD[SECOND]}", 3, "")


def test_paraphrase_all_failed_sentence():
    copied = {FIRST: FIRST, SECOND: GOOD[SECOND]}
    result, _ = run(copied)
    assert result == ("d1", GOOD[SECOND], 1, "answer lost")
    result, _ = run(copied, answers=("1988", "Leiden"))
    assert result.reason == ""
    result, _ = run(copied, answers=("1988",), limits=Limits(shortest=0.6))
    assert result.reason == "too short"


def test_paraphrase_all_passage():
    full = f"{FIRST} {SECOND}"
    message = f"{GOOD[FIRST]}\n\n{GOOD[SECOND]}"
    template = read_template(TEMPLATES["passage"])
    ask, requests = asking({f"Passage: {full}": full}, {f"Passage: {full}": message})
    passages = [Passage("d1", full, ("1742",))]
    result = paraphrase_all(passages, ask, template, DECODINGS[:2], unit="passage")
    assert requests == [[f"Passage: {full}"]] * 2
    assert result == [("d1", f"{GOOD[FIRST]} {GOOD[SECOND]}", 2, "")]
    # Half of the text is not enough, since no sentences can be omitted.
    ask, _ = asking({f"Passage: {full}": GOOD[SECOND]})
    (lost,) = paraphrase_all(passages, ask, template, DECODINGS[:1], unit="passage")
    assert (lost.text, lost.reason) == ("", "answer lost")


def test_paraphrase_all_empty_result():
    nothing = dict.fromkeys((FIRST, SECOND), "")
    assert run(nothing | {FIRST: FIRST}, nothing)[0] == ("d1", "", 2, "empty")
    assert run({FIRST: FIRST, SECOND: SECOND})[0].reason == "copy"


@pytest.mark.parametrize(("finish", "reason"), [("length", "cut"), ("refusal", "refusal")])
def test_judge_finish(finish, reason):
    def ask(requests):
        return [Answer(text=GOOD[FIRST], finish=finish) for _ in requests]

    result = paraphrase_all([Passage("d1", FIRST, ())], ask, read_template(), DECODINGS)
    assert (result[0].text, result[0].attempt, result[0].reason) == ("", 3, reason)


def test_paraphrase_all_requests():
    ask, calls = asking(GOOD)
    passages = [Passage("d1", FIRST, ()), Passage("d2", SECOND, ())]
    result = paraphrase_all(passages, ask, read_template(), DECODINGS[:1])
    assert calls == [[FIRST, SECOND]]
    assert paraphrases_frame(result)["kept"].tolist() == [True, True]
    assert paraphrase_all([], lambda requests: [], read_template(), DECODINGS) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("...", "empty"),
        ("I'm sorry, I cannot do that with the 1742 mill.", "refusal"),
        ("The sentence is rephrased: in 1742 Zandt got its mill from Jan Mol.", "refusal"),
        ("Jan Mol raised Zandt's mill for grinding corn.", "answer lost"),
        ("Jan Mol raised Zandt's mill for grinding corn in 17421.", "answer lost"),
        (FIRST, "copy"),
        (FIRST.upper(), "copy"),
        ("Mol, 1742.", "too short"),
        (" ".join([GOOD[FIRST]] * 3), "too long"),
        ("In 1742 Jan Mol and Piet Vos raised the mill where corn was ground.", "made up"),
        ("In 1742 Jan Mol, then 30, raised the mill where corn was ground.", "made up"),
        (GOOD[FIRST], ""),
    ],
)
def test_fault(text, reason):
    assert fault(text, FIRST, ["1742"]) == reason
    assert not reason or reason in FAULTS


def test_fault_absent_answer():
    assert fault(GOOD[FIRST], FIRST, ["1743", "the"]) == ""


def test_fault_share_of_copies():
    half = "By Jan Mol in 1742 for whoever had corn to grind, Zandt's mill came."
    share = copied_share(half, FIRST)
    assert 0 < share < 0.5
    assert fault(half, FIRST, [], Limits(copied=share)) == ""
    assert fault(half, FIRST, [], Limits(copied=share - 0.01)) == "copy"


def test_withhold_quotation():
    message = []
    rounds = ({FIRST: FIRST, SECOND: GOOD[SECOND]}, {FIRST: GOOD[FIRST]})
    ask, _ = asking(*rounds)
    passages = [Passage("d1", f"{FIRST} {SECOND}", ("1742",))]

    def judged(request, sentence, reason):
        answer_text = rounds[request.decoding.temperature > 0][sentence]
        message.append(
            withhold_quotation(Answer(text=answer_text, finish="stop"), sentence, reason)
        )

    first = paraphrase_all(passages, ask, read_template(), DECODINGS[:2], report=judged)
    assert [answer.text for answer in message] == ["", GOOD[SECOND], GOOD[FIRST]]
    replay = iter((message[:2], message[2:]))
    again = paraphrase_all(passages, lambda requests: next(replay), read_template(), DECODINGS[:2])
    assert again == first
    short = Answer(text="The old mill of Zandt.", finish="stop")
    assert withhold_quotation(short, FIRST, "answer lost") is short


@pytest.mark.parametrize(
    ("answer", "paraphrase"),
    [
        ("Sure! Here is one:\n\n“Corn was ground.”\n\nI moved the verb.", "Corn was ground."),
        ("  Corn\twas  ground. ", "Corn was ground."),
        ("It had one rule: no corn.", "It had one rule: no corn."),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_clean_answer(answer, paraphrase):
    assert clean_answer(answer) == paraphrase


@given(WORDS, WORDS)
def test_copied_share_and_added_names(words, expected_share):
    text, other = " ".join(words), " ".join(expected_share)
    assert 0 <= copied_share(text, other) <= 1
    assert copied_share(text, text) == 1
    assert added_numbers_and_names(text, text) == []
    assert set(added_numbers_and_names(text, other)) <= set(words) - set(expected_share)
    assert (fault(text, other, []) == "empty") == (not normalise_answer(text))


def test_recorded_answers_withhold_rejected_texts(repository):
    entries = read_record(
        repository / "recorded" / "abolghasemi2026_ch5_paraphrases.jsonl"
    ).values()
    assert {entry.model.name for entry in entries} == {"smollm2"}
    withheld = [entry for entry in entries if entry.answer.finish.startswith("withheld: ")]
    assert withheld and all(entry.answer.text == "" for entry in withheld)
    # The other attempts are short or changed.
    assert 0.1 < len(withheld) / len(entries) < 0.9


@pytest.mark.parametrize(
    ("words", "expected"), [(1, "too short"), (2, ""), (8, ""), (9, "too long")]
)
def test_fault_lengths_at_the_limits(words, expected):
    """Half and twice the length of the original are allowed."""
    text = " ".join(["ducks"] * words)
    assert fault(text, "geese swim in ponds", [], Limits(copied=1.0)) == expected
