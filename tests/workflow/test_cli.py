"""The command line, in a project with and without results."""

import csv
import json
import re
import shutil

import pytest
from typer.testing import CliRunner
from workflow.project import Project

from everycell.cli import app
from everycell.records.folders import TIERS
from everycell.records.papers import all_artefacts, load_papers
from everycell.verdicts.cell_classes import classify_cells
from everycell.verdicts.counting import TESTED
from everycell.verdicts.reports import STATES, VERDICTS

#: What claims are tested on, and outcomes, in `list`.
BASES = ("reproduced", "given", "other_cells", "constants", "quoted_values", "surrogate_data")
OUTCOMES = [*TESTED, "not testable", "not run"]


@pytest.fixture
def call(monkeypatch):
    """Run everycell in a project's folder; return exit code, standard output and error."""

    def run(project: Project, *arguments) -> tuple[int, str, str]:
        monkeypatch.chdir(project.folder)
        monkeypatch.delenv("EVERYCELL_MIRROR", raising=False)
        done = CliRunner().invoke(app, list(map(str, arguments)))
        # An error that no one turned into a sentence is a fault of the program.
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    return run


def listed(call, project, *arguments) -> list[dict]:
    code, out, err = call(project, "list", "--format", "json", *arguments)
    assert code == 0 and err == ""
    return json.loads(out)


def test_list_has_an_entry_for_each_tier_of_each_record(call, tree):
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


def test_every_table_and_figure_of_the_five_papers_is_listed(call, tree):
    ids = {entry["id"] for entry in listed(call, tree)}
    assert sum("/table_" in name for name in ids) == 92
    assert sum("/figure_" in name for name in ids) == 78


def test_list_works_without_a_results_folder(call, clean):
    with_folder = listed(call, clean)
    shutil.rmtree(clean.folder / "results")
    assert listed(call, clean) == with_folder


def test_list_counts_what_was_rebuilt(call, built):
    entries = {entry["id"]: entry for entry in listed(call, built, "--tier", "embedded")}
    none = dict.fromkeys(VERDICTS, 0)
    votes = entries["lajewska2025/table_C_2"]
    assert votes["kind"] == "table" and votes["state"] == "reproduced"
    # Two dashes among the effect sizes are no values.
    assert votes["verdicts"] == none | {"equal": 22, "quoted": 24}
    assert votes["claims"] == dict.fromkeys(OUTCOMES, 0) | {"supported": 4}
    assert entries["lajewska2025/table_4_8"]["state"] == "surrogate"
    assert entries["lajewska2025/table_4_8"]["verdicts"] == none


def test_list_filters(call, built):
    assert {entry["tier"] for entry in listed(call, built, "--tier", "full")} == {"full"}
    # A chance by simulation, and means of rounded values.
    assert [entry["id"] for entry in listed(call, built, "--verdict", "within tolerance")] == [
        "heuss2025/text_2_7",
        "sakai2023/table_2",
    ]
    derived = {entry["id"] for entry in listed(call, built, "--verdict", "consistent")}
    tables = (f"table_5_{number}" for number in (3, 5, 11, 12))
    assert derived == {
        *(f"abolghasemi2026/{name}" for name in (*tables, "text_5")),
        "heuss2025/text_5_5",
    }
    assert not listed(call, built, "--verdict", "inconsistent")
    surrogates = listed(call, built, "--state", "surrogate")
    assert {entry["id"] for entry in surrogates} == {
        "lajewska2025/table_4_8",
        "lajewska2025/table_7_4",
        *(f"abolghasemi2026/table_2_{number}" for number in range(1, 5)),
        "abolghasemi2026/figure_2_3",
        *(f"abolghasemi2026/table_3_{number}" for number in range(4, 8)),
        "abolghasemi2026/figure_3_4",
        "abolghasemi2026/figure_3_5",
        "abolghasemi2026/table_4_1",
        "abolghasemi2026/figure_4_2",
        *(f"abolghasemi2026/table_5_{number}" for number in (1, 2, 4, 6)),
        "abolghasemi2026/figure_5_9",
        "abolghasemi2024/table_1",
        "heuss2025/table_2_2",
        "heuss2025/table_2_3",
        "heuss2025/figure_4_4",
        "heuss2025/table_5_2",
        *(f"heuss2025/figure_5_{number}" for number in (3, 4, 6, 7)),
    }
    names = listed(call, built, "sakai2023", "lajewska2025/table_C_2")
    assert {entry["id"].split("/")[0] for entry in names} == {"sakai2023", "lajewska2025"}
    assert {entry["id"] for entry in names} > {"sakai2023/table_1", "lajewska2025/table_C_2"}


def test_list_takes_the_name_of_a_chapter(call, tree):
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


def test_totals_are_the_sums_of_the_entries(call, built):
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
        (["show", "sakai2023/table_1", "--verdicts"], "needs the name of one artefact"),
        (["show", "sakai2023", "--verdicts", "--format", "tex"], "needs the name of one"),
        (
            ["show", "sakai2023/table_1", "--tier", "full", "--verdicts", "--format", "tex"],
            "has no reproduced values",
        ),
        (["check-verdicts", "no.csv"], "EXPECTED: no.csv does not exist; give the path of a file"),
        (["verify", "elsewhere"], "The folder elsewhere does not exist; run `everycell make`, or"),
        (["verify", "published"], "published contains no receipts; run `everycell make`, or"),
    ],
)
def test_a_wrong_argument_is_one_sentence(call, built, arguments, message):
    code, out, err = call(built, *arguments)
    assert code == 2 and out == ""
    assert message in err and err.startswith("everycell: ") and err.count("\n") == 1


def test_show_puts_printed_and_rebuilt_side_by_side(call, built):
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


def test_show_draws_a_table_with_verdicts_for_a_paper(call, built):
    code, out, _ = call(built, "show", "sakai2023/table_2", "--format", "tex", "--verdicts")
    assert code == 0 and r"\cellcolor{everycell-within-tolerance}" in out
    assert r"\end{tabular}" in out


def test_show_of_what_was_not_run_says_how_to_run_it(call, tree):
    code, out, _ = call(tree, "show", "lajewska2025/table_4_8", "--tier", "released")
    assert code == 0 and "released: not run" in out
    assert "everycell make results/released/lajewska2025/table_4_8.verdicts.json" in out


@pytest.mark.parametrize("command", ["list", "show sakai2023/table_1", "verify", "page", "summary"])
def test_outside_the_project_folder(call, tmp_path, command):
    code, out, err = call(Project(tmp_path), *command.split())
    assert code == 2 and out == ""
    assert "There is no folder published/ here; run everycell in the project folder." in err


def test_verify_holds_after_a_build(call, built):
    code, out, _ = call(built, "verify")
    assert code == 0 and out == "All 53 receipts in results are valid.\n"


@pytest.mark.parametrize(
    "name",
    [
        "embedded/lajewska2025/table_C_2.csv",
        "embedded/lajewska2025/table_4_8.power.png",
        "embedded/sakai2023/table_1.verdicts.json",
        "embedded/errata.tex",
    ],
)
def test_verify_names_a_result_with_one_changed_byte(call, rebuilt, name):
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


def test_verify_names_a_changed_input(call, rebuilt):
    path = rebuilt.folder / "published/sakai2023/figure_5.csv"
    path.write_text(path.read_text() + "\n")
    code, out, _ = call(rebuilt, "verify")
    assert code == 1 and "published/sakai2023/figure_5.csv changed since" in out


def test_verify_of_a_copied_results_folder(call, built, tree, tmp_path):
    shutil.copytree(built.folder / "results", tmp_path / "copied")
    assert call(tree, "verify", tmp_path / "copied")[0] == 0


def test_a_changed_result_is_not_counted(call, rebuilt):
    path = rebuilt.folder / "results/embedded/sakai2023/table_1.csv"
    path.write_text(path.read_text().replace("0.", "1.", 1))
    code, out, err = call(
        rebuilt, "list", "--format", "json", "sakai2023/table_1", "--tier", "embedded"
    )
    assert code == 0 and json.loads(out)[0]["state"] == "not run"
    assert "not trusted: results/embedded/sakai2023/table_1.csv differs from its hash" in err


@pytest.mark.parametrize("content", ["", "[]", "{", '{"cells": 1}'])
def test_a_broken_verdict_file_is_not_trusted(call, rebuilt, content):
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
def test_doctor_names_the_mirror(call, clean, tmp_path):
    settings = clean.folder / "config.yaml"
    settings.write_text(settings.read_text().replace("mirror: null", f"mirror: {tmp_path}"))
    code, out, _ = call(clean, "doctor")
    assert code == 0 and f"ok   mirror {tmp_path}" in out
    settings.write_text(settings.read_text().replace(str(tmp_path), f"{tmp_path}/nowhere"))
    code, out, _ = call(clean, "doctor")
    assert code == 1 and f"FAIL mirror {tmp_path}/nowhere is not a folder" in out


@pytest.mark.slow
def test_doctor_names_a_faulty_config_registry_and_snakefile(call, clean):
    (clean.folder / "config.yaml").write_text("seed: -1\n")
    registry = clean.folder / "published/sakai2023/registry.yaml"
    registry.write_text(re.sub(r"sha256: \w+", "sha256: zzz", registry.read_text(), count=1))
    clean.edit("Snakefile", 'include: "workflow/papers/sakai2023/ch1.smk"\n', "")
    code, out, _ = call(clean, "doctor")
    assert code == 1 and "FAIL config.yaml: `seed` is -1" in out
    faults = [line for line in out.splitlines() if "published/sakai2023/registry.yaml" in line]
    assert faults and all("sha256` is 'zzz'" in fault for fault in faults)
    assert "FAIL Snakefile: the rules of sakai2023 are not included; add the line" in out


def test_page_draws_what_the_workflow_drew(call, built, tmp_path):
    copy = built.copy_to(tmp_path / "project")
    page = copy.folder / "results" / "index.html"
    drawn = page.read_bytes()
    page.unlink()
    code, out, err = call(copy, "page")
    assert (code, out, err) == (0, "Page: results/index.html\n", "")
    assert page.read_bytes() == drawn


def test_summary_ends_with_the_page_and_the_headline_counts(call, built):
    code, out, _ = call(built, "summary")
    lines = out.splitlines()
    page = lines.index("Page: results/index.html")
    assert code == 0 and lines[page + 1].startswith("All: ")
    assert any(re.match(r"[\d,]+ numbers computed from", line) for line in lines[page + 2 :])


def test_summary_counts_by_work_out_of_all_that_is_printed(call, built):
    code, out, _ = call(built, "summary", "--format", "json")
    rows = {row["paper"]: row for row in json.loads(out)["rows"]}
    papers = load_papers(built.folder / "published")
    assert code == 0 and list(rows) == list(papers)
    for key, row in rows.items():
        artefacts = papers[key].artefacts.values()
        assert row["artefacts"] == len(artefacts)
        classes = [one for artefact in artefacts for one in classify_cells(artefact, None)]
        assert row["cells"] == sum(one.kind not in ("check", "empty") for one in classes)
        parts = ("equal", "within tolerance", "too noisy to judge", "different", "explained")
        assert row["compared"] == sum(row[part] for part in parts)
        assert row["compared"] + row["consistent"] + row["quoted"] <= row["cells"]
    assert rows["sakai2023"]["reproduced"] == 2 and rows["sakai2023"]["compared"] > 80
    code, out, _ = call(built, "summary")
    line = next(line for line in out.splitlines() if "sakai2023" in line)
    assert code == 0 and "2 of 9" in line and " of 148 " in line


def test_show_of_a_chapter_is_a_list(call, built):
    code, out, _ = call(built, "show", "Chapter 1 of sakai2023", "--format", "json")
    rows = {row["artefact"]: row for row in json.loads(out)["rows"]}
    assert code == 0 and rows["sakai2023/table_1"]["embedded"] == "reproduced"
    assert rows["sakai2023/table_1"]["cells"] == "38 equal"
    assert rows["sakai2023/figure_1"]["embedded"] == "drawing"
    assert rows["sakai2023/figure_2"]["embedded"] == "no rule yet"
    assert rows["sakai2023/text_2_1"]["released"] == "not run"
    code, out, _ = call(built, "show", "sakai2023")
    assert code == 0 and all(name in out for name in rows)


def test_show_prints_the_cells_of_what_is_not_rebuilt(call, tree):
    code, out, _ = call(tree, "show", "Table 1, sakai2023")
    artefact = load_papers(tree.folder / "published")["sakai2023"].artefacts["table_1"]
    assert code == 0 and all(value in out for value in artefact.cells["value"])
    assert out.splitlines()[2] == "Published values"
    code, out, _ = call(tree, "show", "sakai2023/table_1", "--tier", "embedded", "--format", "csv")
    rows = list(csv.DictReader(out.splitlines()))
    assert [row["published"] for row in rows] == list(artefact.cells["value"])
    assert {row["verdict"] for row in rows} == {"not run"}


@pytest.mark.slow
def test_make_asks_snakemake_and_ends_as_it_does(clean):
    done = clean.everycell("make", "Table 1 of sakai2023", "--", "--cores", "1")
    assert done.returncode == 0, done.stdout
    assert (clean.folder / "results/embedded/sakai2023/table_1.verdicts.json").is_file()
    assert "1 of 9" in done.stdout and "38 equal" in done.stdout
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
    # What was not run here is no change, if one asks for the tier that was.
    assert call(built, "check-verdicts", expected, "--tier", "embedded")[0] == 0
    expected.write_text("a,b\n")
    assert "has the columns ['a', 'b']" in call(built, "check-verdicts", expected)[2]


def test_the_installed_command_runs(built):
    done = built.everycell("list", "sakai2023/table_1")
    assert done.returncode == 0, done.stdout
    assert "sakai2023/table_1" in done.stdout and "38 equal" in done.stdout


def test_make_frees_a_locked_folder(clean):
    (clean.folder / ".snakemake/locks").mkdir(parents=True, exist_ok=True)
    (clean.folder / ".snakemake/locks/0.output.lock").write_text("results/a.csv\n")
    done = clean.everycell("make", "--unlock")
    assert done.returncode == 0, done.stdout
    assert not list((clean.folder / ".snakemake/locks").glob("*.lock"))
    # No summary of results, which a run ends with.
    assert done.stdout.splitlines()[-1] == "Unlocked working directory."


@pytest.mark.parametrize(
    "command",
    [
        ("snakemake", "-n", "full_heuss2025_ch4"),
        ("snakemake", "-n", "full_lajewska2025_table_3_3"),
        ("everycell", "make", "-n", "results/full/heuss2025/figure_4_4.csv"),
    ],
)
def test_a_full_tier_without_settings_ends_in_one_sentence(tree, command):
    done = tree.run(*command)
    assert done.returncode == 2
    assert "everycell: config.yaml" in done.stdout and "Exception" not in done.stdout
    assert "Traceback" not in done.stdout and ".smk" not in done.stdout


@pytest.mark.parametrize(
    ("command", "code"), [(("make", "-n", "sakai2023_table_1"), 2), (("doctor",), 1)]
)
def test_an_unwritable_cache_folder_is_named(tree, tmp_path, command, code):
    # Below a file nobody can make a folder, not even root.
    (tmp_path / "file").touch()
    home = tmp_path / "file/cache"
    done = tree.everycell(*command, env={"XDG_CACHE_HOME": str(home)})
    assert done.returncode == code, done.stdout
    assert str(home) in done.stdout and "set XDG_CACHE_HOME" in done.stdout
    assert "Traceback" not in done.stdout
