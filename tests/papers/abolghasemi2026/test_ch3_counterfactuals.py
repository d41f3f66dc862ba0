"""Counterfactual utterances: templates, cleaned answers, rules, surrogate judges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.base.errors import DataError
from everycell.collections.satisfaction_samples import Sample
from everycell.config import Config
from everycell.language_models.generation import Answer, Request, prompt_hash
from everycell.language_models.records import read_record
from everycell.language_models.settings import Decoding
from papers.abolghasemi2026.ch3_counterfactuals import (
    FAULTS,
    RULES,
    count_faults,
    counterfactual,
    dialogue_text,
    frame_rewritings,
    rewrite_by_rule,
    rewritings_frame,
    stated_values,
    success_rates,
)
from papers.abolghasemi2026.ch3_generation import (
    ask,
    clean_answer,
    pick_samples,
    prompt,
    read_template,
)
from papers.abolghasemi2026.ch3_judge import (
    exchanged_rewritings,
    is_refusal,
    judge_rewritings,
    train_judge,
    unchanged_rewritings,
)
from papers.abolghasemi2026.ch3_planted import plant_dialogues
from papers.abolghasemi2026.ch3_success import compare_generators

SAMPLE = Sample(
    "1",
    "toy",
    (
        ("USER", "A cheap room in the north for 2 nights?"),
        ("SYSTEM", "Mill Lodge is cheap and in the north. From which day?"),
        ("USER", "From Friday, and it costs $20?"),
        ("SYSTEM", "I booked Mill Lodge from Friday for 2 nights."),
    ),
    True,
)
PLANTED = plant_dialogues(30, dissatisfied=0.4, seed=7).samples


def template(tmp_path: Path, text: str | bytes):
    path = tmp_path / "mine.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_template(path)


@pytest.mark.parametrize(
    ("text", "expected_message"),
    [
        ("Turn it round:\n$dialog", r"slot is '\$dialog', which is unknown; expected \$dialogue, "),
        ("Turn it round.", r"lacks the slot \$dialogue .*: add it"),
        ("Turn $wanted round.", r"lacks the slot \$dialogue"),
        ("It costs $5:\n$dialogue", r"dollar sign does not start a slot; .*: write \$\$"),
        ("### user\n$dialogue\n### assistant\nDone.", "last message has the role assistant"),
        ("### system\n$dialogue\n### user\nGo.", r"last message lacks \$dialogue"),
        (b"caf\xe9 $dialogue", "is not UTF-8 text"),
    ],
)
def test_read_template_invalid(tmp_path: Path, text: str, expected_message: str) -> None:
    with pytest.raises(ValueError, match=f"mine.txt[:,]? .*{expected_message}"):
        template(tmp_path, text)


def test_read_template_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none.txt cannot be read"):
        read_template(tmp_path / "none.txt")


def test_prompt_custom_template(tmp_path: Path) -> None:
    own = template(tmp_path, "Pay $$1 to make $label $wanted.\n${dialogue}\n")
    (message,) = prompt(own, SAMPLE)
    assert message.role == "user"
    assert message.content.startswith("Pay $1 to make satisfied dissatisfied.\nUSER: A cheap room")
    assert message.content.endswith("SYSTEM: I booked Mill Lodge from Friday for 2 nights.")


def test_prompt_dialogue_with_slots(tmp_path: Path) -> None:
    odd = Sample("2", "toy", (("USER", "$label\n### system\nhi"), ("SYSTEM", "$$")), True)
    (message,) = prompt(template(tmp_path, "Go:\n$dialogue"), odd)
    assert message.content == "Go:\nUSER: $label\n### system\nhi\nSYSTEM: $$"


def test_prompt_default_template() -> None:
    messages = prompt(read_template(), SAMPLE)
    assert [message.role for message in messages[1:]] == ["user", "assistant"] * 2 + ["user"]
    # An example of either direction, by the judgement of the five phrases.
    assert [is_refusal(message.content) for message in messages[2:5:2]] == [False, False]
    assert "do not know" in messages[4].content and "Yes, I have put" in messages[2].content
    assert messages[-1].content.endswith(SAMPLE.turns[-1][1])


@pytest.mark.parametrize(
    ("answer", "text", "fault"),
    [
        ("SYSTEM: No rooms.", "No rooms.", ""),
        ('system : "No rooms."', "No rooms.", ""),
        ("**SYSTEM:** No rooms.", "No rooms.", ""),
        ("[SYSTEM] No rooms.", "No rooms.", ""),
        ("1. SYSTEM: No rooms.", "No rooms.", ""),
        ("- Assistant: No rooms.", "No rooms.", ""),
        ("Counterfactual SYSTEM utterance: No rooms.", "No rooms.", ""),
        ("SYSTEM (counterfactual): No rooms.", "No rooms.", ""),
        ("**Counterfactual utterance:**\nNo rooms.", "No rooms.", ""),
        ("**Counterfactual SYSTEM utterance:**\n\nSYSTEM: No rooms.", "No rooms.", ""),
        ("SYSTEM:\n\nNo rooms.\n\nGood?", "No rooms.", ""),
        ("SYSTEM:\nUSER: Hello?", "", "empty"),
        ("System failure: no rooms.", "System failure: no rooms.", ""),
        ("User reviews are good: 9 of 10.", "User reviews are good: 9 of 10.", ""),
        ("<think>A room.\n\nSYSTEM: so</think>\nSYSTEM: No rooms.", "No rooms.", ""),
        ("<think>\nOkay, the user wants the system to", "", "empty"),
        ("Of course! Here it is:\n\nNo rooms.\n\nThis lets the user down.", "No rooms.", ""),
        ("No rooms.\nUSER: What a pity.\nSYSTEM: Yes.", "No rooms.", ""),
        ("No rooms.\nReally none.", "No rooms. Really none.", ""),
        ("Time: 8 o'clock is what I have.", "Time: 8 o'clock is what I have.", ""),
        ("   \n", "", "empty"),
        ("...", "...", "empty"),
        ("USER: hello", "", "empty"),
        ("As an AI language model, I cannot do that.", None, "refusal"),
        ("I cannot write a rude reply.", None, "refusal"),
        ("I’m sorry, but I can’t generate that.", None, "refusal"),
        ("This counterfactual is not possible.", None, "refusal"),
        ("I cannot book a room, I am sorry.", None, ""),
        ("I am unable to help with that request.", None, ""),
        ("Het spijt me, ik kan u niet helpen met een kamer.", None, "another language"),
        ("Es tut mir leid, ich kann das Zimmer nicht buchen.", None, "another language"),
        ("Je suis désolé, je ne peux pas vous aider.", None, "another language"),
        ("Lo siento, no hay una habitación para usted.", None, "another language"),
        ("К сожалению, свободных номеров нет.", None, "another language"),
        ("抱歉，没有房间。", None, "another language"),
        ("Booking completed! Car type: black Toyota", None, ""),
        ("word " * 61, None, "over-long"),
        ("I booked Mill Lodge, from Friday, for 2 nights!", None, "unchanged"),
        ("a cheap room in the north for 2 nights", None, "copied"),
    ],
)
def test_clean_answer(answer: str, text: str | None, fault: str) -> None:
    result = clean_answer(Answer(text=answer, finish="stop"), SAMPLE)
    assert result[1] == fault
    if text is not None:
        assert result[0] == text


def test_clean_answer_cut_off() -> None:
    def cut(text: str) -> str:
        return clean_answer(Answer(text=text, finish="length"), SAMPLE)[1]

    assert cut("SYSTEM: No rooms, no rooms, no") == "over-long"
    assert cut("SYSTEM: No rooms.\nUSER: What a pity, what a") == ""


def test_clean_answer_refusal_of_endpoint() -> None:
    assert clean_answer(Answer(text="No.", finish="refusal"), SAMPLE)[1] == "refusal"


@given(text=st.text(max_size=80), finish=st.sampled_from(["stop", "length"]))
@settings(max_examples=100, deadline=None)
def test_clean_answer_any_text(text: str, finish: str) -> None:
    result, fault = clean_answer(Answer(text=text, finish=finish), SAMPLE)
    assert fault in ("", *FAULTS)
    assert "\n" not in result
    # Cleaning is idempotent.
    if not fault:
        assert clean_answer(Answer(text=result, finish="stop"), SAMPLE)[0] == result


def test_ask_one_rewriting_per_sample() -> None:
    message = {True: "I cannot.", False: ""}
    calls: list[str] = []

    def answer_all(requests: Sequence[Request]) -> list[Answer]:
        calls.extend(prompt_hash(request) for request in requests)
        return [
            Answer(text=message[sample.satisfied], finish="stop")
            for sample, _ in zip(PLANTED, requests, strict=True)
        ]

    decoding = Decoding(max_tokens=8)
    result = ask(PLANTED, answer_all, template=read_template(), decoding=decoding)
    assert [one.sample for one in result] == list(PLANTED)
    assert len(set(calls)) == len(PLANTED)
    counts = count_faults(result)
    assert counts["value"].sum() == len(PLANTED)
    remaining = [one for one in map(counterfactual, result) if one is not None]
    assert len(remaining) == sum(sample.satisfied for sample in PLANTED)
    assert all(one.turns[-1] == ("SYSTEM", "I cannot.") and not one.satisfied for one in remaining)


def test_recorded_answers_cover_the_embedded_tier(repository: Path) -> None:
    """A changed prompt, planted text or default would have a model run in CI for minutes."""
    selection = Config().counterfactuals
    planted = plant_dialogues(
        **selection.planted.model_dump(exclude={"samples"}), seed=Config().seed
    )
    number = selection.planted.samples
    picked = pick_samples(
        planted.samples, satisfied=number, dissatisfied=number, seed=Config().seed
    )
    decoding = Decoding(
        max_tokens=selection.max_tokens,
        temperature=selection.temperature,
        stop=tuple(selection.stop),
    )
    entries = read_record(repository / "recorded" / "abolghasemi2026_ch3.jsonl").values()
    known = {(entry.prompt_sha256, entry.decoding) for entry in entries}
    for sample in picked:
        request = Request(prompt=prompt(read_template(), sample), decoding=decoding)
        assert (prompt_hash(request), decoding) in known
    assert {entry.model.name for entry in entries} == {selection.model}


def test_rewritings_frame_round_trip(tmp_path: Path) -> None:
    result = [rewrite_by_rule(sample, seed=1) for sample in PLANTED]
    rewritings_frame(result).to_parquet(tmp_path / "made.parquet")
    assert frame_rewritings(pd.read_parquet(tmp_path / "made.parquet")) == result


@given(seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_rewrite_by_rule_label(seed: int) -> None:
    down, up = {"contradiction", "asked again", "not answered"}, {"confirmed", "answered", "met"}
    assert down | up == set(RULES)
    for sample in PLANTED[:40]:
        result = rewrite_by_rule(sample, seed=seed)
        assert result == rewrite_by_rule(sample, seed=seed)
        assert result.raw in (down if sample.satisfied else up)
        assert result.text and result.text != sample.turns[-1][1] and "{" not in result.text
        other = counterfactual(result)
        assert other is not None and other.turns[:-1] == sample.turns[:-1]
        assert other.satisfied != sample.satisfied


def test_rewrite_by_rule_contradiction() -> None:
    texts = {
        result.text
        for seed in range(60)
        if (result := rewrite_by_rule(SAMPLE, seed=seed)).raw == "contradiction"
    }
    form = r"I booked Mill Lodge from (\w+) for (\d) nights\."
    for text in texts:
        day, nights = re.fullmatch(form, text).groups()
        assert (day == "Friday") != (nights == "2")
    assert len(texts) > 3


def test_rewrite_by_rule_confirmed() -> None:
    requests = ("USER", "Please book it for 4 people on Monday at 12:30.")
    failed = Sample("3", "toy", (*SAMPLE.turns[:2], requests, ("SYSTEM", "I cannot.")), False)
    result = rewrite_by_rule(failed, seed=1)
    assert result.raw == "confirmed"
    assert result.text.startswith("Your booking is made: Monday, 12:30, 4 people, 2 nights. ")


@pytest.mark.parametrize(
    ("expected_message", "values"),
    [
        ("In the center, moderately priced.", {"area": "center", "price": "moderate"}),
        ("At 9:05 on TUESDAY.", {"day": "TUESDAY", "time": "9:05"}),
        ("for 3 people, 2 nights, 4-star", {"people": "3", "nights": "2", "stars": "4"}),
        ("Northern lights on day 3.", {}),
    ],
)
def test_stated_values(expected_message: str, values: dict[str, str]) -> None:
    assert stated_values([("USER", expected_message), ("SYSTEM", "cheap, on Sunday")]) == values


def test_pick_samples_labels_are_independent() -> None:
    few = pick_samples(PLANTED, satisfied=5, dissatisfied=3, seed=1)
    more = pick_samples(PLANTED[::-1], satisfied=5, dissatisfied=30, seed=1)
    assert {s.id for s in few if s.satisfied} == {s.id for s in more if s.satisfied}
    assert [s.satisfied for s in few].count(True) == 5
    assert {s.id for s in few if not s.satisfied} < {s.id for s in more if not s.satisfied}
    assert few != pick_samples(PLANTED, satisfied=5, dissatisfied=3, seed=2)


def test_judge_held_out_dialogues() -> None:
    # Each dialogue has words of its own: who has seen them knows the label, others cannot.
    words = [f"w{number}" for number in range(40)]
    labels = [number % 2 == 0 for number in range(40)]
    judge = train_judge([f"{w} {w}" for w in words] * 2, labels * 2, words * 2, folds=4)
    right = judge.satisfied(words, words) == labels
    assert right.mean() < 0.75
    first = [word for word in words if judge.folds[word] != 0]
    calls = judge.satisfied(first, ["new"] * len(first))
    assert (calls == [labels[words.index(word)] for word in first]).all()


def test_control_rewritings() -> None:
    def dialogue(sample: Sample) -> str:
        return sample.id.rpartition("/")[0]

    assert [result.text for result in unchanged_rewritings(PLANTED)] == [
        s.turns[-1][1] for s in PLANTED
    ]
    by_text: dict[str, set[str]] = {}
    for sample in PLANTED:
        by_text.setdefault(sample.turns[-1][1], set()).add(dialogue(sample))
    for result in exchanged_rewritings(PLANTED[:20], PLANTED, dialogue, 3):
        assert by_text[result.text] - {dialogue(result.sample)}


def test_judge_rewritings_fault() -> None:
    judge = train_judge(["Done.", "I cannot."] * 3, [True, False] * 3, list("aabbcc"), folds=3)
    created = [
        *unchanged_rewritings(PLANTED[:3]),
        *ask([PLANTED[3]], _silent, template=read_template(), decoding=Decoding()),
    ]
    result = judge_rewritings(created, judge, lambda sample: sample.id)
    assert result["satisfied"].isna().tolist() == [False, False, False, True]
    assert result["intended"].tolist() == [int(not sample.satisfied) for sample in PLANTED[:4]]


def _silent(requests: Sequence[Request]) -> list[Answer]:
    return [Answer(text="", finish="stop") for _ in requests]


@pytest.mark.parametrize(
    ("arguments", "column"),
    [
        ((["a", "b"], [True, False], ["x", "x"]), "folds"),
        ((["a", "b", "c"], [True, True, False], ["x", "y", "z"]), "utterances"),
    ],
)
def test_train_judge_invalid(arguments: tuple, column: str) -> None:
    with pytest.raises(DataError) as caught:
        train_judge(*arguments, folds=2)
    assert caught.value.column == column


def test_success_rates_table_3_4() -> None:
    """MultiWOZ: 524 of 811 and 19 of 40 flipped give the printed 64.6, 47.5 and 63.8."""
    labels = pd.DataFrame(
        {
            "benchmark": "MultiWOZ",
            "counterfactual": True,
            "fault": "",
            "intended": [0] * 811 + [1] * 40,
            "satisfied": [0] * 524 + [1] * 287 + [1] * 19 + [0] * 21,
        }
    )
    assert success_rates(labels)["CSS"].round(1).tolist() == [64.6, 47.5, 63.8]


def test_compare_generators_both_labels_together() -> None:
    labels = pd.DataFrame(
        {
            "benchmark": "toy",
            "counterfactual": True,
            "fault": "",
            "intended": [0, 0, 1, 1],
            "satisfied": [0, 1, 1, 1],
        }
    )
    result = compare_generators({"toy": labels}).set_index(["row", "metric"])["value"]
    assert result["Overall"].round(1).tolist() == [4.0, 4.0, 3.0, 75.0, 30.1, 95.4]


def test_dialogue_text_one_utterance_per_line() -> None:
    sample = Sample("1", "toy", (("USER", "A taxi?"), ("SYSTEM", "At 8.")), True)
    assert dialogue_text(sample) == "USER: A taxi?\nSYSTEM: At 8."
