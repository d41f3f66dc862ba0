"""Tokens of local models: those of a prompt, and the choice of the next one.

`PromptTokens` applies chat templates and length limits. The hooks for generation with transformers
(seeded sampling, log-probabilities, stop texts) treat the rows of a batch separately, so that an
answer does not depend on the other requests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from jinja2 import TemplateError
from transformers import (
    LogitsProcessor,
    PreTrainedTokenizerBase,
    StoppingCriteria,
    TemperatureLogitsWarper,
    TopPLogitsWarper,
)

from everycell.base.untrusted import printable_line
from everycell.language_models.generation import LanguageModelError, NotOfferedError, Request

#: How many lines and calls of compiled code a chat template may run per prompt.
STEPS = 1_000_000


class PromptTokens:
    """Converts requests to tokens."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, *, name: str, longest: int | None
    ) -> None:
        self._tokenizer, self._name, self._longest = tokenizer, name, longest
        self._special = [
            str(token) for token in tokenizer.added_tokens_decoder.values() if token.special
        ]

    def encode(self, request: Request) -> tuple[list[int], list[int]]:
        """Tokens of a prompt and of its continuation, if there is one to score."""
        prompt, special = self._prompt_text(request)
        ids = self._token_ids(prompt, special)
        if not ids:
            raise LanguageModelError("The prompt has no tokens; write at least one word.")
        if request.continuation is None:
            self._check_length(len(ids), request.generation.max_tokens, "answer")
            return ids, []
        all_ids = self._token_ids(prompt + request.continuation, special)
        if all_ids[: len(ids)] != ids or len(all_ids) == len(ids):
            raise LanguageModelError(
                f"A token of {self._name} spans the end of the prompt and the beginning of the "
                f"continuation {request.continuation[:40]!r}; end the prompt elsewhere, such as "
                "before a space."
            )
        continuation = all_ids[len(ids) :]
        self._check_length(len(ids), len(continuation), "continuation")
        return ids, continuation

    def _prompt_text(self, request: Request) -> tuple[str, bool]:
        """Prompt as one text, and whether the tokenizer adds special tokens to it."""
        if isinstance(request.prompt, str):
            return request.prompt, True
        if self._tokenizer.chat_template is None:
            raise NotOfferedError(
                f"{self._name} has no chat template, so it does not accept messages; give the "
                "prompt as one text, or use an instruction-tuned model."
            )
        messages = [
            {"role": message.role, "content": self._defuse(message.content)}
            for message in request.prompt
        ]
        documents = [self._defuse(text) for text in request.documents]
        try:
            with _limited_steps():
                text = self._tokenizer.apply_chat_template(
                    messages,
                    tokenize=False,
                    add_generation_prompt=True,
                    **self._grounding(documents),
                )
        except Exception as error:  # a template is a program, which may fail in any way
            reason = error if isinstance(error, TemplateError) else type(error).__name__
            raise NotOfferedError(
                f"The chat template of {self._name} rejects these messages "
                f"({printable_line(str(reason))}); use the roles and the order that it supports."
            ) from error
        hidden = [
            number for number, document in enumerate(documents, start=1) if document not in text
        ]
        if hidden:
            raise NotOfferedError(
                f"The chat template of {self._name} omits document {hidden[0]}; put the documents "
                "in a message, or use a model that was trained to cite."
            )
        return text, False

    def _grounding(self, documents: list[str]) -> dict[str, Any]:
        """Additional arguments of the chat template for documents."""
        if not documents:
            return {}
        options: dict[str, Any] = {
            "documents": [{"title": "", "text": text} for text in documents],
            # Command-R selects documents, answers, and repeats the answer with citations.
            "citation_mode": "accurate",
        }
        templates = self._tokenizer.chat_template
        if isinstance(templates, dict) and "rag" in templates:
            options["chat_template"] = "rag"
        return options

    def _defuse(self, content: str) -> str:
        """Break up special tokens in a text, so that a quoted passage cannot end a turn."""
        for token in self._special:
            content = content.replace(token, f"{token[0]} {token[1:]}")
        return content

    def _token_ids(self, text: str, special: bool) -> list[int]:
        return self._tokenizer(text, add_special_tokens=special)["input_ids"]

    def _check_length(self, tokens: int, additional: int, kind: str) -> None:
        if self._longest is not None and tokens + additional > self._longest:
            raise LanguageModelError(
                f"A prompt has {tokens} tokens and its {kind} up to {additional}, but the limit of "
                f"{self._name} is {self._longest} in total; shorten the prompt, or request fewer "
                "tokens."
            )


@contextmanager
def _limited_steps() -> Iterator[None]:
    """Stop a chat template after `STEPS` steps, since its loops may never end."""
    steps, previous = 0, sys.gettrace()

    def count(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        nonlocal steps
        steps += 1
        if steps > STEPS:
            raise TemplateError(f"it did not end within {STEPS:,} steps")
        return count if frame.f_code.co_filename == "<template>" else None

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(previous)


class SeededSampling(LogitsProcessor):
    """Samples the next token of each row with its own seed; all other tokens become impossible."""

    def __init__(
        self, seeds: Sequence[int | None], *, temperature: float, top_p: float, device: torch.device
    ) -> None:
        self._warpers = [TemperatureLogitsWarper(temperature)]
        if top_p < 1:
            self._warpers.append(TopPLogitsWarper(top_p))
        self._generators = [torch.Generator(device) for _ in seeds]
        for generator, seed in zip(self._generators, seeds, strict=True):
            if seed is None:
                generator.seed()
            else:
                generator.manual_seed(seed)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores of shape (rows, vocabulary): 0 for the drawn token, minus infinity elsewhere."""
        for warper in self._warpers:
            scores = warper(input_ids, scores)
        shares = scores.softmax(dim=-1)
        drawn = [
            torch.multinomial(shares[row : row + 1], num_samples=1, generator=generator)
            for row, generator in enumerate(self._generators)
        ]
        return torch.full_like(scores, -torch.inf).scatter(1, torch.cat(drawn), 0.0)


class ChosenLogprobs(LogitsProcessor):
    """Records the log-probabilities of the chosen tokens only.

    It must precede hooks that change scores. The scores of a step are discarded at the next step:
    those of all steps would take more memory than a model of eight billion parameters.
    """

    def __init__(self) -> None:
        self._step: torch.Tensor | None = None
        self._values: list[torch.Tensor] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores unchanged."""
        self._record(input_ids)
        self._step = scores.float().log_softmax(dim=-1)
        return scores

    def logprobs(self, sequences: torch.Tensor) -> list[list[float]]:
        """Log-probabilities of the generated tokens of each row of the finished sequences."""
        self._record(sequences)
        return torch.cat(self._values, dim=1).tolist()

    def _record(self, ids: torch.Tensor) -> None:
        if self._step is not None:
            self._values.append(self._step.gather(1, ids[:, -1:]))


class StopTexts(StoppingCriteria):
    """Ends each row that contains one of the stop texts."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, texts: tuple[str, ...], start: int
    ) -> None:
        self.lengths: dict[int, int] = {}
        self._tokenizer, self._texts, self._start = tokenizer, texts, start

    def __call__(self, ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        """Whether each row is done."""
        # A stop text may span several tokens, each of at least one byte.
        longest = max((len(text.encode()) for text in self._texts), default=0)
        tail_start = max(self._start, ids.shape[1] - longest)
        # All rows at once: each transfer waits for the GPU.
        for row, tail in enumerate(ids[:, tail_start:].tolist() if self._texts else ()):
            if row not in self.lengths:
                tail_text = self._tokenizer.decode(tail)
                if any(text in tail_text for text in self._texts):
                    self.lengths[row] = ids.shape[1] - self._start
        done = [row in self.lengths for row in range(len(ids))]
        return torch.tensor(done, dtype=torch.bool, device=ids.device)
