"""The command line, in a project with and without results."""

import csv
import json
import re
import shutil
from dataclasses import replace

import pytest
from typer.testing import CliRunner
from workflow.project import Project

from everycell.cli import app
from everycell.records.folders import TIERS
from everycell.records.papers import all_artefacts, load_papers
from everycell.verdicts.cells import classify_cells
from everycell.verdicts.counts import TESTED
from everycell.verdicts.reports import STATES, VERDICTS

#: Bases and outcomes of claims in `list`.
BASES = ("reproduced", "given", "other_cells", "constants", "quoted_values", "surrogate_data")
OUTCOMES = [*TESTED, "not testable", "not run"]


@pytest.fixture
def call(monkeypatch):
    """Run everycell in a project's folder; return exit code, standard output and error."""

    def run(project: Project, *arguments) -> tuple[int, str, str]:
        monkeypatch.chdir(project.folder)
        monkeypatch.delenv("EVERYCELL_MIRROR", raising=False)
        done = CliRunner().invoke(app, list(map(str, arguments)))
        # An error that is not a message for users is a fault of the program.
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    return run


def listed(call, project, *arguments) -> list[dict]:
    code, out, err = call(project, "list", "--format", "json", *arguments)
    assert code == 0 and err == ""
    return json.loads(out)


def test_list_entries(call, tree):
    records = {
        (artefact.id, tier): artefact.record.kind
        for artefact in all_artefacts(load_papers(tree.folder / "published"))
        for tier in artefact.record.tiers
    }
    assert not (tree.folder / "results" / "embedded").exists()
    entries = listed(call, tree)
    assert {(entry["id"], entry["tier"]): entry["kind"] for entry in entries} == records
    assert len(entries) == len(records)
    for entry in entries:
        assert list(entry) == [
            "id", "kind", "tier", "state", "verdicts", "explained", "claims",
        ]  # fmt: skip
        assert list(entry["verdicts"]) == list(VERDICTS)
        assert list(entry["claims"]) == OUTCOMES
        assert all(
            type(count) is int for count in (*entry["verdicts"].values(), *entry["claims"].values())
        )
        assert entry["state"] in {*STATES} - {"reproduced", "surrogate"}


def test_list_without_results_folder(call, clean):
    with_folder = listed(call, clean)
    shutil.rmtree(clean.folder / "results")
    assert listed(call, clean) == with_folder


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--tier", "full", {"lajewska2025/table_3_3"}),
        # A chance by simulation, and means of rounded values.
        ("--verdict", "within tolerance", {"heuss2025/text_2_7", "sakai2023/table_2"}),
        ("--verdict", "inconsistent", set()),
        ("--state", "surrogate", {"lajewska2025/table_4_8", "abolghasemi2026/figure_2_3"}),
    ],
)
def test_list_filters(call, built, option, value, expected):
    entries = listed(call, built)
    field = {"--verdict": "verdicts"}.get(option, option[2:])
    selected = [
        entry
        for entry in entries
        if (entry[field][value] if option == "--verdict" else entry[field] == value)
    ]
    assert listed(call, built, option, value) == selected
    assert {entry["id"] for entry in selected} >= expected and bool(selected) == bool(expected)


def test_list_chapter(call, tree):
    chapters = {
        artefact.id
        for artefact in all_artefacts(load_papers(tree.folder / "published"))
        if (artefact.paper, artefact.chapter) in (("lajewska2025", "5"), ("lajewska2025", "B"))
    }
    entries = listed(call, tree, "lajewska2025_ch5", "lajewska2025_chB")
    assert {entry["id"] for entry in entries} == chapters
    code, out, err = call(tree, "list", "lajewska2025_ch55")
    assert (code, out) == (2, "")
    assert "'lajewska2025_ch55' is not a paper, chapter or artefact" in err


def test_list_totals(call, built):
    listed_totals = listed(call, built, "lajewska2025_ch4", "lajewska2025_chC", "--totals")
    totals = listed_totals["totals"]
    keys = ["chapter", "tier", "state", "artefacts", "verdicts", "explained", "claims"]
    assert all(list(row) == keys for row in totals)
    groups = {(row["chapter"], row["tier"], row["state"]): row for row in totals}
    assert len(groups) == len(totals)
    assert {chapter for chapter, *_ in groups} == {"lajewska2025_ch4", "lajewska2025_chC"}
    for (chapter, tier, state), row in groups.items():
        entries = listed(call, built, chapter, "--tier", tier, "--state", state)
        assert row["artefacts"] == len(entries) > 0
        for counts in ("verdicts", "explained", "claims"):
            for name, total in row[counts].items():
                assert total == sum(entry[counts][name] for entry in entries)
    claims = {row["chapter"]: row for row in listed_totals["claims"]}
    assert claims.keys() == {"lajewska2025_ch4", "lajewska2025_chC"}
    for row in claims.values():
        decided = sum(sum(row[state].values()) for state in BASES)
        assert row["tested"] == decided
        assert row["found"] == decided + row["not_run"] + row["untestable"] > 0
    assert claims["lajewska2025_chC"]["reproduced"]["supported"] > 0
    votes = groups["lajewska2025_chC", "embedded", "reproduced"]
    assert votes["verdicts"]["equal"] == 22
    code, out, _ = call(built, "list", "lajewska2025_chC", "--totals")
    assert code == 0 and "22 equal, 24 quoted" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["list", "--state", "done"],
            "--state is 'done'; expected one of reproduced, surrogate,",
        ),
        (
            ["list", "sakai2024"],
            "'sakai2024' is not a paper, chapter or artefact; did you mean sakai2023",
        ),
        (["show", "lajewska2025/table_4_88"], "did you mean lajewska2025/table_4_8"),
        (["show", "sakai2023/table_1", "--tier", "released"], "has no tier 'released'"),
        (["show", "sakai2023/table_1", "--verdicts"], "needs the name of an artefact"),
        (["show", "all", "--verdicts", "--format", "tex"], "needs the name of an artefact"),
        (
            ["show", "sakai2023/table_1", "--tier", "full", "--verdicts", "--format", "tex"],
            "has no reproduced values",
        ),
        (["check-verdicts", "no.csv"], "EXPECTED: no.csv does not exist; give the path of a file"),
        (["verify", "elsewhere"], "The folder elsewhere does not exist; run `everycell make`, or"),
        (["verify", "published"], "published contains no receipts; run `everycell make`, or"),
    ],
)
def test_commands_wrong_argument(call, built, arguments, message):
    code, out, err = call(built, *arguments)
    assert code == 2 and out == ""
    assert message in err and err.startswith("everycell: ") and err.count("\n") == 1


def test_show_published_and_reproduced(call, built):
    code, out, _ = call(built, "show", "sakai2023/table_2")
    assert code == 0
    lines = out.splitlines()
    assert (
        lines[2] == "Embedded: reproduced"
        and "Bing" in out
        and "~\u00a0within\u00a0tolerance" in out
    )
    published = next(number for number, line in enumerate(lines) if "0.4493" in line)
    at = lines[published].index("0.4493")
    assert lines[published + 1][at:].startswith("0.4492 ~")
    headings = ["Embedded: reproduced", "Differences (embedded)", "How to reproduce"]
    assert [line for line in lines if line in headings] == headings


def test_show_tex_with_verdicts(call, built):
    code, out, _ = call(built, "show", "sakai2023/table_2", "--format", "tex", "--verdicts")
    assert code == 0 and r"\cellcolor{everycell-within-tolerance}" in out
    assert r"\end{tabular}" in out
    code, out, _ = call(built, "show", "sakai2023", "--format", "tex", "--verdicts")
    assert code == 0 and "everycellvalue:table_2/" in out


@pytest.mark.parametrize("command", ["list", "show sakai2023/table_1", "verify", "page", "summary"])
def test_commands_outside_project(call, tmp_path, command):
    code, out, err = call(Project(tmp_path), *command.split())
    assert code == 2 and out == ""
    assert "There is no folder published/ here; run everycell in the project folder." in err


@pytest.mark.parametrize(
    "name",
    ["embedded/sakai2023/table_1.verdicts.json", "embedded/errata.tex"],
)
def test_verify_changed_result(call, rebuilt, name):
    path = rebuilt.folder / "results" / name
    content = bytearray(path.read_bytes())
    # A digit in the middle, so that a file that is parsed stays readable.
    position = next(
        at for at in range(len(content) // 2, len(content)) if content[at] in b"12345678"
    )
    content[position] += 1
    path.write_bytes(content)
    code, out, _ = call(rebuilt, "verify")
    assert code == 1
    assert out.startswith(f"results/{name} ") and out.count("\n") == 1


def test_list_changed_result(call, rebuilt):
    path = rebuilt.folder / "results/embedded/sakai2023/table_1.csv"
    path.write_text(path.read_text().replace("0.", "1.", 1))
    code, out, err = call(
        rebuilt, "list", "--format", "json", "sakai2023/table_1", "--tier", "embedded"
    )
    assert code == 0 and json.loads(out)[0]["state"] == "not run"
    assert "not trusted: results/embedded/sakai2023/table_1.csv differs from its hash" in err


@pytest.mark.parametrize("content", ["", '{"cells": 1}'])
def test_list_broken_verdict_file(call, rebuilt, content):
    (rebuilt.folder / "results/embedded/sakai2023/table_1.verdicts.json").write_text(content)
    code, out, err = call(
        rebuilt, "list", "--format", "json", "sakai2023/table_1", "--tier", "embedded"
    )
    assert code == 0 and json.loads(out)[0]["state"] == "not run"
    assert "remove it and run snakemake again" in err


def test_doctor_without_a_mirror(call, tree):
    code, out, _ = call(tree, "doctor")
    assert code == 0 and "FAIL" not in out
    for word in ("Python 3.11", "Java", "cores", "GiB free", "no mirror", "cache", "network"):
        assert word in out


@pytest.mark.slow
def test_doctor_mirror(call, clean, tmp_path):
    settings = clean.folder / "config.yaml"
    settings.write_text(settings.read_text().replace("mirror: null", f"mirror: {tmp_path}"))
    code, out, _ = call(clean, "doctor")
    assert code == 0 and f"ok   mirror {tmp_path}" in out
    settings.write_text(settings.read_text().replace(str(tmp_path), f"{tmp_path}/nowhere"))
    code, out, _ = call(clean, "doctor")
    assert code == 1 and f"FAIL mirror {tmp_path}/nowhere is not a folder" in out


@pytest.mark.slow
def test_doctor_faulty_files(call, clean):
    (clean.folder / "config.yaml").write_text("seed: -1\n")
    registry = clean.folder / "published/sakai2023/registry.yaml"
    registry.write_text(re.sub(r"sha256: \w+", "sha256: zzz", registry.read_text(), count=1))
    clean.edit("Snakefile", 'include: "workflow/papers/sakai2023/ch1.smk"\n', "")
    code, out, _ = call(clean, "doctor")
    assert code == 1 and "FAIL config.yaml: `seed` is -1" in out
    faults = [line for line in out.splitlines() if "published/sakai2023/registry.yaml" in line]
    assert faults and all("sha256` is 'zzz'" in fault for fault in faults)
    assert "FAIL Snakefile: the rules of sakai2023 are not included; add the line" in out


def test_page_equals_that_of_workflow(call, built, tmp_path):
    copy = built.copy_to(tmp_path / "project")
    page = copy.folder / "results" / "index.html"
    drawn = page.read_bytes()
    page.unlink()
    code, out, err = call(copy, "page")
    assert (code, out, err) == (0, "Page: results/index.html\n", "")
    assert page.read_bytes() == drawn


def test_summary_headlines(call, built):
    code, out, _ = call(built, "summary")
    lines = out.splitlines()
    assert code == 0 and re.match(r"[\d,]+ numbers computed from", lines[0])
    assert lines[-2].startswith("All: ") and lines[-1] == "Page: results/index.html"


def test_summary_counts(call, built):
    code, out, _ = call(built, "summary", "--format", "json")
    rows = {row["paper"]: row for row in json.loads(out)["rows"]}
    papers = load_papers(built.folder / "published")
    assert code == 0 and list(rows) == list(papers)
    for key, row in rows.items():
        artefacts = papers[key].artefacts.values()
        assert row["artefacts"] == len(artefacts)
        classes = [one for artefact in artefacts for one in classify_cells(artefact)]
        assert row["cells"] == sum(one.kind not in ("check", "empty") for one in classes)
        parts = ("equal", "within tolerance", "too noisy to judge", "different", "explained")
        assert row["compared"] == sum(row[part] for part in parts)
        assert row["compared"] + row["consistent"] + row["quoted"] <= row["cells"]
    assert rows["sakai2023"]["reproduced"] == 5 and rows["sakai2023"]["compared"] > 80
    code, out, _ = call(built, "summary")
    line = next(line for line in out.splitlines() if "sakai2023" in line)
    assert code == 0 and "5 of 9" in line and " of 148 " in line


def test_show_chapter(call, built):
    code, out, _ = call(built, "show", "Chapter 1 of sakai2023", "--format", "json")
    rows = {row["artefact"]: row for row in json.loads(out)["rows"]}
    assert code == 0 and rows["sakai2023/table_1"]["embedded"] == "reproduced"
    assert rows["sakai2023/table_1"]["cells"] == "38 equal"
    assert rows["sakai2023/figure_1"]["embedded"] == "reproduced"
    assert rows["sakai2023/figure_2"]["embedded"] == "no rule yet"
    assert rows["sakai2023/text_2_1"]["released"] == "not run"
    code, out, _ = call(built, "show", "sakai2023")
    assert code == 0 and all(name in out for name in rows)


def test_show_not_run(call, tree):
    code, out, _ = call(tree, "show", "Table 1, sakai2023")
    artefact = load_papers(tree.folder / "published")["sakai2023"].artefacts["table_1"]
    assert code == 0 and all(value in out for value in artefact.cells["value"])
    assert out.splitlines()[2] == "Published values"
    code, out, _ = call(tree, "show", "sakai2023/table_1", "--tier", "embedded", "--format", "csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert [row["published"] for row in rows] == list(artefact.cells["value"])
    assert {row["verdict"] for row in rows} == {"not run"}
    code, out, _ = call(tree, "show", "lajewska2025/table_4_8", "--tier", "released")
    assert code == 0 and "released: not run" in out
    assert "everycell make results/released/lajewska2025/table_4_8.verdicts.json" in out


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("command", ["list lajewska2025", "show abolghasemi2026_ch5"])
def test_lists_whole_ids(call, tree, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = call(tree, *command.split())
    paper = load_papers(tree.folder / "published")[re.search(r"\w+20\d\d", command)[0]]
    chapter = command.partition("_ch")[2]
    words = {line.split()[0] for line in out.splitlines() if line.strip()}
    for artefact in paper.artefacts.values():
        assert artefact.id in words or artefact.chapter != (chapter or artefact.chapter)
    assert code == 0 and max(map(len, out.splitlines())) <= width


def test_show_tier_without_artefacts(call, tree):
    code, out, _ = call(tree, "show", "lajewska2025_chA", "--tier", "embedded")
    assert code == 0 and "No matches" in out


def test_list_in_subfolder(call, tree, monkeypatch):
    expected = call(tree, "list", "sakai2023")[1]
    run = call(replace(tree, folder=tree.folder / "published/sakai2023"), "list", "sakai2023")
    assert run[:2] == (0, expected) and str(tree.folder) in run[2]


def test_show_as_tex(call, built):
    code, out, _ = call(built, "show", "sakai2023/table_1", "--format", "tex")
    assert code == 0
    assert out == (built.folder / "results/embedded/sakai2023/table_1.tex").read_text()
    # On surrogate data nothing is reproduced, so the table is the published one.
    code, out, _ = call(built, "show", "lajewska2025/table_4_8", "--format", "tex")
    assert code == 0 and out.count(r"\begin{document}") == 1
    assert r"\caption{Published values: " in out and " 0.575 & -" in out


@pytest.mark.slow
def test_make_exit_status(clean):
    done = clean.everycell("make", "Table 1 of sakai2023", "--", "--cores", "1")
    assert done.returncode == 0, done.stdout
    assert (clean.folder / "results/embedded/sakai2023/table_1.verdicts.json").is_file()
    assert "sakai2023/table_1 (embedded): 38 equal." in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Next: `everycell show sakai2023/table_1`")
    wrong = clean.everycell("make", "sakai2023", "-n", "--", "--no-such-option")
    assert wrong.returncode == 2 and "no-such-option" in wrong.stdout
    none = clean.everycell("make", "sakai2023/figure_2")
    assert none.returncode == 1 and "no rule yet; needs the marks of 15 topics" in none.stdout


def test_check_verdicts(call, built, tmp_path):
    expected = tmp_path / "expected.csv"
    code, out, _ = call(built, "check-verdicts", expected, "--update")
    assert code == 0
    with expected.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["tier"] for row in rows} == {"embedded"} <= set(TIERS)
    assert out == f"Wrote {len(rows)} verdicts to {expected}.\n"
    assert call(built, "check-verdicts", expected)[0] == 0

    text = expected.read_text()
    line = next(line for line in text.splitlines() if line.endswith(",within tolerance"))
    key = line.rsplit(",", 1)[0].replace(",", " ")
    for changed, result in (
        (
            text.replace(line, line.replace(",within tolerance", ",equal")),
            "expected equal, got within tolerance",
        ),
        (text.replace(line + "\n", ""), "expected nothing, got within tolerance"),
    ):
        expected.write_text(changed)
        code, out, err = call(built, "check-verdicts", expected)
        assert code == 1 and out == f"{key}: {result}\n"
        assert "1 verdict changed; use `--update` if this is intended." in err
    expected.write_text(f"{text}released,sakai2023/table_1,x / y,equal\n")
    code, out, _ = call(built, "check-verdicts", expected)
    assert code == 1 and "x / y: expected equal, got nothing" in out
    # With --tier, results of other tiers are not compared.
    assert call(built, "check-verdicts", expected, "--tier", "embedded")[0] == 0
    expected.write_text("a,b\n")
    assert "has the columns ['a', 'b']" in call(built, "check-verdicts", expected)[2]


def test_make_unlock(clean):
    (clean.folder / ".snakemake/locks").mkdir(parents=True, exist_ok=True)
    (clean.folder / ".snakemake/locks/0.output.lock").write_text("results/a.csv\n")
    done = clean.everycell("make", "--unlock")
    assert done.returncode == 0, done.stdout
    assert not list((clean.folder / ".snakemake/locks").glob("*.lock"))
    # No summary of results, which a run ends with.
    assert done.stdout.splitlines()[-1] == "Unlocked working directory."


@pytest.mark.parametrize(
    ("command", "code"), [(("make", "-n", "sakai2023_table_1"), 2), (("doctor",), 1)]
)
def test_commands_unwritable_cache(tree, tmp_path, command, code):
    # Not even root can make a folder in a file.
    (tmp_path / "file").touch()
    home = tmp_path / "file/cache"
    done = tree.everycell(*command, env={"XDG_CACHE_HOME": str(home)})
    assert done.returncode == code, done.stdout
    assert str(home) in done.stdout and "set XDG_CACHE_HOME" in done.stdout
    assert "Traceback" not in done.stdout
