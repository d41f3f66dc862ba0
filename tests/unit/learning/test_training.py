"""Training: the arithmetic of a step, resuming after a kill, and what it refuses."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from datasets import Dataset
from pydantic import ValidationError
from safetensors.torch import load_file
from transformers import BertConfig, BertForMaskedLM, BertModel

from everycell.learning import training
from everycell.learning.checkpoints import TrainingError, TrainingOptions, sha256_of
from everycell.learning.training import train

pytestmark = pytest.mark.usefixtures("one_torch_thread")

ROWS = Dataset.from_dict({"ids": [[1 + row % 7, 2 + row % 5] for row in range(22)]})
OPTIONS = TrainingOptions(
    learning_rate=0.01, epochs=3, batch_size=4, warmup_ratio=0.1, seed=3, checkpoint_steps=4
)
#: Dropout is on, so that a training that took up other random numbers would end elsewhere.
SIZE = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8, "num_hidden_layers": 1}


def new_model() -> BertModel:
    torch.manual_seed(0)
    return BertModel(BertConfig(vocab_size=9, **SIZE))


def loss(model, batch) -> torch.Tensor:
    return model(torch.tensor(batch["ids"])).last_hidden_state.pow(2)[:, 0, :3].mean()


def first_weight(model) -> float:
    return float(model.embeddings.word_embeddings.weight[1, 1].detach())


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


class Killed(BaseException):
    """An external end of the process, which no handler of the training catches."""


def dies_after(calls: int):
    """A loss that ends the training like a kill, at the call after so many."""
    step_count = 0

    def dying(model, batch):
        nonlocal step_count
        step_count += 1
        if step_count > calls:
            raise Killed
        return loss(model, batch)

    return dying


@pytest.fixture(scope="module")
def uninterrupted(one_torch_thread, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "model"
    train(new_model(), ROWS, loss, OPTIONS, folder)
    return folder


@pytest.mark.slow
@pytest.mark.fault("killed_training")
def test_train_killed_by_system(tmp_path, uninterrupted):
    folder = tmp_path / "model"
    script = f"""
import os, signal, sys
sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}
from test_training import *
torch.set_num_threads(1)
seen = []
def dying(model, batch):
    seen.append(batch)
    if len(seen) == 11:
        os.kill(os.getpid(), signal.SIGKILL)
    return loss(model, batch)
train(new_model(), ROWS, dying, OPTIONS, Path({str(folder)!r}))
"""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    killed = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert not folder.exists()
    remaining = sorted(path.name for path in folder.with_name("model.checkpoints").iterdir())
    assert remaining == ["step-00000004", "step-00000008"]
    record = train(new_model(), ROWS, loss, OPTIONS, folder)
    assert record.steps == 18
    for name in ("model.safetensors", "training.json", "config.json"):
        assert (folder / name).read_bytes() == (uninterrupted / name).read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.fault("killed_training")
@pytest.mark.parametrize("calls", [0, 3, 4, 5, 17])
def test_train_killed_at_any_step(tmp_path, uninterrupted, calls):
    with pytest.raises(Killed):
        train(new_model(), ROWS, dies_after(calls), OPTIONS, tmp_path / "model")
    train(new_model(), ROWS, loss, OPTIONS, tmp_path / "model")
    assert weights(tmp_path / "model") == weights(uninterrupted)


def test_train_tied_weights(tmp_path):
    """A language-model head has the embeddings as its own weights, under a second name."""

    def head_loss(model, batch):
        return model(torch.tensor(batch["ids"])).logits.pow(2).mean()

    def dying(model, batch):
        calls.append(batch)
        if len(calls) == 7:
            raise Killed
        return head_loss(model, batch)

    calls: list[dict] = []
    for function, name in ((head_loss, "whole"), (dying, "killed"), (head_loss, "killed")):
        torch.manual_seed(0)
        model = BertForMaskedLM(BertConfig(vocab_size=9, **SIZE))
        if function is dying:
            with pytest.raises(Killed):
                train(model, ROWS, function, OPTIONS, tmp_path / name)
        else:
            train(model, ROWS, function, OPTIONS, tmp_path / name)
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    loaded = BertForMaskedLM.from_pretrained(tmp_path / "killed")
    assert loaded.cls.predictions.decoder.weight is loaded.bert.embeddings.word_embeddings.weight


@pytest.mark.fault("damaged_checkpoint")
@pytest.mark.parametrize("name", ["model.safetensors", "optimiser.safetensors", "state.json"])
@pytest.mark.parametrize("fault", ["cut", "gone", "changed"])
def test_train_corrupt_checkpoint(tmp_path, uninterrupted, caplog, name, fault):
    with pytest.raises(Killed):
        train(new_model(), ROWS, dies_after(13), OPTIONS, tmp_path / "model")
    path = tmp_path / "model.checkpoints" / "step-00000012" / name
    content = path.read_bytes()
    if fault == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-9] + (b"" if fault == "cut" else b"x" * 9))
    with caplog.at_level(logging.INFO):
        train(new_model(), ROWS, loss, OPTIONS, tmp_path / "model")
    assert "step-00000012 is skipped" in caplog.text
    assert "resumes after step 8 of 18" in caplog.text
    assert weights(tmp_path / "model") == weights(uninterrupted)


@pytest.mark.fault("damaged_checkpoint")
def test_train_no_complete_checkpoint(tmp_path, uninterrupted, caplog):
    with pytest.raises(Killed):
        train(new_model(), ROWS, dies_after(9), OPTIONS, tmp_path / "model")
    for path in (tmp_path / "model.checkpoints").glob("*/state.json"):
        path.write_text("[]")
    train(new_model(), ROWS, loss, OPTIONS, tmp_path / "model")
    assert "no complete checkpoint: training starts" in caplog.text
    assert weights(tmp_path / "model") == weights(uninterrupted)


@pytest.mark.fault("damaged_checkpoint")
def test_train_other_checkpoint(tmp_path):
    with pytest.raises(Killed):
        train(new_model(), ROWS, dies_after(9), OPTIONS, tmp_path / "model")
    other = OPTIONS.model_copy(update={"learning_rate": 0.5})
    with pytest.raises(TrainingError, match=r"learning_rate 0\.01, now 0\.5\): remove it"):
        train(new_model(), ROWS, loss, other, tmp_path / "model")
    with pytest.raises(TrainingError, match="examples '"):
        train(new_model(), ROWS.select(range(21)), loss, OPTIONS, tmp_path / "model")
    with pytest.raises(TrainingError, match="length None, now 128"):
        train(new_model(), ROWS, loss, OPTIONS, tmp_path / "model", settings={"length": 128})
    torch.manual_seed(1)
    changed = BertModel(BertConfig(vocab_size=9, **SIZE))
    with pytest.raises(TrainingError, match="weights '"):
        train(changed, ROWS, loss, OPTIONS, tmp_path / "model")
    # How often checkpoints are written changes no result.
    train(
        new_model(),
        ROWS,
        loss,
        OPTIONS.model_copy(update={"checkpoint_steps": 99}),
        tmp_path / "model",
    )


@pytest.mark.fault("damaged_checkpoint")
def test_train_finished_folder(tmp_path, uninterrupted):
    left = uninterrupted.with_name("model.checkpoints")
    left.mkdir()
    record = train(new_model(), ROWS, dies_after(0), OPTIONS, uninterrupted)
    assert record.steps == 18 and not left.exists()
    other = OPTIONS.model_copy(update={"seed": 4})
    with pytest.raises(TrainingError, match="seed 3, now 4"):
        train(new_model(), ROWS, loss, other, uninterrupted)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(TrainingError, match=r"no readable training\.json"):
        train(new_model(), ROWS, loss, OPTIONS, tmp_path)


def test_train_one_step(tmp_path):
    """Two batches of two make the same step as one of four, and as torch by hand."""
    options = TrainingOptions(
        learning_rate=0.01, batch_size=2, accumulation=2, max_gradient_norm=0.05, max_steps=1
    )
    models = [BertModel(BertConfig(vocab_size=9, hidden_dropout_prob=0.0, **SIZE)) for _ in "ab"]
    models[1].load_state_dict(models[0].state_dict())
    for model in models:
        model.config.attention_probs_dropout_prob = 0.0
        for layer in model.modules():
            if isinstance(layer, torch.nn.Dropout):
                layer.p = 0.0
    rows = ROWS.select(range(4))
    record = train(models[0], rows, loss, options, tmp_path / "model")
    models[1].train()
    value = loss(models[1], rows[:])
    value.backward()
    torch.nn.utils.clip_grad_norm_(models[1].parameters(), 0.05)
    torch.optim.AdamW(models[1].parameters(), lr=0.01, weight_decay=0.0).step()
    assert record.losses == pytest.approx([value.item()], rel=1e-6)
    for one, two in zip(models[0].parameters(), models[1].parameters(), strict=True):
        torch.testing.assert_close(one, two, atol=1e-5, rtol=1e-4)


def test_train_out_of_memory(tmp_path, caplog):
    """A row's loss does not depend on the others, so the losses stay what they were."""
    quiet = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    options = TrainingOptions(learning_rate=0.01, batch_size=8, max_steps=4, epochs=2)

    def small(model, batch):
        if len(batch["ids"]) > 3:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
        return loss(model, batch)

    records = []
    for function, name in ((loss, "whole"), (small, "parts")):
        torch.manual_seed(0)
        model = BertModel(BertConfig(vocab_size=9, **SIZE, **quiet))
        records.append(train(model, ROWS, function, options, tmp_path / name))
    assert (records[0].batch_size, records[1].batch_size) == (8, 2)
    assert [item.split(", ")[0] for item in caplog.messages] == [
        "Memory ran out in step 1: continuing with micro-batches of 4 rows",
        "Memory ran out in step 1: continuing with micro-batches of 2 rows",
    ]
    assert records[1].losses == pytest.approx(records[0].losses, rel=1e-5)


def test_train_quiet(tmp_path, capfd):
    train(new_model(), ROWS, loss, OPTIONS, tmp_path / "model")
    assert capfd.readouterr() == ("", "")


def test_dropout_is_set_for_the_training(tmp_path, uninterrupted):
    model = new_model()
    options = OPTIONS.model_copy(update={"dropout": 0.0})
    train(model, ROWS, loss, options, tmp_path / "model")
    assert {item.p for item in model.modules() if isinstance(item, torch.nn.Dropout)} == {0.0}
    assert weights(tmp_path / "model") != weights(uninterrupted)
    with pytest.raises(TrainingError, match="options.dropout None, now 0.0"):
        train(new_model(), ROWS, loss, options, uninterrupted)


def test_train_row_too_large(tmp_path):
    def large(model, batch):
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(TrainingError, match="a single row in a batch: shorten the texts"):
        train(new_model(), ROWS, large, OPTIONS, tmp_path / "model")


def test_train_other_error(tmp_path):
    def wrong(model, batch):
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match"):
        train(new_model(), ROWS, wrong, OPTIONS, tmp_path / "model")


VALUES = {6: 0.2, 12: 0.7, 18: 0.7, 24: 0.1, 30: 0.9}


def validated(tmp_path: Path, function=loss, patience: int | None = 2):
    """Train with given validation values; the weights that each belongs to are noted."""
    model, calls = new_model(), {}
    options = OPTIONS.model_copy(update={"epochs": 5, "patience": patience})

    def validate(model):
        assert not model.training and not torch.is_grad_enabled()
        step = 6 * (len(calls) + 1)
        calls[step] = first_weight(model)
        return VALUES[step]

    record = train(model, ROWS, function, options, tmp_path / "model", validate=validate)
    return record, calls, model


def test_train_early_stopping(tmp_path):
    record, calls, model = validated(tmp_path)
    assert [(item.step, item.value) for item in record.validations] == list(VALUES.items())[:4]
    assert (record.best_step, record.steps, record.stopped_early) == (12, 24, True)
    assert first_weight(model) == calls[12] != calls[24]
    saved = load_file(tmp_path / "model" / "model.safetensors")
    assert float(saved["embeddings.word_embeddings.weight"][1, 1]) == calls[12]
    written = json.loads((tmp_path / "model" / "training.json").read_text())
    assert written["best_step"] == 12 and len(written["losses"]) == 24
    assert not model.training


def test_train_last_step_best(tmp_path):
    record, calls, model = validated(tmp_path, patience=None)
    assert (record.best_step, record.steps, record.stopped_early) == (30, 30, False)
    assert first_weight(model) == calls[30]


@pytest.mark.fault("killed_training")
def test_train_best_checkpoint_kept(tmp_path):
    with pytest.raises(Killed):
        validated(tmp_path, dies_after(23), patience=None)
    steps = sorted(path.name for path in (tmp_path / "model.checkpoints").iterdir())
    assert steps == ["step-00000012", "step-00000018", "step-00000020"]
    options = OPTIONS.model_copy(update={"epochs": 5, "patience": None})
    record = train(new_model(), ROWS, loss, options, tmp_path / "model", validate=lambda model: 0.1)
    assert record.best_step == 12
    assert [item.value for item in record.validations] == [0.2, 0.7, 0.7, 0.1, 0.1]


@pytest.mark.fault("damaged_checkpoint")
def test_train_corrupt_best_checkpoint(tmp_path, caplog):
    with pytest.raises(Killed):
        validated(tmp_path, dies_after(23), patience=None)
    (tmp_path / "model.checkpoints" / "step-00000012" / "model.safetensors").write_bytes(b"")
    record, calls, model = validated(tmp_path, patience=None)
    assert "step-00000020 is skipped, since it is damaged: step-00000012/model" in caplog.text
    assert "training starts from" in caplog.text
    assert (record.best_step, len(record.validations)) == (30, 5)


def test_train_rows_of_epoch(tmp_path):
    rows = Dataset.from_dict({"ids": [[1, 2]] * 10, "number": list(range(10))})
    calls = []

    def noting(model, batch):
        calls.extend(batch["number"])
        return loss(model, batch)

    options = TrainingOptions(learning_rate=0.01, epochs=2, batch_size=4)
    assert train(new_model(), rows, noting, options, tmp_path / "model").steps == 6
    assert sorted(calls[:10]) == sorted(calls[10:]) == list(range(10))
    assert calls[:10] != calls[10:]


def test_train_schedule(tmp_path, monkeypatch):
    rates = []
    step = torch.optim.AdamW.step

    def noting(optimiser, *arguments, **options):
        rates.append(optimiser.param_groups[0]["lr"])
        return step(optimiser, *arguments, **options)

    monkeypatch.setattr(torch.optim.AdamW, "step", noting)
    options = TrainingOptions(learning_rate=1.0, max_steps=5, warmup_ratio=0.4)
    train(new_model(), ROWS, loss, options.model_copy(update={"epochs": 9}), tmp_path / "model")
    assert rates == pytest.approx([0, 0.5, 1, 2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": 1, "epoch": 3}, "epoch"),
        ({"learning_rate": 1, "warmup_ratio": 1.5}, "warmup_ratio"),
        ({"learning_rate": 1, "optimiser": "sgd"}, "optimiser"),
    ],
)
def test_training_options_invalid(options, message):
    with pytest.raises(ValidationError, match=message):
        TrainingOptions(**options)


def test_train_invalid(tmp_path):
    with pytest.raises(TrainingError, match="no rows"):
        train(new_model(), ROWS.select([]), loss, OPTIONS, tmp_path / "model")
    with pytest.raises(TrainingError, match="loss of step 1 is nan: lower learning_rate"):
        nan = torch.tensor(float("nan"), requires_grad=True)
        train(new_model(), ROWS, lambda *_: nan * 1, OPTIONS, tmp_path / "model")
    with pytest.raises(TrainingError, match="validation value after step 6 is nan"):
        train(new_model(), ROWS, loss, OPTIONS, tmp_path / "n", validate=lambda _: float("nan"))


def test_train_progress(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(training, "PROGRESS_SECONDS", 0.0)
    with caplog.at_level(logging.INFO):
        train(new_model(), ROWS, loss, OPTIONS, tmp_path / "model")
    lines = [item for item in caplog.messages if "minutes left" in item]
    assert len(lines) == 18
    assert lines[-1].startswith("step 18 of 18, loss ") and lines[-1].endswith(" 0.0 minutes left")


def test_train_readable_model(uninterrupted):
    modes = {path.name: path.stat().st_mode & 0o777 for path in uninterrupted.iterdir()}
    assert modes["model.safetensors"] == modes["config.json"] == modes["training.json"]


def test_train_bf16_on_cpu(tmp_path, caplog, uninterrupted):
    options = OPTIONS.model_copy(update={"bf16": True})
    train(new_model(), ROWS, loss, options, tmp_path / "model")
    assert "bf16 needs a GPU" in caplog.text
    assert weights(tmp_path / "model") == weights(uninterrupted)


@pytest.mark.fault("damaged_checkpoint")
def test_train_partial_folder(tmp_path, uninterrupted):
    half = tmp_path / ".model.partial"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"half")
    (tmp_path / "model").mkdir()
    train(new_model(), ROWS, loss, OPTIONS, tmp_path / "model")
    assert weights(tmp_path / "model") == weights(uninterrupted)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_sha256_of_lengths():
    assert sha256_of([b"ab", b"c"]) != sha256_of([b"a", b"bc"])
