"""Convert a language model from GGUF to safetensors."""

from pathlib import Path

from everycell.jobs.job import Job
from everycell.language_models.local import convert_gguf
from everycell.learning.models import use_one_thread

with Job(snakemake) as job:
    use_one_thread()
    convert_gguf(
        Path(snakemake.input.gguf),
        Path(snakemake.output.model),
        name=snakemake.wildcards.language_model,
    )
