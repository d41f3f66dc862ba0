"""Replies of servers: the shapes that differ between them, and bytes that are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    Request,
    chat,
)
from everycell.language_models.replies import NoReplyError, parse_answer, parse_model_names
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
def test_replies_of_servers_are_read_alike(server):
    answer = parse_answer(json.dumps(REPLIES[server]).encode(), CHAT, MODEL)
    assert (answer.text, answer.finish, answer.logprob) == ("Yes", "stop", -0.5)
    assert (answer.prompt_tokens, answer.answer_tokens) == (8, 1)
    assert answer.served_by.startswith(REPLIES[server]["model"])


@pytest.mark.parametrize("asked", [CHAT, TEXT, SCORED])
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
def test_what_is_no_reply_is_said_to_be_none(content, asked):
    with pytest.raises(NoReplyError):
        parse_answer(content, asked, MODEL)
    assert parse_model_names(content) == []


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
def test_whatever_comes_is_an_answer_or_is_refused(choices, asked):
    try:
        answer = parse_answer(json.dumps({"choices": choices}).encode(), asked, MODEL)
    except (NoReplyError, LanguageModelError):
        return
    assert isinstance(answer, Answer)
