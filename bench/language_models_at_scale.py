"""Speed of small models: answers per minute by batch size, passages per second.

Run ``python bench/language_models_at_scale.py [--threads 1]``. A random Llama (4.4 million
parameters, 16 prompts of 100 to 200 bytes, answers of 32 bytes) generates answers one by one and
in batches of 4 and 16; the script stops if the answers differ. A random encoder of MiniLM's size
(6 layers, 384 dimensions) reads passages of 96 tokens in batches of 32. The script prints its
passages and operations per second (2 operations per parameter and token), and the bytes of its
vectors per passage.

Weights do not affect speed. The times do not include loading.
"""

import argparse
import time

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from everycell.language_models.costs import Throughput
from everycell.language_models.generation import Identity, Request, answer_in_batches
from everycell.language_models.local import LocalModel
from everycell.language_models.settings import Decoding

REQUESTS, ANSWER, PASSAGES, LENGTH = 16, 32, 128, 96


def random_llama():
    """A causal model whose tokens are bytes."""
    torch.manual_seed(0)
    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: i for i, symbol in enumerate(symbols)}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=256,
        intermediate_size=768,
        num_hidden_layers=5,
        num_attention_heads=4,
        eos_token_id=None,
        bos_token_id=None,
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    model = LlamaForCausalLM(config).eval()
    print(f"Llama with {model.num_parameters() / 1e6:.1f} million parameters")
    return LocalModel(model, tokenizer, Identity(name="random"))


def measure_answers(model, requests, batch):
    """Speed and texts of answers by batch size."""
    speed, start, texts = Throughput(), time.perf_counter(), {}
    for answered in answer_in_batches(model, requests, batch):
        for request, answer in answered:
            speed.add(answer)
            texts[request.text] = answer.text
    speed.seconds = time.perf_counter() - start
    return speed, texts


def measure_encoder():
    """Passages per second, parameters (without embeddings) and dimensions of an encoder."""
    config = BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    )
    encoder = BertModel(config, add_pooling_layer=False).eval()
    ids = torch.randint(1000, 30_000, (PASSAGES, LENGTH))
    with torch.inference_mode():
        encoder(ids[:4])
        start = time.perf_counter()
        for part in ids.split(32):
            encoder(part)
        seconds = time.perf_counter() - start
    parameters = sum(weights.numel() for weights in encoder.encoder.parameters())
    return PASSAGES / seconds, parameters, config.hidden_size


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    torch.set_num_threads(parser.parse_args().threads)
    model = random_llama()
    requests = [
        Request(
            prompt=f"{number} " + "A question with passages. " * (4 + number % 5),
            decoding=Decoding(max_tokens=ANSWER),
        )
        for number in range(REQUESTS)
    ]
    measure_answers(model, requests[:2], 1)
    unbatched, expected = measure_answers(model, requests, 1)
    print(f"  batch  1: {unbatched}")
    for batch in (4, 16):
        speed, texts = measure_answers(model, requests, batch)
        if texts != expected:
            raise SystemExit(f"Answers in batches of {batch} differ from those one by one.")
        print(f"  batch {batch:2}: {speed} ({unbatched.seconds / speed.seconds:.1f} times as fast)")
    rate, parameters, dimensions = measure_encoder()
    print(
        f"Encoder with {parameters / 1e6:.1f} million parameters: {rate:.0f} passages per second, "
        f"{2 * parameters * LENGTH * rate / 1e9:.1f} giga-operations per second, "
        f"{4 * dimensions} bytes of vectors per passage"
    )


if __name__ == "__main__":
    main()
