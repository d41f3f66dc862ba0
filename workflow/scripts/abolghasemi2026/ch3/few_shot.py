"""Labels of satisfaction by a language model that is shown two examples; answers are recorded."""

from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import frame_samples
from everycell.collections.user_satisfaction import CAUSE_BENCHMARK
from everycell.dialogue.few_shot import drawn_pairs, messages, parse_label
from everycell.engine.job import Job
from everycell.engine.receipts import write_json
from everycell.engine.settings import part_of
from everycell.language_models.answering import open_language_model
from everycell.language_models.generation import Request
from everycell.language_models.settings import AskSettings, Decoding

#: Name of a model in the tables, by that in the configuration.
NAMES = {"smollm2": "SmolLM2"}

with Job(snakemake) as job:
    chosen, files = snakemake.params, snakemake.input
    settings = part_of(snakemake.config, AskSettings)
    samples = pd.read_parquet(files.samples)
    samples = samples[samples["benchmark"] == CAUSE_BENCHMARK]
    test_sets = (frame_samples(samples[samples["part"] == part]) for part in ("main", "cf"))
    parts = drawn_pairs(*test_sets, size=chosen.samples, seed=job.seed)
    asked = [
        (part, each) for part, drawn in zip(("main", "cf"), parts, strict=True) for each in drawn
    ]
    decoding = Decoding(max_tokens=chosen.max_tokens)
    with open_language_model(
        chosen.model,
        settings.language_models,
        chosen.record,
        folder=Path(files.model) if files.model else None,
        also=[Path(files.recorded)],
        network=settings.network,
    ) as model:
        answers = model.answer_all(
            [Request(prompt=messages(each.turns), decoding=decoding) for _, each in asked]
        )
        write_json(Path(snakemake.output.provenance), model.provenance())
    labels = [parse_label(answer.text) for answer in answers]
    table = pd.DataFrame(
        {
            "benchmark": CAUSE_BENCHMARK,
            "part": [part for part, _ in asked],
            "id": [each.id for _, each in asked],
            "satisfied": [each.satisfied for _, each in asked],
            "model": NAMES.get(chosen.model, chosen.model),
            "setup": "Few-shot",
            "seed": 0,
            "parsed": [label is not None for label in labels],
        }
    )
    # An answer without a label is a wrong one.
    table["predicted"] = [
        not each.satisfied if label is None else label
        for (_, each), label in zip(asked, labels, strict=True)
    ]
    job.write_frame(table, "answers")
