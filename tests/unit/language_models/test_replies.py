"""Replies of servers: the shapes that differ between them, and bytes that are none."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    NotOfferedError,
    Request,
    chat,
)
from everycell.language_models.replies import InvalidReplyError, parse_answer, parse_model_names
from everycell.language_models.settings import Decoding

MODEL = Identity(name="m", host="h")
CHAT = Request(prompt=chat("Hi"), decoding=Decoding(logprobs=True))
TEXT = Request(prompt="1 + 1 =", decoding=Decoding())
SCORED = Request(prompt="1 + 1 =", continuation=" 2")

# Shortened, but with the fields that each server adds or leaves out.
REPLIES = {
    "OpenAI": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "gpt-9-2026",
        "system_fingerprint": "fp_1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Yes", "refusal": None},
                "logprobs": {
                    "content": [
                        {"token": "Yes", "logprob": -0.5, "bytes": [89], "top_logprobs": []}
                    ],
                    "refusal": None,
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 8, "completion_tokens": 1, "total_tokens": 9},
        "service_tier": "default",
    },
    "vLLM": {
        "model": "meta-llama/Meta-Llama-3-8B-Instruct",
        "choices": [
            {
                "message": {"role": "assistant", "content": "Yes", "reasoning_content": None},
                "logprobs": {"content": [{"token": "Yes", "logprob": -0.5}]},
                "finish_reason": "stop",
                "stop_reason": 128009,
            }
        ],
        "usage": {"prompt_tokens": 8, "completion_tokens": 1, "prompt_tokens_details": None},
        "prompt_logprobs": None,
    },
    "llama.cpp": {
        "choices": [
            {
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Yes"},
                "logprobs": {"content": [{"id": 9, "token": "Yes", "logprob": -0.5}]},
            }
        ],
        "model": "gguf",
        "system_fingerprint": "b9999",
        "usage": {"completion_tokens": 1, "prompt_tokens": 8},
        "timings": {"prompt_n": 8, "predicted_per_second": 12.5},
    },
}


@pytest.mark.parametrize("server", REPLIES)
def test_parse_answer_servers(server):
    answer = parse_answer(json.dumps(REPLIES[server]).encode(), CHAT, MODEL)
    assert (answer.text, answer.finish, answer.logprob) == ("Yes", "stop", -0.5)
    assert (answer.prompt_tokens, answer.answer_tokens) == (8, 1)
    assert answer.served_by.startswith(REPLIES[server]["model"])


@pytest.mark.parametrize("chat_request", [CHAT, TEXT, SCORED])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>Bad gateway</html>",
        b'{"error": {"message": "model not found", "type": "not_found_error"}}',
        b'{"choices": []}',
        b'{"choices": [{"message": 3}]}',
        b"[" * 100_000,
        "é".encode("utf-16"),
    ],
)
def test_parse_answer_invalid(content, chat_request):
    with pytest.raises(InvalidReplyError):
        parse_answer(content, chat_request, MODEL)
    assert parse_model_names(content) == []


def tokens_of(*texts, logprob=-0.5):
    return {"content": [{"token": text, "logprob": logprob} for text in texts]}


CHAT_STOP = Request(prompt=CHAT.prompt, decoding=Decoding(logprobs=True, stop=("\n",)))
BYTES = {"content": [{"token": "?", "logprob": -0.5, "bytes": [b]} for b in "Ja é".encode()]}


@pytest.mark.parametrize(
    ("chat_request", "text", "logprobs"),
    [
        (CHAT, "Yes", tokens_of("Ye", "s")),
        (CHAT, "Yes", tokens_of("Yes", "<|im_end|>")),
        (CHAT, "Yes", tokens_of("Yes", "")),
        (CHAT_STOP, "Yes", tokens_of("Yes", "\n\n")),
        (CHAT, "Ja é", BYTES),
    ],
)
def test_parse_answer_tokens(chat_request, text, logprobs):
    reply = {"choices": [{"message": {"content": text}, "logprobs": logprobs}]}
    answer = parse_answer(json.dumps(reply).encode(), chat_request, MODEL)
    assert "".join(token.text for token in answer.tokens).startswith(text)
    assert answer.logprob == -0.5 * len(logprobs["content"])


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize("text", ["Yes", ""])
@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"content": []},
        tokens_of("No"),
        tokens_of("Ye"),
        tokens_of("Yes", " but"),
        tokens_of(" Yes"),
    ],
)
def test_parse_answer_missing_or_other_tokens(text, logprobs):
    reply = {"choices": [{"message": {"content": text}, "logprobs": logprobs}]}
    with pytest.raises(NotOfferedError):
        parse_answer(json.dumps(reply).encode(), CHAT, MODEL)


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "logprobs",
    [
        {"tokens": [], "token_logprobs": []},
        {"tokens": ["1 + 1 =", " 2"], "token_logprobs": [None], "text_offset": [0, 7]},
        {"tokens": ["1 + 1 =", " 3"], "token_logprobs": [None, -1], "text_offset": [0, 7]},
        {"tokens": ["1 + 1 =", " 2", "!"], "token_logprobs": [None, -1, -1], "text_offset": [0, 7]},
    ],
)
def test_parse_answer_score(logprobs):
    reply = {"choices": [{"text": "1 + 1 = 2", "logprobs": logprobs}]}
    with pytest.raises(NotOfferedError):
        parse_answer(json.dumps(reply).encode(), SCORED, MODEL)


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize("field", ["prompt_tokens", "completion_tokens"])
@pytest.mark.parametrize("count", [-1, int("9" * 400), 10**12])
def test_parse_answer_invalid_token_count(field, count):
    reply = {"choices": [{"message": {"content": "Yes"}}], "usage": {field: count}}
    with pytest.raises(InvalidReplyError):
        parse_answer(
            json.dumps(reply).encode(), Request(prompt=CHAT.prompt, decoding=Decoding()), MODEL
        )


@pytest.mark.fault("endpoint")
def test_parse_answer_positive_logprob():
    reply = {"choices": [{"message": {"content": "a"}, "logprobs": tokens_of("a", logprob=3)}]}
    with pytest.raises(InvalidReplyError):
        parse_answer(json.dumps(reply).encode(), CHAT, MODEL)


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "content",
    [
        b'{"choices":[' + b"0," * 1_990_000 + b"0]}",
        b'{"choices":[' + b"{}," * 300_000 + b"{}]}",
        b'{"choices":[{"message":{},"logprobs":{"content":[' + b"1," * 900_000 + b"1]}}]}",
        b'{"data":[' + b"[]," * 300_000 + b"1]}",
    ],
    ids=["many", "choices", "tokens", "models"],
)
def test_parse_answer_bounded_memory(content):
    """In a process of its own, since what pydantic takes is not in Python's own accounts."""
    code = (
        "import sys, resource as r\n"
        "from test_replies import CHAT, MODEL, InvalidReplyError, parse_answer\n"
        "from test_replies import parse_model_names\n"
        "def taken(): return r.getrusage(r.RUSAGE_SELF).ru_maxrss\n"
        "content = sys.stdin.buffer.read(); before = taken()\n"
        "try: parse_answer(content, CHAT, MODEL)\n"
        "except InvalidReplyError: print(parse_model_names(content), (taken() - before) // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=content, capture_output=True, check=True,
        cwd=Path(__file__).parent,
    )  # fmt: skip
    names, megabytes = done.stdout.decode().rsplit(" ", 1)
    assert names == "[]" and int(megabytes) < 200


numbers = st.none() | st.floats() | st.integers(-5, 5)
values = st.recursive(
    numbers | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "logprobs", "text", "tokens", "token_logprobs"]
                + ["text_offset", "token", "logprob", "usage", "prompt_tokens", "finish_reason"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(
        st.fixed_dictionaries({}, optional={"text": values, "message": values, "logprobs": values}),
        max_size=2,
    ),
    st.sampled_from([CHAT, TEXT, SCORED]),
)
def test_parse_answer_any_reply(choices, chat_request):
    try:
        answer = parse_answer(json.dumps({"choices": choices}).encode(), chat_request, MODEL)
    except (InvalidReplyError, LanguageModelError):
        return
    assert isinstance(answer, Answer)


LOGPROBS = [-math.inf, -1e308, -9999.0, -1e5]
PLAIN = Request(prompt=CHAT.prompt, decoding=Decoding())


def parse(choice, request=CHAT, **more):
    return parse_answer(json.dumps({"choices": [choice]} | more).encode(), request, MODEL)


@pytest.mark.parametrize("value", LOGPROBS)
def test_parse_answer_impossible_token(value):
    """A probability of 0, in whatever way it is written; the record is valid JSON."""
    answer = parse({"message": {"content": "Yes"}, "logprobs": tokens_of("Yes", logprob=value)})
    assert math.exp(answer.logprob) == 0 and math.isfinite(answer.logprob)
    assert json.loads(answer.model_dump_json())["tokens"][0]["logprob"] == answer.logprob
    text = {"text": "a", "logprobs": {"tokens": ["a"], "token_logprobs": [value]}}
    assert parse(text, TEXT_LOGPROBS).logprob == answer.logprob


TEXT_LOGPROBS = Request(prompt="1 + 1 =", decoding=Decoding(logprobs=True))


@pytest.mark.parametrize("value", [math.nan, None, "NaN"])
def test_parse_answer_unknown_probability_of_one_token(value):
    logprobs = {"content": [{"token": "Y", "logprob": -0.5}, {"token": "es", "logprob": value}]}
    answer = parse({"message": {"content": "Yes"}, "logprobs": logprobs})
    assert [token.logprob for token in answer.tokens] == [-0.5, None]
    with pytest.raises(NotOfferedError, match="log-probabilities"):
        _ = answer.logprob
    # No token at all has one: the server does not offer them.
    with pytest.raises(NotOfferedError, match="h sent no log-probabilities of m"):
        parse({"message": {"content": "Yes"}, "logprobs": tokens_of("Yes", logprob=value)})


def test_parse_answer_score_without_a_probability():
    logprobs = {"tokens": ["1 + 1 =", " 2"], "token_logprobs": [None, math.nan]}
    logprobs |= {"text_offset": [0, 7]}
    with pytest.raises(NotOfferedError, match="no log-probabilities"):
        parse({"text": "1 + 1 = 2", "logprobs": logprobs}, SCORED)


TEXT_PART = {"type": "text", "text": "Yes"}


@pytest.mark.parametrize(
    ("content", "text", "finish", "reasoned"),
    [
        ([TEXT_PART], "Yes", "stop", False),
        (["Yes"], "Yes", "stop", False),
        ([{"text": "Yes"}], "Yes", "stop", False),
        ([{"type": "output_text", "text": "Ye"}, {"text": "s"}], "Yes", "stop", False),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "No [2]"}]}, TEXT_PART],
         "Yes", "stop", True),
        ([{"type": "reasoning", "text": "No [2]"}, TEXT_PART], "Yes", "stop", True),
        ([{"type": "thinking", "thinking": "No"}], "", "stop", True),
        ([{"type": "refusal", "refusal": "No."}], "No.", "refusal", False),
        ([TEXT_PART, {"type": "tool_use", "id": "a"}], "Yes", "stop", False),
        ([], "", "stop", False),
        ([{"type": "text", "text": None}], "", "stop", False),
    ],
)  # fmt: skip
def test_parse_answer_content_as_parts(content, text, finish, reasoned):
    answer = parse({"message": {"content": content}, "finish_reason": "stop"}, PLAIN)
    assert (answer.text, answer.finish, answer.reasoned) == (text, finish, reasoned)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_parse_answer_reasoning_in_its_own_field(field):
    answer = parse({"message": {"content": "Yes", field: "No [2]"}}, PLAIN)
    assert (answer.text, answer.reasoned) == ("Yes", True)
    message = {"content": None, field: "No [2]"}
    answer = parse({"message": message, "finish_reason": "length"}, PLAIN)
    assert (answer.text, answer.finish, answer.reasoned) == ("", "length", True)
    # With log-probabilities, an empty answer is empty, not an error.
    assert parse({"message": message, "finish_reason": "length"}).tokens is None


def test_parse_answer_tokens_of_reasoning_come_first():
    message = {"content": "Yes", "reasoning_content": "No"}
    answer = parse({"message": message, "logprobs": tokens_of("No", "</think>", "Y", "es", "</s>")})
    assert [token.text for token in answer.tokens] == ["Y", "es", "</s>"]


@pytest.mark.parametrize(
    ("choice", "text", "finish"),
    [
        ({"message": {"content": None, "refusal": "No."}}, "No.", "refusal"),
        ({"message": {"content": None, "tool_calls": [{}]}, "finish_reason": "tool_calls"},
         "", "tool_calls"),
        ({"message": {"content": None}, "finish_reason": "content_filter"}, "", "content_filter"),
        ({"message": {"content": "Yes"}, "finish_reason": "MAX_TOKENS"}, "Yes", "length"),
        ({"message": {"content": "Yes"}, "finish_reason": "end_turn"}, "Yes", "stop"),
        ({"message": {"content": "Yes"}, "finish_reason": None}, "Yes", "unknown"),
        # A server that answers a chat with a text.
        ({"text": "Yes", "finish_reason": "stop"}, "Yes", "stop"),
        ({"text": None, "finish_reason": "length"}, "", "length"),
    ],
)  # fmt: skip
def test_parse_answer_variations(choice, text, finish):
    answer = parse(choice, PLAIN)
    assert (answer.text, answer.finish) == (text, finish)


def test_parse_answer_logprobs_of_texts_in_a_chat():
    logprobs = {"tokens": ["Y", "es"], "token_logprobs": [-0.5, -0.25], "top_logprobs": None}
    assert parse({"message": {"content": "Yes"}, "logprobs": logprobs}).logprob == -0.75


@pytest.mark.parametrize(
    "tokens",
    [
        [{"token": "bytes:\\xc3", "logprob": -1}, {"token": "bytes:\\xa9", "logprob": -1}],
        [{"token": "bytes:\\xc3\\xa9", "logprob": -2}],
        [{"token": None, "logprob": -2, "bytes": [0xC3, 0xA9]}],
        [{"token": "token_id:7", "logprob": -2, "bytes": [0xC3, 0xA9]}],
    ],
)
def test_parse_answer_tokens_as_bytes(tokens):
    answer = parse({"message": {"content": "é"}, "logprobs": {"content": tokens}})
    assert "".join(token.text for token in answer.tokens) == "é" and answer.logprob == -2


@pytest.mark.parametrize(
    ("content", "received"),
    [
        (b"", "not JSON"),
        (b"<html>busy</html>", "not JSON"),
        (b"{}", "an empty object"),
        (b'{"error": {"message": "busy"}, "id": 1}', "'error'"),
        (b'{"choices": []}', "`choices` is empty"),
        (b'{"choices": null}', "choices"),
        (b'{"choices": [{"delta": {"content": "Yes"}}]}', "neither `message` nor `text`"),
        (b'{"choices": [{"message": "Yes"}]}', "message"),
        (b'{"choices": [{"message": {"content": {"text": "Yes"}}}]}', "content"),
        (b'{"choices": [{"message": {"content": [{"type": "image_url"}]}}]}', "'image_url'"),
        (b'{"choices": [{"message": {"content": 3}}]}', "content"),
    ],
)
def test_parse_answer_says_what_was_received(content, received):
    with pytest.raises(InvalidReplyError) as error:
        parse_answer(content, PLAIN, MODEL)
    assert received in str(error.value) and "\n" not in str(error.value)
