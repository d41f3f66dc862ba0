"""Language models on this machine: generation and scoring with transformers.

The prompt of a single request is processed in blocks of `BLOCK` tokens. Blocks that it shares with
the previous prompt (a system message, examples) are reused with identical bits, so that an answer
does not depend on earlier requests. In a batch, prompts are padded on the left and processed
together; the order of summation then differs, which may change the last bits. It may also differ on
another machine. Answers that must not change are kept in records (see `records`).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import torch
from tokenizers.decoders import DecodeStream
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DynamicCache,
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from everycell.base.errors import DataError
from everycell.base.untrusted import on_one_line
from everycell.language_models.generation import (
    SOURCE_FILE,
    Answer,
    Identity,
    MemoryFullError,
    Request,
    Token,
    bound_logprob,
    folder_identity,
)
from everycell.language_models.reasoning import is_reasoning_tag, opening_tag
from everycell.language_models.tokens import ChosenLogprobs, PromptTokens, SeededSampling, StopTexts
from everycell.learning.model_settings import check_ranges, check_size
from everycell.learning.models import ModelError, load_weights, model_folder, quiet, read_tokenizer

#: Number of tokens of a prompt that are processed at once.
BLOCK = 128
#: Allowed number of values in the header of a GGUF file, each of which its reader makes an object.
#: A vocabulary of 262,144 tokens has 2 million, its merges included.
_GGUF_PARTS = 8_000_000

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
        end_tokens = (
            generation.eos_token_id
            if generation.eos_token_id is not None
            else tokenizer.eos_token_id
        )
        if end_tokens is None:
            self._end_tokens = []
        else:
            self._end_tokens = end_tokens if isinstance(end_tokens, list) else [end_tokens]
        # Tags of reasoning, which must remain in answers even if they are special tokens.
        self._tags = {
            number: token.content
            for number, token in tokenizer.added_tokens_decoder.items()
            if token.special and is_reasoning_tag(token.content)
        }
        # The model's own defaults (a penalty, a top-k) would be combined with the request's.
        model.generation_config = GenerationConfig()
        self._cache = DynamicCache(config=model.config)
        self._cached_ids: list[int] = []

    def answer(self, request: Request) -> Answer:
        """Generate an answer, or score a continuation.

        With temperature 0, the most likely token is chosen (in a tie, the one with the smallest
        id). Otherwise tokens are sampled with the request's seed, or with a random seed if it has
        none.
        """
        return self.answer_batch([request])[0]

    def answer_batch(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer several requests at once; `answer_in_batches` divides requests into batches.

        In float32, the tokens are those of single requests, and log-probabilities agree to about
        1e-5. Each request is sampled with its own seed.
        """
        texts = [self._prompts.encode(request) for request in requests]
        longest = max(len(prompt) + len(continuation) for prompt, continuation in texts)
        try:
            with torch.inference_mode(), quiet():
                if requests[0].continuation is None:
                    return self._generate(requests, [prompt for prompt, _ in texts])
                return self._score(texts)
        except torch.OutOfMemoryError:
            raise MemoryFullError(
                f"There is not enough memory for {len(requests)} prompts of up to {longest} tokens "
                f"with {self.identity.name}; use a GPU with more memory, fewer documents per "
                "prompt, or shorter answers."
            ) from None

    def _blocks(self, ids: list[int]) -> DynamicCache:
        """Cache of the complete blocks before the last token; shared blocks are reused."""
        end = (len(ids) - 1) // BLOCK * BLOCK
        shared = 0
        while shared < min(end, len(self._cached_ids)) and (
            ids[shared : shared + BLOCK] == self._cached_ids[shared : shared + BLOCK]
        ):
            shared += BLOCK
        length = self._cache.get_seq_length()
        # A sliding window has discarded the beginning of the prompt.
        if any(getattr(layer, "is_sliding", False) for layer in self._cache.layers):
            shared = 0
        if shared == 0:
            self._cache = DynamicCache(config=self._model.config)
        elif length > shared:
            # A negative length is the number of tokens to drop.
            self._cache.crop(shared - length)
        # Set only when all blocks have been processed, in case of an error.
        self._cached_ids = []
        for start in range(shared, end, BLOCK):
            self._forward(ids[start : start + BLOCK], 1)
        self._cached_ids = ids[:end]
        return self._cache

    def _forward(self, ids: list[int], keep: int) -> torch.Tensor:
        """Process tokens after the cached ones; return logits of shape (keep, vocabulary)."""
        tensor = torch.tensor([ids], device=self._model.device)
        output = self._model(tensor, past_key_values=self._cache, logits_to_keep=keep)
        return output.logits[0].float()

    def _padded(self, rows: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows padded on the left to the same length, and their attention mask."""
        length = max(map(len, rows))
        padding = self._end_tokens[0] if self._end_tokens else 0
        ids = [[padding] * (length - len(row)) + row for row in rows]
        mask = [[0] * (length - len(row)) + [1] * len(row) for row in rows]
        device = self._model.device
        return torch.tensor(ids, device=device), torch.tensor(mask, device=device)

    def _score(self, texts: Sequence[tuple[list[int], list[int]]]) -> list[Answer]:
        longest = max(len(continuation) for _, continuation in texts)
        rows = [prompt + continuation for prompt, continuation in texts]
        if len(rows) == 1:
            cached = self._blocks(texts[0][0]).get_seq_length()
            logits = self._forward(rows[0][cached:], longest + 1)[None]
        else:
            ids, mask = self._padded(rows)
            output = self._model(
                ids,
                attention_mask=mask,
                position_ids=(mask.cumsum(dim=-1) - 1).clamp(min=0),
                logits_to_keep=longest + 1,
                use_cache=False,
            )
            logits = output.logits.float()
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
                SeededSampling(
                    seeds,
                    temperature=decoding.temperature,
                    top_p=decoding.top_p,
                    device=self._model.device,
                )
            )
        settings = GenerationConfig(
            max_new_tokens=decoding.max_tokens,
            # The sampled token is the only possible one.
            do_sample=False,
            eos_token_id=self._end_tokens or None,
            pad_token_id=self._end_tokens[0] if self._end_tokens else 0,
        )
        stops = StopTexts(self._tokenizer, decoding.stop, start)
        is_single = len(rows) == 1
        sequences = self._model.generate(
            ids,
            attention_mask=mask,
            past_key_values=(
                self._blocks(rows[0]) if is_single else DynamicCache(config=self._model.config)
            ),
            generation_config=settings,
            logits_processor=hooks,
            stopping_criteria=[stops],
        )
        values = recorder.logprobs(sequences) if decoding.logprobs else [None] * len(rows)
        return [
            self._answer(request, row, generated[: stops.lengths.get(index)], logprobs)
            for index, (request, row, generated, logprobs) in enumerate(
                zip(requests, rows, sequences[:, start:].tolist(), values, strict=True)
            )
        ]

    def _answer(
        self, request: Request, prompt: list[int], ids: list[int], logprobs: list[float] | None
    ) -> Answer:
        """Answer from the generated tokens of a row, which may continue after an end token."""
        end = next((index for index, token in enumerate(ids) if token in self._end_tokens), None)
        answer_ids = ids[:end]
        tokens = self._tokens(answer_ids, (logprobs or [0.0] * len(ids))[: len(answer_ids)])
        text = "".join(token.text for token in tokens)
        stop = request.generation.stop
        cut = min(
            (text.find(stop_text) for stop_text in stop if stop_text in text), default=len(text)
        )
        stopped = end is not None or cut < len(text)
        # Some templates open the reasoning in the prompt.
        if tag := opening_tag(self._tokenizer.decode(prompt[-20:])):
            tokens = (Token(text=tag, logprob=0.0), *tokens)
        return Answer(
            text=tag + text[:cut],
            finish="stop" if stopped else "length",
            prompt_tokens=len(prompt),
            answer_tokens=len(answer_ids) + (end is not None),
            tokens=None if logprobs is None else tokens,
        )

    def _tokens(self, ids: list[int], logprobs: list[float]) -> tuple[Token, ...]:
        """Tokens with the text that each adds (none until a character is complete)."""
        stream = DecodeStream(skip_special_tokens=True)
        backend = self._tokenizer.backend_tokenizer
        return tuple(
            Token(
                text=self._tags.get(number) or stream.step(backend, number) or "",
                logprob=bound_logprob(value),
            )
            for number, value in zip(ids, logprobs, strict=True)
        )


def load_language_model(
    folder: Path, *, name: str | None = None, dtype: Dtype = "float32"
) -> LocalModel:
    """Load a language model from a folder."""
    folder = model_folder(folder)
    identity = folder_identity(folder, name=name or str(folder), dtype=dtype)
    with quiet():
        model, missing = load_weights(
            AutoModelForCausalLM,
            folder,
            str(folder),
            dtype=getattr(torch, dtype),
            device_map="auto" if torch.cuda.is_available() else None,
        )
        tokenizer = read_tokenizer(folder, str(folder))
    if missing:
        raise ModelError(
            f"The model {folder} cannot generate: its weights lack "
            f"{', '.join(missing[:3])}; use a model with a language-model head."
        )
    # The attribute exists only if the model is spread over several devices.
    devices = getattr(model, "hf_device_map", {"": model.device.type}).values()
    if torch.cuda.is_available() and {"cpu", "disk"} & set(map(str, devices)):
        size = model.get_memory_footprint() / 1e9
        raise ModelError(
            f"The model {folder} takes {size:.0f} GB, more than the GPUs of this job have; request "
            "more or larger GPUs, or serve the model elsewhere and configure it under "
            "`endpoints`."
        )
    return LocalModel(model.eval(), tokenizer, identity)


def convert_gguf(file: Path, folder: Path, *, name: str) -> None:
    """Convert a GGUF model to safetensors, with its tokenizer and chat template.

    Loading a GGUF file takes more than ten times as long as loading safetensors. The weights keep
    the values of the GGUF file, in float32. A note in the folder has the hash of that file, under
    which answers are recorded.
    """
    import gguf

    class Reader(gguf.GGUFReader):
        """A reader that ends with the file, whatever numbers of values that declares."""

        parts = 0

        def _get(self, offset: int, dtype: Any, count: Any = 1, *options: Any, **more: Any) -> Any:
            part = super()._get(offset, dtype, count, *options, **more)
            self.parts += 1
            if len(part) < count or self.parts > _GGUF_PARTS:
                raise ValueError("its header declares more values than it may have")
            return part

    # transformers parses the file separately for settings, tokenizer and weights, and builds a
    # table of names for each module: caching more than halves the time.
    cached: dict[str, Any] = {
        "GGUFReader": cache(Reader),
        "get_tensor_name_map": cache(gguf.get_tensor_name_map),
    }
    try:
        with quiet(), patch.multiple(gguf, **cached):
            check_ranges(
                file,
                {
                    name: field.contents()
                    for name, field in gguf.GGUFReader(file).fields.items()
                    if len(field.data) == 1
                },
            )
            check_size(AutoModelForCausalLM, file.parent, gguf_file=file.name)
            tokenizer = AutoTokenizer.from_pretrained(
                file.parent, gguf_file=file.name, trust_remote_code=False
            )
            model = AutoModelForCausalLM.from_pretrained(
                file.parent, gguf_file=file.name, trust_remote_code=False, dtype=torch.float32
            )
    except DataError:
        raise
    # gguf, numpy, torch and transformers raise different errors for a damaged file.
    except Exception as error:
        raise ModelError(
            f"The GGUF file {file} cannot be read ({on_one_line(str(error))}): it is damaged, or "
            "transformers does not support its architecture; copy it again, or use another file."
        ) from error
    # The weights are dequantised, but transformers does not save a model with a quantiser.
    del model.config.quantization_config
    model.hf_quantizer = None
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        with quiet():
            model.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
        identity = folder_identity(file, name=name).model_dump(include={"name", "revision"})
        (partial / SOURCE_FILE).write_text(json.dumps(identity) + "\n", encoding="utf-8")
        # mkdtemp creates folders that only their owner can read.
        umask = os.umask(0)
        os.umask(umask)
        for path in (partial, *partial.iterdir()):
            path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
        partial.replace(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
