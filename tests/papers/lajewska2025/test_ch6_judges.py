"""Judges of responses: language models by prompt, a model of inference, and words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file
from sklearn.metrics import roc_auc_score
from tiny_bert import SPECIAL, tiny_bert, write_bert
from transformers import BertForSequenceClassification

from everycell.learning.models import ModelError
from papers.lajewska2025.ch6_autonuggetizer import (
    SUPPORT,
    assign_nuggets,
    create_nuggets,
    label_importance,
    read_labels,
)
from papers.lajewska2025.ch6_completeness import (
    FEATURES,
    Words,
    imitation,
    labelled_features,
    supported_shares,
    train_judge,
)
from papers.lajewska2025.ch6_entailment import LABELS, inference_probabilities, load_inference


class Script:
    """A model with fixed answers that records its requests."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, prompts):
        self.asked += [messages[-1].content for messages in prompts]
        return [self.answers.pop(0) for _ in prompts]


def test_facts_grow_from_batch_to_batch_and_survive_an_answer_without_a_list():
    model = Script("- owls hunt\n- owls eat mice", "I cannot do that.", "- owls sleep\n- owls hunt")
    facts = create_nuggets([("Owls?", ["a", "b", "c"])], model, batch=1, limit=2)
    assert facts == [("owls sleep", "owls hunt")]
    assert "(none)" in model.asked[0] and "- owls eat mice" in model.asked[2]


def test_batches_of_all_questions_are_asked_side_by_side():
    model = Script("- owls hunt", "- ships sail", "- ships sink", "- owls sleep")
    requests = [("Owls?", ["a", "b"]), ("Ships?", ["c"]), ("Sinking?", ["d"]), ("Rocks?", [])]
    result = create_nuggets(requests, model, batch=1)
    assert result == [("owls sleep",), ("ships sail",), ("ships sink",), ()]
    assert ["owls hunt" in item for item in model.asked] == [False, False, False, True]
    assert create_nuggets([], model) == []


def test_facts_are_labelled_in_batches():
    facts = [f"fact {number}" for number in range(12)]
    model = Script("\n".join(f"{n}: vital" for n in range(1, 11)), "1: okay\n2: perhaps")
    result = label_importance([("Q?", facts), ("R?", [])], model)
    assert result == [("vital",) * 10 + ("okay", ""), ()]
    assert "10. fact 9" in model.asked[0] and "1. fact 10" in model.asked[1]


def test_assign_nuggets_empty_response():
    model = Script()
    assert assign_nuggets([("Q?", " ", ["a", "b"])], model) == [("not_support",) * 2]
    assert model.asked == []


def test_labels_go_back_to_their_response():
    facts = [f"fact {number}" for number in range(11)]
    model = Script("\n".join(f"{n}: support" for n in range(1, 11)), "1: not_support", "1: support")
    result = assign_nuggets([("Q?", "A.", facts), ("Q?", "", ["x"]), ("R?", "B.", ["y"])], model)
    assert result == [("support",) * 10 + ("not_support",), ("not_support",), ("support",)]
    assert "Answer: B." in model.asked[2]


def test_labels_are_those_of_the_track():
    model = Script("1: support\n2: partial_support\n3. Not support")
    (support,) = assign_nuggets([("Q?", "An answer.", ["a", "b", "c"])], model)
    assert support == ("support", "partial_support", "not_support")


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        ("", ("", "")),
        ("1: support\n1: not_support", ("support", "")),
        ("3: support\n0: support", ("", "")),
        ("**2** - Not Support", ("", "not_support")),
    ],
)
def test_read_labels_no_label(answer, labels):
    assert read_labels(answer, 2, SUPPORT) == labels


@pytest.fixture
def inference(tmp_path: Path) -> Path:
    """Return a tiny model of inference with another order of labels."""
    words = [*SPECIAL, "owls", "eat"]
    result = tiny_bert(BertForSequenceClassification, words=len(words), positions=16)
    result.classifier = torch.nn.Linear(8, 3)
    result.num_labels = 3
    result.config.id2label = dict(enumerate(("contradiction", "ENTAILMENT", "neutral")))
    result.config.label2id = {name: position for position, name in result.config.id2label.items()}
    write_bert(tmp_path / "nli", result, words)
    return tmp_path / "nli"


def test_probabilities_stand_under_their_labels(inference):
    model, tokenizer = load_inference(inference)
    pairs = [("owls eat", "owls"), ("owls", "eat"), ("owls " * 600, "eat")]
    result = inference_probabilities(model, tokenizer, pairs, length=16, batch=2)
    assert result.shape == (3, len(LABELS))
    np.testing.assert_allclose(result.sum(axis=1), 1)
    alone = inference_probabilities(model, tokenizer, pairs[1:2], length=16)
    np.testing.assert_allclose(result[1], alone[0], atol=1e-6)
    logits = model(**tokenizer(*pairs[1], return_tensors="pt")).logits[0].double()
    expected = logits.softmax(0).detach().numpy()[[1, 0, 2]]
    np.testing.assert_allclose(alone[0], expected, atol=1e-6)
    assert inference_probabilities(model, tokenizer, []).shape == (0, 3)


def test_load_inference_other_labels(inference):
    config = inference / "config.json"
    config.write_text(config.read_text().replace("neutral", "unsure"))
    with pytest.raises(ModelError, match="labels are contradiction, entailment, unsure"):
        load_inference(inference)


def test_load_inference_missing_weights(inference):
    weights = load_file(inference / "model.safetensors")
    remaining = {name: part for name, part in weights.items() if not name.startswith("classifier.")}
    save_file(remaining, inference / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lack 'classifier\.bias'"):
        load_inference(inference)


def test_features_by_hand():
    words = Words(["Owls eat mice.", "Ships sail."])
    facts, responses = ["owls eat fish", ""], ["Owls sleep. They eat.", ""]
    result = words.features(facts, "What do owls eat?", responses)
    assert result.shape == (2, 2, len(FEATURES))
    names = dict(zip(FEATURES, result[0, 0], strict=True))
    assert names["share of the fact's words in the response"] == pytest.approx(2 / 3)
    # Of "owls eat fish" the question lacks "fish" alone.
    assert names["weighted share of new words in the response"] == 0
    assert names["share of words that are new"] == pytest.approx(1 / 3)
    assert names["share of the fact's bigrams in the response"] == 0
    in_best = names["largest weighted share of new words in a sentence"]
    assert in_best == 0 or in_best < names["weighted share in the response"]
    assert np.isfinite(result).all() and (result[:, 1, :7] == 0).all()


def test_imitation_equals_scikit_learn():
    rng = np.random.default_rng(5)
    features = rng.uniform(size=(400, 2))
    supported = features[:, 0] + rng.normal(scale=0.2, size=400) > 0.5
    judge = train_judge(features[:200], supported[:200])
    result = judge.predict_proba(features[200:])[:, 1]
    rows = pd.DataFrame({"run": "r", "topic": np.arange(200).astype(str)}).assign(
        support=np.where(supported[200:], "support", "not_support")
    )
    measured = imitation(rows, result)
    assert measured["AUC"] == roc_auc_score(supported[200:], result) > 0.85
    assert 0.4 < measured["kappa"] < 1
    assert measured["difference"] == pytest.approx(result.mean() - supported[200:].mean())


def test_supported_shares():
    rows = pd.DataFrame({"run": list("aab"), "topic": ["1", "1", "1"]})
    assert supported_shares(rows, [1, 0, 1]).to_dict() == {("a", "1"): 0.5, ("b", "1"): 1.0}


def test_imitation_absolute_difference_of_runs():
    """Differences of +.5 and -.25 per run: .125 on average, .375 in absolute value."""
    rows = pd.DataFrame(
        {"run": list("aaaabbbb"), "topic": ["1", "1", "2", "2"] * 2}
        | {"support": ["support", "not_support"] * 2 + ["support", "support"] * 2}
    )
    measured = imitation(rows, [1, 1, 1, 1, 0.5, 1, 0.5, 1])
    assert measured["difference"] == pytest.approx(0.125)
    assert measured["absolute difference"] == pytest.approx(0.375)


def test_labelled_features_one_row_per_label():
    labels = pd.DataFrame(
        [("r", "1", "owls eat", "support")], columns=["run", "topic", "text", "support"]
    )
    responses, questions = {("r", "1"): "Owls eat mice."}, {"1": "Owls?"}
    rows, features = labelled_features(labels, responses, questions, Words(["Owls eat mice."]))
    assert len(rows) == 1 and features.shape == (1, len(FEATURES))
