"""`everycell verify` on a result that is made from intermediate files: what it must not certify."""

import pytest
from command_line import call
from workflow.project import Project

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
        project.edit(RULES, f'resource("smith2026-data/{name}.run")', f'"work/smith2026/{name}.run"')
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
    ("first", "second", "named"),
    [
        ("first=res", "second=res", "files.input.first"),
        ("one=", "two=", "files.output.one"),
        ('            "work/smith2026/first.run"', '            "work/smith2026/second.run"', "files.input.runs"),
    ],
)
def test_verify_swapped_files(chained, first, second, named):
    """Files of a rule under each other's names: Snakemake sees the same set of files."""
    table = chained.folder / f"results/{RESULT}.csv"
    before = table.read_text()
    assert chained.everycell("verify").returncode == 0 and chained.planned() == {}
    swap(chained, RULES, first, second)
    done = chained.everycell("verify")
    assert done.returncode == 1 and f"made with {named}" in done.stdout, done.stdout
    chained.build()
    assert table.read_text() != before and chained.everycell("verify").returncode == 0
