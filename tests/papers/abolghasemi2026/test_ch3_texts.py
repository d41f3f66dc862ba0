"""Figures of the prompts and dialogues of chapter 3."""

from __future__ import annotations

import pytest
from chapter_jobs import FunctionJob

from everycell.collections.satisfaction_samples import SYSTEM, USER, Sample
from everycell.language_models.generation import Answer
from everycell.language_models.settings import Decoding
from everycell.sources.fetch import fetch
from papers.abolghasemi2026.ch3_data import CAUSE_FILES
from papers.abolghasemi2026.ch3_few_shot import FewShotModel
from papers.abolghasemi2026.ch3_generation import TEMPLATE, ask, read_template
from papers.abolghasemi2026.ch3_texts import SLOTS, dialogues, prompts

ASKED = Sample("1", "toy", ((USER, "A taxi?"), (SYSTEM, "Booked.")), satisfied=True)
EXAMPLES = ["MultiWOZ-main-0264", "MultiWOZ-main-0276"]


@pytest.fixture
def prompt_job():
    job = FunctionJob(input={"template": TEMPLATE})
    prompts(job)
    return job


def fill_slots(parts):
    """Roles and texts of a figure, with its slots filled with the dialogue `ASKED`."""
    messages = []
    for role, text in zip(parts["part"], parts["text"], strict=True):
        for (_, slot), (_, utterance) in zip(SLOTS.turns, ASKED.turns, strict=True):
            text = text.replace(slot, utterance)
        messages.append((role, text))
    return messages


def sent_messages(requests):
    return [(message.role, message.content) for message in requests[0].prompt]


def test_prompts_labels_as_sent(prompt_job, tmp_path):
    requests = []

    def answer_all(batch):
        requests.extend(batch)
        return [Answer(text="Satisfied", finish="stop")] * len(batch)

    estimator = FewShotModel("toy", answer_all, Decoding(max_tokens=5))
    estimate = estimator.train(None, {}, tmp_path, seed=0, training_seed=0)
    estimate([ASKED.turns])
    assert fill_slots(prompt_job.figures[""]) == sent_messages(requests)


def test_prompts_counterfactuals_as_sent(prompt_job):
    requests = []

    def answer_all(batch):
        requests.extend(batch)
        return [Answer(text="No taxi.", finish="stop")] * len(batch)

    ask([ASKED], answer_all, template=read_template(), decoding=Decoding(max_tokens=5))
    assert fill_slots(prompt_job.figures["figure_3_6"]) == sent_messages(requests)


def test_prompts_own_template(tmp_path):
    """The figure has the user's template if there is one."""
    template = tmp_path / "own.txt"
    template.write_text("Turn round what SYSTEM says last.\n$dialogue")
    job = FunctionJob(input={"template": template})
    prompts(job)
    (text,) = job.figures["figure_3_6"]["text"]
    assert text.startswith("Turn round") and text.endswith(SLOTS.turns[-1][1])


def write_pairs(folder, *pairs):
    """Files of original and counterfactual dialogues, each (turns, label, last, new label)."""
    files = {}
    for part in ("main", "generated"):
        lines = []
        for turns, label, last, new_label in pairs:
            changed = turns if part == "main" else [*turns[:-1], (SYSTEM, last)]
            dialogue = "\n".join(f"{speaker}: {text}" for speaker, text in changed)
            score = int(label if part == "main" else new_label)
            lines.append(repr({"dialogue": dialogue, "binary_score": score}))
        files[part] = folder / f"{part}.txt"
        files[part].write_text("\n".join(lines) + "\n")
    return files


def test_dialogues_labels_and_last_utterances(tmp_path):
    long = [(USER, "Hello."), (SYSTEM, "Hi."), (USER, "A taxi?"), (SYSTEM, "A bus.")]
    short = [(USER, "A bus?"), (SYSTEM, "A taxi.")]
    files = write_pairs(
        tmp_path,
        (long, False, "A taxi.", True),
        (short, True, "A boat.", False),
        (short, False, "A bus.", False),
        (short, False, "The bus.", True),
    )
    job = FunctionJob(
        input=files, params={"examples": ["MultiWOZ-main-0001", "MultiWOZ-main-0003"]}
    )
    dialogues(job)
    full = job.figures[""]
    assert list(full.itertuples(index=False, name=None)) == [
        ("MultiWOZ-main-0001", USER, "Hello."),
        ("MultiWOZ-main-0001", SYSTEM, "Hi."),
        ("MultiWOZ-main-0001", USER, "A taxi?"),
        ("MultiWOZ-main-0001", "SYSTEM, original: dissatisfied", "A bus."),
        ("MultiWOZ-main-0001", "SYSTEM, counterfactual: satisfied", "A taxi."),
        ("MultiWOZ-main-0003", USER, "A bus?"),
        ("MultiWOZ-main-0003", "SYSTEM, original: dissatisfied", "A taxi."),
        ("MultiWOZ-main-0003", "SYSTEM, counterfactual: dissatisfied", "A bus."),
    ]
    assert list(job.figures["figure_3_2"]["text"]) == [
        *("A taxi?", "A bus.", "A taxi."),
        *("A bus?", "A taxi.", "A bus."),
    ]
    # The second dialogue is as short, but its user is satisfied; the fourth comes later.
    snippet = job.figures["figure_3_1"]
    assert list(snippet["text"]) == ["A bus?", "A taxi.", "dissatisfied"]


def test_dialogues_released(mirror, tmp_path):
    """The dialogues of the thesis; one has another label there (erratum label_of_example)."""
    files = {
        part: fetch(key, tmp_path, mirror=mirror, network=False)
        for part, key in CAUSE_FILES.items()
    }
    job = FunctionJob(input=files, params={"examples": EXAMPLES})
    dialogues(job)
    first, second = (rows for _, rows in job.figures[""].groupby("panel", sort=False))
    assert (len(first), len(second)) == (15, 13)
    assert [name.partition(": ")[2] for name in first["part"].tail(2)] == ["satisfied"] * 2
    assert [name.partition(": ")[2] for name in second["part"].tail(2)] == [
        "satisfied",
        "dissatisfied",
    ]
    assert "Hamilton Lodge" in first["text"].iloc[-1]
    assert "children" in second["text"].iloc[-1]
