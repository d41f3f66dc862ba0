"""Query encoders on random models: what each makes of its model's output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, RobertaConfig

from everycell.learning.models import ModelError
from everycell.learning.query_encoders import Ance, encode_passages, encode_queries, load_encoder
from everycell.learning.tildev2 import TildeV2

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[", "]", "q", "red", "blue", "##s"]
SIZES = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}
QUERY = "Red blues red green"
IDS = [2, 8, 9, 10, 8, 1, 3]


def written(model, folder: Path, tokenizer: str = "BertTokenizerFast") -> Path:
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES))
    kind = {"tokenizer_class": tokenizer, "do_lower_case": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(kind))
    return folder


def bert_config() -> BertConfig:
    return BertConfig(vocab_size=len(PIECES), num_hidden_layers=1, initializer_range=0.5, **SIZES)


def encoded(source: Path, kind: str, query: str = QUERY):
    model, tokenizer = load_encoder(source, kind)
    [result] = encode_queries(model, tokenizer, kind, [query])
    return result


@pytest.fixture
def bert(tmp_path) -> tuple[BertModel, Path]:
    torch.manual_seed(0)
    model = BertModel(bert_config()).eval()
    return model, written(model, tmp_path)


def states(model, ids: list[int]) -> np.ndarray:
    with torch.no_grad():
        return model(torch.tensor([ids])).last_hidden_state[0].numpy()


def test_encode_queries_unicoil(tmp_path):
    torch.manual_seed(0)
    model = TildeV2(bert_config()).eval()
    torch.nn.init.constant_(model.tok_proj.bias, 2.0)
    result = encoded(written(model, tmp_path), "unicoil")
    with torch.no_grad():
        weights = model(input_ids=torch.tensor([IDS]))[0].tolist()
    expected = {
        "red": weights[1] + weights[4],
        "blue": weights[2],
        "##s": weights[3],
        "[UNK]": weights[5],
        "[SEP]": weights[6],
    }
    assert result == {piece: round(weight / 5 * 256) for piece, weight in expected.items()}
    assert max(result.values()) > 50


def test_encode_queries_first_and_mean(bert):
    model, folder = bert
    of_tokens = states(model, IDS)
    assert encoded(folder, "first") == pytest.approx(of_tokens[0], abs=1e-5)
    mean = of_tokens.mean(axis=0)
    assert encoded(folder, "mean") == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_encode_queries_tct_colbert(bert):
    model, folder = bert
    # As published: nothing says that the model is a BERT.
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({k: config[k] for k in config if k != "model_type"})
    )
    (folder / "tokenizer_config.json").unlink()
    ids = [2, 5, 7, 6, 8, 9, 10, 8, 1]
    of_tokens = states(model, ids + [4] * (36 - len(ids)))
    assert encoded(folder, "tct_colbert") == pytest.approx(of_tokens[4:].mean(axis=0), abs=1e-5)
    cut = states(model, [2, 5, 7, 6] + [8] * 32)
    long = encoded(folder, "tct_colbert", "red " * 50)
    assert long == pytest.approx(cut[4:].mean(axis=0), abs=1e-5)


def test_load_encoder_distilbert(tmp_path):
    torch.manual_seed(0)
    sizes = {"dim": 16, "n_heads": 2, "hidden_dim": 16, "n_layers": 1}
    model = DistilBertModel(DistilBertConfig(vocab_size=len(PIECES), **sizes)).eval()
    folder = written(model, tmp_path, "DistilBertTokenizerFast")
    assert encoded(folder, "first") == pytest.approx(states(model, IDS)[0], abs=1e-5)


def test_ance_has_its_own_head(tmp_path):
    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=40, num_hidden_layers=1, max_position_embeddings=80, **SIZES)
    model = Ance(config).eval()
    model.save_pretrained(tmp_path)
    letters = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *"bdeR", "Ġ"]
    vocabulary = {piece: number for number, piece in enumerate(letters)}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizer"}')
    result = encoded(tmp_path, "ance", "Red bed")
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([[0, 8, 7, 6, 9, 5, 7, 6, 2]]))[0]
    assert result == pytest.approx(expected.numpy(), abs=1e-5) and len(result) == 768
    # Passages have the same vectors as queries, but another limit.
    texts = ["Red bed", "e", "e" * 60 + " Red bed"]
    passages = encode_passages(*load_encoder(tmp_path, "ance"), texts, length=72)
    assert passages[0] == pytest.approx(result, abs=1e-5)
    assert passages[1] == pytest.approx(encoded(tmp_path, "ance", "e"), abs=1e-5)
    assert np.abs(passages[2] - encoded(tmp_path, "ance", texts[2])).max() > 1e-4
    # After 62 tokens and the two special ones nothing counts.
    assert encoded(tmp_path, "ance", "e" * 62) == encoded(tmp_path, "ance", "e" * 90)


def test_load_encoder_invalid(bert, tmp_path):
    _, folder = bert
    with pytest.raises(ModelError, match="'tok_proj.bias'.* unicoil"):
        load_encoder(folder, "unicoil")
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match="only as pytorch_model.bin, .*convert-weights`"):
        load_encoder(folder, "first")


def test_load_encoder_one_sentence(bert):
    _, folder = bert
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model_type": "no-such"}))
    with pytest.raises(ModelError) as refusal:
        load_encoder(folder, "first")
    assert str(folder) in str(refusal.value) and "\n" not in str(refusal.value)
    assert "\n" in str(refusal.value.__cause__)
