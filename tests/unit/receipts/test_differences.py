"""Two results folders: what moved, and what the receipts give as the reason."""

import json
import shutil
from pathlib import Path

import pytest
from receipt_files import hashed, rewrite
from typer.testing import CliRunner

from everycell.cli import app
from everycell.receipts.causes import Cause, Change, causes_of_kind
from everycell.receipts.differences import compare_folders
from everycell.receipts.lineage import NAME, write_jobs
from everycell.receipts.receipts import ReceiptError, write_json, write_receipt

STEM = "released/toy/table_1"


def make(
    project: Path,
    cells: dict[str, str],
    *,
    seed: int | None = 7,
    parameters: dict | None = None,
    run: str = "q d 1",
    code: str = "0" * 64,
    rate: str = "0.1",
    verdict: str = "equal",
    plotted: str = "x,y\n1,2\n3,4\n",
) -> Path:
    """Write a folder with a table, a supplementary figure, verdicts and lineage; return it."""
    folder = project / "results"
    stem = folder / STEM
    stem.parent.mkdir(parents=True)
    (project / "work").mkdir()
    (project / "work" / "run").write_text(run)
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
    train = {"rule": "train", "outputs": ["work/model"], "inputs": [], "parameters": {"rate": rate}}
    rank = {"rule": "rank", "outputs": ["work/run"], "inputs": ["work/model"], "parameters": {}}
    write_jobs(folder / NAME, [train, rank])
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


def test_equal_runs_are_the_same_without_a_cause(pair):
    result = only(pair())
    assert result.is_same and result.name == STEM and not result.causes


def test_a_seed_explains_a_moved_cell_and_its_verdict(pair):
    result = only(pair({"a,m": "0.6", "b,m": "0.25"}, seed=8, verdict="different"))
    assert result.cells == (Change(key="a / m", old="0.5", new="0.6"),)
    assert result.verdicts == (Change(key="a / m", old="equal", new="different"),)
    assert result.claims == () and result.files == ("table_1.csv",)
    assert result.causes == (Cause(kind="seed", name="seed", old="7", new="8"),)


def test_cells_that_came_or_went_have_no_other_value(pair):
    result = only(pair({"a,m": "0.5", "c,m": "1"}))
    assert {(cell.key, cell.old, cell.new) for cell in result.cells} == {
        ("b / m", "0.25", None),
        ("c / m", None, "1"),
    }


def test_nested_parameters_are_named_with_dots(pair):
    result = only(pair({"a,m": "1"}, parameters={"alpha": 0.05, "bm25": {"b": 0.4}}))
    assert result.causes == (Cause(kind="parameter", name="bm25.b", old=None, new="0.4"),)


def test_settings_that_trained_a_model_explain_another_run(pair):
    result = only(pair({"a,m": "1", "b,m": "0.25"}, run="q e 1", rate="0.2"))
    kinds = {cause.kind: cause for cause in result.causes}
    assert kinds.keys() == {"input", "behind"}
    assert kinds["input"].name == "work/run"
    trained = kinds["behind"]
    assert (trained.name, trained.old, trained.new) == ("train work/model: rate", "0.1", "0.2")


def test_settings_behind_an_input_that_is_the_same_are_no_cause(pair):
    assert only(pair(rate="0.2")).causes == ()


def lineage(folder: Path, change) -> None:
    """Change the list of jobs of a folder."""
    path = folder / NAME
    write_jobs(path, change(json.loads(path.read_text())["jobs"]))


def test_a_folder_that_did_not_record_a_job_gives_no_cause_behind(pair):
    folders = pair({"a,m": "1", "b,m": "0.25"}, run="q e 1")
    for lost in (lambda jobs: jobs[1:], lambda jobs: []):
        lineage(folders[1], lost)
        for sides in (folders, folders[::-1]):
            result = only(sides)
            assert [cause.kind for cause in result.causes] == ["input"]
            assert result.unrecorded == ("work/run",) and result.unexplained == ()
    (folders[1] / NAME).unlink()
    assert only(folders).unrecorded == ("work/run",)
    sentence = f"  {NAME} in one of the folders does not record all sources of work/run\n"
    assert sentence in call(*folders)[1]


def test_a_job_of_one_folder_alone_is_named_by_what_reads_its_files(pair):
    folders = pair({"a,m": "1", "b,m": "0.25"}, run="q e 1")
    lineage(folders[1], lambda jobs: [jobs[1] | {"inputs": ["resources/model"]}])
    [_, behind] = only(folders).causes
    assert behind.name == "rank work/run: inputs"
    assert (behind.old, behind.new) == ("work/model", "resources/model")
    assert only(folders).unrecorded == ()


def unnamed(*values: str):
    """Change of the list of jobs: the first has values without names."""
    settings = {f"#{position}": value for position, value in enumerate(values, 1)}
    return lambda jobs: [jobs[0] | {"parameters": settings}, *jobs[1:]]


def test_values_that_lost_their_names_are_no_others(pair):
    folders = pair({"a,m": "1", "b,m": "0.25"}, run="q e 1")
    lineage(folders[1], unnamed("0.1"))
    for sides in (folders, folders[::-1]):
        assert [cause.kind for cause in only(sides).causes] == ["input"]
    lineage(folders[1], unnamed("0.2"))
    [_, behind] = only(folders).causes
    assert (behind.name, behind.old, behind.new) == ("train work/model: parameters", "0.1", "0.2")
    lineage(folders[0], unnamed("7", "0.1"))
    lineage(folders[1], unnamed("0.2", "7"))
    [_, behind] = only(folders).causes
    assert (behind.old, behind.new) == ("0.1", "0.2")


def test_a_file_made_otherwise_from_the_same_settings_is_explained_by_nothing(pair):
    folders = pair({"a,m": "1", "b,m": "0.25"}, run="q e 1")
    result = only(folders)
    assert [cause.kind for cause in result.causes] == ["input"]
    assert result.unexplained == ("work/run",) and result.unrecorded == ()
    assert f"  neither the receipts nor {NAME} explain work/run\n" in call(*folders)[1]


RELEASED = "transparent-cis/input_data.csv"


def trained_on(folder: Path, **hashes: str) -> None:
    """Let the first job say which bytes it read of a released file, and of others."""
    files = {path: digest * 64 for path, digest in hashes.items()}
    lineage(folder, lambda jobs: [jobs[0] | {"inputs": [*files], "hashes": files}, *jobs[1:]])


def test_other_content_of_a_released_file_behind_a_run_is_named(pair):
    folders = pair({"a,m": "1", "b,m": "0.25"}, run="q e 1")
    trained_on(folders[0], **{f"resources/{RELEASED}": "a", "published/x.csv": "c"})
    trained_on(folders[1], **{f"/shared/cache/{RELEASED}": "b", "published/x.csv": "c"})
    result = only(folders)
    [_, behind] = result.causes
    assert (behind.kind, behind.name) == ("behind", f"input {RELEASED}")
    assert (behind.old, behind.new) == ("a" * 64, "b" * 64)
    assert result.unexplained == () == result.unrecorded
    message = f"  behind input {RELEASED}: {'a' * 12} -> {'b' * 12}\n"
    assert message in call(*folders)[1]
    # A result that was made from it too has it as its own input.
    run = ("work/run", "1"), ("work/run", "2")
    read_from(folders[0], run[0], (f"resources/{RELEASED}", "a"))
    read_from(folders[1], run[1], (f"resources/{RELEASED}", "b"))
    assert [cause.kind for cause in only(folders).causes] == ["input", "input"]


def test_where_a_folder_has_no_hash_of_what_was_read_nothing_is_called_unexplained(pair):
    folders = pair({"a,m": "1", "b,m": "0.25"}, run="q e 1")
    path = f"resources/{RELEASED}"
    for folder in folders:
        lineage(folder, lambda jobs: [jobs[0] | {"inputs": [path]}, *jobs[1:]])
    assert only(folders).unexplained == ("work/run",)
    trained_on(folders[1], **{path: "b"})
    result = only(folders)
    assert [cause.kind for cause in result.causes] == ["input"]
    assert result.unexplained == () and result.unrecorded == ("work/run",)


def read_from(folder: Path, *inputs: tuple[str, str]) -> None:
    """Let a receipt name other files that were read, with their hashes."""
    rewrite(
        folder / f"{STEM}.receipt.json",
        inputs=[{"path": name, "sha256": digest * 64} for name, digest in inputs],
    )


def test_the_same_bytes_in_another_cache_are_no_cause(pair):
    folders = pair()
    read_from(folders[0], (f"resources/{RELEASED}", "a"), ("models/tiny/weights", "b"))
    read_from(folders[1], (f"/shared/cache/{RELEASED}", "a"), ("/home/models/weights", "b"))
    assert only(folders).causes == ()


def test_other_bytes_in_another_cache_are_one_cause_by_their_key(pair):
    folders = pair()
    read_from(folders[0], (f"resources/{RELEASED}", "a"))
    read_from(folders[1], (f"/shared/cache/{RELEASED}", "b"), ("/x", "a"), ("/y", "a"))
    assert {(cause.kind, cause.name, cause.old, cause.new) for cause in only(folders).causes} == {
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


def test_a_record_that_changed_alone_is_the_cause(pair):
    folders = pair(verdict="different")
    write_record(folders[0])
    write_record(folders[1], published="0.6", finding="worse")
    result = only(folders)
    assert {(cause.kind, cause.name, cause.old, cause.new) for cause in result.causes} == {
        ("record", "published a / m", "0.5", "0.6"),
        ("record", "finding of erratum sum", '"wrong"', '"worse"'),
    }
    # A tolerance stands in no verdict file: that the table is the same says it.
    write_record(folders[1])
    assert only(folders).causes == (Cause(kind="record", name="record", old=None, new=None),)
    out = call(*folders)[1]
    assert "  record: the table is unchanged; its tolerance or the code that " in out
    assert "the receipts do not explain this" not in out


def test_other_code_with_the_same_numbers_is_no_difference_but_said(pair):
    result = only(pair(code="1" * 64))
    assert result.is_same and [cause.kind for cause in result.causes] == ["code"]


def test_versions_and_packages_are_causes(pair):
    folders = pair({"a,m": "1"})
    path = folders[1] / f"{STEM}.receipt.json"
    receipt = json.loads(path.read_text())
    rewrite(
        path,
        packages=receipt["packages"] | {"numpy": "9.9"},
        code=receipt["code"] | {"version": "0.0"},
    )
    assert {(cause.kind, cause.name, cause.new) for cause in only(folders).causes} == {
        ("version", "everycell", "0.0"),
        ("package", "numpy", "9.9"),
    }


def test_what_a_figure_plots_is_compared_by_row_and_column(pair):
    result = only(pair(plotted="x,y\n1,2\n3,5\n"))
    assert result.cells == (Change(key="table_1.curve.csv: row 2 / y", old="4", new="5"),)
    assert not result.causes and not result.is_same


def test_rows_with_one_key_are_told_apart_by_number(pair):
    first, second = pair(plotted="x,value\n1,2\n1,3\n")
    shutil.copy(second / "released/toy/table_1.curve.csv", first / "released/toy")
    (second / "released/toy/table_1.curve.csv").write_text("x,value\n1,2\n1,4\n")
    assert [cell.key for cell in only((first, second)).cells] == [
        "table_1.curve.csv: row 2 / value"
    ]


def test_a_file_that_was_edited_by_hand_is_named_as_the_cause(pair):
    folders = pair()
    table = folders[1] / f"{STEM}.csv"
    table.write_text(table.read_text().replace("0.25", "0.75"))
    result = only(folders)
    assert result.cells == (Change(key="b / m", old="0.25", new="0.75"),)
    [cause] = result.causes
    assert (cause.kind, cause.name, cause.old) == ("file", "table_1.csv", None)
    table.unlink()
    assert only(folders).causes[0].new == "missing"


def test_a_folder_without_verdicts_has_no_other_ones(pair):
    folders = pair(verdict="different")
    assert only(folders).verdicts
    (folders[1] / "released/toy/table_1.verdicts.json").unlink()
    assert only(folders).is_same


def test_a_tier_that_is_a_link_is_compared(pair):
    first, second = pair()
    (second / "released").rename(second.parent / "elsewhere")
    (second / "released").symlink_to(second.parent / "elsewhere")
    assert [(result.name, result.is_same) for result in compare_folders(first, second)] == [
        (STEM, True)
    ]


def test_a_result_of_one_folder_alone(pair):
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
def test_what_cannot_be_read_is_named(pair, name, text, expected_message):
    folders = pair()
    (folders[1] / "released" / "toy" / name).write_text(text)
    with pytest.raises(ReceiptError, match=f"{name} {expected_message}"):
        compare_folders(*folders)


def call(*arguments) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["diff", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def test_exit_codes_are_those_of_diff(pair, tmp_path):
    first, second = pair({"a,m": "0.6", "b,m": "0.25"}, seed=8)
    assert call(first, first) == (0, "0 results differ, 1 is the same.\n", "")
    code, out, err = call(first, second)
    assert code == 1 and err == ""
    assert "a / m: 0.5 -> 0.6\n" in out and "  seed: 7 -> 8\n" in out
    for wrong in (tmp_path / "none", tmp_path):
        (tmp_path / "empty").mkdir(exist_ok=True)
        code, out, err = call(first, wrong if wrong != tmp_path else tmp_path / "empty")
        assert code == 2 and out == "" and err.startswith("everycell: ")


def test_as_json_and_cut_to_a_number_of_cells(pair):
    folders = pair({"a,m": "0.6", "b,m": "0.3"}, verdict="within tolerance")
    code, out, _ = call(*folders, "--format", "json")
    [message] = json.loads(out)
    assert code == 1 and message["same"] is False and message["name"] == STEM
    assert [cell["new"] for cell in message["cells"]] == ["0.6", "0.3"]
    out = call(*folders, "--cells", "1")[1]
    assert "0.6" in out and "0.3" not in out and "... and 1 more" in out
    assert "the receipts do not explain this" in out


def test_causes_of_kind_changed_value():
    assert list(causes_of_kind("seed", {"seed": "1"}, {"seed": "2"})) == [
        Cause(kind="seed", name="seed", old="1", new="2")
    ]
