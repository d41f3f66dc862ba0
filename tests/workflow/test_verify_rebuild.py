"""`everycell verify --rebuild`: a result made again tells what no receipt can."""

import json

import pytest
from receipt_files import rewrite

from everycell.base.files import sha256

NAME = "embedded/sakai2023/table_2"


@pytest.mark.fault("receipt")
def test_verify_truncated_or_old_page(rebuilt):
    page = rebuilt.folder / "results/index.html"
    full = page.read_text()
    message = "does not match these results"
    for left in ("", full[: len(full) // 2]):
        page.write_text(left)
        checked = rebuilt.everycell("verify")
        assert checked.returncode == 1
        assert (
            "results/index.html is empty or truncated; redraw it with `everycell page`"
            in checked.stdout
        )
    page.write_text(full.replace("everycell", "everysell", 1))
    checked = rebuilt.everycell("verify")
    assert checked.returncode == 1 and message in checked.stdout
    assert rebuilt.everycell("page").returncode == 0
    assert page.read_text() == full


@pytest.fixture
def with_result(clean):
    """A project with one result."""
    clean.build(f"results/{NAME}.verdicts.json")
    return clean


@pytest.mark.slow
def test_verify_rebuild_same_bytes(with_result):
    done = with_result.everycell("verify", "--rebuild", NAME)
    assert done.returncode == 0
    assert f"{NAME}: 4 files and receipt, identical." in done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.fault("receipt")
def test_verify_rebuild_forged_receipt(with_result):
    table = with_result.folder / f"results/{NAME}.csv"
    table.write_text(
        table.read_text().replace("Bing,S1,ORIGIN (JSD),0.43", "Bing,S1,ORIGIN (JSD),0.44")
    )
    edited = f"{table.name} differs from its hash"
    assert edited in with_result.everycell("verify").stdout
    receipt = table.with_suffix(".receipt.json")
    outputs = json.loads(receipt.read_text())["outputs"]
    for output in outputs:
        output["sha256"] = sha256(table.parent / output["path"])
    rewrite(receipt, outputs=outputs)
    assert edited not in with_result.everycell("verify").stdout
    done = with_result.everycell("verify", "--rebuild", "sakai2023/table_2", "--into", "again")
    assert done.returncode == 1
    assert "Bing / S1 / ORIGIN (JSD): 0.44" in done.stdout
    assert "The new results are in again." in done.stdout
    assert (with_result.folder / f"again/results/{NAME}.csv").exists()


@pytest.mark.slow
@pytest.mark.fault("receipt")
def test_verify_rebuild_exit_codes(with_result):
    def code(*options: str) -> int:
        done = with_result.everycell("verify", "--rebuild", NAME)
        assert all(one in done.stdout for one in options), done.stdout
        assert "Traceback" not in done.stdout
        return done.returncode

    source = with_result.folder / "published/sakai2023/targets.csv"
    remaining = source.read_text()
    source.write_text(remaining + "\n")
    assert code("targets.csv is not the file that") == 3
    source.unlink()
    assert code("targets.csv is missing, but ") == 3
    source.write_text(remaining)
    with_result.edit("config.yaml", "seed: ", "sead: ")
    assert code("Snakemake failed with exit code 1") == 5
    with_result.edit("config.yaml", "sead: ", "seed: ")
    script = with_result.folder / "workflow/papers/sakai2023/ch1.py"
    script.write_text(script.read_text() + "\n# changed\n")
    assert code("was made by a different version of the code") == 4
    assert with_result.everycell("verify", "--rebuild", "nobody/table_1").returncode == 2
    assert with_result.everycell("verify", "--rebuild", NAME, "--into", "src").returncode == 2
