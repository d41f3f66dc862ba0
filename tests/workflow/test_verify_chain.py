"""`everycell verify` on a result that is made from intermediate files: what it must not certify."""

import json
import re
import shutil

import pytest
from command_line import call
from workflow.project import Project

from everycell.base.files import sha256
from everycell.receipts.intermediate import record_path
from everycell.receipts.provenance import read_lineage, write_jobs
from everycell.receipts.receipts import with_hashes

RUN = "work/smith2026/first.run"
RESULT = "released/smith2026/table_1"
RECEIPT = f"results/{RESULT}.receipt.json"
STEP = """

use rule step as smith2026_copy with:
    input:
        first=resource("smith2026-data/first.run"),
        second=resource("smith2026-data/second.run"),
    output:
        one="work/smith2026/first.run",
        two="work/smith2026/second.run",
    pathvars:
        job="smith2026/copy",
    params:
        **runs("smith2026/ch1:copy_runs"),
"""
FUNCTION = """
from everycell.jobs.job import Job


def copy_runs(job: Job) -> None:
    for source, output in (("first", "one"), ("second", "two")):
        with open(job.input[source]) as text, open(job.output[output], "w") as copy:
            copy.write(text.read())
"""
RULES, MODULE = "workflow/papers/smith2026/ch1.smk", "workflow/papers/smith2026/ch1.py"


@pytest.fixture(scope="module")
def chain(tmp_path_factory) -> Project:
    """Return a project whose table is made from copies of its runs; it must not be changed."""
    folder = tmp_path_factory.mktemp("chain")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert call("init", "smith2026")[0] == 0
    project = Project(folder / "smith2026")
    rules = project.folder / RULES
    for name in ("first", "second"):
        project.edit(
            RULES, f'resource("smith2026-data/{name}.run")', f'"work/smith2026/{name}.run"'
        )
    rules.write_text(rules.read_text() + STEP)
    (project.folder / MODULE).write_text(FUNCTION)
    project.build()
    return project


@pytest.fixture
def chained(chain, tmp_path) -> Project:
    """Return a copy that a test may change."""
    return chain.copy_to(tmp_path / "project")


def swap(project: Project, path: str, first: str, second: str) -> None:
    file = project.folder / path
    text = file.read_text()
    assert text.count(first) == text.count(second) == 1
    file.write_text(text.replace(first, "\0").replace(second, first).replace("\0", second))


@pytest.mark.slow
@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ("first=res", "second=res", "files.input.first"),
        ("one=", "two=", "files.output.one"),
        (
            '            "work/smith2026/first.run"',
            '            "work/smith2026/second.run"',
            "files.input.runs",
        ),
    ],
)
def test_verify_swapped_files(chained, first, second, sentence):
    """Files of a rule under each other's names: Snakemake sees the same set of files."""
    table = chained.folder / f"results/{RESULT}.csv"
    before = table.read_text()
    assert chained.everycell("verify").returncode == 0 and chained.planned() == {}
    swap(chained, RULES, first, second)
    done = chained.everycell("verify")
    assert done.returncode == 1 and f"made with {sentence}" in done.stdout, done.stdout
    chained.build()
    assert table.read_text() != before and chained.everycell("verify").returncode == 0


def edit(project: Project, path: str, old: str, new: str) -> None:
    """Edit a file, which other copies of the project may share."""
    shutil.copy2(project.folder / path, project.folder / "copy")
    (project.folder / "copy").rename(project.folder / path)
    project.edit(path, old, new)


def edit_copy(project: Project) -> None:
    """Edit an intermediate file, and remove all that its job recorded."""
    edit(project, RUN, "q1 Q0 d1", "q1 Q0 d8")
    record_path(RUN, project.folder).unlink()
    shutil.rmtree(project.folder / "logs")
    project.build()


def edit_and_remove_copy(project: Project) -> None:
    edit_copy(project)
    (project.folder / RUN).unlink()


def remove_all_records(project: Project) -> None:
    shutil.rmtree(project.folder / ".snakemake")
    (project.folder / "results/lineage.json").unlink()


def edit_lineage(project: Project, **fields: object) -> None:
    results = project.folder / "results"
    jobs = [job.model_dump(mode="json") for job in read_lineage(results)]
    [job] = [job for job in jobs if job["rule"] == "smith2026_copy"]
    job |= fields
    write_jobs(results / "lineage.json", jobs)


def edit_lineage_without_snakemake(project: Project) -> None:
    shutil.rmtree(project.folder / ".snakemake")
    edit_lineage(project, output_hashes={RUN: "0" * 64})


def edit_execution(project: Project) -> None:
    receipt = project.folder / RECEIPT
    receipt.write_text(re.sub(r'"seconds": [0-9.]+', '"seconds": 0.01', receipt.read_text()))


def edit_verdicts(project: Project, field: str, value: object) -> None:
    path = project.folder / f"results/{RESULT}.verdicts.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))


def plant(project: Project, name: str) -> None:
    path = project.folder / "results" / name
    path.parent.mkdir(exist_ok=True)
    shutil.copy(project.folder / f"results/{RESULT}.csv", path)


def touch_after_edit(project: Project, path: str, old: str, new: str) -> None:
    edit(project, path, old, new)
    assert project.snakemake("--touch", "all").returncode == 0


ATTACKS = {
    "edited": (edit_copy, RUN),
    "edited and removed": (edit_and_remove_copy, RUN),
    "no records": (remove_all_records, RUN),
    "lineage: inputs": (lambda project: edit_lineage(project, inputs=[]), "lineage.json"),
    "lineage: parameters": (lambda project: edit_lineage(project, parameters={}), "lineage.json"),
    "lineage: rule": (lambda project: edit_lineage(project, rule="other"), "lineage.json"),
    "lineage: hashes": (edit_lineage_without_snakemake, RUN),
    "execution": (edit_execution, RECEIPT),
    "notes": (lambda project: edit_verdicts(project, "notes", ["Reviewed."]), RESULT),
    "foreign": (lambda project: edit_verdicts(project, "foreign", "other data"), RESULT),
    "table": (lambda project: plant(project, f"{RESULT}.more.csv"), "table_1.more.csv belongs to"),
    "page": (lambda project: plant(project, "pages/other.html"), "pages/other.html belongs to"),
    "folder": (lambda project: plant(project, "tables/a.csv"), "tables/a.csv belongs to"),
    "touched code": (
        lambda project: touch_after_edit(project, MODULE, "text.read()", "text.read().upper()"),
        f"{RUN}: made by code that differs",
    ),
    "touched rule": (
        lambda project: touch_after_edit(project, RULES, "relevant_from=1", "relevant_from=2"),
        "relevant_from = 1, but this project gives relevant_from = 2",
    ),
    "touched data": (
        lambda project: touch_after_edit(
            project, "resources/smith2026-data/first.run", "q1 Q0 d1", "q1 Q0 d8"
        ),
        "resources/smith2026-data/first.run",
    ),
    "touched copy": (lambda project: touch_after_edit(project, RUN, "q1 Q0 d1", "q1 Q0 d8"), RUN),
}


@pytest.mark.slow
@pytest.mark.fault("receipt")
@pytest.mark.parametrize("attack", ATTACKS)
def test_verify_edited_chain(chained, attack):
    act, sentence = ATTACKS[attack]
    act(chained)
    done = chained.everycell("verify")
    assert done.returncode == 1 and sentence in done.stdout, done.stdout


def remove_work(project: Project) -> None:
    shutil.rmtree(project.folder / "work")


def remove_snakemake(project: Project) -> None:
    shutil.rmtree(project.folder / ".snakemake")


def remove_logs(project: Project) -> None:
    shutil.rmtree(project.folder / "logs")


def run_again(project: Project) -> None:
    project.edit(MODULE, "text.read()", "text.read() + ''")
    project.build(f"results/{RESULT}.csv")
    assert project.everycell("page").returncode == 0


def make(project: Project) -> None:
    shutil.rmtree(project.folder / "results")
    assert project.everycell("make", "smith2026").returncode == 0
    assert project.everycell("page").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("act", [remove_work, remove_snakemake, remove_logs, run_again, make])
def test_verify_honest_chain(chained, act):
    """Nothing is wrong with results whose intermediate files, logs or records were cleared."""
    act(chained)
    done = chained.everycell("verify")
    assert done.returncode == 0, done.stdout


def forge_copy(project: Project) -> None:
    """Edit an intermediate file and its record, and make the result from it."""
    record = record_path(RUN).as_posix()
    before = sha256(project.folder / RUN)
    edit(project, RUN, "q1 Q0 d1", "q1 Q0 d8")
    sums = (f'"sha256": "{digest}"' for digest in (before, sha256(project.folder / RUN)))
    edit(project, record, *sums)
    project.build()


def link_copy(project: Project) -> None:
    """Put a link where Snakemake's output cache could put one, and make the result from it."""
    edit(project, RUN, "q1 Q0 d1", "q1 Q0 d8")
    (project.folder / RUN).rename(project.folder / "other.run")
    (project.folder / RUN).symlink_to(project.folder / "other.run")
    record_path(RUN, project.folder).unlink()
    project.build()


@pytest.mark.slow
@pytest.mark.fault("receipt")
@pytest.mark.parametrize("act", [forge_copy, link_copy])
def test_verify_rebuild_forged_chain(chained, act):
    """What docs/security.md lists as undetectable otherwise."""
    act(chained)
    done = chained.everycell("verify")
    assert done.returncode == 0, done.stdout
    done = chained.everycell("verify", "--rebuild", RESULT)
    assert done.returncode == 1 and "First / MAP" in done.stdout, done.stdout


@pytest.mark.slow
@pytest.mark.fault("receipt")
def test_verify_rebuild_varying_forged_hash(chained):
    """A result may vary, but its receipt has the hashes of the files that are here."""
    record = chained.folder / "published/smith2026/ch1.yaml"
    declared = "state: surrogate, name: toys, varies: trained in the run, varies_by: 0.2"
    record.write_text(record.read_text().replace("state: reproduced", declared))
    assert chained.snakemake().returncode == 0
    path = chained.folder / RECEIPT
    table = path.with_name("table_1.csv")
    table.write_text(table.read_text().replace("First,MAP,0.7083333333333333", "First,MAP,0.7"))
    receipt = json.loads(path.read_text())
    for output in receipt["outputs"]:
        output["sha256"] = sha256(path.parent / output["path"])
    for kind, name in ((None, ""), ("inputs", RUN), ("outputs", "table_1.csv")):
        forged = json.loads(json.dumps(receipt))
        for file in forged[kind] if kind else ():
            if file["path"] == name:
                file["sha256"] = "0" * 64
        path.write_text(json.dumps(with_hashes(forged)))
        done = chained.everycell("verify", "--rebuild", RESULT)
        assert done.returncode == (1 if kind else 6), done.stdout
        assert name in done.stdout
