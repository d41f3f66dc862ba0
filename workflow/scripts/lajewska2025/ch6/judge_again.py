"""What a language model says that the released responses support."""

from pathlib import Path

from everycell.collections.ginger_responses import read_responses
from everycell.collections.nugget_labels import JUDGES, read_nugget_labels
from everycell.engine.job import Job
from everycell.engine.receipts import write_json
from everycell.engine.settings import part_of
from everycell.language_models.answering import open_language_model
from everycell.language_models.generation import Request
from everycell.language_models.settings import AskSettings, Decoding
from everycell.studies.lajewska2025.ch6.judging import judged_again

with Job(snakemake) as job:
    files, params = snakemake.input, snakemake.params
    settings = part_of(snakemake.config, AskSettings)
    labels = read_nugget_labels(*map(Path, files.labels)).nuggets
    decoding = Decoding(max_tokens=params.max_tokens)
    with open_language_model(
        params.model,
        settings.language_models,
        params.record,
        folder=Path(files.model) if files.model else None,
        network=settings.network,
    ) as model:

        def ask(prompts):
            """Answers of the model, each recorded."""
            requests = [Request(prompt=messages, decoding=decoding) for messages in prompts]
            return [answer.text for answer in model.answer_all(requests)]

        found = judged_again(
            labels[labels["judge"] == JUDGES[params.judge]],
            read_responses(map(Path, files.responses)),
            ask,
            topics=params.topics,
        )
        job.log.write(f"{model.identity.name}: {model.asked} requests were not recorded.\n")
        write_json(Path(snakemake.output.provenance), model.provenance())
    job.write_frame(found.assign(judge=params.judge), "labels")
