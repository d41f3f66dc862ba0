"""Language models on this machine: generating and scoring texts with transformers.

Asked one at a time, an answer depends on the request alone, not on the ones before it: a prompt is
read in blocks of `BLOCK` tokens. That also lets the blocks that a prompt shares with the one before
it (a system message, examples) be read once, with the same bits. Asked several at once, prompts are
padded on the left and read together; sums then go in another order, by which last bits may differ.
It is the same on another machine only as far as the sums are; what must not change is kept in a
record (`everycell.language_models.records`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch
from tokenizers.decoders import DecodeStream
from transformers import (
    AutoModelForCausalLM,
    DynamicCache,
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from everycell.language_models.batches import MemoryFullError
from everycell.language_models.generation import (
    Answer,
    Identity,
    Request,
    Token,
    folder_identity,
)
from everycell.language_models.prompt_tokens import PromptTokens
from everycell.language_models.token_choice import ChosenLogprobs, DrawnTokens, StopTexts
from everycell.learning.models import ModelError, load_weights, model_folder, read_tokenizer
from everycell.learning.quiet import quiet

#: Tokens of a prompt that are read at once.
BLOCK = 128

Dtype = Literal["float32", "bfloat16", "float16"]


class LocalModel:
    """A causal language model in memory: a `LanguageModel`."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, identity: Identity
    ) -> None:
        self.identity = identity
        self._model = model
        self._tokenizer = tokenizer
        longest = getattr(model.config, "max_position_embeddings", None)
        self._prompts = PromptTokens(tokenizer, name=identity.name, longest=longest)
        generation = model.generation_config
        ends = (
            generation.eos_token_id
            if generation.eos_token_id is not None
            else tokenizer.eos_token_id
        )
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
        """
        return self.answer_batch([request])[0]

    def answer_batch(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer several requests at once; `answer_in_batches` makes batches of any requests.

        In float32 tokens are those of the requests one by one, log-probabilities the same to about
        1e-5. Each request is drawn by its own seed, whatever stands beside it.
        """
        texts = [self._prompts.of(request) for request in requests]
        longest = max(len(prompt) + len(continuation) for prompt, continuation in texts)
        try:
            with torch.inference_mode(), quiet():
                if requests[0].continuation is None:
                    return self._generate(requests, [prompt for prompt, _ in texts])
                return self._score(texts)
        except torch.OutOfMemoryError:
            raise MemoryFullError(
                f"{self.identity.name} has not enough memory for {len(requests)} prompts of up to "
                f"{longest} tokens: take a GPU with more of it, fewer documents in a prompt, or "
                "shorter answers."
            ) from None

    def _blocks(self, ids: list[int]) -> DynamicCache:
        """Cache of the whole blocks before the last token; what it held before is used again."""
        end = (len(ids) - 1) // BLOCK * BLOCK
        shared = 0
        while shared < min(end, len(self._read)) and (
            ids[shared : shared + BLOCK] == self._read[shared : shared + BLOCK]
        ):
            shared += BLOCK
        length = self._cache.get_seq_length()
        # A sliding window has let go of what stands at its start.
        if any(getattr(layer, "is_sliding", False) for layer in self._cache.layers):
            shared = 0
        if shared == 0:
            self._cache = DynamicCache(config=self._model.config)
        elif length > shared:
            # A negative length says how many tokens are dropped.
            self._cache.crop(shared - length)
        # What stands here is believed only once all of it was read.
        self._read = []
        for start in range(shared, end, BLOCK):
            self._forward(ids[start : start + BLOCK], 1)
        self._read = ids[:end]
        return self._cache

    def _forward(self, ids: list[int], keep: int) -> torch.Tensor:
        """Read tokens after the cached ones; logits at the last `keep`: (keep, vocabulary)."""
        tensor = torch.tensor([ids], device=self._model.device)
        read = self._model(tensor, past_key_values=self._cache, logits_to_keep=keep)
        return read.logits[0].float()

    def _padded(self, rows: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of one length, padded on the left, and where their own tokens are."""
        length = max(map(len, rows))
        padding = self._ends[0] if self._ends else 0
        ids = [[padding] * (length - len(row)) + row for row in rows]
        mask = [[0] * (length - len(row)) + [1] * len(row) for row in rows]
        where = self._model.device
        return torch.tensor(ids, device=where), torch.tensor(mask, device=where)

    def _score(self, texts: Sequence[tuple[list[int], list[int]]]) -> list[Answer]:
        longest = max(len(continuation) for _, continuation in texts)
        rows = [prompt + continuation for prompt, continuation in texts]
        if len(rows) == 1:
            before = self._blocks(texts[0][0]).get_seq_length()
            logits = self._forward(rows[0][before:], longest + 1)[None]
        else:
            ids, mask = self._padded(rows)
            read = self._model(
                ids,
                attention_mask=mask,
                position_ids=(mask.cumsum(dim=-1) - 1).clamp(min=0),
                logits_to_keep=longest + 1,
                use_cache=False,
            )
            logits = read.logits.float()
        answers = []
        for (prompt, continuation), scores in zip(texts, logits, strict=True):
            logprobs = scores[-len(continuation) - 1 : -1].log_softmax(dim=-1)
            columns = torch.tensor(continuation, device=logprobs.device)[:, None]
            tokens = self._tokens(continuation, logprobs.gather(1, columns)[:, 0].tolist())
            answers.append(
                Answer(
                    text="".join(token.text for token in tokens),
                    finish="scored",
                    prompt_tokens=len(prompt),
                    answer_tokens=len(continuation),
                    tokens=tokens,
                )
            )
        return answers

    def _generate(self, requests: Sequence[Request], rows: Sequence[list[int]]) -> list[Answer]:
        decoding = requests[0].generation
        ids, mask = self._padded(rows)
        start = ids.shape[1]
        recorder, hooks = ChosenLogprobs(), LogitsProcessorList()
        if decoding.logprobs:
            hooks.append(recorder)
        if decoding.temperature > 0:
            seeds = [request.generation.seed for request in requests]
            hooks.append(
                DrawnTokens(
                    seeds,
                    temperature=decoding.temperature,
                    top_p=decoding.top_p,
                    device=self._model.device,
                )
            )
        settings = GenerationConfig(
            max_new_tokens=decoding.max_tokens,
            # What was drawn is then the likeliest.
            do_sample=False,
            eos_token_id=self._ends or None,
            pad_token_id=self._ends[0] if self._ends else 0,
        )
        stops = StopTexts(self._tokenizer, decoding.stop, start)
        alone = len(rows) == 1
        sequences = self._model.generate(
            ids,
            attention_mask=mask,
            past_key_values=(
                self._blocks(rows[0]) if alone else DynamicCache(config=self._model.config)
            ),
            generation_config=settings,
            logits_processor=hooks,
            stopping_criteria=[stops],
        )
        values = recorder.of(sequences) if decoding.logprobs else [None] * len(rows)
        return [
            self._answer(request, len(row), new[: stops.lengths.get(index)], logprobs)
            for index, (request, row, new, logprobs) in enumerate(
                zip(requests, rows, sequences[:, start:].tolist(), values, strict=True)
            )
        ]

    def _answer(
        self, request: Request, read: int, new: list[int], logprobs: list[float] | None
    ) -> Answer:
        """Answer of the tokens of a row, which may go on after an end."""
        ended = next((index for index, token in enumerate(new) if token in self._ends), None)
        written = new[:ended]
        tokens = self._tokens(written, (logprobs or [0.0] * len(new))[: len(written)])
        text = "".join(token.text for token in tokens)
        stop = request.generation.stop
        cut = min(
            (text.find(stop_text) for stop_text in stop if stop_text in text), default=len(text)
        )
        stopped = ended is not None or cut < len(text)
        return Answer(
            text=text[:cut],
            finish="stop" if stopped else "length",
            prompt_tokens=read,
            answer_tokens=len(written) + (ended is not None),
            tokens=None if logprobs is None else tokens,
        )

    def _tokens(self, ids: list[int], logprobs: list[float]) -> tuple[Token, ...]:
        """Tokens with the text that each adds (nothing, before a character is complete)."""
        stream = DecodeStream(skip_special_tokens=True)
        backend = self._tokenizer.backend_tokenizer
        return tuple(
            Token(text=stream.step(backend, number) or "", logprob=value)
            for number, value in zip(ids, logprobs, strict=True)
        )


def load_language_model(
    source: Path | str,
    *,
    name: str | None = None,
    revision: str | None = None,
    dtype: Dtype = "float32",
    network: bool = False,
) -> LocalModel:
    """A language model from a folder or from the hub."""
    folder = model_folder(source, network=network, revision=revision)
    identity = folder_identity(folder, name=name or str(source), dtype=dtype)
    with quiet():
        model, missing = load_weights(
            AutoModelForCausalLM,
            folder,
            str(source),
            dtype=getattr(torch, dtype),
            device_map="auto" if torch.cuda.is_available() else None,
        )
        tokenizer = read_tokenizer(folder, str(source))
    if missing:
        raise ModelError(
            f"The model {source} cannot generate: its weights lack "
            f"{', '.join(missing[:3])}; take a model with a language-model head."
        )
    # It is there only where the model lies in several places.
    devices = getattr(model, "hf_device_map", {"": model.device.type}).values()
    if torch.cuda.is_available() and {"cpu", "disk"} & set(map(str, devices)):
        size = model.get_memory_footprint() / 1e9
        raise ModelError(
            f"The model {source} takes {size:.0f} GB, more than the GPUs have that this job sees: "
            "ask for more of them or larger ones, or serve the model elsewhere and name it under "
            "`endpoints`."
        )
    return LocalModel(model.eval(), tokenizer, identity)
