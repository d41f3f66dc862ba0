"""Origins of values, from the files that the jobs behind a result read."""

from pathlib import Path

import pytest
from receipt_files import hashed
from unit.receipts.test_lineage import record
from unit.toy_papers import write_paper

from everycell.receipts.provenance import write_jobs
from everycell.receipts.receipts import ReceiptError, write_receipt
from everycell.records.papers import load_papers
from everycell.verdicts.origins import Sources, origin_of, sources_of


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """An empty project, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def result(*inputs: str, name: str = "table_1", **parameters: object) -> Path:
    """A result with a receipt that has these inputs."""
    for path in map(Path, inputs):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    folder = Path("results/released/toy")
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{name}.csv"
    table.write_text("row,value\na,1\n")
    receipt = folder / f"{name}.receipt.json"
    write_receipt(
        receipt,
        artefact=f"toy/{name}",
        tier="released",
        inputs=hashed(*map(Path, inputs)),
        outputs=[table],
        parameters=parameters,
        seed=None,
        code="0" * 64,
        seconds=1,
        root=Path(),
    )
    return receipt


def sources(receipt: Path) -> Sources:
    return sources_of(receipt, Path("results"), Path())


def test_sources_of_direct_inputs(project):
    assert sources(result()) == Sources()
    receipt = result("resources/set/a.csv", "published/toy/table_2.csv")
    assert sources(receipt) == Sources(("resources/set/a.csv",), ("published/toy/table_2.csv",))


def test_sources_of_upstream_jobs(project):
    record(project, "work/run", rule="rank", inputs=["work/models"])
    record(project, "work/models", rule="train", inputs=["resources/set/a.csv"])
    record(project, "work/seeds", rule="draw")
    # The job made the folder of the file.
    assert sources(result("work/models/weights")).data == ("resources/set/a.csv",)
    assert sources(result("work/run")).data == ("resources/set/a.csv",)
    assert sources(result("work/seeds")) == Sources()


def test_sources_of_another_result(project):
    result("published/toy/table_3.csv", name="table_2")
    assert sources(result("results/released/toy/table_2.csv")) == Sources(
        published=("published/toy/table_3.csv",)
    )
    supplement = "results/released/toy/table_2.seeds.csv"
    assert sources(result(supplement)).published == ("published/toy/table_3.csv",)


def test_sources_of_given_values(project):
    receipt = result("values/table_1.csv", given=True)
    assert sources(receipt) == Sources(given_values=("values/table_1.csv",))


def test_sources_of_a_copied_folder(project):
    receipt = result("work/run")
    jobs = [
        {"rule": "rank", "outputs": ["work/run"], "inputs": ["resources/a.csv"], "parameters": {}}
    ]
    assert sources(receipt) == Sources(unknown=("work/run",))
    write_jobs(Path("results/lineage.json"), jobs)
    assert sources(receipt) == Sources(data=("resources/a.csv",))


def test_origin_of_an_unrecorded_job(project):
    artefact = load_papers(write_paper(project / "published"))["toy"].artefacts["table_1"]
    unknown = Sources(published=("published/toy/table_1.csv",), unknown=("work/run",))
    with pytest.raises(ReceiptError, match=r"toy/table_1 .*work/run"):
        origin_of(artefact, "released", unknown)
    assert origin_of(artefact, "released", unknown._replace(data=("a.csv",))) == "data"
