"""Speed on a GPU beside a plain loop: cross-encoder, dense encoder, training, language model.

Run: ``python bench/gpu.py`` on a machine with a GPU; it takes less than 4 minutes. Models have
random weights, which does not matter for speed: BERT-base, and a Llama of 8 billion numbers (fewer
where memory is short). The plain loop has weights in bfloat16, sorted texts that were tokenised
before, and large batches. Differences from float32 are shown as those of scores, of nDCG@10 over
lists of a hundred, and as Kendall's tau of the order.
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
from everycell.learning.cross_encoder import score_pairs, training_loss
from everycell.learning.models import set_gpu_precision
from everycell.learning.text_pairs import PairLength, join, tokenise
from everycell.learning.text_vectors import dense_vectors

QUERIES, DEPTH, WORDS, LENGTH = 80, 100, 8000, 256
#: Tokens in a batch of the plain loop.
PLAIN = 131_072


def seconds(function):
    """Result of a call and its wall time, once the GPU has ended."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    found = function()
    torch.cuda.synchronize()
    return found, time.perf_counter() - start


def corpus():
    """Tokenizer, queries, and documents of 100 to 200 words; a word is a word piece."""
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(WORDS)]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(special + words)})

    def texts(number, low, high):
        return [" ".join(rng.choice(words, rng.integers(low, high))) for _ in range(number)]

    return tokenizer, texts(QUERIES, 8, 20), texts(QUERIES * DEPTH, 100, 210)


def show(what, rate, unit, plain=None):
    """Print a line of the table."""
    share = "" if plain is None else f"  {rate / plain:4.0%} of the plain loop"
    print(f"{what:58} {rate:9,.0f} {unit}{share}", flush=True)


def differences(name, found, exact):
    """Print how scores, orders and nDCG differ from those in float32."""
    lists, truth = found.reshape(QUERIES, DEPTH), exact.reshape(QUERIES, DEPTH)
    taus = [kendalltau(*rows).statistic for rows in zip(lists, truth, strict=True)]
    # Relevance that depends on the exact score and chance: otherwise exact scores would be ideal.
    noise = np.random.default_rng(1).normal(size=truth.shape) * truth.std()
    gains = (truth + noise).argsort(axis=1).argsort(axis=1) >= DEPTH - 10
    discount = 1 / np.log2(np.arange(2, 12))
    ndcg = [
        np.take_along_axis(gains, np.argsort(-scores, axis=1)[:, :10], 1)
        @ discount
        / discount.sum()
        for scores in (lists, truth)
    ]
    change = ndcg[0] - ndcg[1]
    print(
        f"  {name} against float32: score up to {np.abs(lists - truth).max():.4f} (standard "
        f"deviation {truth.std(axis=1).mean():.4f}), nDCG@10 {change.mean():+.5f} in the mean and "
        f"up to {np.abs(change).max():.4f}, Kendall's tau {np.mean(taus):.5f}, at least "
        f"{min(taus):.5f}",
        flush=True,
    )


def plain_batches(sequences, pad_id, forward):
    """A plain loop over sorted sequences; answers stay on the GPU to the end."""
    order = np.argsort([-len(ids) for ids in sequences], kind="stable")
    found, start = [], 0
    with torch.inference_mode():
        while start < len(order):
            size = max(1, PLAIN // len(sequences[order[start]]))
            part = order[start : start + size]
            found.append(forward(pad([sequences[row] for row in part], pad_id, "cuda")))
            start += size
        return torch.cat(found).float().cpu().numpy()


def cross_encoder(tokenizer, queries, documents):
    """Pairs a second."""
    torch.manual_seed(0)
    config = BertConfig(vocab_size=WORDS + 5, num_labels=1)
    model = BertForSequenceClassification(config).eval().cuda()
    # Random weights give scores that hardly differ.
    model.classifier.weight.data *= 50
    texts = dict(enumerate(queries)), dict(enumerate(documents))
    pairs = [(number // DEPTH, number) for number in range(len(documents))]
    length = PairLength(LENGTH)
    few = pairs[: 4 * DEPTH]

    def ours(**options):
        return score_pairs(model, tokenizer, *texts, pairs, length, **options)

    score_pairs(model, tokenizer, *texts, few, length)
    _, slow = seconds(
        lambda: score_pairs(model, tokenizer, *texts, pairs[:2000], length, batch_tokens=2048)
    )
    exact, full = seconds(ours)
    set_gpu_precision("bfloat16")
    score_pairs(model, tokenizer, *texts, few, length)
    found, half = seconds(ours)
    set_gpu_precision("float32")
    half_model = BertForSequenceClassification(config).eval()
    half_model.load_state_dict(model.state_dict())
    half_model.cuda().bfloat16()
    query_ids, document_ids = tokenise(tokenizer, queries), tokenise(tokenizer, documents)
    joined = [join(tokenizer, query_ids[one], document_ids[other], length) for one, other in pairs]
    sizes = [len(pair.first) + len(pair.second) for pair in joined]

    def loop():
        order, answers, start = np.argsort(sizes)[::-1], [], 0
        with torch.inference_mode():
            while start < len(order):
                part = order[start : start + max(1, PLAIN // sizes[order[start]])]
                batch = pad([joined[row] for row in part], 0, "cuda")
                answers.append(half_model(**batch).logits[:, 0])
                start += len(part)
            return torch.cat(answers).float().cpu()

    loop()
    _, plain = seconds(loop)
    number = len(pairs)
    print(f"cross-encoder, {number} pairs of {np.mean(sizes):.0f} tokens (with tokenising)")
    show("  float32, 2,048 tokens a batch (as on a CPU)", 2000 / slow, "pairs/s")
    show("  float32, default batch", number / full, "pairs/s", number / plain)
    show("  bfloat16, default batch (as in the workflow)", number / half, "pairs/s", number / plain)
    show("  plain loop, bfloat16, tokenised before", number / plain, "pairs/s")
    differences("bfloat16", found, exact)


def dense(tokenizer, queries, documents):
    """Documents a second."""
    torch.manual_seed(0)
    model = BertModel(BertConfig(vocab_size=WORDS + 5), add_pooling_layer=False).eval().cuda()

    def ours(texts=documents, **options):
        return dense_vectors(model, tokenizer, texts, LENGTH, **options)

    ours(documents[:400])
    _, slow = seconds(lambda: ours(documents[:2000], batch_tokens=2048))
    exact, full = seconds(ours)
    exact_queries = ours(queries)
    set_gpu_precision("bfloat16")
    ours(documents[:400])
    found, half = seconds(ours)
    found_queries = ours(queries)
    set_gpu_precision("float32")
    half_model = BertModel(model.config, add_pooling_layer=False).eval()
    half_model.load_state_dict(model.state_dict())
    half_model.cuda().bfloat16()
    sequences = [np.r_[2, ids[: LENGTH - 2], 3] for ids in tokenise(tokenizer, documents)]

    def forward(batch):
        states, mask = half_model(**batch).last_hidden_state, batch["attention_mask"][:, :, None]
        return functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1)

    plain_batches(sequences, 0, forward)
    _, plain = seconds(lambda: plain_batches(sequences, 0, forward))
    number = len(documents)
    print(f"dense encoder, {number} documents of {np.mean([*map(len, sequences)]):.0f} tokens")
    show("  float32, 2,048 tokens a batch (as on a CPU)", 2000 / slow, "documents/s")
    show("  float32, default batch", number / full, "documents/s", number / plain)
    show(
        "  bfloat16, default batch (as in the workflow)",
        number / half,
        "documents/s",
        number / plain,
    )
    show("  plain loop, bfloat16, tokenised before", number / plain, "documents/s")
    scores = [
        np.einsum("qdh,qh->qd", vectors.reshape(QUERIES, DEPTH, -1), asked)
        for vectors, asked in ((found, found_queries), (exact, exact_queries))
    ]
    differences("bfloat16", *scores)


def training(tokenizer, queries, documents):
    """Milliseconds a step of 32 queries with three documents each."""
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
        ("  plain loop, bfloat16, tokenised before", True, True),
    ):
        model = BertForSequenceClassification(config).cuda().train()
        optimiser = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
        ours = training_loss(tokenizer, PairLength(LENGTH))
        asked, read = tokenise(tokenizer, queries[:32]), tokenise(tokenizer, documents[:96])
        batch = pad(
            [join(tokenizer, asked[i // 3], read[i], PairLength(LENGTH)) for i in range(96)],
            0,
            "cuda",
        )

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
        show("    that is", 32 * 3 * 15 / spent, "pairs/s")


def language_model(gpu_gb):
    """Tokens a second that a Llama writes, by the size of the batch."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    from everycell.language_models.batches import answer_in_batches
    from everycell.language_models.generation import Identity, Request
    from everycell.language_models.local import LocalModel
    from everycell.language_models.settings import Decoding

    symbols = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={each: i for i, each in enumerate(symbols)}, merges=[]))
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
    # Rows of the vocabulary beyond the bytes are never the likeliest: the tokenizer lacks them.
    model.lm_head.weight.data[256:] = 0
    asked = LocalModel(model, tokenizer, Identity(name="random"))
    billions = model.num_parameters() / 1e9
    print(f"generation, {billions:.1f} billion numbers in bfloat16, prompts of 1,370 tokens")
    new = 32
    for batch in (1, 8, 64):
        texts = [f"{number:05} " + "A question. " * 113 + "Why?    " for number in range(batch)]
        requests = [Request(prompt=text, decoding=Decoding(max_tokens=new)) for text in texts]
        if batch == 1:
            list(answer_in_batches(asked, requests, batch))
            requests = [Request(prompt="x" + texts[0][1:], decoding=Decoding(max_tokens=new))]
        answers, spent = seconds(lambda: list(answer_in_batches(asked, requests, batch)))  # noqa: B023
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
            f"    reading {batch * read / reading:,.0f} tokens/s, a step "
            f"{writing / (new - 1) * 1e3:.1f} ms, its writing alone "
            f"{batch * (new - 1) / writing:,.0f} tokens/s",
            flush=True,
        )


def main():
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("torch sees no GPU: run this bench on a machine with one.")
    properties = torch.cuda.get_device_properties(0)
    memory = properties.total_memory / 1e9
    print(f"{properties.name}, {memory:.0f} GB, torch {torch.__version__}", flush=True)
    begun = time.perf_counter()
    parts = corpus()
    for part in (cross_encoder, dense, training):
        part(*parts)
        torch.cuda.empty_cache()
    language_model(memory)
    print(f"{time.perf_counter() - begun:.0f} s in all")


if __name__ == "__main__":
    main()
