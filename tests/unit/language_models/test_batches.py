"""Batches of a local model: the same answers as one by one, halved where memory is full."""

import logging

import pytest
import torch
from tiny_language_model import ask, make_model, make_tokenizer
from transformers import MistralConfig, MistralForCausalLM

from everycell.language_models.answering import RecordedModel
from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    MemoryFullError,
    Request,
    answer_in_batches,
    chat,
)
from everycell.language_models.local import LocalModel
from everycell.language_models.records import Record, read_record

pytestmark = pytest.mark.usefixtures("one_torch_thread")

TEXTS = ["a", "Where is Delft?", "12345678", "The answer is as long as this: " * 2, "b " * 9]


def toy(**changed):
    return LocalModel(make_model(**changed), make_tokenizer(), Identity(name="toy"))


def sliding():
    torch.manual_seed(0)
    config = MistralConfig(
        vocab_size=258,
        hidden_size=16,
        intermediate_size=16,
        num_attention_heads=2,
        num_hidden_layers=2,
        num_key_value_heads=1,
        sliding_window=6,
        initializer_range=0.5,
        eos_token_id=257,
    )
    return LocalModel(MistralForCausalLM(config).eval(), make_tokenizer(), Identity(name="window"))


def same(first, expected):
    assert [token.logprob for token in first.tokens or ()] == pytest.approx(
        [token.logprob for token in expected.tokens or ()], abs=1e-5
    )
    without = {"tokens": None}
    assert first.model_copy(update=without) == expected.model_copy(update=without)


@pytest.mark.parametrize("make", [toy, sliding])
@pytest.mark.parametrize(
    "decoding",
    [
        {},
        {"logprobs": True},
        {"temperature": 1.5, "logprobs": True},
        {"temperature": 0.7, "top_p": 0.8, "logprobs": True},
        {"stop": ("z", "é", "(")},
    ],
)
def test_answer_batch_equals_single_answers(make, decoding):
    drawn = "temperature" in decoding
    requests = [
        ask(text, seed=number if drawn else None, **decoding) for number, text in enumerate(TEXTS)
    ]
    alone = [make().answer(request) for request in requests]
    model = make()
    for order in (1, -1):
        result = model.answer_batch(requests[::order])
        for answer, expected in zip(result[::order], alone, strict=True):
            same(answer, expected)
    if drawn:
        # One seed, whatever the other requests are.
        again = model.answer_batch([requests[3], requests[0], requests[0]])
        assert [answer.text for answer in again] == [alone[n].text for n in (3, 0, 0)]


def test_answer_batch_rows_end_separately():
    model = toy()
    full = [model.answer(ask(text)) for text in TEXTS]
    stop = next(answer.text for answer in full if len(answer.text) > 8)[3:5]
    requests = [ask(text, stop=(stop,), logprobs=True) for text in TEXTS]
    alone = [model.answer(request) for request in requests]
    # Some rows go on where others have ended.
    assert {answer.finish for answer in alone} == {"stop", "length"}
    assert any(stop in answer.text for answer in full)
    for result, expected in zip(model.answer_batch(requests), alone, strict=True):
        same(result, expected)


def test_answer_batch_end_tokens_end_one_row():
    model = make_model()
    # Every ninth token ends an answer, so that some answers end by themselves and others do not.
    model.generation_config.eos_token_id = list(range(0, 258, 9))
    model = LocalModel(model, make_tokenizer(), Identity(name="toy"))
    requests = [
        ask(letter, temperature=1.5, seed=seed, logprobs=True)
        for seed, letter in enumerate("abcdefgh")
    ]
    alone = [model.answer(request) for request in requests]
    assert {answer.finish for answer in alone} == {"stop", "length"}
    for result, expected in zip(model.answer_batch(requests), alone, strict=True):
        same(result, expected)


@pytest.mark.parametrize("make", [toy, sliding])
def test_answer_batch_scores_equal_single_scores(make):
    pairs = [("a", "bc"), ("Where is Delft?", " In Holland, I think."), ("b " * 9, "x")]
    requests = [Request(prompt=prompt, continuation=after) for prompt, after in pairs]
    model = make()
    for result, request in zip(model.answer_batch(requests), requests, strict=True):
        same(result, make().answer(request))


def test_answer_batch_chat_template():
    requests = [ask(chat(text), logprobs=True) for text in ("Where?", "Who is it, then?")]
    model = toy()
    for result, request in zip(model.answer_batch(requests), requests, strict=True):
        same(result, model.answer(request))


class Small:
    """Has memory for some requests at once."""

    identity = Identity(name="small")

    def __init__(self, room, broken=()):
        self.room, self.broken, self.sizes = room, broken, []

    def answer_batch(self, requests):
        self.sizes.append(len(requests))
        if len(requests) > self.room:
            raise MemoryFullError("too many")
        if any(request.text in self.broken for request in requests):
            raise LanguageModelError("broken")
        return [Answer(text=request.text, finish="stop") for request in requests]


def test_answer_in_batches_halves_a_batch_beyond_memory(caplog):
    requests = [ask("x" * length) for length in range(1, 12)]
    model = Small(3)
    with caplog.at_level(logging.WARNING):
        batches = list(answer_in_batches(model, requests, 8))
    assert model.sizes == [8, 4, 2, 2, 2, 2, 2, 1]
    assert caplog.messages[0].startswith("small: a batch of 8 requests does not fit")
    assert [len(request.text) for batch in batches for request, _ in batch] == list(
        range(11, 0, -1)
    )
    with pytest.raises(MemoryFullError):
        list(answer_in_batches(Small(0), requests, 8))


def test_answer_in_batches_separates_kinds():
    requests = [
        ask("a"),
        ask("ab", max_tokens=3),
        Request(prompt="a", continuation="b"),
        ask("abc"),
        ask("abcd", seed=1),
    ]
    batches = [
        sorted(request.text for request, _ in batch)
        for batch in answer_in_batches(Small(9), requests, 9)
    ]
    assert sorted(batches) == [["a"], ["a", "abc", "abcd"], ["ab"]]


def test_answer_batch_out_of_memory(monkeypatch):
    model = toy()

    def full(**_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(model._model, "generate", lambda *_, **__: full())
    with pytest.raises(MemoryFullError, match="not enough memory for 1 prompts of up to 1"):
        model.answer(ask("a"))


def test_recorded_keeps_batches_before_an_error(tmp_path):
    requests = [ask("x" * length) for length in range(1, 8)]
    path = tmp_path / "a.jsonl"
    with Record(path) as record:
        model = RecordedModel(record, Small.identity, lambda: Small(9, broken=("xx",)), batch=3)
        with pytest.raises(LanguageModelError, match="broken"):
            model.answer_all(requests)
        assert model.requests_sent == 3
    assert len(read_record(path)) == 3
    mended = Small(9)
    with Record(path) as record:
        model = RecordedModel(record, Small.identity, lambda: mended, batch=3)
        answers = model.answer_all([*requests, requests[0]])
    assert [answer.text for answer in answers] == [r.text for r in [*requests, requests[0]]]
    # Those that are recorded are in no batch.
    assert mended.sizes == [3, 1]
