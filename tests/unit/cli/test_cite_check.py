"""The command cite-check, with a server that answers as planted readers would."""

import json
import re
from functools import partial
from pathlib import Path

import command_line
import pytest
from language_model_server import Server, reply_of

refused = partial(command_line.refused, "measure", "cite-check")

PASSAGES = {
    "owl": "Owls are birds of the night.",
    "fox": "Foxes live in dens.",
    "bee": "Bees make honey.",
    "ant": "Ants dig nests.",
}
ANSWERS = [
    {"question": "When do owls hunt?", "documents": ["owl", "fox"], "answer": "The night [1]."},
    {"question": "What do bees make?", "documents": ["bee", "ant"]}
    | {"statements": [{"text": "honey", "documents": ["bee"]}]},
]


def documents_of(body):
    """Question and documents of a prompt, by their numbers."""
    prompt = body["messages"][-1]["content"]
    documents = dict(re.findall(r"^\[(\d+)\] (.*)$", prompt, re.M))
    return prompt.rpartition("Question: ")[2], documents


def from_words(handler, body):
    """Someone who knows the answer, and cites each document that has its words."""
    question, documents = documents_of(body)
    message = "the night" if "owls" in question else "honey"
    cited = "".join(f"[{n}]" for n, text in documents.items() if message in text.lower())
    return reply_of(f"{message} {cited}.")


def from_documents(handler, body):
    """Someone who reads, and cites the document that has the whole sentence."""
    question, documents = documents_of(body)
    claim, message = (
        ("birds of the night", "the night") if "owls" in question else ("Bees make honey", "honey")
    )
    cited = "".join(f"[{n}]" for n, text in documents.items() if claim in text)
    return reply_of(f"{message} {cited}." if cited else "Nobody knows.")


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def files(tmp_path, monkeypatch, server):
    monkeypatch.chdir(tmp_path)
    lines = [{"id": name, "text": text} for name, text in PASSAGES.items()]
    Path("passages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in ANSWERS))
    settings = server.settings()
    endpoint = {"url": settings.url, "model": settings.model, "wait": 0.001}
    Path("config.yaml").write_text(
        json.dumps({"language_models": {"endpoints": {"gpt": endpoint}}})
    )
    return tmp_path


def check(*options):
    command = (
        "measure",
        "cite-check",
        "answers.jsonl",
        "passages.jsonl",
        "--model",
        "gpt",
        *options,
    )
    return command_line.call(*command)


def counts(out):
    shares = json.loads(out)["shares"]
    return {(row["kind"], row["metric"]): (row["count"], row["of"]) for row in shares}


def test_cite_check_word_matcher(files, server):
    server.replies = [from_words]
    code, out, err = check("--format", "json")
    assert code == 0 and "gpt: 4 requests" in err
    result = counts(out)
    assert result["random", "recovered"] == (2, 2)
    assert result["random", "cites the forged document"] == (2, 2)
    assert result["random", "forged alone"] == (2, 2)
    # The answer has the statement although no document has its words.
    assert result["random", "statement removed"] == (2, 2)
    # One for each forged document and without its words, then three controls; two are one context.
    assert len(server.seen) == 4 + 4


def test_cite_check_reader(files, server):
    server.replies = [from_documents]
    code, out, _ = check("--format", "json")
    result = counts(out)
    assert code == 0 and result["random", "cites the forged document"] == (0, 2)
    assert result["random", "statement removed"] == (0, 2)
    assert len(server.seen) == 4


def test_cite_check_recorded_answers(files, server):
    server.replies = [from_words]
    first = check()[1]
    requests = len(server.seen)
    assert check()[1] == first and len(server.seen) == requests
    assert "2 answers, 2 forged documents; model gpt" in first
    assert "cites the forged document" in first


@pytest.mark.parametrize(
    ("file", "line", "fragment"),
    [
        ("answers.jsonl", "no json", "answers.jsonl, line 3 is not JSON"),
        ("answers.jsonl", '{"question": "Who?"}', "line 3: documents: Field required"),
        (
            "answers.jsonl",
            '{"question": "Who?", "documents": ["hen"], "answer": "A hen [1]."}',
            "line 3: document is 'hen', which is not among the passages",
        ),
        (
            "answers.jsonl",
            json.dumps(ANSWERS[0]),
            "line 3: question is 'When do owls hunt?', which occurs twice",
        ),
        (
            "answers.jsonl",
            '{"question": "Who?", "documents": ["owl"], '
            '"statements": [{"text": "a fox", "documents": ["fox"]}]}',
            "line 3: cited document is 'fox', which is not among the question's documents",
        ),
        ("passages.jsonl", '{"id": "owl", "text": "again"}', "id is 'owl', which occurs twice"),
        (
            "passages.jsonl",
            '{"id": "hen", "text": ""}',
            "line 5: text: String should have at least",
        ),
    ],
)
def test_cite_check_broken_line(files, server, file, line, fragment):
    with Path(file).open("a") as opened:
        opened.write(line + "\n")
    assert fragment in refused("answers.jsonl", "passages.jsonl", "--model", "gpt")
    assert not server.seen


def test_cite_check_unforgeable_answers(files, server):
    long = {"question": "Why?", "documents": ["owl"], "answer": "One " * 9 + "[1]."}
    silent = {"question": "Who?", "documents": ["owl"], "answer": "An owl."}
    Path("answers.jsonl").write_text(f"{json.dumps(long)}\n{json.dumps(silent)}\n")
    command = ("answers.jsonl", "passages.jsonl", "--model", "gpt")
    assert "No answer has a statement of at most 8 words" in refused(*command)
    Path("answers.jsonl").write_text(f"{json.dumps(ANSWERS[0])}\n")
    silent["answer"] = "An owl (1)."
    Path("answers.jsonl").write_text(f"{json.dumps(long)}\n{json.dumps(silent)}\n")
    assert "1 marks look like citations and are not read, such as '(1)'" in refused(*command)
    Path("answers.jsonl").write_text(f"{json.dumps(ANSWERS[0])}\n")
    assert "number of answered questions is 1; expected at least 2" in refused(*command)
    Path("answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in ANSWERS))
    assert "There is no language model 'none'" in refused(*command[:-1], "none")
    assert not server.seen


def empty(handler, body):
    return reply_of(None, "length", message={"content": None, "reasoning_content": "Owls, so"})


def test_cite_check_refuses_mostly_empty_answers(files, server):
    server.replies = [empty]
    code, out, message = check()
    assert (code, out, message.count("everycell: ")) == (2, "", 1)
    assert "4 of 4 answers are empty (token limit reached in reasoning: 4)" in message
    assert "largest_empty_share" in message


def allow_empty(share):
    config = json.loads(Path("config.yaml").read_text())
    config["language_models"]["largest_empty_share"] = share
    Path("config.yaml").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (empty, "token limit reached in reasoning"),
        (reply_of("", "length"), "token limit"),
        (reply_of("<think>So", "length"), "token limit reached in reasoning"),
        (reply_of("<think>So</think>"), "only reasoning"),
        (reply_of("", "content_filter"), "content filter"),
        (reply_of(None, None, message={"content": None, "refusal": "No."}), "refusal"),
        (reply_of(None, "tool_calls"), "tool call"),
        (reply_of(""), "no text"),
        (reply_of([], "stop"), "no text"),
    ],
)
def test_cite_check_counts_empty_answers_by_reason(files, server, reply, reason):
    server.replies = [reply, reply_of("The night [1", "length"), from_words]
    allow_empty(1)
    code, out, err = check("--format", "json")
    requests = json.loads(out)["requests"]
    assert code == 0 and requests["empty"] == {reason: 1}
    assert requests["cut_off"] == {"token limit": 1} and requests["answers"] == len(server.seen)
    assert f"gpt: 1 of {len(server.seen)} answers are empty ({reason}: 1)" in err
    assert reason in check()[1]


def with_reasoning(handler, body):
    reply = from_documents(handler, body)
    message = reply["choices"][0]["message"]
    message["content"] = "<think>The night, honey [1][2][3].</think>" + message["content"]
    return reply


def test_cite_check_ignores_reasoning(files, server):
    server.replies = [from_documents]
    expected = check("--format", "json")[1]
    server.replies = [with_reasoning]
    code, out, _ = check("--format", "json", "--record", "reasoning")
    assert code == 0 and out == expected


def test_cite_check_content_as_parts(files, server):
    def parts(handler, body):
        reply = from_words(handler, body)
        text = reply["choices"][0]["message"]["content"]
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "No [9]."}]}
        content = [thinking, {"type": "text", "text": text}]
        reply["choices"][0]["message"]["content"] = content
        return reply

    server.replies = [from_words]
    expected = check("--format", "json")[1]
    server.replies = [parts]
    assert check("--format", "json", "--record", "parts")[1] == expected


def test_cite_check_reports_unread_marks(files, server):
    lines = [ANSWERS[0] | {"answer": "The night (1).\n\nSources:\n[1] Owls."}, ANSWERS[1]]
    lines += [{"question": "Who?", "documents": ["ant"], "answer": "", "finish": "length"}]
    lines += [{"question": "What?", "documents": ["bee"], "answer": "Honey [1].", "finish": "stop"}]
    Path("answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    server.replies = [reply_of("The night (1). Honey <sup>x2</sup>.")]
    code, _, err = check()
    assert code == 0
    assert "answers.jsonl: Bracketed marks and superscripts not read as citations: 1: (1)." in err
    assert "answers.jsonl: Lists of sources not read as citations: 1" in err
    assert "answers.jsonl: 1 of 4 answers are empty (token limit: 1)" in err
    assert "gpt: Bracketed marks and superscripts not read as citations: 8" in err
