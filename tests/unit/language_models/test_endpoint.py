"""A language model behind a server, against a local one that misbehaves on demand."""

import base64
import json
import logging
import random
import re
import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import quote

import pytest
from language_model_server import Server, reply_of

from everycell.base.settings import ConfigError
from everycell.config import parse_config
from everycell.language_models import endpoint as endpoint_module
from everycell.language_models.answering import (
    ChangedModelError,
    RecordedModel,
    open_language_model,
)
from everycell.language_models.costs import Budget
from everycell.language_models.endpoint import Endpoint, EndpointError, endpoint_identity
from everycell.language_models.generation import (
    Answer,
    Grounded,
    LanguageModelError,
    Message,
    NotOfferedError,
    Request,
    chat,
    prompt_hash,
)
from everycell.language_models.records import Record, key_of, read_record
from everycell.language_models.settings import Decoding, EndpointSettings, LanguageModels, Prices

SECRET = "sk-very-secret-7"
VARIABLE = "EVERYCELL_TEST_KEY"
ASKED = Request(prompt=chat("Where is Delft?"), decoding=Decoding(max_tokens=5))


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def waits(monkeypatch):
    """Recorded pauses between attempts, without waiting."""
    seconds = []
    monkeypatch.setattr("tenacity.nap.time.sleep", seconds.append)
    return seconds


def test_answer_request_and_reply(server):
    requests = Request(
        prompt=chat("Where is Delft?", system="Be brief."),
        decoding=Decoding(max_tokens=5, temperature=0.5, top_p=0.9, seed=3, stop=("\n",)),
    )
    answer = Endpoint(server.settings()).answer(requests)
    assert (answer.text, answer.finish) == ("In Holland.", "stop")
    assert (answer.prompt_tokens, answer.answer_tokens) == (4, 3)
    assert answer.served_by == "gpt-9-2026 fp_1" and answer.tokens is None
    ((path, body, headers),) = server.seen
    assert path == "/v1/chat/completions" and "Authorization" not in headers
    assert body == {
        "model": "gpt-9",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Where is Delft?"},
        ],
        "max_tokens": 5,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "stop": ["\n"],
    }


def test_answer_length_parameter(server):
    Endpoint(server.settings(length_parameter="max_completion_tokens")).answer(ASKED)
    assert server.seen[0][1]["max_completion_tokens"] == 5 and "max_tokens" not in server.seen[0][1]


def test_answer_extra_fields(server):
    settings = server.settings(extra={"top_k": -1, "repetition_penalty": 1.0, "top_p": None})
    Endpoint(settings).answer(ASKED)
    body = server.seen[0][1]
    assert (body["top_k"], body["repetition_penalty"]) == (-1, 1.0) and "top_p" not in body
    # Answers depend on them, so they are recorded under another key.
    assert endpoint_identity(settings) != endpoint_identity(server.settings())


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "other",
    [
        "http://h:8000/v1",
        "https://h:8001/v1",
        "https://h:8000/v2",
        "https://h:8000",
        "https://g/v1",
    ],
)
def test_endpoint_identity_other_address(other):
    first, second = (
        endpoint_identity(EndpointSettings(url=url, model="m"))
        for url in ("https://h:8000/v1", other)
    )
    assert first != second


@pytest.mark.parametrize("same", ["https://H/v1", "https://h:443/v1", "https://h/v1/"])
def test_endpoint_identity_same_address(same):
    first, second = (
        endpoint_identity(EndpointSettings(url=url, model="m")) for url in ("https://h/v1", same)
    )
    assert first == second


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"version": 'x {"a": 1}'}, {"version": "x", "extra": {"a": 1}}),
        ({"version": '{"a": 1}'}, {"extra": {"a": 1}}),
        ({"version": "x", "extra": {"a": 1}}, {"version": "x", "extra": {"a": True}}),
        ({"extra": {"a": "1"}}, {"extra": {"a": 1}}),
        ({"extra": {"a": None}}, {}),
        ({"model": "m x"}, {"version": "x"}),
    ],
)
def test_endpoint_identity_other_fields(first, second):
    keys = {
        key_of(
            endpoint_identity(EndpointSettings(**{"url": "https://h/v1", "model": "m"} | fields)),
            ASKED,
        )
        for fields in (first, second)
    }
    assert len(keys) == 2


#: Fields of a reply that does not name its model.
UNNAMED = {"model": None, "system_fingerprint": None}


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize("may_change", [False, True])
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(
    ("first", "other"),
    [
        ({}, {"model": "llama-3"}),
        ({}, {"system_fingerprint": "fp_2"}),
        ({}, {"model": "gpt-9-2027"}),
        # A server that no longer says what it is, or did not say so before.
        ({}, UNNAMED),
        (UNNAMED, {}),
    ],
)
def test_recorded_other_model_at_same_address(server, tmp_path, first, other, workers, may_change):
    replies = [{**reply_of("One."), **fields} for fields in (first, other, other)]
    server.replies = [*replies]
    endpoint = server.settings(workers=workers, may_change=may_change)
    known = LanguageModels(endpoints={"gpt": endpoint}, records=str(tmp_path))
    requests = [Request(prompt=text, decoding=ASKED.decoding) for text in "abc"]

    def answer_all() -> list[Answer]:
        with open_language_model("gpt", known, "a") as model:
            return [answer for request in requests for answer in model.answer_all([request])]

    if may_change:
        assert len(answer_all()) == 3
        return
    with pytest.raises(ChangedModelError, match=re.escape(str(tmp_path / "a.jsonl"))):
        answer_all()
    served = {entry.answer.served_by for entry in read_record(tmp_path / "a.jsonl").values()}
    assert len(served) == 1


@pytest.mark.fault("endpoint")
def test_recorded_other_server(server, tmp_path):
    """On one host, with the same model: by another port, and by another path."""
    second = Server()
    second.replies = [reply_of("In Indiana.")]
    gateway = server.settings().url + "/gateway"
    texts, urls = [], []
    try:
        for settings in (server.settings(), second.settings(), server.settings(url=gateway)):
            known = LanguageModels(endpoints={"gpt": settings}, records=str(tmp_path))
            with open_language_model("gpt", known, "a") as model:
                texts.append(model.answer(ASKED).text)
                urls.append(model.provenance()["model"]["url"])
    finally:
        second.close()
    assert texts == ["In Holland.", "In Indiana.", "In Holland."]
    assert len(set(urls)) == 3 and (len(server.seen), len(second.seen)) == (2, 1)


def test_answer_unknown_model(server):
    server.replies = [(404, {}, {"error": {"message": "no such model"}})]
    with pytest.raises(EndpointError, match="no such model.*lists the models gpt-8, gpt-9"):
        Endpoint(server.settings()).answer(ASKED)
    assert server.looked_up == ["/v1/models"] and len(server.seen) == 1
    server.models = []
    assert Endpoint(server.settings()).model_names() == []


@pytest.mark.parametrize(
    ("listed", "page", "instead"),
    [
        (["gpt-8", "gpt-9"], 20, []),
        (["models/gpt-8", "models/gpt-9"], 20, []),
        # The list is cut, and the server knows the model all the same.
        (["gpt-8", "gpt-9"], 1, []),
        (["gpt-8", "gpt-10"], 20, ["gpt-8", "gpt-10"]),
        ([], 20, []),
    ],
)
def test_alternative_models(server, listed, page, instead):
    server.models, server.page = listed, page
    assert Endpoint(server.settings()).alternative_models() == instead


def test_answer_logprobs_of_chat(server):
    logprobs = {"content": [{"token": "In", "logprob": -0.5}, {"token": " H", "logprob": 1e-9}]}
    server.replies = [reply_of("In H", logprobs=logprobs)]
    requests = Request(prompt=ASKED.prompt, decoding=Decoding(logprobs=True))
    answer = Endpoint(server.settings()).answer(requests)
    assert [(token.text, token.logprob) for token in answer.tokens] == [("In", -0.5), (" H", 0.0)]
    assert server.seen[0][1]["logprobs"] is True


@pytest.mark.parametrize("logprobs", [None, {"tokens": ["a"], "token_logprobs": [None]}])
def test_answer_logprobs_not_offered(server, logprobs):
    server.replies = [{"choices": [{"text": "a", "logprobs": logprobs}]}]
    with pytest.raises(NotOfferedError, match="127.0.0.1 sent no log-probabilities of gpt-9"):
        Endpoint(server.settings()).answer(Request(prompt="a", decoding=Decoding(logprobs=True)))
    assert len(server.seen) == 1


def echo(text, offsets, values):
    tokens = [text[a:b] for a, b in zip(offsets, [*offsets[1:], None], strict=True)]
    parts = {"tokens": tokens, "token_logprobs": values, "text_offset": offsets}
    return {"choices": [{"text": text, "logprobs": parts, "finish_reason": "length"}]}


def test_answer_score_from_echoed_prompt(server):
    server.replies = [echo("1 + 1 = 22", [0, 2, 4, 8, 9], [None, -1.0, -2.0, -0.25, -3.0])]
    requests = Request(prompt="1 + 1 = ", continuation="22")
    answer = Endpoint(server.settings()).answer(requests)
    assert answer.logprob == -3.25 and answer.answer_tokens == 2 and answer.finish == "scored"
    path, body, _ = server.seen[0]
    assert path == "/v1/completions"
    assert (body["prompt"], body["echo"], body["max_tokens"]) == ("1 + 1 = 22", True, 0)


def test_answer_score_not_offered(server):
    requests = Request(prompt="1 + 1 = ", continuation="22")
    server.replies = [echo("1 + 1 = 22", [0, 7], [None, -1.0])]
    with pytest.raises(LanguageModelError, match="spans the end of the prompt .* '22'"):
        Endpoint(server.settings()).answer(requests)
    server.replies = [{"choices": [{"text": "22"}]}]
    with pytest.raises(NotOfferedError, match="no log-probabilities"):
        Endpoint(server.settings()).answer(requests)
    with pytest.raises(NotOfferedError, match="cannot score a continuation of messages"):
        Endpoint(server.settings()).answer(Request(prompt=chat("1 + 1"), continuation="2"))


@pytest.mark.parametrize(
    ("reply", "text", "finish"),
    [
        (reply_of(""), "", "stop"),
        (reply_of(None), "", "stop"),
        (reply_of("word " * 10_000, "length"), "word " * 10_000, "length"),
        (reply_of("I cannot help with that."), "I cannot help with that.", "stop"),
        ({"choices": [{"message": {"content": None, "refusal": "No."}}]}, "No.", "refusal"),
        (reply_of("Ich weiß nicht. 我不知道"), "Ich weiß nicht. 我不知道", "stop"),
        (reply_of("cut", "content_filter"), "cut", "content_filter"),
    ],
)
def test_answer_unusual_reply(server, reply, text, finish):
    server.replies = [reply]
    answer = Endpoint(server.settings()).answer(ASKED)
    assert (answer.text, answer.finish) == (text, finish)
    assert len(server.seen) == 1


@pytest.mark.fault("endpoint")
def test_answer_reply_too_large(server, monkeypatch):
    monkeypatch.setattr(endpoint_module, "_MAX_BYTES", 1000)
    server.replies = [reply_of("word " * 1000)]
    with pytest.raises(EndpointError, match="it ignores max_tokens"):
        Endpoint(server.settings()).answer(ASKED)
    assert len(server.seen) == 1


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize("fault", [(500, {}, b"oops"), (503, {}, b""), (408, {}, b"")])
def test_answer_retries_temporary_errors(server, waits, fault):
    server.replies = [fault, fault, reply_of()]
    assert Endpoint(server.settings(wait=4.0)).answer(ASKED).text == "In Holland."
    assert len(server.seen) == 3
    # Doubled, with up to `wait` at random, so that many workers do not come back together.
    assert 4 <= waits[0] <= 8 <= waits[1] <= 12


def test_answer_retries_count_against_budget(server, waits):
    server.replies = [(500, {}, b"oops")]
    budget = Budget(Prices(answer=1e6), money=3 * ASKED.decoding.max_tokens)
    budget.spend("m", ASKED)
    endpoint = Endpoint(server.settings(retries=5), budget)
    with pytest.raises(LanguageModelError, match="status 500.*There was no retry.*`budget` of 15"):
        endpoint.answer(ASKED)
    # The first time, and two retries.
    assert len(server.seen) == 3


def test_recorded_budget_after_retries(server, waits, tmp_path):
    server.replies = [(500, {}, b"oops"), (500, {}, b"oops"), reply_of()]
    requests = [Request(prompt=chat(text), decoding=Decoding(max_tokens=10)) for text in "abcde"]
    budget = Budget(Prices(answer=1e6), money=50)
    with Record(tmp_path / "a.jsonl") as record:
        endpoint = Endpoint(server.settings(retries=5), budget)
        model = RecordedModel(record, endpoint.identity, lambda: endpoint, budget=budget)
        with pytest.raises(LanguageModelError, match="One more request .* above the `budget` of"):
            model.answer_all(requests)
    assert len(server.seen) == 5 and model.requests_sent == 3


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "content",
    [b"<html>busy</html>", b"", b'{"choices": [', b'{"choices": []}', b'{"choices": [{}]}', b"3"],
)
def test_answer_malformed_reply(server, content):
    server.replies = [(200, {}, content), reply_of()]
    assert Endpoint(server.settings()).answer(ASKED).text == "In Holland."
    server.replies = [(200, {}, content)]
    with pytest.raises(EndpointError, match="127.0.0.1 sent an invalid reply .*address"):
        Endpoint(server.settings()).answer(ASKED)
    assert len(server.seen) == 2 + 3


def test_answer_retry_after(server, waits):
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    server.replies = [
        (429, {"Retry-After": "7"}, {"error": {"message": "slow down"}}),
        (429, {"Retry-After": later}, b""),
        (429, {"Retry-After": "86400"}, b""),
        reply_of(),
    ]
    assert Endpoint(server.settings(retries=3)).answer(ASKED).text == "In Holland."
    assert waits[0] == 7 and 0 < waits[1] <= 100 and waits[2] == 600


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "absurd",
    ["Wed, 21 Oct 2015 07:28:00 +9999", "Fri, 31 Dec 9999 23:59:59 -2359", "nan", "inf", "1e999"]
    + [
        "Mon, 01 Jan 0001 00:00:00 +2359",
        "Wed, 21 Oct 2015 07:28:00 +" + "9" * 30,
        "-" + "9" * 500,
    ],
)
def test_answer_absurd_retry_after(server, waits, absurd):
    server.replies = [(429, {"Retry-After": absurd}, b""), reply_of()]
    assert Endpoint(server.settings()).answer(ASKED).text == "In Holland."
    assert len(waits) == 1 and 0 <= waits[0] <= 600


@pytest.mark.fault("endpoint")
def test_answer_busy_server(server, waits):
    server.replies = [(429, {}, {"error": {"message": "slow\n down"}})]
    with pytest.raises(EndpointError, match="status 429 .*slow.*each time; try again later"):
        Endpoint(server.settings()).answer(ASKED)
    assert len(server.seen) == 3


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "fault",
    [
        (400, {}, {"error": {"message": "no such parameter"}}),
        (404, {}, b"not found"),
        (302, {"Location": "http://127.0.0.1:1/"}, b""),
        (429, {}, {"error": {"code": "insufficient_quota"}}),
    ],
)
def test_answer_permanent_error(server, fault):
    server.replies = [fault]
    with pytest.raises(EndpointError, match=f"rejects the request .status {fault[0]}"):
        Endpoint(server.settings()).answer(ASKED)
    assert len(server.seen) == 1


def hang(handler, body):
    server_closes = handler.server.closing_event
    server_closes.wait(60)


def drip(handler, body):
    """Send a byte now and then: no single read takes long."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while not handler.server.closing_event.wait(0.02):
            handler.wfile.write(b" ")
            handler.wfile.flush()
    except OSError:
        pass


def pour(part):
    """Send a part of a reply repeatedly, without an end."""

    def behave(handler, body):
        try:
            if part.endswith(b"1\r\n1\r\n"):
                handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            if part == b"X":
                handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not handler.server.closing_event.wait(0.02):
                handler.wfile.write(part)
                handler.wfile.flush()
        except OSError:
            pass

    return behave


@pytest.mark.slow
@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "behave",
    [
        hang,
        drip,
        pytest.param(pour(b"X"), id="a header"),
        pytest.param(pour(b"HTTP/1.1 102 Processing\r\n\r\n"), id="1xx"),
        pytest.param(pour(b"1\r\n1\r\n"), id="chunks"),
    ],
)
def test_answer_timeout(server, behave):
    server.http.closing_event = server.closing
    server.replies = [behave]
    with pytest.raises(EndpointError, match="127.0.0.1 did not answer within 0.2 s; raise `timeo"):
        Endpoint(server.settings(timeout=0.2, retries=1)).answer(ASKED)
    assert len(server.seen) == 2


@pytest.mark.fault("endpoint")
def test_answer_broken_connection(server):
    def break_off(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"{")
        handler.close_connection = True

    server.replies = [break_off, reply_of()]
    assert Endpoint(server.settings()).answer(ASKED).text == "In Holland."
    gone = server.settings(retries=0)
    server.close()
    with pytest.raises(
        EndpointError, match="could not be reached or closed the connection .ConnectError"
    ):
        Endpoint(gone).answer(ASKED)


def test_key_is_sent_and_stored_nowhere(server, monkeypatch, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    # A job silences the client, also for the tests after it in the same process.
    caplog.set_level(logging.DEBUG, logger="httpx2")
    monkeypatch.setenv(VARIABLE, SECRET + "\n")
    settings = LanguageModels(
        endpoints={"gpt": server.settings(key=VARIABLE)}, records=str(tmp_path / "records")
    )
    server.replies = [(500, {}, f"key {SECRET} is fine, but".encode()), reply_of()]
    with open_language_model("gpt", settings, "a") as model:
        model.answer(ASKED)
        output = repr(model.provenance()) + repr(settings) + repr(model.identity)
    assert server.seen[0][2]["Authorization"] == f"Bearer {SECRET}"
    for path in (tmp_path / "records").iterdir():
        output += path.read_text()
    # The client logs each request; a job silences it.
    assert "HTTP Request: POST" in caplog.text and "gpt-9" in output
    assert SECRET not in output and SECRET not in caplog.text


@pytest.mark.parametrize(
    "url", ["https://api.example.org", "http://localhost:8000", "http://127.0.0.2", "http://[::1]"]
)
def test_endpoint_settings_key_over_plain_http(url):
    settings = parse_config(config(url=url, key=VARIABLE)).language_models.endpoints["gpt"]
    assert settings.key == VARIABLE


def test_answer_local_server_bypasses_proxy(server, monkeypatch):
    proxy = Server()
    proxy.replies = [(502, {}, b"")]
    for variable in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.http.server_port}")
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(VARIABLE, SECRET)
    assert Endpoint(server.settings(key=VARIABLE)).answer(ASKED).text == "In Holland."
    proxy.close()
    assert len(server.seen) == 1 and not proxy.seen


@pytest.mark.parametrize("status", [401, 403, 400, 500])
def test_answer_errors_omit_the_key(server, monkeypatch, status):
    monkeypatch.setenv(VARIABLE, SECRET)
    server.replies = [(status, {}, {"error": {"message": f"Incorrect API key: {SECRET}"}})]
    with pytest.raises(EndpointError) as caught:
        Endpoint(server.settings(key=VARIABLE, retries=0)).answer(ASKED)
    assert SECRET not in str(caught.value) and caught.value.__cause__ is None
    if status in (401, 403):
        assert f"rejects the key in the environment variable {VARIABLE}" in str(caught.value)


LONG = "sk-proj/aB3+dE6fG9hJ2kL5mN8pQ1"


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    "spelling",
    [
        LONG,
        json.dumps(LONG).replace("/", "\\/"),
        LONG.replace("+", "\\u002b"),
        LONG.replace("+", "\\\\u002b"),
        "".join(f"\\u{ord(letter):04x}" for letter in LONG),
        quote(LONG, safe=""),
        quote(quote(LONG, safe=""), safe=""),
        base64.b64encode(f"Bearer {LONG}".encode()).decode(),
        base64.b64encode(LONG.encode()).decode(),
        LONG.encode().hex(),
        LONG[::-1],
        " ".join(LONG),
        LONG[:9] + "<br>\n" + LONG[9:],
        "&#" + ";&#".join(str(ord(letter)) for letter in LONG) + ";",
        LONG.upper(),
        f"...{LONG[8:24]}...",
        "".join(f"\\\\U{ord(letter):08x}" for letter in LONG),
        "".join(f"\\\\u{{{ord(letter):x}}}" for letter in LONG),
        "".join(f"\\\\{ord(letter):03o}" for letter in LONG),
        "".join(f"%u{ord(letter):04x}" for letter in LONG),
        "".join(chr(ord(letter) + 0xFEE0) for letter in LONG),
        base64.b64encode(LONG.encode()).decode()[:30],
        LONG.encode().hex()[9:40],
        LONG.encode().hex(" "),
        "".join(f"={letter:02X}" for letter in LONG.encode()),
        base64.b32encode(f"Bearer {LONG}".encode()).decode(),
        base64.b32encode(LONG.encode()).decode().lower(),
        base64.b64encode(base64.b64encode(f"a {LONG}".encode())).decode(),
        base64.urlsafe_b64encode(b"a " + base64.b64encode(LONG.encode())).decode(),
        "-".join(LONG),
    ],
)
def test_answer_quoted_key_is_neither_shown_nor_kept(server, monkeypatch, tmp_path, spelling):
    monkeypatch.setenv(VARIABLE, LONG)
    requests = Endpoint(server.settings(key=VARIABLE, retries=0))
    server.replies = [(400, {}, f'{{"error": "wrong: {spelling}"}}'.encode())]
    with pytest.raises(EndpointError, match="omitted: it quotes the key") as caught:
        requests.answer(ASKED)
    assert spelling not in str(caught.value)
    settings = LanguageModels(
        endpoints={"gpt": server.settings(key=VARIABLE)}, records=str(tmp_path / "records")
    )
    server.replies = [reply_of(f"Your key is {spelling}")]
    with (
        open_language_model("gpt", settings, "a") as model,
        pytest.raises(EndpointError, match="quotes the key .*so the answer was discarded"),
    ):
        model.answer(ASKED)
    remaining = "".join(path.read_text() for path in (tmp_path / "records").iterdir())
    assert spelling not in remaining


@pytest.mark.parametrize(
    "changes",
    [
        {
            "content": [
                {"type": "text", "text": LONG[start : start + 8]} for start in (0, 8, 16, 24)
            ]
        },
        {"model": LONG[:13], "system_fingerprint": LONG[13:]},
    ],
    ids=["parts", "names"],
)
def test_answer_key_in_pieces_is_not_kept(server, monkeypatch, changes):
    """A key that only the joined parts of a reply spell is refused, and pieces are not shown."""
    monkeypatch.setenv(VARIABLE, LONG)
    message = {"content": changes.pop("content", "In Holland.")}
    reply = {"choices": [{"message": message, "finish_reason": "stop"}]} | changes
    server.replies = [(200, {}, reply), (400, {}, reply)]
    model = Endpoint(server.settings(key=VARIABLE, retries=0))
    with pytest.raises(EndpointError, match="quotes the key"):
        model.answer(ASKED)
    with pytest.raises(EndpointError, match="omitted: it quotes the key"):
        model.answer(ASKED)


def test_model_names_key_in_pieces(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, LONG)
    server.models = [LONG[:9], LONG[9:]]
    assert Endpoint(server.settings(key=VARIABLE)).model_names() == []


def test_answer_short_key_may_be_quoted(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, "Holland")
    assert Endpoint(server.settings(key=VARIABLE)).answer(ASKED).text == "In Holland."


@pytest.mark.parametrize(
    ("key", "message"), [("", "is not set"), ("a b", "does not contain a valid key")]
)
def test_answer_missing_key(server, monkeypatch, key, message):
    monkeypatch.setenv(VARIABLE, key)
    with pytest.raises(EndpointError, match=f"{VARIABLE} {message}"):
        Endpoint(server.settings(key=VARIABLE)).answer(ASKED)
    assert not server.seen


def test_answer_server_requires_key(server):
    server.replies = [(401, {}, b"")]
    with pytest.raises(EndpointError, match="rejects requests without a key .set `key`"):
        Endpoint(server.settings()).answer(ASKED)


def test_answer_requests_per_minute(server, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(endpoint_module.time, "monotonic", lambda: now[0])
    slept = []
    monkeypatch.setattr(endpoint_module.time, "sleep", slept.append)
    requests = Endpoint(server.settings(requests_per_minute=6.0))
    for _ in range(3):
        requests.answer(ASKED)
    assert slept == [0, 10, 20]
    now[0] += 100
    requests.answer(ASKED)
    assert slept[-1] == 0


def test_recorded_parallel_workers(server, tmp_path):
    together = threading.Barrier(3, timeout=30)

    def meet(handler, body):
        together.wait()
        return reply_of(body["messages"][0]["content"])

    server.replies = [meet]
    settings = LanguageModels(
        endpoints={"gpt": server.settings(workers=3)}, records=str(tmp_path), keep_prompts=False
    )
    requests = [Request(prompt=chat(letter), decoding=Decoding()) for letter in "abcdef"]
    with open_language_model("gpt", settings, "a") as model:
        assert [answer.text for answer in model.answer_all(requests)] == list("abcdef")
    assert len(server.seen) == 6
    names = sorted(path.name for path in tmp_path.glob("*.jsonl"))
    assert names == ["a.jsonl", "a.runs.jsonl"]
    (speed,) = (tmp_path / "a.runs.jsonl").read_text().splitlines()
    result = json.loads(speed)
    assert (result["name"], result["host"], result["answers"]) == ("gpt-9", "127.0.0.1", 6)
    assert (result["prompt_tokens"], result["answer_tokens"]) == (24, 18)


@pytest.mark.fault("endpoint")
def test_recorded_resumes_after_an_error(server, tmp_path):
    settings = LanguageModels(
        endpoints={"gpt": server.settings(workers=1, retries=0)}, records=str(tmp_path)
    )
    requests = [Request(prompt=chat(letter), decoding=Decoding()) for letter in "abcd"]
    server.replies = [reply_of("A"), reply_of("B"), (500, {}, b"")]
    with open_language_model("gpt", settings, "run") as model:
        with pytest.raises(EndpointError, match="status 500"):
            model.answer_all(requests)
    answered = len(read_record(tmp_path / "run.jsonl"))
    assert answered == 2
    server.replies, server.seen = [reply_of("C"), reply_of("D")], []
    with open_language_model("gpt", settings, "run") as model:
        assert [answer.text for answer in model.answer_all(requests)] == list("ABCD")
    sent = [body["messages"][0]["content"] for _, body, _ in server.seen]
    assert sent == ["c", "d"]
    replay = settings.model_copy(update={"ask": False})
    server.close()
    with open_language_model("gpt", replay, "run") as model:
        assert model.answer_all(requests)[3].text == "D"


RUN = """
import sys
from everycell.language_models.settings import Decoding, LanguageModels
from everycell.language_models.answering import open_language_model
from everycell.language_models.generation import Request, chat

settings = LanguageModels.model_validate_json(sys.argv[1])
asked = [Request(prompt=chat(letter), decoding=Decoding()) for letter in "abcdef"]
with open_language_model("gpt", settings, "run") as model:
    print("".join(answer.text for answer in model.answer_all(asked)), model.requests_sent)
"""


@pytest.mark.fault("endpoint")
def test_recorded_resumes_after_a_kill(server, tmp_path):
    settings = LanguageModels(
        endpoints={"gpt": server.settings(workers=1)}, records=str(tmp_path / "records")
    )
    command = [sys.executable, "-c", RUN, settings.model_dump_json()]
    waits_for_d = threading.Event()

    def stuck(handler, body):
        waits_for_d.set()
        server.closing.wait(60)

    server.replies = [reply_of("A"), reply_of("B"), reply_of("C"), stuck]
    with subprocess.Popen(command) as process:
        assert waits_for_d.wait(60)
        process.kill()
    record = tmp_path / "records/run.jsonl"
    # As if it had been killed while it wrote the third answer.
    record.write_bytes(record.read_bytes()[:-20])
    server.seen.clear()
    server.replies = [reply_of(letter) for letter in "CDEF"]
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout == "ABCDEF 4\n" and "the last line was cut off" in again.stderr
    sent = [body["messages"][0]["content"] for _, body, _ in server.seen]
    assert sent == list("cdef")
    replayed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert replayed.stdout == "ABCDEF 0\n" and len(server.seen) == 4


def config(**endpoint):
    return {
        "language_models": {"endpoints": {"gpt": {"model": "m", "url": "http://h", **endpoint}}}
    }


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (config(key=SECRET), "endpoints.gpt.key` is invalid: it must be the name"),
        (config(url=f"https://me:{SECRET}@h/v1"), "must not contain a user, a password"),
        (config(url=f"https://h/v1?key={SECRET}"), "must not contain a user, a password"),
        (config(url="http://h/v1", key=VARIABLE), "the key would be sent to h over plain http"),
        (
            config(url="http://localhost.h/v1", key=VARIABLE),
            "would be sent to localhost.h over plain",
        ),
        (
            config(url="http://10.0.0.7:8000/v1", key=VARIABLE),
            "use https, an address on this machine",
        ),
        (config(url="http://h:port/v1"), "its port (if any) must be from 1 to 65535"),
        (config(budget=5.0), "a `budget` has no effect without `prices`"),
        (config(extra={"stream": True}), "`stream` is set by the program"),
        *(
            (config(extra={name: SECRET}), "an additional field must not contain a secret")
            for name in ("api_key", "access_token", "auth", "bearer", "passwd", "x-token", "token")
            + ("Pwd", "client_secret", "accessToken", "jwt", "credentials", "user", "passphrase")
        ),
        (config(url="http://:80/v1"), "an address must have a host"),
        (config(url="h/v1"), "`language_models.endpoints.gpt.url` is 'h/v1'"),
        *(
            (config(**{name: value}), f"endpoints.gpt.{name}` is {value}")
            # The system measures no longer times.
            for name, values in {
                "timeout": (0.0, 1e10, 1e300),
                "wait": (0.0, 1e300),
                "requests_per_minute": (0.0, 1e-300),
            }.items()
            for value in values
        ),
        (config(temperature=0), "`language_models.endpoints.gpt.temperature` is not a valid key"),
        (
            {"language_models": {"local": {"Big Model": {"source": "a"}}}},
            "'Big Model' may contain only lower-case letters",
        ),
        (
            {"language_models": {"local": {"gpt": {"source": "a"}}, **config()["language_models"]}},
            "'gpt' occurs under both `local` and `endpoints`",
        ),
    ],
)
def test_endpoint_settings_errors_omit_keys(block, message):
    with pytest.raises(ConfigError) as caught:
        parse_config(block)
    assert message in str(caught.value) and SECRET not in str(caught.value)


def test_endpoint_settings_token_fields_are_not_secrets():
    fields = {"min_tokens": 1, "skip_special_tokens": False, "return_tokens_as_token_ids": True}
    parse_config(config(extra=fields))


def test_answer_roles(server):
    turns = [Message(role=role, content=role) for role in ("system", "user", "assistant", "user")]
    Endpoint(server.settings()).answer(Request(prompt=tuple(turns), decoding=Decoding()))
    assert server.seen[0][1]["messages"] == [turn.model_dump() for turn in turns]


def test_answer_documents(server):
    requests = Request(
        prompt=(Grounded(role="user", content="Who hunts?", documents=("Owls.", "Ants.")),),
        decoding=Decoding(),
    )
    server.replies = [reply_of(prompt_tokens=5)]
    Endpoint(server.settings(grounded=True)).answer(requests)
    body = server.seen[0][1]
    assert body["messages"] == [{"role": "user", "content": "Who hunts?"}]
    assert [item["text"] for item in body["documents"]] == ["Owls.", "Ants."]
    assert body["chat_template_kwargs"] == {"citation_mode": "accurate"}
    with pytest.raises(NotOfferedError, match="set `grounded: true` if it supports them"):
        Endpoint(server.settings()).answer(requests)
    assert len(server.seen) == 1


# 10 are enough for the documents' 9 words, not for the question too.
@pytest.mark.parametrize("read", [10, None])
def test_recorded_omitted_documents_stop_the_run(server, tmp_path, read):
    """As vLLM does with Command-R's default template: the reply is fine, the documents unread."""
    server.replies = [reply_of(prompt_tokens=read)]
    texts = ("An owl hunts at night.", "Ants dig large nests.")
    requests = [
        Request(
            prompt=(Grounded(role="user", content=f"{n}?", documents=texts),), decoding=Decoding()
        )
        for n in range(5)
    ]
    settings = server.settings(grounded=True, workers=1)
    known = LanguageModels(endpoints={"command-r": settings}, records=str(tmp_path))
    with (
        open_language_model("command-r", known, "answers") as model,
        pytest.raises(LanguageModelError, match="its template may omit documents"),
    ):
        model.answer_all(requests)
    assert len(server.seen) == 1 and not (tmp_path / "answers.jsonl").exists()
    server.replies = [reply_of(prompt_tokens=11)]
    with open_language_model("command-r", known, "answers") as model:
        assert len(model.answer_all(requests)) == 5
    # A record of before this check is not replayed either.
    with Record(tmp_path / "old.jsonl") as record:
        hidden = Answer(text="It hunts.", finish="stop", prompt_tokens=read)
        record.add(model.identity, requests[0], hidden)
        replay = RecordedModel(record, model.identity, None)
        with pytest.raises(LanguageModelError, match="its template may omit documents"):
            replay.answer(requests[0])


def test_request_documents_in_two_messages():
    message = Grounded(role="user", content="Who?", documents=("Owls.",))
    requests = Request(prompt=(message,), decoding=Decoding())
    assert Request.model_validate(requests.model_dump()) == requests
    assert requests.text == "Owls.\nWho?"
    # A record knows documents by their order.
    further = [
        message.model_copy(update={"documents": texts}) for texts in (("Owls.", "a"), ("b",))
    ]
    keys = {prompt_hash(requests.model_copy(update={"prompt": (item,)})) for item in further}
    assert len({prompt_hash(requests), *keys}) == 3
    with pytest.raises(
        ValueError, match="2 messages have documents; put all documents in one message"
    ):
        Request(prompt=(message, message), decoding=Decoding())


@pytest.mark.parametrize("value", [-float("inf"), float("nan"), None, -1e308, -9999.0])
def test_recorded_unusual_logprob_is_requested_once(server, tmp_path, value):
    logprobs = {"content": [{"token": "In", "logprob": -0.5}, {"token": " H", "logprob": value}]}
    server.replies = [reply_of("In H", logprobs=logprobs)]
    request = Request(prompt=ASKED.prompt, decoding=Decoding(logprobs=True))
    for _ in range(2):
        with Record(tmp_path / "a.jsonl") as record:
            endpoint = Endpoint(server.settings())
            model = RecordedModel(record, endpoint.identity, lambda endpoint=endpoint: endpoint)
            assert model.answer(request).text == "In H"
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("reply", "received"),
    [
        ({"error": {"message": "overloaded"}}, "no `choices`"),
        ({"choices": []}, "`choices` is empty"),
        ({"choices": [{"delta": {"content": "In"}}]}, "neither `message` nor `text`"),
        (reply_of([{"type": "image_url"}]), "'image_url'"),
    ],
)
def test_answer_invalid_reply_is_described(server, reply, received):
    server.replies = [reply]
    with pytest.raises(EndpointError) as error:
        Endpoint(server.settings(retries=0)).answer(ASKED)
    assert received in str(error.value) and "127.0.0.1" in str(error.value)


@pytest.mark.slow
@pytest.mark.fault("endpoint")
def test_recorded_many_requests_with_faults(server, tmp_path, waits, monkeypatch, caplog):
    """A quarter of all replies is 429, 500 or a closed connection; the key stays secret."""
    monkeypatch.setenv(VARIABLE, SECRET)
    generator, guard, failed = random.Random(1), threading.Lock(), []

    def disconnect(handler):
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    faults = [
        lambda handler: (429, {"Retry-After": "0"}, {"error": f"slow down {SECRET}"}),
        lambda handler: (500, {}, {"error": SECRET}),
        disconnect,
    ]

    def reply(handler, body):
        text = body["messages"][-1]["content"]
        with guard:
            fault = generator.choice(faults) if generator.random() < 1 / 4 else None
            failed.extend([text] * (fault is not None))
        return fault(handler) if fault else reply_of(f"Answer to {text}.")

    server.replies = [reply]
    endpoint = server.settings(workers=4, retries=20, key=VARIABLE)
    known = LanguageModels(endpoints={"gpt": endpoint}, records=str(tmp_path))
    requests = [Request(prompt=chat(str(n)), decoding=ASKED.decoding) for n in range(10_000)]
    with caplog.at_level(logging.DEBUG), open_language_model("gpt", known, "a") as model:
        answers = model.answer_all(requests)
    assert [answer.text for answer in answers] == [f"Answer to {n}." for n in range(10_000)]
    assert len(read_record(tmp_path / "a.jsonl")) == 10_000
    assert len(failed) > 2000
    assert SECRET not in caplog.text
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.iterdir())
