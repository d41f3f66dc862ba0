"""Speed of encoders and a language model on a GPU, compared with a plain loop.

Run ``python bench/gpu.py`` on a machine with a GPU; it takes less than 4 minutes. Models are
BERT-base and a Llama with 8 billion parameters (fewer if memory is short). Their weights are
random, which does not affect speed. The plain loop has weights in bfloat16, sorted texts and large
batches. Both sides are warmed up on all texts, and rates are printed with and without tokenising.
Before the comparison of precisions, the cross-encoder learns a planted task, in which relevance is
a document's share of 500 words. The script prints differences from float32 in scores and in
nDCG@10 over lists of 100 documents, and Kendall's tau of the rankings.
"""

import argparse
import itertools
import time

import numpy as np
import torch
from scipy.stats import kendalltau
from torch.nn import functional
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    BertTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
)

from everycell.learning.batching import pad
from everycell.learning.cross_encoder import PairLength, join, score_pairs, tokenise, training_loss
from everycell.learning.models import set_gpu_precision
from everycell.learning.text_vectors import dense_vectors
from everycell.learning.tilde import token_ids

QUERIES, DEPTH, WORDS, LENGTH = 80, 100, 8000, 256
#: Number of tokens in a batch of the plain loop.
PLAIN = 131_072


def seconds(function):
    """Result of a call and its wall time, including all work of the GPU."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = function()
    torch.cuda.synchronize()
    return result, time.perf_counter() - start


def corpus():
    """Tokenizer, queries, documents of 100 to 209 words, and their shares of planted words."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(WORDS)])
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate([*special, *words])})
    queries = [" ".join(rng.choice(words, rng.integers(8, 20))) for _ in range(QUERIES)]
    documents, shares = [], rng.uniform(0, 0.3, QUERIES * DEPTH)
    for share in shares:
        number = rng.integers(100, 210)
        planted = rng.random(number) < share
        documents.append(
            " ".join(
                words[
                    np.where(
                        planted, rng.integers(0, 500, number), rng.integers(500, WORDS, number)
                    )
                ]
            )
        )
    return tokenizer, queries, documents, shares


def show(what, rate, unit):
    """Print a line of the table."""
    print(f"{what:58} {rate:9,.0f} {unit}", flush=True)


def compare(what, number, spent, plain, preparing):
    """Print rates with and without tokenising, and their ratios to those of the plain loop."""
    print(
        f"  {what:46} {number / (spent + preparing):9,.0f} per second with tokenising "
        f"({(plain + preparing) / (spent + preparing):4.0%} of the plain loop), "
        f"{number / spent:9,.0f} without ({plain / spent:4.0%})",
        flush=True,
    )


def print_differences(name, scores, exact, shares):
    """Print differences in scores, rankings and nDCG from float32."""
    lists, truth = scores.reshape(QUERIES, DEPTH), exact.reshape(QUERIES, DEPTH)
    taus = [kendalltau(*rows).statistic for rows in zip(lists, truth, strict=True)]
    gains = shares.reshape(QUERIES, DEPTH).argsort(axis=1).argsort(axis=1) >= DEPTH - 10
    discount = 1 / np.log2(np.arange(2, 12))
    ndcg = [
        np.take_along_axis(gains, np.argsort(-values, axis=1)[:, :10], 1)
        @ discount
        / discount.sum()
        for values in (lists, truth)
    ]
    change = ndcg[0] - ndcg[1]
    print(
        f"  {name} compared with float32: scores differ by up to {np.abs(lists - truth).max():.4f} "
        f"(standard deviation {truth.std(axis=1).mean():.4f}); nDCG@10 {ndcg[1].mean():.4f} in "
        f"float32, changes by {change.mean():+.5f} on average and up to {np.abs(change).max():.4f};"
        f" Kendall's tau {np.mean(taus):.5f} on average, at least {min(taus):.5f}",
        flush=True,
    )


def plain_batches(sequences, sizes, forward):
    """A plain loop over sorted sequences; outputs stay on the GPU until the end."""
    order = np.argsort(sizes, kind="stable")[::-1]
    outputs, start = [], 0
    with torch.inference_mode():
        while start < len(order):
            part = order[start : start + max(1, PLAIN // sizes[order[start]])]
            outputs.append(forward(pad([sequences[row] for row in part], 0, "cuda")))
            start += len(part)
        return torch.cat(outputs).float().cpu().numpy()


def learn(model, tokenizer, queries, documents, shares, steps=300):
    """Train a cross-encoder on the planted task, about half a minute."""
    rng = np.random.default_rng(1)
    loss_of = training_loss(tokenizer, PairLength(LENGTH))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimiser, 0.02, total_iters=50)
    model.train()
    for _ in range(steps):
        # The relevant one of three documents has the largest share.
        rows = rng.integers(0, len(documents), (32, 3))
        rows = np.take_along_axis(rows, np.argsort(-shares[rows], axis=1), 1)
        batch = {
            "query": [queries[row] for row in rng.integers(0, QUERIES, 32)],
            "positive": [documents[row] for row in rows[:, 0]],
            "negatives": [[documents[row] for row in negatives] for negatives in rows[:, 1:]],
        }
        optimiser.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_of(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        warm_up.step()
    print(f"cross-encoder trained for {steps} steps, last loss {loss.item():.3f} (chance 1.099)")
    model.eval()


def cross_encoder(tokenizer, queries, documents, shares):
    """Pairs per second."""
    torch.manual_seed(0)
    config = BertConfig(vocab_size=WORDS + 5, num_labels=1)
    model = BertForSequenceClassification(config).cuda()
    learn(model, tokenizer, queries, documents, shares)
    texts = dict(enumerate(queries)), dict(enumerate(documents))
    pairs = [(number // DEPTH, number) for number in range(len(documents))]
    length = PairLength(LENGTH)

    def prepare():
        query_ids = tokenise(tokenizer, queries)
        document_ids = tokenise(tokenizer, documents)
        return [
            join(tokenizer, query_ids[query], document_ids[document], length)
            for query, document in pairs
        ]

    prepare()
    joined, preparing = seconds(prepare)
    _, tokenising = seconds(lambda: tokenise(tokenizer, documents))
    sizes = [len(pair.first) + len(pair.second) for pair in joined]
    half_model = BertForSequenceClassification(config).eval()
    half_model.load_state_dict(model.state_dict())
    half_model.cuda().bfloat16()

    def loop():
        return plain_batches(joined, sizes, lambda batch: half_model(**batch).logits[:, 0])

    def ours(model=model, pairs=pairs, **options):
        return score_pairs(model, tokenizer, *texts, pairs, length, **options)

    loop()
    _, plain = seconds(loop)
    print(
        f"cross-encoder, {len(pairs)} pairs of {np.mean(sizes):.0f} tokens, tokenised in "
        f"{tokenising:.2f} s and joined in {preparing - tokenising:.2f} s"
    )
    scores = measure(ours, pairs, plain, preparing)
    compare("plain loop, weights in bfloat16", len(pairs), plain, plain, preparing)
    ours(half_model)
    half_scores, spent = seconds(lambda: ours(half_model))
    compare("everycell, weights in bfloat16", len(pairs), spent - preparing, plain, preparing)
    print_differences("bfloat16", scores["bfloat16"], scores["float32"], shares)
    print_differences("weights in bfloat16", half_scores, scores["float32"], shares)


def measure(ours, inputs, plain, preparing):
    """Print rates of our function on a GPU by settings, and return its results by precision."""
    sample = inputs[:2000]
    ours(pairs=sample, batch_tokens=2048)
    _, spent = seconds(lambda: ours(pairs=sample, batch_tokens=2048))
    share = len(sample) / len(inputs)
    compare(
        "float32, 2,048 tokens per batch (as on a CPU)",
        len(sample),
        spent - preparing * share,
        plain * share,
        preparing * share,
    )
    results = {}
    for precision in ("float32", "bfloat16"):
        set_gpu_precision(precision)
        ours()
        results[precision], spent = seconds(ours)
        compare(f"{precision}, default batch", len(inputs), spent - preparing, plain, preparing)
    set_gpu_precision("float32")
    return results


def dense(tokenizer, queries, documents, shares):
    """Documents per second."""
    torch.manual_seed(0)
    model = BertModel(BertConfig(vocab_size=WORDS + 5), add_pooling_layer=False).eval().cuda()

    def ours(pairs=documents, **options):
        return dense_vectors(model, tokenizer, pairs, LENGTH, **options)

    half_model = BertModel(model.config, add_pooling_layer=False).eval()
    half_model.load_state_dict(model.state_dict())
    half_model.cuda().bfloat16()
    token_ids(tokenizer, documents, LENGTH)
    sequences, preparing = seconds(lambda: token_ids(tokenizer, documents, LENGTH))
    sizes = [*map(len, sequences)]

    def forward(batch):
        states, mask = half_model(**batch).last_hidden_state, batch["attention_mask"][:, :, None]
        return functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1)

    plain_batches(sequences, sizes, forward)
    _, plain = seconds(lambda: plain_batches(sequences, sizes, forward))
    number = len(documents)
    print(
        f"dense encoder, {number} documents of {np.mean(sizes):.0f} tokens, tokenised in "
        f"{preparing:.2f} s"
    )
    measure(ours, documents, plain, preparing)
    compare("plain loop, weights in bfloat16", number, plain, plain, preparing)


def training(tokenizer, queries, documents, _):
    """Milliseconds per step of 32 queries with three documents each."""
    torch.manual_seed(0)
    config = BertConfig(vocab_size=WORDS + 5, num_labels=1)
    rows = {
        "query": queries[:32],
        "positive": documents[:32],
        "negatives": [documents[32 + 2 * row : 34 + 2 * row] for row in range(32)],
    }
    print("training step of a cross-encoder, 32 x 3 pairs")
    for name, half, plain in (
        ("  float32", False, False),
        ("  bfloat16 (full tier)", True, False),
        ("  plain loop, bfloat16, without tokenising", True, True),
    ):
        model = BertForSequenceClassification(config).cuda().train()
        optimiser = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
        ours = training_loss(tokenizer, PairLength(LENGTH))
        query_ids = tokenise(tokenizer, queries[:32])
        document_ids = tokenise(tokenizer, documents[:96])
        joined = [
            join(tokenizer, query_ids[i // 3], document_ids[i], PairLength(LENGTH))
            for i in range(96)
        ]
        batch = pad(joined, 0, "cuda")

        def step(model=model, optimiser=optimiser, ours=ours, batch=batch, half=half, plain=plain):
            optimiser.zero_grad()
            with torch.autocast("cuda", torch.bfloat16, enabled=half):
                if plain:
                    logits = model(**batch).logits.float().reshape(32, 3)
                    loss = functional.cross_entropy(logits, logits.new_zeros(32, dtype=torch.long))
                else:
                    loss = ours(model, rows)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()

        for _ in range(3):
            step()
        _, spent = seconds(lambda step=step: [step() for _ in range(15)])
        print(f"{name:58} {spent / 15 * 1e3:9,.1f} ms", flush=True)
        show("    rate", 32 * 3 * 15 / spent, "pairs/s")


def language_model(gpu_gb):
    """Tokens per second that a Llama generates, by batch size."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    from everycell.language_models.generation import Identity, Request, answer_in_batches
    from everycell.language_models.local import LocalModel
    from everycell.language_models.settings import Decoding

    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: i for i, symbol in enumerate(symbols)}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    config = LlamaConfig(
        vocab_size=128_256,
        hidden_size=4096,
        intermediate_size=14_336,
        num_hidden_layers=32 if gpu_gb > 40 else 8,
        num_attention_heads=32,
        num_key_value_heads=8,
        max_position_embeddings=8192,
        eos_token_id=None,
        bos_token_id=None,
    )
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = LlamaForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)
    # The tokenizer only has the bytes, so other tokens must never be generated.
    model.lm_head.weight.data[256:] = 0
    local_model = LocalModel(model, tokenizer, Identity(name="random"))
    billions = model.num_parameters() / 1e9
    print(f"generation, {billions:.1f} billion parameters in bfloat16, prompts of 1,370 tokens")
    new = 32
    for batch in (1, 8, 64):
        texts = [f"{number:05} " + "A question. " * 113 + "Why?    " for number in range(batch)]
        requests = [Request(prompt=text, decoding=Decoding(max_tokens=new)) for text in texts]
        list(answer_in_batches(local_model, requests, batch))
        # Different prompts, since the first ones are cached.
        texts = ["x" + text for text in texts]
        requests = [Request(prompt=text, decoding=Decoding(max_tokens=new)) for text in texts]
        answers, spent = seconds(lambda: list(answer_in_batches(local_model, requests, batch)))  # noqa: B023
        written = sum(answer.answer_tokens for _, answer in itertools.chain(*answers))
        read = answers[0][0][1].prompt_tokens
        show(
            f"  batch {batch}: {read} tokens read, {new} written, all", written / spent, "tokens/s"
        )
        ids = torch.randint(0, 256, (batch, read), device="cuda")
        with torch.inference_mode():
            first, reading = seconds(lambda: model(ids, use_cache=True, logits_to_keep=1))  # noqa: B023
            cache, token = first.past_key_values, ids[:, :1]

            def steps():
                """Greedy steps after the prompt."""
                nonlocal token
                for _ in range(new - 1):
                    out = model(token, past_key_values=cache, use_cache=True)  # noqa: B023
                    token = out.logits[:, -1:].argmax(-1)

            _, writing = seconds(steps)
        show("    plain loop", batch * new / (reading + writing), "tokens/s")
        print(
            f"    reading {batch * read / reading:,.0f} tokens/s, {writing / (new - 1) * 1e3:.1f} "
            f"ms per step, writing without reading {batch * (new - 1) / writing:,.0f} tokens/s",
            flush=True,
        )


def main():
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("torch finds no GPU. Run this benchmark on a machine with a GPU.")
    properties = torch.cuda.get_device_properties(0)
    memory = properties.total_memory / 1e9
    print(f"{properties.name}, {memory:.0f} GB, torch {torch.__version__}", flush=True)
    start = time.perf_counter()
    parts = corpus()
    for part in (cross_encoder, dense, training):
        part(*parts)
        torch.cuda.empty_cache()
    language_model(memory)
    print(f"{time.perf_counter() - start:.0f} s in total")


if __name__ == "__main__":
    main()
