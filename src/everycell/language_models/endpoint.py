"""Language models behind a server that speaks OpenAI's protocol (also vLLM, llama.cpp, Ollama).

Not by the `openai` package: it takes addresses and keys from environment variables of its own,
follows redirects, reads a reply whole whatever its size, and bounds the wait for the next byte but
not for the reply. It is in none of our locks either, since pyserini names it for what we leave out.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx2
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential_jitter,
)

from everycell.language_models.costs import Budget
from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    NotOfferedError,
    Request,
)
from everycell.language_models.quoted_keys import TELLING, quotes_key
from everycell.language_models.replies import (
    NoReplyError,
    parse_answer,
    parse_model_names,
    refuse_hidden_documents,
)
from everycell.language_models.settings import EndpointSettings

# Bytes of a reply: a hundred times a long answer with its log-probabilities. Each worker may hold
# one reply.
_MOST_BYTES = 8_000_000
# Longest wait in seconds, even if a server asks for more.
_LONGEST_WAIT = 600.0
_AGAIN = {408, 409, 425, 429, *range(500, 600)} - {501, 505}


class EndpointError(LanguageModelError):
    """An endpoint does not answer as it should; the message names its host."""


class _PassingError(EndpointError):
    """A fault that may be temporary; `wait` is what the server asks for, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Endpoint:
    """A language model on a server: a `LanguageModel` that threads may share.

    Messages go to ``/chat/completions``, a text to ``/completions``.
    """

    def __init__(self, settings: EndpointSettings, budget: Budget | None = None) -> None:
        self._settings = settings
        self._budget = budget
        self.identity = endpoint_identity(settings)
        # A thread has a client of its own, which is closed where a reply takes too long.
        self._clients = threading.local()
        self._turns = threading.Lock()
        self._next_turn = 0.0

    def answer(self, request: Request) -> Answer:
        """Ask, and retry after temporary faults (as often as the settings allow).

        Those are: no connection, no answer in time, status 408, 409, 425, 429 or 5xx (but 501 and
        505, which say "never"), a reply that is not in the protocol. The wait doubles each time, or
        is what ``Retry-After`` says.
        """
        path, body = self._body(request)
        body = {
            name: value
            for name, value in (body | self._settings.extra).items()
            if value is not None
        }
        doubling = wait_exponential_jitter(
            multiplier=self._settings.wait, max=_LONGEST_WAIT, jitter=self._settings.wait
        )

        def wait(state: RetryCallState) -> float:
            fault = _fault(state)
            requested = fault.wait if isinstance(fault, _PassingError) else None
            return doubling(state) if requested is None else min(requested, _LONGEST_WAIT)

        attempts = Retrying(
            stop=stop_after_attempt(self._settings.retries + 1),
            wait=wait,
            retry=retry_if_exception_type(_PassingError),
            before_sleep=lambda state: self._charge_again(request, _fault(state)),
            reraise=True,
        )
        return attempts(self._ask, path, body, request)

    def _charge_again(self, request: Request, fault: BaseException | None) -> None:
        """Count a request that is sent once more: the failed one may be charged as well."""
        if self._budget is None:
            return
        try:
            self._budget.spend(self.identity.name, request)
        except LanguageModelError as refusal:
            raise LanguageModelError(f"{fault} It was not asked again: {refusal}") from None

    def _body(self, request: Request) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {"model": self._settings.model}
        if request.continuation is not None:
            if not isinstance(request.prompt, str):
                raise NotOfferedError(
                    f"The endpoint {self.identity.host} cannot score a continuation of messages, "
                    "since it does not say how it puts them together: give the prompt as one "
                    "text, or take a local model."
                )
            # The prompt comes back with the probability of each of its tokens.
            body |= {"prompt": request.prompt + request.continuation, "echo": True}
            return "/completions", body | {"max_tokens": 0, "temperature": 0, "logprobs": 1}
        decoding = request.generation
        body |= {
            self._settings.length_parameter: decoding.max_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
        }
        if decoding.seed is not None:
            body["seed"] = decoding.seed
        if decoding.stop:
            body["stop"] = list(decoding.stop)
        if isinstance(request.prompt, str):
            if decoding.logprobs:
                body["logprobs"] = 1
            return "/completions", body | {"prompt": request.prompt}
        if decoding.logprobs:
            body["logprobs"] = True
        messages = [message.model_dump(exclude={"documents"}) for message in request.prompt]
        if request.documents:
            if not self._settings.grounded:
                raise NotOfferedError(
                    f"The endpoint {self.identity.host} is not said to show documents by the "
                    "template of its model: set `grounded: true` where it does, or show the "
                    "documents in a message."
                )
            body |= {
                "documents": [{"title": "", "text": text} for text in request.documents],
                # Of Command-R: select, answer, and answer again with marks, in one go.
                "chat_template_kwargs": {"citation_mode": "accurate"},
            }
        return "/chat/completions", body | {"messages": messages}

    def _ask(self, path: str, body: dict[str, Any], request: Request) -> Answer:
        self._take_turn()
        status, headers, content = self._send("POST", path, body)
        if status != 200:
            raise self._fault(status, headers, content)
        self._refuse_quoted_key(content.decode(errors="replace"))
        try:
            answer = parse_answer(content, request, self.identity)
        except NoReplyError:
            raise _PassingError(
                f"The endpoint {self.identity.host} did not answer with a reply of OpenAI's "
                f"protocol (it starts {self._start_without_key(content)!r}): check its address, "
                "which should end before /chat/completions, and the server."
            ) from None
        self._refuse_quoted_key("".join(token.text for token in answer.tokens or ()))
        refuse_hidden_documents(request, answer, self.identity)
        return answer

    def model_names(self) -> list[str]:
        """Names of the models that the server lists; none where it has no list."""
        status, _, content = self._send("GET", "/models")
        names = parse_model_names(content) if status == 200 else []
        return [name for name in names if not quotes_key(name, self._key)]

    def listed_instead(self) -> list[str]:
        """Models that the server lists where it does not know its own; else, or unlisted, none."""
        names, model = self.model_names(), self._settings.model
        # Google's list has a folder before each name; a list may be the first page of several.
        if not names or {model, f"models/{model}"} & set(names):
            return []
        return [] if self._send("GET", f"/models/{quote(model, safe='')}")[0] == 200 else names

    def _take_turn(self) -> None:
        """Wait until the next request may be sent."""
        if self._settings.requests_per_minute is None:
            return
        with self._turns:
            turn = max(self._next_turn, time.monotonic())
            self._next_turn = turn + 60 / self._settings.requests_per_minute
        time.sleep(max(0.0, turn - time.monotonic()))

    @property
    def _client(self) -> httpx2.Client:
        """The client of this thread."""
        client = getattr(self._clients, "open", None)
        if client is None or client.is_closed:
            # A proxy from the environment would see traffic meant only for this machine.
            inside = self._settings.on_this_machine and self._settings.unencrypted
            client = httpx2.Client(timeout=self._settings.timeout, trust_env=not inside)
            self._clients.open = client
        return client

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> tuple[int, httpx2.Headers, bytes]:
        """Send a request; the whole reply must arrive within the time that the settings give."""
        host, seconds = self.identity.host, self._settings.timeout
        url = self._settings.url.rstrip("/") + path
        content = bytearray()
        headers, client, late = self._headers(), self._client, threading.Event()

        # The library bounds the wait for the next byte. Bytes that drip in, of headers too, never
        # end that wait, but they do meet a closed connection.
        def end() -> None:
            late.set()
            client.close()

        deadline = threading.Timer(seconds, end)
        deadline.daemon = True
        deadline.start()
        try:
            with client.stream(method, url, json=body, headers=headers) as reply:
                for part in reply.iter_bytes():
                    content += part
                    if len(content) > _MOST_BYTES:
                        raise EndpointError(
                            f"The endpoint {host} sent more than {_MOST_BYTES // 1_000_000} MB in "
                            "one reply: it is not a language model, or does not keep to max_tokens."
                        )
                    if late.is_set():
                        raise httpx2.ReadTimeout("")
                return reply.status_code, reply.headers, bytes(content)
        # The libraries' own texts are left out: what they quote is not known.
        except (httpx2.RequestError, RuntimeError, OSError, ValueError) as error:
            if late.is_set() or isinstance(error, httpx2.TimeoutException):
                raise _PassingError(
                    f"The endpoint {host} did not answer within {seconds:g} s: raise `timeout`, or "
                    "ask again when it is less busy."
                ) from None
            raise _PassingError(
                f"The endpoint {host} could not be reached or broke off "
                f"({type(error).__name__}): check its address, the network and the server."
            ) from None
        finally:
            deadline.cancel()

    def _headers(self) -> dict[str, str]:
        variable = self._settings.key
        if variable is None:
            return {}
        key = os.environ.get(variable, "").strip()
        if not key:
            raise EndpointError(
                f"The environment variable {variable} is not set: it must hold the key of the "
                f"endpoint {self.identity.host}."
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise EndpointError(
                f"The environment variable {variable} does not hold a key (a key is one word of "
                "ASCII characters): set it again."
            )
        return {"Authorization": f"Bearer {key}"}

    def _fault(self, status: int, headers: httpx2.Headers, content: bytes) -> EndpointError:
        host = self.identity.host
        if status in (401, 403):
            # What the server says is left out, since some quote the key.
            where = (
                f"the key in the environment variable {self._settings.key}"
                if self._settings.key
                else "requests without a key (`key` names the environment variable that holds it)"
            )
            return EndpointError(f"The endpoint {host} refuses {where} (status {status}).")
        start = self._start_without_key(content)
        if status in _AGAIN and b"insufficient_quota" not in content:
            return _PassingError(
                f"The endpoint {host} answered with status {status} ({start!r}) each time: ask "
                "again later, with fewer workers or a lower `requests_per_minute`.",
                _retry_after(headers.get("Retry-After")),
            )
        hint = ""
        if status == 404:
            # Whether the address or the model is unknown, the list shows.
            try:
                names = self.model_names()
            except EndpointError:
                names = []
            hint = f" The server lists the models {', '.join(names[:20])}." if names else ""
        return EndpointError(
            f"The endpoint {host} does not take the request (status {status}, {start!r}): check "
            f"`url`, `model` and the decoding parameters, and the account's quota.{hint}"
        )

    @property
    def _key(self) -> str:
        return os.environ.get(self._settings.key or "", "").strip()

    def _start_without_key(self, content: bytes) -> str:
        """Start of a reply on one line, or why it is not shown."""
        text = content.decode(errors="replace")
        if quotes_key(text, self._key):
            return "left out here: it quotes the key"
        return " ".join(text.split())[:160]

    def _refuse_quoted_key(self, text: str) -> None:
        """Keep nothing of an answer that quotes the key; a short one protects nothing."""
        key = self._key
        if len(key) >= TELLING and quotes_key(text, key):
            raise EndpointError(
                f"An answer of the endpoint {self.identity.host} quotes the key in the environment "
                f"variable {self._settings.key}, so the answer was discarded: ask another server, "
                "and have the key replaced."
            )


def endpoint_identity(settings: EndpointSettings) -> Identity:
    """Identity of an endpoint's model, without asking it.

    Fields that the settings add to each request stand in the revision: answers depend on them.
    """
    url = httpx2.URL(settings.url.rstrip("/"))
    extra = json.dumps(settings.extra, sort_keys=True) if settings.extra else ""
    revision = " ".join(part for part in (settings.version, extra) if part)
    return Identity(name=settings.model, revision=revision, host=url.host, url=str(url))


def _fault(state: RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()


def _retry_after(value: str | None) -> float | None:
    """Seconds that a server asks to wait for: a number, or a date; None if neither.

    Examples
    --------
    >>> _retry_after("1.5"), _retry_after("soon"), _retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    (1.5, None, 0.0)
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            until = parsedate_to_datetime(value)
            seconds = (
                until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)
            ).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
