"""Answer probabilities of validation and test sentences by a trained classifier."""

from everycell.jobs.job import Job
from everycell.learning.models import device, load_model, set_gpu_precision, use_one_thread
from everycell.learning.sentence_classifier import answer_probabilities
from papers.lajewska2025.answerability_data import (
    judged_pairs,
    read_labels,
    score_frame,
)

with Job(snakemake) as job:
    use_one_thread()
    set_gpu_precision(snakemake.params.gpu_precision)
    model, tokenizer = load_model(job.folder_of("model"), "classifier")
    pairs = judged_pairs(*read_labels(snakemake.input))
    probabilities = answer_probabilities(
        model.to(device()), tokenizer, pairs, snakemake.params.length
    )
    job.write_frame(score_frame(pairs, probabilities), "scores")
