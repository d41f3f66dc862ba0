"""Models from a local server that replaces the hub, and errors for missing ones."""

from __future__ import annotations

import errno
import io
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import sentencepiece
import torch
from command_line import call
from corpus_server import CorpusServer
from huggingface_hub import constants
from safetensors.torch import load_file
from tiny_bert import SPECIAL, tiny_bert, write_bert
from tiny_t5 import write_t5
from transformers import BertModel

from everycell.learning import models
from everycell.learning.models import (
    ModelError,
    cached_folder,
    commit_of,
    download_model,
    model_folder,
)
from everycell.learning.query_encoders import load_encoder
from everycell.learning.t5 import load_t5

FILES = {
    "config.json": b"{}",
    "tokenizer.json": b"{}",
    "model.safetensors": bytes(range(256)) * 40,
    "pytorch_model.bin": b"a pickle",
    "run.py": b"raise SystemExit",
    # As Command-R's, of which a chat with documents takes one.
    "additional_chat_templates/rag.jinja": b"{{ documents }}",
    "additional_chat_templates/notes.md": b"unread",
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CorpusServer]:
    with CorpusServer() as server:
        server.commit = server.add_repository("org/toy", FILES)
        # Both are read when the library is imported.
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        monkeypatch.setattr("huggingface_hub.hf_api.ENDPOINT", server.url, raising=False)
        monkeypatch.setattr("huggingface_hub.hf_api.api.endpoint", server.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE",
            server.url + "/{repo_id}/resolve/{revision}/{filename}",
        )  # fmt: skip
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield server


def test_download_model_safe_files_and_cache(server):
    server.fault("model.safetensors", "cut", times=1)
    folder = model_folder("org/toy", network=True)
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")} == {
        "config.json", "tokenizer.json", "model.safetensors", "additional_chat_templates/rag.jinja"
    }  # fmt: skip
    assert (folder / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert commit_of(folder) == server.commit
    server.asked.clear()
    for network in (False, True):
        assert model_folder("org/toy", network=network) == folder
    assert model_folder("org/toy", revision=server.commit) == folder
    assert model_folder(f"org/toy@{server.commit}") == folder
    with pytest.raises(ModelError, match="org/toy is not in the local cache"):
        model_folder("org/toy@v9")
    assert server.asked == []
    assert cached_folder("org/other") is None


@pytest.mark.parametrize(
    ("name", "revision", "fault", "message"),
    [
        ("org/none", None, None, "has no model org/none, or requires a token"),
        ("org/toy", None, "gated", "accepted its terms: accept them on http.*/org/toy, and set"),
        ("org/toy", "v9", None, "has no revision 'v9' of org/toy"),
        ("org/toy", None, "html", "could not be downloaded from http"),
    ],
)
def test_download_model_errors(server, name, revision, fault, message):
    if fault:
        server.fault(name, fault)
    with pytest.raises(ModelError, match=message) as caught:
        download_model(name, revision)
    assert "\n" not in str(caught.value)


def test_convert_weights_from_hub(server, tmp_path):
    write_bert(tmp_path / "bert", tiny_bert(BertModel, words=7, positions=40), [*SPECIAL, "a", "b"])
    weights = load_file(tmp_path / "bert/model.safetensors")
    torch.save(weights, tmp_path / "bert/pytorch_model.bin")
    (tmp_path / "bert/model.safetensors").unlink()
    server.add_repository("org/pickle", tmp_path / "bert")
    for name in ("org/pickle", "org/pickle@refs/pr/1"):
        result = tmp_path / name.replace("/", "-")
        code, _, err = call("data", "convert-weights", name, result)
        assert code == 0, err
        assert load_file(result / "model.safetensors").keys() == weights.keys()
        load_encoder(result, "first")
    requests = {path for _, path, _ in server.asked}
    assert not any(path.endswith(".safetensors") for path in requests)
    assert model_folder("org/toy@refs/pr/1", network=True).name == server.commit


def test_download_model_full_disk(server, monkeypatch):
    server.add_repository("org/pickle", {"config.json": b"{}", "pytorch_model.bin": b"x"})
    with pytest.raises(
        ModelError, match="no weights of org/pickle .* `everycell data convert-weights`"
    ):
        model_folder("org/pickle", network=True)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(models, "snapshot_download", full)
    with pytest.raises(ModelError, match="does not fit into .*hub: free some space"):
        download_model("org/toy")


def test_load_t5_revision(server, tmp_path):
    write_t5(tmp_path / "t5", ["true", "false"])
    write_bert(tmp_path / "bert", tiny_bert(BertModel, words=7, positions=40), [*SPECIAL, "a", "b"])
    for name, load in (("t5", load_t5), ("bert", partial(load_encoder, kind="first"))):
        commit = server.add_repository(f"org/{name}", tmp_path / name)
        with pytest.raises(ModelError, match=f"{name} is not in the local cache"):
            load(f"org/{name}@{commit}")
        model, _ = load(f"org/{name}@{commit}", network=True)
        assert not model.training
        # It is loaded from the cache, the same commit as was asked for.
        assert cached_folder(f"org/{name}", commit).name == commit
        files = server.repositories[f"org/{name}"][1]
        pickled = files | {"pytorch_model.bin": files["model.safetensors"]}
        del pickled["model.safetensors"]
        server.add_repository(f"org/{name}-pickle", pickled)
        with pytest.raises(ModelError, match=f"no weights of org/{name}-pickle .*convert-weights"):
            load(f"org/{name}-pickle", network=True)


def test_load_t5_sentencepiece(tmp_path):
    texts = ["Query: delft Document: the old town Relevant: true", "false", "where is delft"] * 20
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        vocab_size=60,
        hard_vocab_limit=False,
        **{"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1, "minloglevel": 2},
    )
    write_t5(tmp_path, [str(number) for number in range(100)])
    for path in tmp_path.glob("token*.json"):
        path.unlink()
    with pytest.raises(ModelError, match=r"has none of .*\*.model"):
        load_t5(tmp_path)
    (tmp_path / "spiece.model").write_bytes(model.getvalue())
    _, tokenizer = load_t5(tmp_path)
    (tmp_path / "spiece.model").rename(tmp_path / "tokenizer.model")
    assert model_folder(tmp_path) == tmp_path
    peer = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    for text in texts[:3]:
        assert tokenizer(text)["input_ids"] == [*peer.encode(text), tokenizer.eos_token_id]


def test_download_model_endpoint(server, tmp_path):
    code = "from everycell.learning.models import *; print(commit_of(download_model('org/toy')))"
    environment = {"PATH": "/usr/bin", **server.environment(tmp_path / "home")}
    environment["PYTHONPATH"] = str(Path(models.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == server.commit, done.stderr
