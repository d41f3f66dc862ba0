"""Differences between two results folders, and their causes in the receipts."""

import json
import shutil
from pathlib import Path

import pytest
from receipt_files import hashed, rewrite
from typer.testing import CliRunner

from everycell.base.files import write_json
from everycell.cli import app
from everycell.receipts.diff import Cause, Change, compare_folders
from everycell.receipts.receipts import ReceiptError, write_receipt

STEM = "released/toy/table_1"


def make(
    project: Path,
    cells: dict[str, str],
    *,
    seed: int | None = 7,
    parameters: dict | None = None,
    code: str = "0" * 64,
    verdict: str = "equal",
    plotted: str = "x,y\n1,2\n3,4\n",
) -> Path:
    """Write a folder with a table, a supplementary figure and verdicts; return it."""
    folder = project / "results"
    stem = folder / STEM
    stem.parent.mkdir(parents=True)
    (project / "work").mkdir()
    (project / "work" / "run").write_text("q d 1")
    table = stem.with_name("table_1.csv")
    lines = [f"{key},{value}" for key, value in cells.items()]
    table.write_text("\n".join(["system,metric,value", *lines, ""]))
    figure = stem.with_name("table_1.curve.csv")
    figure.write_text(plotted)
    write_receipt(
        stem.with_name("table_1.receipt.json"),
        artefact="toy/table_1",
        tier="released",
        inputs=hashed(project / "work" / "run"),
        outputs=[table, figure],
        parameters={"alpha": 0.05} if parameters is None else parameters,
        seed=seed,
        code=code,
        seconds=1,
        root=project,
    )
    judged = [{"key": {"system": "a", "metric": "m"}, "verdict": verdict}]
    report = {"cells": judged, "claims": [{"id": "best", "on_reproduced": "hold"}]}
    write_json(stem.with_name("table_1.verdicts.json"), report)
    return folder


CELLS = {"a,m": "0.5", "b,m": "0.25"}


@pytest.fixture
def pair(tmp_path):
    """Make two folders; the second with other settings."""

    def two_folders(cells: dict[str, str] = CELLS, **other) -> tuple[Path, Path]:
        return make(tmp_path / "a", CELLS), make(tmp_path / "b", cells, **other)

    return two_folders


def only(folders: tuple[Path, Path]):
    [result] = compare_folders(*folders)
    return result


def causes(folders: tuple[Path, Path]) -> set[tuple]:
    return {(cause.kind, cause.name, cause.old, cause.new) for cause in only(folders).causes}


def test_compare_folders_equal(pair):
    result = only(pair())
    assert result.is_same and result.name == STEM and not result.causes


def test_compare_folders_cell_and_verdict(pair):
    result = only(pair({"a,m": "0.6", "b,m": "0.25"}, seed=8, verdict="different"))
    assert result.cells == (Change(key="a / m", old="0.5", new="0.6"),)
    assert result.verdicts == (Change(key="a / m", old="equal", new="different"),)
    assert result.claims == () and result.files == ("table_1.csv",)


def test_compare_folders_cells_of_one_folder(pair):
    result = only(pair({"a,m": "0.5", "c,m": "1"}))
    assert {(cell.key, cell.old, cell.new) for cell in result.cells} == {
        ("b / m", "0.25", None),
        ("c / m", None, "1"),
    }


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"seed": 8}, ("seed", "seed", "7", "8")),
        ({"parameters": {"alpha": 0.05, "bm25": {"b": 0.4}}}, ("parameter", "bm25.b", None, "0.4")),
        (
            {"code": "1" * 64},
            ("code", "code", f"{'0' * 12} (commit unknown)", f"{'1' * 12} (commit unknown)"),
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_compare_folders_cause_in_receipts(pair, changed, expected):
    folders = pair(**changed)
    assert causes(folders) == {expected} and only(folders).is_same


RELEASED = "transparent-cis/input_data.csv"


def read_from(folder: Path, *inputs: tuple[str, str]) -> None:
    """Let a receipt name other files that were read, with their hashes."""
    rewrite(
        folder / f"{STEM}.receipt.json",
        inputs=[{"path": name, "sha256": digest * 64} for name, digest in inputs],
    )


def test_compare_folders_same_bytes_in_another_cache(pair):
    folders = pair()
    read_from(folders[0], (f"resources/{RELEASED}", "a"), ("models/tiny/weights", "b"))
    read_from(folders[1], (f"/shared/cache/{RELEASED}", "a"), ("/home/models/weights", "b"))
    assert only(folders).causes == ()


def test_compare_folders_other_bytes_in_another_cache(pair):
    folders = pair()
    read_from(folders[0], (f"resources/{RELEASED}", "a"))
    read_from(folders[1], (f"/shared/cache/{RELEASED}", "b"), ("/x", "a"), ("/y", "a"))
    assert causes(folders) == {
        ("input", RELEASED, "a" * 64, "b" * 64),
        ("input", "/x", None, "a" * 64),
        ("input", "/y", None, "a" * 64),
    }


def write_record(folder: Path, **parts: str) -> None:
    """Write into the verdict file what it has of the record."""
    path = folder / "released/toy/table_1.verdicts.json"
    report = json.loads(path.read_text())
    report["cells"][0]["published"] = parts.get("published", "0.5")
    report["errata"] = [{"id": "sum", "finding": parts.get("finding", "wrong")}]
    path.write_text(json.dumps(report))


def test_compare_folders_record(pair):
    folders = pair(verdict="different")
    write_record(folders[0])
    write_record(folders[1], published="0.6", finding="worse")
    assert causes(folders) == {
        ("record", "published a / m", "0.5", "0.6"),
        ("record", "finding of erratum sum", '"wrong"', '"worse"'),
    }
    # Verdict files do not contain tolerances.
    write_record(folders[1])
    assert only(folders).causes == (Cause(kind="record", name="record", old=None, new=None),)
    out = call(*folders)[1]
    assert "  record: the table is unchanged; its tolerance or the code that " in out
    assert "the receipts do not explain this" not in out


def test_compare_folders_versions(pair):
    folders = pair({"a,m": "1"})
    path = folders[1] / f"{STEM}.receipt.json"
    receipt = json.loads(path.read_text())
    rewrite(
        path,
        packages=receipt["packages"] | {"numpy": "9.9"},
        code=receipt["code"] | {"version": "0.0"},
    )
    assert {(kind, name, new) for kind, name, _, new in causes(folders)} == {
        ("version", "everycell", "0.0"),
        ("package", "numpy", "9.9"),
    }


def test_compare_folders_plotted_points(pair):
    result = only(pair(plotted="x,y\n1,2\n3,5\n"))
    assert result.cells == (Change(key="table_1.curve.csv: row 2 / y", old="4", new="5"),)
    assert not result.causes and not result.is_same


def test_compare_folders_rows_with_equal_keys(pair):
    first, second = pair(plotted="x,value\n1,2\n1,3\n")
    shutil.copy(second / "released/toy/table_1.curve.csv", first / "released/toy")
    (second / "released/toy/table_1.curve.csv").write_text("x,value\n1,2\n1,4\n")
    assert [cell.key for cell in only((first, second)).cells] == [
        "table_1.curve.csv: row 2 / value"
    ]


def test_compare_folders_edited_file(pair):
    folders = pair()
    table = folders[1] / f"{STEM}.csv"
    table.write_text(table.read_text().replace("0.25", "0.75"))
    result = only(folders)
    assert result.cells == (Change(key="b / m", old="0.25", new="0.75"),)
    [cause] = result.causes
    assert (cause.kind, cause.name, cause.old) == ("file", "table_1.csv", None)
    table.unlink()
    assert only(folders).causes[0].new == "missing"


def test_compare_folders_without_verdicts(pair):
    folders = pair(verdict="different")
    assert only(folders).verdicts
    (folders[1] / "released/toy/table_1.verdicts.json").unlink()
    assert only(folders).is_same


def test_compare_folders_linked_tier(pair):
    first, second = pair()
    (second / "released").rename(second.parent / "elsewhere")
    (second / "released").symlink_to(second.parent / "elsewhere")
    assert [(result.name, result.is_same) for result in compare_folders(first, second)] == [
        (STEM, True)
    ]


def test_compare_folders_result_of_one_folder(pair):
    first, second = pair()
    for path in (second / "released" / "toy").iterdir():
        path.rename(path.with_name(path.name.replace("table_1", "table_2")))
    receipt = second / "released/toy/table_2.receipt.json"
    receipt.write_text(receipt.read_text().replace("table_1", "table_2"))
    actual = {result.name: result.only_in for result in compare_folders(first, second)}
    assert actual == {STEM: "first", "released/toy/table_2": "second"}


@pytest.mark.parametrize(
    ("name", "text", "expected_message"),
    [
        ("table_1.receipt.json", "{", "is not a valid receipt"),
        ("table_1.verdicts.json", "[]", "is not a valid verdict file"),
        ("table_1.csv", 'a,"b', "cannot be read as CSV"),
    ],
)
def test_compare_folders_unreadable_file(pair, name, text, expected_message):
    folders = pair()
    (folders[1] / "released" / "toy" / name).write_text(text)
    with pytest.raises(ReceiptError, match=f"{name} {expected_message}"):
        compare_folders(*folders)


def call(*arguments) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["diff", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_diff_exit_codes(pair, tmp_path):
    first, second = pair({"a,m": "0.6", "b,m": "0.25"}, seed=8)
    assert call(first, first) == (0, "0 results differ, 1 is the same.\n", "")
    code, out, err = call(first, second)
    assert code == 1 and err == ""
    assert "a / m: 0.5 -> 0.6\n" in out and "  seed: 7 -> 8\n" in out
    for wrong in (tmp_path / "none", tmp_path):
        (tmp_path / "empty").mkdir(exist_ok=True)
        code, out, err = call(first, wrong if wrong != tmp_path else tmp_path / "empty")
        assert code == 2 and out == "" and err.startswith("everycell: ")


def test_diff_json_and_limit(pair):
    folders = pair({"a,m": "0.6", "b,m": "0.3"}, verdict="within tolerance")
    code, out, _ = call(*folders, "--format", "json")
    [message] = json.loads(out)
    assert code == 1 and message["same"] is False and message["name"] == STEM
    assert [cell["new"] for cell in message["cells"]] == ["0.6", "0.3"]
    out = call(*folders, "--cells", "1")[1]
    assert "0.6" in out and "0.3" not in out and "... and 1 more" in out
    assert "the receipts do not explain this" in out
