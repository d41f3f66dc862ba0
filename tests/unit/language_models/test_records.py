"""Requests and their keys; answers that are recorded, replayed, mended and checked."""

import itertools
import json
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from everycell.language_models.answering import MissingAnswerError, RecordedModel
from everycell.language_models.costs import Budget, estimate
from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    Message,
    NotOfferedError,
    Request,
    Token,
    chat,
    folder_identity,
    prompt_hash,
    request_key,
)
from everycell.language_models.records import (
    Record,
    RecordError,
    chain_record,
    read_record,
    record_lines,
)
from everycell.language_models.settings import Decoding, Prices
from everycell.rag.citations import citation_logprobs, find_citations

MODEL = Identity(name="parrot", revision="1")

decodings = st.builds(
    Decoding,
    max_tokens=st.integers(1, 4),
    temperature=st.sampled_from([0.0, 0.5, 1.0]),
    top_p=st.sampled_from([0.5, 1.0]),
    seed=st.none() | st.integers(0, 3),
    stop=st.lists(st.sampled_from(["a", "b", "ab"]), max_size=2).map(tuple),
    logprobs=st.booleans(),
)
texts = st.text(min_size=1, max_size=4)
prompts = texts | st.lists(
    st.builds(Message, role=st.sampled_from(["system", "user", "assistant"]), content=texts),
    min_size=1,
    max_size=2,
).map(tuple)
requests = st.one_of(
    st.builds(Request, prompt=prompts, decoding=decodings),
    st.builds(Request, prompt=prompts, continuation=texts),
)
models = st.builds(Identity, name=st.sampled_from("ab"), revision=st.sampled_from(["", "1"]))


class Parrot:
    """Answers with the prompt; counts what it was asked, and breaks where it is told to."""

    identity = MODEL

    def __init__(self, broken=()):
        self.asked = []
        self.broken = set(broken)

    def answer(self, request):
        self.asked.append(request)
        if request.text in self.broken:
            raise LanguageModelError(f"broken at {request.text}")
        return Answer(text=request.text, finish="stop")


def ask(text, **decoding):
    return Request(prompt=text, decoding=Decoding(**decoding))


def key_of(model, request):
    return request_key(model, prompt_hash(request), request.decoding, request.continuation)


@settings(max_examples=50)
@given(models, requests, models, requests)
def test_key_of_equal_requests(model, request_, other, second):
    same = (model, request_) == (other, second)
    assert (key_of(model, request_) == key_of(other, second)) == same


@settings(max_examples=50)
@given(requests, st.randoms())
def test_key_of_order_of_fields(request_, random):
    def shuffled(value):
        if isinstance(value, list):
            return [shuffled(part) for part in value]
        if not isinstance(value, dict):
            return value
        items = list(value.items())
        random.shuffle(items)
        return {key: shuffled(part) for key, part in items}

    again = Request.model_validate(shuffled(request_.model_dump(mode="json")))
    assert key_of(MODEL, again) == key_of(MODEL, request_)


def test_key_of_fixed_value():
    """Else all records that were ever made would be lost."""
    request = Request(prompt=chat("Where is Delft?"), decoding=Decoding(max_tokens=7, seed=1))
    assert key_of(MODEL, request).startswith("1cff928baaec")


@pytest.mark.parametrize(
    "wrong",
    [
        {"prompt": "a"},
        {"prompt": "a", "decoding": {}, "continuation": "b"},
        {"prompt": "", "continuation": "b"},
        {"prompt": [], "continuation": "b"},
        {"prompt": "a", "decoding": {"max_tokens": 0}},
        {"prompt": "a", "decoding": {"temprature": 1}},
        {"prompt": [{"role": "tool", "content": "a"}], "continuation": "b"},
    ],
)
def test_request_invalid(wrong):
    with pytest.raises(ValidationError):
        Request.model_validate(wrong)


@pytest.mark.parametrize("count", [-1, 10**400])
def test_answer_invalid_token_count(count):
    for field in ("prompt_tokens", "answer_tokens"):
        with pytest.raises(ValidationError, match=field):
            Answer(text="a", finish="stop", **{field: count})


def test_answer_logprob_missing():
    with pytest.raises(NotOfferedError, match="logprobs: true"):
        _ = Answer(text="a", finish="stop").logprob


@settings(max_examples=15)
@given(st.lists(requests, max_size=3))
def test_record_replays_answers(tmp_path_factory, requests_sent):
    path = tmp_path_factory.mktemp("records") / "a.jsonl"
    with Record(path) as record:
        given_answers = RecordedModel(record, MODEL, Parrot).answer_all(requests_sent)
    assert [answer.text for answer in given_answers] == [request.text for request in requests_sent]
    with Record(path) as record:
        assert RecordedModel(record, MODEL, None).answer_all(requests_sent) == given_answers
    assert path.exists() == bool(requests_sent)


def test_recorded_loads_the_model_on_demand(tmp_path):
    result = []

    def load():
        result.append(Parrot())
        return result[-1]

    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, load, workers=3)
        model.answer_all([ask("a"), ask("b"), ask("a")])
        assert model.answer(ask("b")).text == "b"
    assert (
        sorted(request.text for request in result[0].asked) == ["a", "b"]
        and model.requests_sent == 2
    )
    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, load)
        model.answer_all([ask("b"), ask("a")])
        assert (len(result), model.requests_sent) == (1, 0)
        model.answer_all([ask("a", seed=1)])
        assert (len(result), model.requests_sent) == (2, 1)


@pytest.mark.parametrize("workers", [1, 2])
def test_recorded_resumes_after_a_model_error(tmp_path, workers):
    calls = [ask(letter) for letter in "abcdef"]
    parrot = Parrot(broken="d")
    with Record(tmp_path / "a.jsonl") as record:
        with pytest.raises(LanguageModelError, match="broken at d"):
            RecordedModel(record, MODEL, lambda: parrot, workers=workers).answer_all(calls)
    remaining = len(read_record(tmp_path / "a.jsonl"))
    # Of two workers, one may be at a later request.
    assert remaining == 3 if workers == 1 else 2 <= remaining < 6
    mended = Parrot()
    with Record(tmp_path / "a.jsonl") as record:
        result = RecordedModel(record, MODEL, lambda: mended).answer_all(calls)
    assert [answer.text for answer in result] == list("abcdef")
    assert len(mended.asked) == 6 - remaining


def recorded(tmp_path, texts="abc"):
    path = tmp_path / "a.jsonl"
    with Record(path) as record:
        RecordedModel(record, MODEL, Parrot).answer_all([ask(text) for text in texts])
    return path


def test_record_partial_last_line(tmp_path, caplog):
    path = recorded(tmp_path)
    full = path.read_bytes()
    for length in (len(full) - 1, len(full) - 100):
        path.write_bytes(full[:length])
        assert len(read_record(path)) == 2
        caplog.clear()
        parrot = Parrot()
        with Record(path) as record:
            RecordedModel(record, MODEL, lambda parrot=parrot: parrot).answer_all(
                [ask(text) for text in "abc"]
            )
        assert "the last line was cut off" in caplog.text and "a.jsonl" in caplog.text
        assert [request.text for request in parrot.asked] == ["c"]
        assert len(read_record(path)) == 3


def change(line, **fields):
    return json.dumps(json.loads(line) | fields)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda line: line[:50], "line 2 is not JSON"),
        (lambda line: "", "line 2 is not JSON"),
        (lambda line: change(line, answer=3), "line 2 is not a recorded answer: `answer`"),
        (
            lambda line: change(line, extra=3),
            "line 2 is not a recorded answer: `extra` is not a valid key",
        ),
        (lambda line: change(line, prompt_sha256="0" * 64), "line 2: the key is .* was edited"),
        (lambda line: change(line, continuation="a"), "line 2: the key is"),
        (lambda line: change(line, model={"name": "gpt"}), "line 2: the key is"),
    ],
)
def test_read_record_damaged_line(tmp_path, damage, message):
    path = recorded(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], damage(lines[1]), lines[2]]) + "\n")
    with pytest.raises(RecordError, match=message) as caught, Record(path):
        pass
    assert "a.jsonl" in str(caught.value) and "remove" in str(caught.value)


def edit_answer(lines):
    return [lines[0], change(lines[1], answer={"text": "z", "finish": "stop"}), lines[2]]


def put_in(lines):
    return [lines[0], lines[0], *lines[1:]]


def without_a_hash(lines):
    return [*lines[:2], change(lines[2], chained=None)]


@pytest.mark.fault("endpoint")
@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (edit_answer, 2),
        (lambda lines: edit_answer([lines[0], change(lines[1], chained=None), lines[2]]), 2),
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], lines[2]], 2),
        (lambda lines: [lines[1], lines[0], lines[2]], 1),
        (put_in, 2),
        (without_a_hash, 3),
        (lambda lines: [change(lines[0], date="2020-01-01"), *lines[1:]], 1),
    ],
)
def test_read_record_broken_chain(tmp_path, edit, line):
    path = recorded(tmp_path)
    lines = edit(path.read_text().splitlines())
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(
        RecordError, match=f"line {line}: the hash does not match the lines up to here"
    ):
        read_record(path)


@pytest.mark.fault("endpoint")
def test_chain_record_unchained_lines(tmp_path):
    path = recorded(tmp_path)
    full = path.read_text()
    bare = [change(line, chained=None) for line in full.splitlines()]
    path.write_text("\n".join(bare) + "\n")
    with pytest.raises(RecordError, match=f"line 1 .*language_models.records {path}`"):
        read_record(path)
    chain_record(path)
    assert path.read_text() == full
    # Of a record that was chained from a line on, the earlier lines are vouched for.
    path.write_text("\n".join([*edit_answer(bare)[:2], full.splitlines()[2]]) + "\n")
    with pytest.raises(RecordError, match="line 3: the hash does not match"):
        chain_record(path)


@pytest.mark.fault("endpoint")
def test_chain_record_missing_address(tmp_path):
    path, request = tmp_path / "a.jsonl", ask("a")
    with Record(path) as record:
        record.add(Identity(name="gpt", host="h"), request, Answer(text="b", finish="stop"))
    with pytest.raises(RecordError, match="line 1 .*address.* URL`"):
        read_record(path)
    for url in ("", "https://elsewhere/v1"):
        with pytest.raises(RecordError, match="the host h lack the address"):
            chain_record(path, url)
    chain_record(path, "https://h/v1")
    model = Identity(name="gpt", host="h", url="https://h/v1")
    with Record(path) as record:
        assert record.find(model, request).text == "b"


def test_read_record_project_records():
    paths = sorted(Path("recorded").glob("*.jsonl"))
    assert sum(len(read_record(path)) for path in paths) == 2602


def test_record_lines_round_trip(tmp_path):
    path, copy = recorded(tmp_path), tmp_path / "copy.jsonl"
    copy.write_text(record_lines(read_record(path).values()))
    assert copy.read_text() == path.read_text()


def test_read_record_two_answers(tmp_path):
    path = recorded(tmp_path)
    entries = list(read_record(path).values())
    path.write_text(record_lines([*entries, entries[0]]))
    assert len(read_record(path)) == 3
    other = entries[0].model_copy(update={"answer": Answer(text="z", finish="stop")})
    path.write_text(record_lines([*entries, other]))
    with pytest.raises(RecordError, match="line 4: .* has a different answer on an earlier line"):
        read_record(path)


def test_recorded_missing_answer(tmp_path):
    path = recorded(tmp_path)
    with Record(path) as record:
        replay = RecordedModel(record, record.identity_of("parrot"), None)
        assert replay.answer(ask("b")).text == "b"
        with pytest.raises(MissingAnswerError) as caught:
            replay.answer_all([ask("a"), ask("a  long\nquestion?"), ask("x")])
    message = str(caught.value)
    for part in ("a.jsonl", "2 of 3 answers of 'parrot'", "request 2", "'a long question?'"):
        assert part in message
    assert prompt_hash(ask("a  long\nquestion?"))[:12] in message


def test_identity_of_ambiguous_name(tmp_path):
    path = recorded(tmp_path)
    with Record(path) as record:
        with pytest.raises(RecordError, match="0 models with the name 'gpt' .*parrot"):
            record.identity_of("gpt")
        record.add(Identity(name="parrot", revision="2"), ask("a"), Answer(text="", finish="stop"))
        with pytest.raises(RecordError, match="2 models with the name 'parrot'"):
            record.identity_of("parrot")


def test_record_also_is_read_only(tmp_path):
    given_record = recorded(tmp_path, "ab")
    before = given_record.read_bytes()
    parrot = Parrot()
    with Record(tmp_path / "own/b.jsonl", also=[given_record]) as record:
        RecordedModel(record, MODEL, lambda: parrot).answer_all([ask(text) for text in "abc"])
    assert [request.text for request in parrot.asked] == ["c"]
    assert given_record.read_bytes() == before
    assert len(read_record(tmp_path / "own/b.jsonl")) == 1
    with pytest.raises(RecordError, match="no record .*c.jsonl"):
        with Record(tmp_path / "own/b.jsonl", also=[tmp_path / "c.jsonl"]):
            pass
    # The lock was let go of.
    with Record(tmp_path / "own/b.jsonl"):
        pass


def test_record_prompts_file(tmp_path):
    prompts_file = tmp_path / "p.jsonl"
    for _ in range(2):
        with Record(tmp_path / "a.jsonl", prompts=prompts_file) as record:
            model = RecordedModel(record, MODEL, Parrot)
            model.answer_all([ask("secret passage"), ask("secret passage", seed=1)])
    lines = [json.loads(line) for line in prompts_file.read_text().splitlines()]
    assert lines == [{"sha256": prompt_hash(ask("secret passage")), "prompt": "secret passage"}]
    # The answer quotes the prompt; the prompt itself is not in the record.
    entry = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    assert "prompt" not in entry and entry["prompt_sha256"] == lines[0]["sha256"]


def test_record_is_locked(tmp_path, monkeypatch):
    monkeypatch.setattr("everycell.language_models.records._WAIT", 0.05)
    with Record(tmp_path / "a.jsonl"):
        with pytest.raises(RecordError, match="another process is writing"):
            with Record(tmp_path / "a.jsonl"):
                pass


def test_record_threads(tmp_path):
    both = threading.Barrier(2, timeout=30)

    class Meeting(Parrot):
        def answer(self, request):
            both.wait()
            return super().answer(request)

    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, Meeting, workers=2)
        answers = model.answer_all([ask("a" * 10_000), ask("b" * 10_000)])
    assert [answer.text[0] for answer in answers] == ["a", "b"]
    assert len(read_record(tmp_path / "a.jsonl")) == 2


def test_recorded_unexpected_model(tmp_path):
    with Record(tmp_path / "a.jsonl") as record:
        with pytest.raises(RecordError, match="make the two equal"):
            RecordedModel(record, Identity(name="gpt"), Parrot).answer(ask("a"))
    assert not (tmp_path / "a.jsonl").exists()


@settings(max_examples=25)
@given(st.lists(requests, max_size=3), st.lists(requests, max_size=3))
def test_estimate_is_additive(first, second):
    prices = Prices(prompt=2.0, answer=8.0)
    one, two, both = (estimate(part, prices) for part in (first, second, first + second))
    assert both.calls == one.calls + two.calls
    assert both.prompt_tokens == one.prompt_tokens + two.prompt_tokens
    assert both.cost == pytest.approx(one.cost + two.cost)


def test_budget_over_all_calls(tmp_path, caplog):
    caplog.set_level("INFO")
    parrot = Parrot()
    prices = Prices(answer=1e6)
    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, lambda: parrot, budget=Budget(prices, money=3.0))
        model.answer_all([ask("a", max_tokens=2)])
        model.answer_all([ask("a", max_tokens=2), ask("b", max_tokens=1)])
        with pytest.raises(LanguageModelError, match="4.00 USD, above the `budget` of 3") as caught:
            model.answer(ask("c", max_tokens=1))
    assert "None of them was sent" in str(caught.value) and len(parrot.asked) == 2
    assert "receive 1 requests" in caplog.text and "2.00 USD" in caplog.text


def test_budget_in_tokens(tmp_path):
    parrot = Parrot()
    # A prompt of one byte is taken for five tokens: one, and four for the message.
    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, lambda: parrot, budget=Budget(Prices(), tokens=20))
        model.answer_all([ask("a", max_tokens=3), ask("b", max_tokens=3)])
        with pytest.raises(
            LanguageModelError, match="tokens to 22, above the `token_budget` of 20"
        ):
            model.answer(ask("c", max_tokens=1))
        # What is recorded takes none.
        assert model.answer(ask("b", max_tokens=3)).text == "b"
    assert len(parrot.asked) == 2


def test_throughput_of_a_run(tmp_path, monkeypatch):
    clock = itertools.count(0.0, 2.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))

    class Told(Parrot):
        def answer(self, request):
            return Answer(text="", finish="stop", prompt_tokens=100, answer_tokens=7)

    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, Told)
        model.answer_all([ask("a"), ask("b")])
        model.answer_all([ask("a"), ask("c")])
    # Two answers in 4 s, one in 2 s, and one from the record.
    assert model.speed.summary() == {
        "answers": 3,
        "seconds": 6.0,
        "prompt_tokens": 300,
        "answer_tokens": 21,
        "answers_a_minute": 30.0,
        "prompt_tokens_a_second": 50.0,
        "answer_tokens_a_second": 3.5,
    }


def test_budget_unsent_requests(tmp_path):
    class Down(Parrot):
        def answer(self, request):
            if request.text == "b" and not self.asked[1:]:
                self.asked.append(request)
                raise LanguageModelError("down")
            return super().answer(request)

    parrot, prices = Down(), Prices(answer=1e6)
    three = [ask(text, max_tokens=1) for text in "abc"]
    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, lambda: parrot, budget=Budget(prices, money=4.0))
        with pytest.raises(LanguageModelError, match="may raise the cost to 5.00"):
            model.answer_all([ask(text, max_tokens=1) for text in "vwxyz"])
        with pytest.raises(LanguageModelError, match="down"):
            model.answer_all(three)
        # The first was answered, the second may have been charged, the third was not sent.
        assert len(model.answer_all(three)) == 3
        with pytest.raises(LanguageModelError, match="may raise the cost to 5.00"):
            model.answer(ask("d", max_tokens=1))


def test_recorded_log_without_prices(tmp_path, caplog, monkeypatch):
    caplog.set_level("INFO")
    # Each look at the clock finds it 25 seconds later: at the beginning and after every answer.
    clock = itertools.count(0.0, 25.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, Parrot)
        model.answer_all([ask(text) for text in "abcdef"])
        message = caplog.messages.copy()
        caplog.clear()
        model.answer_all([ask(text) for text in "abcdef"])
    assert message[0].startswith("parrot will receive 6 requests: ")
    assert message[0].endswith(" answer tokens.")
    # After 25 s (5 answers of 25 s to come), after 100 s (2 of them), and at the end.
    assert message[1:] == [
        "parrot: 1 of 6 answers, 2.4 answers per minute; about 3 min remaining.",
        "parrot: 4 of 6 answers, 2.4 answers per minute; about 1 min remaining.",
        "parrot: 6 answers in 2.5 min, 2.4 answers per minute.",
    ]
    assert not caplog.messages


@pytest.mark.parametrize(
    ("workers", "expected"),
    [(1, "1 of 9 answers, 6 answers per minute; about 2 min remaining."), (3, "3 of 9 ")],
)
def test_throughput_excludes_loading(tmp_path, caplog, monkeypatch, workers, expected):
    caplog.set_level("INFO")
    seconds, lock = [0.0], threading.Lock()
    monkeypatch.setattr(time, "monotonic", lambda: seconds[0])

    def wait(more):
        with lock:
            seconds[0] += more

    class Slow(Parrot):
        def answer(self, request):
            wait(10.0)
            return super().answer(request)

    def load():
        wait(36_000.0)
        return Slow()

    with Record(tmp_path / "a.jsonl") as record:
        model = RecordedModel(record, MODEL, load, workers=workers)
        model.answer_all([ask(text) for text in "abcdefghi"])
    assert caplog.messages[1].startswith(f"parrot: {expected}")
    assert not any("600 min" in message for message in caplog.messages)


def test_record_lines_some_probabilities(tmp_path):
    tokens = tuple(
        Token(text=text, logprob=value)
        for text, value in (("It", -1.0), (" is [", -0.5), ("1", -0.25), ("2", -0.125), ("].", 0.0))
    )
    message = Answer(text="It is [12].", finish="stop", tokens=tokens)

    class Witness(Parrot):
        def answer(self, request):
            return message

    with Record(tmp_path / "all.jsonl") as record:
        model = RecordedModel(record, MODEL, Witness)
        model.answer_all([ask("never used again")])
    with Record(tmp_path / "all.jsonl") as record:
        model = RecordedModel(record, MODEL, Witness)
        model.answer_all([ask("b"), ask("a"), ask("b")])
        provenance = model.provenance()
        thin = [
            entry.model_copy(update={"answer": entry.answer.keep_logprobs(str.isdigit)})
            for entry in model.used
        ]
    (tmp_path / "thin.jsonl").write_text(record_lines(thin))
    with Record(tmp_path / "empty.jsonl", also=[tmp_path / "thin.jsonl"]) as record:
        assert len(record.entries) == 2
        replay = RecordedModel(record, MODEL, None)
        answers = replay.answer_all([ask("b"), ask("a"), ask("b")])
        assert replay.provenance() == provenance
    assert [answer.text for answer in answers] == [message.text] * 3
    assert [(token.text, token.logprob) for token in answers[0].tokens] == [
        ("It is [", None),
        ("1", -0.25),
        ("2", -0.125),
        ("].", None),
    ]
    assert citation_logprobs(answers[0], find_citations(message.text)) == [-0.375]
    with pytest.raises(NotOfferedError, match="log-probabilities"):
        _ = answers[0].logprob


def test_citation_logprobs_not_recorded():
    thin = Answer(text="[1]", finish="stop", tokens=(Token(text="[1]", logprob=None),))
    with pytest.raises(NotOfferedError, match=r"'\[1\]' in an answer was not recorded"):
        citation_logprobs(thin, find_citations(thin.text))


@given(st.lists(st.tuples(st.text(max_size=3), st.floats(-9, 0)), max_size=6))
def test_keep_logprobs(pieces):
    tokens = tuple(Token(text=text, logprob=value) for text, value in pieces)
    answer = Answer(text="", finish="stop", tokens=tokens)
    thin = answer.keep_logprobs(str.isalpha).tokens
    assert "".join(token.text for token in thin) == "".join(text for text, _ in pieces)
    assert [token for token in thin if token.logprob is not None] == [
        token for token in tokens if token.text.isalpha()
    ]


def test_provenance_of_a_replay(tmp_path):
    path = recorded(tmp_path)
    calls = []
    for load in (Parrot, None):
        with Record(path) as record:
            model = RecordedModel(record, MODEL, load)
            model.answer_all([ask("a"), ask("b"), ask("a")])
            calls.append(model.provenance())
    assert calls[0] == calls[1] and calls[0]["answers"] == 2
    assert calls[0]["model"]["name"] == "parrot" and len(calls[0]["asked"]) == 2
    assert calls[0]["decoding"] == [Decoding().model_dump(mode="json")]


@pytest.mark.parametrize(("tokens", "cost"), [((1000, 200), {"cost": 0.008}), ((None, 9), {})])
def test_provenance_prices(tmp_path, tokens, cost):
    prices = Prices(prompt=2.0, answer=10.0, currency="EUR")

    class Paid(Parrot):
        def answer(self, request):
            read, written = tokens
            return Answer(text="", finish="stop", prompt_tokens=read, answer_tokens=written)

    calls = []
    for load in (Paid, None):
        with Record(tmp_path / "a.jsonl") as record:
            model = RecordedModel(record, MODEL, load, budget=Budget(prices))
            model.answer_all([ask("a"), ask("b"), ask("a")])
            calls.append(model.provenance())
    assert calls[0] == calls[1]
    message = {"prices": {"prompt": 2.0, "answer": 10.0, "currency": "EUR"}} | cost
    assert {key: calls[0][key] for key in ("prices", "cost") if key in calls[0]} == message


def test_folder_identity(tmp_path):
    with pytest.raises(LanguageModelError, match="contains no model.safetensors"):
        folder_identity(tmp_path, name="toy")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    first = folder_identity(tmp_path, name="toy")
    (tmp_path / "config.json").write_text("{}")
    assert folder_identity(tmp_path, name="toy") == first
    (tmp_path / "tokenizer.json").write_text("{}")
    second = folder_identity(tmp_path, name="toy")
    (tmp_path / "model.safetensors").write_bytes(b"weightz")
    third = folder_identity(tmp_path, name="toy")
    (tmp_path / "everycell-source.json").write_text('{"revision": "sha256:1"}')
    fourth = folder_identity(tmp_path, name="toy")
    assert len({part.revision for part in (first, second, third, fourth)}) == 4
    assert fourth.revision == "sha256:1"
    (tmp_path / "everycell-source.json").write_text("{")
    with pytest.raises(LanguageModelError, match="copy or convert it again"):
        folder_identity(tmp_path, name="toy")


def test_folder_identity_hub_cache(tmp_path):
    folder = tmp_path / "models--org--toy/snapshots/abc123"
    folder.mkdir(parents=True)
    assert folder_identity(folder, name="org/toy", dtype="float32").revision == "abc123"


def test_estimate_by_hand():
    """A token per three bytes, four per message, and the limit of the answer."""
    decoding = Decoding(max_tokens=10)
    plain = Request(prompt="1234567", decoding=decoding)
    # Ten bytes with the line break between the messages.
    talk = Request(prompt=chat("123456", system="123"), decoding=decoding)
    continued = Request(prompt="é", continuation="12")
    values = [estimate([one], Prices(prompt=2.0, answer=8.0)) for one in (plain, talk, continued)]
    assert [value.prompt_tokens for value in values] == [3 + 4, 4 + 2 * 4, 2 + 4]
    assert [value.answer_tokens for value in values] == [10, 10, 0]
    assert [value.cost for value in values] == pytest.approx([94e-6, 104e-6, 12e-6])
