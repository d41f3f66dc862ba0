"""The tokens that a local model reads of a request: chat template, documents, limits."""

from __future__ import annotations

from typing import Any

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from everycell.language_models.generation import LanguageModelError, NotOfferedError, Request


class PromptTokens:
    """Turns requests into tokens.

    Examples
    --------
    >>> from tokenizers import Tokenizer, models, pre_tokenizers
    >>> from transformers import PreTrainedTokenizerFast
    >>> words = Tokenizer(models.WordLevel({"?": 0, "a": 1, "b": 2}, unk_token="?"))
    >>> words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=words)
    >>> prompts = PromptTokens(tokenizer, name="toy", longest=None)
    >>> prompts.of(Request(prompt="a b", continuation=" a"))
    ([1, 2], [1])
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, *, name: str, longest: int | None
    ) -> None:
        self._tokenizer, self._name, self._longest = tokenizer, name, longest
        self._special = [
            str(token) for token in tokenizer.added_tokens_decoder.values() if token.special
        ]

    def of(self, request: Request) -> tuple[list[int], list[int]]:
        """Tokens of a prompt and of its continuation, if that is to be scored."""
        prompt, special = self._prompt_text(request)
        ids = self._token_ids(prompt, special)
        if not ids:
            raise LanguageModelError("The prompt has no token: write one that has a word.")
        if request.continuation is None:
            self._check_length(len(ids), request.generation.max_tokens, "answer")
            return ids, []
        all_ids = self._token_ids(prompt + request.continuation, special)
        if all_ids[: len(ids)] != ids or len(all_ids) == len(ids):
            raise LanguageModelError(
                f"{self._name} has a token across the border between the prompt and "
                f"the continuation {request.continuation[:40]!r}: end the prompt elsewhere, "
                "such as before a space."
            )
        continuation = all_ids[len(ids) :]
        self._check_length(len(ids), len(continuation), "continuation")
        return ids, continuation

    def _prompt_text(self, request: Request) -> tuple[str, bool]:
        """Prompt as one text, and whether the tokenizer adds its special tokens to it."""
        if isinstance(request.prompt, str):
            return request.prompt, True
        if self._tokenizer.chat_template is None:
            raise NotOfferedError(
                f"{self._name} has no chat template and takes no messages: give the "
                "prompt as one text, or take a model that was tuned to follow instructions."
            )
        messages = [
            {"role": message.role, "content": self._plain(message.content)}
            for message in request.prompt
        ]
        documents = [self._plain(text) for text in request.documents]
        try:
            text = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, **self._grounding(documents)
            )
        except TemplateError as error:
            raise NotOfferedError(
                f"The chat template of {self._name} does not take these messages "
                f"({error}): use the roles that it knows, in its order."
            ) from error
        hidden = [
            number for number, document in enumerate(documents, start=1) if document not in text
        ]
        if hidden:
            raise NotOfferedError(
                f"The chat template of {self._name} does not show document {hidden[0]}: "
                "show the documents in a message, or take a model that was tuned to cite."
            )
        return text, False

    def _grounding(self, documents: list[str]) -> dict[str, Any]:
        """Further arguments of a template, if there are documents."""
        if not documents:
            return {}
        options: dict[str, Any] = {
            "documents": [{"title": "", "text": text} for text in documents],
            # Of Command-R: select, answer, and answer again with marks, in one go.
            "citation_mode": "accurate",
        }
        templates = self._tokenizer.chat_template
        if isinstance(templates, dict) and "rag" in templates:
            options["chat_template"] = "rag"
        return options

    def _plain(self, content: str) -> str:
        """A text without special tokens: a quoted passage ends no turn."""
        for token in self._special:
            content = content.replace(token, f"{token[0]} {token[1:]}")
        return content

    def _token_ids(self, text: str, special: bool) -> list[int]:
        return self._tokenizer(text, add_special_tokens=special)["input_ids"]

    def _check_length(self, tokens: int, more: int, what: str) -> None:
        if self._longest is not None and tokens + more > self._longest:
            raise LanguageModelError(
                f"A prompt has {tokens} tokens and its {what} up to {more}, but "
                f"{self._name} reads {self._longest} in all: shorten the prompt, or ask "
                "for fewer tokens."
            )
