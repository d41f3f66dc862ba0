"""Receipts: what `verify` finds, and what two equal runs have in common."""

import ast
import json
import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace

import pytest
from receipt_files import hashed, in_all_forms, rewrite
from typer.testing import CliRunner

import everycell
from everycell.base.files import sha256, write_json
from everycell.cli import app
from everycell.cli.rebuild_check import RebuildError, find_receipts, name_of
from everycell.receipts.code import NOT_CODE, code_sha256, imported_files
from everycell.receipts.receipts import (
    PACKAGES,
    TABLE_FORMS,
    ReceiptError,
    _gpus,
    absent_inputs,
    input_path,
    is_released,
    read_receipt,
    receipts_in,
    verify,
    with_hashes,
    write_receipt,
)
from everycell.records.registry import load_registry


def make(project: Path, *, seconds: float = 1.0) -> Path:
    """Write a result with its receipt into a project folder; return the receipt."""
    source = project / "published" / "cells.csv"
    folder = project / "results" / "embedded" / "toy"
    source.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    source.write_text("a,value\n1,2\n")
    table = folder / "table_1.csv"
    table.write_text("a,value\n1,2\n")
    product = in_all_forms(table)
    receipt = folder / "table_1.receipt.json"
    write_receipt(
        receipt,
        artefact="toy/table_1",
        tier="embedded",
        inputs=hashed(source),
        outputs=product,
        parameters={"alpha": 0.05},
        seed=7,
        code="0" * 64,
        seconds=seconds,
        root=project,
    )
    return receipt


def test_verify_untouched_result(tmp_path):
    assert verify(make(tmp_path), tmp_path) == []


def test_write_receipt_relative_paths(tmp_path):
    receipt = read_receipt(make(tmp_path))
    assert [file["path"] for file in receipt["inputs"]] == ["published/cells.csv"]
    assert [file["path"] for file in receipt["outputs"]] == [
        f"table_1.{form}" for form in sorted(TABLE_FORMS)
    ]
    assert str(tmp_path) not in json.dumps(receipt)


def test_write_receipt_linked_cache(tmp_path):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    elsewhere.mkdir()
    project.mkdir()
    (project / "published").symlink_to(elsewhere)
    assert read_receipt(make(project))["inputs"][0]["path"] == "published/cells.csv"


def test_write_receipt_equal_runs(tmp_path):
    first = read_receipt(make(tmp_path / "first", seconds=1.0))
    second = read_receipt(make(tmp_path / "second", seconds=2.0))
    assert first.pop("execution") != second.pop("execution")
    assert first == second


def test_write_receipt_processor(tmp_path):
    # The page on determinism sends a reader to it.
    assert platform.machine() in read_receipt(make(tmp_path))["execution"]["processor"]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({}, []),
        ({"0000:01:00.0": "Model: \t\t NVIDIA H200\nIRQ:\t\t 154\n"}, ["NVIDIA H200"]),
        ({"1": "Model:  A\n", "0": "IRQ: 1\nModel:\tB C \n"}, ["B C", "A"]),
        ({"0": ""}, []),
    ],
)
def test_gpus_of_the_driver(tmp_path, monkeypatch, files, names):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    for folder, text in files.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "information").write_text(text)
    assert _gpus(tmp_path) == names


@pytest.mark.parametrize(("is_available", "names"), [(True, ["gpu 0", "gpu 1"]), (False, [])])
def test_gpus_of_torch(tmp_path, monkeypatch, is_available, names):
    """Of an imported torch, since a job may see fewer GPUs than the driver."""
    cuda = SimpleNamespace(
        is_available=lambda: is_available,
        device_count=lambda: 2,
        get_device_name=lambda index: f"gpu {index}",
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert _gpus(tmp_path) == names


@pytest.mark.fault("receipt")
def test_verify_changed_output(tmp_path):
    receipt = make(tmp_path)
    product = receipt.with_name("table_1.tex")
    content = bytearray(product.read_bytes())
    content[3] ^= 1
    product.write_bytes(content)
    [fault] = verify(receipt, tmp_path)
    assert fault.startswith(f"{product} differs from its hash")


@pytest.mark.fault("receipt")
def test_verify_missing_output(tmp_path):
    receipt = make(tmp_path)
    receipt.with_name("table_1.csv").unlink()
    [fault] = verify(receipt, tmp_path)
    assert fault.startswith(f"{receipt.with_name('table_1.csv')} is missing")


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    "put", [lambda path: path.write_text("a,value\n1,3\n"), Path.mkdir, os.mkfifo]
)
def test_verify_changed_input(tmp_path, put):
    receipt = make(tmp_path)
    (tmp_path / "published" / "cells.csv").unlink()
    put(tmp_path / "published" / "cells.csv")
    [fault] = verify(receipt, tmp_path)
    assert fault.startswith(f"{tmp_path / 'published' / 'cells.csv'} changed since")
    # Snakemake looks at time stamps too: with an old one it has nothing to do.
    assert f"remove {receipt.with_name('table_1')}.*" in fault


def test_verify_absent_input(tmp_path):
    receipt = make(tmp_path)
    (tmp_path / "published" / "cells.csv").unlink()
    assert verify(receipt, tmp_path) == []


def test_verify_moved_folder(tmp_path):
    receipt = make(tmp_path / "project")
    moved = tmp_path / "elsewhere"
    shutil.move(receipt.parents[2], moved)
    assert verify(moved / "embedded/toy" / receipt.name, tmp_path / "project") == []


def test_verify_on_another_machine(tmp_path, monkeypatch):
    # A clone of the project, with records and without other sources of the result.
    product = make(tmp_path / "here").parent
    copy_folder = tmp_path / "there" / "a copy"
    shutil.copytree(product, copy_folder / "embedded" / "toy")
    monkeypatch.chdir(ROOT)

    def call() -> tuple[int, str]:
        done = CliRunner().invoke(app, ["verify", str(copy_folder)])
        return done.exit_code, done.stdout

    assert absent_inputs(copy_folder / "embedded/toy/table_1.receipt.json", ROOT) == [
        "published/cells.csv"
    ]
    assert call() == (
        0,
        f"The receipt in {copy_folder} is valid.\n"
        "results/embedded/toy/table_1.receipt.json: this project does not give the parameters "
        "(no rule of this project makes it).\n"
        "1 result came from code that differs from the code of this project; see "
        "embedded/toy/table_1.receipt.json.\n"
        "1 input file cannot be checked here, such as published/cells.csv.\n",
    )
    # As an editor, or a transfer that takes tables for text, changes them.
    table = copy_folder / "embedded" / "toy" / "table_1.csv"
    table.write_bytes(table.read_bytes().replace(b"\n", b"\r\n"))
    code, report = call()
    assert code == 1 and report.startswith(f"{table} differs from its hash")


@pytest.fixture
def run_otherwise(tmp_path) -> tuple[Path, Path]:
    """A results folder copied to a project whose own run gave other files; both paths."""
    folders = []
    for name in ("copied", "own"):
        project = tmp_path / name
        (project / "published").mkdir(parents=True)
        (project / "published" / "cells.csv").write_text("the same\n")
        (project / "work").mkdir()
        (project / "work" / "run").write_text(f"run of {name}\n")
        folder = project / "results" / "embedded" / "toy"
        folder.mkdir(parents=True)
        for product, sources in (
            ("table_1", ["work/run", "published/cells.csv"]),
            ("table_2", ["results/embedded/toy/table_1.csv"]),
        ):
            table = folder / f"{product}.csv"
            table.write_text(f"row,value\n{product},{name}\n")
            write_receipt(
                folder / f"{product}.receipt.json",
                artefact=f"toy/{product}",
                tier="embedded",
                inputs=hashed(*(project / source for source in sources)),
                outputs=in_all_forms(table),
                parameters={},
                seed=None,
                code="",
                seconds=1,
                root=project,
            )
        folders.append(project)
    return folders[0] / "results", folders[1]


def test_verify_copied_folder(run_otherwise, monkeypatch):
    copied, project = run_otherwise
    for name in ("table_1", "table_2"):
        receipt = copied / "embedded/toy" / f"{name}.receipt.json"
        assert verify(receipt, project, copied) == []
    assert absent_inputs(copied / "embedded/toy/table_1.receipt.json", project, copied) == [
        "work/run"
    ]
    # The command, whose records are those of the repository.
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("everycell.cli.project.ROOT", project)
    done = CliRunner().invoke(app, ["verify", str(copied)])
    assert done.exit_code == 0 and done.stdout.startswith(
        f"All 2 receipts in {copied} are valid.\n"
    )
    # As a record that says something else here: an input of both, whoever ran it.
    (project / "published" / "cells.csv").write_text("another\n")
    [fault] = verify(copied / "embedded/toy/table_1.receipt.json", project, copied)
    assert fault.startswith(f"{project}/published/cells.csv is not the file that")


def test_verify_copied_folder_input_is_a_result(run_otherwise):
    copied, project = run_otherwise
    (copied / "embedded/toy/table_1.csv").write_text("row,value\n")
    [fault] = verify(copied / "embedded/toy/table_2.receipt.json", project, copied)
    assert fault.startswith(f"{copied}/embedded/toy/table_1.csv is not the file that")


def test_verify_copied_folder_other_accepted_content(run_otherwise):
    copied, project = run_otherwise
    key = "transparent-cis/pilot/qs3.csv"
    contents = load_registry().entry(key).contents
    assert len(contents) == 2
    local_file = project / "resources" / key
    local_file.parent.mkdir(parents=True)
    local_file.write_text("neither of both\n")
    receipt = copied / "embedded/toy/table_1.receipt.json"
    for path in (f"resources/{key}", f"/cache of another machine/{key}"):
        for digest in contents:
            source = {"path": path, "sha256": digest}
            rewrite(receipt, inputs=[source])
            assert verify(receipt, project, copied) == []
            assert absent_inputs(receipt, project, copied) == []
    # In the folder of the project's own run, the file must be the current one.
    source = {"path": f"resources/{key}", "sha256": contents[0]}
    own = project / "results/embedded/toy/table_1.receipt.json"
    for path in (receipt, own):
        rewrite(path, inputs=[source])
    assert verify(receipt, project, copied) == []
    [fault] = verify(own, project)
    assert fault.startswith(f"{local_file} changed since")
    rewrite(receipt, inputs=[source | {"sha256": "0" * 64}])
    unknown, other = verify(receipt, project, copied)
    assert "which does not match the registry" in unknown
    assert other.startswith(f"{local_file} is not the file that")


def test_verify_own_folder_under_another_name(run_otherwise, tmp_path):
    project = run_otherwise[1]
    (project / "work" / "run").write_text("made again\n")
    (tmp_path / "link").symlink_to(project / "results")
    for results in (None, project / "results", tmp_path / "link"):
        [fault] = verify(project / "results/embedded/toy/table_1.receipt.json", project, results)
        assert fault.startswith(f"{project}/work/run changed since")


def test_verify_several_faults(tmp_path):
    receipt = make(tmp_path)
    receipt.with_name("table_1.csv").unlink()
    receipt.with_name("table_1.tex").write_text("")
    (tmp_path / "published" / "cells.csv").write_text("")
    assert len(verify(receipt, tmp_path)) == 3


def test_verify_another_version(tmp_path, monkeypatch):
    receipt = make(tmp_path)
    monkeypatch.setattr(everycell, "__version__", "99.0")
    [fault] = verify(receipt, tmp_path)
    assert fault.startswith(f"{receipt} was made by everycell ")
    assert "this is version 99.0" in fault


BROKEN = {
    "empty": ("", "Expecting value"),
    "half written": ('{"artefact": "toy/table_1", ', "Expecting property name"),
    "no object": ("[]", "is []"),
    "a field lacks": ("{}", "`artefact` is missing"),
    "another form": (
        '{"artefact": "a", "tier": "embedded", "inputs": [], "outputs": ["a.csv"], "code": {}}',
        "`outputs.0` is 'a.csv'",
    ),
    "no outputs": (
        '{"artefact": "a", "tier": "embedded", "inputs": [], "outputs": [], "code": {}}',
        "`outputs` is []",
    ),
}


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../../../published/cells.csv", "a/../../x", "a\\b", "", ".hidden", "a\nb"],
)
def test_read_receipt_output_outside_the_folder(tmp_path, path):
    receipt = make(tmp_path)
    content = json.loads(receipt.read_text())
    content["outputs"][0]["path"] = path
    receipt.write_text(json.dumps(content))
    [fault] = verify(receipt, tmp_path)
    assert "is not a valid receipt (`outputs.0.path` is" in fault


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    "execution",
    [
        None,
        {},
        {"seconds": "soon"},
        {"seconds": [1]},
        {"seconds": "nan"},
        {"seconds": "inf"},
        {"seconds": -1},
        {"seconds": 1, "finished": "yesterday"},
        {"seconds": 1, "finished": "2026-02-30T00:00:00+00:00"},
        {"seconds": 1, "finished": "2026-02-03"},
        {"seconds": 1, "finished": "2026-02-03\x1b00:00:00+00:00"},
        {"seconds": 1, "finished": "<b>2026-02-03T00:00:00+00:00"},
        {"seconds": 1, "finished": 5},
    ],
)
def test_read_receipt_invalid_execution(tmp_path, execution):
    receipt = make(tmp_path)
    content = json.loads(receipt.read_text()) | {"execution": execution}
    receipt.write_text(json.dumps(content))
    [fault] = verify(receipt, tmp_path)
    assert "is not a valid receipt (`execution" in fault


@pytest.mark.fault("receipt")
@pytest.mark.parametrize("kind", BROKEN)
def test_verify_broken_receipt(tmp_path, kind):
    text, why = BROKEN[kind]
    receipt = make(tmp_path)
    receipt.write_text(text)
    [fault] = verify(receipt, tmp_path)
    assert fault.startswith(f"{receipt} is not a valid receipt (") and why in fault
    with pytest.raises(ReceiptError):
        read_receipt(receipt)


@pytest.mark.fault("receipt")
def test_verify_missing_receipt(tmp_path):
    [fault] = verify(tmp_path / "table_1.receipt.json", tmp_path)
    assert "cannot be read (No such file" in fault


@pytest.mark.fault("full_disk")
def test_write_json_failure(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


ROOT = Path(__file__).resolve().parents[3]
#: Read by type checkers, never by a run.
NEVER_RUN = {"py.typed"}


def test_imported_files_data_files_of_the_library():
    roots = [ROOT / "src", ROOT / "workflow" / "scripts", ROOT / "workflow"]
    library = Path(everycell.__file__).parent
    scripts = [*roots[2].rglob("*.py"), *(library / "workflow" / "scripts").rglob("*.py")]
    covered = {file for script in scripts for file in imported_files(script, roots)}
    data = {
        path
        for path in library.rglob("*")
        if path.is_file()
        and path.suffix != ".py"
        and "__pycache__" not in path.parts
        # Rules and templates of new repositories are read by Snakemake and the command line.
        and not path.is_relative_to(library / "workflow")
    }
    assert {path.name for path in data} >= NEVER_RUN | NOT_CODE | {"gender_pairs.yaml"}
    assert {path.name for path in data - covered} == NEVER_RUN | NOT_CODE


def test_code_sha256_changed_data_file(tmp_path):
    (tmp_path / "reads.py").write_text('WORDS = "words.yaml"')
    (tmp_path / "other.py").write_text("x = 1")
    words = tmp_path / "words.yaml"
    words.write_text("he: she")

    def codes() -> dict[str, str]:
        files = {
            name: imported_files(tmp_path / name, [tmp_path]) for name in ("reads.py", "other.py")
        }
        return {name: code_sha256(paths, tmp_path) for name, paths in files.items()}

    before = codes()
    words.write_text("she: he")
    after = codes()
    assert after["reads.py"] != before["reads.py"] and after["other.py"] == before["other.py"]


#: Imported by the library, and no number depends on them: they fetch, check, ask, print and pack.
NO_NUMBERS = {
    "filelock",
    "httpx2",
    "huggingface-hub",
    "ir-datasets",
    "markdown-it-py",
    "packaging",
    "pooch",
    "psutil",
    "pydantic",
    "pydantic-core",
    "pyterrier",
    "pyyaml",
    "requests",
    "rich",
    "rocrate",
    "tabulate",
    "tenacity",
    "typer",
    "urllib3",
}
#: Not in the environment of the tests: imported where somebody installed it.
OPTIONAL = {"faiss": "faiss-cpu", "pyterrier": "pyterrier"}


def test_packages_of_receipts_are_complete():
    imported = set()
    for path in Path(everycell.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    foreign = (
        imported
        - sys.stdlib_module_names
        - {"everycell", "snakemake_logger_plugin_everycell", "_typeshed"}
    )
    installed = packages_distributions()
    packages = set()
    for name in foreign:
        distributions = [OPTIONAL[name]] if name in OPTIONAL else installed[name]
        packages |= {package.lower().replace("_", "-") for package in distributions}
    assert packages - set(PACKAGES) == NO_NUMBERS


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    "target", ["released/toy/table_1", "embedded/other/table_1", "embedded/toy/table_2"]
)
def test_verify_receipt_of_another_result(tmp_path, target):
    """As a surrogate result that is copied to the tier of the released data."""
    receipt = make(tmp_path)
    stem = tmp_path / "results" / target
    stem.parent.mkdir(parents=True, exist_ok=True)
    for path in receipt.parent.glob("table_1.*"):
        shutil.copy(path, stem.parent / path.name.replace("table_1", stem.name))
    copied = stem.with_name(f"{stem.name}.receipt.json")
    faults = verify(copied, tmp_path)
    assert faults[0].startswith(
        f"{copied} is the receipt of toy/table_1 in the tier embedded, not of "
    )


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    "edit",
    [
        {"tier": "released"},
        {"artefact": "toy/table_2"},
        {"seed": 8},
        {"parameters": {"alpha": 0.1}},
        {"inputs": []},
        {"added": True},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_read_receipt_edited(tmp_path, edit):
    receipt = make(tmp_path)
    receipt.write_text(json.dumps(json.loads(receipt.read_text()) | edit))
    [fault] = verify(receipt, tmp_path)
    assert fault.startswith(f"{receipt} was edited after it was written")
    with pytest.raises(ReceiptError, match="was edited"):
        read_receipt(receipt)


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    ("field", "forged"),
    [
        ('"seed": 7', '"seed": 8, "seed": 7'),
        ('"alpha": 0.05', '"alpha": 0.1, "alpha": 0.05'),
        ('"execution": {', '"execution": {"max_rss_mib": 1}, "execution": {'),
        ('"seconds": 1.0', '"seconds": NaN'),
        ('"seconds": 1.0', '"seconds": 1.0, "more": Infinity'),
        ('"seconds": 1.0', '"seconds": 1e999'),
    ],
)
def test_read_receipt_invalid_json(tmp_path, field, forged):
    receipt = make(tmp_path)
    text = receipt.read_text()
    assert field in text
    receipt.write_text(text.replace(field, forged))
    [fault] = verify(receipt, tmp_path)
    assert fault.startswith(f"{receipt} is not a valid receipt (")
    with pytest.raises(ReceiptError):
        read_receipt(receipt)


@pytest.mark.fault("receipt")
@pytest.mark.parametrize(
    ("field", "forged"),
    [
        ("parameters", None),
        ("parameters", [1]),
        ("seed", "7"),
        ("seed", {}),
        ("packages", [1]),
        ("packages.numpy", {"a": 1}),
        ("execution.host", {"a": 1}),
        ("code.sha256", None),
        ("code.sha256", ["0"]),
        ("code.version", 1),
        ("code.script", ["a"]),
        ("code.commit", ["a"]),
        ("code.commit", "HEAD"),
        ("code.commit", "main"),
        ("code.commit", f"{'0' * 40}\n"),
        ("inputs", [{"path": "a\0", "sha256": "0"}]),
        ("inputs", [{"path": "", "sha256": "0"}]),
        ("inputs", [{"path": "a" * 256, "sha256": "0"}]),
        ("inputs", [{"path": "a/" * 3000 + "a", "sha256": "0"}]),
        ("uncovered_code", {"src/a\0": "0"}),
    ],
)
def test_read_receipt_forged_type(tmp_path, field, forged):
    """The forger has computed the hashes again."""
    receipt = make(tmp_path)
    content = json.loads(receipt.read_text())
    *parents, name = field.split(".")
    part = content
    for parent in parents:
        part = part[parent]
    part[name] = forged
    receipt.write_text(json.dumps(with_hashes(content)))
    [fault] = verify(receipt, tmp_path)
    assert f"is not a valid receipt (`{field}" in fault


@pytest.mark.parametrize("form", ["md", "tex", "html"])
def test_verify_unlisted_format(tmp_path, form):
    receipt = make(tmp_path)
    outputs = json.loads(receipt.read_text())["outputs"]
    rewrite(receipt, outputs=[output for output in outputs if not output["path"].endswith(form)])
    [fault] = verify(receipt, tmp_path)
    assert f"{receipt} does not list table_1.{form}; remove " in fault


def test_verify_unlisted_table(tmp_path):
    receipt = make(tmp_path)
    outputs = json.loads(receipt.read_text())["outputs"]
    rewrite(receipt, outputs=[output for output in outputs if output["path"] != "table_1.csv"])
    [fault] = verify(receipt, tmp_path)
    assert "does not list table_1.csv, its own table" in fault


def test_verify_plotted_points(tmp_path):
    receipt = make(tmp_path)
    points = receipt.with_name("table_1.points.csv")
    points.write_text("x,y\n1,2\n")
    outputs = json.loads(receipt.read_text())["outputs"]
    listed = {"path": points.name, "sha256": sha256(points)}
    rewrite(receipt, outputs=[*outputs, listed])
    assert not verify(receipt, tmp_path)


@pytest.mark.fault("receipt")
def test_verify_unknown_hash_of_released_file(tmp_path):
    receipt = make(tmp_path)
    key = "transparent-cis/pilot/qs3.csv"
    rewrite(receipt, inputs=[{"path": f"resources/{key}", "sha256": "0" * 64}])
    [fault] = verify(receipt, tmp_path)
    assert "which does not match the registry" in fault


def test_receipts_in_linked_tier(tmp_path, monkeypatch):
    receipt = make(tmp_path / "project")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "embedded").symlink_to(receipt.parents[1])
    linked = tmp_path / "results" / "embedded" / "toy" / receipt.name
    assert receipts_in(tmp_path / "results") == [linked]
    receipt.with_name("table_1.csv").write_text("edited")
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "results")])
    assert done.exit_code == 1 and "differs from its hash" in done.stdout


@pytest.mark.parametrize(
    "reader", ["receipts.receipts.read_receipt", "verdicts.reports.read_report"]
)
def test_readers_of_json_refuse_pipes(tmp_path, reader):
    pipe = tmp_path / "table_1.json"
    os.mkfifo(pipe)
    module, function = reader.rsplit(".", 1)
    program = f"import pathlib, everycell.{module} as m; m.{function}(pathlib.Path({str(pipe)!r}))"
    # In a process of its own, so that a wait would end.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120)
    assert done.returncode == 1
    assert b"it is not a regular file" in done.stderr


@pytest.mark.fault("receipt")
def test_read_receipt_perturbed_data(tmp_path):
    receipt = make(tmp_path)
    content = json.loads(receipt.read_text())
    assert "perturbed" not in content and read_receipt(receipt)
    rewrite(receipt, perturbed=["resources/set/ratings.csv"])
    with pytest.raises(ReceiptError, match=r"table_1\.receipt\.json.*perturbed.*ratings\.csv"):
        read_receipt(receipt)
    [fault] = verify(receipt, tmp_path)
    assert "perturbed" in fault


def test_write_receipt_perturbed_inputs(tmp_path):
    make(tmp_path)
    path = tmp_path / "results/embedded/toy/table_1.receipt.json"
    write_receipt(
        path,
        artefact="toy/table_1",
        tier="embedded",
        inputs={},
        outputs=[path.with_name("table_1.csv")],
        parameters={},
        seed=None,
        code="0" * 64,
        seconds=1.0,
        root=tmp_path,
        perturbed=["a.csv"],
    )
    assert json.loads(path.read_text())["perturbed"] == ["a.csv"]
    with pytest.raises(ReceiptError, match="perturbed"):
        read_receipt(path)


def test_input_path_in_and_outside_the_project():
    assert input_path(Path("/a/b/c"), Path("/a")) == "b/c"
    assert input_path(Path("/d"), Path("/a")) == "/d"


def test_find_receipts_missing_result(tmp_path):
    with pytest.raises(RebuildError, match="'sakai2023/table_1'"):
        find_receipts(["sakai2023/table_1"], tmp_path)


def test_name_of_receipt():
    assert name_of(Path("r/full/toy/table_1.receipt.json"), Path("r")) == "full/toy/table_1"


def test_is_released_in_any_cache():
    key = "transparent-cis/pilot/qs3.csv"
    assert is_released(f"resources/{key}", "0" * 64) is False
    assert is_released("work/pilot.csv", "0" * 64) is None
    accepted = load_registry().entry(key).contents
    assert all(is_released(f"/cache/{key}", sha256) is True for sha256 in accepted)


@pytest.mark.parametrize("name", ["inputs", "outputs"])
@pytest.mark.parametrize(
    "respell", [lambda path: path, lambda path: f"./{path}", lambda path: path.replace("/", "//")]
)
@pytest.mark.parametrize("digest", [None, "0" * 64])
def test_read_receipt_file_listed_twice(tmp_path, name, respell, digest):
    """Of two hashes of a file only one could be true, and of two entries one is checked twice."""
    path = make(tmp_path)
    files = json.loads(path.read_text())[name]
    again = {"path": respell(files[0]["path"]), "sha256": digest or files[0]["sha256"]}
    rewrite(path, **{name: [*files, again]})
    with pytest.raises(ReceiptError) as error:
        read_receipt(path)
    assert str(path) in str(error.value)
    assert len(verify(path, tmp_path)) == 1


def test_write_receipt_input_in_two_spellings(tmp_path):
    source = tmp_path / "a.csv"
    source.write_text("a\n")
    (tmp_path / "b").mkdir()
    receipt = tmp_path / "results/embedded/toy/table_1.receipt.json"
    receipt.parent.mkdir(parents=True)
    table = receipt.with_name("table_1.csv")
    table.write_text("a\n")
    write_receipt(
        receipt,
        artefact="toy/table_1",
        tier="embedded",
        inputs=hashed(source, tmp_path / "b/../a.csv"),
        outputs=in_all_forms(table),
        parameters={},
        seed=None,
        code="0" * 64,
        seconds=1,
        root=tmp_path,
    )
    assert [file["path"] for file in read_receipt(receipt)["inputs"]] == ["a.csv"]
