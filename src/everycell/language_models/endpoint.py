"""Language models behind OpenAI-compatible servers (such as vLLM, llama.cpp and Ollama).

The `openai` package is not used: it reads addresses and keys from its own environment variables,
follows redirects, reads replies of any size, and limits the wait for the next byte but not for the
complete reply.
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
from everycell.language_models.quoted_keys import REVEALING_LENGTH, SHOWN_LENGTH, quotes_key
from everycell.language_models.replies import (
    InvalidReplyError,
    parse_answer,
    parse_model_names,
    refuse_hidden_documents,
)
from everycell.language_models.settings import EndpointSettings
from everycell.sources.proxies import check_proxies

# Largest reply in bytes: a hundred long answers with log-probabilities. Each worker may hold one.
_MAX_BYTES = 8_000_000
# Longest wait in seconds, even if a server asks for more.
_LONGEST_WAIT = 600.0
# Status codes of temporary errors.
_TEMPORARY = {408, 409, 425, 429, *range(500, 600)} - {501, 505}


class EndpointError(LanguageModelError):
    """A request to an endpoint failed; the message names the host."""


class _TemporaryError(EndpointError):
    """An error that may be temporary; `wait` is the time that the server requests, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Endpoint:
    """A `LanguageModel` on a server; threads may share it.

    Messages are sent to ``/chat/completions``, and single texts to ``/completions``.
    """

    def __init__(self, settings: EndpointSettings, budget: Budget | None = None) -> None:
        self._settings = settings
        self._budget = budget
        self.identity = endpoint_identity(settings)
        # One client per thread, which is closed if a reply takes too long.
        self._clients = threading.local()
        self._turns = threading.Lock()
        self._next_turn = 0.0

    def answer(self, request: Request) -> Answer:
        """Send a request, and retry after temporary errors, as often as the settings allow.

        Temporary errors are a failed connection, a timeout, an invalid reply, and the status codes
        408, 409, 425, 429 and 5xx, except 501, 505 and an exhausted quota. The wait doubles after
        each attempt, unless the server sends ``Retry-After``.
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
            error = _last_error(state)
            requested = error.wait if isinstance(error, _TemporaryError) else None
            return doubling(state) if requested is None else min(requested, _LONGEST_WAIT)

        attempts = Retrying(
            stop=stop_after_attempt(self._settings.retries + 1),
            wait=wait,
            retry=retry_if_exception_type(_TemporaryError),
            before_sleep=lambda state: self._charge_retry(request, _last_error(state)),
            reraise=True,
        )
        return attempts(self._ask, path, body, request)

    def _charge_retry(self, request: Request, error: BaseException | None) -> None:
        """Count a retry against the budget, since the failed request may be charged as well."""
        if self._budget is None:
            return
        try:
            self._budget.spend(self.identity.name, request)
        except LanguageModelError as refusal:
            raise LanguageModelError(f"{error} There was no retry: {refusal}") from None

    def _body(self, request: Request) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {"model": self._settings.model}
        if request.continuation is not None:
            if not isinstance(request.prompt, str):
                raise NotOfferedError(
                    f"The endpoint {self.identity.host} cannot score a continuation of messages, "
                    "since it does not report how it joins them; give the prompt as one text, or "
                    "use a local model."
                )
            # With `echo`, the reply has the log-probability of each token of the prompt.
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
                    f"The endpoint {self.identity.host} is not configured to pass documents to "
                    "its chat template; set `grounded: true` if it supports them, or put the "
                    "documents in a message."
                )
            body |= {
                "documents": [{"title": "", "text": text} for text in request.documents],
                # Command-R selects documents, answers, and repeats the answer with citations.
                "chat_template_kwargs": {"citation_mode": "accurate"},
            }
        return "/chat/completions", body | {"messages": messages}

    def _ask(self, path: str, body: dict[str, Any], request: Request) -> Answer:
        self._wait_for_turn()
        status, headers, content = self._send("POST", path, body)
        if status != 200:
            raise self._status_error(status, headers, content)
        self._refuse_quoted_key(content.decode(errors="replace"))
        try:
            answer = parse_answer(content, request, self.identity)
        except InvalidReplyError as error:
            problem = "it" if self._reveals_key(str(error)) else f"{error}; it"
            raise _TemporaryError(
                f"The endpoint {self.identity.host} sent an invalid reply ({problem} starts with "
                f"{self._start_without_key(content)!r}); check the server and its address, which "
                "must not include /chat/completions."
            ) from None
        # Parts of a reply may spell the key only when they are joined.
        tokens = "".join(token.text for token in answer.tokens or ())
        for text in (answer.text, tokens, answer.served_by):
            self._refuse_quoted_key(text)
        refuse_hidden_documents(request, answer, self.identity)
        return answer

    def model_names(self) -> list[str]:
        """Names of the models that the server lists; empty if it has no list."""
        status, _, content = self._send("GET", "/models")
        names = parse_model_names(content) if status == 200 else []
        names = [name for name in names if not self._reveals_key(name)]
        return [] if quotes_key(" ".join(names), self._key) else names

    def alternative_models(self) -> list[str]:
        """Models that the server lists, if the configured one is unknown to it; otherwise empty."""
        names, model = self.model_names(), self._settings.model
        # Google's names have the prefix `models/`. A list may be the first of several pages.
        if not names or {model, f"models/{model}"} & set(names):
            return []
        return [] if self._send("GET", f"/models/{quote(model, safe='')}")[0] == 200 else names

    def _wait_for_turn(self) -> None:
        """Wait until the next request may be sent."""
        if self._settings.requests_per_minute is None:
            return
        with self._turns:
            turn = max(self._next_turn, time.monotonic())
            self._next_turn = turn + 60 / self._settings.requests_per_minute
        time.sleep(max(0.0, turn - time.monotonic()))

    @property
    def _client(self) -> httpx2.Client:
        """HTTP client of this thread."""
        client = getattr(self._clients, "open", None)
        if client is None or client.is_closed:
            # A proxy from the environment would see traffic meant only for this machine.
            is_local = self._settings.on_this_machine and self._settings.unencrypted
            if not is_local:
                check_proxies()
            client = httpx2.Client(timeout=self._settings.timeout, trust_env=not is_local)
            self._clients.open = client
        return client

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> tuple[int, httpx2.Headers, bytes]:
        """Send a request; the complete reply must arrive within the configured timeout."""
        host, seconds = self.identity.host, self._settings.timeout
        url = self._settings.url.rstrip("/") + path
        content = bytearray()
        headers, client, timed_out = self._headers(), self._client, threading.Event()

        # The library limits only the wait for the next byte, so a reply that trickles in would
        # never time out. Closing the client ends it.
        def close_client() -> None:
            timed_out.set()
            client.close()

        deadline = threading.Timer(seconds, close_client)
        deadline.daemon = True
        deadline.start()
        try:
            with client.stream(method, url, json=body, headers=headers) as reply:
                for part in reply.iter_bytes():
                    content += part
                    if len(content) > _MAX_BYTES:
                        raise EndpointError(
                            f"The endpoint {host} sent more than {_MAX_BYTES // 1_000_000} MB in "
                            "one reply: it is not a language model, or it ignores max_tokens."
                        )
                    if timed_out.is_set():
                        raise httpx2.ReadTimeout("")
                return reply.status_code, reply.headers, bytes(content)
        # The libraries' own messages are omitted, since they may quote the key.
        except (httpx2.RequestError, RuntimeError, OSError, ValueError) as error:
            if timed_out.is_set() or isinstance(error, httpx2.TimeoutException):
                raise _TemporaryError(
                    f"The endpoint {host} did not answer within {seconds:g} s; raise `timeout`, or "
                    "try again when it is less busy."
                ) from None
            raise _TemporaryError(
                f"The endpoint {host} could not be reached or closed the connection "
                f"({type(error).__name__}); check its address, the network and the server."
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
                f"The environment variable {variable} is not set; it must contain the key of the "
                f"endpoint {self.identity.host}."
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise EndpointError(
                f"The environment variable {variable} does not contain a valid key (one word of "
                "ASCII characters); correct it."
            )
        return {"Authorization": f"Bearer {key}"}

    def _status_error(self, status: int, headers: httpx2.Headers, content: bytes) -> EndpointError:
        host = self.identity.host
        if status in (401, 403):
            # The server's message is omitted, since it may quote the key.
            credentials = (
                f"the key in the environment variable {self._settings.key}"
                if self._settings.key
                else "requests without a key (set `key` to the variable that contains it)"
            )
            return EndpointError(f"The endpoint {host} rejects {credentials} (status {status}).")
        start = self._start_without_key(content)
        if status in _TEMPORARY and b"insufficient_quota" not in content:
            return _TemporaryError(
                f"The endpoint {host} answered with status {status} ({start!r}) each time; try "
                "again later, with fewer workers or a lower `requests_per_minute`.",
                _retry_after(headers.get("Retry-After")),
            )
        hint = ""
        if status == 404:
            # The list shows whether the address or the model is unknown.
            try:
                names = self.model_names()
            except EndpointError:
                names = []
            hint = f" The server lists the models {', '.join(names[:20])}." if names else ""
        return EndpointError(
            f"The endpoint {host} rejects the request (status {status}, {start!r}); check `url`, "
            f"`model`, the decoding parameters and the account's quota.{hint}"
        )

    @property
    def _key(self) -> str:
        return os.environ.get(self._settings.key or "", "").strip()

    def _reveals_key(self, text: str) -> bool:
        """Whether a text that would be shown contains the key, or a few letters of it."""
        return quotes_key(text, self._key, SHOWN_LENGTH)

    def _start_without_key(self, content: bytes) -> str:
        """Start of a reply on one line, or the reason why it is not shown."""
        text = content.decode(errors="replace")
        if self._reveals_key(text):
            return "omitted: it quotes the key"
        return " ".join(text.split())[:160]

    def _refuse_quoted_key(self, text: str) -> None:
        """Reject an answer that quotes the key, unless the key is too short to be a secret."""
        key = self._key
        if len(key) >= REVEALING_LENGTH and quotes_key(text, key):
            raise EndpointError(
                f"An answer from the endpoint {self.identity.host} quotes the key in the "
                f"environment variable {self._settings.key}, so the answer was discarded; "
                "use another server, and replace the key."
            )


def endpoint_identity(settings: EndpointSettings) -> Identity:
    """Identity of an endpoint's model, from its settings.

    It includes the additional fields of requests, since answers depend on them.
    """
    url = httpx2.URL(settings.url.rstrip("/"))
    extra = json.dumps(settings.extra, sort_keys=True) if settings.extra else ""
    return Identity(
        name=settings.model, revision=settings.version, host=url.host, url=str(url), extra=extra
    )


def _last_error(state: RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()


def _retry_after(value: str | None) -> float | None:
    """Parse a ``Retry-After`` header, a number or a date, as seconds; else None."""
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
