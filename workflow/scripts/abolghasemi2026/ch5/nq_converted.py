"""Natural Questions of BEIR, with released answers, in the form that the chapter reads."""

from pathlib import Path

from everycell.collections.beir import convert_beir
from everycell.engine.job import Job

with Job(snakemake) as job:
    made = convert_beir(
        Path(snakemake.input.corpus).parent,
        Path(snakemake.output.passages).parent,
        answers=Path(snakemake.input.answers),
    )
    job.log.write(
        f"{made.passages} passages, {made.questions} questions, {made.answered} of them with right "
        f"answers; {made.left_out} without a relevant passage are left out\n"
    )
