"""Chapter 5 of heuss2025: chunks of KILT's Wikipedia, BM25's candidates and MaxSim."""

import json
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from data_errors import refused
from rehearsal.kilt import write_colbert, write_kilt, write_tokenizer
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import BertModel

from everycell.learning.models import ModelError
from everycell.trec.runs import read_run
from papers.heuss2025.ch5_kilt import (
    kilt_candidates,
    kilt_chunks,
    kilt_index,
    kilt_questions,
    read_tokenizer,
)
from papers.heuss2025.ch5_late_interaction import ColBert, kilt_rerank, load_colbert, max_sim

QUESTIONS = {"q1": "What of owls?", "q2": "What of bees?"}
PAGES = {
    "Owl": ["Owls hunt ", "at night."],
    "Bee": ["Bees make honey.", " Bees fly."],
    "Ant": ["Ants dig."],
}
WORDS = ["owl", "owls", "bee", "bees", "hunt", "honey", "night", "what", "of"]


@pytest.fixture
def kilt(tmp_path):
    write_kilt(tmp_path, QUESTIONS, PAGES)
    write_tokenizer(tmp_path / "tokenizer.json")
    return {
        "pages": tmp_path / "kilt_knowledgesource.json",
        "questions": tmp_path / "nq-test_without_answers-kilt.jsonl",
        "tokenizer": tmp_path / "tokenizer.json",
    }


def chunks(files, tokens):
    return dict(kilt_chunks(files["pages"], read_tokenizer(files["tokenizer"]), tokens))


def test_kilt_chunks_title_and_tokens(kilt):
    """A token is a byte; paragraphs are joined without a separator."""
    assert chunks(kilt, 10) == {
        "doc0": "Owl\nOwls hunt ",
        "doc1": "Owl\nat night.",
        "doc2": "Bee\nBees make ",
        "doc3": "Bee\nhoney. Bee",
        "doc4": "Bee\ns fly.",
        "doc5": "Ant\nAnts dig.",
    }


def test_kilt_chunks_equal_dropped(kilt):
    kilt["pages"].write_text(kilt["pages"].read_text() * 2)
    assert len(chunks(kilt, 100)) == 3


def test_kilt_chunks_invalid_page(kilt):
    with kilt["pages"].open("a") as file:
        file.write('{"wikipedia_title": "Fly", "text": "no list"}\n')
    with pytest.raises(ValueError, match=r"line 4: text: .* the fields wikipedia_title, text"):
        chunks(kilt, 100)


def test_kilt_questions_invalid(kilt):
    assert kilt_questions(kilt["questions"]) == QUESTIONS
    kilt["questions"].write_text(kilt["questions"].read_text() * 2)
    with refused("id", "q1", row=3):
        kilt_questions(kilt["questions"])


def test_read_tokenizer_invalid(kilt):
    with refused(path="kilt_knowledgesource.json"):
        read_tokenizer(kilt["pages"])


def test_kilt_documents_end_to_end(kilt, tmp_path):
    pytest.importorskip("jnius_config", reason="needs Lucene: run `make setup-lucene`")

    def run(function, output, params, **files):
        job = SimpleNamespace(
            input=SimpleNamespace(**{name: str(path) for name, path in (kilt | files).items()}),
            output=SimpleNamespace(**{name: str(path) for name, path in output.items()}),
            params=SimpleNamespace(tokens=100, **params),
            snakemake=SimpleNamespace(threads=1),
            log=StringIO(),
            folder_of=lambda name: tmp_path / "colbert",
        )
        function(job)
        return job.log.getvalue()

    index, folder = tmp_path / "index", tmp_path / "folder"
    folder.mkdir()
    assert run(kilt_index, {"index": index}, {}) == "3 chunks indexed.\n"
    names = {"questions": "questions.jsonl", "passages": "passages.jsonl", "run": "bm25.run"}
    output = {name: folder / file for name, file in names.items()}
    log = run(kilt_candidates, output, {"k1": 0.9, "b": 0.4, "candidates": 30}, index=index)
    assert log == "2 chunks for 2 questions.\n"
    first = read_run(output["run"])
    assert list(zip(first["query"], first["document"], strict=True)) == [
        ("q1", "doc0"),
        ("q2", "doc1"),
    ]
    passages = [json.loads(line) for line in output["passages"].read_text().splitlines()]
    assert passages[0] == {"id": "doc0", "text": "Owl\nOwls hunt at night."}
    write_colbert(tmp_path / "colbert", WORDS)
    reranked = {"run": folder / "retrieved.run"}
    params = {"query_length": 8, "length": 32, "gpu_precision": "float32"}
    run(kilt_rerank, reranked, params, **output)
    model, tokenizer = load_colbert(tmp_path / "colbert")
    expected = max_sim(
        model, tokenizer, QUESTIONS["q1"], [passages[0]["text"]], query_length=8, length=32
    )
    result = read_run(reranked["run"])
    assert result["score"][0] == pytest.approx(expected[0], abs=1e-5)
    assert result[["query", "document"]].equals(first[["query", "document"]])


def test_max_sim_by_hand(tmp_path):
    """Vectors of [CLS], the mark, words, [SEP] and, in queries, [MASK]; full stops do not count."""
    write_colbert(tmp_path, WORDS)
    model, tokenizer = load_colbert(tmp_path)
    vocabulary = tokenizer.get_vocab()

    def vectors(tokens, attended):
        ids = torch.tensor([[vocabulary[token] for token in tokens]])
        mask = torch.tensor([[1] * attended + [0] * (len(tokens) - attended)])
        with torch.no_grad():
            states = model.bert(input_ids=ids, attention_mask=mask).last_hidden_state[0]
            values = model.linear(states).numpy()
        return values / np.linalg.norm(values, axis=1, keepdims=True)

    query = vectors(["[CLS]", "[unused0]", "bees", "[SEP]", "[MASK]", "[MASK]"], 4)
    expected = []
    for words in (["owls", ".", "hunt"], ["bees"]):
        tokens = ["[CLS]", "[unused1]", *words, "[SEP]"]
        counted = [token != "." for token in tokens]
        similarities = vectors(tokens, len(tokens))[counted] @ query.T
        expected.append(similarities.max(axis=0).sum())
    result = max_sim(model, tokenizer, "Bees", ["Owls. Hunt", "Bees"], query_length=6, length=32)
    assert result == pytest.approx(expected, abs=1e-5)
    assert abs(result[0] - result[1]) > 0.01
    # Both are cut, including their marks.
    short = max_sim(model, tokenizer, "Bees", ["Owls. Hunt"], query_length=6, length=4)
    same = max_sim(model, tokenizer, "Bees", ["Owls"], query_length=6, length=32)
    assert short == pytest.approx(same, abs=1e-5)


def test_load_colbert_other_models(tmp_path):
    vocabulary = [*SPECIAL, *WORDS]
    model = tiny_bert(BertModel, words=len(vocabulary), positions=40)
    write_bert(tmp_path / "bert", model, vocabulary)
    with pytest.raises(ModelError, match="which a ColBERT has"):
        load_colbert(tmp_path / "bert")
    model = tiny_bert(ColBert, words=len(vocabulary), positions=40)
    write_bert(tmp_path / "unmarked", model, vocabulary)
    with pytest.raises(ModelError, match=r"lacks \[unused0\]"):
        load_colbert(tmp_path / "unmarked")
