"""Tokens of requests to local models: chat templates, documents, length limits."""

from __future__ import annotations

from typing import Any

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from everycell.language_models.generation import LanguageModelError, NotOfferedError, Request


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
            text = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, **self._grounding(documents)
            )
        except TemplateError as error:
            raise NotOfferedError(
                f"The chat template of {self._name} rejects these messages ({error}); use the "
                "roles and the order that it supports."
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
