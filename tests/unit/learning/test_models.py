"""Loading models, its errors, and the two zero-shot systems."""

import inspect
import json
import shutil
from contextlib import suppress
from pathlib import Path
from traceback import format_exception

import numpy as np
import pytest
import torch
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    BertTokenizerFast,
    GPT2Config,
    dynamic_module_utils,
)
from transformers.utils import logging

from everycell.base.errors import DataError
from everycell.learning import models as hub_module
from everycell.learning import text_vectors
from everycell.learning.models import (
    ModelError,
    device,
    download_model,
    load_model,
    read_tokenizer,
    set_gpu_precision,
    use_one_thread,
    write_untrained,
)
from everycell.learning.text_vectors import dense_vectors, splade_weights
from everycell.learning.tildev2 import from_encoder
from everycell.sources import fetch_set

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(40))]
CONFIG = BertConfig(
    vocab_size=len(WORDS),
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=16,
    max_position_embeddings=24,
    # Wide enough that some logits are above 0 and vectors differ.
    initializer_range=0.5,
)
TEXTS = ["w1 w2 w3", "", "w4", "w1 w2 w3 w5 w6 w7 w8 w9 w10 w11", "unknown w12"]


def make(kind: type, tokenizer: BertTokenizerFast, folder: Path) -> Path:
    torch.manual_seed(0)
    kind(CONFIG).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def masked_lm(tokenizer, tmp_path_factory) -> Path:
    return make(BertForMaskedLM, tokenizer, tmp_path_factory.mktemp("masked_lm"))


@pytest.fixture(scope="module")
def encoder(tokenizer, tmp_path_factory) -> Path:
    return make(BertModel, tokenizer, tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def damaged(masked_lm, tmp_path) -> Path:
    """Return a copy of a whole model, for a test to damage."""
    return shutil.copytree(masked_lm, tmp_path / "model")


# --- loading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("head", "kind"), [("masked-lm", BertForMaskedLM), ("encoder", BertModel)])
def test_load_model_ready(masked_lm, head, kind):
    model, tokenizer = load_model(masked_lm, head)
    assert type(model) is kind and not model.training
    assert model.dtype == torch.float32 and model.device.type == "cpu"
    assert tokenizer("w1 w2")["input_ids"] == [2, 6, 7, 3]


def test_load_model_quiet(masked_lm, capfd):
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    load_model(masked_lm, "classifier", seed=1)
    assert capfd.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_load_model_half_precision(masked_lm, tokenizer, tmp_path):
    model, _ = load_model(masked_lm, "masked-lm")
    model.to(torch.bfloat16).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert load_model(tmp_path, "masked-lm")[0].dtype == torch.float32


def test_load_model_sharded(masked_lm, tokenizer, tmp_path):
    full, _ = load_model(masked_lm, "masked-lm")
    full.save_pretrained(tmp_path, max_shard_size="4KB")
    tokenizer.save_pretrained(tmp_path)
    assert not (tmp_path / "model.safetensors").exists()
    again, _ = load_model(tmp_path, "masked-lm")
    assert torch.equal(
        again.bert.embeddings.word_embeddings.weight, full.get_input_embeddings().weight
    )


def test_load_model_new_head_seed(encoder):
    state = torch.random.get_rng_state()
    first, again, other = (load_model(encoder, "classifier", seed=s)[0] for s in (1, 1, 2))
    assert torch.equal(first.classifier.weight, again.classifier.weight)
    assert not torch.equal(first.classifier.weight, other.classifier.weight)
    assert first.classifier.weight.shape == (1, 16)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_load_model_trained_head(encoder, tokenizer, tmp_path):
    model, _ = load_model(encoder, "classifier", seed=3)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    trained, _ = load_model(tmp_path, "classifier")
    assert isinstance(trained, BertForSequenceClassification)
    assert torch.equal(trained.classifier.weight, model.classifier.weight)


def test_load_model_tildev2(encoder, tokenizer, tmp_path):
    model = from_encoder(load_model(encoder, "encoder")[0], seed=4)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded, _ = load_model(tmp_path, "tildev2")
    assert torch.equal(loaded.tok_proj.weight, model.tok_proj.weight)


def test_use_one_thread_and_device():
    use_one_thread()
    assert torch.get_num_threads() == 1
    assert device().type == ("cuda" if torch.cuda.is_available() else "cpu")


# --- errors -------------------------------------------------------------------------------------


def only_a_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def truncated(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def no_safetensors(folder: Path) -> None:
    (folder / "model.safetensors").write_text("<!doctype html>")


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def broken_config(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def config_of_another_size(folder: Path) -> None:
    text = (folder / "config.json").read_text()
    (folder / "config.json").write_text(text.replace('"hidden_size": 16', '"hidden_size": 8'))


def another_architecture(folder: Path) -> None:
    GPT2Config().save_pretrained(folder)


def a_decoder(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"is_decoder": True}))


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (only_a_pickle, "only as pytorch_model.bin, which can run code"),
        (no_weights, "has no model.safetensors"),
        (truncated, "The weights of .* cannot be read"),
        (no_safetensors, "The weights of .* cannot be read"),
        (no_config, "has no config.json"),
        (broken_config, "cannot be read as a model's configuration"),
        (config_of_another_size, "The weights of .* cannot be read"),
        (another_architecture, "architecture 'gpt2'; only 'bert'"),
        (a_decoder, "is a decoder"),
        (no_tokenizer, "has none of tokenizer.json, vocab.txt"),
        (broken_tokenizer, "The tokenizer of .* cannot be read"),
    ],
)
def test_load_model_damaged(damaged, damage, message):
    damage(damaged)
    with pytest.raises((ModelError, DataError), match=message) as caught:
        load_model(damaged, "masked-lm")
    assert str(damaged) in str(caught.value)


def test_load_model_ignores_pickle(damaged):
    (damaged / "pytorch_model.bin").write_bytes(b"no pickle")
    load_model(damaged, "masked-lm")


def test_load_model_ignores_code(damaged, capfd):
    (damaged / "evil.py").write_text(
        "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nclass Evil: pass\n"
    )
    maps = {"AutoConfig": "evil.Evil", "AutoTokenizer": ["evil.Evil", "evil.Evil"]}
    tokens = {"auto_map": maps, "tokenizer_class": "Evil"}
    (damaged / "tokenizer_config.json").write_text(json.dumps(tokens))
    with suppress(ModelError):  # a vocabulary file is enough for a tokenizer
        read_tokenizer(damaged, "evil")
    (damaged / "config.json").write_text(json.dumps({"auto_map": maps, "model_type": "evil"}))
    with pytest.raises(ModelError, match=r"config.json cannot be read"):
        load_model(damaged, "masked-lm")
    assert not (damaged / "ran").exists()
    # Without the question whether code may run, which transformers asks by default.
    assert "[y/N]" in inspect.getsource(dynamic_module_utils)
    assert "[y/N]" not in "".join(capfd.readouterr())


def test_load_model_other_tokenizer(damaged):
    ids = {word: number for number, word in enumerate([*WORDS, "more"])}
    BertTokenizerFast(vocab=ids).save_pretrained(damaged)
    with pytest.raises(ModelError, match="has 46 entries, but the model only 45"):
        load_model(damaged, "masked-lm")


@pytest.mark.parametrize(
    ("head", "seed", "message"),
    [
        ("masked-lm", None, "lack cls.predictions.bias, .* and more"),
        ("masked-lm", 1, "cannot be used with the head 'masked-lm'"),
        ("tildev2", 1, "lack tok_proj.bias, tok_proj.weight"),
        ("classifier", None, "lack classifier.bias, classifier.weight"),
        ("ranker", None, "head 'ranker' is unknown"),
    ],
)
def test_load_model_missing_head(encoder, head, seed, message):
    with pytest.raises(ModelError, match=message):
        load_model(encoder, head, seed=seed)


def test_load_model_seed_keeps_encoder(damaged):
    # Weights of another model: none of BERT's names is in them.
    save_file({"wte.weight": torch.zeros(2, 2)}, damaged / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match="lack bert.embeddings"):
        load_model(damaged, "classifier", seed=1)


# --- by hub name --------------------------------------------------------------------------------


@pytest.fixture
def hub(masked_lm, tmp_path, monkeypatch) -> Path:
    """Return the folder of a model in a local hub cache; no request can leave the process."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    remaining = tmp_path / "models--org--toy"
    (remaining / "refs").mkdir(parents=True)
    (remaining / "refs/main").write_text("0" * 40)
    return shutil.copytree(masked_lm, remaining / "snapshots" / ("0" * 40))


def test_load_model_local_cache(hub):
    for revision in (None, "0" * 40):
        assert isinstance(load_model("org/toy", "masked-lm", revision=revision)[0], BertForMaskedLM)
    with pytest.raises(ModelError, match="org/other is not in the local cache .* not allowed"):
        load_model("org/other", "masked-lm")
    with pytest.raises(ModelError, match="'/no/such/folder' is not the name of a hub model"):
        load_model("/no/such/folder", "masked-lm")


@pytest.mark.parametrize("unfinished", [True, False])
def test_load_model_network(hub, monkeypatch, unfinished):
    real, requests = hub_module.snapshot_download, []

    def download(name, *, local_files_only=False, **options):
        if local_files_only:
            return real(name, local_files_only=True, **options)
        requests.append(options["allow_patterns"])
        raise ConnectionError("no route")

    monkeypatch.setattr(hub_module, "snapshot_download", download)
    if unfinished:
        (hub / "model.safetensors").unlink()
        with pytest.raises(ModelError, match="could not be downloaded .*no route"):
            load_model("org/toy", "masked-lm", network=True)
        assert len(requests) == 1 and not any(".bin" in part for part in requests[0])
    else:
        load_model("org/toy", "masked-lm", network=True)
        assert requests == []


# --- SPLADE and the dense encoder ---------------------------------------------------------------


def one_by_one(model, tokenizer, texts, read):
    """Answer for each text alone, without padding, with all logits or states of transformers."""
    with torch.no_grad():
        return np.stack(
            [
                read(model(**tokenizer(t, truncation=True, max_length=12, return_tensors="pt")))
                for t in texts
            ]
        )


def splade_of(output):
    return torch.log1p(torch.relu(output.logits[0])).amax(dim=0).numpy()


def mean_of(output):
    mean = output.last_hidden_state[0].mean(dim=0)
    return (mean / mean.norm()).numpy()


@pytest.fixture(scope="module")
def splade(masked_lm):
    return load_model(masked_lm, "masked-lm")


@pytest.fixture(scope="module")
def dense(encoder):
    return load_model(encoder, "encoder")


def test_splade_weights_are_those_of_each_text_alone(splade, monkeypatch):
    monkeypatch.setattr(text_vectors, "_BLOCK", 7)  # no divisor of the vocabulary's 45
    result = splade_weights(*splade, TEXTS, 12)
    assert result.dtype == np.float32 and result.has_sorted_indices and (result.data > 0).all()
    expected = one_by_one(*splade, TEXTS, splade_of)
    assert 0 < result.nnz < expected.size
    np.testing.assert_allclose(result.toarray(), expected, atol=1e-5)


def test_dense_vectors_are_those_of_each_text_alone(dense):
    result = dense_vectors(*dense, TEXTS, 12)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, one_by_one(*dense, TEXTS, mean_of), atol=1e-5)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS[5:]), max_size=14).map(" ".join), max_size=6),
    st.integers(3, 30),
)
def test_dense_vectors_batches(splade, dense, texts, batch_tokens):
    for function, loaded in ((splade_weights, splade), (dense_vectors, dense)):
        small = function(*loaded, texts, 12, batch_tokens=batch_tokens)
        large = function(*loaded, texts, 12)
        assert small.shape == large.shape and small.shape[0] == len(texts)
        assert not len(texts) or abs(small - large).max() < 1e-5


def test_dense_vectors_length(splade, dense):
    long, cut = " ".join(["w1", "w2"] * 5000), "w1 w2 w1 w2"
    for function, loaded in ((splade_weights, splade), (dense_vectors, dense)):
        first, second = function(*loaded, [long, cut], 6)
        assert abs(first - second).max() < 1e-5
        with refused("length", 25):
            function(*loaded, [long], 25)


def test_splade_weights_columns(splade):
    full = splade_weights(*splade, TEXTS, 12)
    columns = np.unique(full.indices)[::2]
    result = splade_weights(*splade, TEXTS, 12, columns=columns)
    np.testing.assert_allclose(result.toarray(), full[:, columns].toarray(), rtol=1e-5, atol=1e-7)
    assert splade_weights(*splade, TEXTS, 12, columns=np.array([], dtype=int)).shape == (
        len(TEXTS),
        0,
    )


def test_splade_weights_empty_row(splade):
    model, tokenizer = load_model(Path(splade[0].name_or_path), "masked-lm")
    torch.nn.init.constant_(model.cls.predictions.decoder.bias, -1000.0)
    assert splade_weights(model, tokenizer, TEXTS, 12).nnz == 0


def test_splade_weights_real_model(tmp_path):
    fetch_set("splade-tiny", tmp_path, network=False)
    model, tokenizer = load_model(tmp_path / "splade-tiny", "masked-lm")
    weights = splade_weights(model, tokenizer, ["how do search engines rank documents"], 32)[[0]]
    best = weights.indices[np.argsort(-weights.data)[:6]]
    terms = set(tokenizer.convert_ids_to_tokens(best.tolist()))
    # "ranking" and "engine" are not in the text.
    assert terms == {"rank", "search", "engines", "document", "engine", "ranking"}


def test_dense_vectors_real_model(tmp_path):
    fetch_set("minilm", tmp_path, network=False)
    model, tokenizer = load_model(tmp_path / "minilm", "encoder")
    texts = [
        "how do search engines rank documents",
        "ranking documents in a search engine",
        "a recipe for soup",
        # Its tokenizer file says 128 tokens; the length given here counts.
        "soup " * 300,
        "soup " * 200,
    ]
    first, related, other, *long = dense_vectors(model, tokenizer, texts, 256)
    assert first @ related > 0.8 > 0.2 > first @ other
    assert long[0] @ long[1] < 1 - 1e-6


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
@pytest.mark.parametrize("gpu", [True, False])
def test_set_gpu_precision_cpu(monkeypatch, precision, gpu):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    before = torch.is_autocast_enabled("cuda")
    try:
        set_gpu_precision(precision)
        assert torch.is_autocast_enabled("cuda") == (gpu and precision == "bfloat16")
        assert torch.get_autocast_dtype("cuda") == torch.bfloat16
        assert not torch.is_autocast_enabled("cpu")
    finally:
        torch.set_autocast_enabled("cuda", before)


def test_write_untrained_tokens(tmp_path):
    write_untrained(["bee", "fly"], tmp_path, positions=16, seed=0)
    assert load_model(tmp_path, "masked-lm")[1]("a fly")["input_ids"] == [4, 3, 8, 5]


def test_download_model_password_of_the_mirror(monkeypatch, tmp_path):
    """No message has the user and password in the address of a mirror of the hub."""
    hub = "http://me:s3cr3t@127.0.0.1:9"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))

    def fail(*names, **options):
        raise OSError(f"404 Client Error for url: {hub}/api/models/a/b")

    monkeypatch.setattr("everycell.learning.models.snapshot_download", fail)
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9") as error:
        download_model("a/b")
    assert "s3cr3t" not in "".join(format_exception(error.value))
