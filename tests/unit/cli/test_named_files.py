"""Files named on the command line: missing, unreadable, swapped, and outputs in the way."""

import gzip
import json
import os
from importlib import import_module
from itertools import permutations
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pytest
from command_line import call, refused

from everycell import cli
from everycell.cli.named_files import Input, Output

#: Small files, one of each kind: name -> content.
FILES = {
    "a.run": "q1 Q0 d1 1 3 a\nq1 Q0 d2 2 2 a\nq2 Q0 d3 1 3 a\n",
    "b.run": "q1 Q0 d2 1 3 b\nq1 Q0 d1 2 2 b\nq2 Q0 d3 1 3 b\n",
    "judged.qrels": "q1 0 d1 1\nq2 0 d3 1\n",
    "documents.tsv": "d1\tshe won\nd2\the lost\nd3\tthey left\n",
    "words.txt": "she,f\nhe,m\n",
    "letor.txt": "2 qid:1 1:0.5 2:0.1\n0 qid:1 1:0.2 2:0.3 # d2\n",
    "model.txt": "tree\nversion=v4\n",
    "answers.jsonl": json.dumps(
        {"question": "q", "answer": "Owls hunt [1].", "documents": ["d1"], "relevant": ["d1"]}
    ),
    "passages.jsonl": json.dumps({"id": "d1", "text": "Owls hunt."}),
    "correct.jsonl": json.dumps({"question": "q", "answers": ["owls"]}),
    "predictions.jsonl": json.dumps({"id": "u1", "satisfied": True, "predicted": False}),
    "groups.csv": "document,neutrality\nd1,1\nd2,0\nd3,1\n",
    "table.csv": "system,metric,value\na,AP,0.5\n",
}
#: Parameters that no file is declared for: results folders, checked with their receipts, folders
#: that may exist, and the name of a model.
UNDECLARED = {
    "verify.results", "verify.into", "diff.first", "diff.second", "deposit.results",
    "check.schemas", "init.folder", "debug.into",
}  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Folder, which is the working one, with a file of each kind."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(content)
    counts = pd.DataFrame(
        {"document_id": ["d1", "d2", "d3"], "length": 2, "f": [1, 0, 0], "m": [0, 1, 0]}
    )
    counts.to_parquet("counts.parquet", index=False)
    return tmp_path


def commands():
    """Name and function of each command."""
    groups = [*cli.HEADINGS.values(), *(members for _, members in cli.GROUPS.values())]
    for members in groups:
        for name, where in members.items():
            module, function = where.split(":")
            yield name, getattr(import_module(f"everycell.cli.{module}"), function)


def test_check_named_files_covers_every_path():
    undeclared = set()
    for name, function in commands():
        for parameter, hint in get_type_hints(function, include_extras=True).items():
            parts = get_args(hint) if get_origin(hint) is Annotated else (hint,)
            declared = [part for part in parts[1:] if isinstance(part, Input | Output)]
            if "Path" in str(parts[0]) and not declared:
                undeclared.add(f"{name}.{parameter}")
    assert undeclared == UNDECLARED


#: Command -> its arguments, with {0}, {1}, ... for its files, and these files in order.
COMMANDS = {
    "measure compare": ("{0} {1} {2}", ["a.run", "b.run", "judged.qrels"]),
    "measure interpolate": ("{0} {1} {2} --folds 2", ["a.run", "b.run", "judged.qrels"]),
    "measure fairness": ("{0} {1} --counts {2} --k 1", ["a.run", "b.run", "counts.parquet"]),
    "measure overlap": ("{0} {1}", ["a.run", "b.run"]),
    "measure count-terms": (
        "{0} --words {1} --out new.parquet",
        ["documents.tsv", "words.txt"],
    ),
    "measure rerank": (
        "{0} --groups {1} --qrels {2} --deviations {3} --out new --alpha 1 --k 1",
        ["a.run", "groups.csv", "judged.qrels", "b.run"],
    ),
    "measure explain": ("{0} {1} --query 1", ["model.txt", "letor.txt"]),
    "measure citations": ("{0}", ["answers.jsonl"]),
    "measure satisfaction": ("{0}", ["predictions.jsonl"]),
    "measure cite-check": ("{0} {1} --model m", ["answers.jsonl", "passages.jsonl"]),
    "init": (
        "smith2026 new --runs {0} --qrels {1} --table {2}",
        ["a.run", "judged.qrels", "table.csv"],
    ),
}
#: Files whose kind cannot be recognised.
UNRECOGNISED = {"documents.tsv", "words.txt"}


def arguments(command, names):
    form, _ = COMMANDS[command]
    return [*command.split(), *form.format(*names).split()]


@pytest.mark.parametrize("command", COMMANDS)
def test_check_named_files_swapped(files, command):
    """Every permutation that puts a recognised file in a wrong place is refused."""
    names = COMMANDS[command][1]
    for order in permutations(names):
        misplaced = [
            name
            for name, right in zip(order, names, strict=True)
            if name not in UNRECOGNISED and Path(name).suffix != Path(right).suffix
        ]
        if misplaced:
            message = refused(*arguments(command, order))
            assert " contains " in message and misplaced[0] in message and "expected" in message
    assert not Path("new").exists() and not Path("new.parquet").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_check_named_files_wrong_kind(files, command):
    """A recognised file of any other kind is refused in each place."""
    names = COMMANDS[command][1]
    candidates = [*FILES, "counts.parquet"]
    for position, right in enumerate(names):
        for other in candidates:
            texts = {"documents.tsv", "passages.jsonl", "correct.jsonl"}
            same_kind = Path(other).suffix == ".run" and Path(right).suffix == ".run"
            if other in UNRECOGNISED or other == right or same_kind or {other, right} <= texts:
                continue
            message = refused(
                *arguments(command, [*names[:position], other, *names[position + 1 :]])
            )
            assert f": {other} contains " in message


def test_check_named_files_both(files):
    message = refused("measure", "compare", "a.run", "judged.qrels", "b.run")
    assert message.count("judged.qrels") == 1 and message.count("b.run") == 1
    assert "REPRODUCED" in message and "QRELS" in message and "exchange" in message
    message = refused("measure", "cite-check", "passages.jsonl", "answers.jsonl", "--model", "m")
    assert "ANSWERS" in message and "PASSAGES" in message and "exchange" in message
    message = refused("measure", "compare", "a.run", "b.run", "groups.csv")
    assert "groups.csv" in message and "give another file" in message


@pytest.mark.parametrize("command", COMMANDS)
def test_check_named_files_missing(files, monkeypatch, command):
    """The last file is missed before any other is read."""
    names = COMMANDS[command][1]
    monkeypatch.setattr("pyarrow.csv.read_csv", lambda *_, **__: pytest.fail("a file was read"))
    for position in range(len(names)):
        listed = [*names[:position], "no/such", *names[position + 1 :]]
        assert "no/such does not exist" in refused(*arguments(command, listed))


def unusual_paths():
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("loop").symlink_to("loop")
    Path("dangling").symlink_to("nothing")
    return {
        "folder": "is a folder",
        "pipe": "is a pipe or device",
        "/dev/null": "is a pipe or device",
        "loop": "Too many levels of symbolic links",
        "dangling": "does not exist",
        "a.run/x": "does not exist",
        "x" * 300: "File name too long",
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_check_named_files_unusual(files, command):
    names = COMMANDS[command][1]
    for name, says in unusual_paths().items():
        message = refused(*arguments(command, [*names[:-1], name]))
        assert name in message and says in message


def test_check_named_files_unreadable(files, monkeypatch):
    def forbidden(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", forbidden)
    message = refused("measure", "compare", "a.run", "b.run", "judged.qrels")
    assert "a.run: Permission denied; correct the permissions" in message


def test_check_named_files_compressed(files):
    for name in ("a.run", "judged.qrels"):
        Path(f"{name}.gz").write_bytes(gzip.compress(FILES[name].encode()))
    message = refused("measure", "compare", "judged.qrels.gz", "b.run", "a.run.gz")
    assert "ORIGINAL: judged.qrels.gz contains" in message and "a.run.gz (QRELS)" in message


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        # Comments and blank lines, tabs, a byte order mark, Windows line ends.
        ("# run\n\nq1\tQ0\td1\t1\t3\ta\n", "# qrels\nq1\t0\td1\t1\n"),
        ("\ufeffq1 Q0 d1 1 3 a\r\n", "\ufeffq1 0 d1 1\r\n"),
        ("q1 Q0 d1 1 1e-3 a\nq1 Q0 d2 2 nan a\n", "q1 0 d1 -1\n"),
        # Longer than the reader's limit.
        ("q1 Q0 d1 1 3 a\n" * 9000, "q1 0 d1 1\n" * 9000),
    ],
)
def test_check_named_files_variations(files, run, qrels):
    Path("x").write_text(run, newline="")
    Path("y").write_text(qrels, newline="")
    message = refused("measure", "compare", "y", "b.run", "x")
    assert "ORIGINAL: y contains" in message and "x (QRELS)" in message


def test_check_named_files_output(files):
    """Outputs are checked before anything is computed."""
    interpolate = ("measure", "interpolate", "a.run", "b.run", "judged.qrels", "--folds", 2)
    assert "--out: a.run is also the file of FIRST" in refused(*interpolate, "--out", "a.run")
    Path("link").symlink_to("b.run")
    assert "link is also the file of SECOND" in refused(*interpolate, "--out", "link")
    assert "words.txt already exists" in refused(*interpolate, "--out", "words.txt")
    assert "a.run is not a folder" in refused(*interpolate, "--out", "a.run/x")
    count = ("measure", "count-terms", "documents.tsv", "--words", "words.txt", "--out")
    for name in ("documents.tsv", "words.txt"):
        assert "is also the file of" in refused(*count, name, "--force")
        assert Path(name).read_text() == FILES[name]
    assert call(*interpolate, "--out", "new/folder/x.run")[0] == 0
    assert [path.name for path in Path("new/folder").iterdir()] == ["x.run"]


def write_runs(tags):
    for name, tag in tags.items():
        text = FILES["a.run"].replace(" a\n", f" {tag}\n")
        Path(name).parent.mkdir(exist_ok=True)
        opened = gzip.open if name.endswith(".gz") else open
        with opened(name, "wt") as file:
            file.write(text)
    return list(tags)


@pytest.mark.parametrize(
    "tags",
    [
        {"RM3.txt": "BM25", "BM25.run": "RM3"},
        {"RM3.txt": "BM25", "BM25.run": "other"},
        {"rm3": "Bm25", "BM-25.run.gz": "RM3"},
        {"one/RM3.run": "BM25", "two/BM25.run": "RM3"},
        {"BM25.run": "BM25-RM3", "BM25_RM3.run": "BM25"},
    ],
)
def test_check_tags_of_another_run(files, tags):
    first, second = write_runs(tags)
    for command in (
        ("measure", "compare", first, second, "judged.qrels"),
        ("measure", "interpolate", second, first, "judged.qrels", "--folds", 2),
        ("measure", "overlap", first, second),
        ("measure", "fairness", first, second, "--counts", "counts.parquet", "--k", 1),
        ("measure", "compare", "a.run", "b.run", "judged.qrels", "--baseline", first,
         "--reproduced-baseline", second),
    ):  # fmt: skip
        message = refused(*command)
        assert first in message and second in message and "tag" in message


@pytest.mark.parametrize(
    "tags",
    [
        {"BM25.run": "BM25", "BM25.again.run": "BM25"},
        {"BM25.run": "terrier", "RM3.run": "terrier"},
        {"BM25.run": "bm25-k1", "RM3.run": "rm3-k1"},
        {"BM25.run": "x", "RM3.run": "y"},
    ],
)
def test_check_tags_agree(files, tags, recwarn):
    first, second = write_runs(tags)
    assert call("measure", "compare", first, second, "judged.qrels")[0] == 0
    assert not recwarn.list


def test_check_tags_same_system(files):
    first, second = write_runs({"RM3.txt": "BM25", "BM25.run": "BM25"})
    with pytest.warns(UserWarning, match=r"RM3\.txt has the tag 'BM25'.*BM25\.run"):
        assert call("measure", "compare", first, second, "judged.qrels")[0] == 0


def test_convert_corpus_same_name_twice(files):
    Path("beir").mkdir()
    message = refused(
        "data", "convert-corpus", "new", "--beir", "beir", "--run", "bm25=a.run", "--run",
        "bm25=b.run",
    )  # fmt: skip
    assert "bm25 twice, a.run and b.run" in message and not Path("new").exists()
    message = refused("data", "convert-corpus", "new", "--beir", "beir", "--run", "x=judged.qrels")
    assert "--run: judged.qrels contains" in message
    message = refused("data", "convert-corpus", "new", "--beir", "a.run")
    assert "--beir: a.run is not a folder" in message


def test_init_name_and_tag_of_different_systems(files):
    Path("table.csv").write_text("system,metric,value\nBM25,AP,0.5\nRM3,AP,0.5\n")
    write_runs({"RM3.txt": "BM25"})
    options = ("--qrels", "judged.qrels", "--table", "table.csv")
    message = refused("init", "smith2026", "new", "--runs", "RM3.txt", *options)
    assert "RM3.txt" in message and "BM25" in message and "--runs 'RM3=RM3.txt'" in message
    assert call("init", "smith2026", "new", "--runs", "RM3=RM3.txt", *options)[0] == 0
    write_runs({"x.txt": "BM25"})
    assert call("init", "smith2026", "newer", "--runs", "x.txt", *options)[0] == 0


def test_recognise_file_random_bytes(tmp_path):
    """A file that fits no kind is left to its reader."""
    from everycell.base.file_kinds import recognise_file

    rng = np.random.default_rng(0)
    path = tmp_path / "x"
    for content in (b"", b"\n\n", b"{", b"PAR1", b"\x1f\x8b", b"tr", b"a,b\n1,2\n", b"1\n"):
        path.write_bytes(content)
        assert recognise_file(path) is None
    for size in (1, 100, 100_000):
        path.write_bytes(rng.bytes(size))
        assert recognise_file(path) is None


@pytest.mark.parametrize("out", ["/dev/full", "/dev/stdout", "/dev/null", "pipe"])
def test_check_named_files_device(files, out):
    os.mkfifo("pipe")
    interpolate = "measure interpolate a.run b.run judged.qrels --folds 2".split()
    message = refused(*interpolate, "--out", out)
    assert f"--out: {out} is a pipe or device" in message
    assert "remove" not in message


def test_check_named_files_created_folder(files):
    interpolate = "measure interpolate a.run b.run judged.qrels --folds 2".split()
    _, _, err = call(*interpolate, "--out", "new/x.run")
    assert "Created the folder new." in err
    assert Path("new/x.run").is_file()
