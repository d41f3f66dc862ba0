"""Settings and tokenizers of models that would take all memory or time are refused first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny_bert import tiny_bert, write_bert
from transformers import BertModel, BertTokenizerFast

from everycell.base.errors import DataError
from everycell.language_models.local import load_language_model
from everycell.learning.models import ModelError, load_model, load_weights, read_tokenizer

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "bee", "river"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bert(tmp_path, tiny_bert(words=len(WORDS), positions=16), WORDS)
    return tmp_path


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("num_hidden_layers", 10**7),
        ("num_hidden_layers", 1e308),
        ("num_labels", 10**6),
        ("id2label", {str(number): "a" for number in range(10**5 + 1)}),
        ("vocab_size", 10**9),
        ("hidden_size", 2**20),
        ("max_position_embeddings", 10**10),
        ("intermediate_size", 10**11),
        ("type_vocab_size", 10**10),
        ("text_config", {"num_hidden_layers": 10**7}),
        ("text_config", {"parts": [{"encoder_layers": 10**7}]}),
    ],
)
@pytest.mark.parametrize(
    "load",
    [
        lambda folder: load_model(folder, "encoder"),
        lambda folder: load_weights(BertModel, folder, "toy"),
        load_language_model,
    ],
)
def test_load_model_huge_settings(folder, setting, value, load):
    path = folder / "config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps(settings | {setting: value}))
    with pytest.raises(DataError) as error:
        load(folder)
    assert error.value.path == path


@pytest.mark.parametrize("content", ["[" * 100_000, "3", "", '{"a": ' * 100_000])
def test_load_model_settings_invalid(folder, content):
    (folder / "config.json").write_text(content)
    with pytest.raises(DataError) as error:
        load_model(folder, "encoder")
    assert error.value.path == folder / "config.json"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("num_hidden_layers", "9"),
        ("num_hidden_layers", [1]),
        ("num_hidden_layers", True),
        ("hidden_size", -1e308),
        ("vocab_size", {}),
    ],
)
def test_load_model_setting_of_another_type(folder, setting, value):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {setting: value}))
    with pytest.raises((ModelError, DataError), match="config.json|cannot be read") as error:
        load_model(folder, "encoder")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "index",
    [
        {"weight_map": {"a": "../other/model.safetensors"}},
        {"weight_map": {"a": "/etc/passwd"}},
        {"weight_map": {"a": "missing.safetensors"}},
        {"weight_map": {"a": 1}},
        {"weight_map": {"a": ["b"]}},
        {"weight_map": [1]},
        {},
        [],
    ],
    ids=["parent", "absolute", "missing", "number", "list", "no_mapping", "empty", "no_object"],
)
def test_load_model_index_of_other_files(folder, index):
    """The hash of a model covers the files in its folder only."""
    other = folder / "other"
    other.mkdir()
    (folder / "model.safetensors").rename(other / "model.safetensors")
    model = folder / "model"
    model.mkdir()
    for path in folder.glob("*.*"):
        path.rename(model / path.name)
    path = model / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 1}} | index if index else index))
    with pytest.raises(DataError) as error:
        load_model(model, "encoder")
    assert error.value.path == path


@pytest.mark.parametrize("part", ["pre_tokenizer", "normalizer", "decoder"])
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a|aa)+$"])
def test_read_tokenizer_expression_without_end(tmp_path, part, pattern):
    regex = {"pattern": {"Regex": pattern}}
    parts = {
        "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "invert": False, **regex},
        "normalizer": {"type": "Replace", "content": "x", **regex},
        "decoder": {"type": "Replace", "content": "x", **regex},
    }
    text = "a" * 40 + "c"
    (tmp_path / "tokenizer.json").write_text(
        json.dumps(
            {
                "version": "1.0",
                **dict.fromkeys(["truncation", "padding", "normalizer", "pre_tokenizer"]),
                **dict.fromkeys(["post_processor", "decoder"]),
                "added_tokens": [],
                "model": {
                    "type": "WordLevel",
                    "vocab": {text: 0, "[UNK]": 1},
                    "unk_token": "[UNK]",
                },
                part: parts[part],
            }
        )
    )
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "PreTrainedTokenizerFast"}'
    )
    tokenizer = read_tokenizer(tmp_path, "toy")
    with pytest.raises(DataError) as error:
        tokenizer.decode(tokenizer(text)["input_ids"])
    assert error.value.path == tmp_path / "tokenizer.json"


@pytest.mark.parametrize("part", ["normalizer", "decoder", "pre_tokenizer"])
@pytest.mark.parametrize(
    "step",
    [
        {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"},
        {"type": "Replace", "pattern": {"Regex": "a"}, "content": "a" * 100},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
    ],
)
def test_read_tokenizer_growing_text(folder, part, step):
    """Forty steps that double a text would take all memory."""
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps(content | {part: {"type": "Sequence", f"{part}s": [step] * 40}}))
    with pytest.raises(DataError, match="times longer"):
        read_tokenizer(folder, "toy")


SPECIAL = WORDS[:5]


@pytest.mark.parametrize(
    "words",
    [
        *([*SPECIAL[:index], "owl", *WORDS[index + 1 :]] for index in (1, 2, 3)),
        [*WORDS[:6], "bee"],
        [*WORDS[:6], "[CLS]"],
        [*WORDS[:5], "", ""],
        [],
        ["a" * 10**6],
    ],
)
def test_load_model_vocabulary(folder, words):
    """The file of BERT's tokenizer has the words for unknown ones, start and end, and all once."""
    for path in folder.glob("tokenizer*"):
        path.unlink()
    path = folder / "vocab.txt"
    path.write_text("\n".join(WORDS) + "\n")
    _, tokenizer = load_model(folder, "encoder")
    assert tokenizer("bee fly")["input_ids"] == [2, 5, 1, 3]
    path.write_text("\n".join(words) + "\n")
    with pytest.raises(DataError) as error:
        load_model(folder, "encoder")
    assert error.value.path == path


def edit_vocabulary(folder, vocabulary):
    """Change the vocabulary of a `tokenizer.json`."""
    for path in folder.glob("vocab.txt"):
        path.unlink()
    path = folder / "tokenizer.json"
    tokens = {word: number for number, word in enumerate(WORDS)}
    tokenizer = BertTokenizerFast(vocab=tokens)
    tokenizer.save_pretrained(folder)
    content = json.loads(path.read_text())
    content["model"]["vocab"] = tokens | vocabulary
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("number", [6, 0, 2**31, 2**32 - 1, 2**40, -1, 0.5, "x", None])
def test_load_model_number_of_word(folder, number):
    edit_vocabulary(folder, {})
    load_model(folder, "encoder")
    edit_vocabulary(folder, {"bee": number})
    with pytest.raises((ModelError, DataError)) as error:
        load_model(folder, "encoder")
    assert str(folder) in str(error.value) and "\n" not in str(error.value)


def test_read_tokenizer_no_unknown_word(tmp_path):
    """A tokenizer that fails on a text only then says so in a sentence."""
    model = {"type": "WordLevel", "vocab": {"bee": 0}, "unk_token": "[UNK]"}
    parts = ["truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"]
    content = {"version": "1.0", **dict.fromkeys(parts), "added_tokens": [], "model": model}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    (tmp_path / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "PreTrainedTokenizerFast"}'
    )
    tokenizer = read_tokenizer(tmp_path, "toy")
    assert tokenizer("bee")["input_ids"] == [0]
    with pytest.raises(DataError) as error:
        tokenizer("owl")
    assert error.value.path == tmp_path / "tokenizer.json"


def edit_header(path, edit):
    """Change the text of the header of a file of safetensors."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header = edit(content[8:end].decode().rstrip()).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[end:])


def edit_tensor(**fields):
    """Change fields of the first tensor in a header."""

    def edit(header):
        tensors = json.loads(header)
        name = next(name for name in tensors if name != "__metadata__")
        tensors[name] |= fields
        return json.dumps(tensors)

    return edit


def repeat(**fields):
    """Add a tensor that the header has already."""

    def edit(header):
        tensors = json.loads(header)
        name = next(name for name in tensors if name != "__metadata__")
        return f"{header[:-1]}, {json.dumps({name: tensors[name] | fields})[1:]}"

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        repeat(),
        repeat(shape=[1]),
        repeat(data_offsets=[0, 4]),
        edit_tensor(data_offsets=[2**40, 2**40 + 4]),
        edit_tensor(data_offsets=[-4, 4]),
        edit_tensor(data_offsets=[64, 0]),
        edit_tensor(data_offsets=[4, 68]),
        edit_tensor(shape=[2**62, 8]),
        edit_tensor(shape=[2**63, 2**63]),
        edit_tensor(shape=[-1]),
        edit_tensor(dtype="X9"),
        lambda header: "[" * 100_000,
        lambda header: "{" * 3,
        lambda header: "",
        lambda header: header[:-1],
    ],
)
def test_load_model_weights_header(folder, edit):
    edit_header(folder / "model.safetensors", lambda header: header)
    load_model(folder, "encoder")
    edit_header(folder / "model.safetensors", edit)
    with pytest.raises(ModelError, match="weights .* cannot be read") as error:
        load_model(folder, "encoder")
    assert str(folder) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("length", [0, 1, 2**31, 2**63, 2**64 - 1])
def test_load_model_weights_header_length(folder, length):
    path = folder / "model.safetensors"
    path.write_bytes(length.to_bytes(8, "little") + path.read_bytes()[8:])
    with pytest.raises(ModelError, match="weights .* cannot be read"):
        load_model(folder, "encoder")
