"""Files of KILT and models, from which heuss2025, chapter 5, makes its questions and documents."""

from __future__ import annotations

import json
from pathlib import Path

from tiny_bert import SPECIAL, tiny_bert, write_bert
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from papers.heuss2025.ch5_late_interaction import DOCUMENT, QUERY, ColBert


def write_tokenizer(path: Path) -> None:
    """Write a tokenizer of bytes, like that of GPT-2 without its merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator([], trainers.BpeTrainer(initial_alphabet=alphabet))
    tokenizer.save(str(path))


def write_colbert(folder: Path, words: list[str]) -> None:
    """Write a random ColBERT whose vocabulary has these words."""
    vocabulary = [*SPECIAL, QUERY, DOCUMENT, ".", "?", *words]
    write_bert(folder, tiny_bert(ColBert, words=len(vocabulary), positions=300), vocabulary)


def write_kilt(folder: Path, questions: dict[str, str], pages: dict[str, list[str]]) -> None:
    """Write the pages and questions of KILT, with more fields than are read."""
    knowledge = [
        {"_id": str(number), "wikipedia_id": str(number), "wikipedia_title": title, "text": text}
        for number, (title, text) in enumerate(pages.items())
    ]
    tasks = [{"id": name, "input": question, "meta": {}} for name, question in questions.items()]
    for name, rows in (
        ("kilt_knowledgesource.json", knowledge),
        ("nq-test_without_answers-kilt.jsonl", tasks),
    ):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
