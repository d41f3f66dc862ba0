"""A language model that paraphrases passages, and the release of its answers."""

from pathlib import Path

import pandas as pd
import pytest

from everycell.language_models.answering import RecordedModel
from everycell.language_models.generation import Answer, Identity, LanguageModelError
from everycell.language_models.records import Record
from everycell.language_models.settings import Decoding
from everycell.rag.prompts import Question
from papers.abolghasemi2026.ch5_paraphrase_checks import Limits
from papers.abolghasemi2026.ch5_paraphrasing import (
    TEMPLATES,
    Outlook,
    Paraphraser,
    add_titles,
    attempts,
    hopeless_search_stopper,
    outlook_writer,
    questions_to_try,
    read_template,
    required_answers,
)

MILL = "The old mill of Zandt was built by Jan Mol in 1742 for grinding corn."
FIRE = "It burned down twice and was last restored by the owners in 1988."
SAID = {
    MILL: "In 1742 it was Jan Mol who raised Zandt's mill, where corn was ground.",
    FIRE: "Two fires destroyed it; its owners rebuilt it for the last time in 1988.",
}
DECODINGS = attempts(Decoding(), number=2, temperature=0.9, top_p=0.9, seed=5)


class Model:
    """Copies a text at the first attempt, and says it in other words at the second."""

    identity = Identity(name="toy")

    def answer(self, request):
        text = request.prompt[-1].content.removeprefix("Passage: ").splitlines()[-1]
        text = text.removeprefix("Passage: ")
        if request.decoding.seed is None:
            return Answer(text=text, finish="stop")
        parts = [message for original, message in SAID.items() if original in text]
        return Answer(text="\n".join(parts), finish="stop")


def paraphraser(record: Record, unit: str = "sentence", **to_keep: tuple[str, ...]) -> Paraphraser:
    return Paraphraser(
        RecordedModel(record, Model.identity, Model),
        read_template(TEMPLATES[unit]),
        DECODINGS,
        Limits(),
        {"mill": f"{MILL} {FIRE}", "fire": FIRE},
        to_keep,
        unit=unit,
    )


@pytest.mark.parametrize(("unit", "prompts"), [("sentence", 4), ("passage", 2)])
def test_paraphrase_units(tmp_path: Path, unit, prompts):
    with Record(tmp_path / "toy.jsonl") as record:
        source = paraphraser(record, unit, mill=("1742",))
        (result,) = source.paraphrase_again(["mill"])
        assert result == ("mill", " ".join(SAID.values()), 2, "")
        assert source.model.requests_sent == prompts == len(source.used)


def test_paraphrase_required_answer(tmp_path: Path):
    with Record(tmp_path / "toy.jsonl") as record:
        source = paraphraser(record, mill=("corn", "Leiden"), fire=("burned",))
        mill, fire = source.paraphrase_again(["mill", "fire"])
        assert (mill.reason, fire.reason) == ("", "answer lost")


def test_paraphrase_rejected_without_text(tmp_path: Path):
    """The record keeps the text, so that no request is repeated."""
    with Record(tmp_path / "toy.jsonl") as record:
        source = paraphraser(record)
        source.paraphrase_again(["fire"])
        answers = {entry.answer.finish: entry.answer.text for entry in source.used.values()}
        assert answers == {"withheld: copy": "", "stop": SAID[FIRE]}
        assert sorted(entry.answer.text for entry in record.entries.values()) == sorted(
            [FIRE, SAID[FIRE]]
        )
        passed = dict(source.used)
    # The recorded answers lead to the same paraphrase without the model.
    with Record(tmp_path / "passed.jsonl") as record:
        record.entries.update(passed)
        again = paraphraser(record)
        again.model = RecordedModel(record, Model.identity, None)
        assert again.paraphrase_again(["fire"]) == [("fire", SAID[FIRE], 2, "")]
        assert all(key == entry.key for key, entry in again.used.items())


def test_paraphrase_request_keys(tmp_path: Path):
    with Record(tmp_path / "toy.jsonl") as record:
        source = paraphraser(record)
        source.paraphrase_again(["fire"])
        assert set(source.used) == set(record.entries)


def test_hopeless_search_stopper():
    lines: list[str] = []
    promising = Outlook((30, 20), (20, 12), candidates=60, target=5)
    hopeless = Outlook((30, 2), (2, 0), candidates=30, target=5)
    hopeless_search_stopper("toy", lines.append)(promising)
    outlook_writer(lines.append)(hopeless)
    assert len(lines) == 2
    with pytest.raises(LanguageModelError, match="Stopped sending passages to toy: 30 of 30"):
        hopeless_search_stopper("toy", lines.append)(hopeless)
    assert len(lines) == 3


def test_candidate_questions_long_passages():
    questions = [Question("q1", ("a", "b"), gold=1), Question("q2", ("b", "c"), gold=2)]
    texts = {"a": "Rye is a grass.", "b": "Delft is old.", "c": "Leiden too."}
    tried = questions_to_try(questions, texts, longest=3, limit=None, seed=1)
    assert [question.id for question in tried] == ["q2"]


def test_required_answers_of_tried_questions():
    relevant = pd.DataFrame({"query": ["q1", "q2", "q3"], "document": ["a", "a", "a"]})
    tried = [Question("q1", ("a",), gold=1), Question("q2", ("a",), gold=1)]
    answers = {"q1": ("rye",), "q2": ("oat",), "q3": ("ox",)}
    assert required_answers(relevant, tried, answers) == {"a": ("rye", "oat")}


def test_add_titles_not_to_empty_texts():
    texts = pd.DataFrame({"document_id": ["a", "b", "c"], "text": ["Old.", "New.", ""]})
    titled = add_titles(texts, pd.Series({"a": "Delft", "b": "", "c": "Rye"}))
    assert titled["text"].tolist() == ["Delft. Old.", "New.", ""]
