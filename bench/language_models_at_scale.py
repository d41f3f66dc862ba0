"""Speed of small models, side by side: answers a minute by batch, passages a second.

Run: ``python bench/language_models_at_scale.py [--threads 1]``. A random Llama (4.4 million
numbers, 16 prompts of 100 to 200 bytes, answers of 32) answers one by one and in batches of 4 and
16; the texts must be the same, or nothing is printed. An encoder of MiniLM's size (random too, 6
layers of 384) reads passages of 96 tokens in batches of 32: passages a second, operations a second
(2 for each parameter and token), and bytes of its vectors for each passage.

Weights do not matter for speed. Loading is not in the times.
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

from everycell.language_models.batches import answer_in_batches
from everycell.language_models.generation import Identity, Request
from everycell.language_models.local import LocalModel
from everycell.language_models.settings import Decoding
from everycell.language_models.throughput import Throughput

REQUESTS, ANSWER, PASSAGES, LENGTH = 16, 32, 128, 96


def random_llama():
    """A causal model whose tokens are bytes."""
    torch.manual_seed(0)
    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={each: i for i, each in enumerate(symbols)}, merges=[]))
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
    print(f"Llama of {model.num_parameters() / 1e6:.1f} million numbers")
    return LocalModel(model, tokenizer, Identity(name="random"))


def answers(model, requests, batch):
    """Speed and texts of answers in batches of a size."""
    speed, start, texts = Throughput(), time.perf_counter(), {}
    for answered in answer_in_batches(model, requests, batch):
        for request, answer in answered:
            speed.add(answer)
            texts[request.text] = answer.text
    speed.seconds = time.perf_counter() - start
    return speed, texts


def passages():
    """Passages a second of an encoder, its parameters without words, and its dimensions."""
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
    parameters = sum(each.numel() for each in encoder.encoder.parameters())
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
    answers(model, requests[:2], 1)
    alone, expected = answers(model, requests, 1)
    print(f"  batch  1: {alone}")
    for batch in (4, 16):
        speed, texts = answers(model, requests, batch)
        if texts != expected:
            raise SystemExit(f"batches of {batch} gave other answers than one by one")
        print(f"  batch {batch:2}: {speed} ({alone.seconds / speed.seconds:.1f} times)")
    rate, parameters, dimensions = passages()
    print(
        f"Encoder of {parameters / 1e6:.1f} million numbers: {rate:.0f} passages a second, "
        f"{2 * parameters * LENGTH * rate / 1e9:.1f} giga-operations a second, "
        f"{4 * dimensions} bytes of vectors for each passage"
    )


if __name__ == "__main__":
    main()
