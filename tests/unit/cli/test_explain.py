"""The command explain on users' files: values, options, errors."""

import json
from functools import partial
from pathlib import Path

import command_line
import lightgbm
import numpy as np
import pytest

from everycell.cli.measure.explain import columns_of_model
from everycell.collections.letor import read_letor
from everycell.explain.forests import read_forest
from everycell.records.cells import RecordError

refused = partial(command_line.refused, "measure", "explain")

FEATURES = 6


def call(*arguments):
    """Output of a command that ends well."""
    code, out, err = command_line.call("measure", "explain", *arguments)
    assert (code, err) == (0, "")
    return out


def letor(vectors, queries):
    lines = []
    for vector, query in zip(vectors, queries, strict=True):
        values = " ".join(f"{n}:{value:.6f}" for n, value in enumerate(vector, start=1))
        lines.append(f"0 qid:{query} {values}\n")
    return "".join(lines)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Folder, which is the working one, with a model and lists that it ranks."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    vectors = rng.random((300, FEATURES))
    labels = np.digitize(vectors[:, 2] + 0.3 * vectors[:, 4], [0.4, 0.7, 0.9])
    model = lightgbm.LGBMRanker(objective="lambdarank", verbose=-1, n_jobs=1, n_estimators=20)
    model.fit(vectors, labels, group=[30] * 10)
    model.booster_.save_model("model.txt")
    tied = np.repeat(vectors[:1], 3, axis=0)
    queries = [*np.repeat([1, 2, 3, 4], 10), 5, 6, 6, 6]
    Path("data.svm").write_text(letor([*vectors[:41], *tied], queries))
    return tmp_path


def test_explain_values_sum(files):
    result = json.loads(
        call("model.txt", "data.svm", "--query", "2", "--samples", "30", "--format", "json")
    )
    assert result["settings"]["documents"] == 10
    rows = result["rows"]
    assert rows[0]["feature"] == "Column_2" and rows[0]["error"] == 0
    assert 0 < sum(row["attribution"] for row in rows) < 2


def test_explain_table_and_plot(files):
    command = ("model.txt", "data.svm", "--query", "2", "--samples", "30", "--plot", "out/p")
    code, output, err = command_line.call("measure", "explain", *command)
    assert (code, err) == (0, "Created the folder out.\n")
    assert "Column_2" in output and "10 documents of query 2" in output
    assert sorted(path.name for path in Path("out").iterdir()) == ["p.pdf", "p.png", "p.svg"]
    again = refused(*command)
    assert "out/p.svg already exists" in again


def test_explain_seed(files):
    command = ("model.txt", "data.svm", "--query", "3", "--samples", "20", "--format", "json")
    assert call(*command) == call(*command)
    assert call(*command) != call(*command, "--seed", "1")


@pytest.mark.parametrize(
    "explainer", ["kernel", "greedy", "pointwise", "sharp", "lime", "pointwise-lime"]
)
def test_explain_all_explainers(files, explainer):
    command = ("model.txt", "data.svm", "--query", "1", "--samples", "30", "--format", "json")
    rows = json.loads(call(*command, "--explainer", explainer))["rows"]
    assert rows[0]["error"] is None
    if explainer in ("kernel", "greedy", "pointwise-lime"):
        assert rows[0]["feature"] == "Column_2"


def test_explain_one_document(files):
    command = ("model.txt", "data.svm", "--query", "1", "--samples", "20", "--format", "json")
    first, second = (
        json.loads(call(*command, "--objective", "exposure", "--document", number))["rows"]
        for number in ("1", "2")
    )
    assert first != second


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--query", "9"], "its first queries are 1, 2, 3, 4, 5."),
        (["--query", "5"], "The list has fewer than two documents"),
        (["--query", "6"], "gives all 3 documents the score"),
        (["--query", "1", "--samples", "100"], "34 documents for the background, but --samples"),
        (["--query", "1", "--objective", "rank"], "needs --document"),
        (["--query", "1", "--document", "1"], "does not use --document"),
        (["--query", "1", "--objective", "rank", "--document", "11"], "--document must be"),
        (["--query", "1", "--explainer", "sharp", "--objective", "weighted"], "its own objective"),
    ],
)
def test_explain_invalid_option(files, options, message):
    if "--samples" not in options:
        options = [*options, "--samples", "20"]
    assert message in refused("model.txt", "data.svm", *options)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "data.svm",
            "1 qid:1 1:nan\n1 qid:1 1:2\n",
            "document 1: feature 1 is not a finite number",
        ),
        ("data.svm", "1 qid:1 1:1 9:2\n", "up to number 9, do not fit the 6 columns of the model"),
        ("data.svm", "1 1:1\n", "has no query"),
        ("model.txt", "tree\n", "model.txt cannot be read as a LightGBM ranking model"),
        ("model.txt", "", "model.txt cannot be read as a LightGBM ranking model"),
    ],
)
def test_explain_broken_file(files, name, text, message):
    Path(name).write_text(text)
    assert message in refused("model.txt", "data.svm", "--query", "1", "--samples", "2")


def test_explain_missing_file(files):
    assert "none.svm" in refused("model.txt", "none.svm", "--query", "1")
    assert "none.txt" in refused("none.txt", "data.svm", "--query", "1")


def trained_from_a_file(tmp_path, first, shape=lambda vectors: vectors, written="all"):
    """Model that LightGBM trained from a file whose features are numbered from `first`."""
    rng = np.random.default_rng(1)
    vectors = rng.random((200, 4))
    labels = np.digitize(vectors[:, 1] + 0.3 * vectors[:, 2], [0.4, 0.7, 0.9])
    vectors = shape(vectors)
    lines = []
    for label, vector in zip(labels, vectors, strict=True):
        values = " ".join(
            f"{n}:{value:.6f}"
            for n, value in enumerate(vector, start=first)
            if value or written == "all"
        )
        lines.append(f"{label} {values}\n")
    Path("train.svm").write_text("".join(lines))
    Path("train.svm.query").write_text("20\n" * 10)
    data = lightgbm.Dataset("train.svm", params={"verbose": -1})
    lightgbm.train(
        {"objective": "lambdarank", "verbose": -1, "num_threads": 1}, data, 10
    ).save_model("own.txt")
    judged = [line.replace(" ", f" qid:{row // 20 + 1} ", 1) for row, line in enumerate(lines)]
    Path("judged.svm").write_text("".join(judged))


@pytest.mark.parametrize("first", [0, 1])
def test_explain_lightgbm_numbering(tmp_path, monkeypatch, first):
    monkeypatch.chdir(tmp_path)
    trained_from_a_file(tmp_path, first)
    command = ("own.txt", "judged.svm", "--query", "2", "--samples", "30", "--format", "json")
    result = json.loads(call(*command))
    assert result["settings"]["numbered_from"] == 0
    assert result["rows"][0]["feature"] == f"Column_{1 + first}"
    assert "the first column is feature 0 of the file" in call(*command[:-2])


def test_explain_ambiguous_numbering(files):
    text = Path("data.svm").read_text()
    without_last = "".join(line.rsplit(" ", 1)[0] + "\n" for line in text.splitlines())
    Path("short.svm").write_text(without_last)
    model = Path("model.txt").read_text()
    start = model.index("feature_infos")
    Path("model.txt").write_text(model[:start] + model[model.index("\n", start) + 1 :])
    command = ("model.txt", "short.svm", "--query", "2", "--samples", "20")
    assert "numbered from 0 or from 1" in refused(*command)
    assert "feature 1 of the file" in call(*command, "--numbered-from", "1")


def test_explain_query_ids_and_constant_model(files):
    text = Path("data.svm").read_text().replace("qid:2 ", "qid:0002 ")
    Path("data.svm").write_text("\ufeff" + text.replace("qid:3 ", f"qid:{'9' * 25} "))
    command = ("model.txt", "data.svm", "--samples", "20")
    assert "does not contain query 2" in refused(*command, "--query", "2")
    assert "query 0002" in call(*command, "--query", "0002")
    assert "9" * 25 in call(*command, "--query", "9" * 25).replace("\n", "")
    data = lightgbm.Dataset(np.random.default_rng(0).random((50, FEATURES)), np.ones(50))
    lightgbm.train({"objective": "regression", "verbose": -1}, data, 2).save_model("constant.txt")
    assert "all 10 documents the score" in refused("constant.txt", *command[1:], "--query", "1")


SHAPES = {
    "dense": lambda vectors: vectors,
    "constant in the middle": lambda vectors: vectors * [1, 0, 1, 1] + [0, 0.5, 0, 0],
    "zero in the middle": lambda vectors: vectors * [1, 0, 1, 1],
    "zero at the end": lambda vectors: vectors * [1, 1, 1, 0],
    "zero at the start": lambda vectors: vectors * [0, 1, 1, 1],
    "rare in the middle": lambda vectors: (
        vectors * np.c_[np.ones(200), np.arange(200) < 5, np.ones((200, 2))]
    ),
    "negative": lambda vectors: vectors - 0.5,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("written", ["all", "non-zero"])
def test_explain_scores_equal_lightgbm(tmp_path, monkeypatch, first, shape, written):
    monkeypatch.chdir(tmp_path)
    trained_from_a_file(tmp_path, first, SHAPES[shape], written)
    forest = read_forest(Path("own.txt"))
    table = columns_of_model(
        Path("judged.svm"), read_letor(Path("judged.svm"), first=0), forest, None
    )[0]
    expected = lightgbm.Booster(model_file="own.txt").predict("train.svm")
    # Sums of the forest are exact; those of LightGBM are rounded after each tree.
    np.testing.assert_allclose(forest(table.iloc[:, 2:].to_numpy()), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lacks_last", [False, True])
def test_columns_of_model(files, shape, lacks_last):
    """A model that was trained in memory, and a file numbered from 1, as of scikit-learn."""
    rng = np.random.default_rng(1)
    vectors = SHAPES[shape](rng.random((200, 4)))
    labels = np.digitize(vectors[:, 0] + vectors[:, 2], [0.4, 0.7, 0.9])
    data = lightgbm.Dataset(vectors, labels, group=[20] * 10)
    booster = lightgbm.train({"objective": "lambdarank", "verbose": -1, "seed": 1}, data, 10)
    booster.save_model("memory.txt")
    forest = read_forest(Path("memory.txt"))
    Path("memory.svm").write_text(
        letor(vectors[:, :3] if lacks_last else vectors, np.repeat(range(10), 20))
    )
    read = read_letor(Path("memory.svm"), first=0)
    try:
        table, first = columns_of_model(Path("memory.svm"), read, forest, None)
    except RecordError:
        table, first = columns_of_model(Path("memory.svm"), read, forest, 1)
        assert lacks_last or shape == "zero at the end"
    assert first == 1
    vectors = np.round(vectors, 6) * [1, 1, 1, not lacks_last]
    np.testing.assert_allclose(
        forest(table.iloc[:, 2:].to_numpy()), booster.predict(vectors), rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("number", ["-1", "2", "x"])
def test_explain_feature_numbers(files, number):
    command = ("model.txt", "data.svm", "--query", "2", "--numbered-from", number)
    code, out, err = command_line.call("measure", "explain", *command)
    assert (code, out) == (2, "") and "--numbered-from" in err
