"""The commands count-terms, fairness and overlap on files that are not ours, and their guide."""

import gzip
import io
import json
import math
import re
import shlex
from functools import partial

import command_line
import pandas as pd
import pytest

from everycell.metrics.nfairr import find_most_neutral
from everycell.metrics.ranked_groups import ranked_counts
from everycell.metrics.rbo import rbo
from everycell.metrics.term_counts import read_counts
from everycell.metrics.term_fairness import correlation, fairness_by_query
from everycell.text.documents import read_documents
from everycell.trec.runs import read_run, write_run
from papers.shared.term_fairness_planted import plant_bias

call, refused = (partial(run, "measure") for run in (command_line.call, command_line.refused))

WORDS = "she,f\nher,f\nMary,f\nhe,m\nhis,m\n"
#: id -> text; d4 has no group term.
TEXTS = {
    "d1": "she took her coat",
    "d2": "he took his coat and his hat",
    "d3": "Mary saw that he was late",
    "d4": "the coat was red",
}
RUN = "q1 Q0 d1 1 3 t\nq1 Q0 d2 2 2 t\nq1 Q0 d4 3 1 t\nq2 Q0 d4 1 2 t\nq2 Q0 d3 2 1 t\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Folder, which is the working one, with texts, a word list, counts and a run."""
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{document}\t{text}\n" for document, text in TEXTS.items())
    (tmp_path / "docs.tsv").write_text(lines)
    (tmp_path / "words.txt").write_text(WORDS)
    (tmp_path / "bm25.run").write_text(RUN)
    code, out, _ = call("count-terms", "docs.tsv", "--words", "words.txt", "--out", "c.parquet")
    assert code == 0
    assert out == "c.parquet: 4 documents, 3 of them with a group term (terms: 3 of f, 2 of m).\n"
    return tmp_path


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Folder with a collection whose bias is known, counted from the command line."""
    folder = tmp_path_factory.mktemp("planted")
    result = plant_bias(queries=6, depth=12)
    result.documents.to_parquet(folder / "docs.parquet")
    words = [f"{term},{group}\n" for group, terms in result.words.items() for term in terms]
    (folder / "words.txt").write_text("".join(words))
    code, _, _ = call(
        "count-terms", folder / "docs.parquet", "--words", folder / "words.txt",
        "--out", folder / "counts.parquet",
    )  # fmt: skip
    assert code == 0
    for system, run in result.runs.items():
        write_run(run, folder / f"{system}.run", tag=system)
    return folder, result


@pytest.mark.parametrize("system", ["alternating", "sparse", "drawn", "neutral"])
def test_fairness_planted_bias(planted, system):
    folder, created = planted
    run = folder / f"{system}.run"
    code, out, err = call(
        "fairness", run, "--counts", folder / "counts.parquet", "--k", 4, "--k", 12,
        "--format", "csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = pd.read_csv(io.StringIO(out)).set_index("k")
    truth = created.truth[created.truth["system"] == system]
    for k in (4, 12):
        mean = truth[truth["k"] == k][["NFaiRR", "TExFAIR", "TExFAIR without RBDF"]].mean()
        pd.testing.assert_series_equal(result.loc[k, mean.index], mean, check_names=False)
        plan = created.plan[(created.plan["system"] == system) & (created.plan["rank"] <= k)]
        having = plan[list(created.words)].sum(axis=1) > 0
        assert result.loc[k, "documents with terms"] == pytest.approx(having.mean())
        lists = having.groupby(plan["query"]).any()
        assert result.loc[k, "lists with terms"] == pytest.approx(lists.mean())
    by_query = truth[truth["k"] == 12].set_index("query")
    r = correlation(by_query["NFaiRR"], by_query["TExFAIR"]).r
    assert result.loc[12, "r"] == pytest.approx(r, nan_ok=True)
    assert math.isnan(r) == (system != "drawn")


def test_fairness_per_query(files):
    code, out, _ = call(
        "fairness", "bm25.run", "--counts", "c.parquet", "--k", "2", "--per-query",
        "--format", "csv", "--tau", "0", "--target", "0.25,0.75",
    )  # fmt: skip
    assert code == 0
    result = pd.read_csv(io.StringIO(out))
    ranked = ranked_counts(read_run("bm25.run"), "c.parquet", depth=2)
    counts = read_counts("c.parquet")
    expected = fairness_by_query(ranked, [2], target=[0.25, 0.75], tau=0, background=counts)
    pd.testing.assert_frame_equal(result[expected.columns], expected, check_dtype=False)
    assert result[["documents", "with terms"]].values.tolist() == [[2, 2], [2, 1]]


def test_fairness_background(files):
    (files / "two.run").write_text("q Q0 d1 1 2 t\nq Q0 d3 2 1 t\n")
    weight = 1 / math.log2(3)
    # d1 is biased; d3 has a term of each group, so is not. Best is d3, then d4 if all may serve.
    for background, ideal in (("all", 1 + weight), ("run", 1)):
        _, out, _ = call(
            "fairness", "two.run", "--counts", "c.parquet", "--k", "2", "--tau", "0",
            "--background", background, "--format", "json",
        )  # fmt: skip
        assert json.loads(out)["rows"][0]["NFaiRR"] == pytest.approx(weight / ideal)


def test_fairness_json(files):
    _, out, _ = call("fairness", "bm25.run", "--counts", "c.parquet", "--k", 1, "--format", "json")
    result = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    assert result["settings"] == {
        "run": "bm25.run",
        "counts": "c.parquet",
        "tau": 1.0,
        "background": "all",
        "target": {"f": 0.5, "m": 0.5},
        "highest TExFAIR": 1.0,
        "documents": 4,
        "documents with terms": 3,
    }
    (row,) = result["rows"]
    # Two queries have no correlation; the list of q2 has no term at rank 1.
    assert row["r"] is None and row["lists with terms"] == 0.5 and row["TExFAIR"] == 0.5


def test_fairness_terminal_table(files):
    code, out, _ = call("fairness", "bm25.run", "--counts", "c.parquet", "--k", 1, "--k", 2)
    assert code == 0
    lines = out.splitlines()
    assert "target: 0.5 f, 0.5 m" in lines
    head, first, second = (re.split(r"\s{2,}", line.strip()) for line in lines[-3:])
    assert head[:5] == ["k", "queries", "NFaiRR", "TExFAIR", "TExFAIR without RBDF"]
    # At rank 1 q1 has d1 (two female terms) and q2 has d4 (none, so undefined without RBDF).
    assert first == ["1", "2", "0.5000", "0.5000", "0.0000", "0.5000", "-", "-", "0.5000", "0.5000"]
    assert second[:2] == ["2", "2"]


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".parquet"])
def test_count_terms_file_formats(tmp_path, ending):
    texts = {**TEXTS, "d5": "она\tи he", "d6": ""}
    path = tmp_path / f"docs{ending}"
    if ending == ".parquet":
        frame = pd.DataFrame({"text": texts.values(), "document_id": texts.keys(), "year": 2020})
        frame.to_parquet(path)
    else:
        keys = [("document_id", "text"), ("id", "contents"), ("_id", "text")]
        lines = [
            f"{document}\t{text}"
            if "tsv" in ending
            else json.dumps({keys[n % 3][0]: document, "title": "no", keys[n % 3][1]: text})
            for n, (document, text) in enumerate(texts.items())
        ]
        data = ("\r\n".join(lines) + "\n\n").encode()
        path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    assert dict(read_documents(path)) == texts


def test_count_terms_punctuation(files):
    (files / "p.tsv").write_text("d1\tShe, said HE. Her?\n")
    for tokens, counted in (("blank", [4, 0, 0]), ("standard", [4, 2, 1])):
        arguments = [
            "count-terms",
            "p.tsv",
            "--words",
            "words.txt",
            "--out",
            "p.parquet",
        ]
        assert call(*arguments, "--tokens", tokens, "--force")[0] == 0
        assert read_counts("p.parquet").values.tolist() == [counted]


def test_count_terms_merged_word_lists(files):
    (files / "more.txt").write_text("coat,m\nshe,f\ncosy,x\n")
    code, out, _ = call(
        "count-terms", "docs.tsv", "--words", "words.txt", "--words", "more.txt",
        "--out", "new/c.parquet",
    )  # fmt: skip
    assert code == 0 and "(terms: 3 of f, 3 of m, 1 of x)" in out
    assert read_counts("new/c.parquet").loc["d2"].tolist() == [7, 0, 4, 0]


def test_count_terms_existing_file(files):
    before = (files / "c.parquet").read_bytes()
    arguments = ["count-terms", "few.tsv", "--words", "words.txt", "--out", "c.parquet"]
    (files / "few.tsv").write_text("d1\tshe\nno tab\n")
    assert "c.parquet already exists" in refused(*arguments)
    assert "few.tsv, line 2 has no tab" in refused(*arguments, "--force")
    assert (files / "c.parquet").read_bytes() == before
    (files / "few.tsv").write_text("d1\tshe\n")
    assert call(*arguments, "--force")[0] == 0
    assert read_counts("c.parquet").index.tolist() == ["d1"]
    assert not [path for path in files.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("she,f\nhe,m\nShe,m\n", "words.txt: term is 'she', which is in the groups 'f' and 'm'"),
        ("", "words.txt: word list is empty"),
        ("she\n", "words.txt, line 1: 'she'"),
        ("mother in law,f\nhe,m\n", "'mother in law', which becomes ['mother', 'in', 'law']"),
        (b"s\xffe,f\n", "words.txt, line 1 is not UTF-8 text"),
        ("she,length\nhe,m\n", "name of a group is 'length'"),
    ],
)
def test_count_terms_invalid_word_list(files, words, says):
    (files / "words.txt").write_bytes(words if isinstance(words, bytes) else words.encode())
    assert says in refused("count-terms", "docs.tsv", "--words", "words.txt", "--out", "x.parquet")
    assert not (files / "x.parquet").exists()


def test_count_terms_term_in_two_groups(files):
    (files / "more.txt").write_text("HER,m\n")
    says = refused(
        "count-terms", "docs.tsv", "--words", "words.txt", "--words", "more.txt",
        "--out", "x",
    )  # fmt: skip
    assert "'her', which is in the groups 'f' of words.txt and 'm' of more.txt" in says


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("no.tsv", None, "DOCUMENTS: no.tsv does not exist"),
        ("a.csv", "d1,she\n", "a.csv: extension is 'csv'"),
        ("a.tsv", "", "x.parquet would have no documents"),
        ("a.tsv", "\tshe\n", "document 0 (counted from 0): id and text is ('', 'she')"),
        ("a.tsv", b"d1\tsh\xe9\n", "a.tsv, line 1 is not UTF-8"),
        ("a.tsv", "d1\tshe\nd2\t\n", "document 'd2': text is '', which has no words"),
        (
            "a.tsv",
            "d1\t她是一个非常好的老师和朋友\n",
            "document 'd1': text is '她是一个非常好的老师'",
        ),
        ("a.tsv.gz", "d1\tshe\n", "a.tsv.gz is damaged or not a gzip file"),
        ("a.jsonl", '{"id": "d1", "text": "she"}\n{"id"', "a.jsonl, line 2 is not JSON"),
        ("a.jsonl", '{"id": 1, "text": "she"}\n', "a.jsonl, line 1 has no id"),
        ("a.jsonl", '["d1", "she"]\n', "a.jsonl, line 1 has no id"),
        ("a.jsonl", '{"id": "d1", "body": "she"}\n', "a.jsonl, line 1 has no text"),
        ("a.parquet", "d1\tshe\n", "a.parquet is not a Parquet file"),
    ],
)
def test_count_terms_invalid_document(files, name, content, says):
    if content is not None:
        (files / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert says in refused("count-terms", name, "--words", "words.txt", "--out", "x.parquet")
    assert not (files / "x.parquet").exists()


def test_documents_without_the_columns(files):
    pd.DataFrame({"id": ["d1"], "text": ["she"]}).to_parquet("a.parquet")
    says = refused("count-terms", "a.parquet", "--words", "words.txt", "--out", "x.parquet")
    assert "a.parquet has no column 'document_id'" in says


def test_count_terms_other_scripts(files):
    (files / "w.txt").write_text("она,f\nон,m\n她,f\n他,m\n")
    (files / "a.tsv").write_text("d1\tОна видит, он не видит\nd2\t她 看见 他 和 她\n")
    arguments = ["count-terms", "--words", "w.txt", "--out", "a.parquet"]
    assert call(*arguments, "a.tsv")[0] == 0
    assert read_counts("a.parquet").values.tolist() == [[5, 1, 1], [5, 2, 1]]
    # Without blanks, each character is a token of the standard tokenisation.
    (files / "a.tsv").write_text("d2\t她看见他和她的老师和朋友们\n")
    assert call(*arguments, "a.tsv", "--tokens", "standard", "--force")[0] == 0
    assert read_counts("a.parquet").values.tolist() == [[13, 2, 1]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--k", "3"],
            "query 'q2': number of documents is 2, fewer than the cut-off",
        ),
        (["--k", "0"], "cut-offs is [0]"),
        (["--tau", "-1"], "tau is -1"),
        (["--target", "0.5,0.6"], "target is [0.5, 0.6]"),
        (["--target", "0.2,0.3,0.5"], "shape of `target` is (3,); expected (2,)"),
        (["--target", "half"], "--target is 'half'"),
        (["--target", "1.5,-0.5"], "target is [1.5, -0.5]"),
    ],
)
def test_fairness_invalid_option(files, options, says):
    arguments = ["fairness", "bm25.run", "--counts", "c.parquet"]
    assert says in refused(*arguments, *([] if "--k" in options else ["--k", "2"]), *options)


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ("", "bad.run is empty"),
        (RUN + "q1 Q0 d2 4 0.5 t\n", "bad.run, line 6: document is 'd2'"),
        (
            RUN.replace("d2", "d9"),
            "document of the run is 'd9', which has no counts, like 1 of 4 documents",
        ),
        ("q1 Q0 d1 1 high t\n", "bad.run, line 1: score is 'high'"),
        ("q1 Q0 my doc 1 3 t\n", "bad.run, line 1 has 7 fields"),
    ],
)
def test_fairness_invalid_run(files, run, says):
    (files / "bad.run").write_text(run)
    assert says in refused("fairness", "bad.run", "--counts", "c.parquet", "--k", 2)


def test_missing_files(files):
    assert "RUN: no.run does not exist" in refused("fairness", "no.run", "--counts", "c.parquet")
    assert "--counts: no.parquet does not exist" in refused(
        "fairness", "bm25.run", "--counts", "no.parquet", "--k", 2
    )
    assert "--counts: bm25.run contains a run, expected counts of group terms" in refused(
        "fairness", "bm25.run", "--counts", "bm25.run", "--k", 2
    )


def test_fairness_damaged_file(files):
    (files / "cut.run.gz").write_bytes(gzip.compress(RUN.encode())[:40])
    (files / "folder").mkdir()
    assert "cut.run.gz cannot be read or is damaged" in refused(
        "fairness", "cut.run.gz", "--counts", "c.parquet"
    )
    assert "folder is a folder; choose the name of a file" in refused(
        "count-terms", "docs.tsv", "--words", "words.txt", "--out", "folder", "--force"
    )


def test_fairness_repeated_document(files):
    (files / "twice.tsv").write_text("d1\tshe\nd2\the\nd1\tshe\n")
    call("count-terms", "twice.tsv", "--words", "words.txt", "--out", "twice.parquet")
    (files / "one.run").write_text("q Q0 d1 1 1 t\n")
    says = refused("fairness", "one.run", "--counts", "twice.parquet", "--k", 1)
    assert "document is 'd1', which occurs twice in the counts" in says


def test_fairness_permissive_options(files):
    texts = (files / "docs.tsv").read_text()
    (files / "docs.tsv").write_text(texts + "d5\t\n")
    arguments = ["count-terms", "docs.tsv", "--words", "words.txt", "--out", "e.parquet"]
    assert call(*arguments, "--allow-empty")[0] == 0
    assert read_counts("e.parquet").loc["d5"].tolist() == [0, 0, 0]
    (files / "empty.run").write_text("q Q0 d5 1 2 t\nq Q0 d1 2 1 t\n")
    arguments = ["fairness", "empty.run", "--counts", "e.parquet", "--format", "json"]
    assert "query 'q', rank 1: length is 0, as for 1 of 2 ranked documents" in refused(
        *arguments, "--k", 2
    )
    arguments.append("--allow-empty")
    _, out, _ = call(*arguments, "--k", 2)
    # RBDF leaves only the weight of rank 2.
    weight = 1 / math.log2(3)
    fair = json.loads(out)["rows"][0]["TExFAIR"]
    assert fair == pytest.approx(1 - weight / (1 + weight))
    assert "'q': number of documents is 2, fewer than the cut-off" in refused(*arguments)
    _, out, _ = call(*arguments, "--allow-short", "--per-query")
    (row,) = json.loads(out)["rows"]
    assert (row["k"], row["documents"], row["with terms"]) == (10, 2, 1)
    assert row["TExFAIR"] == pytest.approx(fair)
    # As a document without counts the empty one is neutral likewise.
    _, out, _ = call(
        "fairness", "empty.run", "--counts", "c.parquet", "--k", 2,
        "--unknown", "neutral", "--format", "json",
    )  # fmt: skip
    assert json.loads(out)["rows"][0]["TExFAIR"] == pytest.approx(fair)


def test_fairness_most_neutral(tmp_path):
    # Row groups of two, none of them with more than one neutral document.
    omegas = [[4, 0], [3, 1], [1, 1], [2, 0], [3, 2], [0, 0], [5, 0], [6, 0]]
    frame = pd.DataFrame(omegas, columns=["f", "m"])
    frame.insert(0, "length", 9)
    frame.index = pd.Index([f"d{n}" for n in range(len(frame))], name="document_id")
    path = tmp_path / "counts.parquet"
    frame.reset_index().to_parquet(path, row_group_size=2)
    assert find_most_neutral(path, 4).index.tolist() == ["d2", "d5", "d4", "d1"]
    assert find_most_neutral(path, 99).index.size == 8


def test_overlap_two_runs(files):
    (files / "swapped.run").write_text(
        "q1 Q0 d2 1 3 t\nq1 Q0 d1 2 2 t\nq1 Q0 d4 3 1 t\nq2 Q0 d4 1 2 t\nq2 Q0 d3 2 1 t\n"
    )
    arguments = ["overlap", "bm25.run", "swapped.run", "--format", "json"]
    _, out, _ = call(*arguments, "--per-query")
    expected = rbo(["d1", "d2", "d4"], ["d2", "d1", "d4"], 0.9)
    values = {row["query"]: row["CRBO"] for row in json.loads(out)["rows"]}
    assert values == {"q1": pytest.approx(expected), "q2": pytest.approx(1)}
    _, out, _ = call(*arguments)
    (row,) = json.loads(out)["rows"]
    assert row == {
        "queries": 2,
        "CRBO": pytest.approx((1 + expected) / 2),
        "lowest": pytest.approx(expected),
        "unchanged": 0.5,
    }
    _, out, _ = call(*arguments, "--p", "0.5", "--depth", "1", "--variant", "truncated")
    assert json.loads(out)["rows"] == [{"queries": 2, "CRBO": 0.25, "lowest": 0.0}]


@pytest.mark.parametrize(
    ("swapped", "depth", "unchanged"),
    [
        # The last two of 400 documents are swapped: CRBO is 1 up to rounding.
        ([*range(398), 399, 398], 400, 0.5),
        ([*range(398), 399, 398], 398, 1.0),
        # The list lacks its last document, of which CRBO extrapolates that it agrees.
        ([*range(399)], 400, 0.5),
        ([*range(400)], 400, 1.0),
    ],
)
def test_overlap_unchanged_lists(files, swapped, depth, unchanged):
    for name, documents in (("a.run", range(400)), ("b.run", swapped)):
        lines = [f"q1 Q0 d{d} 1 {400 - rank} t" for rank, d in enumerate(documents)]
        (files / name).write_text("\n".join([*lines, "q2 Q0 d1 1 1 t"]) + "\n")
    _, out, _ = call("overlap", "a.run", "b.run", "--depth", depth, "--format", "json")
    (row,) = json.loads(out)["rows"]
    assert (row["unchanged"], row["CRBO"]) == (unchanged, pytest.approx(1, abs=1e-9))


@pytest.mark.fault("users_file")
def test_fairness_control_characters(files):
    name = "a\x1b[31m.run"
    for query in ("q\x1b]0;title\x07", "q\x9b2J", "q\u202e"):
        (files / name).write_text(f"{query} Q0 d2 1 3 t\n")
        code, out, _ = call("overlap", name, name, "--per-query")
        assert code == 0 and "q\\" in out and "a\\x1b[31m.run" in out
        assert all(letter.isprintable() for letter in out.replace("\n", ""))
    (files / name).write_text("q1 Q0\n")
    assert "a\\x1b[31m.run" in refused("overlap", name, name)
    assert "none\\x1b" in refused("overlap", "none\x1b", name)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--p", "1"], "p is 1.0"),
        (["--depth", "0"], "depth is 0"),
    ],
)
def test_overlap_invalid_option(files, options, says):
    assert says in refused("overlap", "bm25.run", "bm25.run", *options)


def test_overlap_other_queries(files):
    (files / "other.run").write_text("q1 Q0 d1 1 3 t\n")
    assert "query is 'q2', which only the original run has" in refused(
        "overlap", "bm25.run", "other.run"
    )


@pytest.fixture
def guide(files, repository):
    """Code blocks of the guide by language, in a folder with the files that it names."""
    (files / "docs.tsv").rename("passages.tsv")
    (files / "c.parquet").unlink()
    (files / "mine.txt").write_text("coat,f\n")
    lists = {"q1": "d1 d2 d3 d4", "q2": "d4 d3 d2 d1", "q3": "d2 d4 d1 d3"}
    rows = [
        (query, document, 1 / rank)
        for query, documents in lists.items()
        for rank, document in enumerate([*documents.split(), *(f"e{n}" for n in range(6))], 1)
    ]
    run = pd.DataFrame(rows, columns=["query", "document", "score"])
    write_run(run, "bm25.run", tag="bm25")
    for name in ("swapped", "tilde", "bert"):
        write_run(run.assign(score=-run["score"]), f"{name}.run", tag=name)
    with open("passages.tsv", "a") as file:
        file.writelines(f"e{n}\tnobody is named here\n" for n in range(6))
    page = (repository / "docs" / "fairness.md").read_text("utf-8")
    blocks: dict[str, list[str]] = {"bash": [], "python": []}
    for language, body in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S):
        blocks[language].append(body)
    return blocks


def test_guide_commands(guide):
    lines = [line for block in guide["bash"] for line in block.splitlines()]
    assert len(lines) == 7
    for line in lines:
        name, *arguments = shlex.split(line)
        assert name == "everycell"
        code, out, err = command_line.call(*arguments)
        assert (code, err) == (0, ""), line
        assert out


def test_guide_python(guide, capsys):
    assert command_line.call(*shlex.split(guide["bash"][0].splitlines()[0])[1:])[0] == 0
    six_lines, swap = guide["python"]
    assert sum(map(bool, six_lines.splitlines())) == 6
    names: dict[str, object] = {}
    exec(six_lines, names)
    assert "TExFAIR" in capsys.readouterr().out
    result = names["values"]
    by_command = pd.read_csv(
        io.StringIO(
            call(
                "fairness", "bm25.run", "--counts", "counts.parquet", "--k", 5,
                "--k", 10, "--per-query", "--format", "csv",
            )[1]
        )
    )  # fmt: skip
    # The six lines take the background as large; the file has seven neutral documents.
    same = ["query", "k", "TExFAIR", "TExFAIR without RBDF", "AWRF"]
    pd.testing.assert_frame_equal(result[same], by_command[same])
    exec(swap, names)
    assert capsys.readouterr().out == "James took his coat; Elizabeth saw him.\n"


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffterm,group\n" + WORDS,
        "Gender,Word\n" + "".join(f"{line[-1]},{line[:-2]}\n" for line in WORDS.split()),
        "".join(f'"{line[:-2]}\u200b", "{line[-1]}"\n' for line in WORDS.split()),
    ],
)
def test_count_terms_word_list_forms(files, text):
    (files / "words.txt").write_text(text)
    code, _, _ = call("count-terms", "docs.tsv", "--words", "words.txt", "--out", "d.parquet")
    assert code == 0
    assert read_counts("d.parquet").equals(read_counts("c.parquet"))


def test_count_terms_accents_and_unused_terms(files):
    (files / "docs.tsv").write_text("d1\tla fe\u0301e\nd2\tla fée et lui\n")
    (files / "words.txt").write_text("fe\u0301e,f\nreine,f\nlui,m\n")
    code, out, _ = call("count-terms", "docs.tsv", "--words", "words.txt", "--out", "d.parquet")
    assert code == 0 and "f that occur in no document: reine." in out
    assert read_counts("d.parquet")["f"].tolist() == [1, 1]


def test_count_terms_concatenated_word_lists(files):
    (files / "words.txt").write_text("\ufeffshe,f\n\ufeffhe,m\n")
    arguments = ("docs.tsv", "--words", "words.txt", "--out", "d.parquet")
    assert "words.txt, line 2 has a byte order mark" in refused("count-terms", *arguments)


def test_count_terms_unrecognised_header(files):
    (files / "words.txt").write_text("lemma2,x\n" + WORDS)
    arguments = ("docs.tsv", "--words", "words.txt", "--out", "d.parquet")
    code, out, _ = call("count-terms", *arguments)
    assert code == 0 and "Group x has one term, lemma2; if that is a header" in out


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",", " , "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(",", "\u200b,"),
        lambda text: text.replace(",", "\u200e,"),
        lambda text: text.replace(",", "\u00a0,"),
        lambda text: "\u2060" + text.upper().replace(",F", ",f").replace(",M", ",m"),
        lambda text: "WORD,GENDER\n\n" + text,
        lambda text: '\ufeff"Term";"Group"\n'.replace(";", ",") + text,
        lambda text: " term , group \n" + text + "\n\n",
        lambda text: "\n" + text + text,
    ],
)
def test_equivalent_word_lists_count_the_same(files, change):
    (files / "words.txt").write_text(change(WORDS))
    code, _, err = call("count-terms", "docs.tsv", "--words", "words.txt", "--out", "d.parquet")
    assert (code, err) == (0, "")
    assert read_counts("d.parquet").equals(read_counts("c.parquet"))


def test_count_terms_header_hint(files):
    """Two groups of one term are no evidence of a header; three are."""
    words = files / "short.txt"
    for text, has_hint in (("she,f\nhe,m\n", False), ("lemma2,x\nshe,f\nhe,m\n", True)):
        words.write_text(text)
        arguments = ("docs.tsv", "--words", "short.txt", "--out", "short.parquet", "--force")
        code, out, _ = call("count-terms", *arguments)
        assert code == 0 and ("if that is a header, remove it" in out) == has_hint


def test_find_most_neutral_ties_in_file_order(tmp_path):
    frame = pd.DataFrame({"length": 9, "f": [0, 4] * 100, "m": 0})
    frame.index = pd.Index([f"d{n}" for n in range(200)], name="document_id")
    path = tmp_path / "counts.parquet"
    frame.reset_index().to_parquet(path)
    expected = [f"d{n}" for n in (*range(0, 200, 2), *range(1, 21, 2))]
    assert find_most_neutral(path, 110).index.tolist() == expected
