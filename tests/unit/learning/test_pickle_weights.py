"""Pickles of weights become safetensors; other content of a pickle is refused."""

from __future__ import annotations

import json
import os
import pickle
import resource
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny_bert import tiny_bert, write_bert
from transformers import BertForSequenceClassification

from everycell.learning import pickle_weights
from everycell.learning.models import ModelError, load_model
from everycell.learning.pickle_weights import INDEX, WEIGHTS, convert_weights

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "bee", "river"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a folder with only a pickle of weights, two of which share memory."""
    folder = tmp_path / "source"
    torch.manual_seed(1)
    result = tiny_bert(BertForSequenceClassification, words=len(WORDS), positions=16)
    write_bert(folder, result, WORDS)
    weights = load_file(folder / "model.safetensors")
    weights["tied"] = weights["classifier.weight"]
    torch.save(weights, folder / WEIGHTS)
    (folder / "model.safetensors").unlink()
    (folder / "code.py").write_text("raise SystemExit")
    (folder / "additional_chat_templates").mkdir()
    (folder / "additional_chat_templates/rag.jinja").write_text("{{ documents }}")
    return folder


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return torch.load(folder / WEIGHTS, weights_only=True)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the seconds in which another process imports torch, where no harm is meant."""
    monkeypatch.setattr(pickle_weights, "_convert_in_subprocess", pickle_weights._convert)


@pytest.mark.parametrize("is_archive", [True, False])
@pytest.mark.usefixtures("in_this_process")
def test_weights_stay_the_same_and_can_be_loaded(source, tmp_path, is_archive):
    before = weights_of(source)
    torch.save(before, source / WEIGHTS, _use_new_zipfile_serialization=is_archive)
    result = convert_weights(source, tmp_path / "new")
    assert {path.name for path in result} >= {"config.json", "model.safetensors"}
    assert not {"code.py", WEIGHTS} & {path.name for path in result}
    template = (tmp_path / "new/additional_chat_templates/rag.jinja").read_text()
    assert template == "{{ documents }}"
    after = load_file(tmp_path / "new/model.safetensors")
    assert set(after) == set(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
    load_model(tmp_path / "new", "classifier")
    with pytest.raises(ModelError, match="new already exists"):
        convert_weights(source, tmp_path / "new")


@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_sharded(source, tmp_path):
    weights = weights_of(source)
    names = sorted(weights)
    halves = {"00001": names[: len(names) // 2], "00002": names[len(names) // 2 :]}
    table = {}
    for number, selection in halves.items():
        part = f"pytorch_model-{number}-of-00002.bin"
        torch.save({name: weights[name].clone() for name in selection}, source / part)
        table |= dict.fromkeys(selection, part)
    (source / WEIGHTS).unlink()
    (source / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": table}))
    convert_weights(source, tmp_path / "new")
    assert len(list((tmp_path / "new").glob("model-0000?-of-00002.safetensors"))) == 2
    load_model(tmp_path / "new", "classifier")
    (source / "pytorch_model-00002-of-00002.bin").unlink()
    with pytest.raises(ModelError, match="'pytorch_model-00002-of-00002.bin', which is not a file"):
        convert_weights(source, tmp_path / "other")


@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_one_output(source, tmp_path):
    weights = weights_of(source)
    with pytest.raises(ModelError, match=r"no classifier\.weight"):
        convert_weights(source, tmp_path / "new", one_output=True)
    rows = torch.randn(2, weights["classifier.weight"].shape[1])
    weights |= {"classifier.weight": rows, "classifier.bias": torch.tensor([1.0, 3.0])}
    torch.save(weights, source / WEIGHTS)
    convert_weights(source, tmp_path / "new", one_output=True)
    model, _ = load_model(tmp_path / "new", "classifier")
    assert torch.allclose(model.classifier.weight[0], rows[1] - rows[0])
    assert model.classifier.bias.tolist() == [2.0]
    for damage in ("{", "[]"):
        (source / "config.json").write_text(damage)
        with pytest.raises(
            ModelError, match=r"source/config\.json is not the configuration of a model"
        ):
            convert_weights(source, tmp_path / "other", one_output=True)


class Harm:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.path),)


@pytest.mark.slow
@pytest.mark.parametrize("is_plain", [True, False])
def test_convert_weights_malicious(source, tmp_path, is_plain):
    harm = {"weight": Harm(tmp_path / "harm")}
    if is_plain:
        (source / WEIGHTS).write_bytes(pickle.dumps(harm, protocol=2))
    else:
        torch.save(harm, source / WEIGHTS)
    with pytest.raises(ModelError, match="contains more than weights, .* was not read") as caught:
        convert_weights(source, tmp_path / "new")
    assert "mkdir" in str(caught.value) and "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_invalid(source, tmp_path):
    torch.save([torch.zeros(2)], source / WEIGHTS)
    with pytest.raises(ModelError, match="is not a mapping of names to weights"):
        convert_weights(source, tmp_path / "new")
    full = (source / WEIGHTS).read_bytes()
    (source / WEIGHTS).write_bytes(full[: len(full) // 2])
    with pytest.raises(ModelError, match="was not read|cannot be read"):
        convert_weights(source, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def write_parts(source: Path, parts: list[str]) -> None:
    """Replace the weights of a model by several files."""
    (source / WEIGHTS).unlink()
    for part in parts:
        torch.save({part: torch.ones(2)}, source / part)
    (source / INDEX).write_text(json.dumps({"weight_map": {part: part for part in parts}}))


@pytest.mark.parametrize(
    "parts",
    [
        ["model-1.bin", "pytorch_model-1.bin"],
        ["a", "a.bin"],
        ["Model-1.bin", "model-1.bin"],
        ["1", "2", "2.bin"],
    ],
)
@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_equal_names(source, tmp_path, parts):
    write_parts(source, parts)
    with pytest.raises(ModelError, match=parts[-1]):
        convert_weights(source, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "name", ["vocab.txt", "config.json", "additional_chat_templates", "x_config.json", WEIGHTS]
)
@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_link_outside(source, tmp_path, name):
    path = source / name
    outside = tmp_path / "outside"
    path.rename(outside) if path.exists() else outside.write_text("{}")
    path.symlink_to(outside)
    with pytest.raises(ModelError, match=f"{source}.* is a link to a file outside"):
        convert_weights(source, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_links_of_hub_cache(source, tmp_path):
    """A snapshot of the hub's cache consists of links to the blobs of the same model."""
    blobs = tmp_path / "models--toy/blobs"
    snapshot = tmp_path / f"models--toy/snapshots/{'0' * 40}"
    snapshot.mkdir(parents=True)
    source.rename(blobs)
    for path in blobs.iterdir():
        (snapshot / path.name).symlink_to(path)
    assert convert_weights(snapshot, tmp_path / "new")
    (snapshot / "vocab.txt").unlink()
    (snapshot / "vocab.txt").symlink_to("/etc/passwd")
    with pytest.raises(ModelError, match=r"vocab\.txt is a link"):
        convert_weights(snapshot, tmp_path / "other")


@pytest.mark.parametrize("name", [INDEX, "config.json"])
@pytest.mark.parametrize("content", ["[" * 100_000, '{"weight_map":' * 100_000, "[]", "{", "1"])
@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_invalid_json(source, tmp_path, name, content):
    if name == INDEX:
        (source / WEIGHTS).unlink()
    (source / name).write_text(content)
    with pytest.raises(ModelError, match=name):
        convert_weights(source, tmp_path / "new", one_output=True)


BOMBS = {
    "expanded": {"a": torch.zeros(1).expand(1 << 40)},
    "expanded row": {"a": torch.zeros(1, 2).expand(1 << 39, 2)},
    "strided": {"a": torch.zeros(2).as_strided((1 << 20, 1 << 20), (0, 0))},
    "overlapping": {"a": torch.zeros(5000).as_strided((4000, 1000), (1, 1))},
    "many names": {str(number): torch.zeros(1).expand(1 << 13) for number in range(1000)},
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("is_archive", [True, False])
@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_bomb(source, tmp_path, name, is_archive):
    shape = BOMBS[name]
    if name == "overlapping":
        shape = {f"{name}{number}": shape["a"] for number in range(2)}
    torch.save(shape, source / WEIGHTS, _use_new_zipfile_serialization=is_archive)
    with pytest.raises(ModelError, match=WEIGHTS):
        convert_weights(source, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_compressed_archive(source, tmp_path):
    torch.save({"a": torch.zeros(10)}, source / WEIGHTS)
    with zipfile.ZipFile(source / WEIGHTS) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(source / WEIGHTS, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ModelError, match=f"{WEIGHTS} .*is compressed"):
        convert_weights(source, tmp_path / "new")


class Zeros:
    """A pickle that asks for 64 GiB of zeros, which torch's reader allows."""

    def __reduce__(self) -> tuple:
        return bytearray, (2**36,)


@pytest.mark.slow
def test_convert_weights_memory_limit(source, tmp_path):
    torch.save({"a": Zeros()}, source / WEIGHTS)
    with pytest.raises(ModelError, match=f"{WEIGHTS} cannot be converted"):
        convert_weights(source, tmp_path / "new")


MATRIX = torch.arange(15, dtype=torch.float32).reshape(5, 3)
COMPLEX = torch.complex(MATRIX, MATRIX + 1)
ROW = torch.arange(100.0)


@pytest.mark.parametrize(
    "weights",
    [
        {"emb": MATRIX, "head": MATRIX.t()},
        {"head": MATRIX.t(), "emb": MATRIX},
        {"head": MATRIX.t()},
        {"a": ROW[10:20], "b": ROW[15:30:3], "c": ROW},
        {"a": torch.ones(1).expand(4, 3), "b": MATRIX[:, 1]},
        {"a": torch.rand(2, 3, 4).permute(2, 0, 1)},
        {"a": torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)},
        {"a": COMPLEX.conj(), "b": COMPLEX, "c": COMPLEX.t().conj()},
        {"a": COMPLEX.conj().imag, "b": torch._neg_view(MATRIX)},
        {"a": MATRIX.bfloat16().t(), "b": MATRIX.half(), "c": MATRIX.double()},
        {"a": torch.nn.Parameter(MATRIX), "b": torch.nn.Parameter(MATRIX.t())},
        {"a": torch.empty(0), "b": torch.empty(0, 3), "c": torch.tensor(3.0)},
        {str(kind): torch.arange(3).to(kind) for kind in (torch.int8, torch.uint64, torch.bool)},
    ],
    ids=lambda weights: "-".join(f"{name}{tuple(weights[name].shape)}" for name in weights),
)
@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_equal_values(source, tmp_path, weights):
    torch.save(weights, source / WEIGHTS)
    convert_weights(source, tmp_path / "new")
    after = load_file(tmp_path / "new/model.safetensors")
    assert set(after) == set(weights)
    for name, tensor in weights.items():
        assert after[name].dtype == tensor.dtype and torch.equal(after[name], tensor)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"a": torch.quantize_per_tensor(MATRIX, 0.1, 0, torch.qint8)}, "'a' is quantised"),
        (
            {
                "a": torch.quantize_per_channel(
                    MATRIX, torch.ones(5), torch.zeros(5), 0, torch.qint8
                )
            },
            "'a' is quantised",
        ),
        ({"a": MATRIX, "b": MATRIX.to_sparse()}, "'b' is sparse"),
        ({"a": MATRIX.to_sparse_csr()}, "'a' is sparse"),
        ({"a": COMPLEX.to(torch.complex128)}, "'a' has the type torch.complex128"),
        ({"a": torch.empty(3, device="meta")}, "'a' has no values"),
        ({"state_dict": {"a": MATRIX}, "epoch": 3}, "'state_dict' is a mapping"),
        ({"a": MATRIX, "epoch": 3}, "'epoch' is of type int"),
        ({"a": MATRIX, "extra": None}, "'extra' is of type NoneType"),
        ({"a": [MATRIX]}, "'a' is of type list"),
        ({0: MATRIX}, "the name 0 cannot be"),
        ({"__metadata__": MATRIX}, "'__metadata__' cannot be"),
        ({}, "not a mapping of names to weights"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.filterwarnings("ignore:.*CSR")
@pytest.mark.usefixtures("in_this_process")
def test_convert_weights_refused(source, tmp_path, weights, says):
    torch.save(weights, source / WEIGHTS)
    with pytest.raises(ModelError) as error:
        convert_weights(source, tmp_path / "new")
    message = str(error.value)
    assert says in message and str(source / WEIGHTS) in message
    assert "\n" not in message and message.count(". ") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


@pytest.mark.slow
def test_convert_weights_full_disk(source, tmp_path):
    """The process that writes reaches a limit; nothing is left behind."""
    torch.save({"a": torch.rand(100, 1000)}, source / WEIGHTS)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        with pytest.raises(ModelError, match=r"new/model\.safetensors: File too large; free some"):
            convert_weights(source, tmp_path / "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]
