"""Small material for the chapters that rank SciDocs and MS MARCO, under its own names."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
import torch
from rehearsal.material import fair_reranking
from rehearsal.stage import Settings, Stage
from safetensors.torch import load_file
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import (
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    PreTrainedModel,
    RobertaConfig,
)
from workflow.project import Project
from workflow.test_msmarco_path import index_impacts, words_of

from everycell.collections.msmarco import QUERY_SETS, read_query_set
from everycell.config import Config
from everycell.learning.models import use_one_thread
from everycell.learning.query_encoders import Ance, encode_queries, load_encoder
from everycell.learning.tildev2 import TildeV2
from everycell.retrieval.prebuilt import index_texts
from everycell.sources import fetch

#: Query encoders that the hub has only as pickles.
PICKLED = ("unicoil", "ance", "distilbert_kd", "distilbert_tasb", "tct_colbert")


def query_by_example(stage: Stage) -> Settings:
    """abolghasemi2026, chapter 2: SciDocs fetched, and four models on the hub, one at a commit.

    In published form: names and lines of the nine files, a paper without metadata among them, and
    SciBERT's files. Invented: papers, weights and the other names of models.
    """
    # TILDE takes the layout of BERT's own vocabulary.
    words = ["[PAD]", "[unused0]", "[unused1]", *SPECIAL[1:], "the", "##s"]
    words += ["all", "about", "study", "part", "bees", "rivers", "bridges"]

    def write(kind: type[PreTrainedModel]) -> Callable[[Path], None]:
        return lambda folder: write_bert(
            folder, tiny_bert(kind, words=len(words), positions=32), words
        )

    encoders = {
        name: stage.put_on_hub(f"toy/{name}", write(kind))
        for name, kind in (
            ("bert", BertForMaskedLM),
            ("scibert", BertForMaskedLM),
            ("tilde_msmarco", BertForMaskedLM),
            ("tildev2_msmarco", TildeV2),
        )
    }
    # Its repository has only a vocabulary.
    scibert = stage.folder / "made" / encoders["scibert"].replace("/", "--")
    (scibert / "tokenizer_config.json").unlink()
    stage.hub.add_repository(encoders["scibert"], scibert)
    encoders["scibert"] += f"@{stage.hub.repositories[encoders['scibert']][0]}"
    lengths = ("training", "text", "query", "expanded", "zero_shot", "pair")
    few = {"epochs": 1, "batch": 16}
    return stage.fetched() | {
        "query_by_example": {
            "scidocs": {"folder": "fetch"},
            "encoders": encoders,
            "full": {
                "seeds": 1,
                "lengths": dict.fromkeys(lengths, 24),
                "tilde": few,
                "tildev2": few,
                "cross_encoder": few,
            },
            "noise_seeds": 2,
        }
    }


def group_fairness(stage: Stage) -> Settings:
    """abolghasemi2026, chapter 4: MS MARCO, its indexes and models, under their own names.

    In published form: names and archives of the corpus, names and kinds of indexes with a stray
    entry in their archives, names, files and architectures of the query encoders, five of them
    pickles, texts and ids of the queries. Invented: passages, weights.
    """
    sets = {
        name: read_query_set(
            name, fetch(key, stage.folder / "made", mirror=stage.mirror, network=False)
        )
        for name, key in QUERY_SETS.items()
    }
    # A passage a query, so that each ranker finds something for each.
    answered = list(sets["qs1"])
    message = ("he told her brother John", "she told his sister Mary", "the bee told the river")
    texts = [f"{sets['qs1'][query]}, {message[n % 3]}" for n, query in enumerate(answered)]
    stage.hub.add_msmarco(
        texts,
        {query: sets["qs1"][query] for query in answered},
        {query: number for number, query in enumerate(answered)},
    )
    known = Config().term_fairness.msmarco
    words = sorted({word for text in [*sets["qs1"].values(), *message] for word in words_of(text)})
    for name in known.rerankers.model_dump().values():
        stage.put_on_hub(name, lambda folder: _write(folder, BertForSequenceClassification, words))
    kinds = {"ance": "ance", "tct_colbert": "tct_colbert", "sbert": "mean"}
    stage.put_on_hub(known.encoders.unicoil, lambda folder: _write(folder, TildeV2, words))
    for ranker, index in known.indexes.model_dump().items():
        position = stage.folder / "made/indexes" / index
        position.mkdir(parents=True)
        if ranker == "bm25":
            index_texts(((str(n), text) for n, text in enumerate(texts)), position / "index")
        elif ranker in ("unicoil", "deepimpact"):
            index_impacts(texts, position)
            shutil.rmtree(position / "vectors")
        else:
            model = getattr(known.encoders, ranker)
            stage.put_on_hub(model, _writer(ranker, words))
            folder = stage.folder / "made" / model.replace("/", "--")
            _index_vectors(texts, folder, kinds.get(ranker, "first"), position / "index")
        archive = position / "packed.tar.gz"
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(position / "index", "index")
            packed.addfile(tarfile.TarInfo("._index"))
        stage.hub.add_file(f"/indexes/{index}", archive.read_bytes(), ("pyserini", index))
    downloads = stage.hub.write_downloads(stage.folder / "downloads.json")
    return {
        "term_fairness": {
            "cutoffs": 10,
            "msmarco": {
                "folder": "fetch",
                "passages": len(texts),
                "hits": 10,
                "pair": 48,
                "encoders": {
                    ranker: _converted(stage, getattr(known.encoders, ranker), f"models/{ranker}")
                    for ranker in PICKLED
                },
            },
        },
        "corpora": {"downloads": str(downloads)},
    }


def trained_rankers(stage: Stage) -> Settings:
    """heuss2025, chapter 3: triples, an encoder and TAS-B, from which three rankers are trained.

    In published form: the files of MS MARCO, the triples, texts and ids of the queries, index and
    query encoder of TAS-B. Invented: passages, judgements, triples, weights.
    """
    settings = fair_reranking(stage)["term_fairness"]
    data = stage.folder / "data/msmarco"
    test_queries = read_query_set(
        "qs2", fetch(QUERY_SETS["qs2"], stage.folder / "made", mirror=stage.mirror, network=False)
    )
    common = [word for word, _ in Counter(" ".join(test_queries.values()).split()).most_common(20)]
    rng = np.random.default_rng(5)
    texts = [
        " ".join([line.partition("\t")[2], *rng.choice(common, 4)])
        for line in (data / "collection.tsv").read_text().splitlines()
    ]
    lines = "".join(f"{number}\t{text}\n" for number, text in enumerate(texts))
    (data / "collection.tsv").write_text(lines)
    queries = {"7": "where is the bee", "8": "who is he", "9": "a river"}
    (data / "queries.train.tsv").write_text("".join(f"{q}\t{t}\n" for q, t in queries.items()))
    (data / "qrels.train.tsv").write_text("7\t0\t1\t1\n8\t0\t0\t1\n9\t0\t4\t1\n")
    triples = [f"{query}\t{texts[0]}\t{texts[1]}\n" for query in queries.values()]
    (data / "triples.train.small.tsv").write_text("".join(triples * 4))
    index_texts(((str(n), text) for n, text in enumerate(texts)), data / "bm25")
    all_texts = [*texts, *queries.values(), *test_queries.values()]
    words = sorted({word for text in all_texts for word in words_of(text)})
    _write_distilbert(make_folder(data / "tasb"), words)
    _index_vectors(texts, data / "tasb", "first", data / "tasb-index")
    mini = stage.put_on_hub("toy/mini", lambda folder: _write(folder, BertForMaskedLM, words))
    settings["msmarco"] |= {
        "pair": 48,
        "indexes": {"bm25": str(data / "bm25"), "distilbert_tasb": str(data / "tasb-index")},
        "encoders": {"distilbert_tasb": str(data / "tasb")},
    }
    strengths = {"ADV": ("1", "2"), "CODER": ("3", "4")}
    few = {"epochs": 2, "batch": 4, "learning_rate": 1e-2}
    return {
        "term_fairness": settings,
        "uncertain_ranking": {
            "msmarco": {
                "depth": 20,
                "runs": {method: dict.fromkeys(of, "train") for method, of in strengths.items()},
                "training": {
                    "triples": str(data / "triples.train.small.tsv"),
                    "first": 10,
                    "encoder": mini,
                    "pairs": few,
                    "coder": few | {"warmup_steps": 1, "candidates": 15, "cutoff": 10},
                },
            }
        },
    }


def make_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _converted(stage: Stage, name: str, target: str) -> str:
    """Serve a model as a pickle, as the hub has it, and convert it as a user does."""
    folder = stage.folder / "made" / name.replace("/", "--")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    stage.hub.add_repository(name, folder)
    done = Project(stage.folder, stage.mirror).everycell(
        "data", "convert-weights", name, target, env=stage.hub.environment(stage.folder / "home")
    )
    assert done.returncode == 0, done.stdout
    return target


def _writer(ranker: str, words: list[str]) -> Callable[[Path], None]:
    """Write an encoder of vectors with the files that its repository has."""
    if ranker == "ance":
        return write_ance
    if ranker != "tct_colbert":
        return lambda folder: _write_distilbert(folder, words)

    def write(folder: Path) -> None:
        _write(folder, BertModel, words)
        (folder / "tokenizer_config.json").unlink()
        config = json.loads((folder / "config.json").read_text())
        del config["model_type"]
        (folder / "config.json").write_text(json.dumps(config))

    return write


def _write_distilbert(folder: Path, words: list[str]) -> None:
    vocabulary = [*SPECIAL, *words]
    sizes = {"dim": 8, "hidden_dim": 8, "n_heads": 1, "n_layers": 1, "initializer_range": 0.5}
    torch.manual_seed(0)
    model = DistilBertModel(DistilBertConfig(vocab_size=len(vocabulary), **sizes))
    write_bert(folder, model, vocabulary)


def _write(folder: Path, kind: type[PreTrainedModel], words: list[str]) -> None:
    vocabulary = [*SPECIAL, *words]
    model = tiny_bert(kind, words=len(vocabulary), positions=64)
    if kind is TildeV2:
        # Else most weights of words are 0.
        model.tok_proj.bias.data.fill_(3.0)
    write_bert(folder, model, vocabulary)


def write_ance(folder: Path) -> None:
    """An ANCE whose tokenizer knows letters."""
    letters = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *"abcdefghijklmnopqrstuvwxyz", "Ġ"]
    sizes = {"hidden_size": 8, "num_attention_heads": 1, "intermediate_size": 8}
    config = RobertaConfig(
        vocab_size=len(letters), num_hidden_layers=1, max_position_embeddings=80, **sizes
    )
    Ance(config).save_pretrained(folder)
    vocabulary = {letter: position for position, letter in enumerate(letters)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizer"}')


def _index_vectors(texts: list[str], encoder: Path, kind: str, folder: Path) -> None:
    """A flat index of faiss as pyserini publishes one, of passages read by the query encoder."""
    # Threads of tiny models wait for each other longer than they compute.
    use_one_thread()
    vectors = list(encode_queries(*load_encoder(encoder, kind), kind, texts))
    folder.mkdir()
    index = faiss.IndexFlatIP(len(vectors[0]))
    index.add(np.array(vectors, dtype=np.float32))
    faiss.write_index(index, str(folder / "index"))
    (folder / "docid").write_text("".join(f"{number}\n" for number in range(len(texts))))
