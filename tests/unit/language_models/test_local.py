"""Language models in memory: a tiny random one, loading and converting, opening by name."""

import hashlib
import json
import sys

import pytest
import torch
from tiny_language_model import LONGEST, TEMPLATE, ask, make_model, make_tokenizer
from transformers import BertConfig, BertModel

from everycell.base.errors import DataError
from everycell.language_models import local as language_model
from everycell.language_models.answering import MissingAnswerError, open_language_model
from everycell.language_models.generation import (
    Grounded,
    Identity,
    LanguageModelError,
    NotOfferedError,
    Request,
    chat,
)
from everycell.language_models.local import LocalModel, convert_gguf, load_language_model
from everycell.language_models.settings import LanguageModels, LocalSettings
from everycell.learning.models import ModelError

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@pytest.fixture
def local(monkeypatch):
    monkeypatch.setattr(language_model, "BLOCK", 8)
    return LocalModel(make_model(), make_tokenizer(), Identity(name="toy"))


def reference(local, text, length):
    """Greedy tokens and their log-probabilities by whole forward passes, without any cache."""
    ids = local._tokenizer(text)["input_ids"]
    start, logprobs = len(ids), []
    for _ in range(length):
        with torch.no_grad():
            scores = local._model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
        ids.append(int(scores.argmax()))
        logprobs.append(float(scores.max()))
        if ids[-1] == 257:
            return ids[start:-1], logprobs[:-1]
    return ids[start:], logprobs


@pytest.mark.parametrize("text", ["a", "Where is Delft? " * 2, "12345678", "123456789"])
def test_answer_greedy_equals_full_forward_passes(local, text):
    answer = local.answer(ask(text, logprobs=True))
    ids, logprobs = reference(local, text, 12)
    assert answer.text == local._tokenizer.decode(ids).split("\ufffd")[0] or "\ufffd" in (
        local._tokenizer.decode(ids)
    )
    assert [token.logprob for token in answer.tokens] == pytest.approx(logprobs, abs=1e-5)
    assert answer.prompt_tokens == len(local._tokenizer(text)["input_ids"])
    assert answer.finish == ("stop" if len(ids) < 12 else "length")


def test_answer_is_independent_of_earlier_requests(local):
    shared = "The same example again. " * 2
    requests = [
        ask(shared + "first", logprobs=True),
        ask(shared + "second", logprobs=True),
        ask("Another thing altogether, and longer than a block", logprobs=True),
        Request(prompt=shared + "first", continuation=" third"),
        ask(shared[:20], logprobs=True),
        ask(shared + "first", temperature=1.0, seed=3, logprobs=True),
    ]
    alone = [LocalModel(make_model(), make_tokenizer(), local.identity).answer(r) for r in requests]
    # The same bits, not nearly the same.
    assert [local.answer(request) for request in requests] == alone
    assert [local.answer(request) for request in reversed(requests)] == alone[::-1]


def test_answer_reuses_shared_blocks(local, monkeypatch):
    read = []
    forward = local._forward
    monkeypatch.setattr(
        local, "_forward", lambda ids, keep: (read.append(len(ids)), forward(ids, keep))[1]
    )
    local.answer(Request(prompt="0123456789abcdefghij", continuation="k"))
    local.answer(Request(prompt="0123456789abcdefghij", continuation="lm"))
    local.answer(Request(prompt="0123456789ABCDEFGHIJ", continuation="k"))
    assert read == [8, 8, 5, 6, 8, 5]


def test_answer_error_resets_the_cache(local, monkeypatch):
    requests = ask("0123456789abcdefghijklmnop", logprobs=True)
    right = LocalModel(make_model(), make_tokenizer(), local.identity).answer(requests)
    forward, calls = local._forward, []

    def interrupted(ids, keep):
        calls.append(ids)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return forward(ids, keep)

    monkeypatch.setattr(local, "_forward", interrupted)
    with pytest.raises(KeyboardInterrupt):
        local.answer(requests)
    assert local.answer(requests) == right


def test_answer_score_equals_greedy_probability(local):
    answer = local.answer(ask("Where is Delft?", logprobs=True, max_tokens=6))
    assert answer.finish == "length"
    ids, logprobs = reference(local, "Where is Delft?", 6)
    prompt = local._tokenizer("Where is Delft?")["input_ids"]
    with torch.inference_mode():
        (scored,) = local._score([(prompt, ids)])
    assert [token.logprob for token in scored.tokens] == pytest.approx(logprobs, abs=1e-5)
    assert scored.finish == "scored" and scored.logprob == pytest.approx(answer.logprob, abs=1e-4)


def test_answer_scores_of_next_tokens_sum_to_one(local):
    prompt = local._tokenizer("Delft is")["input_ids"]
    with torch.inference_mode():
        total = sum(
            torch.tensor(local._score([(prompt, [number])])[0].logprob).exp()
            for number in range(258)
        )
    assert float(total) == pytest.approx(1, abs=1e-5)


def test_answer_token_spans_prompt_and_continuation(local):
    with pytest.raises(
        LanguageModelError, match="spans the end of the prompt .*'town'; end the prompt"
    ):
        local.answer(Request(prompt="a ", continuation="town"))
    assert local.answer(Request(prompt="a", continuation=" town")).answer_tokens == 4


def test_answer_sampling_by_seed(local):
    def drawn(**decoding):
        return local.answer(ask("Where?", temperature=1.5, logprobs=True, **decoding)).tokens

    torch.manual_seed(5)
    state = torch.get_rng_state()
    assert drawn(seed=1) == drawn(seed=1) != drawn(seed=2)
    assert len({drawn() for _ in range(5)}) > 1
    assert torch.equal(torch.get_rng_state(), state)
    # So small a share contains only the likeliest token.
    assert drawn(seed=1, top_p=1e-6) == local.answer(ask("Where?", logprobs=True)).tokens


def test_answer_ignores_model_defaults():
    changed = make_model()
    changed.generation_config.repetition_penalty = 50.0
    changed.generation_config.do_sample = True
    changed.generation_config.top_k = 1
    plain, other = (
        LocalModel(model, make_tokenizer(), Identity(name="toy"))
        for model in (make_model(), changed)
    )
    for request in (ask("aaaa", logprobs=True), ask("aaaa", temperature=1.0, seed=1)):
        assert plain.answer(request) == other.answer(request)


def test_answer_stop_texts(local):
    full = local.answer(ask("Where is Delft?", logprobs=True))
    text = full.text
    stop = text[2:4]
    answer = local.answer(ask("Where is Delft?", logprobs=True, stop=(stop,)))
    assert answer.text == text[: text.index(stop)] and answer.finish == "stop"
    assert "".join(token.text for token in answer.tokens).startswith(answer.text)
    assert answer.answer_tokens < full.answer_tokens
    never = local.answer(ask("Where is Delft?", logprobs=True, stop=("never said",)))
    assert never == full


def test_answer_chat_template(local):
    answer = local.answer(ask(chat("Where?", system="Brief."), logprobs=True))
    text = "[system]Brief.<end>[user]Where?<end>[assistant]"
    assert answer == local.answer(ask(text, logprobs=True))
    assert answer.prompt_tokens == len(text) - 2 * len("<end>") + 2


def test_answer_quoted_special_tokens(local):
    def length(content):
        return local.answer(ask(chat(content), max_tokens=1)).prompt_tokens

    # Five characters and the space that takes the special token apart, not one token.
    assert length("x<end>") == length("x") + 6


def test_answer_model_without_template():
    model = LocalModel(make_model(), make_tokenizer(None), Identity(name="base"))
    assert model.answer(ask("Where?")).answer_tokens > 0
    with pytest.raises(NotOfferedError, match="base has no chat template"):
        model.answer(ask(chat("Where?")))


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro m(n) %}{% for i in range(9) %}{{ m(n + 1) }}{% endfor %}{% endmacro %}{{ m(0) }}",
        "{% for i in range(99999) %}{{ range(99999) | map('string') | join }}{% endfor %}",
        "{{ 1 // 0 }}",
        "{{ range(10 ** 12) }}",
        "{{ 'a' * 10 ** 15 }}",
        "{{ messages[9].content.x }}",
    ],
    ids=["loops", "recursion", "filters", "division", "range", "memory", "undefined"],
)
def test_answer_hostile_template(template):
    model = LocalModel(make_model(), make_tokenizer(template), Identity(name="toy"))
    trace = sys.gettrace()
    with pytest.raises(NotOfferedError, match="template of toy rejects"):
        model.answer(ask(chat("Where?")))
    assert sys.gettrace() is trace


def test_answer_template_rejects_roles():
    template = "{{ raise_exception('only user roles') }}"
    model = LocalModel(make_model(), make_tokenizer(template), Identity(name="picky"))
    with pytest.raises(NotOfferedError, match="template of picky .*only user roles"):
        model.answer(ask(chat("Where?", system="Brief.")))


GROUNDED_TEMPLATE = (
    "{% for each in documents %}({{ loop.index0 }}){{ each['text'] }}{% endfor %}"
    "[{{ citation_mode }}]" + TEMPLATE
)


def grounded(*documents):
    return ask((Grounded(role="user", content="Q", documents=documents),), logprobs=True)


@pytest.mark.parametrize("templates", [False, True])
def test_answer_documents_template(templates):
    template = {"default": TEMPLATE, "rag": GROUNDED_TEMPLATE} if templates else GROUNDED_TEMPLATE
    model = LocalModel(make_model(), make_tokenizer(template), Identity(name="toy"))
    full = "(0)An owl(1)x< end>[accurate][user]Q<end>[assistant]"
    # A document ends no turn.
    assert model.answer(grounded("An owl", "x<end>")) == model.answer(ask(full, logprobs=True))


def test_answer_template_omits_documents(local):
    with pytest.raises(NotOfferedError, match="template of toy omits document 1; put"):
        local.answer(grounded("An owl"))


@pytest.mark.parametrize(
    "request_", [ask("x" * (LONGEST - 11)), Request(prompt="x" * (LONGEST - 1), continuation="yy")]
)
def test_answer_prompt_too_long(local, request_):
    with pytest.raises(
        LanguageModelError, match=f"the limit of toy is {LONGEST} in total; shorten"
    ):
        local.answer(request_)
    assert local.answer(ask("x" * (LONGEST - 12))).prompt_tokens == LONGEST - 12


def test_answer_sliding_window(monkeypatch):
    from transformers import MistralConfig, MistralForCausalLM

    monkeypatch.setattr(language_model, "BLOCK", 8)

    def make():
        torch.manual_seed(0)
        size = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
        config = MistralConfig(
            vocab_size=258,
            num_hidden_layers=1,
            num_key_value_heads=1,
            sliding_window=6,
            initializer_range=0.5,
            **size,
        )
        model = MistralForCausalLM(config).eval()
        return LocalModel(model, make_tokenizer(), Identity(name="window"))

    requests = [ask(f"0123456789abcdefgh{end}", logprobs=True) for end in "xyx"]
    one = make()
    assert [one.answer(request) for request in requests] == [make().answer(r) for r in requests]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "models/toy"
    make_model().save_pretrained(folder)
    make_tokenizer().save_pretrained(folder)
    return folder


def test_load_language_model_folder(folder, local):
    loaded = load_language_model(folder, name="toy")
    requests = ask(chat("Where is Delft?"), logprobs=True)
    result, expected = loaded.answer(requests), local.answer(requests)
    assert (result.text, result.prompt_tokens) == (expected.text, expected.prompt_tokens)
    # Weights lie at other addresses, by which sums may go in another order.
    assert result.logprob == pytest.approx(expected.logprob, abs=1e-4)
    assert loaded.identity.dtype == "float32" and loaded.identity.revision.startswith("sha256:")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "model.safetensors").unlink(), "has no model.safetensors"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"no"), "cannot be read"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be read"),
        (lambda folder: (folder / "tokenizer.json").write_text("{"), "tokenizer of .* cannot"),
        (
            lambda folder: BertModel(
                BertConfig(vocab_size=9, hidden_size=8, num_attention_heads=1, num_hidden_layers=1)
            ).save_pretrained(folder),
            "weights lack|cannot be read",
        ),
    ],
)
def test_load_language_model_damaged_folder(folder, damage, message):
    damage(folder)
    with pytest.raises((ModelError, DataError), match=message):
        load_language_model(folder)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU holds the tiny model")
def test_load_language_model_beyond_gpu_memory(folder, monkeypatch):
    # Without enough GPU memory, the model is on the CPU.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(ModelError, match="more than the GPUs of this job have; request"):
        load_language_model(folder)


def settings_of(tmp_path, source, **changed):
    local = {"toy": LocalSettings(source=str(source))}
    return LanguageModels(local=local, records=str(tmp_path / "records"), **changed)


def test_open_language_model_replays_without_files(tmp_path, folder):
    requests = [ask("Where?"), Request(prompt="Where", continuation="?")]
    with open_language_model("toy", settings_of(tmp_path, folder), "run") as model:
        answers = model.answer_all(requests)
        assert model.requests_sent == 2 and model.identity.name == "toy"
    (folder / "model.safetensors").unlink()
    replay = settings_of(tmp_path, folder, ask=False)
    with open_language_model("toy", replay, "run", folder=tmp_path / "gone") as model:
        assert model.answer_all(requests) == answers and model.requests_sent == 0
        with pytest.raises(MissingAnswerError, match="1 of 1 answers of 'toy'"):
            model.answer(ask("Why?"))
    prompts = (tmp_path / "records/run.prompts.jsonl").read_text().splitlines()
    assert [json.loads(line)["prompt"] for line in prompts] == ["Where?", "Where"]


def test_open_language_model_batch(tmp_path, folder, monkeypatch):
    calls = [ask("Where is " + "it " * number, logprobs=True) for number in range(5)]
    with open_language_model("toy", settings_of(tmp_path, folder), "one") as model:
        alone = model.answer_all(calls)
    sizes, answer = [], LocalModel.answer_batch
    monkeypatch.setattr(
        LocalModel,
        "answer_batch",
        lambda self, requests: (sizes.append(len(requests)), answer(self, requests))[1],
    )
    local = {"toy": LocalSettings(source=str(folder), batch=3)}
    settings = LanguageModels(local=local, records=str(tmp_path / "records"))
    with open_language_model("toy", settings, "three") as model:
        together = model.answer_all(calls)
    assert sizes == [3, 2]
    assert [answer.text for answer in together] == [answer.text for answer in alone]
    # The batch size is not part of the model's identity, so recorded answers are found.
    with open_language_model("toy", settings_of(tmp_path, folder), "three") as model:
        assert model.answer_all(calls) == together and model.requests_sent == 0


def test_open_language_model_changed_model(tmp_path, folder):
    settings = settings_of(tmp_path, folder)
    with open_language_model("toy", settings, "run") as model:
        model.answer(ask("Where?"))
    make_model(seed=1).save_pretrained(folder)
    with open_language_model("toy", settings, "run") as model:
        model.answer(ask("Where?"))
        assert model.requests_sent == 1


def test_open_language_model_hub_model_not_cached(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="everycell/none is not in the local cache"):
        with open_language_model("toy", settings_of(tmp_path, "everycell/none"), "run"):
            pass


def write_gguf(path, *, blocks=1, size=32):
    """Write a one-layer Llama of four entries as GGUF."""
    import gguf
    import numpy as np

    generator = np.random.default_rng(0)
    writer = gguf.GGUFWriter(path, "llama")
    for add, value in (
        (writer.add_context_length, 32),
        (writer.add_embedding_length, size),
        (writer.add_block_count, blocks),
        (writer.add_feed_forward_length, 32),
        (writer.add_head_count, 2),
        (writer.add_head_count_kv, 2),
        (writer.add_layer_norm_rms_eps, 1e-5),
        (writer.add_vocab_size, 4),
        (writer.add_rope_dimension_count, 16),
        (writer.add_tokenizer_model, "gpt2"),
        (writer.add_token_list, ["a", "b", "ab", "<end>"]),
        (writer.add_token_merges, ["a b"]),
        (writer.add_eos_token_id, 3),
    ):
        add(value)
    weights = {}

    def add_tensor(name, *shape):
        weights[name] = generator.normal(size=shape).astype(np.float32)
        writer.add_tensor(name, weights[name])

    add_tensor("token_embd.weight", 4, 32)
    add_tensor("output.weight", 4, 32)
    add_tensor("output_norm.weight", 32)
    for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        add_tensor(f"blk.0.{part}.weight", 32, 32)
    for part in ("attn_norm", "ffn_norm"):
        add_tensor(f"blk.0.{part}.weight", 32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def test_convert_gguf(tmp_path):
    file, folder = tmp_path / "tiny.gguf", tmp_path / "out/tiny"
    weights = write_gguf(file)
    convert_gguf(file, folder, name="tiny")
    model = load_language_model(folder, name="tiny")
    embedded = model._model.get_input_embeddings().weight.detach().numpy()
    assert (embedded == weights["token_embd.weight"]).all()
    assert model.answer(Request(prompt="a", continuation="a")).answer_tokens == 1
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert model.identity.revision == f"sha256:{digest}"
    assert [path.name for path in folder.parent.iterdir()] == ["tiny"]
    with pytest.raises(OSError):
        convert_gguf(file, folder, name="tiny")
    assert [path.name for path in folder.parent.iterdir()] == ["tiny"]


def test_convert_gguf_damaged_file(tmp_path):
    file = tmp_path / "tiny.gguf"
    write_gguf(file)
    file.write_bytes(file.read_bytes()[:600])
    with pytest.raises(ModelError, match="tiny.gguf cannot be read"):
        convert_gguf(file, tmp_path / "out/tiny", name="tiny")
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.gguf"]


def gguf_value(kind, *numbers):
    """A value of a GGUF header: its type, then numbers of four bytes (types) and eight bytes."""
    content = kind.to_bytes(4, "little")
    for index, number in enumerate(numbers):
        content += number.to_bytes(4 if kind == ARRAY and index % 2 == 0 else 8, "little")
    return content


ARRAY, STRING = 9, 8


@pytest.mark.parametrize(
    ("tensors", "fields", "value"),
    [
        (0, 1, gguf_value(STRING, 2**62)),
        (0, 1, gguf_value(STRING, 2**64 - 1)),
        *((0, 1, gguf_value(ARRAY, kind, 2**62)) for kind in (0, 1, 4, 7, 8, 9, 10, 12)),
        (0, 1, gguf_value(ARRAY, 0, 2**62) + bytes(10_000)),
        (0, 1, gguf_value(ARRAY, *[ARRAY, 1] * 5_000)),
        (0, 1, gguf_value(ARRAY, *[ARRAY, 2**40] * 100)),
        (0, 1, gguf_value(13, 1)),
        (0, 1, gguf_value(2**32 - 1, 1)),
        (0, 2**62, gguf_value(4, 1)),
        (2**62, 0, b""),
        (2**62, 1, gguf_value(4, 1)),
        (1, 1, gguf_value(4, 1) + b"\x01\0\0\0\0\0\0\0a" + b"\xff" * 4),
        (1, 1, gguf_value(4, 1) + b"\xff" * 8),
    ],
)
def test_convert_gguf_declared_counts(tmp_path, tensors, fields, value):
    """A reader ends with the file, whatever numbers its header declares."""
    file = tmp_path / "tiny.gguf"
    numbers = b"".join(number.to_bytes(8, "little") for number in (tensors, fields))
    name = (7).to_bytes(8, "little") + b"a.field"
    file.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + numbers + name + value)
    with pytest.raises(ModelError, match="tiny.gguf cannot be read") as error:
        convert_gguf(file, tmp_path / "out/tiny", name="tiny")
    assert "\n" not in str(error.value)


def test_convert_gguf_many_values(tmp_path, monkeypatch):
    file = tmp_path / "tiny.gguf"
    write_gguf(file)
    monkeypatch.setattr("everycell.language_models.local._GGUF_PARTS", 50)
    with pytest.raises(ModelError, match="more values"):
        convert_gguf(file, tmp_path / "out/tiny", name="tiny")


@pytest.mark.parametrize("declared", [{"blocks": 10**7}, {"blocks": 2**32 - 1}, {"size": 2**20}])
def test_convert_gguf_huge_settings(tmp_path, declared):
    file = tmp_path / "tiny.gguf"
    write_gguf(file, **declared)
    with pytest.raises(DataError) as error:
        convert_gguf(file, tmp_path / "out/tiny", name="tiny")
    assert error.value.path == file


def test_answer_keeps_tags_of_reasoning_that_are_special_tokens(monkeypatch):
    """Without them, reasoning could not be told from the answer."""
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["[THINK]", "[/THINK]", "<|end|>"]})
    opening, closing, end = tokenizer.convert_tokens_to_ids(["[THINK]", "[/THINK]", "<|end|>"])
    local = LocalModel(make_model(), tokenizer, Identity(name="toy"))
    ids = [opening, *tokenizer("no")["input_ids"], closing, *tokenizer("yes")["input_ids"], end]
    tokens = local._tokens(ids, [-0.5] * len(ids))
    assert "".join(token.text for token in tokens) == "[THINK]no[/THINK]yes"


def test_answer_begins_with_reasoning_that_the_prompt_opens(local):
    request = ask("Where? <think>")
    answer = local.answer(request)
    assert answer.text.startswith("<think>")
    assert answer.without_reasoning().text == "" and answer.answer_tokens <= 12
    assert not local.answer(ask("Where?")).text.startswith("<think>")
