"""Natural Questions of BEIR with released answers, converted to the format of chapter 5."""

from pathlib import Path

from everycell.collections.beir import convert_beir
from everycell.jobs.job import Job

with Job(snakemake) as job:
    converted = convert_beir(
        Path(snakemake.input.corpus).parent,
        Path(snakemake.output.passages).parent,
        answers=Path(snakemake.input.answers),
    )
    job.log.write(
        f"{converted.passages} passages, {converted.questions} questions, {converted.answered} of "
        f"them with correct answers; left out {converted.left_out} without a relevant passage\n"
    )
