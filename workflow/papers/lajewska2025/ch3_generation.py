"""Turns of CAsT that T5 rewrites, and a T5 that learns it on QReCC, for chapter 3 of lajewska2025.

Source of the training: L743-L747, and the authors' code for the separator, and for the choice of
the model with the lowest loss on the validation set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from datasets import Dataset
from transformers import PreTrainedTokenizerBase, T5ForConditionalGeneration

from everycell.base.errors import DataError
from everycell.base.untrusted import parse_json
from everycell.jobs.job import Job
from everycell.learning.checkpoints import TrainingOptions
from everycell.learning.models import device, use_one_thread
from everycell.learning.t5 import count_tokens, generate, load_t5
from everycell.learning.training import train
from papers.lajewska2025.cast_data import read_rewrites, read_turns
from papers.lajewska2025.ch3_collections import texts_of
from papers.lajewska2025.ch3_rewriting import Count, rewrite, trimmed_context


def cast_rewrite(job: Job) -> None:
    """Rewrite the turns with T5, and count those that are identical to the released ones."""
    params = job.params
    turns = read_turns(Path(job.input.topics)).set_index("query", drop=False)
    # The topics of 2021 contain the answers; those of 2020 contain passage ids.
    texts = texts_of(Path(job.input.passages), set(turns["answer_id"]))
    last_answers = turns["answer"].where(turns["answer"] != "", turns["answer_id"].map(texts))
    answers = last_answers.dropna().to_dict()
    job.log.write(f"{len(answers)} of {len(turns)} answers have text\n")
    model, tokenizer = load_t5(job.folder_of("rewriter"))
    model.to(device())
    rewrites = rewrite(
        turns,
        lambda contexts: generate(model, tokenizer, contexts, length=params.length),
        form=params.form,
        answers=answers,
        length=params.length if params.form == "trimmed" else None,
        count=lambda text: count_tokens(tokenizer, text),
        separator=params.separator,
    )
    released = read_rewrites(Path(job.input.released), turns)
    table = pd.DataFrame({"rewrite": rewrites, "released": released})
    identical = int((table["rewrite"] == table["released"]).sum())
    job.log.write(f"{identical} of {len(table)} rewrites are identical to the released ones\n")
    table.to_csv(job.output.rewrites)


def cast_train_rewriter(job: Job) -> None:
    """Fine-tune T5 on QReCC; interrupted training resumes."""
    use_one_thread()
    params = job.params
    model, tokenizer = load_t5(job.folder_of("start"))
    sets = [
        read_qrecc(
            Path(path),
            length=params.length,
            count=lambda text: count_tokens(tokenizer, text),
            separator=params.separator,
        )
        for path in (job.input.train, job.input.validation)
    ]
    examples, held_out = map(Dataset.from_list, sets)
    loss = rewriting_loss(tokenizer, params.length)

    def validate(model: T5ForConditionalGeneration) -> float:
        """Mean loss on the validation set, negative since more is better."""
        starts = range(0, len(held_out), params.options["batch_size"])
        size = params.options["batch_size"]
        losses = [loss(model, held_out[start : start + size]).item() for start in starts]
        return -sum(losses) / len(losses)

    record = train(
        model.to(device()),
        examples,
        loss,
        TrainingOptions(**params.options),
        Path(job.output.model),
        tokenizer=tokenizer,
        validate=validate,
        settings={"length": params.length, "separator": params.separator, "code": params.code},
    )
    job.log.write(f"{len(examples)} examples, best step {record.best_step}\n")


def read_qrecc(path: Path, *, length: int, count: Count, separator: str) -> list[dict[str, str]]:
    """Contexts of QReCC's questions, in the format of `trimmed_context`, and their rewrites.

    The published context lists the rewritten questions and the answers of earlier turns in turn.
    """
    try:
        rows = parse_json(path.read_bytes())
        if not isinstance(rows, list) or not rows:
            raise ValueError("it is not a list with questions")
        examples = [
            {
                "context": trimmed_context(
                    row["Context"][::2],
                    row["Context"][-1] if row["Context"] else "",
                    row["Question"],
                    length=length,
                    count=count,
                    separator=separator,
                ),
                "rewrite": row["Rewrite"],
            }
            for row in rows
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            path,
            fault=f"cannot be read ({type(error).__name__}: {error})",
            expected="the published JSON list with Context, Question and Rewrite",
            fix="download it again",
        ) from None
    return examples


def rewriting_loss(
    tokenizer: PreTrainedTokenizerBase, length: int
) -> Callable[[T5ForConditionalGeneration, Mapping[str, Sequence[Any]]], torch.Tensor]:
    """Cross-entropy of the rewrites, as a loss for `everycell.learning.training.train`."""

    def loss(model: T5ForConditionalGeneration, rows: Mapping[str, Sequence[Any]]) -> torch.Tensor:
        def tokens(texts: Sequence[str]) -> Mapping[str, torch.Tensor]:
            return tokenizer(
                list(texts),
                truncation=True,
                max_length=length,
                padding=True,
                return_token_type_ids=False,
                return_tensors="pt",
            ).to(model.device)

        rewrites = tokens(rows["rewrite"])
        # The loss ignores padding.
        labels = rewrites["input_ids"].masked_fill(rewrites["attention_mask"] == 0, -100)
        return model(**tokens(rows["context"]), labels=labels).loss

    return loss
