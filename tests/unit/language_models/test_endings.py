"""Empty and cut-off answers, counted by reason, and results with too many of them."""

import json

import pytest
from language_model_server import Server, reply_of

from everycell.language_models.answering import EmptyAnswersError, open_language_model
from everycell.language_models.endings import (
    Endings,
    count_endings,
    normalise_finish,
    why_cut,
    why_empty,
)
from everycell.language_models.generation import Answer, Request, chat
from everycell.language_models.settings import Decoding, LanguageModels


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.mark.parametrize(
    ("text", "finish", "empty", "cut"),
    [
        ("Owls.", "stop", "", ""),
        ("Owls.", "unknown", "", ""),
        ("Owls", "length", "", "token limit"),
        ("Owls", "content_filter", "", "content filter"),
        ("Owls", "abort", "", "stopped by the server"),
        ("", "stop", "no text", ""),
        (" \n.", "stop", "no text", ""),
        ("", "length", "token limit", ""),
        ("", "MAX_TOKENS", "token limit", ""),
        ("<think>Owls", "length", "token limit reached in reasoning", ""),
        ("<think>Owls</think>", "stop", "only reasoning", ""),
        ("<think>Owls</think>Owls", "length", "", "token limit"),
        ("", "content_filter", "content filter", ""),
        ("", "SAFETY", "content filter", ""),
        ("", "tool_calls", "tool call", ""),
        ("No, sorry.", "refusal", "refusal", ""),
        ("", "error", "stopped by the server", ""),
        # The model's answer was not empty.
        ("", "withheld: copy", "", ""),
        (" ", "scored", "", ""),
    ],
)
def test_why_empty_and_why_cut(text, finish, empty, cut):
    answer = Answer(text=text, finish=finish)
    assert (why_empty(answer), why_cut(answer)) == (empty, cut)


def test_why_empty_reasoning_in_its_own_field():
    answer = Answer(text="", finish="length", reasoned=True)
    assert why_empty(answer) == "token limit reached in reasoning"
    assert why_empty(answer.model_copy(update={"finish": "stop"})) == "only reasoning"


@pytest.mark.parametrize(
    ("finish", "name"),
    [("max_tokens", "length"), ("end_turn", "stop"), ("STOP", "stop"), ("eos", "stop")]
    + [("function_call", "tool_calls"), ("tool_use", "tool_calls"), ("", "unknown")]
    + [("content-filter", "content_filter"), ("RECITATION", "content_filter"), ("x", "x")],
)
def test_normalise_finish(finish, name):
    assert normalise_finish(finish) == name


def test_count_endings():
    answers = [
        Answer(text=text, finish=finish)
        for text, finish in (("", "length"), ("", "length"), ("", "stop"), ("a", "length"))
    ]
    endings = count_endings(answers)
    assert endings == Endings(4, {"token limit": 2, "no text": 1}, {"token limit": 1})
    assert endings.empty_share == 0.75
    assert str(endings) == (
        "3 of 4 answers are empty (token limit: 2, no text: 1) and 1 are cut off (token limit: 1)"
    )
    assert count_endings([]) == Endings(0, {}, {}) and count_endings([]).empty_share == 0


def requests(number):
    return [
        Request(prompt=chat(f"Question {index}"), decoding=Decoding(max_tokens=5))
        for index in range(number)
    ]


def ask_all(server, folder, number, **settings):
    known = LanguageModels(
        endpoints={"gpt": server.settings(workers=1)}, records=str(folder), **settings
    )
    with open_language_model("gpt", known, "a") as model:
        answers = model.answer_all(requests(number))
        provenance = model.provenance()
    return answers, provenance


def test_open_language_model_counts_empty_answers_in_the_receipt(server, tmp_path):
    server.replies = [
        reply_of(None, "length", message={"content": None, "reasoning_content": "Owls"}),
        reply_of("Owls", "length"),
        *[reply_of("Owls.")] * 4,
    ]
    answers, provenance = ask_all(server, tmp_path, 6)
    assert [answer.text for answer in answers] == ["", "Owls", *["Owls."] * 4]
    assert provenance["answers"] == 6
    assert provenance["empty"] == {"token limit reached in reasoning": 1}
    assert provenance["cut_off"] == {"token limit": 1}
    # A replay counts them again.
    assert ask_all(server, tmp_path, 6)[1] == provenance and len(server.seen) == 6


def test_open_language_model_refuses_mostly_empty_answers(server, tmp_path):
    server.replies = [reply_of("", "length"), reply_of("Owls.")]
    with pytest.raises(EmptyAnswersError) as error:
        ask_all(server, tmp_path, 4)
    assert "1 of 4" in str(error.value) and "token limit: 1" in str(error.value)
    assert "largest_empty_share" in str(error.value)
    # The answers are recorded, and a larger share may be allowed.
    assert ask_all(server, tmp_path, 4, largest_empty_share=0.25)[1]["empty"] == {"token limit": 1}
    assert len(server.seen) == 4


def test_open_language_model_explains_an_error_by_empty_answers(server, tmp_path):
    server.replies = [reply_of("")]
    known = LanguageModels(endpoints={"gpt": server.settings()}, records=str(tmp_path))
    with (
        pytest.raises(EmptyAnswersError, match="no text"),
        open_language_model("gpt", known, "a") as model,
    ):
        model.answer_all(requests(2))
        raise ValueError("No answer cites a document.")


def test_recorded_answers_have_no_reasoning_but_the_record_does(server, tmp_path):
    server.replies = [reply_of("<think>Foxes [2]?</think>Owls [1].")]
    answers, _ = ask_all(server, tmp_path, 1)
    assert answers[0].text == "Owls [1]." and answers[0].reasoned
    line = json.loads((tmp_path / "a.jsonl").read_text())
    assert line["answer"]["text"] == "<think>Foxes [2]?</think>Owls [1]."
    # Records of answers without reasoning keep their form.
    assert "reasoned" not in line["answer"]
