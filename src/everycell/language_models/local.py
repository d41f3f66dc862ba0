"""Language models on this machine: generating and scoring texts with transformers.

Weights are read from safetensors; `everycell.language_models.gguf_files` makes them of a GGUF file.

An answer depends on the request alone, not on the ones before it: one prompt at a time, read in
blocks of `BLOCK` tokens. That also lets the blocks that a prompt shares with the one before it (a
system message, examples) be read once, with the same bits. It is the same on another machine only
as far as the sums are; what must not change is kept in a record
(`everycell.language_models.records`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import torch
from jinja2 import TemplateError
from tokenizers.decoders import DecodeStream
from transformers import (
    AutoModelForCausalLM,
    DynamicCache,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteria,
)

from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    NotOfferedError,
    Request,
    Token,
    folder_identity,
)
from everycell.learning.models import ModelError, device, model_folder, quiet, read_tokenizer

#: Tokens of a prompt that are read at once.
BLOCK = 128

Dtype = Literal["float32", "bfloat16", "float16"]


class LocalModel:
    """A causal language model in memory: a `LanguageModel`.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        With a language-model head, in eval mode.
    tokenizer : transformers.PreTrainedTokenizerBase
        Its own, of the fast kind; with a chat template if messages are to be asked.
    identity : Identity
        Under which its answers are recorded.

    Examples
    --------
    >>> from tokenizers import Tokenizer, models, pre_tokenizers
    >>> from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    >>> words = Tokenizer(models.WordLevel({"?": 0, "a": 1, "b": 2}, unk_token="?"))
    >>> words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    >>> size = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 1}
    >>> toy = LlamaForCausalLM(LlamaConfig(vocab_size=3, num_hidden_layers=1, **size)).eval()
    >>> tokenizer = PreTrainedTokenizerFast(tokenizer_object=words)
    >>> model = LocalModel(toy, tokenizer, Identity(name="toy"))
    >>> answer = model.answer(Request(prompt="a b", continuation=" a"))
    >>> answer.finish, answer.answer_tokens, answer.logprob < 0
    ('scored', 1, True)
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, identity: Identity
    ) -> None:
        self.identity = identity
        self._model = model
        self._tokenizer = tokenizer
        self._longest = getattr(model.config, "max_position_embeddings", None)
        self._special = [
            str(token) for token in tokenizer.added_tokens_decoder.values() if token.special
        ]
        given = model.generation_config
        ends = given.eos_token_id if given.eos_token_id is not None else tokenizer.eos_token_id
        self._ends = ends if isinstance(ends, list) else [] if ends is None else [ends]
        # Otherwise its makers' settings (a penalty, a top-k) would mix with those of the request.
        model.generation_config = GenerationConfig()
        self._cache = DynamicCache(config=model.config)
        self._read: list[int] = []

    def answer(self, request: Request) -> Answer:
        """Generate an answer, or score a continuation.

        With temperature 0 the likeliest token is taken each time; of equal ones that with the
        smallest number. Otherwise tokens are drawn with the request's seed (without one, other
        tokens each time).

        Raises
        ------
        LanguageModelError
            The prompt has no token, is too long for the model, or a token lies across the border
            of prompt and continuation.
        NotOfferedError
            Messages are asked of a model without a chat template, or documents of one whose
            template shows none.
        """
        prompt, special = self._prompt_text(request)
        ids = self._token_ids(prompt, special)
        if not ids:
            raise LanguageModelError("The prompt has no token: write one that has a word.")
        with torch.inference_mode():
            if request.continuation is None:
                return self._generate(request, ids)
            whole = self._token_ids(prompt + request.continuation, special)
            if whole[: len(ids)] != ids or len(whole) == len(ids):
                raise LanguageModelError(
                    f"{self.identity.name} has a token across the border between the prompt and "
                    f"the continuation {request.continuation[:40]!r}: end the prompt elsewhere, "
                    "such as before a space."
                )
            return self._score(ids, whole[len(ids) :])

    def _prompt_text(self, request: Request) -> tuple[str, bool]:
        """Prompt as one text, and whether the tokenizer adds its special tokens to it."""
        if isinstance(request.prompt, str):
            return request.prompt, True
        if self._tokenizer.chat_template is None:
            raise NotOfferedError(
                f"{self.identity.name} has no chat template and takes no messages: give the "
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
                f"The chat template of {self.identity.name} does not take these messages "
                f"({error}): use the roles that it knows, in its order."
            ) from error
        hidden = [number for number, each in enumerate(documents, start=1) if each not in text]
        if hidden:
            raise NotOfferedError(
                f"The chat template of {self.identity.name} does not show document {hidden[0]}: "
                "show the documents in a message, or take a model that was tuned to cite."
            )
        return text, False

    def _grounding(self, documents: list[str]) -> dict[str, Any]:
        """What a template takes besides messages, where there are documents."""
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
                f"{self.identity.name} reads {self._longest} in all: shorten the prompt, or ask "
                "for fewer tokens."
            )

    def _blocks(self, ids: list[int]) -> DynamicCache:
        """Cache of the whole blocks before the last token; what it held before is used again."""
        whole = (len(ids) - 1) // BLOCK * BLOCK
        shared = 0
        while shared < min(whole, len(self._read)) and (
            ids[shared : shared + BLOCK] == self._read[shared : shared + BLOCK]
        ):
            shared += BLOCK
        held = self._cache.get_seq_length()
        # A sliding window has let go of what stands at its start.
        if any(getattr(layer, "is_sliding", False) for layer in self._cache.layers):
            shared = 0
        if shared == 0:
            self._cache = DynamicCache(config=self._model.config)
        elif held > shared:
            # A negative length says how many tokens are dropped.
            self._cache.crop(shared - held)
        # What stands here is believed only once all of it was read.
        self._read = []
        for start in range(shared, whole, BLOCK):
            self._forward(ids[start : start + BLOCK], 1)
        self._read = ids[:whole]
        return self._cache

    def _forward(self, ids: list[int], keep: int) -> torch.Tensor:
        """Read tokens after the cached ones; logits at the last `keep`: (keep, vocabulary)."""
        tensor = torch.tensor([ids], device=self._model.device)
        read = self._model(tensor, past_key_values=self._cache, logits_to_keep=keep)
        return read.logits[0].float()

    def _score(self, prompt: list[int], continuation: list[int]) -> Answer:
        self._check_length(len(prompt), len(continuation), "continuation")
        before = self._blocks(prompt).get_seq_length()
        logits = self._forward((prompt + continuation)[before:], len(continuation) + 1)
        logprobs = logits[:-1].log_softmax(dim=-1)
        chosen = torch.tensor(continuation, device=logprobs.device)[:, None]
        values = logprobs.gather(1, chosen)[:, 0].tolist()
        tokens = self._tokens(continuation, values)
        return Answer(
            text="".join(token.text for token in tokens),
            finish="scored",
            prompt_tokens=len(prompt),
            answer_tokens=len(continuation),
            tokens=tokens,
        )

    def _generate(self, request: Request, ids: list[int]) -> Answer:
        chosen = request.decoding
        self._check_length(len(ids), chosen.max_tokens, "answer")
        drawn = chosen.temperature > 0
        sampling = {"temperature": chosen.temperature, "top_p": chosen.top_p, "top_k": 0}
        settings = GenerationConfig(
            max_new_tokens=chosen.max_tokens,
            do_sample=drawn,
            eos_token_id=self._ends or None,
            pad_token_id=self._ends[0] if self._ends else 0,
            output_logits=chosen.logprobs,
            return_dict_in_generate=True,
            **(sampling if drawn else {}),
        )
        tensor = torch.tensor([ids], device=self._model.device)
        stops = _StopTexts(self._tokenizer, chosen.stop, len(ids))
        # Draws come from the global generator, which the caller keeps as it was.
        with torch.random.fork_rng(), quiet():
            if chosen.seed is None:
                torch.seed()
            else:
                torch.manual_seed(chosen.seed)
            made = self._model.generate(
                tensor,
                attention_mask=torch.ones_like(tensor),
                past_key_values=self._blocks(ids),
                generation_config=settings,
                stopping_criteria=[stops],
            )
        new = made.sequences[0, len(ids) :].tolist()
        ended = new[-1] in self._ends
        written = new[:-1] if ended else new
        values = None
        if chosen.logprobs:
            logprobs = torch.cat(made.logits).float().log_softmax(dim=-1)
            values = [logprobs[place, token].item() for place, token in enumerate(written)]
        tokens = self._tokens(written, values or [0.0] * len(written))
        text = "".join(token.text for token in tokens)
        cut = min((text.find(stop) for stop in chosen.stop if stop in text), default=len(text))
        stopped = ended or cut < len(text)
        return Answer(
            text=text[:cut],
            finish="stop" if stopped else "length",
            prompt_tokens=len(ids),
            answer_tokens=len(new),
            tokens=None if values is None else tokens,
        )

    def _tokens(self, ids: list[int], logprobs: list[float]) -> tuple[Token, ...]:
        """Tokens with the text that each adds (nothing, before a character is complete)."""
        stream = DecodeStream(skip_special_tokens=True)
        backend = self._tokenizer.backend_tokenizer
        return tuple(
            Token(text=stream.step(backend, number) or "", logprob=value)
            for number, value in zip(ids, logprobs, strict=True)
        )


class _StopTexts(StoppingCriteria):
    """Ends an answer in which one of the texts stands."""

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, texts: tuple[str, ...], start: int
    ) -> None:
        self._tokenizer, self._texts, self._start = tokenizer, texts, start

    def __call__(self, ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        # The text may lie over several tokens, each of which has one byte or more.
        longest = max((len(text.encode()) for text in self._texts), default=0)
        last = max(self._start, ids.shape[1] - longest)
        tail = self._tokenizer.decode(ids[0, last:]) if self._texts else ""
        done = any(text in tail for text in self._texts)
        return torch.full((1,), done, dtype=torch.bool, device=ids.device)


def load_language_model(
    source: Path | str,
    *,
    name: str | None = None,
    revision: str | None = None,
    dtype: Dtype = "float32",
    network: bool = False,
) -> LocalModel:
    """A language model from a folder or from the hub.

    Parameters
    ----------
    source : Path or str
        A `Path` is a folder with safetensors; a `str` a name on the Hugging Face hub.
    name : str, optional
        Name in records and receipts; default: the source's.
    revision : str, optional
        Commit, tag or branch of a hub name.
    dtype : {"float32", "bfloat16", "float16"}
        Numbers to compute with. With the short ones a log-probability is known to about 0.05 only,
        and likely tokens often tie.
    network : bool
        Whether a hub name may be downloaded.

    Returns
    -------
    LocalModel
        On the GPU if there is one.

    Raises
    ------
    ModelError
        A file is missing or damaged, or the model is no causal language model.

    Examples
    --------
    >>> load_language_model(Path("no/such/folder"))
    Traceback (most recent call last):
    everycell.learning.hub.ModelError: There is no folder no/such/folder: name the folder of a \
model, or give the name of a hub model as a str.
    """
    folder = model_folder(source, network=network, revision=revision)
    identity = folder_identity(folder, name=name or str(source), dtype=dtype)
    with quiet():
        try:
            model, report = AutoModelForCausalLM.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=getattr(torch, dtype),
                output_loading_info=True,
            )
        # A damaged file ends in errors of safetensors, torch and transformers, with no common base.
        except Exception as error:
            raise ModelError(
                f"The language model {source} cannot be read ({error}): a file is damaged, or it "
                "is no causal language model; copy it again, or take another model."
            ) from error
        tokenizer = read_tokenizer(folder, str(source))
    if report["missing_keys"]:
        raise ModelError(
            f"The model {source} cannot generate: its weights lack "
            f"{', '.join(sorted(report['missing_keys'])[:3])}; take a model with a language-model "
            "head."
        )
    return LocalModel(model.to(device()).eval(), tokenizer, identity)
