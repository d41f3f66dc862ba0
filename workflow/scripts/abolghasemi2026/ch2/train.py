"""Train one model on the pairs of the training queries; goes on where it was stopped."""

from pathlib import Path

import pandas as pd

from everycell.engine.job import Job
from everycell.learning import cross_encoder, tilde, tildev2
from everycell.learning.examples import ranking_examples
from everycell.learning.models import device, load_model, one_thread
from everycell.learning.training import TrainingOptions, train

HEADS = {"tilde": "masked-lm", "tildev2": "encoder"}

with Job(snakemake) as job:
    one_thread()
    settings = snakemake.params
    kind = snakemake.wildcards.kind
    encoder, tokenizer = load_model(
        job.folder_of("encoder"), HEADS.get(kind, "classifier"), seed=job.seed
    )
    reading = settings.reading
    stop = tilde.stop_ids(tokenizer)
    if kind == "tilde":
        model, loss = encoder, tilde.two_way_loss(tokenizer, reading["length"], stop)
    elif kind == "tildev2":
        model = tildev2.from_encoder(encoder, bias=reading["bias"], seed=job.seed)
        loss = tildev2.ranking_loss(tokenizer, reading["length"], stop, scale=reading["scale"])
    else:
        model = encoder
        loss = cross_encoder.training_loss(
            tokenizer,
            cross_encoder.PairLength(**reading["pair_length"]),
            triplet_weight=1.0 if kind == "mtft" else 0.0,
        )
    examples = ranking_examples(
        *(
            pd.read_parquet(snakemake.input[part])
            for part in ("queries", "documents", "candidates")
        ),
        pairs=settings.pairs,
        negatives=settings.negatives,
        seed=job.seed,
        tasks=settings.tasks,
    )
    train(
        model.to(device()),
        examples,
        loss,
        TrainingOptions(seed=job.seed, **settings.options),
        Path(snakemake.output.model),
        tokenizer=tokenizer,
        settings={"kind": kind, "code": settings.code, **reading},
    )
