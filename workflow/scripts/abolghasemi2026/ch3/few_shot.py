"""What a language model that is shown two examples says of test samples; answers are recorded."""

from pathlib import Path

import pandas as pd

from everycell.engine.job import Job
from everycell.engine.receipts import write_json
from everycell.engine.settings import part_of
from everycell.language_models.answering import open_language_model
from everycell.language_models.settings import AskSettings, Decoding
from everycell.studies.abolghasemi2026.ch3.estimators import said_of
from everycell.studies.abolghasemi2026.ch3.few_shot import FewShotModel, labelled_samples

with Job(snakemake) as job:
    chosen, files = snakemake.params, snakemake.input
    settings = part_of(snakemake.config, AskSettings)
    with open_language_model(
        chosen.model,
        settings.language_models,
        chosen.record,
        folder=Path(files.model) if files.model else None,
        also=[Path(files.recorded)],
        network=settings.network,
    ) as model:
        estimator = FewShotModel(chosen.name, model.answer_all, Decoding(**chosen.decoding))
        samples = pd.read_parquet(files.samples)
        kept = Path(snakemake.output.predictions).parent
        said = [
            said_of(estimator, parts, {}, kept, seeds=1, seed=job.seed).assign(benchmark=benchmark)
            for benchmark, parts in labelled_samples(samples, pairs=chosen.pairs, seed=job.seed)
        ]
        job.log.write(f"{model.identity.name}: {model.asked} answers were not recorded.\n")
        write_json(Path(snakemake.output.provenance), model.provenance())
    job.write_frame(pd.concat(said, ignore_index=True), "predictions")
