"""`everycell init --values --only`: rows that the user chooses."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
import yaml
from command_line import call, refused

TABLE = "model,metric,value\nA,MAP,0.30\nB,MAP,0.40\n"
VALUES = {("A", "test"): 0.3, ("A", "external"): 0.1, ("B", "test"): 0.4, ("B", "external"): 0.2}
NESTED = {
    part: {model: {"MAP": VALUES[model, part]} for model in "AB"} for part in ("test", "external")
}
#: Name of a file -> the column of its parts, and its values.
FORMS = {
    "tidy.csv": (
        "split",
        "model,split,metric,value\n"
        + "".join(f"{a},{b},MAP,{c}\n" for (a, b), c in VALUES.items()),
    ),
    "score.csv": (
        "split",
        "split;Model;Measure;Score\n"
        + "".join(f"{b};{a};MAP;0,{int(10 * c)}\n" for (a, b), c in VALUES.items()),
    ),
    "wide.csv": (
        "split", "model,split,MAP\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in VALUES.items())
    ),
    "first.csv": (
        "split", "split,model,MAP\n" + "".join(f"{b},{a},{c}\n" for (a, b), c in VALUES.items())
    ),
    "rows.json": (
        "split",
        json.dumps([{"model": a, "split": b, "MAP": c} for (a, b), c in VALUES.items()]),
    ),
    "nested.json": ("level_1", json.dumps(NESTED)),
    "table.md": (
        "split",
        "|model|split|MAP|\n|-|-|-|\n"
        + "".join(f"|{a}|{b}|{c}|\n" for (a, b), c in VALUES.items()),
    ),
}  # fmt: skip
OPTIONS = ("init", "--table", "table.csv", "--values")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "table.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*options: str) -> tuple[dict[tuple[str, ...], float], str]:
    """Reproduced values of a new repository by key, and what the command says."""
    code, out, err = call(*OPTIONS, *options, "smith2026")
    assert (code, err) == (0, "")
    frame = pd.read_csv("smith2026/data/smith2026-data/values.csv", dtype=str)
    return {tuple(row[:-1]): float(row[-1]) for row in frame.to_numpy().tolist()}, out


@pytest.mark.parametrize("choice", ["=test", "!=external"])
@pytest.mark.parametrize("form", FORMS)
def test_init_only(form, choice):
    """Both ways to choose one part; the column then is no key, and rows left out are counted."""
    column, text = FORMS[form]
    Path(form).write_text(text)
    values, out = init(form, "--only", f"{column}{choice}")
    assert values == {("A", "MAP"): 0.3, ("B", "MAP"): 0.4}
    assert f"Left out: 2 rows, by --only {column}{choice}." in out
    registry = yaml.safe_load(Path("smith2026/published/smith2026/registry.yaml").read_text())
    [entry] = registry["files"].values()
    assert f"; only {column}{choice} (without 2 other rows)" in entry["note"]


@pytest.mark.parametrize("form", FORMS)
def test_init_only_missing(form):
    """Without a choice, an error offers one that can be followed, and no mean over parts."""
    column, text = FORMS[form]
    Path(form).write_text(text)
    message = refused(*OPTIONS, form, "smith2026")
    [advice] = re.findall(r"--only ([^ ]*)\.\n", message)
    assert advice == f"{column}=test" and "--mean-over" not in message
    assert init(form, "--only", *shlex.split(advice))[0] == {("A", "MAP"): 0.3, ("B", "MAP"): 0.4}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("{column}=tset", ["test"]),
        ("{column}=Test", ["test"]),
        ("{column}=dev", ["external, test"]),
        ("{column}!=dev", ["'dev'", "external, test"]),
        ("{column}s=test", ["no column"]),
        ("{column}", ["COLUMN=VALUE"]),
    ],
)
def test_init_only_unknown(form, choice, words):
    column, text = FORMS[form]
    Path(form).write_text(text)
    choice = choice.format(column=column)
    message = refused(*OPTIONS, form, "--only", choice, "smith2026")
    assert all(word in message for word in [*words, f"--only {shlex.quote(choice)}"])
    assert not Path("smith2026").exists()


@pytest.mark.parametrize("choices", [("split=test", "split!=test"), ("split=test", "model!=A")])
def test_init_only_nothing_left(choices):
    Path("a.csv").write_text("model,split,MAP\nA,test,0.3\nB,external,0.2\n")
    message = refused(*OPTIONS, "a.csv", "--only", *choices, "smith2026")
    assert "a.csv" in message and "leaves no row" in message


def test_init_only_several():
    """Several values of a column are kept together; headings are found despite capitals."""
    text = "Model,lang,MAP\n" + "".join(
        f"{model},{lang},0.{number}\n"
        for number, (model, lang) in enumerate(((a, b) for a in "ABC" for b in ("es", "de")), 1)
    )
    Path("a.csv").write_text(text)
    choices = ("--only", "LANG=de", "model=A", "--only", "model=B")
    assert init("a.csv", *choices)[0] == {("A", "MAP"): 0.2, ("B", "MAP"): 0.4}


@pytest.mark.parametrize(
    "text", ["model,Lang,lang,MAP\nA,es,de,0.3\n", "lang,lang,MAP\nA,es,0.3\n"]
)
def test_init_only_ambiguous_column(text):
    Path("a.csv").write_text(text)
    message = refused(*OPTIONS, "a.csv", "--only", "LANG=es", "smith2026")
    assert "LANG" in message and "lang" in message


@pytest.mark.parametrize("form", ["a.csv", "a.md"])
def test_init_only_name_above(form):
    """A name that stands once for several rows is never taken from a row that is left out."""
    rows = ["model,split,MAP", "A,dev,0.1", ",test,0.3", "B,dev,0.2", ",test,0.4"]
    if form == "a.md":
        rows = [f"|{row.replace(',', '|')}|" for row in [rows[0], "-,-,-", *rows[1:]]]
    Path(form).write_text("\n".join(rows))
    for choice in ("split=test", "split!=dev"):
        message = refused(*OPTIONS, form, "--only", choice, "smith2026")
        assert f"{form}, row 3" in message and "model" in message
    values, _ = init(form, "--only", "split=dev")
    assert values == {("A", "MAP"): 0.1, ("B", "MAP"): 0.2}


@pytest.mark.parametrize("choice", ["split=test", "split!=dev"])
def test_init_only_blank(choice):
    """A row without a value may belong to any part."""
    Path("a.csv").write_text("model,split,MAP\nA,test,0.3\nB,,0.4\nB,dev,0.1\n")
    message = refused(*OPTIONS, "a.csv", "--only", choice, "smith2026")
    assert "a.csv, row 3" in message and "split" in message


@pytest.mark.parametrize(
    ("heading", "own"), [("rerank", "rerank"), ("rerank", "Rerank"), ("system", "model")]
)
def test_init_only_of_published_column(heading, own):
    """What the user chooses is never compared under another published name."""
    Path("table.csv").write_text(f"name,{heading},metric,value\nA,no,MAP,0.3\n")
    Path("a.csv").write_text(f"name,{own},MAP\nA,yes,0.3\nA,no,0.2\n")
    options = ("a.csv", "--only", f"{own}=yes")
    assert call(*OPTIONS, *options, "smith2026")[0] != 0
    values, _ = init("a.csv", "--only", f"{own}=no")
    assert values == {("A", "no", "MAP"): 0.2}


@pytest.mark.parametrize("published", ["language", "setting", "dataset"])
@pytest.mark.parametrize("own", ["lang", "corpus", "level_1"])
def test_init_only_is_no_published_name(published, own):
    """The only name of a published column is not that of values with a chosen name."""
    Path("table.csv").write_text(f"model,{published},metric,value\nA,Spanish,MAP,0.3\n")
    Path("a.csv").write_text(f"model,{own},metric,value\nA,es,MAP,0.3\nA,de,MAP,0.3\n")
    assert published in refused(*OPTIONS, "a.csv", "--only", f"{own}=de", "smith2026")
    values, _ = init("a.csv", "--only", f"{own}=es", "--rename", f"{own}={published}", "es=Spanish")
    assert values == {("A", "Spanish", "MAP"): 0.3}


@pytest.mark.parametrize("choice", [(), ("--only", "split=test"), ("--only", "rerank=yes")])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_init_values_further_column(choice, form):
    """A column that no row needs for its name has another name than the published one."""
    Path("table.csv").write_text("model,rerank,metric,value\nA,no,MAP,0.3\nB,no,MAP,0.4\n")
    rows = [("A", "yes", "test", 0.3), ("B", "no", "test", 0.4), ("A", "no", "dev", 0.9)]
    frame = pd.DataFrame(rows[: 3 if choice else 2], columns=["model", "rerank", "split", "MAP"])
    frame = frame if choice else frame.drop(columns="split")
    text = frame.to_csv(index=False) if form == "csv" else frame.to_json(orient="records")
    Path(f"a.{form}").write_text(text)
    if "rerank=yes" in choice:
        message = refused(*OPTIONS, f"a.{form}", *choice, "smith2026")
        assert f"a.{form}, row 2" in message and "yes" in message
        return
    values, out = init(f"a.{form}", *choice)
    assert values == {("B", "no", "MAP"): 0.4}
    assert "Left out: 1 value of yes" in out and "Not run: A" in out


def test_init_only_of_part():
    """A part of the data that the user chose is no reason to doubt a published column."""
    Path("table.csv").write_text("model,dataset,metric,value\nA,nq,MAP,0.3\n")
    Path("a.csv").write_text("model,split,MAP\nA,test,0.3\nA,dev,0.2\n")
    values, out = init("a.csv", "--only", "split=test")
    assert values == {("A", "nq", "MAP"): 0.3} and "Added: the column dataset" in out


@pytest.mark.parametrize("number", ["k", "fold", "year"])
def test_init_only_of_numbers(number):
    """A column of numbers may be chosen by too, and is no measure then."""
    Path("a.csv").write_text(f"model,{number},MAP\nA,10,0.3\nA,100,0.5\nB,10,0.4\nB,100,0.2\n")
    values, out = init("a.csv", "--only", f"{number}=10")
    assert values == {("A", "MAP"): 0.3, ("B", "MAP"): 0.4} and "Not run" not in out


def test_init_only_of_one_system():
    Path("a.csv").write_text("split,MAP,P@5\ntest,0.3,0.4\ndev,0.1,0.2\n")
    assert init("A=a.csv", "--only", "split=test")[0] == {("A", "MAP"): 0.3}


@pytest.mark.parametrize("column", ["topic", "Topic", "TOPIC"])
def test_init_only_and_mean_over(column):
    """A row over all topics is left out of their mean, and so are those of other parts."""
    text = "".join(f"{a},{part},{t},0.{t}\n" for a in "AB" for part in ("x", "y") for t in (2, 4))
    Path("a.csv").write_text(f"model,part,topic,MAP\n{text}A,x,Overall,0.9\nB,x,Overall,0.9\n")
    options = ("a.csv", "--mean-over", column, "--only", "part=x")
    message = refused(*OPTIONS, *options, "smith2026")
    assert f"--only '{column}!=Overall'" in message
    code, out, _ = call(*OPTIONS, *options, "topic!=Overall", "smith2026")
    assert code == 0 and "2 cells of 2 values each" in out
    frame = pd.read_csv("smith2026/data/smith2026-data/values.csv", dtype=str)
    assert frame["value"].tolist() == ["0.2", "0.4"] * 2


def test_init_only_before_renames():
    """Choices name what the files have, renames what is left."""
    Path("a.csv").write_text("model,split,metric,value\nx,test,MAP,0.3\nx,dev,MAP,0.1\n")
    values, _ = init("a.csv", "--only", "split=test", "--rename", "x=A")
    assert values == {("A", "MAP"): 0.3}
    message = refused(*OPTIONS, "a.csv", "--only", "split=dev", "model=A", "--rename", "x=A")
    assert "model=A" in message and "x" in message


def test_init_only_several_files():
    """Each file needs a chosen row; what one of them has may be left out of all."""
    Path("a.csv").write_text("model,topic,MAP\nA,1,0.3\nA,all,0.9\n")
    Path("b.csv").write_text("model,topic,MAP\nB,1,0.4\n")
    values, out = init("a.csv", "b.csv", "--only", "topic!=all")
    assert values == {("A", "MAP"): 0.3, ("B", "MAP"): 0.4} and "Left out: 1 row" in out
    message = refused(*OPTIONS, "a.csv", "b.csv", "--only", "topic=all", "smith2027")
    assert "b.csv" in message


@pytest.mark.parametrize(
    ("column", "names", "is_repeated"),
    [
        ("seed", "12", True), ("random_seed", "ab", True), ("run", "12", True),
        ("run", ["run1", "run2"], True), ("run", ["x1", "y2"], False), ("split", "01", True),
        ("split", ["test", "dev"], False), ("language", ["es", "de"], False),
        ("topic_id", ["301", "302"], True), ("query_type", ["long", "short"], False),
        ("variant", ["seed 1", "seed 2"], True), ("k", ["10", "100"], False),
    ],
)  # fmt: skip
def test_init_only_or_mean_over(column, names, is_repeated):
    """An error offers a mean only over what numbers repetitions or topics."""
    Path("table.csv").write_text("technique,metric,value\nA,MAP,0.3\nB,MAP,0.4\n")
    rows = "".join(f"{a},{name},MAP,0.{n}\n" for a in "AB" for n, name in enumerate(names, 1))
    Path("a.csv").write_text(f"technique,{column},metric,value\n{rows}")
    message = refused(*OPTIONS, "a.csv", "smith2026")
    assert (f"--mean-over {column}" in message) == is_repeated
    assert (f"--only {shlex.quote(f'{column}={names[0]}')}" in message) != is_repeated


@pytest.mark.parametrize("choice", ["={}", "!={}"])
@pytest.mark.parametrize("is_one_file", [True, False])
@pytest.mark.parametrize(("name", "other"), [("dev", "Dev"), ("1", "1.0"), ("2", "02")])
def test_init_only_spellings(name, other, is_one_file, choice):
    """Two spellings of one name are no two names, unless choices name both."""
    rows = [f"A,{name},0.8", f"B,{other},0.9", "A,x,0.3", "B,x,0.4"]
    files = ["a.csv"] if is_one_file else ["a.csv", "b.csv"]
    for number, file in enumerate(files):
        Path(file).write_text("\n".join(["model,part,MAP", *rows[number :: len(files)]]))
    message = refused(*OPTIONS, *files, "--only", f"part{choice.format(name)}", "smith2026")
    assert "part" in message and other in message
    choices = ["--only", f"part!={name}", "--only", f"part!={other}"]
    values, _ = init(*files, *choices)
    assert values == {("A", "MAP"): 0.3, ("B", "MAP"): 0.4}


@pytest.mark.parametrize("columns", [("k", "model", "split"), ("split", "k", "model")])
def test_init_only_blank_number(columns):
    """A number names rows below it as a word does, if it stands first."""
    Path("table.csv").write_text("k,model,metric,value\n10,A,MAP,.1\n20,A,MAP,.2\n30,B,MAP,.3\n")
    rows = [("10", "A", "test"), ("20", "A", "test"), ("30", "A", "dev"), ("", "B", "test")]
    lines = [",".join([*columns, "MAP"])]
    for number, row in enumerate(rows, 1):
        names = dict(zip(("k", "model", "split"), row, strict=True))
        lines.append(",".join([*(names[column] for column in columns), f".{number}"]))
    Path("values.csv").write_text("\n".join(lines))
    message = refused(*OPTIONS, "values.csv", "--only", "split=test", "smith2026")
    assert "values.csv, row 5: k" in message


@pytest.mark.parametrize("choice", ["split=test", "split!=dev"])
@pytest.mark.parametrize("words", ["aa,see text", "aa,bb"])
def test_init_only_words_in_first_row(words, choice):
    """A row of words is no heading, although the column before its blank name is left out."""
    rows = [f"test,,A,{words}", "test,x,B,bb,0.4", "dev,y,B,b,0.3"]
    Path("a.csv").write_text("\n".join(["split,note,model,comment,MAP", *rows]))
    assert "a.csv, row 2" in refused(*OPTIONS, "a.csv", "--only", choice, "smith2026")
    Path("a.csv").write_text(Path("a.csv").read_text().replace(",,", ",–,"))
    values, out = init("a.csv", "--only", choice)
    assert values == {("B", "MAP"): 0.4} and "Not run: A" in out
